//===- Layers.cpp - which operators are quantized ------------------------===//
#include "optc/passes/compress/Layers.h"
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/OpTable.h"
#include "optc/dialects/onnx/Types.h"
#include <cmath>

using namespace mlir;
using namespace optc;
using namespace optc::compress;

int64_t compress::intAttrOr(Operation *op, StringRef name, int64_t fallback) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : fallback;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static int64_t first(Operation *, int64_t) { return 0; }
static int64_t second(Operation *, int64_t) { return 1; }
static int64_t last(Operation *, int64_t rank) { return rank - 1; }
static int64_t beforeLast(Operation *, int64_t rank) { return rank - 2; }
static int64_t gemmChannels(Operation *op, int64_t) { return intAttrOr(op, "transB", 0) ? 0 : 1; }
static int64_t gemmSum(Operation *op, int64_t) { return intAttrOr(op, "transB", 0) ? 1 : 0; }

static constexpr llvm::StringLiteral kRecurrent =
    "recurrent operators are computed in float32: their state feeds back into itself";

const LayerKind *compress::layerKind(Operation *op) {
  static const LayerKind kinds[] = {
      {"onnx.Conv", {1}, first, second, ""},
      {"onnx.Gemm", {1}, gemmChannels, gemmSum, ""},
      {"onnx.MatMul", {1}, last, beforeLast, ""},
      {"onnx.ConvTranspose", {1}, second, first, "transposed convolutions have no form with integer activations"},
      {"onnx.LSTM", {1, 2}, second, last, kRecurrent},
      {"onnx.GRU", {1, 2}, second, last, kRecurrent},
      {"onnx.RNN", {1, 2}, second, last, kRecurrent},
  };
  const LayerKind *kind =
      llvm::find_if(kinds, [&](const LayerKind &k) { return op->getName().getStringRef() == k.name; });
  return kind == std::end(kinds) ? nullptr : kind;
}

/// A Gather of rows of a constant matrix.
static bool isLookup(Operation *op) {
  return op->getName().getStringRef() == "onnx.Gather" && intAttrOr(op, "axis", 0) == 0 &&
         onnx::isFloatConstant(op->getOperand(0)) && cast<ShapedType>(op->getOperand(0).getType()).getRank() == 2 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

SmallVector<Operation *> compress::layersOf(func::FuncOp main, bool withTables) {
  SmallVector<Operation *> layers;
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (layerKind(op) || (withTables && isLookup(op)))
      layers.push_back(op);
  });
  return layers;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

std::string compress::weightFault(Operation *op, unsigned position) {
  Value weights = onnx::operand(op, position);
  auto type = weights ? dyn_cast<RankedTensorType>(weights.getType()) : RankedTensorType();
  if (!type)
    return "its weights have an unknown rank";
  Operation *def = weights.getDefiningOp();
  if (def && def->getName().getStringRef() == "onnx.DequantizeLinear")
    return "it is quantized in the model already";
  if (!type.getElementType().isF32())
    return "its weights are " + onnx::dataTypeName(type.getElementType()).str() + "; only float32 is quantized";
  if (type.getRank() < 2)
    return "its weights are no matrix";
  std::optional<std::vector<float>> elements = onnx::floatsOf(weights);
  if (!elements)
    return onnx::isFloatConstant(onnx::operand(op, 0))
               ? "its constant is the left operand; weights are the right one"
               : "both operands are computed at run time, so there are no weights";
  if (elements->empty())
    return "its weights are empty";
  if (llvm::any_of(*elements, [](float w) { return !std::isfinite(w); }))
    return "its weights hold NaN or infinity";
  return "";
}

WeightShape compress::shapeAround(RankedTensorType type, int64_t axis) {
  WeightShape shape;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    (int64_t(i) < axis ? shape.outer : int64_t(i) > axis ? shape.inner : shape.depth) *= size;
  return shape;
}

Value compress::perChannelWeights(OpBuilder &b, Location loc, ArrayRef<float> values, RankedTensorType type,
                                  int64_t axis, int bits, std::vector<float> *scales) {
  QuantizedWeights q = compress::quantizeWeights(values, shapeAround(type, axis), /*block=*/0, bits);
  Value integers =
      onnx::makeConstant(b, loc, type.clone(b.getIntegerType(bits)), bits == 4 ? packNibbles(q.values) : q.values);
  Value scale = onnx::makeConstant(b, loc, RankedTensorType::get({type.getDimSize(axis)}, b.getF32Type()), q.scales);
  if (scales)
    *scales = std::move(q.scales);
  return onnx::createOp(b, loc, "DequantizeLinear", {integers, scale}, {type},
                        b.getNamedAttr("axis", b.getI64IntegerAttr(axis)))
      ->getResult(0);
}

LayerOutcome compress::outcomeOf(Operation *op) {
  LayerOutcome outcome;
  outcome.node = onnx::nodeName(op->getLoc());
  outcome.op = op->getName().stripDialect().str();
  if (const LayerKind *kind = layerKind(op))
    for (unsigned position : kind->weights)
      if (Value weights = onnx::operand(op, position); weights && onnx::isFloatConstant(weights))
        outcome.floatBytes += cast<ShapedType>(weights.getType()).getNumElements() * sizeof(float);
  outcome.bytes = outcome.floatBytes;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Ranges on ops and arguments
//===----------------------------------------------------------------------===//

std::optional<Interval> compress::rangeOf(Value value) {
  Attribute attr;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    attr = func ? func.getArgAttr(argument.getArgNumber(), kRangeAttr) : Attribute();
  } else if (value == value.getDefiningOp()->getResult(0)) {
    attr = value.getDefiningOp()->getAttr(kRangeAttr);
  }
  auto ends = dyn_cast_or_null<DenseF32ArrayAttr>(attr);
  if (!ends || ends.size() != 2 || !std::isfinite(ends[0]) || !std::isfinite(ends[1]))
    return std::nullopt;
  return Interval{ends[0], ends[1]};
}

void compress::setRange(Value value, Interval range) {
  auto attr = DenseF32ArrayAttr::get(value.getContext(), {range.low, range.high});
  if (auto argument = dyn_cast<BlockArgument>(value))
    cast<func::FuncOp>(argument.getOwner()->getParentOp()).setArgAttr(argument.getArgNumber(), kRangeAttr, attr);
  else if (value == value.getDefiningOp()->getResult(0))
    value.getDefiningOp()->setAttr(kRangeAttr, attr);
}
