//===- Outline.h - a dispatch as a function of raw buffers ----------------===//
#ifndef OPTC_PASSES_PLAN_OUTLINE_H
#define OPTC_PASSES_PLAN_OUTLINE_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/dialects/kernel/Strategy.h"
#include "llvm/ADT/StringMap.h"

namespace optc {

/// What a launch passes: input buffers, then result buffers; the run-time sizes of those in order, then other scalars.
struct OutlinedKernel {
  mlir::FlatSymbolRefAttr symbol;
  llvm::SmallVector<mlir::Value> inputs;       ///< captured tensors
  llvm::SmallVector<mlir::Value> scalars;      ///< captured index, integer and float values
  llvm::SmallVector<kernel::TileGroup> groups; ///< what tiles are cut from
  int64_t scratch = 0;                         ///< bytes per worker
};

/// Makes kernels; dispatches that are equal up to names share one.
class KernelOutliner {
public:
  explicit KernelOutliner(mlir::ModuleOp module) : module(module) {}
  OutlinedKernel outline(kernel::DispatchOp dispatch);
  unsigned numKernels() const { return bodies.size(); }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::FlatSymbolRefAttr> bodies; ///< printed body -> symbol
};

} // namespace optc
#endif
