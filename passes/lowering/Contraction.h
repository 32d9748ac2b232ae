//===- Contraction.h - products and windows shared by lowerings -----------===//
#ifndef OPTC_PASSES_LOWERING_CONTRACTION_H
#define OPTC_PASSES_LOWERING_CONTRACTION_H
#include "optc/passes/lowering/Lowering.h"

namespace optc {

/// The element type that sums of products of `elem` are kept in: f32 for narrow floats, else `elem`.
mlir::Type accumulatorOf(mlir::Type elem);

/// Run-time checks that cost nothing where the sizes are known to fit.
void require(Lowering &l, mlir::Value condition, const llvm::Twine &message);
void requireEqual(Lowering &l, Dim x, Dim y, const llvm::Twine &message);
/// Every size of `dims` is 1 or that of `out`, right-aligned.
void requireBroadcast(Lowering &l, llvm::ArrayRef<Dim> dims, llvm::ArrayRef<Dim> out, const llvm::Twine &message);

using ContractBody =
    std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange in, mlir::Value acc)>;
/// acc + a * b in the type of `accElem`. Without an accumulator (no reduction) just the product.
ContractBody multiplyAdd(mlir::Type aElem, mlir::Type bElem, mlir::Type accElem);

/// `lowered` with elements of `from` as elements of `to`; nothing when they are the same.
mlir::Value convertElements(Lowering &l, mlir::Value lowered, mlir::Type from, mlir::Type to, llvm::ArrayRef<Dim> dims);

/// numpy.matmul of two tensors into `outDims`; sums are kept in accumulatorOf(outElem).
mlir::Value matmulProduct(Lowering &l, llvm::StringRef label, Lowering::Input a, Lowering::Input b, mlir::Type outElem,
                          llvm::SmallVector<Dim> outDims);

/// MaxRoiPool and RoiAlign, part of the pool family.
void registerRoiLowerings(LoweringTable &table);

void registerAffineGridLowering(LoweringTable &table);

/// DFT, STFT and MelWeightMatrix.
void registerSignalLowerings(LoweringTable &table);

/// onnx.Einsum.
llvm::LogicalResult lowerEinsum(mlir::Operation *op, Lowering &l);

/// A window that slides over the spatial axes of a tensor [N, C, spatial...].
struct Window {
  llvm::SmallVector<int64_t> strides, dilations; ///< one per spatial axis
  llvm::SmallVector<Dim> in, kernel, out;        ///< sizes of the spatial axes
  llvm::SmallVector<mlir::Value> padBegin;       ///< host index values
  llvm::SmallVector<Dim> padded;                 ///< sizes that every window fits into, padding included
  llvm::SmallVector<mlir::Value> padTotalEnd;    ///< in + both explicit pads: where counted padding ends
  bool needsPad = false;

  size_t rank() const { return strides.size(); }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode of `op`. Fails with an error on values that the operator does
/// not allow.
mlir::FailureOr<Window> windowOf(mlir::Operation *op, Lowering &l, llvm::ArrayRef<Dim> in, llvm::ArrayRef<Dim> kernel,
                                 llvm::ArrayRef<Dim> out);

/// `x` ([N, C, spatial...]) with its spatial axes padded as the window asks; the fill is a compute scalar made by
/// `fill`.
Lowering::Input padded(Lowering &l, const Window &window, Lowering::Input x,
                       llvm::function_ref<mlir::Value(ScalarOps)> fill);

/// The convolution sum of `x` ([N, C, spatial...], padded as the window asks) and `w` ([M, C/group, kernel...]), of
/// element type `accElem` and sizes [N, M, out...]. `body` combines an element of each with the sum.
mlir::Value convolve(Lowering &l, const Window &window, Lowering::Input x, Lowering::Input w, int64_t group,
                     mlir::Type accElem, const ContractBody &body);

} // namespace optc
#endif
