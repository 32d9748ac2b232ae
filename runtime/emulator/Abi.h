//===- Abi.h - the ABI between emulation images and the engine --*- C++ -*-===//
//
// An image exports `optc_emulation`, an ImageHeader. Every kernel is a function of the state of one CUDA thread and
// cuLaunchKernel's array of parameters. It reaches the engine through a table of function pointers, which the engine
// fills by name when it loads the image, so that images need no symbols of the engine.
//
// Every function of the engine gets the thread and the number of the call in the image ("site"). What returns a struct,
// or takes more than 8 values, is called with memory instead: (thread, site, result, packed operands, n), where n is
// the number that stands for `#` in the name, or 0.
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_EMULATOR_ABI_H
#define OPTC_RUNTIME_EMULATOR_ABI_H
#include <cstddef>
#include <cstdint>

namespace optc::emulator {

inline constexpr uint32_t kAbiVersion = 1;
inline constexpr const char *kHeaderSymbol = "optc_emulation";
/// Shared memory of a block is at the start of a window that is aligned to its size: the low bits of an address are
/// those of the device.
inline constexpr uint64_t kSharedWindow = 256 << 10;
/// Ranges of global memory that a thread remembers, to check accesses without a call.
inline constexpr unsigned kNumRanges = 8;

/// The part of a thread's state that generated code reads.
struct ThreadState {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t lane, warp;
  uint8_t *shared;
  /// An access of at most 16 bytes at `a` is fine when a - base <= limit (unsigned).
  struct Range {
    uint64_t base, limit;
  } ranges[kNumRanges];
};

/// What is accessed: an operand of the functions that check.
struct Access {
  static constexpr uint32_t kWrite = 1u << 20;
  static constexpr uint32_t bytes(uint32_t info) { return info & 0xffff; }
  static constexpr uint32_t alignment(uint32_t info) { return 1u << ((info >> 16) & 15); }
  static constexpr uint32_t slot(uint32_t info) { return (info >> 24) % kNumRanges; }
  static constexpr uint32_t make(uint32_t bytes, uint32_t log2Alignment, bool write, uint32_t slot) {
    return bytes | log2Alignment << 16 | (write ? kWrite : 0) | slot << 24;
  }
};

struct KernelRecord {
  const char *name;
  void (*entry)(ThreadState *, void **parameters);
  uint32_t sharedBytes;     ///< static, before dynamic shared memory ...
  uint32_t sharedAlignment; ///< ... which is aligned to this
  uint32_t numParameters;
  uint32_t padding;
  const uint32_t *parameterBytes;
};

struct ImageHeader {
  uint32_t version, numFunctions;
  const char *const *functionNames;
  void **functions;
  uint64_t numKernels;
  const KernelRecord *kernels;
};

} // namespace optc::emulator
#endif
