//===- IntegerProduct.h - products of quantized tensors ---------*- C++ -*-===//
#ifndef OPTC_PASSES_LOWERING_INTEGERPRODUCT_H
#define OPTC_PASSES_LOWERING_INTEGERPRODUCT_H
#include "optc/passes/lowering/Lowering.h"

namespace optc {

/// The same data under sizes `dims`.
Lowering::Input viewAs(Lowering &l, const Lowering::Input &in, llvm::ArrayRef<Dim> dims);
/// A scale or zero point beside data of the given rank: a scalar, or one value per index of `axis`.
Lowering::Input perAxis(Lowering &l, mlir::Value parameter, int64_t rank, int64_t axis);

/// (a - aZero) times (b - bZero), of onnx values whose zero points may be absent: sums of the type i32 for integers,
/// f32 for float8. `dims` are the sizes of the result.
Lowering::Input matmulInteger(Lowering &l, llvm::StringRef label, mlir::Value a, mlir::Value b, mlir::Value aZero,
                              mlir::Value bZero, llvm::ArrayRef<Dim> dims);

/// The exact i32 sums of a convolution of `x` - xZero with `w` - wZero; padding stands for the zero point.
mlir::FailureOr<Lowering::Input> convolveInteger(mlir::Operation *op, Lowering &l, mlir::Value x, mlir::Value w,
                                                 mlir::Value xZero, mlir::Value wZero, llvm::ArrayRef<Dim> out);

/// A MatMul whose second factor is dequantized from a constant matrix, possibly transposed: the elements are
/// dequantized where they are multiplied (Dequantized.cpp). False for others, and at -O0.
bool lowerDequantizedProduct(Lowering &l, onnx::MatMulOp op);

} // namespace optc
#endif
