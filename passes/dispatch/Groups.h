//===- Groups.h - ops that become one dispatch ------------------*- C++ -*-===//
#ifndef OPTC_PASSES_DISPATCH_GROUPS_H
#define OPTC_PASSES_DISPATCH_GROUPS_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace optc::dispatch {

/// Ops of one block, in its order. Any of their results may be used outside.
using Group = llvm::SmallVector<mlir::linalg::LinalgOp>;

/// Notes on an op, or on its dispatch, why it is not computed with its neighbours; the report tells.
void noteDeclined(mlir::Operation *op, llvm::StringRef reason);
/// The attribute that holds those reasons.
inline constexpr llvm::StringLiteral kDeclined = "kernel.declined";

/// Told why `op` does not join the group.
using DeclineFn = llvm::function_ref<void(mlir::Operation *op, llvm::StringRef reason)>;
/// Adds to a group of one op what is to be computed with it. Ops in `taken` belong to other groups.
using GrowFn = void (*)(Group &group, const llvm::DenseSet<mlir::Operation *> &taken, DeclineFn decline);

/// Whether an op is a product or a window, whose emitter computes elementwise consumers on its accumulators.
bool takesEpilogue(mlir::linalg::GenericOp op);
/// Those consumers; an op that reads two such roots goes with the first.
void growEpilogue(Group &group, const llvm::DenseSet<mlir::Operation *> &taken, DeclineFn decline);
/// Ops before and after a reduction that share its rows (kernel::matchRows), or, where it goes across rows, its results
/// (kernel::matchColumns).
void growRows(Group &group, const llvm::DenseSet<mlir::Operation *> &taken, DeclineFn decline);

/// Whether an op is a reduction of whole rows of what it reads: not one of products, whose rows are pairs.
bool readsWholeRows(mlir::linalg::LinalgOp op);

/// The ops in front of the group's last op that use its values, in order: they have to move behind it. Fails when the
/// group needs one of them, or when one has effects beyond its results. Views that only the group reads are not among
/// them: they become part of it.
llvm::FailureOr<llvm::SmallVector<mlir::Operation *>> opsToMove(llvm::ArrayRef<mlir::linalg::LinalgOp> group);
/// Whether everything that `view` is for is in the group.
bool isInnerView(mlir::Operation *view, llvm::ArrayRef<mlir::linalg::LinalgOp> group);

} // namespace optc::dispatch
#endif
