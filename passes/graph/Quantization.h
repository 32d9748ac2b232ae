//===- Quantization.h - reading QuantizeLinear and DequantizeLinear -------===//
#ifndef OPTC_PASSES_GRAPH_QUANTIZATION_H
#define OPTC_PASSES_GRAPH_QUANTIZATION_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/OpTable.h"
#include <optional>

namespace optc::quant {

/// A QuantizeLinear or DequantizeLinear: what it reads and its parameters.
struct Linear {
  mlir::Operation *op;
  mlir::Value x, scale, zero; ///< zero is null when absent
  int64_t axis, block;
  mlir::Type integers; ///< element type of the quantized side
};
/// DequantizeLinear of integers of at most 8 bits with an f32 scale and result, else none.
std::optional<Linear> dequantizeOf(mlir::Value value);
/// QuantizeLinear of f32 with an f32 scale to integers of at most 8 bits, else none.
std::optional<Linear> quantizeOf(mlir::Operation *op);

/// The elements of a constant of integers; none for other values.
std::optional<llvm::SmallVector<int64_t>> intsOf(mlir::Value constant);
/// The bytes of a constant in ONNX's raw form, those of sub-byte types excepted.
std::optional<llvm::SmallVector<char>> bytesOf(mlir::Value constant);
/// The zero point as it is known; that of an absent one is 0.
std::optional<llvm::SmallVector<int64_t>> zeroOf(const Linear &linear);

/// Whether there is one scale for all elements.
bool isPerTensor(const Linear &linear);
/// Whether scale and zero point are the same known values, one for all elements, such that quantizing what was
/// dequantized gives the integers back: every multiple of the scale is a normal number.
bool isExactPair(const Linear &dequantize, const Linear &quantize);

/// Whether an op with one result only moves elements of its data, or takes the largest: integers can go through it.
bool movesIntegers(mlir::Operation *op);
/// The operands whose elements such an op moves.
mlir::OperandRange dataOf(mlir::Operation *op);
/// Whether its results are the largest elements rather than all that move.
bool comparesIntegers(mlir::Operation *op);

/// Gives tensors of signed bytes between QuantizeLinear and DequantizeLinear unsigned elements; returns how many.
unsigned makeActivationsUnsigned(mlir::func::FuncOp func);

/// What is known of the shape of `value`, with another element type.
mlir::TensorType typeLike(mlir::Value value, mlir::Type element);
/// A constant of f32.
mlir::Value makeFloats(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<float> values,
                       llvm::ArrayRef<int64_t> shape);
/// A matrix with its axes exchanged: a constant where it is one of bytes.
mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value matrix);
/// The first result of a new op of ai.onnx.
mlir::Value makeOp(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                   mlir::Type result, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace optc::quant
#endif
