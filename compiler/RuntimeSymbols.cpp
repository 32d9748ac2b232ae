//===- RuntimeSymbols.cpp - what code that runs inside the compiler may call ===//
#include "optc/compiler/RuntimeSymbols.h"
#include "optc/runtime/dispatch.h"
#include <cstring>

using namespace optc;

// Declared with types of no meaning: only their addresses are taken.
#define OPTC_BUILTINS(X)                                                                                               \
  X(__truncsfhf2)                                                                                                      \
  X(__truncdfhf2)                                                                                                      \
  X(__extendhfsf2)                                                                                                     \
  X(__extendhfdf2)                                                                                                     \
  X(__gnu_h2f_ieee)                                                                                                    \
  X(__gnu_f2h_ieee)                                                                                                    \
  X(__truncsfbf2)                                                                                                      \
  X(__truncdfbf2)                                                                                                      \
  X(__extendbfsf2)
#define DECLARE(NAME) extern "C" __attribute__((visibility("hidden"))) void NAME();
OPTC_BUILTINS(DECLARE)
#undef DECLARE

llvm::ArrayRef<RuntimeSymbol> optc::runtimeSymbols() {
#define ENTRY(NAME) {#NAME, reinterpret_cast<void *>(&NAME)},
  static const RuntimeSymbol symbols[] = {
      // clang-format off
      OPTC_BUILTINS(ENTRY)
      ENTRY(optc_rt_input) ENTRY(optc_rt_input_dim) ENTRY(optc_rt_input_value)
      ENTRY(optc_rt_output) ENTRY(optc_rt_output_value)
      ENTRY(optc_rt_arena) ENTRY(optc_rt_alloc) ENTRY(optc_rt_mark) ENTRY(optc_rt_release)
      ENTRY(optc_rt_launch) ENTRY(optc_rt_fail) ENTRY(optc_rt_check)
      // clang-format on
      {"memcpy", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(&std::memcpy))},
      {"memmove", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(&std::memmove))},
      {"memset", reinterpret_cast<void *>(static_cast<void *(*)(void *, int, size_t)>(&std::memset))},
  };
#undef ENTRY
  return symbols;
}
