//===- QuantizeStatic.cpp - integers between layers -----------------------===//
//
//   %1 = Conv(%x, %w, %b)                    %q = QuantizeLinear(%x), %d = DequantizeLinear(%q)
//   %2 = Relu(%1)                    ->      %1 = Conv(%d, DequantizeLinear(int8), DequantizeLinear(int32))
//   %3 = MaxPool(%2)                         %2 = Relu(%1), %p = QuantizeLinear(%2)
//   %4 = Conv(%3, ...)                       %3 = MaxPool(%p) in uint8 ...
//
// What a layer reads is quantized, and from there: ops that only move elements run on integers (`carriers`), and ops
// that compute between quantized values read them dequantized, unless the value is the only reader's and can stay in
// registers. Everything else reads the float value, so that nothing loses precision without a layer that gains by it.
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/Passes.h"
#include "optc/passes/compress/Equalize.h"
#include "optc/passes/compress/Layers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_QUANTIZESTATIC
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace optc;
using namespace optc::compress;

//===----------------------------------------------------------------------===//
// What is done with integers
//===----------------------------------------------------------------------===//

static StringRef nameOf(Operation *op) { return op->getName().getStringRef(); }

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// Operators that compute every element of their result from elements at the same place.
static bool isElementwise(Operation *op) {
  static const llvm::StringSet<> names = {
      "onnx.Add",         "onnx.Sub",       "onnx.Mul",      "onnx.Div",   "onnx.Max",  "onnx.Min",
      "onnx.Relu",        "onnx.Clip",      "onnx.Sigmoid",  "onnx.Tanh",  "onnx.Elu",  "onnx.LeakyRelu",
      "onnx.HardSigmoid", "onnx.HardSwish", "onnx.Softplus", "onnx.PRelu", "onnx.Gelu", "onnx.BatchNormalization",
      "onnx.Mish",        "onnx.Swish",     "onnx.Selu",     "onnx.Celu",  "onnx.Erf",  "onnx.ThresholdedRelu"};
  return names.contains(nameOf(op)) && op->getNumResults() == 1;
}

/// Operators that read each element of their input some times, to make few results.
static bool isPooling(Operation *op) {
  static const llvm::StringSet<> names = {"onnx.AveragePool", "onnx.GlobalAveragePool", "onnx.GlobalMaxPool",
                                          "onnx.ReduceMean", "onnx.Resize"};
  return names.contains(nameOf(op)) && op->getNumResults() == 1;
}

static bool always(Operation *) { return true; }

static bool hasNoIndices(Operation *op) {
  Value indices = onnx::result(op, 1);
  return !indices || indices.use_empty();
}

static StringRef stringAttr(Operation *op, StringRef name, StringRef fallback) {
  auto attr = op->getAttrOfType<StringAttr>(name);
  return attr ? attr.getValue() : fallback;
}

static bool picksNeighbour(Operation *op) {
  return stringAttr(op, "mode", "nearest") == "nearest" &&
         stringAttr(op, "coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

/// Padding with a constant other than 0 could lie outside of the range.
static bool padsWithZero(Operation *op) {
  Value value = onnx::operand(op, 2);
  if (!value || stringAttr(op, "mode", "constant") != "constant")
    return true;
  std::optional<std::vector<float>> known = onnx::floatsOf(value);
  return known && known->size() == 1 && known->front() == 0;
}

namespace {
/// An operator whose results hold nothing but elements of its inputs.
struct Carrier {
  llvm::StringLiteral name;
  bool (*isOne)(Operation *);
  bool takesAll = false; ///< all operands are data, not just the first
};
} // namespace

static constexpr Carrier kCarriers[] = {
    {"onnx.Concat", always, true},   {"onnx.DepthToSpace", always}, {"onnx.Expand", always},
    {"onnx.Flatten", always},        {"onnx.Gather", always},       {"onnx.Identity", always},
    {"onnx.MaxPool", hasNoIndices},  {"onnx.Pad", padsWithZero},    {"onnx.Reshape", always},
    {"onnx.Resize", picksNeighbour}, {"onnx.Slice", always},        {"onnx.SpaceToDepth", always},
    {"onnx.Split", always},          {"onnx.Squeeze", always},      {"onnx.Tile", always},
    {"onnx.Transpose", always},      {"onnx.Unsqueeze", always},
};

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {
struct Layer {
  Operation *op;
  std::string reason; ///< why it stays float; empty: it does not
};

class Quantizer {
public:
  explicit Quantizer(func::FuncOp main) : main(main), block(&main.getBody().front()) { findLayers(); }

  /// Chooses the values to quantize. Without ranges every range counts as known.
  void choose(bool needRanges);
  LayerOutcomes rewrite();
  std::vector<LayerPair> isolate();

  llvm::SetVector<Value> roots; ///< quantized where they are made

private:
  void findLayers();
  const Carrier *carrier(Operation *op) const;
  SmallVector<Value> dataOperands(Operation *op) const;
  bool hasRanges(Value value) const;
  void demand(Value value);
  void spread(Operation *op);
  bool isInChain(Operation *op) const;
  bool readsIntegers(Operation *op) const {
    return quantized.contains(op) || isElementwise(op) || isPooling(op) || carrier(op);
  }

  // Values that hold multiples of one scale are of one class.
  Value classOf(Value value);
  QuantParams paramsOf(Value value);

  Value quantize(OpBuilder &b, Location loc, Value value, QuantParams params);
  Value dequantize(OpBuilder &b, Location loc, Value integers, Value like, QuantParams params);
  void carry(OpBuilder &b, Operation *op);
  Operation *quantizedLayer(OpBuilder &b, const Layer &layer, Value input, float inputScale, bool inPlace);
  Value quantizedBias(OpBuilder &b, Operation *op, float inputScale, ArrayRef<float> weightScales);

  func::FuncOp main;
  Block *block;
  bool needRanges = true;
  std::vector<Layer> layers; ///< everything in the table, nested regions included
  llvm::DenseMap<Operation *, Layer *> quantized;
  llvm::SetVector<Value> demanded;      ///< roots and what carriers make of them
  llvm::SetVector<Operation *> readers; ///< ops between quantized values
  llvm::DenseMap<Value, Value> parents;
  llvm::DenseMap<Value, Interval> ranges;        ///< of classes
  llvm::DenseMap<Value, Value> integers, floats; ///< the quantized form of a demanded value, and that dequantized
};
} // namespace

std::string compress::integerFault(Operation *op, func::FuncOp main) {
  const LayerKind *kind = layerKind(op);
  if (auto why = op->getAttrOfType<StringAttr>(kKeepFloatAttr))
    return why.str();
  if (!kind->noIntegers.empty())
    return kind->noIntegers.str();
  if (op->getBlock() != &main.getBody().front())
    return "it is inside the body of " + onnx::describeOp(op->getParentOp()) + ", which calibration does not look into";
  if (std::string fault = weightFault(op, kind->weights.front()); !fault.empty())
    return fault;
  Value input = op->getOperand(0);
  return onnx::isFloatConstant(input) ? "its input is a constant"
         : !isFloatTensor(input)      ? "its input has an unknown rank"
                                      : "";
}

void Quantizer::findLayers() {
  for (Operation *op : layersOf(main, /*withTables=*/false))
    layers.push_back({op, integerFault(op, main)});
}

static const Carrier *findCarrier(Operation *op) {
  const Carrier *found = llvm::find_if(kCarriers, [&](const Carrier &c) { return nameOf(op) == c.name; });
  return found != std::end(kCarriers) && found->isOne(op) ? found : nullptr;
}

bool compress::movesElements(Operation *op) { return findCarrier(op); }

const Carrier *Quantizer::carrier(Operation *op) const {
  if (!op || op->getBlock() != block || op->getNumOperands() == 0)
    return nullptr;
  const Carrier *found = findCarrier(op);
  if (!found)
    return nullptr;
  for (Value data : found->takesAll ? op->getOperands() : op->getOperands().take_front())
    if (!isFloatTensor(data) || data.getDefiningOp<onnx::ConstantOp>())
      return nullptr;
  return llvm::all_of(op->getResultTypes(), [](Type t) { return isa<RankedTensorType>(t); }) ? found : nullptr;
}

SmallVector<Value> Quantizer::dataOperands(Operation *op) const {
  const Carrier *c = carrier(op);
  return c->takesAll ? SmallVector<Value>(op->getOperands()) : SmallVector<Value>{op->getOperand(0)};
}

Value Quantizer::classOf(Value value) {
  Value top = value;
  while (Value parent = parents.lookup(top))
    top = parent;
  while (value != top) { // shorter next time
    Value next = parents.lookup(value);
    parents[value] = top;
    value = next;
  }
  return top;
}

/// Whether everything that has to be quantized with a value has a range.
bool Quantizer::hasRanges(Value value) const {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (needRanges && !work.empty()) {
    Value v = work.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    if (carrier(v.getDefiningOp()))
      llvm::append_range(work, dataOperands(v.getDefiningOp()));
    else if (!rangeOf(v))
      return false;
  }
  return true;
}

/// Quantizes a value, and what it is a rearrangement of.
void Quantizer::demand(Value value) {
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!demanded.insert(v))
      continue;
    Operation *def = v.getDefiningOp();
    if (!carrier(def)) {
      roots.insert(v);
      continue;
    }
    SmallVector<Value> data = dataOperands(def);
    work.append(data);
    llvm::append_range(data, def->getResults()); // which are made together
    for (Value other : data)
      if (Value a = classOf(other), b = classOf(v); a != b)
        parents[b] = a;
  }
}

/// Whether an op works on values that are quantized somewhere.
bool Quantizer::isInChain(Operation *op) const { return op && op->getBlock() == block && readsIntegers(op); }

/// The result of `op` is quantized: decides about what it reads.
void Quantizer::spread(Operation *start) {
  SmallVector<Operation *> work{start};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    bool isPool = isPooling(op);
    if (op->getBlock() != block || !(isPool || isElementwise(op)) || !readers.insert(op))
      continue;
    bool hasProduct = false; // one product per op can be computed where its sum is
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!isFloatTensor(v) || demanded.contains(v) || !isInChain(def) || !hasRanges(v))
        continue;
      bool isInner = !isPool && llvm::all_of(v.getUsers(), isElementwise);
      if (isInner && isElementwise(def)) {
        work.push_back(def);
        continue;
      }
      if (isInner && quantized.contains(def) && !hasProduct) {
        hasProduct = true;
        continue;
      }
      // Bytes save time where nothing needs the floats beside them. What ops between layers compute for several readers
      // (the sums of a residual stream, what a gate multiplies) has no scale that a layer was measured with.
      if (!isElementwise(def) && llvm::all_of(v.getUsers(), [&](Operation *user) { return readsIntegers(user); }))
        demand(v);
    }
  }
}

void Quantizer::choose(bool needRanges) {
  this->needRanges = needRanges;
  for (Layer &layer : layers) {
    if (layer.reason.empty() && !hasRanges(layer.op->getOperand(0)))
      layer.reason = "calibration saw no value, or NaN or infinity, at its input";
    if (!layer.reason.empty())
      continue;
    quantized[layer.op] = &layer;
    demand(layer.op->getOperand(0));
  }
  // Grows while it is walked.
  for (size_t i = 0; i < roots.size(); ++i)
    if (Operation *def = roots[i].getDefiningOp())
      spread(def);
  for (Value root : roots)
    if (std::optional<Interval> range = rangeOf(root))
      if (auto [it, isNew] = ranges.try_emplace(classOf(root), *range); !isNew)
        it->second.merge(*range);
}

QuantParams Quantizer::paramsOf(Value value) { return uint8Params(ranges.lookup(classOf(value))); }

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

static Type uint8Of(OpBuilder &b) { return b.getIntegerType(8, /*isSigned=*/false); }

static SmallVector<Value> scaleAndZero(OpBuilder &b, Location loc, QuantParams params) {
  return {
      onnx::makeConstant(b, loc, RankedTensorType::get({}, b.getF32Type()), std::vector<float>{params.scale}),
      onnx::makeConstant(b, loc, RankedTensorType::get({}, uint8Of(b)), std::vector<uint8_t>{uint8_t(params.zero)})};
}

Value Quantizer::quantize(OpBuilder &b, Location loc, Value value, QuantParams params) {
  SmallVector<Value> operands = scaleAndZero(b, loc, params);
  operands.insert(operands.begin(), value);
  Type type = cast<RankedTensorType>(value.getType()).clone(uint8Of(b));
  return onnx::createOp(b, loc, "QuantizeLinear", operands, {type})->getResult(0);
}

Value Quantizer::dequantize(OpBuilder &b, Location loc, Value integers, Value like, QuantParams params) {
  SmallVector<Value> operands = scaleAndZero(b, loc, params);
  operands.insert(operands.begin(), integers);
  return onnx::createOp(b, loc, "DequantizeLinear", operands, {like.getType()})->getResult(0);
}

/// The attributes that belong to the operator.
static SmallVector<NamedAttribute> operatorAttrs(Operation *op) {
  SmallVector<NamedAttribute> attrs;
  const onnx::OpInfo *info = onnx::infoFor(op);
  for (NamedAttribute attr : op->getAttrDictionary())
    if (info && info->attribute(attr.getName()))
      attrs.push_back(attr);
  return attrs;
}

/// Does on integers what `op` does on floats.
void Quantizer::carry(OpBuilder &b, Operation *op) {
  SmallVector<Value> operands;
  SmallVector<Value> data = dataOperands(op);
  for (unsigned i = 0, e = onnx::numOperandPositions(op); i < e; ++i) {
    Value operand = onnx::operand(op, i);
    operands.push_back(i < data.size() ? integers.lookup(operand) : operand);
  }
  if (nameOf(op) == "onnx.Pad" && stringAttr(op, "mode", "constant") == "constant") {
    operands.resize(std::max<size_t>(operands.size(), 3));
    operands[2] = scaleAndZero(b, op->getLoc(), paramsOf(op->getOperand(0)))[1];
  }
  SmallVector<Type> types;
  for (unsigned i = 0, e = onnx::numResultPositions(op); i < e; ++i) {
    Value result = onnx::result(op, i);
    types.push_back(
        result && !(i && !isFloatTensor(result)) ? cast<RankedTensorType>(result.getType()).clone(uint8Of(b)) : Type());
  }
  Operation *made = onnx::createOp(b, op->getLoc(), *onnx::infoFor(op), operands, types, operatorAttrs(op));
  for (unsigned i = 0, e = types.size(); i < e; ++i)
    if (Value result = onnx::result(op, i); result && types[i])
      integers[result] = onnx::result(made, i);
}

/// The bias as int32 multiples of what the products are multiples of; the bias itself where that does not fit.
Value Quantizer::quantizedBias(OpBuilder &b, Operation *op, float inputScale, ArrayRef<float> weightScales) {
  Value bias = onnx::operand(op, 2);
  std::optional<std::vector<float>> values = bias ? onnx::floatsOf(bias) : std::nullopt;
  auto isOne = [&](StringRef name) {
    auto factor = op->getAttrOfType<FloatAttr>(name);
    return !factor || factor.getValueAsDouble() == 1;
  };
  auto type = bias ? dyn_cast<RankedTensorType>(bias.getType()) : RankedTensorType();
  if (!values || values->size() != weightScales.size() || !type || type.getRank() < 1 ||
      type.getShape().back() != int64_t(weightScales.size()) || !isOne("alpha") || !isOne("beta"))
    return bias;
  // Sums stay within 32 bits, too: a quarter of their range is the bias's.
  constexpr double kMost = 1 << 29;
  std::vector<int32_t> integers;
  std::vector<float> scales;
  for (auto [value, scale] : llvm::zip(*values, weightScales)) {
    scales.push_back(inputScale * scale);
    double q = std::nearbyint(double(value) / scales.back());
    if (!(std::fabs(q) <= kMost))
      return bias;
    integers.push_back(int32_t(q));
  }
  Location loc = bias.getLoc();
  Value stored = onnx::makeConstant(b, loc, type.clone(b.getI32Type()), integers);
  Value scale = onnx::makeConstant(b, loc, RankedTensorType::get({int64_t(scales.size())}, b.getF32Type()), scales);
  return onnx::createOp(b, loc, "DequantizeLinear", {stored, scale}, {type},
                        b.getNamedAttr("axis", b.getI64IntegerAttr(type.getRank() - 1)))
      ->getResult(0);
}

Operation *Quantizer::quantizedLayer(OpBuilder &b, const Layer &layer, Value input, float inputScale, bool inPlace) {
  Operation *op = layer.op;
  Value weights = onnx::operand(op, 1);
  auto type = cast<RankedTensorType>(weights.getType());
  std::vector<float> scales;
  Value restored = perChannelWeights(b, weights.getLoc(), *onnx::floatsOf(weights), type,
                                     layerKind(op)->channelAxis(op, type.getRank()), /*bits=*/8, &scales);
  Value bias = quantizedBias(b, op, inputScale, scales);
  Operation *made = inPlace ? op : b.clone(*op);
  made->setOperand(0, input);
  made->setOperand(1, restored);
  if (bias)
    made->setOperand(2, bias);
  return made;
}

/// Where ops that use a value can first stand.
static void setAfter(OpBuilder &b, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    b.setInsertionPointToStart(argument.getOwner());
  else
    b.setInsertionPointAfter(value.getDefiningOp());
}

LayerOutcomes Quantizer::rewrite() {
  LayerOutcomes outcomes;
  for (const Layer &layer : layers) {
    LayerOutcome outcome = outcomeOf(layer.op);
    outcome.form = layer.reason.empty() ? "int8" : "float";
    outcome.reason = layer.reason;
    if (layer.reason.empty())
      outcome.bytes = outcome.floatBytes / sizeof(float);
    outcomes.push_back(std::move(outcome));
  }
  OpBuilder b(main.getContext());
  auto finish = [&](Value value) {
    floats[value] = dequantize(b, value.getLoc(), integers.lookup(value), value, paramsOf(value));
  };
  auto enter = [&](Value value) {
    setAfter(b, value);
    integers[value] = quantize(b, value.getLoc(), value, paramsOf(value));
    finish(value);
  };
  for (Value argument : block->getArguments())
    if (roots.contains(argument))
      enter(argument);
  SmallVector<Operation *> ops;
  for (Operation &op : *block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    // What an op reads was made before it.
    b.setInsertionPoint(op);
    if (auto it = quantized.find(op); it != quantized.end()) {
      Value input = op->getOperand(0);
      quantizedLayer(b, *it->second, floats.lookup(input), paramsOf(input).scale, /*inPlace=*/true);
    } else if (readers.contains(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (Value value = floats.lookup(operand.get()))
          operand.set(value);
    }
    bool carries = false;
    for (Value result : op->getResults())
      if (demanded.contains(result)) {
        if (roots.contains(result)) {
          enter(result);
          continue;
        }
        if (!carries) {
          b.setInsertionPointAfter(op);
          carry(b, op);
        }
        carries = true;
        finish(result);
      }
  }
  // Float forms that nothing reads any more, and what only carriers read.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return outcomes;
}

std::vector<LayerPair> Quantizer::isolate() {
  std::vector<LayerPair> pairs;
  OpBuilder b(main.getContext());
  for (auto [i, layer] : llvm::enumerate(layers)) {
    if (!layer.reason.empty())
      continue;
    Operation *op = layer.op;
    Value input = op->getOperand(0);
    QuantParams params = paramsOf(input);
    b.setInsertionPointAfter(op);
    Value restored = dequantize(b, op->getLoc(), quantize(b, op->getLoc(), input, params), input, params);
    Operation *made = quantizedLayer(b, layer, restored, params.scale, /*inPlace=*/false);
    pairs.push_back({unsigned(i), op->getResult(0), made->getResult(0)});
  }
  return pairs;
}

static void dropRanges(func::FuncOp main) {
  main.walk([](Operation *op) {
    for (StringRef name : {kRangeAttr, kKeepFloatAttr, kShiftAttr})
      op->removeAttr(name);
  });
  for (unsigned i = 0, e = main.getNumArguments(); i < e; ++i)
    main.removeArgAttr(i, kRangeAttr);
}

SmallVector<Value> compress::valuesToObserve(func::FuncOp main) {
  Quantizer quantizer(main);
  quantizer.choose(/*needRanges=*/false);
  // A range is one of a first result.
  return llvm::to_vector(llvm::make_filter_range(
      quantizer.roots, [](Value v) { return isa<BlockArgument>(v) || v == v.getDefiningOp()->getResult(0); }));
}

LayerOutcomes compress::quantizeStatic(func::FuncOp main) {
  correctBiases(main);
  Quantizer quantizer(main);
  quantizer.choose(/*needRanges=*/true);
  LayerOutcomes outcomes = quantizer.rewrite();
  dropRanges(main);
  return outcomes;
}

std::vector<LayerPair> compress::isolateStatic(func::FuncOp main) {
  Quantizer quantizer(main);
  quantizer.choose(/*needRanges=*/true);
  return quantizer.isolate();
}

namespace {
struct QuantizeStatic : optc::impl::QuantizeStaticBase<QuantizeStatic> {
  using QuantizeStaticBase::QuantizeStaticBase;
  void runOnOperation() override {
    for (const LayerOutcome &outcome : compress::quantizeStatic(getOperation())) {
      ++(outcome.isFloat() ? numFloat : numQuantized);
      if (report)
        getOperation().emitRemark() << outcome.op << " '" << outcome.node << "': " << outcome.form
                                    << (outcome.isFloat() ? ": " + outcome.reason : "");
    }
  }
};
} // namespace
