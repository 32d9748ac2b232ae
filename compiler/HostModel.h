//===- HostModel.h - a module that runs inside the compiler ---------------===//
//
// For calibration and for measuring quality: with all optimisations, every operator of the runtime and libm, at the
// cost of an artifact in the folder for temporary files. Evaluate.h is for constants, whose values must not depend on
// the machine.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_HOSTMODEL_H
#define OPTC_COMPILER_HOSTMODEL_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/Target.h"
#include "optc/runtime/files/Value.h"

namespace optc {

class PluginSet;

class HostModel {
public:
  /// Compiles a module of the onnx dialect as `graph` or `compress` leave it. The module is used up. `target` is what
  /// the compilation is for: where this machine can run that, it does, so that equal inputs give equal values.
  /// `plugins` have the kernels of their operators.
  static llvm::Expected<std::unique_ptr<HostModel>> compile(mlir::ModuleOp module, const Target &target, int optLevel,
                                                            const PluginSet *plugins = nullptr);
  ~HostModel();

  /// Runs once. Outputs belong to the model and are valid until its next run.
  llvm::Expected<llvm::ArrayRef<optc_value>> run(llvm::ArrayRef<run::Value> inputs);
  const optc_model_desc &desc() const { return *optc_model_get_desc(model); }

private:
  HostModel() = default;
  optc_model *model = nullptr;
  optc_context *context = nullptr;
  std::vector<optc_value> outputs;
};

/// `target` where this machine has what it asks for, otherwise what every machine of this kind can run.
llvm::Expected<Target> runnableTarget(const Target &target);

} // namespace optc
#endif
