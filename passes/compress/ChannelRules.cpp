//===- ChannelRules.cpp - how operators treat channels --------------------===//
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Channels.h"
#include "optc/passes/compress/Weights.h"

using namespace mlir;
using namespace optc;

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

static bool isConstant(Value value) { return value.getDefiningOp<onnx::ConstantOp>() != nullptr; }

/// A constant whose axes can be sliced: floats of known size.
static bool isSliceable(Value value) { return bool(onnx::ConstantBytes(value)); }

static int64_t intAttr(Operation *op, StringRef name, int64_t fallback) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : fallback;
}

/// An axis attribute, made non-negative.
static int64_t axisAttr(Operation *op, StringRef name, int64_t fallback, int64_t rank) {
  int64_t axis = intAttr(op, name, fallback);
  return axis < 0 ? axis + rank : axis;
}

/// For ops in forms that no rule fits.
static void stayAll(Operation *op, ChannelGraph &graph, const Twine &why) {
  for (Value operand : op->getOperands())
    graph.stay(operand, "they reach " + describeNode(op) + ", " + why);
}

//===----------------------------------------------------------------------===//
// Axes that pass through
//===----------------------------------------------------------------------===//

static void passAxes(Operation *op, ChannelGraph &graph, int64_t count) {
  Value from = op->getOperand(0), to = op->getResult(0);
  if (rankOf(from) < 0 || rankOf(to) != rankOf(from))
    return stayAll(op, graph, "whose rank is not known");
  for (int64_t i = 0; i < rankOf(from); ++i) {
    if (i < count)
      graph.set(to, i, graph.ids(from, i));
    else
      graph.stay(graph.ids(from, i), "they are positions of the window of " + describeNode(op));
  }
  for (Value other : op->getOperands().drop_front())
    graph.stay(other, "they are a parameter of " + describeNode(op));
  for (Value other : op->getResults().drop_front())
    if (!other.use_empty())
      graph.stay(from, "they reach " + describeNode(op) + ", whose other outputs are used");
}

void optc::passChannels(Operation *op, ChannelGraph &graph) { passAxes(op, graph, rankOf(op->getOperand(0))); }

/// Batch and channels pass, positions are mixed.
static void passWindow(Operation *op, ChannelGraph &graph) { passAxes(op, graph, 2); }

void optc::joinChannels(Operation *op, ChannelGraph &graph, int64_t axis,
                        ArrayRef<std::pair<unsigned, int64_t>> operands) {
  Value result = op->getResult(0);
  ChannelIds all;
  for (auto [i, at] : operands)
    if (ChannelIds own = graph.ids(op->getOperand(i), at); own.size() > all.size())
      all = own; // not a gate of one channel
  if (all.empty())
    return;
  std::string why;
  for (auto [i, at] : operands) {
    Value value = op->getOperand(i);
    std::optional<int64_t> size = sizeOf(value, at);
    if (size == 1 && all.size() != 1)
      continue;
    ChannelIds own = graph.ids(value, at);
    if (size != int64_t(all.size()) || (own.empty() && !isSliceable(value)))
      why = "they meet others in " + describeNode(op) + " that cannot be removed";
  }
  if (!why.empty() || sizeOf(result, axis) != int64_t(all.size())) {
    for (auto [i, at] : operands)
      graph.stay(graph.ids(op->getOperand(i), at),
                 why.empty() ? "their number changes in " + describeNode(op) : Twine(why));
    return;
  }
  for (auto [i, at] : operands) {
    Value value = op->getOperand(i);
    if (sizeOf(value, at) == 1 && all.size() != 1)
      continue;
    if (ChannelIds own = graph.ids(value, at); !own.empty())
      graph.unite(all, own);
    else
      graph.slice(op->getOpOperand(i), at, all, /*weighs=*/false);
  }
  graph.set(result, axis, all);
}

/// numpy broadcasting.
static void broadcast(Operation *op, ChannelGraph &graph) {
  int64_t rank = rankOf(op->getResult(0));
  if (rank < 0 || llvm::any_of(op->getOperands(), [](Value v) { return rankOf(v) < 0; }))
    return stayAll(op, graph, "whose rank is not known");
  for (int64_t axis = 0; axis < rank; ++axis) {
    SmallVector<std::pair<unsigned, int64_t>> operands;
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t at = axis - rank + rankOf(operand.get()); at >= 0)
        operands.emplace_back(operand.getOperandNumber(), at);
    joinChannels(op, graph, axis, operands);
  }
}

/// The axis is one whole: no position of it can go.
static void alongAxis(Operation *op, ChannelGraph &graph) {
  int64_t axis = axisAttr(op, "axis", -1, rankOf(op->getOperand(0)));
  graph.stay(graph.ids(op->getOperand(0), axis), "their sum is 1 in " + describeNode(op));
  passChannels(op, graph);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Slices a parameter with one element per channel.
static void sliceVector(Operation *op, ChannelGraph &graph, unsigned position, ChannelIds ids, bool weighs) {
  Value value = onnx::operand(op, position);
  if (!value)
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == value && operand.getOperandNumber() == position) {
      int64_t last = rankOf(value) - 1;
      if (isSliceable(value) && last >= 0 && sizeOf(value, last) == int64_t(ids.size()))
        return graph.slice(operand, last, ids, weighs);
      if (isConstant(value) && (last < 0 || sizeOf(value, last) == 1))
        return;
      graph.stay(ids, "a parameter of " + describeNode(op) + " is no constant");
      graph.stay(value, "they are a parameter of " + describeNode(op));
    }
}

/// Channels at equal places of all groups go together: groups stay equal.
static void uniteGroups(ChannelGraph &graph, ChannelIds ids, int64_t groups) {
  int64_t size = ids.size() / groups;
  for (int64_t g = 1; g < groups; ++g)
    graph.unite(ids.take_front(size), ids.slice(g * size, size));
}

static const char *const kNoWeights = "its weights are no constant of floats";

/// A convolution in which each group reads one channel: its filters are those of its input.
static void depthwise(Operation *op, ChannelGraph &graph, OpOperand &weight, int64_t filters) {
  ChannelIds in = graph.ids(op->getOperand(0), 1);
  if (in.empty())
    return graph.decline(op, "its input has channels that are no layer's, and it keeps one filter for each");
  int64_t multiplier = filters / in.size();
  SmallVector<int> repeated;
  for (int id : in)
    repeated.append(multiplier, id);
  ChannelIds out = graph.list(repeated);
  graph.slice(weight, 0, out, /*weighs=*/true);
  sliceVector(op, graph, 2, out, /*weighs=*/false);
  graph.edit(
      [op, in](const KeptChannels &kept) { op->setAttr("group", Builder(op).getI64IntegerAttr(kept.count(in))); });
  graph.set(op->getResult(0), 1, out);
}

static void conv(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (i != 1)
      graph.stay(graph.ids(x, i), "they are positions of " + describeNode(op));
  std::optional<int64_t> filters = sizeOf(w, 0), inputs = sizeOf(w, 1);
  int64_t groups = intAttr(op, "group", 1);
  ChannelIds in = graph.ids(x, 1);
  if (!isSliceable(w) || !isPrunableFloat(cast<RankedTensorType>(w.getType()).getElementType()) || !filters ||
      !inputs || groups < 1 || *filters % groups || (!in.empty() && int64_t(in.size()) != *inputs * groups)) {
    graph.decline(op, kNoWeights);
    return stayAll(op, graph, "whose weights are no constant of floats");
  }
  OpOperand &weight = op->getOpOperand(1);
  if (*inputs == 1 && groups > 1)
    return depthwise(op, graph, weight, *filters);
  if (!in.empty()) {
    uniteGroups(graph, in, groups);
    graph.slice(weight, 1, in.take_front(*inputs), /*weighs=*/true);
    if (groups == 1)
      graph.input(op, 1, 1, in);
  }
  ChannelIds out = graph.make(op, *filters);
  uniteGroups(graph, out, groups);
  graph.slice(weight, 0, out, /*weighs=*/true);
  sliceVector(op, graph, 2, out, /*weighs=*/false);
  graph.set(op->getResult(0), 1, out);
}

static void convTranspose(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  ChannelIds in = graph.ids(x, 1);
  std::optional<int64_t> inputs = sizeOf(w, 0), filters = sizeOf(w, 1);
  if (intAttr(op, "group", 1) != 1 || !isSliceable(w) || !filters || !inputs ||
      !isPrunableFloat(cast<RankedTensorType>(w.getType()).getElementType()) ||
      (!in.empty() && int64_t(in.size()) != *inputs)) {
    graph.decline(op, "it has groups, or no constant weights of floats");
    return stayAll(op, graph, "which has groups, or no constant weights of floats");
  }
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (i != 1)
      graph.stay(graph.ids(x, i), "they are positions of " + describeNode(op));
  OpOperand &weight = op->getOpOperand(1);
  if (!in.empty())
    graph.slice(weight, 0, in, /*weighs=*/true);
  ChannelIds out = graph.make(op, *filters);
  graph.slice(weight, 1, out, /*weighs=*/true);
  sliceVector(op, graph, 2, out, /*weighs=*/false);
  graph.set(op->getResult(0), 1, out);
}

/// The last axis of a product x * w with a constant matrix; rows pass.
static void product(Operation *op, ChannelGraph &graph, int64_t reduced, int64_t wReduced, int64_t columns) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  ChannelIds in = graph.ids(x, reduced);
  OpOperand &weight = op->getOpOperand(1);
  if (!in.empty() && sizeOf(w, wReduced) == int64_t(in.size())) {
    graph.slice(weight, wReduced, in, /*weighs=*/true);
    graph.input(op, 1, wReduced, in);
  } else {
    graph.stay(in, "their number is not known in " + describeNode(op));
  }
  ChannelIds out = graph.make(op, *sizeOf(w, columns));
  graph.slice(weight, columns, out, /*weighs=*/true);
  graph.set(op->getResult(0), rankOf(op->getResult(0)) - 1, out);
}

static void matmul(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  int64_t rank = rankOf(x);
  if (rank < 2 || rankOf(op->getResult(0)) != rank || rankOf(w) != 2 || !isSliceable(w) ||
      !isPrunableFloat(cast<RankedTensorType>(w.getType()).getElementType())) {
    graph.decline(op, "its second operand is no constant matrix of floats");
    return stayAll(op, graph, "whose second operand is no constant matrix of floats");
  }
  for (int64_t i = 0; i + 1 < rank; ++i)
    graph.set(op->getResult(0), i, graph.ids(x, i));
  product(op, graph, rank - 1, 0, 1);
}

static void gemm(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  bool transA = intAttr(op, "transA", 0), transB = intAttr(op, "transB", 0);
  if (rankOf(x) != 2 || rankOf(w) != 2 || !isSliceable(w) ||
      !isPrunableFloat(cast<RankedTensorType>(w.getType()).getElementType())) {
    graph.decline(op, "its second operand is no constant matrix of floats");
    return stayAll(op, graph, "whose second operand is no constant matrix of floats");
  }
  ChannelIds rows = graph.ids(x, transA ? 1 : 0);
  if (onnx::operand(op, 2))
    graph.stay(rows, "they are rows of " + describeNode(op));
  graph.set(op->getResult(0), 0, rows);
  product(op, graph, transA ? 0 : 1, transB ? 1 : 0, transB ? 0 : 1);
  if (Value bias = onnx::operand(op, 2))
    sliceVector(op, graph, 2, graph.ids(op->getResult(0), 1), /*weighs=*/false);
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// One parameter per channel, which is axis 1.
static void batchNorm(Operation *op, ChannelGraph &graph) {
  if (intAttr(op, "training_mode", 0))
    return stayAll(op, graph, "which is in training mode");
  Value x = op->getOperand(0);
  ChannelIds ids = graph.ids(x, 1);
  for (unsigned i = 1; i < onnx::numOperandPositions(op); ++i)
    if (!ids.empty())
      sliceVector(op, graph, i, ids, /*weighs=*/i == 1);
    else
      graph.stay(op->getOperand(i), "they are a parameter of " + describeNode(op));
  for (int64_t i = 0; i < rankOf(x); ++i)
    graph.set(op->getResult(0), i, graph.ids(x, i));
}

static void groupNorm(Operation *op, ChannelGraph &graph) {
  ChannelIds ids = graph.ids(op->getOperand(0), 1);
  int64_t groups = intAttr(op, "num_groups", 1);
  if (!ids.empty() && groups > 0 && ids.size() % groups == 0)
    uniteGroups(graph, ids, groups);
  else
    graph.stay(ids, "their groups are not known in " + describeNode(op));
  batchNorm(op, graph);
}

/// Normalizes all axes from `axis` on; scale and bias broadcast to them.
static void layerNorm(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x), axis = axisAttr(op, "axis", -1, rank);
  for (Value other : op->getResults().drop_front())
    if (!other.use_empty())
      return stayAll(op, graph, "whose statistics are used");
  if (rank < 0 || rankOf(op->getResult(0)) != rank)
    return stayAll(op, graph, "whose rank is not known");
  for (int64_t i = axis; i < rank; ++i) {
    ChannelIds ids = graph.ids(x, i);
    for (OpOperand &operand : op->getOpOperands().drop_front()) {
      int64_t at = i - rank + rankOf(operand.get());
      if (ids.empty() || at < 0 || sizeOf(operand.get(), at) == 1)
        continue;
      if (isSliceable(operand.get()) && sizeOf(operand.get(), at) == int64_t(ids.size()))
        graph.slice(operand, at, ids, /*weighs=*/operand.getOperandNumber() == 1);
      else
        graph.stay(ids, "a parameter of " + describeNode(op) + " is no constant");
    }
  }
  for (Value other : op->getOperands().drop_front())
    graph.stay(other, "they are a parameter of " + describeNode(op));
  for (int64_t i = 0; i < rank; ++i)
    graph.set(op->getResult(0), i, graph.ids(x, i));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const llvm::StringMap<ChannelRule> &optc::channelRules() {
  static const llvm::StringMap<ChannelRule> table = [] {
    llvm::StringMap<ChannelRule> rules;
    auto all = [&](ChannelRule rule, std::initializer_list<StringRef> names) {
      for (StringRef name : names)
        rules[("onnx." + name).str()] = rule;
    };
    all(passChannels, {"Abs",      "Cast",        "Ceil",
                       "Celu",     "Clip",        "Cos",
                       "Dropout",  "Elu",         "Erf",
                       "Exp",      "Floor",       "Gelu",
                       "Neg",      "HardSigmoid", "HardSwish",
                       "Identity", "LeakyRelu",   "Log",
                       "Mish",     "Not",         "Reciprocal",
                       "Relu",     "Round",       "Selu",
                       "Sigmoid",  "Sign",        "Sin",
                       "Softplus", "Softsign",    "Sqrt",
                       "Swish",    "Tanh",        "ThresholdedRelu",
                       "Shrink"});
    all(broadcast, {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean",
                    "Min", "Mul", "Or", "PRelu", "Pow", "Sub", "Sum", "Where", "Xor"});
    all(passWindow, {"AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool"});
    all(alongAxis, {"LogSoftmax", "Softmax"});
    all(batchNorm, {"BatchNormalization", "InstanceNormalization"});
    all(groupNorm, {"GroupNormalization"});
    all(layerNorm, {"LayerNormalization", "RMSNormalization"});
    all(conv, {"Conv"});
    all(convTranspose, {"ConvTranspose"});
    all(gemm, {"Gemm"});
    all(matmul, {"MatMul"});
    addViewRules(rules);
    return rules;
  }();
  return table;
}
