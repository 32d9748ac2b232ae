//===- Ml.h - what the lowerings of ai.onnx.ml share ----------------------===//
#ifndef OPTC_PASSES_LOWERING_ML_H
#define OPTC_PASSES_LOWERING_ML_H
#include "optc/passes/lowering/LoweringUtils.h"

namespace optc {

void registerTreeLowerings(LoweringTable &table);
void registerLinearLowerings(LoweringTable &table);
void registerStringLowerings(LoweringTable &table);

mlir::Value constantOf(Lowering &l, llvm::ArrayRef<int64_t> values);
mlir::Value constantOf(Lowering &l, llvm::ArrayRef<float> values);
mlir::Value constantOf(Lowering &l, llvm::ArrayRef<double> values);
/// A tensor of strings [n].
mlir::Value constantOf(Lowering &l, mlir::ArrayAttr strings);

/// The numbers of a tensor attribute; failure for strings and unreadable data.
llvm::FailureOr<llvm::SmallVector<double>> readNumbers(mlir::ElementsAttr attr);

/// The array of an attribute; empty when it is absent.
template <typename T> llvm::ArrayRef<T> orEmpty(std::optional<llvm::ArrayRef<T>> attr) {
  return attr ? *attr : llvm::ArrayRef<T>();
}

/// An input [N, C], or [C] taken as one row.
llvm::FailureOr<Lowering::Input> rowsOf(mlir::Operation *op, Lowering &l, mlir::Value x);

/// Scores [N, E] of element type `elem` after NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT.
llvm::FailureOr<mlir::Value> postTransform(mlir::Operation *op, Lowering &l, const Lowering::Input &scores,
                                           llvm::StringRef kind);

/// Labels of the best score in each row of `scores`: an int64 or string tensor [N].
mlir::Value bestLabels(Lowering &l, const Lowering::Input &scores, llvm::ArrayRef<int64_t> ints,
                       mlir::ArrayAttr strings);
/// strings[positions]: `positions` is a lowered int64 tensor.
mlir::Value gatherStrings(Lowering &l, mlir::ArrayAttr strings, mlir::Value positions, llvm::ArrayRef<Dim> dims);

} // namespace optc
#endif
