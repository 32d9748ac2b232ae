//===- Selection.cpp - TopK, NonZero and other data-dependent selections --===//
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Pointwise.h"
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

namespace {
/// What the runtime takes for "no axis given" (OPTC_NO_AXIS).
constexpr int64_t noAxis = std::numeric_limits<int64_t>::min();

/// The axis attribute checked against the rank of the first operand; noAxis when it is not given.
FailureOr<int64_t> axisParam(Operation *op, Lowering &l, std::optional<int64_t> fallback = std::nullopt) {
  int64_t rank = l.rank(op->getOperand(0));
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  if (!attr && !fallback)
    return noAxis;
  return normalizeAxis(op, attr ? attr.getInt() : *fallback, rank);
}

LogicalResult lowerTopK(Operation *op, Lowering &l) {
  FailureOr<int64_t> axis = axisParam(op, l, -1);
  if (failed(axis))
    return failure();
  return callAndSet(l, kernel::LibraryFn::topk, op->getOperands(),
                    {*axis, intAttr(op, "largest", 1), intAttr(op, "sorted", 1)}, op->getResults());
}

LogicalResult lowerNonZero(Operation *op, Lowering &l) {
  return callAndSet(l, kernel::LibraryFn::nonzero, op->getOperands(), {}, op->getResults());
}

LogicalResult lowerCompress(Operation *op, Lowering &l) {
  FailureOr<int64_t> axis = axisParam(op, l);
  if (failed(axis))
    return failure();
  return callAndSet(l, kernel::LibraryFn::compress, op->getOperands(), {*axis}, op->getResults());
}

LogicalResult lowerUnique(Operation *op, Lowering &l) {
  FailureOr<int64_t> axis = axisParam(op, l);
  if (failed(axis))
    return failure();
  Value x = op->getOperand(0);
  Type elem = l.elem(x), i64 = l.b.getI64Type();
  // Outputs have positions: those that the node leaves out are made too, up to the last that it has.
  unsigned count = onnx::numResultPositions(op);
  SmallVector<Type> types, elems;
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<int64_t> sizes(i == 0 && *axis != noAxis ? l.rank(x) : 1, ShapedType::kDynamic);
    elems.push_back(i == 0 ? elem : i64);
    types.push_back(RankedTensorType::get(sizes, Lowering::storageType(elems.back())));
  }
  ValueRange made =
      callLibrary(l, kernel::LibraryFn::unique, {l.get(x)}, {elem}, types, elems, {*axis, intAttr(op, "sorted", 1)});
  for (unsigned i = 0; i < count; ++i)
    l.set(onnx::result(op, i), made[i]);
  return success();
}

LogicalResult lowerNonMaxSuppression(Operation *op, Lowering &l) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < 5; ++i)
    operands.push_back(onnx::operand(op, i));
  return callAndSet(l, kernel::LibraryFn::nms, operands, {intAttr(op, "center_point_box", 0)}, op->getResults());
}

//===----------------------------------------------------------------------===//
// OneHot, EyeLike, Range, ConstantOfShape
//===----------------------------------------------------------------------===//

/// Gives an open size of the result its value; nothing when inference knows it.
void bindOpen(Lowering &l, Dim dim, llvm::function_ref<Value()> value) {
  if (dim->kind == DimKind::Leaf && !l.get(dim->tensor))
    l.bind(dim, value());
}

LogicalResult lowerOneHot(Operation *op, Lowering &l) {
  Value indices = op->getOperand(0), depth = op->getOperand(1), values = op->getOperand(2), result = op->getResult(0);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
  int64_t rank = dims.size();
  FailureOr<int64_t> axis = normalizeAxis(op, intAttr(op, "axis", -1), rank);
  if (failed(axis))
    return failure();
  Type ie = l.elem(indices), ve = l.elem(values), i64 = l.b.getI64Type();
  bindOpen(l, dims[*axis], [&] {
    Value n = castScalar(l.b, l.loc, l.hostScalar(depth), l.elem(depth), i64);
    return Value(arith::IndexCastOp::create(l.b, l.loc, l.b.getIndexType(), n));
  });
  Value size = l.index(dims[*axis]), from = l.get(indices), pair = l.get(values);
  l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::sge, size, l.constIndex(0)), "the depth is negative");
  l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::eq, l.index(l.dims(values)[0]), l.constIndex(2)),
          "'values' must have 2 elements");
  l.set(result, l.generate("OneHot", ve, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    SmallVector<Value> where(at);
    where.erase(where.begin() + *axis);
    Value i = castScalar(b, loc, l.load(b, loc, from, ie, where), ie, i64);
    ScalarOps s{b, loc, i64};
    Value n = arith::IndexCastOp::create(b, loc, i64, size), here = arith::IndexCastOp::create(b, loc, i64, at[*axis]);
    i = s.select(s.lt(i, s.constantInt(0)), s.add(i, n), i);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    return l.load(b, loc, pair, ve, s.select(s.eq(i, here), one, zero));
  }));
  return success();
}

LogicalResult lowerEyeLike(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  if (l.rank(result) != 2)
    return unsupported(op, "needs a matrix; the rank is " + Twine(l.rank(result)));
  Type elem = l.elem(result);
  int64_t k = intAttr(op, "k", 0);
  l.set(result, l.generate("EyeLike", elem, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    Value shifted = arith::AddIOp::create(b, loc, at[0], arith::ConstantIndexOp::create(b, loc, k));
    Value hit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, shifted, at[1]);
    ScalarOps s{b, loc, elem};
    return s.select(hit, s.constantInt(elem.isInteger(1) ? -1 : 1), s.constantInt(0));
  }));
  return success();
}

/// The number of elements of Range on the host.
Value rangeCount(Lowering &l, Type elem, Value start, Value limit, Value delta) {
  OpBuilder &b = l.b;
  Type f64 = b.getF64Type(), i64 = b.getI64Type();
  if (isa<FloatType>(elem)) {
    ScalarOps s{b, l.loc, f64};
    auto wide = [&](Value v) { return castScalar(b, l.loc, v, elem, f64); };
    Value n = math::CeilOp::create(b, l.loc, s.div(s.sub(wide(limit), wide(start)), wide(delta)));
    Value good = s.lt(n, s.constant(1e15)); // false for NaN
    l.check(good, "start, limit and delta give no finite number of elements");
    n = s.select(s.lt(s.constant(0), n), n, s.constant(0));
    Value count = castScalar(b, l.loc, s.select(good, n, s.constant(0)), f64, i64);
    return arith::IndexCastOp::create(b, l.loc, b.getIndexType(), count);
  }
  ScalarOps s{b, l.loc, i64};
  auto wide = [&](Value v) { return castScalar(b, l.loc, v, elem, i64); };
  Value d = wide(delta), zero = s.constantInt(0), one = s.constantInt(1), down = s.lt(d, zero);
  l.check(arith::CmpIOp::create(b, l.loc, arith::CmpIPredicate::ne, d, zero), "delta is 0");
  Value span = s.sub(wide(limit), wide(start));
  span = s.select(down, s.neg(span), span);
  Value step = s.max(s.select(down, s.neg(d), d), one);
  Value n = s.div(s.add(span, s.sub(step, one)), step); // exact for positive spans
  n = s.select(s.lt(zero, span), n, zero);
  return arith::IndexCastOp::create(b, l.loc, b.getIndexType(), n);
}

LogicalResult lowerRange(Operation *op, Lowering &l) {
  Value start = op->getOperand(0), limit = op->getOperand(1), delta = op->getOperand(2), result = op->getResult(0);
  Type elem = l.elem(result);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
  Value first = l.hostScalar(start), step = l.hostScalar(delta);
  bindOpen(l, dims[0], [&] { return rangeCount(l, elem, first, l.hostScalar(limit), step); });
  l.set(result, l.generate("Range", elem, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    ScalarOps s{b, loc, elem};
    Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
    return s.add(first, s.mul(castScalar(b, loc, i, b.getI64Type(), elem), step));
  }));
  return success();
}

LogicalResult lowerConstantOfShape(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  Type elem = l.elem(result);
  auto value = op->getAttrOfType<ElementsAttr>("value");
  SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
  for (Dim d : dims)
    if (!d->isConst())
      l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::sge, l.index(d), l.constIndex(0)),
              "a size is negative");
  std::optional<APInt> integer;
  double real = 0;
  if (value && isa<FloatType>(elem)) {
    auto v = value.tryGetValues<APFloat>();
    if (!v || value.getNumElements() != 1)
      return unsupported(op, "needs an attribute 'value' of one element");
    APFloat f = *v->begin();
    bool lost;
    f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    real = f.convertToDouble();
  } else if (isa<IntegerType>(elem)) {
    auto v = value ? value.tryGetValues<APInt>() : std::nullopt;
    if (!v || value.getNumElements() != 1)
      return unsupported(op, "needs an attribute 'value' of one element");
    integer = *v->begin();
  } else if (value) {
    return unsupported(op, "fills with " + onnx::dataTypeName(elem) + "; supported are numbers and bool");
  }
  l.set(result, l.generate("ConstantOfShape", elem, dims, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    ScalarOps s{b, loc, elem};
    if (!integer)
      return s.constant(real);
    return s.constantInt(s.isUnsigned() && !elem.isInteger(1) ? int64_t(integer->getZExtValue())
                                                              : integer->getSExtValue());
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

int64_t floatBits(double v) {
  float f = float(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

/// Differs between the nodes of a model and not between builds.
int64_t saltOf(Operation *op) {
  uint64_t hash = 1469598103934665603ull;
  for (char c : nodeName(op))
    hash = (hash ^ uint8_t(c)) * 1099511628211ull;
  uint64_t position = std::distance(op->getBlock()->begin(), op->getIterator());
  return int64_t((hash ^ position) * 1099511628211ull);
}

enum RandomKind { Uniform = 0, Normal = 1, BernoulliKind = 2 };

/// seeded, seed
std::pair<int64_t, int64_t> seedOf(Operation *op) {
  if (auto f = op->getAttrOfType<FloatAttr>("seed"))
    return {1, floatBits(f.getValueAsDouble())};
  if (auto i = op->getAttrOfType<IntegerAttr>("seed"))
    return {1, i.getInt()};
  return {0, 0};
}

template <RandomKind kind, bool like> LogicalResult lowerRandom(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  auto [seeded, seed] = seedOf(op);
  double a = kind == Normal ? floatAttr(op, "mean", 0) : floatAttr(op, "low", 0);
  double b = kind == Normal ? floatAttr(op, "scale", 1) : floatAttr(op, "high", 1);
  SmallVector<int64_t> params = {kind,      onnx::dataTypeOf(l.elem(result)), seeded, seed, floatBits(a), floatBits(b),
                                 saltOf(op)};
  if (!like)
    if (auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape"))
      llvm::append_range(params, shape.asArrayRef());
  return callAndSet(l, kernel::LibraryFn::random, like ? op->getOperand(0) : Value(), params, result);
}

LogicalResult lowerMultinomial(Operation *op, Lowering &l) {
  auto [seeded, seed] = seedOf(op);
  return callAndSet(
      l, kernel::LibraryFn::multinomial, op->getOperands(),
      {intAttr(op, "sample_size", 1), onnx::dataTypeOf(l.elem(op->getResult(0))), seeded, seed, saltOf(op)},
      op->getResults());
}

/// The identity unless training_mode is true; then elements are kept where a uniform number reaches the ratio, scaled.
LogicalResult lowerDropout(Operation *op, Lowering &l) {
  Value ratio = onnx::operand(op, 1), training = onnx::operand(op, 2), y = onnx::result(op, 0),
        mask = onnx::result(op, 1);
  Lowering::Input x = l.input(onnx::operand(op, 0));
  Type boolean = l.b.getI1Type(), f32 = l.b.getF32Type();
  std::optional<SmallVector<int64_t>> known = training ? l.constInts(training) : std::nullopt;
  if (!training || (known && known->size() == 1 && !known->front())) {
    l.set(y, x.lowered);
    if (mask)
      l.set(mask, l.generate("Dropout.mask", boolean, x.dims, [](OpBuilder &b, Location loc, ValueRange) -> Value {
        return arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
      }));
    return success();
  }
  auto [seeded, seed] = seedOf(op);
  Type drawn = RankedTensorType::get(SmallVector<int64_t>(x.dims.size(), ShapedType::kDynamic), f32);
  Value random = callLibrary(l, kernel::LibraryFn::random, {x.lowered}, {x.elem}, {drawn}, {f32},
                             {Uniform, onnx::dataTypeOf(f32), seeded, seed, floatBits(0), floatBits(1), saltOf(op)})[0];
  if (RankedTensorType type = l.tensorType(f32, x.dims); type != drawn)
    random = tensor::CastOp::create(l.b, l.loc, type, random);
  auto scalar = [&](Value v) { return Lowering::Input{l.view(l.get(v), l.elem(v), {}), l.elem(v), {}}; };
  SmallVector<Lowering::Input> in = {x, {random, f32, x.dims}, scalar(training)};
  if (ratio)
    in.push_back(scalar(ratio));
  Type inner = innerType(x.elem);
  auto parts = [&](OpBuilder &b, Location loc, ValueRange v, bool wantMask) -> Value {
    ScalarOps s{b, loc, inner};
    Value rate = ratio ? castScalar(b, loc, v[3], in[3].elem, inner) : s.constant(0.5);
    Value keep = s.le(rate, castScalar(b, loc, v[1], f32, inner));
    Value off = arith::XOrIOp::create(b, loc, v[2], arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1));
    if (wantMask)
      return arith::OrIOp::create(b, loc, keep, off);
    Value value = castScalar(b, loc, v[0], x.elem, inner), one = s.constant(1);
    Value scaled = s.select(keep, s.mul(value, s.div(one, s.sub(one, rate))), s.constant(0));
    return castScalar(b, loc, s.select(off, value, scaled), inner, x.elem);
  };
  l.set(y, l.elementwise(in, x.elem, x.dims,
                         [&](OpBuilder &b, Location loc, ValueRange v) { return parts(b, loc, v, false); }));
  if (mask)
    l.set(mask, l.elementwise(in, boolean, x.dims,
                              [&](OpBuilder &b, Location loc, ValueRange v) { return parts(b, loc, v, true); }));
  return success();
}

const LoweringRow rows[] = {
    {"onnx.TopK", ranked<lowerTopK>},
    {"onnx.NonZero", ranked<lowerNonZero>},
    {"onnx.Compress", ranked<lowerCompress>},
    {"onnx.Unique", ranked<lowerUnique>},
    {"onnx.NonMaxSuppression", ranked<lowerNonMaxSuppression>},
    {"onnx.OneHot", ranked<lowerOneHot>},
    {"onnx.EyeLike", ranked<lowerEyeLike>},
    {"onnx.Range", ranked<lowerRange>},
    {"onnx.ConstantOfShape", ranked<lowerConstantOfShape>},
    {"onnx.RandomNormal", ranked<lowerRandom<Normal, false>>},
    {"onnx.RandomUniform", ranked<lowerRandom<Uniform, false>>},
    {"onnx.RandomNormalLike", ranked<lowerRandom<Normal, true>>},
    {"onnx.RandomUniformLike", ranked<lowerRandom<Uniform, true>>},
    {"onnx.Bernoulli", ranked<lowerRandom<BernoulliKind, true>>},
    {"onnx.Multinomial", ranked<lowerMultinomial>},
    {"onnx.Dropout", ranked<lowerDropout>},
};
} // namespace

void optc::registerSelectionLowerings(LoweringTable &table) { registerRows(table, rows); }
