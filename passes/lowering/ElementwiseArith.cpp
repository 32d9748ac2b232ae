//===- ElementwiseArith.cpp - arithmetic, comparisons, logic, selection ---===//
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

namespace {
using Binary = Value (ScalarOps::*)(Value, Value) const;

/// Folds the operands from the left: Add, but also the variadic Sum, Max and Min.
template <Binary fn> Value fold(const ScalarOps &s, Operation *, ValueRange in) {
  Value r = in[0];
  for (Value v : in.drop_front())
    r = (s.*fn)(r, v);
  return r;
}
Value mean(const ScalarOps &s, Operation *op, ValueRange in) {
  return s.div(fold<&ScalarOps::add>(s, op, in), s.constant(in.size()));
}

/// A comparison, with the operands swapped for "greater": negating "less" would be wrong for NaN.
template <Binary fn, bool swap = false> Value compare(const ScalarOps &s, Operation *, ValueRange in) {
  return swap ? (s.*fn)(in[1], in[0]) : (s.*fn)(in[0], in[1]);
}

template <typename ArithOp> Value bits(const ScalarOps &s, Operation *, ValueRange in) {
  return ArithOp::create(s.b, s.loc, in[0], in[1]);
}

Value where(const ScalarOps &s, Operation *, ValueRange in) { return s.select(in[0], in[1], in[2]); }

/// Amounts outside [0, width) leave only the fill: the sign for a right shift of a signed value, else 0.
Value bitShift(const ScalarOps &s, Operation *op, ValueRange in) {
  int64_t width = s.elem.getIntOrFloatBitWidth();
  bool right = stringAttr(op, "direction", "RIGHT") == "RIGHT", arithmetic = right && !s.isUnsigned();
  ScalarOps u{s.b, s.loc, IntegerType::get(s.b.getContext(), width, IntegerType::Unsigned)};
  Value fits = u.lt(in[1], u.constantInt(width)); // unsigned: negative amounts are large
  Value amount = s.select(fits, in[1], s.constantInt(0));
  if (arithmetic) {
    Value last = s.select(fits, in[1], s.constantInt(width - 1));
    Value r = arith::ShRSIOp::create(s.b, s.loc, in[0], last);
    return r;
  }
  Value r = right ? Value(arith::ShRUIOp::create(s.b, s.loc, in[0], amount))
                  : Value(arith::ShLIOp::create(s.b, s.loc, in[0], amount));
  return s.select(fits, r, s.constantInt(0));
}

/// fmod = 1: the sign of the dividend, as in C. fmod = 0: the sign of the divisor, as in Python.
Value mod(const ScalarOps &s, Operation *op, ValueRange in) {
  Value x = in[0], y = in[1], r = s.rem(x, y);
  if (intAttr(op, "fmod", 0) || s.isUnsigned())
    return r;
  Value zero = s.constant(0);
  Value differs = arith::XOrIOp::create(s.b, s.loc, s.lt(r, zero), s.lt(y, zero));
  if (!s.isFloat()) {
    Value notZero = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::ne, r, zero);
    Value fix = arith::AndIOp::create(s.b, s.loc, notZero, differs);
    return s.select(fix, s.add(r, y), r);
  }
  Value fixed = s.select(differs, s.add(r, y), r);
  return s.select(s.eq(r, zero), math::CopySignOp::create(s.b, s.loc, r, y), fixed);
}

//===----------------------------------------------------------------------===//
// Pow
//===----------------------------------------------------------------------===//

/// x^y by squaring, modulo the width. Negative exponents: 1 / x^-y truncated, and 0 for x = 0.
Value integerPower(OpBuilder &b, Location loc, Type elem, Value x, Type yElem, Value y) {
  ScalarOps s{b, loc, elem}, e{b, loc, yElem};
  Value one = s.constantInt(1), zero = s.constantInt(0), none = e.constantInt(0), bit = e.constantInt(1);
  Value negative = e.isUnsigned() ? Value() : e.lt(y, none);
  Value count = negative ? e.select(negative, none, y) : y;
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{x.getType(), x.getType(), y.getType()}, ValueRange{one, x, count},
      [&](OpBuilder &nb, Location nl, ValueRange a) {
        Value more = arith::CmpIOp::create(nb, nl, arith::CmpIPredicate::ne, a[2], none);
        scf::ConditionOp::create(nb, nl, more, a);
      },
      [&](OpBuilder &nb, Location nl, ValueRange a) {
        ScalarOps n{nb, nl, elem};
        Value odd =
            arith::CmpIOp::create(nb, nl, arith::CmpIPredicate::ne, arith::AndIOp::create(nb, nl, a[2], bit), none);
        Value next = n.select(odd, n.mul(a[0], a[1]), a[0]);
        Value rest = arith::ShRUIOp::create(nb, nl, a[2], bit);
        scf::YieldOp::create(nb, nl, ValueRange{next, n.mul(a[1], a[1]), rest});
      });
  Value r = loop.getResult(0);
  if (!negative)
    return r;
  Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, y, bit), none);
  Value inverse = s.select(s.eq(x, one), one, zero);
  if (!s.isUnsigned()) {
    Value minus = s.constantInt(-1);
    inverse = s.select(s.eq(x, minus), s.select(odd, minus, one), inverse);
  }
  return s.select(negative, inverse, r);
}

/// The exponent when it is one known number.
std::optional<double> constantExponent(ElementsAttr value) {
  if (!value || value.getNumElements() == 0 || (!value.isSplat() && value.getNumElements() != 1))
    return std::nullopt;
  if (auto f = value.tryGetValues<APFloat>()) {
    APFloat v = *f->begin();
    bool lost;
    v.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return v.convertToDouble();
  }
  if (auto i = value.tryGetValues<APInt>(); i && value.getElementType().isSignlessInteger())
    return double((*i->begin()).getSExtValue());
  return std::nullopt;
}

/// Small exponents without a call; null for others.
Value knownPower(const ScalarOps &s, Value x, double y) {
  if (y == 0)
    return s.constant(1);
  if (y == 1)
    return x;
  if (y == 2)
    return s.mul(x, x);
  if (y == 3)
    return s.mul(s.mul(x, x), x);
  if (y == -1)
    return s.div(s.constant(1), x);
  if (y == 0.5) { // unlike sqrt, pow gives +0 for -0 and +inf for -inf
    Value root = s.add(math::SqrtOp::create(s.b, s.loc, x), s.constant(0));
    return s.select(s.eq(x, s.lowest()), s.highest(), root);
  }
  return {};
}

LogicalResult lowerPow(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), y = op->getOperand(1), result = op->getResult(0);
  Type xe = l.elem(x), ye = l.elem(y);
  std::optional<double> known = isa<FloatType>(xe) ? constantExponent(l.constElements(y)) : std::nullopt;
  l.set(result, l.elementwise({x, y}, xe, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
    ScalarOps s{b, loc, xe};
    if (known)
      if (Value v = knownPower(s, in[0], *known))
        return v;
    if (isa<IntegerType>(xe) && isa<IntegerType>(ye))
      return integerPower(b, loc, xe, in[0], ye, in[1]);
    // In f64 where f32 could not hold an operand.
    bool wide = s.computeType().isF64() || Lowering::computeType(ye).isF64() || !isa<FloatType>(xe) ||
                (!isa<FloatType>(ye) && ye.getIntOrFloatBitWidth() >= 32);
    Type via = wide ? b.getF64Type() : Type(b.getF32Type());
    Value p = math::PowFOp::create(b, loc, castScalar(b, loc, in[0], xe, via), castScalar(b, loc, in[1], ye, via));
    return castScalar(b, loc, p, via, xe);
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Clip, Equal
//===----------------------------------------------------------------------===//

LogicalResult lowerClip(Operation *op, Lowering &l) {
  Value x = onnx::operand(op, 0), low = onnx::operand(op, 1), high = onnx::operand(op, 2), result = op->getResult(0);
  Type elem = l.elem(x);
  SmallVector<Lowering::Input> inputs = {l.input(x)};
  for (Value limit : {low, high})
    if (limit) {
      Lowering::Input in = l.input(limit);
      if (!in.dims.empty()) { // some exporters write shape [1]
        in.lowered = l.view(in.lowered, elem, {});
        in.dims.clear();
      }
      inputs.push_back(in);
    }
  l.set(result, l.elementwise(inputs, elem, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange in) {
    ScalarOps s{b, loc, elem};
    Value v = in[0];
    if (low)
      v = s.select(s.lt(v, in[1]), in[1], v);
    if (high)
      v = s.select(s.lt(in.back(), v), in.back(), v);
    return v;
  }));
  return success();
}

LogicalResult lowerEqual(Operation *op, Lowering &l) {
  if (!isa<onnx::StringType>(l.elem(op->getOperand(0))))
    return lowerPointwise<compare<&ScalarOps::eq>>(op, l);
  return callAndSet(l, kernel::LibraryFn::string_equal, op->getOperands(), {}, op->getResults());
}

LogicalResult lowerWhere(Operation *op, Lowering &l) {
  if (isString(l.elem(op->getOperand(1))))
    return unsupported(op, "chooses between strings; numbers and bool are supported. Choose between the indices of the "
                           "strings and Gather them");
  return lowerPointwise<where>(op, l);
}

const LoweringRow rows[] = {
    {"onnx.Add", lowerPointwise<fold<&ScalarOps::add>>},
    {"onnx.Sub", lowerPointwise<fold<&ScalarOps::sub>>},
    {"onnx.Mul", lowerPointwise<fold<&ScalarOps::mul>>},
    {"onnx.Div", lowerPointwise<fold<&ScalarOps::div>>},
    {"onnx.Sum", lowerPointwise<fold<&ScalarOps::add>>},
    {"onnx.Max", lowerPointwise<fold<&ScalarOps::max>>},
    {"onnx.Min", lowerPointwise<fold<&ScalarOps::min>>},
    {"onnx.Mean", lowerPointwise<mean>},
    {"onnx.Mod", lowerPointwise<mod>},
    {"onnx.Pow", ranked<lowerPow>},
    {"onnx.Equal", ranked<lowerEqual>},
    {"onnx.Less", lowerPointwise<compare<&ScalarOps::lt>>},
    {"onnx.LessOrEqual", lowerPointwise<compare<&ScalarOps::le>>},
    {"onnx.Greater", lowerPointwise<compare<&ScalarOps::lt, true>>},
    {"onnx.GreaterOrEqual", lowerPointwise<compare<&ScalarOps::le, true>>},
    {"onnx.And", lowerPointwise<bits<arith::AndIOp>>},
    {"onnx.Or", lowerPointwise<bits<arith::OrIOp>>},
    {"onnx.Xor", lowerPointwise<bits<arith::XOrIOp>>},
    {"onnx.BitwiseAnd", lowerPointwise<bits<arith::AndIOp>>},
    {"onnx.BitwiseOr", lowerPointwise<bits<arith::OrIOp>>},
    {"onnx.BitwiseXor", lowerPointwise<bits<arith::XOrIOp>>},
    {"onnx.BitShift", lowerPointwise<bitShift>},
    {"onnx.Where", ranked<lowerWhere>},
    {"onnx.Clip", ranked<lowerClip>},
};
} // namespace

void optc::registerArithmeticLowerings(LoweringTable &table) { registerRows(table, rows); }
