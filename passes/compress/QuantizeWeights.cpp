//===- QuantizeWeights.cpp - weights in few bits, activations as they are --===//
//
//   MatMul(%x, %w)   ->   MatMul(%x, DequantizeLinear(int8, scales))
//   Gather(%w, %i)   ->   Cast(Gather(int8, %i)) * Gather(scales, %i)
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/Passes.h"
#include "optc/passes/compress/Layers.h"
#include <cmath>

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace optc;
using namespace optc::compress;

/// Fewer weights than this are not worth a scale.
static constexpr int64_t kFew = 256;

static Value createOne(OpBuilder &b, Location loc, StringRef name, ArrayRef<Value> operands, Type type,
                       ArrayRef<NamedAttribute> attrs = {}) {
  return onnx::createOp(b, loc, name, operands, {type}, attrs)->getResult(0);
}

static NamedAttribute intAttr(OpBuilder &b, StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}

/// The number of neighbours that share a scale: the wanted one, or a little less where that divides what there is.
static int64_t groupFor(int64_t depth, int64_t wanted) {
  for (int64_t size = wanted; size * 2 > wanted; --size)
    if (depth % size == 0)
      return size;
  return wanted;
}

/// 4-bit weights with a scale per group along `axis`, dequantized.
static Value groupedWeights(OpBuilder &b, Location loc, ArrayRef<float> values, RankedTensorType type, int64_t axis,
                            int64_t channels, int64_t wanted) {
  // What is summed of a convolution are all axes but the first.
  RankedTensorType stored = type;
  if (type.getRank() > 2 && axis == 1) {
    stored = RankedTensorType::get({type.getDimSize(0), type.getNumElements() / type.getDimSize(0)}, b.getF32Type());
    channels = 0;
  }
  int64_t depth = stored.getDimSize(axis);
  Value result;
  if (depth <= wanted) {
    result = perChannelWeights(b, loc, values, stored, channels, /*bits=*/4, nullptr);
  } else {
    int64_t block = groupFor(depth, wanted);
    QuantizedWeights q = compress::quantizeWeights(values, shapeAround(stored, axis), block, /*bits=*/4);
    SmallVector<int64_t> scaleShape(stored.getShape());
    scaleShape[axis] = llvm::divideCeil(depth, block);
    Value integers = onnx::makeConstant(b, loc, stored.clone(b.getIntegerType(4)), packNibbles(q.values));
    Value scales = onnx::makeConstant(b, loc, RankedTensorType::get(scaleShape, b.getF32Type()), q.scales);
    result = createOne(b, loc, "DequantizeLinear", {integers, scales}, stored,
                       {intAttr(b, "axis", axis), intAttr(b, "block_size", block)});
  }
  if (stored == type)
    return result;
  Value shape = onnx::makeConstant(b, loc, RankedTensorType::get({type.getRank()}, b.getI64Type()),
                                   std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
  return createOne(b, loc, "Reshape", {result, shape}, type);
}

//===----------------------------------------------------------------------===//
// Tables that are looked up
//===----------------------------------------------------------------------===//

/// Rows of int8 with a scale each: only those that are looked up are made floats.
static Value lookUp(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value table = op->getOperand(0), rows = op->getOperand(1);
  auto type = cast<RankedTensorType>(table.getType()), made = cast<RankedTensorType>(op->getResult(0).getType());
  QuantizedWeights q = compress::quantizeWeights(*onnx::floatsOf(table), shapeAround(type, 0), /*block=*/0, /*bits=*/8);
  Value integers = onnx::makeConstant(b, table.getLoc(), type.clone(b.getI8Type()), q.values);
  Value scales =
      onnx::makeConstant(b, table.getLoc(), RankedTensorType::get({type.getDimSize(0), 1}, b.getF32Type()), q.scales);
  SmallVector<int64_t> scaleShape(made.getShape());
  scaleShape.back() = 1;
  Value found = createOne(b, loc, "Gather", {integers, rows}, made.clone(b.getI8Type()));
  Value scale = createOne(b, loc, "Gather", {scales, rows}, made.clone(scaleShape, b.getF32Type()));
  Value wide = createOne(b, loc, "Cast", {found}, made, {intAttr(b, "to", 1)});
  return createOne(b, loc, "Mul", {wide, scale}, made);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// One layer, or one table.
struct Plan {
  Operation *op;
  SmallVector<unsigned, 2> weights; ///< positions
  std::string reason;
};
} // namespace

static std::vector<Plan> plansOf(func::FuncOp main) {
  std::vector<Plan> plans;
  for (Operation *op : layersOf(main, /*withTables=*/true)) {
    const LayerKind *kind = layerKind(op);
    Plan plan{op, kind ? kind->weights : SmallVector<unsigned, 2>{0}, ""};
    if (auto why = op->getAttrOfType<StringAttr>(kKeepFloatAttr))
      plan.reason = why.str();
    int64_t count = 0;
    for (unsigned position : plan.weights) {
      plan.reason = plan.reason.empty() ? weightFault(op, position) : plan.reason;
      if (plan.reason.empty())
        count += cast<ShapedType>(onnx::operand(op, position).getType()).getNumElements();
    }
    if (plan.reason.empty() && count < kFew)
      plan.reason = "it has only " + std::to_string(count) + " weights";
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// The operand at a position, for writing.
static OpOperand *operandAt(Operation *op, unsigned position) {
  Value wanted = onnx::operand(op, position);
  unsigned before = 0; // absent ones take no place
  for (unsigned i = 0; i < position; ++i)
    before += onnx::operand(op, i) ? 1 : 0;
  return wanted ? &op->getOpOperand(before) : nullptr;
}

static Value quantized(OpBuilder &b, Operation *op, unsigned position, const WeightOptions &options) {
  const LayerKind *kind = layerKind(op);
  Value weights = onnx::operand(op, position);
  auto type = cast<RankedTensorType>(weights.getType());
  std::vector<float> values = *onnx::floatsOf(weights);
  int64_t channels = kind->channelAxis(op, type.getRank()), sum = kind->sumAxis(op, type.getRank());
  return options.bits == 8 ? perChannelWeights(b, weights.getLoc(), values, type, channels, 8, nullptr)
                           : groupedWeights(b, weights.getLoc(), values, type, sum, channels, options.groupSize);
}

LayerOutcomes compress::quantizeWeights(func::FuncOp main, const WeightOptions &options) {
  LayerOutcomes outcomes;
  OpBuilder b(main.getContext());
  for (const Plan &plan : plansOf(main)) {
    Operation *op = plan.op;
    LayerOutcome outcome = outcomeOf(op);
    bool isTable = !layerKind(op);
    if (isTable)
      outcome.bytes = outcome.floatBytes = cast<ShapedType>(op->getOperand(0).getType()).getNumElements() * 4;
    if (!plan.reason.empty()) {
      outcome.form = "float";
      outcome.reason = plan.reason;
      op->removeAttr(kKeepFloatAttr);
      outcomes.push_back(std::move(outcome));
      continue;
    }
    int bits = isTable ? 8 : options.bits;
    outcome.form = "int" + std::to_string(bits) + " weights";
    outcome.bytes = outcome.floatBytes * bits / 32;
    outcomes.push_back(std::move(outcome));
    b.setInsertionPoint(op);
    if (isTable) {
      op->getResult(0).replaceAllUsesWith(lookUp(b, op));
      op->erase();
      continue;
    }
    for (unsigned position : plan.weights)
      operandAt(op, position)->set(quantized(b, op, position, options));
  }
  main.walk([](Operation *op) {
    if (isa<onnx::ConstantOp>(op) && op->use_empty())
      op->erase();
  });
  return outcomes;
}

std::vector<LayerPair> compress::isolateWeights(func::FuncOp main, const WeightOptions &options) {
  std::vector<LayerPair> pairs;
  OpBuilder b(main.getContext());
  for (auto [i, plan] : llvm::enumerate(plansOf(main))) {
    Operation *op = plan.op;
    // What is inside of a body has no place among the results.
    if (!plan.reason.empty() || op->getParentOp() != main)
      continue;
    b.setInsertionPointAfter(op);
    Value made;
    if (layerKind(op)) {
      Operation *copy = b.clone(*op);
      b.setInsertionPoint(copy);
      for (unsigned position : plan.weights)
        operandAt(copy, position)->set(quantized(b, copy, position, options));
      made = copy->getResult(0);
    } else {
      made = lookUp(b, op);
    }
    pairs.push_back({unsigned(i), op->getResult(0), made});
  }
  return pairs;
}

namespace {
struct QuantizeWeights : optc::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;
  void runOnOperation() override {
    if ((bits != 4 && bits != 8) || groupSize < 1) {
      getOperation().emitError() << "optc-quantize-weights: bits is " << bits.getValue() << " and group-size "
                                 << groupSize.getValue() << "; bits must be 4 or 8, group-size at least 1";
      return signalPassFailure();
    }
    for (const LayerOutcome &outcome : compress::quantizeWeights(getOperation(), {bits, groupSize})) {
      ++(outcome.isFloat() ? numFloat : numQuantized);
      if (report)
        getOperation().emitRemark() << outcome.op << " '" << outcome.node << "': " << outcome.form
                                    << (outcome.isFloat() ? ": " + outcome.reason : "");
    }
  }
};
} // namespace
