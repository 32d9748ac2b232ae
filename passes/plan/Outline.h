//===- Outline.h - a dispatch as a function of raw buffers ----------------===//
#ifndef OPTC_PASSES_PLAN_OUTLINE_H
#define OPTC_PASSES_PLAN_OUTLINE_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/dialects/kernel/Strategy.h"
#include "llvm/ADT/StringMap.h"

namespace optc {

/// What a launch passes: input buffers, then result buffers; the run-time sizes of those in order, then other scalars.
struct Captures {
  explicit Captures(kernel::DispatchOp dispatch);

  llvm::SmallVector<mlir::Value> inputs;            ///< captured tensors
  llvm::SmallVector<mlir::Value> scalars;           ///< captured index, integer and float values
  llvm::SmallVector<mlir::arith::ConstantOp> known; ///< scalar constants, which the kernel repeats
  llvm::SmallVector<kernel::TileGroup> groups;      ///< what tiles are cut from
  int64_t scratch = 0;                              ///< bytes per worker
};

/// Whether a kernel that gets one buffer for `input`, which the dispatch captures, and for its result reads every
/// element before it writes it.
bool canComputeInPlace(kernel::DispatchOp dispatch, mlir::Value input);

/// Makes kernels; dispatches that are equal up to names share one. Those of the device are numbered by
/// `kernel.device_index`, which launches refer to.
class KernelOutliner {
public:
  explicit KernelOutliner(mlir::ModuleOp module) : module(module) {}
  /// `inPlace`, if any, is an input that is no longer passed: it is where the result goes.
  mlir::FlatSymbolRefAttr outline(kernel::DispatchOp dispatch, const Captures &captures, mlir::Value inPlace);
  unsigned numKernels() const { return bodies.size(); }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::FlatSymbolRefAttr> bodies; ///< printed body -> symbol
  int32_t deviceKernels = 0;
};

} // namespace optc
#endif
