//===- ElementwiseMath.cpp - functions of one variable and activations ----===//
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

namespace {
/// A function of the math dialect, in the compute type.
template <typename MathOp> Value math1(const ScalarOps &s, Operation *, ValueRange in) {
  return MathOp::create(s.b, s.loc, in[0]);
}
template <typename MathOp> Value call(const ScalarOps &s, Value x) { return MathOp::create(s.b, s.loc, x); }

/// The larger of x and 0; NaN stays. One instruction on x86, unlike ScalarOps::max.
Value positivePart(const ScalarOps &s, Value x) {
  Value zero = s.constant(0);
  return s.select(s.lt(x, zero), zero, x);
}

Value abs(const ScalarOps &s, Operation *, ValueRange in) {
  if (s.isFloat())
    return call<math::AbsFOp>(s, in[0]);
  return s.isUnsigned() ? in[0] : s.max(in[0], s.neg(in[0]));
}
Value neg(const ScalarOps &s, Operation *, ValueRange in) { return s.neg(in[0]); }
Value reciprocal(const ScalarOps &s, Operation *, ValueRange in) { return s.div(s.constant(1), in[0]); }

Value sign(const ScalarOps &s, Operation *, ValueRange in) {
  Value x = in[0], zero = s.constant(0), one = s.constant(1);
  Value r = s.select(s.lt(zero, x), one, x); // zeros and NaN stay
  return s.isUnsigned() ? r : s.select(s.lt(x, zero), s.constant(-1), r);
}

Value isNan(const ScalarOps &s, Operation *, ValueRange in) {
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNO, in[0], in[0]);
}
Value isInf(const ScalarOps &s, Operation *op, ValueRange in) {
  Value r = arith::ConstantIntOp::create(s.b, s.loc, s.b.getI1Type(), 0);
  if (intAttr(op, "detect_positive", 1))
    r = arith::OrIOp::create(s.b, s.loc, r, s.eq(in[0], s.highest()));
  if (intAttr(op, "detect_negative", 1))
    r = arith::OrIOp::create(s.b, s.loc, r, s.eq(in[0], s.lowest()));
  return r;
}

Value logicalNot(const ScalarOps &s, Operation *, ValueRange in) {
  return arith::XOrIOp::create(s.b, s.loc, in[0], arith::ConstantIntOp::create(s.b, s.loc, s.b.getI1Type(), 1));
}
Value bitwiseNot(const ScalarOps &s, Operation *, ValueRange in) {
  return arith::XOrIOp::create(s.b, s.loc, in[0], s.constantInt(-1));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value sigmoidOf(const ScalarOps &s, Value x) {
  Value one = s.constant(1);
  return s.div(one, s.add(one, call<math::ExpOp>(s, s.neg(x))));
}
/// log(1 + x) for x in [0, 1], also where 1 + x rounds: the logarithm of the rounded sum, scaled by what rounding lost.
Value log1pOf(const ScalarOps &s, Value x) {
  Value one = s.constant(1), u = s.add(one, x), d = s.sub(u, one);
  return s.select(s.eq(u, one), x, s.mul(call<math::LogOp>(s, u), s.div(x, d)));
}

/// exp(x) - 1 without cancellation: a series near zero. Its terms fall below the precision for |x| < limit.
Value expm1Of(const ScalarOps &s, Value x) {
  bool wide = s.computeType().isF64();
  int terms = wide ? 13 : 7;
  double limit = wide ? 0.25 : 0.3, factor = 1;
  for (int i = 2; i <= terms; ++i)
    factor /= i;
  Value series = s.constant(factor);
  for (int i = terms; i >= 2; --i) {
    factor *= i;
    series = s.add(s.mul(series, x), s.constant(factor));
  }
  Value near = s.lt(call<math::AbsFOp>(s, x), s.constant(limit));
  return s.select(near, s.mul(series, x), s.sub(call<math::ExpOp>(s, x), s.constant(1)));
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|)).
Value softplusOf(const ScalarOps &s, Value x) {
  Value e = call<math::ExpOp>(s, s.neg(call<math::AbsFOp>(s, x)));
  return s.add(positivePart(s, x), log1pOf(s, e));
}

Value relu(const ScalarOps &s, Operation *, ValueRange in) { return s.isUnsigned() ? in[0] : positivePart(s, in[0]); }
Value sigmoid(const ScalarOps &s, Operation *, ValueRange in) { return sigmoidOf(s, in[0]); }
Value softplus(const ScalarOps &s, Operation *, ValueRange in) { return softplusOf(s, in[0]); }
Value softsign(const ScalarOps &s, Operation *, ValueRange in) {
  return s.div(in[0], s.add(s.constant(1), call<math::AbsFOp>(s, in[0])));
}
Value mish(const ScalarOps &s, Operation *, ValueRange in) {
  return s.mul(in[0], call<math::TanhOp>(s, softplusOf(s, in[0])));
}
Value swish(const ScalarOps &s, Operation *op, ValueRange in) {
  double alpha = floatAttr(op, "alpha", 1);
  return s.mul(in[0], sigmoidOf(s, alpha == 1 ? in[0] : s.mul(in[0], s.constant(alpha))));
}

Value leakyRelu(const ScalarOps &s, Operation *op, ValueRange in) {
  return s.select(s.lt(in[0], s.constant(0)), s.mul(in[0], s.constant(floatAttr(op, "alpha", 0.01f))), in[0]);
}
Value prelu(const ScalarOps &s, Operation *, ValueRange in) {
  return s.select(s.lt(in[0], s.constant(0)), s.mul(in[0], in[1]), in[0]);
}
Value thresholdedRelu(const ScalarOps &s, Operation *op, ValueRange in) {
  return s.select(s.lt(s.constant(floatAttr(op, "alpha", 1)), in[0]), in[0], s.constant(0));
}
Value elu(const ScalarOps &s, Operation *op, ValueRange in) {
  Value low = s.mul(s.constant(floatAttr(op, "alpha", 1)), expm1Of(s, in[0]));
  return s.select(s.lt(in[0], s.constant(0)), low, in[0]);
}
Value celu(const ScalarOps &s, Operation *op, ValueRange in) {
  Value alpha = s.constant(floatAttr(op, "alpha", 1)), zero = s.constant(0);
  Value low = s.mul(alpha, expm1Of(s, s.div(in[0], alpha)));
  return s.add(positivePart(s, in[0]), s.select(s.lt(low, zero), low, zero));
}
Value selu(const ScalarOps &s, Operation *op, ValueRange in) {
  Value alpha = s.constant(floatAttr(op, "alpha", 1.67326319217681884765625));
  Value gamma = s.constant(floatAttr(op, "gamma", 1.05070102214813232421875));
  Value low = s.mul(alpha, expm1Of(s, in[0]));
  return s.mul(gamma, s.select(s.lt(s.constant(0), in[0]), in[0], low));
}
Value clampUnit(const ScalarOps &s, Value x) {
  Value one = s.constant(1);
  x = positivePart(s, x);
  return s.select(s.lt(one, x), one, x);
}
Value hardSigmoid(const ScalarOps &s, Operation *op, ValueRange in) {
  Value y = s.mul(in[0], s.constant(floatAttr(op, "alpha", 0.2f)));
  return clampUnit(s, s.add(y, s.constant(floatAttr(op, "beta", 0.5))));
}
Value hardSwish(const ScalarOps &s, Operation *, ValueRange in) {
  Value y = s.add(s.mul(in[0], s.constant(1.0 / 6)), s.constant(0.5));
  return s.mul(in[0], clampUnit(s, y));
}
Value gelu(const ScalarOps &s, Operation *op, ValueRange in) {
  Value x = in[0], half = s.constant(0.5), one = s.constant(1), inner;
  if (stringAttr(op, "approximate", "none") == "tanh") {
    Value cube = s.mul(s.mul(x, x), x);
    Value u = s.mul(s.constant(0.7978845608028654), s.add(x, s.mul(s.constant(0.044715), cube)));
    inner = call<math::TanhOp>(s, u);
  } else {
    inner = call<math::ErfOp>(s, s.mul(x, s.constant(0.7071067811865476)));
  }
  return s.mul(s.mul(half, x), s.add(one, inner));
}

/// Integers too: computed in f64 and cast back.
Value shrink(const ScalarOps &s, Operation *op, ValueRange in) {
  bool narrow = s.isFloat();
  ScalarOps f{s.b, s.loc, narrow ? s.elem : Type(s.b.getF64Type())};
  Value x = castScalar(s.b, s.loc, in[0], s.elem, f.elem);
  double lambd = floatAttr(op, "lambd", 0.5);
  Value bias = f.constant(floatAttr(op, "bias", 0));
  Value y = f.select(f.lt(f.constant(lambd), x), f.sub(x, bias), f.constant(0));
  y = f.select(f.lt(x, f.constant(-lambd)), f.add(x, bias), y);
  return castScalar(s.b, s.loc, y, f.elem, s.elem);
}

const LoweringRow rows[] = {
    {"onnx.Abs", lowerPointwise<abs>},
    {"onnx.Neg", lowerPointwise<neg>},
    {"onnx.Reciprocal", lowerPointwise<reciprocal>},
    {"onnx.Sign", lowerPointwise<sign>},
    {"onnx.Ceil", lowerPointwise<math1<math::CeilOp>>},
    {"onnx.Floor", lowerPointwise<math1<math::FloorOp>>},
    {"onnx.Round", lowerPointwise<math1<math::RoundEvenOp>>},
    {"onnx.Sqrt", lowerPointwise<math1<math::SqrtOp>>},
    {"onnx.Exp", lowerPointwise<math1<math::ExpOp>>},
    {"onnx.Log", lowerPointwise<math1<math::LogOp>>},
    {"onnx.Sin", lowerPointwise<math1<math::SinOp>>},
    {"onnx.Cos", lowerPointwise<math1<math::CosOp>>},
    {"onnx.Tan", lowerPointwise<math1<math::TanOp>>},
    {"onnx.Asin", lowerPointwise<math1<math::AsinOp>>},
    {"onnx.Acos", lowerPointwise<math1<math::AcosOp>>},
    {"onnx.Atan", lowerPointwise<math1<math::AtanOp>>},
    {"onnx.Sinh", lowerPointwise<math1<math::SinhOp>>},
    {"onnx.Cosh", lowerPointwise<math1<math::CoshOp>>},
    {"onnx.Tanh", lowerPointwise<math1<math::TanhOp>>},
    {"onnx.Asinh", lowerPointwise<math1<math::AsinhOp>>},
    {"onnx.Acosh", lowerPointwise<math1<math::AcoshOp>>},
    {"onnx.Atanh", lowerPointwise<math1<math::AtanhOp>>},
    {"onnx.Erf", lowerPointwise<math1<math::ErfOp>>},
    {"onnx.IsNaN", lowerPointwise<isNan>},
    {"onnx.IsInf", lowerPointwise<isInf>},
    {"onnx.Not", lowerPointwise<logicalNot>},
    {"onnx.BitwiseNot", lowerPointwise<bitwiseNot>},
    {"onnx.Relu", lowerPointwise<relu>},
    {"onnx.LeakyRelu", lowerPointwise<leakyRelu>},
    {"onnx.PRelu", lowerPointwise<prelu>},
    {"onnx.ThresholdedRelu", lowerPointwise<thresholdedRelu>},
    {"onnx.Elu", lowerPointwise<elu>},
    {"onnx.Celu", lowerPointwise<celu>},
    {"onnx.Selu", lowerPointwise<selu>},
    {"onnx.Sigmoid", lowerPointwise<sigmoid>},
    {"onnx.HardSigmoid", lowerPointwise<hardSigmoid>},
    {"onnx.HardSwish", lowerPointwise<hardSwish>},
    {"onnx.Softplus", lowerPointwise<softplus>},
    {"onnx.Softsign", lowerPointwise<softsign>},
    {"onnx.Mish", lowerPointwise<mish>},
    {"onnx.Swish", lowerPointwise<swish>},
    {"onnx.Gelu", lowerPointwise<gelu>},
    {"onnx.Shrink", lowerPointwise<shrink>},
};
} // namespace

void optc::registerMathLowerings(LoweringTable &table) { registerRows(table, rows); }

void optc::registerElementwiseLowerings(LoweringTable &table) {
  registerMathLowerings(table);
  registerArithmeticLowerings(table);
  registerCastLowerings(table);
  registerTrainingLowerings(table);
}
