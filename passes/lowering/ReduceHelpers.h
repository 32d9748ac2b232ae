//===- ReduceHelpers.h - reductions over known axes -------------*- C++ -*-===//
#ifndef OPTC_PASSES_LOWERING_REDUCEHELPERS_H
#define OPTC_PASSES_LOWERING_REDUCEHELPERS_H
#include "optc/passes/lowering/Pointwise.h"

namespace optc {

/// The type in which sums of `elem` accumulate: f64 for floats below -O2, f32 from there on, integers wrap in theirs.
mlir::Type sumType(const Lowering &l, mlir::Type elem);
/// The type of intermediate values of composed operators: f64 for f64, else f32.
mlir::Type innerType(mlir::Type elem);

/// `dims` with the sizes of `axes` set to 1.
llvm::SmallVector<Dim> keptDims(Lowering &l, llvm::ArrayRef<Dim> dims, llvm::ArrayRef<int64_t> axes);
/// The product of the sizes of `axes`.
Dim reducedCount(Lowering &l, llvm::ArrayRef<Dim> dims, llvm::ArrayRef<int64_t> axes);
/// A size as scalar of the float type `elem` in a body. Made outside of it.
mlir::Value sizeAsFloat(Lowering &l, Dim dim, mlir::Type elem);

enum class Fold { Sum, Prod, Max, Min };
mlir::Value foldStart(const ScalarOps &s, Fold fold);
mlir::Value foldStep(const ScalarOps &s, Fold fold, mlir::Value acc, mlir::Value x);
/// Folds `map(x)` over axes into `acc` elements; the result has size 1 in the reduced axes, so that it broadcasts.
/// `map` gets the compute scalar of `in` cast to `acc`; null: identity.
using MapFn = llvm::function_ref<mlir::Value(const ScalarOps &s, mlir::Value x)>;
Lowering::Input foldAxes(Lowering &l, llvm::StringRef label, const Lowering::Input &in, llvm::ArrayRef<int64_t> axes,
                         Fold fold, mlir::Type acc, MapFn map = nullptr);
/// The same over pairs (x, y) where `other` has the shape of a folded result: sum of (x - mean)^2 and the like.
using PairFn = llvm::function_ref<mlir::Value(const ScalarOps &s, mlir::Value x, mlir::Value y)>;
Lowering::Input sumPairs(Lowering &l, llvm::StringRef label, const Lowering::Input &in, const Lowering::Input &other,
                         llvm::ArrayRef<int64_t> axes, mlir::Type acc, PairFn map);

/// Pointwise over lowered tensors; the body works in the type `elem`, to which the operands are cast.
using BodyFn = llvm::function_ref<mlir::Value(const ScalarOps &s, mlir::ValueRange in)>;
Lowering::Input pointwise(Lowering &l, llvm::ArrayRef<Lowering::Input> in, mlir::Type elem, mlir::Type outElem,
                          llvm::ArrayRef<Dim> dims, BodyFn body);
/// An axis of [-rank, rank) made non-negative; clamped when out of range.
int64_t normalAxis(int64_t axis, int64_t rank);
/// All axes from `first` to the last.
llvm::SmallVector<int64_t> axesFrom(int64_t first, int64_t rank);

/// The position of the largest (smallest) element along an axis, as i64 of the shape with size 1 there; NaN counts as
/// the largest (smallest).
Lowering::Input argExtreme(Lowering &l, const Lowering::Input &in, int64_t axis, bool largest, bool last);

} // namespace optc
#endif
