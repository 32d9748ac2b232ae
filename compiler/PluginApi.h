//===- PluginApi.h - what a plugin and optc say to each other ---*- C++ -*-===//
//
// A plugin is a shared object with one exported function, optc_plugin_entry. The description that it returns is read
// in the order of its members, and the plugin is refused, with the reason, at the first one that does not fit: C++
// objects of another layout, or a second copy of a dialect, do not fail, they go wrong. docs/plugins.md has the rest.
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
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "optc/dialects/onnx/Types.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Config/abi-breaking.h"
#include <functional>
#include <memory>

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

namespace optc {
struct Plugin;

/// On which side of a phase's own passes a pass of a plugin runs.
enum class PluginPosition { Before, After };

/// Takes what a plugin adds to the compiler. It is there during optc_plugin_info::register_plugin only. A call that
/// cannot be honoured makes the plugin refused as a whole, with the reason.
class PluginRegistrar {
public:
  /// Makes a new pass; called for every compilation, in the end from several threads.
  using PassFactory = std::function<std::unique_ptr<mlir::Pass>()>;

  explicit PluginRegistrar(Plugin &plugin) : plugin(plugin) {}

  /// Runs a pass in every compilation, before or after the own passes of a phase (`graph`, `tensor` ...: what
  /// `optc --print-pipeline` lists, without `import` and `object`, which are no passes). Several passes at one point
  /// run in the order of these calls, plugin after plugin. A pass on func.func runs on every function, one on
  /// builtin.module or on any op runs on the module. The verifier runs after it. Implies registerPass.
  void insertPass(PluginPosition position, llvm::StringRef phase, PassFactory create);

  /// Makes a pass known by its name, getArgument(), to optc-opt and to textual pipelines. The name must be new.
  void registerPass(PassFactory create);

  /// Makes a dialect known. Its ops may be in .mlir files; a pass that makes them lists the dialect in
  /// getDependentDialects as well. Below `graph` optc's own passes know only optc's ops, so a pass of the plugin has
  /// to replace them before that.
  template <typename Dialect> void addDialect() {
    addDialect(mlir::TypeID::get<Dialect>(), Dialect::getDialectNamespace(),
               [](mlir::MLIRContext *context) { return context->getOrLoadDialect<Dialect>(); });
  }

  /// What was wrong with the calls; empty when nothing was.
  const std::string &problem() const { return firstProblem; }

private:
  void addDialect(mlir::TypeID type, llvm::StringRef name, const mlir::DialectAllocatorFunction &make);
  void refuse(const llvm::Twine &reason);

  Plugin &plugin;
  std::string firstProblem;
};
} // namespace optc

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
