//===- PluginRegistrar.h - what a plugin can add to optc --------*- C++ -*-===//
#ifndef OPTC_COMPILER_PLUGINREGISTRAR_H
#define OPTC_COMPILER_PLUGINREGISTRAR_H
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "optc/dialects/onnx/Custom.h"
#include <functional>
#include <memory>
#include <string>

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

  /// Makes an operator known: nodes of its domain and name are imported, and artifacts call its kernel. The domain is
  /// none of ONNX, and no other plugin has the operator.
  void addOperator(onnx::CustomOperator op);

  /// Names a file with kernels of the operators, an object or a static library that needs libc and libm only; relative
  /// to the folder of the plugin. It becomes part of every artifact that uses one of the operators. Once per machine
  /// that the kernels are there for.
  void addKernels(llvm::StringRef file);

  /// What was wrong with the calls; empty when nothing was.
  const std::string &problem() const { return firstProblem; }

private:
  void addDialect(mlir::TypeID type, llvm::StringRef name, const mlir::DialectAllocatorFunction &make);
  void refuse(const llvm::Twine &reason);

  Plugin &plugin;
  std::string firstProblem;
};
} // namespace optc
#endif
