//===- Training.cpp - the optimizer steps of ai.onnx.preview.training -----===//
//
// Inputs: R (learning rate), T (update count), then for n tensors X1..Xn, G1..Gn and the states; outputs: the new
// X1..Xn, then the new states.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

namespace {
/// The new values at one element, in the order of the outputs: X, then the states. `v`: X, G and the states.
using StepFn = SmallVector<Value> (*)(const ScalarOps &s, Operation *op, Value rate, Value count, ArrayRef<Value> v);

Value root(const ScalarOps &s, Value x) { return math::SqrtOp::create(s.b, s.loc, x); }
/// The gradient with the L2 penalty.
Value gradient(const ScalarOps &s, Operation *op, ArrayRef<Value> v) {
  return s.add(s.mul(s.constant(floatAttr(op, "norm_coefficient", 0)), v[0]), v[1]);
}

SmallVector<Value> adagrad(const ScalarOps &s, Operation *op, Value rate, Value count, ArrayRef<Value> v) {
  Value one = s.constant(1);
  Value r = s.div(rate, s.add(one, s.mul(count, s.constant(floatAttr(op, "decay_factor", 0)))));
  Value g = gradient(s, op, v), h = s.add(v[2], s.mul(g, g));
  Value step = s.div(s.mul(r, g), s.add(root(s, h), s.constant(floatAttr(op, "epsilon", 1e-6f))));
  return {s.sub(v[0], step), h};
}

SmallVector<Value> adam(const ScalarOps &s, Operation *op, Value rate, Value count, ArrayRef<Value> v) {
  double alpha = floatAttr(op, "alpha", 0.9f), beta = floatAttr(op, "beta", 0.999f);
  Value one = s.constant(1), g = gradient(s, op, v);
  Value m = s.add(s.mul(s.constant(alpha), v[2]), s.mul(s.constant(1 - alpha), g));
  Value h = s.add(s.mul(s.constant(beta), v[3]), s.mul(s.constant(1 - beta), s.mul(g, g)));
  auto missing = [&](double base) { return s.sub(one, math::PowFOp::create(s.b, s.loc, s.constant(base), count)); };
  Value adjusted = s.div(s.mul(rate, root(s, missing(beta))), missing(alpha));
  Value r = s.select(s.lt(s.constant(0), count), adjusted, rate);
  Value step = s.div(s.mul(r, m), s.add(root(s, h), s.constant(floatAttr(op, "epsilon", 1e-6f))));
  Value x = s.mul(s.constant(1 - floatAttr(op, "norm_coefficient_post", 0)), s.sub(v[0], step));
  return {x, m, h};
}

SmallVector<Value> momentum(const ScalarOps &s, Operation *op, Value rate, Value count, ArrayRef<Value> v) {
  Value alpha = s.constant(floatAttr(op, "alpha", 0)), g = gradient(s, op, v);
  Value beta = s.select(s.lt(s.constant(0), count), s.constant(floatAttr(op, "beta", 0)), s.constant(1));
  Value velocity = s.add(s.mul(alpha, v[2]), s.mul(beta, g));
  bool nesterov = stringAttr(op, "mode", "standard") == "nesterov";
  Value direction = nesterov ? s.add(g, s.mul(alpha, velocity)) : velocity;
  return {s.sub(v[0], s.mul(rate, direction)), velocity};
}

template <StepFn step, unsigned states> LogicalResult lowerStep(Operation *op, Lowering &l) {
  unsigned tensors = op->getNumOperands() - 2, parts = states + 2, n = tensors / parts;
  if (op->getNumOperands() < 2 || tensors % parts || op->getNumResults() != n * (states + 1))
    return unsupported(op, "has " + Twine(tensors) + " tensors and " + Twine(op->getNumResults()) +
                               " results; each optimized tensor takes " + Twine(parts) + " and gives " +
                               Twine(states + 1));
  auto scalar = [&](unsigned i) {
    Value v = op->getOperand(i);
    return Lowering::Input{l.view(l.get(v), l.elem(v), {}), l.elem(v), {}};
  };
  for (unsigned i = 0; i < n; ++i) {
    SmallVector<Lowering::Input> in = {scalar(0), scalar(1)};
    for (unsigned part = 0; part < parts; ++part)
      in.push_back(l.input(op->getOperand(2 + part * n + i)));
    for (unsigned out = 0; out <= states; ++out) {
      Value result = op->getResult(out * n + i);
      Type elem = l.elem(result);
      auto y = pointwise(l, in, innerType(elem), elem, l.dims(result), [&](const ScalarOps &s, ValueRange v) {
        SmallVector<Value> args(v.drop_front(2));
        return step(s, op, v[0], v[1], args)[out];
      });
      l.set(result, y.lowered);
    }
  }
  return success();
}

const LoweringRow rows[] = {
    {"onnx.preview.Adagrad", ranked<lowerStep<adagrad, 1>>},
    {"onnx.preview.Adam", ranked<lowerStep<adam, 2>>},
    {"onnx.preview.Momentum", ranked<lowerStep<momentum, 1>>},
};
} // namespace

void optc::registerTrainingLowerings(LoweringTable &table) { registerRows(table, rows); }
