//===- Layers.h - which operators are quantized, and where their weights are ===//
#ifndef OPTC_PASSES_COMPRESS_LAYERS_H
#define OPTC_PASSES_COMPRESS_LAYERS_H
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "optc/passes/compress/Quantize.h"

namespace optc::compress {

/// An operator with weights.
struct LayerKind {
  llvm::StringLiteral name;               ///< "onnx.Conv"
  llvm::SmallVector<unsigned, 2> weights; ///< positions of constant operands
  /// The axis of the weights along the results' channels, and the axis along which products are summed.
  int64_t (*channelAxis)(mlir::Operation *, int64_t rank);
  int64_t (*sumAxis)(mlir::Operation *, int64_t rank);
  /// Whether there is a form with integer activations; otherwise why not.
  llvm::StringLiteral noIntegers;
};

/// The entry of an operator, null for operators without weights.
const LayerKind *layerKind(mlir::Operation *op);

/// An integer attribute of an op.
int64_t intAttrOr(mlir::Operation *op, llvm::StringRef name, int64_t fallback);

/// Why the weights at a position cannot be quantized; empty when they can.
std::string weightFault(mlir::Operation *op, unsigned position);

/// Outer, depth and inner sizes around an axis.
WeightShape shapeAround(mlir::RankedTensorType type, int64_t axis);

/// The int8 constant of weights with one scale per index of `axis`, dequantized. `scales` may be null.
mlir::Value perChannelWeights(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<float> values,
                              mlir::RankedTensorType type, int64_t axis, int bits, std::vector<float> *scales);

/// What every outcome of a layer begins with.
LayerOutcome outcomeOf(mlir::Operation *op);

} // namespace optc::compress
#endif
