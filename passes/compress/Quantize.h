//===- Quantize.h - from float32 layers to quantized ones -----------------===//
//
// Quantization is explicit: QuantizeLinear and DequantizeLinear around layers that stay what they are. What later
// phases compute in integers is up to them; the meaning is fixed here.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_QUANTIZE_H
#define OPTC_PASSES_COMPRESS_QUANTIZE_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/passes/compress/Ranges.h"
#include <optional>
#include <string>

namespace optc::compress {

/// On an op (about its first result) or an argument: [low, high] of the values that calibration saw.
constexpr llvm::StringLiteral kRangeAttr = "onnx.range";
/// On a layer: stays float, for the reason that this text gives.
constexpr llvm::StringLiteral kKeepFloatAttr = "onnx.keep_float";
/// On a layer: by how much the results of its quantized form are too large on average, per channel.
constexpr llvm::StringLiteral kShiftAttr = "onnx.shift";

/// What became of a layer, in program order.
struct LayerOutcome {
  std::string node; ///< may be empty
  std::string op;   ///< "Conv"
  /// "int8": integers in, int8 weights; "int8 weights" and "int4 weights": stored so; "float16" and "bfloat16":
  /// computed so; "float"
  std::string form;
  std::string reason;                 ///< of "float"
  uint64_t floatBytes = 0, bytes = 0; ///< of the weights, before and after
  bool isLayer = true;                ///< with weights that a product reads; false for what stands between layers
  bool isFloat() const { return form == "float"; }
};
using LayerOutcomes = std::vector<LayerOutcome>;

/// A layer beside its quantized form on the same float inputs.
struct LayerPair {
  unsigned layer; ///< index into the outcomes
  mlir::Value exact, quantized;
};

/// The range that calibration left on the op or argument of a value.
std::optional<Interval> rangeOf(mlir::Value value);
void setRange(mlir::Value value, Interval range);

/// Why a layer cannot read integers; empty when it can.
std::string integerFault(mlir::Operation *layer, mlir::func::FuncOp main);
/// Whether the results of an op hold nothing but elements of its inputs, so that it can move integers, too.
bool movesElements(mlir::Operation *op);
/// What an outcome will be about, in their order: layers, and for weights also the tables of Gather.
llvm::SmallVector<mlir::Operation *> layersOf(mlir::func::FuncOp main, bool withTables);

/// The values whose ranges quantizeStatic needs.
llvm::SmallVector<mlir::Value> valuesToObserve(mlir::func::FuncOp main);
/// Quantizes activations to uint8 per tensor and weights to int8 per channel, and subtracts the shifts that layers
/// carry. Ranges and shifts are used up.
LayerOutcomes quantizeStatic(mlir::func::FuncOp main);
/// Adds the quantized form of every layer beside it, for measuring; nothing reads it.
std::vector<LayerPair> isolateStatic(mlir::func::FuncOp main);

struct WeightOptions {
  int bits = 8;           ///< 8: per channel; 4: in groups
  int64_t groupSize = 32; ///< neighbours along the contracted axis that share a scale
};
/// Stores weights in few bits; activations stay float.
LayerOutcomes quantizeWeights(mlir::func::FuncOp main, const WeightOptions &options);
std::vector<LayerPair> isolateWeights(mlir::func::FuncOp main, const WeightOptions &options);

/// Computes products, and what follows them, in f16 or bf16. An outcome for every op with floats.
LayerOutcomes reducePrecision(mlir::func::FuncOp main, mlir::FloatType narrow);

} // namespace optc::compress
#endif
