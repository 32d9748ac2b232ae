//===- Simplify.cpp - remove what does nothing, fold shape arithmetic ------===//
//
// Rounds of: infer shapes, rewrite every op once, merge equal ops, drop dead ones; until nothing changes. Ops are not
// erased while the shapes of a round are in use: a new value at the address of an erased one would inherit its shape.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/Shape.h"
#include "optc/passes/Passes.h"

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_SIMPLIFY
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace optc;

namespace {
/// More rounds than any chain of rewrites needs; the result is right after each.
constexpr int maxRounds = 16;

/// One round over a function.
class Round {
public:
  Round(func::FuncOp func, ShapeTable &table) : builder(func.getContext()), table(table), func(func) {}
  /// Whether anything changed.
  bool run();
  unsigned numFolded = 0, numInlined = 0;

  OpBuilder builder;
  ShapeTable &table;

  std::optional<SmallVector<int64_t>> constants(Value v) const {
    return v ? table.get(v).constElements() : std::nullopt;
  }
  /// Whether the sizes are known to be equal.
  bool sameShape(Value a, Value b) const {
    const ShapeInfo &x = table.get(a), &y = table.get(b);
    return x.ranked && y.ranked && x.elementType == y.elementType && x.dims == y.dims;
  }
  /// A constant integer vector.
  Value vector(Location loc, ArrayRef<int64_t> values) {
    auto type = RankedTensorType::get({int64_t(values.size())}, builder.getI64Type());
    return onnx::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, values));
  }

private:
  void rewrite(Block &block);
  bool fold(Operation *op);
  bool inlineBranch(Operation *op);

  func::FuncOp func;
  SmallVector<Operation *> dead;
};

/// Gives the value that result 0 of an op is equal to; null when there is none.
using Rewrite = Value (*)(Operation *, Round &);
} // namespace

//===----------------------------------------------------------------------===//
// Ops that do nothing
//===----------------------------------------------------------------------===//

static Value identity(Operation *op, Round &) { return op->getOperand(0); }

static Value onlyInput(Operation *op, Round &) { return op->getNumOperands() == 1 ? op->getOperand(0) : Value(); }

/// An op that never reorders elements: equal sizes, equal values.
static Value sameShape(Operation *op, Round &round) {
  return round.sameShape(op->getOperand(0), op->getResult(0)) ? op->getOperand(0) : Value();
}

static Value sameType(Operation *op, Round &round) {
  Type from = round.table.get(op->getOperand(0)).elementType, to = round.table.get(op->getResult(0)).elementType;
  return from && from == to ? op->getOperand(0) : Value();
}

/// Without a training flag, or with a false one, Dropout passes its input on and its mask is all true.
static Value dropout(Operation *op, Round &round) {
  if (Value training = onnx::operand(op, 2)) {
    auto flag = round.constants(training);
    if (!flag || flag->size() != 1 || flag->front())
      return Value();
  }
  Value mask = onnx::result(op, 1), data = op->getOperand(0);
  if (!mask || mask.use_empty())
    return data;
  Type i1 = round.builder.getI1Type(), i64 = round.builder.getI64Type();
  auto one = DenseElementsAttr::get(RankedTensorType::get({1}, i1), true);
  Type shapeType = RankedTensorType::get({ShapedType::kDynamic}, i64);
  Operation *shape = onnx::createOp(round.builder, op->getLoc(), "Shape", {data}, {shapeType});
  Operation *ones = onnx::createOp(round.builder, op->getLoc(), "ConstantOfShape", {shape->getResult(0)},
                                   {mask.getType()}, round.builder.getNamedAttr("value", one));
  mask.replaceAllUsesWith(ones->getResult(0));
  return data;
}

/// Slices that keep all of an axis keep its order when they step forwards.
static Value slice(Operation *op, Round &round) {
  if (Value steps = onnx::operand(op, 4)) {
    auto values = round.constants(steps);
    if (!values || llvm::any_of(*values, [](int64_t s) { return s < 1; }))
      return Value();
  }
  // A step above 1 keeps axes of size 1 at most, and those whole.
  return sameShape(op, round);
}

static Value pad(Operation *op, Round &round) {
  auto pads = round.constants(onnx::operand(op, 1));
  return pads && llvm::all_of(*pads, [](int64_t p) { return p == 0; }) ? op->getOperand(0) : Value();
}

static Value split(Operation *op, Round &round) { return op->getNumResults() == 1 ? sameShape(op, round) : Value(); }

static Value getElement(Operation *op, Round &round) {
  return isa_and_nonnull<onnx::OptType>(round.table.get(op->getOperand(0)).type) ? Value() : op->getOperand(0);
}

//===----------------------------------------------------------------------===//
// Reshape and Transpose
//===----------------------------------------------------------------------===//

static bool isNamed(Operation *op, StringRef name) { return op && op->getName().getStringRef() == name; }

/// The constant shape that a reshape to `target` from any tensor of as many elements can use, with its allowzero.
static std::optional<SmallVector<int64_t>> absoluteShape(Operation *reshape, Round &round) {
  // Sizes known at compile time stand for themselves with allowzero = 1.
  SmallVector<int64_t> sizes;
  for (Dim d : round.table.get(reshape->getResult(0)).dims) {
    if (!d->isConst())
      return std::nullopt;
    sizes.push_back(d->value);
  }
  return sizes;
}

/// Reshape(Reshape(x, a), b) is Reshape(x, b), where b does not copy sizes of the tensor between.
static Value reshape(Operation *op, Round &round) {
  if (Value same = sameShape(op, round))
    return same;
  Operation *inner = op->getOperand(0).getDefiningOp();
  if (!isNamed(inner, "onnx.Reshape") && !isNamed(inner, "onnx.Flatten") && !isNamed(inner, "onnx.Squeeze") &&
      !isNamed(inner, "onnx.Unsqueeze"))
    return Value();
  Value source = inner->getOperand(0), shape = op->getOperand(1);
  const ShapeInfo &result = round.table.get(op->getResult(0));
  if (!result.ranked)
    return Value();
  int64_t allowZero = 0;
  auto target = round.constants(shape);
  bool copies = !target || llvm::is_contained(*target, 0);
  if (copies) {
    auto absolute = absoluteShape(op, round);
    if (!absolute)
      return Value();
    shape = round.vector(op->getLoc(), *absolute);
    allowZero = 1;
  }
  Operation *merged =
      onnx::createOp(round.builder, op->getLoc(), "Reshape", {source, shape}, {op->getResult(0).getType()},
                     round.builder.getNamedAttr("allowzero", round.builder.getI64IntegerAttr(allowZero)));
  return merged->getResult(0);
}

/// The permutation of a Transpose, when its rank is known.
static std::optional<SmallVector<int64_t>> permutation(Operation *op, Round &round) {
  if (auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm"))
    return SmallVector<int64_t>(perm.asArrayRef());
  const ShapeInfo &in = round.table.get(op->getOperand(0));
  if (!in.ranked)
    return std::nullopt;
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, in.rank())));
}

static Value transpose(Operation *op, Round &round) {
  auto perm = permutation(op, round);
  if (!perm)
    return Value();
  if (llvm::equal(*perm, llvm::seq<int64_t>(0, perm->size())))
    return op->getOperand(0);
  Operation *inner = op->getOperand(0).getDefiningOp();
  if (!isNamed(inner, "onnx.Transpose"))
    return Value();
  auto first = permutation(inner, round);
  if (!first || first->size() != perm->size())
    return Value();
  SmallVector<int64_t> both;
  for (int64_t p : *perm)
    both.push_back((*first)[p]);
  if (llvm::equal(both, llvm::seq<int64_t>(0, both.size())))
    return inner->getOperand(0);
  Operation *merged =
      onnx::createOp(round.builder, op->getLoc(), "Transpose", {inner->getOperand(0)}, {op->getResult(0).getType()},
                     round.builder.getNamedAttr("perm", round.builder.getDenseI64ArrayAttr(both)));
  return merged->getResult(0);
}

/// Gemm takes transposed matrices as they are.
static Value gemm(Operation *op, Round &round) {
  static const char *const flags[] = {"transA", "transB"};
  SmallVector<Value> operands = {op->getOperand(0), op->getOperand(1), onnx::operand(op, 2)};
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  bool changed = false;
  for (int i : {0, 1}) {
    Operation *inner = operands[i].getDefiningOp();
    if (!isNamed(inner, "onnx.Transpose"))
      continue;
    auto perm = permutation(inner, round);
    if (!perm || *perm != SmallVector<int64_t>{1, 0})
      continue;
    auto flag = op->getAttrOfType<IntegerAttr>(flags[i]);
    llvm::erase_if(attributes, [&](NamedAttribute a) { return a.getName() == flags[i]; });
    bool transposed = flag && flag.getInt();
    attributes.push_back(round.builder.getNamedAttr(flags[i], round.builder.getI64IntegerAttr(!transposed)));
    operands[i] = inner->getOperand(0);
    changed = true;
  }
  if (!changed)
    return Value();
  Operation *merged =
      onnx::createOp(round.builder, op->getLoc(), "Gemm", operands, {op->getResult(0).getType()}, attributes);
  return merged->getResult(0);
}

static const llvm::StringMap<Rewrite> &rewrites() {
  static const llvm::StringMap<Rewrite> table = {
      {"onnx.Identity", identity},
      {"onnx.Dropout", dropout},
      {"onnx.Reshape", reshape},
      {"onnx.Flatten", sameShape},
      {"onnx.Squeeze", sameShape},
      {"onnx.Unsqueeze", sameShape},
      {"onnx.Expand", sameShape},
      {"onnx.Tile", sameShape},
      {"onnx.Slice", slice},
      {"onnx.Pad", pad},
      {"onnx.Split", split},
      {"onnx.Transpose", transpose},
      {"onnx.Gemm", gemm},
      {"onnx.Cast", sameType},
      {"onnx.CastLike", sameType},
      {"onnx.BitCast", sameType},
      {"onnx.Concat", onlyInput},
      {"onnx.Sum", onlyInput},
      {"onnx.Mean", onlyInput},
      {"onnx.Max", onlyInput},
      {"onnx.Min", onlyInput},
      {"onnx.Clip", onlyInput},
      {"onnx.OptionalGetElement", getElement},
  };
  return table;
}

//===----------------------------------------------------------------------===//
// The round
//===----------------------------------------------------------------------===//

/// Replaces results whose elements are all known by constants.
bool Round::fold(Operation *op) {
  if (isa<onnx::ConstantOp>(op) || !isPure(op))
    return false;
  bool changed = false;
  for (Value result : op->getResults()) {
    const ShapeInfo &info = table.get(result);
    auto values = info.constElements();
    if (!values || result.use_empty())
      continue;
    auto type = dyn_cast<RankedTensorType>(ShapeTable::typeOf(info));
    auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
    if (!element || !type.hasStaticShape() || type.getNumElements() != int64_t(values->size()))
      continue;
    SmallVector<APInt> bits;
    for (int64_t v : *values)
      bits.push_back(APInt(64, v).trunc(element.getWidth()));
    auto constant = onnx::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, bits));
    result.replaceAllUsesWith(constant.getOutput());
    ++numFolded;
    changed = true;
  }
  return changed;
}

/// Moves the branch that is taken in front of the If.
bool Round::inlineBranch(Operation *op) {
  auto cond = constants(op->getOperand(0));
  if (!cond || cond->size() != 1)
    return false;
  Region &region = op->getRegion(cond->front() ? 0 : 1);
  if (region.empty() || region.front().empty())
    return false;
  Block &block = region.front();
  Operation *yield = &block.back();
  if (!isa<onnx::YieldOp>(yield) || yield->getNumOperands() != op->getNumResults())
    return false;
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
    result.replaceAllUsesWith(value);
  op->getBlock()->getOperations().splice(Block::iterator(op), block.getOperations(), block.begin(),
                                         Block::iterator(yield));
  dead.push_back(op);
  ++numInlined;
  return true;
}

void Round::rewrite(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!onnx::infoFor(&op))
      continue;
    builder.setInsertionPoint(&op);
    if (isa<onnx::IfOp>(op) && inlineBranch(&op))
      continue;
    fold(&op);
    auto it = rewrites().find(op.getName().getStringRef());
    if (it != rewrites().end()) {
      if (Value value = it->second(&op, *this); value && value != op.getResult(0)) {
        op.getResult(0).replaceAllUsesWith(value);
        dead.push_back(&op);
        continue;
      }
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        rewrite(inner);
  }
}

bool Round::run() {
  unsigned before = numFolded;
  rewrite(func.front());
  bool changed = !dead.empty() || numFolded != before;
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
  return changed;
}

namespace {
struct Simplify : optc::impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    IRRewriter rewriter(&getContext());
    for (int i = 0; i < maxRounds; ++i) {
      ShapeTable table;
      if (failed(inferShapes(func, table)))
        return signalPassFailure();
      Round round(func, table);
      bool changed = round.run();
      folded += round.numFolded;
      inlined += round.numInlined;
      DominanceInfo dominance(func);
      bool merged = false;
      eliminateCommonSubExpressions(rewriter, dominance, func, &merged);
      bool removed = succeeded(runRegionDCE(rewriter, func->getRegions()));
      if (!changed && !merged && !removed)
        return;
    }
    ShapeTable table;
    if (failed(inferShapes(func, table)))
      signalPassFailure();
  }
};
} // namespace
