//===- Control.cpp - shapes of If, Loop, Scan and SequenceMap --------------===//
#include "optc/dialects/onnx/RankDemand.h"
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// Whether every value that `d` mentions exists outside of `op`.
static bool visibleOutside(Dim d, Operation *op) {
  llvm::SmallVector<Dim> work = {d};
  llvm::SmallPtrSet<Dim, 16> seen;
  while (!work.empty()) {
    Dim x = work.pop_back_val();
    if (!seen.insert(x).second)
      continue;
    Value tensor = x->tensor;
    if (tensor && op->isAncestor(tensor.getParentRegion()->getParentOp()))
      return false;
    if (x->lhs) {
      work.push_back(x->lhs);
      work.push_back(x->rhs);
    }
  }
  return true;
}

/// Operands of the onnx.Yield that ends a region; null when the region is not a subgraph.
static Operation *yieldOf(Region &region) {
  return region.empty() || region.front().empty() ? nullptr : &region.front().back();
}

/// The type that values of both types have; null when there is none.
static Type unifyTypes(Type a, Type b) {
  if (a == b)
    return a;
  auto rank = [](Type t) -> TensorType { return dyn_cast_or_null<TensorType>(t); };
  if (TensorType x = rank(a), y = rank(b); x && y) {
    if (x.getElementType() != y.getElementType())
      return Type();
    if (!x.hasRank() || !y.hasRank() || x.getRank() != y.getRank())
      return UnrankedTensorType::get(x.getElementType());
    SmallVector<int64_t> shape;
    for (auto [p, q] : llvm::zip(x.getShape(), y.getShape()))
      shape.push_back(p == q ? p : ShapedType::kDynamic);
    return RankedTensorType::get(shape, x.getElementType());
  }
  auto sa = dyn_cast_or_null<onnx::SeqType>(a), sb = dyn_cast_or_null<onnx::SeqType>(b);
  if (sa && sb) {
    Type element = unifyTypes(sa.getElementType(), sb.getElementType());
    return element ? onnx::SeqType::get(a.getContext(), element) : Type();
  }
  auto oa = dyn_cast_or_null<onnx::OptType>(a), ob = dyn_cast_or_null<onnx::OptType>(b);
  if (oa && ob) {
    Type element = unifyTypes(oa.getElementType(), ob.getElementType());
    return element ? onnx::OptType::get(a.getContext(), element) : Type();
  }
  return Type();
}

/// What holds for a value that is one of two. Sizes and elements that differ become those of `value`. Fails when the
/// types have nothing in common.
static FailureOr<ShapeInfo> unify(ShapeContext &ctx, Value value, const ShapeInfo &a, const ShapeInfo &b) {
  if (!a.elementType || !b.elementType) {
    Type type = unifyTypes(ShapeTable::typeOf(a), ShapeTable::typeOf(b));
    if (!type)
      return failure();
    return ctx.table.fromType(value, type);
  }
  if (a.elementType != b.elementType)
    return failure();
  ShapeInfo result;
  result.elementType = a.elementType;
  result.ranked = a.ranked && b.ranked && a.rank() == b.rank();
  if (!result.ranked)
    return result;
  for (auto [axis, x, y] : llvm::enumerate(a.dims, b.dims))
    result.dims.push_back(x == y ? x : ctx.table.leaf(value, axis));
  if (a.elements && b.elements && a.elements->size() == b.elements->size() && result.dims == a.dims) {
    bool any = a.elements->empty();
    result.elements.emplace();
    for (auto [i, x, y] : llvm::enumerate(*a.elements, *b.elements)) {
      any |= x == y;
      result.elements->push_back(x == y ? x : ctx.table.element(value, i));
    }
    if (!any)
      result.elements.reset();
  }
  return result;
}

/// What is known of `info` outside of the op; the rest becomes that of `value`.
static ShapeInfo exported(ShapeContext &ctx, Value value, ShapeInfo info) {
  for (auto [axis, d] : llvm::enumerate(info.dims))
    if (!visibleOutside(d, ctx.op))
      d = ctx.table.leaf(value, axis);
  if (info.elements)
    for (auto [i, d] : llvm::enumerate(*info.elements))
      if (!visibleOutside(d, ctx.op))
        d = ctx.table.element(value, i);
  return info;
}

static void bind(ShapeContext &ctx, Value argument, const ShapeInfo &info) {
  argument.setType(ShapeTable::typeOf(info));
  ctx.table.set(argument, info);
}

/// A tensor of rank 0.
static ShapeInfo scalar(Type element) {
  ShapeInfo info;
  info.elementType = element;
  info.ranked = true;
  return info;
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// A rank for a value that has another one in each branch, where the users of `value` leave only one, or see none: then
/// the shorter shape gets axes of size 1 in front. The lowering does the same with the tensors, and checks.
static void alignRanks(ShapeContext &ctx, Value value, ShapeInfo &a, ShapeInfo &b) {
  if (a.ranked && b.ranked && a.rank() == b.rank())
    return;
  auto rank = demandedRank(value, ctx.table);
  bool pads = a.ranked && b.ranked && onlyBroadcast(value, std::max(a.rank(), b.rank()), ctx.table);
  if (pads)
    rank = std::max(a.rank(), b.rank());
  if (!rank)
    return;
  for (ShapeInfo *info : {&a, &b}) {
    if (info->ranked && info->rank() == *rank)
      continue;
    if (pads) {
      info->dims.insert(info->dims.begin(), *rank - info->rank(), ctx.constant(1));
      if (*rank > 1) // elements are those of vectors
        info->elements.reset();
      continue;
    }
    info->ranked = true;
    info->dims.clear();
    for (int64_t axis = 0; axis < *rank; ++axis)
      info->dims.push_back(ctx.table.leaf(value, axis));
    info->elements.reset();
  }
}

static LogicalResult inferIf(ShapeContext &ctx) {
  // A branch that is never taken may contradict itself: exporters leave such branches behind.
  auto cond = ctx.constElements(0);
  int only = cond && cond->size() == 1 ? (cond->front() ? 0 : 1) : -1;
  SmallVector<Operation *> yields;
  for (auto [i, region] : llvm::enumerate(ctx.op->getRegions())) {
    if (only >= 0 && int(i) != only)
      continue;
    Operation *yield = yieldOf(region);
    if (!yield || yield->getNumOperands() != ctx.op->getNumResults())
      return ctx.error("a branch has not as many outputs as the node");
    if (failed(inferBlock(region.front(), ctx.table)))
      return failure();
    yields.push_back(yield);
  }
  for (auto [i, value] : llvm::enumerate(ctx.op->getResults())) {
    ShapeInfo info = exported(ctx, value, ctx.table.get(yields.front()->getOperand(i)));
    if (yields.size() == 2) {
      ShapeInfo other = ctx.table.get(yields.back()->getOperand(i));
      if (info.elementType && info.elementType == other.elementType)
        alignRanks(ctx, value, info, other);
      FailureOr<ShapeInfo> both = unify(ctx, value, info, other);
      if (failed(both))
        return ctx.error("output " + Twine(i) + " is " + ctx.table.str(info) + " in one branch and " +
                         ctx.table.str(other) + " in the other");
      info = exported(ctx, value, std::move(*both));
    }
    if (failed(ctx.setInfo(i, info)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loop and Scan
//===----------------------------------------------------------------------===//

/// Runs a body until what is assumed of the carried values holds after one more iteration. `carried` are their
/// arguments, `initial` what holds before the first iteration, `firstYield` the position of the first carried output.
static LogicalResult fixpoint(ShapeContext &ctx, Block &body, ArrayRef<BlockArgument> carried, ArrayRef<Value> initial,
                              unsigned firstYield) {
  for (auto [arg, value] : llvm::zip(carried, initial))
    bind(ctx, arg, ctx.table.get(value));
  Operation *yield = &body.back();
  // Every round gives up at least one size, rank or element.
  while (true) {
    if (failed(inferBlock(body, ctx.table)))
      return failure();
    bool changed = false;
    for (auto [i, arg] : llvm::enumerate(carried)) {
      const ShapeInfo assumed = ctx.table.get(arg), next = ctx.table.get(yield->getOperand(firstYield + i));
      FailureOr<ShapeInfo> both = unify(ctx, arg, assumed, next);
      if (failed(both))
        return ctx.error("the carried value " + Twine(i) + " is " + ctx.table.str(assumed) + " before and " +
                         ctx.table.str(next) + " after an iteration");
      if (*both == assumed)
        continue;
      changed = true;
      bind(ctx, arg, *both);
    }
    if (!changed)
      return success();
  }
}

/// The result for a carried value.
static LogicalResult setCarried(ShapeContext &ctx, unsigned i, BlockArgument arg) {
  return ctx.setInfo(i, exported(ctx, ctx.result(i), ctx.table.get(arg)));
}

/// The number of iterations, when it is the trip count: the condition never ends the loop.
static Dim tripCount(ShapeContext &ctx, Block &body) {
  auto trips = ctx.elements(0);
  if (!trips || trips->size() != 1)
    return nullptr;
  if (ctx.has(1)) {
    auto cond = ctx.constElements(1);
    if (!cond || cond->size() != 1 || !cond->front())
      return nullptr;
  }
  Value next = body.back().getOperand(0);
  // Exporters pass the condition on through Identity and Cast to bool.
  for (Operation *def = next.getDefiningOp(); def; def = next.getDefiningOp()) {
    StringRef name = def->getName().getStringRef();
    if (name != "onnx.Identity" && name != "onnx.Cast")
      break;
    next = def->getOperand(0);
  }
  auto known = ctx.table.get(next).constElements();
  bool goesOn = next == body.getArgument(1) || (known && known->size() == 1 && known->front());
  return goesOn ? ctx.table.max(trips->front(), ctx.constant(0)) : nullptr;
}

static LogicalResult inferLoop(ShapeContext &ctx) {
  Operation *yield = yieldOf(ctx.op->getRegion(0));
  unsigned carriedCount = onnx::numOperandPositions(ctx.op);
  carriedCount = carriedCount > 2 ? carriedCount - 2 : 0;
  unsigned results = ctx.op->getNumResults();
  if (!yield || yield->getNumOperands() != results + 1 || results < carriedCount ||
      yield->getBlock()->getNumArguments() != carriedCount + 2)
    return ctx.error("the body's inputs and outputs do not fit the node's");
  Block &body = *yield->getBlock();
  MLIRContext *mlir = ctx.op->getContext();
  bind(ctx, body.getArgument(0), scalar(IntegerType::get(mlir, 64)));
  bind(ctx, body.getArgument(1), scalar(IntegerType::get(mlir, 1)));
  SmallVector<BlockArgument> carried(body.getArguments().drop_front(2));
  SmallVector<Value> initial;
  for (unsigned i = 0; i < carriedCount; ++i)
    initial.push_back(ctx.operand(i + 2));
  if (failed(fixpoint(ctx, body, carried, initial, 1)))
    return failure();
  Dim trips = tripCount(ctx, body);
  for (unsigned i = 0; i < results; ++i) {
    if (i < carriedCount) {
      if (failed(setCarried(ctx, i, carried[i])))
        return failure();
      continue;
    }
    // Scan outputs are stacked along a new first axis.
    ShapeInfo info = ctx.table.get(yield->getOperand(i + 1));
    info.elements.reset();
    if (!info.elementType)
      return ctx.error("the scan output " + Twine(i) + " is no tensor");
    if (info.ranked)
      info.dims.insert(info.dims.begin(), trips ? trips : ctx.leaf(i, 0));
    if (failed(ctx.setInfo(i, exported(ctx, ctx.result(i), std::move(info)))))
      return failure();
  }
  return success();
}

/// An entry of an optional INTS attribute.
static int64_t entry(const std::optional<SmallVector<int64_t>> &values, unsigned i) {
  return values && i < values->size() ? (*values)[i] : 0;
}

static LogicalResult inferScan(ShapeContext &ctx) {
  Operation *yield = yieldOf(ctx.op->getRegion(0));
  int64_t operands = ctx.op->getNumOperands(), scanned = ctx.intAttr("num_scan_inputs", 0);
  // Out of range is refused below; the difference must not overflow before.
  int64_t states = operands - std::clamp<int64_t>(scanned, 0, operands + 1);
  int64_t results = ctx.op->getNumResults();
  if (!yield || scanned < 1 || states < 0 || results < states || yield->getNumOperands() != results ||
      int64_t(yield->getBlock()->getNumArguments()) != operands)
    return ctx.error("the body's inputs and outputs do not fit the node's");
  Block &body = *yield->getBlock();
  auto inputAxes = ctx.intsAttr("scan_input_axes"), outputAxes = ctx.intsAttr("scan_output_axes");
  Dim length = nullptr;
  for (int64_t i = 0; i < scanned; ++i) {
    unsigned at = states + i;
    ShapeInfo info = ctx.in(at);
    if (!info.elementType)
      return ctx.error("the scan input " + Twine(i) + " is no tensor");
    info.elements.reset();
    if (info.ranked) {
      auto axis = ctx.axis(entry(inputAxes, i), info.rank(), "scan_input_axes: axis");
      if (failed(axis))
        return failure();
      Dim d = info.dims[*axis];
      if (length && ShapeContext::differ(length, d))
        return ctx.error("the scan inputs have the lengths " + ctx.str({length, d}));
      length = !length || d->isConst() ? d : length;
      info.dims.erase(info.dims.begin() + *axis);
    }
    bind(ctx, body.getArgument(at), info);
  }
  SmallVector<BlockArgument> carried(body.getArguments().take_front(states));
  SmallVector<Value> initial(ctx.op->getOperands().take_front(states));
  if (failed(fixpoint(ctx, body, carried, initial, 0)))
    return failure();
  for (int64_t i = 0; i < results; ++i) {
    if (i < states) {
      if (failed(setCarried(ctx, i, carried[i])))
        return failure();
      continue;
    }
    ShapeInfo info = ctx.table.get(yield->getOperand(i));
    info.elements.reset();
    if (!info.elementType)
      return ctx.error("the scan output " + Twine(i - states) + " is no tensor");
    if (info.ranked) {
      auto axis = ctx.axis(entry(outputAxes, i - states), info.rank() + 1, "scan_output_axes: axis");
      if (failed(axis))
        return failure();
      info.dims.insert(info.dims.begin() + *axis, length ? length : ctx.leaf(i, *axis));
    }
    if (failed(ctx.setInfo(i, exported(ctx, ctx.result(i), std::move(info)))))
      return failure();
  }
  return success();
}

static LogicalResult inferSequenceMap(ShapeContext &ctx) {
  Operation *yield = yieldOf(ctx.op->getRegion(0));
  if (!yield || yield->getNumOperands() != ctx.op->getNumResults() ||
      yield->getBlock()->getNumArguments() != ctx.op->getNumOperands())
    return ctx.error("the body's inputs and outputs do not fit the node's");
  Block &body = *yield->getBlock();
  for (auto [arg, operand] : llvm::zip(body.getArguments(), ctx.op->getOperands())) {
    const ShapeInfo info = ctx.table.get(operand);
    auto seq = dyn_cast_or_null<onnx::SeqType>(info.type);
    bind(ctx, arg, seq ? ctx.table.fromType(arg, seq.getElementType()) : info);
  }
  if (failed(inferBlock(body, ctx.table)))
    return failure();
  for (unsigned i = 0, e = ctx.op->getNumResults(); i < e; ++i) {
    Type element = ShapeTable::typeOf(ctx.table.get(yield->getOperand(i)));
    if (isa<onnx::OptType>(element))
      return ctx.error("output " + Twine(i) + " of the body is an optional");
    if (failed(ctx.setType(i, onnx::SeqType::get(ctx.op->getContext(), element))))
      return failure();
  }
  return success();
}

void optc::registerControlShapes(ShapeFnTable &t) {
  add(t, {"If"}, inferIf);
  add(t, {"Loop"}, inferLoop);
  add(t, {"Scan"}, inferScan);
  add(t, {"SequenceMap"}, inferSequenceMap);
}
