//===- RefitModel.h - fit the layers of a pruned model --------------------===//
#ifndef OPTC_COMPILER_REFITMODEL_H
#define OPTC_COMPILER_REFITMODEL_H
#include "optc/codegen/Target.h"
#include "optc/compiler/Samples.h"

namespace optc {

class PluginSet;

/// What became of a layer whose input lost channels.
struct RefitOutcome {
  std::string node, op;
  double left = 1;    ///< of the mean square error of its outputs
  int64_t rows = 0;   ///< that it was fitted to
  std::string reason; ///< why it stays as it was cut; empty: it was fitted
};

/// Gives layers that pruning marked (passes/compress/Refit.h) weights that come closest to the outputs of the same
/// layers of `original`. In program order and in stages, so that later layers see what earlier ones compute now. The
/// marks are removed. `plugins` have the kernels of their operators.
llvm::Expected<std::vector<RefitOutcome>> refitLayers(mlir::ModuleOp original, mlir::ModuleOp pruned,
                                                      const SampleSet &samples, const Target &target,
                                                      const PluginSet *plugins = nullptr);

} // namespace optc
#endif
