//===- Weights.h - the constants that compression works on ------*- C++ -*-===//
//
// A changed weight is a new resource of the context; the bytes of the old one stay where they are, in the model file.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_WEIGHTS_H
#define OPTC_PASSES_COMPRESS_WEIGHTS_H
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "optc/dialects/onnx/Constants.h"
#include <optional>

namespace optc {

/// A constant with some positions of its axes only, rising. An axis without a list stays as it is.
mlir::ElementsAttr sliceConstant(const onnx::ConstantBytes &value,
                                 llvm::ArrayRef<std::optional<llvm::SmallVector<int64_t>>> keep);

/// The sum of squares at every position of an axis. The elements are floats.
std::vector<double> squaresAlong(const onnx::ConstantBytes &value, int64_t axis);

/// Element `i` of floats of 2, 4 or 8 bytes.
double floatAt(const onnx::ConstantBytes &value, int64_t i);

/// f16, bf16, f32 or f64.
bool isPrunableFloat(mlir::Type element);

/// An operand that is a matrix of parameters: what pruning and quantization call a weight.
struct WeightOperand {
  mlir::OpOperand *operand;
  /// Along this one the operator sums: inputs of the layer.
  int64_t reductionAxis;
};
/// The weights of an op: those operands of layers (Conv, Gemm, MatMul, recurrent cells) that are constants of floats
/// with two axes or more.
llvm::SmallVector<WeightOperand> weightsOf(mlir::Operation *op);
/// Whether an op is a layer that could have weights.
bool isLayer(mlir::Operation *op);

} // namespace optc
#endif
