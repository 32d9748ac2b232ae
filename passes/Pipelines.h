//===- Pipelines.h - the passes of every phase ----------------------------===//
#ifndef OPTC_PASSES_PIPELINES_H
#define OPTC_PASSES_PIPELINES_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "optc/codegen/object/Model.h"

namespace optc {

struct Target;

struct PipelineOptions {
  int optLevel = 3;               ///< 0..3
  const Target *target = nullptr; ///< never null once `configure` runs
  std::string name;               ///< of the model: prefix of exported symbols
};

void addGraphPasses(mlir::OpPassManager &pm, const PipelineOptions &options);     ///< onnx -> onnx
void addCompressPasses(mlir::OpPassManager &pm, const PipelineOptions &options);  ///< quantized, pruned
void addTensorPasses(mlir::OpPassManager &pm, const PipelineOptions &options);    ///< onnx -> linalg, tensor, kernel
void addLayoutPasses(mlir::OpPassManager &pm, const PipelineOptions &options);    ///< order of dimensions in memory
void addDispatchPasses(mlir::OpPassManager &pm, const PipelineOptions &options);  ///< dispatches
void addConfigurePasses(mlir::OpPassManager &pm, const PipelineOptions &options); ///< a strategy per dispatch
void addPlanPasses(mlir::OpPassManager &pm, const PipelineOptions &options);      ///< host program, placed buffers
void addKernelPasses(mlir::OpPassManager &pm, const PipelineOptions &options);    ///< kernels bufferized, as loops
void addLlvmPasses(mlir::OpPassManager &pm, const PipelineOptions &options);      ///< LLVM dialect

struct PlannedModel {
  ModelSignature signature;
  std::vector<WeightBlob> weights; ///< point into attributes of the module's context
};
/// Takes signature and constants out of a planned module and erases their ops, which the LLVM translation does not
/// know.
mlir::FailureOr<PlannedModel> takePlan(mlir::ModuleOp module);

} // namespace optc
#endif
