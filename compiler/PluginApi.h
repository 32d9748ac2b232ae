//===- PluginApi.h - what a plugin and optc say to each other ---*- C++ -*-===//
//
// A plugin is a shared object with one exported function, optc_plugin_entry. The description that it returns is read
// in the order of its members, and the plugin is refused, with the reason, at the first one that does not fit: C++
// objects of another layout, or a second copy of a dialect, do not fail, they go wrong. What a plugin can add is in
// PluginRegistrar.h; docs/plugins.md has the rest.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_PLUGINAPI_H
#define OPTC_COMPILER_PLUGINAPI_H
#include "optc/compiler/BuildId.h"
#include "llvm/Config/llvm-config.h"
#include <stdint.h>

/// The version of optc_plugin_info. It changes with the meaning or the order of the members.
#define OPTC_PLUGIN_ABI 1u

#ifdef __cplusplus
extern "C" {
#endif

/// The description of a plugin. It lives as long as the process. OPTC_PLUGIN, below, fills it in.
typedef struct optc_plugin_info {
  /// OPTC_PLUGIN_ABI. The first member in every version: it says whether the others can be read.
  uint32_t abi;
  /// sizeof(optc_plugin_info).
  uint32_t size;
  /// The version of the LLVM whose headers the plugin was compiled with: LLVM_VERSION_STRING.
  const char *llvm_version;
  /// OPTC_BUILD_ID: a hash of all headers of optc that a plugin can include. `optc --version` prints optc's.
  const char *build_id;
  /// OPTC_MLIR_BUILD_ID: the build ID (GNU note) of the libMLIR.so that the installed optc was built with.
  const char *mlir_build_id;
  /// OPTC_PLUGIN_FLAGS: the compiler flags that change the layout of C++ objects, one bit each.
  uint64_t flags;
  /// An address inside the MLIR that the plugin is linked with. It has to be the MLIR that optc is linked with.
  const void *mlir_copy;
  /// An address inside the liboptc.so that the plugin is linked with, for the same reason.
  const void *optc_copy;
  /// Names the plugin in messages, in reports and in the artifact. Not empty, and no other plugin's name.
  const char *name;
  /// The plugin's own version: any text.
  const char *version;
  /// Called once, after everything above was found to fit, with an optc::PluginRegistrar.
  void (*register_plugin)(void *registrar);
} optc_plugin_info;

/// Bits of optc_plugin_info::flags.
enum {
  OPTC_PLUGIN_CXX11_ABI = 1,    ///< libstdc++'s strings and lists are those of C++11
  OPTC_PLUGIN_DEBUG_STL = 2,    ///< _GLIBCXX_DEBUG
  OPTC_PLUGIN_STATISTICS = 4,   ///< LLVM's statistics count: NDEBUG is not defined
  OPTC_PLUGIN_ABI_CHECKS = 8,   ///< LLVM_ENABLE_ABI_BREAKING_CHECKS
  OPTC_PLUGIN_ADDRESS_SAN = 16, ///< -fsanitize=address
};

#ifdef __cplusplus
} // extern "C"

#include "mlir/IR/BuiltinOps.h"
#include "optc/compiler/PluginRegistrar.h"
#include "optc/dialects/onnx/Types.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Config/abi-breaking.h"

#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define OPTC_PLUGIN_FLAG_CXX11_ABI OPTC_PLUGIN_CXX11_ABI
#else
#define OPTC_PLUGIN_FLAG_CXX11_ABI 0
#endif
#ifdef _GLIBCXX_DEBUG
#define OPTC_PLUGIN_FLAG_DEBUG_STL OPTC_PLUGIN_DEBUG_STL
#else
#define OPTC_PLUGIN_FLAG_DEBUG_STL 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#define OPTC_PLUGIN_FLAG_ADDRESS_SAN OPTC_PLUGIN_ADDRESS_SAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPTC_PLUGIN_FLAG_ADDRESS_SAN OPTC_PLUGIN_ADDRESS_SAN
#endif
#endif
#ifndef OPTC_PLUGIN_FLAG_ADDRESS_SAN
#define OPTC_PLUGIN_FLAG_ADDRESS_SAN 0
#endif
/// The flags of the translation unit that this is in.
#define OPTC_PLUGIN_FLAGS                                                                                              \
  (uint64_t(OPTC_PLUGIN_FLAG_CXX11_ABI) | OPTC_PLUGIN_FLAG_DEBUG_STL |                                                 \
   (LLVM_ENABLE_STATS ? OPTC_PLUGIN_STATISTICS : 0) | (LLVM_ENABLE_ABI_BREAKING_CHECKS ? OPTC_PLUGIN_ABI_CHECKS : 0) | \
   OPTC_PLUGIN_FLAG_ADDRESS_SAN)

/// Defines the entry of a plugin: OPTC_PLUGIN("name", "1.0", registerAll), where registerAll is a
/// `void (optc::PluginRegistrar &)`. Once per shared object, outside of namespaces.
#define OPTC_PLUGIN(NAME, VERSION, REGISTER)                                                                           \
  extern "C" __attribute__((visibility("default"))) const optc_plugin_info *optc_plugin_entry(void) {                  \
    static const optc_plugin_info info = {                                                                             \
        OPTC_PLUGIN_ABI,                                                                                               \
        sizeof(optc_plugin_info),                                                                                      \
        LLVM_VERSION_STRING,                                                                                           \
        OPTC_BUILD_ID,                                                                                                 \
        OPTC_MLIR_BUILD_ID,                                                                                            \
        OPTC_PLUGIN_FLAGS,                                                                                             \
        mlir::TypeID::get<mlir::ModuleOp>().getAsOpaquePointer(),                                                      \
        mlir::TypeID::get<optc::onnx::OnnxDialect>().getAsOpaquePointer(),                                             \
        NAME,                                                                                                          \
        VERSION,                                                                                                       \
        [](void *registrar) { REGISTER(*static_cast<optc::PluginRegistrar *>(registrar)); }};                          \
    return &info;                                                                                                      \
  }
#endif
#endif
