//===- RankDemand.cpp - the rank that the users of a tensor ask for -------===//
#include "optc/dialects/onnx/RankDemand.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace optc;

/// The ranks that operand `operand` of an op may have.
using DemandFn = RankRange (*)(OpOperand &operand, ShapeTable &table);

static int64_t intAttr(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

static bool isOperand(OpOperand &use, unsigned position) {
  return onnx::operand(use.getOwner(), position) == use.get();
}

/// That of another operand, where it is known.
static RankRange sameAs(Value other, OpOperand &use, ShapeTable &table) {
  if (!other || other == use.get())
    return {};
  const ShapeInfo &info = table.get(other);
  return info.ranked ? RankRange::exactly(info.rank()) : RankRange();
}

template <int Default> static RankRange axisOfFirst(OpOperand &use, ShapeTable &) {
  return isOperand(use, 0) ? RankRange::ofAxis(intAttr(use.getOwner(), "axis", Default)) : RankRange();
}

template <int Rank> static RankRange firstHasRank(OpOperand &use, ShapeTable &) {
  return isOperand(use, 0) ? RankRange::exactly(Rank) : RankRange();
}

static RankRange concat(OpOperand &use, ShapeTable &table) {
  RankRange range = RankRange::ofAxis(intAttr(use.getOwner(), "axis", 0));
  for (Value other : use.getOwner()->getOperands())
    range = range & sameAs(other, use, table);
  return range;
}

/// Operands 0, 1, ... of one rank.
template <unsigned Count> static RankRange oneRank(OpOperand &use, ShapeTable &table) {
  RankRange range;
  unsigned position = use.getOperandNumber();
  for (unsigned i = 0; i < Count && position < Count; ++i)
    range = range & sameAs(onnx::operand(use.getOwner(), i), use, table);
  return range;
}

static RankRange transpose(OpOperand &use, ShapeTable &) {
  auto perm = use.getOwner()->getAttrOfType<DenseI64ArrayAttr>("perm");
  return perm ? RankRange::exactly(perm.size()) : RankRange();
}

static RankRange gemm(OpOperand &use, ShapeTable &) {
  return isOperand(use, 0) || isOperand(use, 1) ? RankRange::exactly(2) : RankRange();
}

static RankRange convolution(OpOperand &use, ShapeTable &table) {
  return oneRank<2>(use, table) & RankRange::atLeast(3);
}

static RankRange pool(OpOperand &use, ShapeTable &) {
  auto kernel = use.getOwner()->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  return kernel ? RankRange::exactly(kernel.size() + 2) : RankRange();
}

/// As many axes as another operand has elements.
static RankRange lengthOfSecond(OpOperand &use, ShapeTable &table) {
  if (!isOperand(use, 0))
    return {};
  Value list = onnx::operand(use.getOwner(), 1);
  const ShapeInfo *info = list ? &table.get(list) : nullptr;
  bool known = info && info->ranked && info->rank() == 1 && info->dims[0]->isConst();
  return known ? RankRange::exactly(info->dims[0]->value) : RankRange();
}

/// The axes that operand `Position` lists.
template <unsigned Position> static RankRange listedAxes(OpOperand &use, ShapeTable &table) {
  Value axes = isOperand(use, 0) ? onnx::operand(use.getOwner(), Position) : Value();
  RankRange range;
  if (auto known = axes ? table.get(axes).constElements() : std::nullopt)
    for (int64_t axis : *known)
      range = range & RankRange::ofAxis(axis);
  return range;
}

static const llvm::StringMap<DemandFn> &demands() {
  static const llvm::StringMap<DemandFn> table = {
      {"onnx.Transpose", transpose},
      {"onnx.Concat", concat},
      {"onnx.Gemm", gemm},
      {"onnx.Conv", convolution},
      {"onnx.ConvTranspose", convolution},
      {"onnx.AveragePool", pool},
      {"onnx.MaxPool", pool},
      {"onnx.LSTM", firstHasRank<3>},
      {"onnx.GRU", firstHasRank<3>},
      {"onnx.RNN", firstHasRank<3>},
      {"onnx.DepthToSpace", firstHasRank<4>},
      {"onnx.SpaceToDepth", firstHasRank<4>},
      {"onnx.Tile", lengthOfSecond},
      {"onnx.GatherElements", oneRank<2>},
      {"onnx.ScatterElements", oneRank<3>},
      {"onnx.Split", axisOfFirst<0>},
      {"onnx.Gather", axisOfFirst<0>},
      {"onnx.Softmax", axisOfFirst<-1>},
      {"onnx.LogSoftmax", axisOfFirst<-1>},
      {"onnx.Hardmax", axisOfFirst<-1>},
      {"onnx.ArgMax", axisOfFirst<0>},
      {"onnx.ArgMin", axisOfFirst<0>},
      {"onnx.LayerNormalization", axisOfFirst<-1>},
      {"onnx.TopK", axisOfFirst<-1>},
      {"onnx.Squeeze", listedAxes<1>},
      {"onnx.ReduceSum", listedAxes<1>},
      {"onnx.ReduceMean", listedAxes<1>},
      {"onnx.ReduceMax", listedAxes<1>},
      {"onnx.ReduceMin", listedAxes<1>},
      {"onnx.Slice", listedAxes<3>},
  };
  return table;
}

/// The value that a use only passes on: the result of an Identity, or of the If that a branch yields to; else null.
static Value passedOn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (user->getName().getStringRef() == "onnx.Identity")
    return user->getResult(0);
  Operation *parent = user->getParentOp();
  bool yields = user->getName().getStringRef() == "onnx.Yield" && parent->getName().getStringRef() == "onnx.If" &&
                use.getOperandNumber() < parent->getNumResults();
  return yields ? parent->getResult(use.getOperandNumber()) : Value();
}

/// Bounds the values that a question leads to: graphs can be made in which they are too many.
static constexpr unsigned kMostPassedOn = 64;

static RankRange demandedRanks(Value value, ShapeTable &table, unsigned &left) {
  RankRange range;
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner()->getBlock() != value.getParentBlock())
      continue;
    if (Value next = passedOn(use)) {
      if (left && left--)
        range = range & demandedRanks(next, table, left);
    } else if (DemandFn demand = demands().lookup(use.getOwner()->getName().getStringRef())) {
      range = range & demand(use, table);
    }
  }
  return range;
}

RankRange optc::demandedRanks(Value value, ShapeTable &table) {
  unsigned left = kMostPassedOn;
  return ::demandedRanks(value, table, left);
}

std::optional<int64_t> optc::demandedRank(Value value, ShapeTable &table) {
  constexpr int64_t mostOfRuntime = 16; // OPTC_MAX_RANK
  auto rank = demandedRanks(value, table).exact();
  return rank && *rank <= mostOfRuntime ? rank : std::nullopt;
}

/// Operators whose result is the broadcast of all operands.
static const llvm::StringSet<> &broadcasting() {
  static const llvm::StringSet<> names = {
      "onnx.Add",   "onnx.Sub",   "onnx.Mul",  "onnx.Div",     "onnx.Pow",         "onnx.Mod",           "onnx.Min",
      "onnx.Max",   "onnx.Sum",   "onnx.Mean", "onnx.And",     "onnx.Or",          "onnx.Xor",           "onnx.Where",
      "onnx.PRelu", "onnx.Equal", "onnx.Less", "onnx.Greater", "onnx.LessOrEqual", "onnx.GreaterOrEqual"};
  return names;
}

static bool onlyBroadcast(Value value, int64_t rank, ShapeTable &table, unsigned &left) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (Value next = passedOn(use))
      return left && left-- && onlyBroadcast(next, rank, table, left);
    if (user->getName().getStringRef() == "onnx.CastLike" && use.getOperandNumber() == 1)
      return true; // only the element type counts
    return broadcasting().contains(user->getName().getStringRef()) && llvm::any_of(user->getOperands(), [&](Value v) {
             const ShapeInfo *info = v == value ? nullptr : &table.get(v);
             return info && info->ranked && info->rank() >= rank;
           });
  });
}

bool optc::onlyBroadcast(Value value, int64_t rank, ShapeTable &table) {
  unsigned left = kMostPassedOn;
  return ::onlyBroadcast(value, rank, table, left);
}
