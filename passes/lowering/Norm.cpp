//===- Norm.cpp - softmax and normalization operators ---------------------===//
//
// Every operator computes in f32 (f64 for f64), sums in sumType, and rounds to the element type once at the end.
// Variances take a second pass over x - mean, so that large values do not cancel.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

namespace {
using Input = Lowering::Input;

Value exponential(const ScalarOps &s, Value x) { return math::ExpOp::create(s.b, s.loc, x); }
Value squareRoot(const ScalarOps &s, Value x) { return math::SqrtOp::create(s.b, s.loc, x); }

/// The same data under sizes `dims`.
Input viewAs(Lowering &l, const Input &in, ArrayRef<Dim> dims) {
  return {l.view(in.lowered, in.elem, dims), in.elem, llvm::to_vector(dims)};
}
void setInput(Lowering &l, Value result, const Input &in) {
  if (result)
    l.set(result, l.view(in.lowered, in.elem, l.dims(result)));
}

struct Moments {
  Input mean, variance;
};
/// Mean and population variance over axes, in the inner type.
Moments moments(Lowering &l, const Input &x, ArrayRef<int64_t> axes) {
  Type inner = innerType(x.elem), acc = sumType(l, x.elem);
  Value count = sizeAsFloat(l, reducedCount(l, x.dims, axes), acc);
  auto divide = [&](const Input &sum) {
    return pointwise(l, {sum}, acc, inner, sum.dims,
                     [&](const ScalarOps &s, ValueRange v) { return s.div(v[0], count); });
  };
  Input mean = divide(foldAxes(l, "mean", x, axes, Fold::Sum, acc));
  Input variance = divide(sumPairs(l, "variance", x, mean, axes, acc, [](const ScalarOps &s, Value a, Value m) {
    Value d = s.sub(a, m);
    return s.mul(d, d);
  }));
  return {mean, variance};
}

/// 1 / sqrt(variance + epsilon).
Input inverseDeviation(Lowering &l, const Input &variance, double epsilon) {
  return pointwise(l, {variance}, variance.elem, variance.elem, variance.dims, [&](const ScalarOps &s, ValueRange v) {
    return s.div(s.constant(1), squareRoot(s, s.add(v[0], s.constant(epsilon))));
  });
}

//===----------------------------------------------------------------------===//
// Softmax family
//===----------------------------------------------------------------------===//

template <bool logarithm> LogicalResult lowerSoftmax(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  Input x = l.input(op->getOperand(0));
  Type inner = innerType(x.elem), acc = sumType(l, x.elem);
  SmallVector<int64_t> axes;
  if (!x.dims.empty())
    axes.push_back(normalAxis(intAttr(op, "axis", -1), x.dims.size()));
  Input most = foldAxes(l, "Softmax.max", x, axes, Fold::Max, inner);
  Input y;
  if (logarithm) {
    Input sum = sumPairs(l, "Softmax.sum", x, most, axes, acc,
                         [](const ScalarOps &s, Value v, Value m) { return exponential(s, s.sub(v, m)); });
    y = pointwise(l, {x, most, sum}, inner, x.elem, x.dims, [](const ScalarOps &s, ValueRange v) {
      return s.sub(s.sub(v[0], v[1]), math::LogOp::create(s.b, s.loc, v[2]));
    });
  } else {
    Input e = pointwise(l, {x, most}, inner, inner, x.dims,
                        [](const ScalarOps &s, ValueRange v) { return exponential(s, s.sub(v[0], v[1])); });
    Input sum = foldAxes(l, "Softmax.sum", e, axes, Fold::Sum, acc);
    // The sum is at least 1, the exponential of the largest element: its inverse is exact enough at -O3.
    bool inverts = l.optLevel >= 3;
    if (inverts)
      sum = pointwise(l, {sum}, inner, inner, sum.dims,
                      [](const ScalarOps &s, ValueRange v) { return s.div(s.constant(1), v[0]); });
    y = pointwise(l, {e, sum}, inner, x.elem, x.dims,
                  [&](const ScalarOps &s, ValueRange v) { return inverts ? s.mul(v[0], v[1]) : s.div(v[0], v[1]); });
  }
  l.set(result, y.lowered);
  return success();
}

/// One at the first largest element of each row, zero elsewhere.
LogicalResult lowerHardmax(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  Input x = l.input(op->getOperand(0));
  if (x.dims.empty())
    return unsupported(op, "needs an input with at least one axis; this one is a scalar");
  int64_t axis = normalAxis(intAttr(op, "axis", -1), x.dims.size());
  Input most = argExtreme(l, x, axis, /*largest=*/true, /*last=*/false);
  l.set(result, l.generate("Hardmax", x.elem, x.dims, [&](OpBuilder &b, Location loc, ValueRange at) {
    SmallVector<Value> where(at);
    where[axis] = arith::ConstantIndexOp::create(b, loc, 0);
    Value k = arith::IndexCastOp::create(b, loc, b.getIndexType(), l.load(b, loc, most.lowered, most.elem, where));
    Value hit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, k, at[axis]);
    ScalarOps s{b, loc, x.elem};
    return s.select(hit, s.constant(1), s.constant(0));
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Layer and RMS normalization
//===----------------------------------------------------------------------===//

constexpr llvm::StringLiteral kParameter = "a parameter does not broadcast to the input";

LogicalResult lowerLayerNorm(Operation *op, Lowering &l) {
  Input x = l.input(onnx::operand(op, 0)), scale = l.input(onnx::operand(op, 1));
  Value bias = onnx::operand(op, 2);
  Type inner = innerType(x.elem);
  SmallVector<int64_t> axes = axesFrom(normalAxis(intAttr(op, "axis", -1), x.dims.size()), x.dims.size());
  Moments m = moments(l, x, axes);
  Input inv = inverseDeviation(l, m.variance, floatAttr(op, "epsilon", 1e-5f));
  SmallVector<Input> in = {x, m.mean, inv, scale};
  if (bias)
    in.push_back(l.input(bias));
  for (const Input &parameter : ArrayRef(in).drop_front(3))
    requireBroadcast(l, parameter.dims, x.dims, kParameter);
  Input y = pointwise(l, in, inner, x.elem, x.dims, [&](const ScalarOps &s, ValueRange v) {
    Value n = s.mul(s.mul(s.sub(v[0], v[1]), v[2]), v[3]);
    return bias ? s.add(n, v[4]) : n;
  });
  l.set(op->getResult(0), y.lowered);
  auto stash = [&](Value result, const Input &value) {
    if (!result)
      return;
    Type out = l.elem(result);
    setInput(l, result,
             out == value.elem ? value
                               : pointwise(l, {value}, value.elem, out, value.dims,
                                           [](const ScalarOps &, ValueRange v) { return v[0]; }));
  };
  stash(onnx::result(op, 1), m.mean);
  stash(onnx::result(op, 2), inv);
  return success();
}

LogicalResult lowerRmsNorm(Operation *op, Lowering &l) {
  Input x = l.input(onnx::operand(op, 0)), scale = l.input(onnx::operand(op, 1));
  Type inner = innerType(x.elem), acc = sumType(l, x.elem);
  SmallVector<int64_t> axes = axesFrom(normalAxis(intAttr(op, "axis", -1), x.dims.size()), x.dims.size());
  Value count = sizeAsFloat(l, reducedCount(l, x.dims, axes), acc);
  requireBroadcast(l, scale.dims, x.dims, kParameter);
  double epsilon = floatAttr(op, "epsilon", 1e-5f);
  Input squares =
      foldAxes(l, "RMS.sum", x, axes, Fold::Sum, acc, [](const ScalarOps &s, Value v) { return s.mul(v, v); });
  Input inv = pointwise(l, {squares}, acc, inner, squares.dims, [&](const ScalarOps &s, ValueRange v) {
    return s.div(s.constant(1), squareRoot(s, s.add(s.div(v[0], count), s.constant(epsilon))));
  });
  Input y = pointwise(l, {x, inv, scale}, inner, l.elem(op->getResult(0)), x.dims,
                      [](const ScalarOps &s, ValueRange v) { return s.mul(s.mul(v[0], v[1]), v[2]); });
  l.set(op->getResult(0), y.lowered);
  return success();
}

//===----------------------------------------------------------------------===//
// Batch, instance and group normalization
//===----------------------------------------------------------------------===//

/// Sizes [1, C, 1, ...] for a parameter of C channels beside data of the given rank.
SmallVector<Dim> channelDims(Lowering &l, Dim channels, int64_t rank) {
  SmallVector<Dim> dims(std::max<int64_t>(rank, 1), l.shapes.constant(1));
  if (rank > 1)
    dims[1] = channels;
  return dims;
}

/// A parameter with one element per channel, under sizes `dims`.
Input perChannel(Lowering &l, Value parameter, Dim channels, ArrayRef<Dim> dims) {
  Input in = l.input(parameter);
  requireEqual(l, l.shapes.numElements(in.dims), channels, "a parameter has not one element per channel");
  return viewAs(l, in, dims);
}

/// (x - mean) * (scale / sqrt(variance + epsilon)) + bias; everything broadcasts. The factor is computed per channel.
Input normalize(Lowering &l, const Input &x, const Moments &m, const Input &scale, const Input &bias, double epsilon,
                ArrayRef<Dim> factorDims) {
  Type inner = innerType(x.elem);
  Input factor = pointwise(l, {m.variance, scale}, inner, inner, factorDims, [&](const ScalarOps &s, ValueRange v) {
    return s.div(v[1], squareRoot(s, s.add(v[0], s.constant(epsilon))));
  });
  return pointwise(l, {x, m.mean, factor, bias}, inner, x.elem, x.dims,
                   [](const ScalarOps &s, ValueRange v) { return s.add(s.mul(s.sub(v[0], v[1]), v[2]), v[3]); });
}

LogicalResult lowerBatchNorm(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  int64_t rank = x.dims.size();
  if (rank == 0)
    return unsupported(op, "needs an input with a batch axis; this one is a scalar");
  double epsilon = floatAttr(op, "epsilon", 1e-5f), momentum = floatAttr(op, "momentum", 0.9f);
  SmallVector<Dim> dims = channelDims(l, rank > 1 ? x.dims[1] : l.shapes.constant(1), rank);
  auto parameter = [&](unsigned i) {
    return perChannel(l, op->getOperand(i), rank > 1 ? x.dims[1] : l.shapes.constant(1), dims);
  };
  Input scale = parameter(1), bias = parameter(2), mean = parameter(3), variance = parameter(4);
  Moments m{mean, variance};
  if (intAttr(op, "training_mode", 0)) {
    SmallVector<int64_t> axes;
    for (int64_t a = 0; a < rank; ++a)
      if (a != 1)
        axes.push_back(a);
    m = moments(l, x, axes);
    auto running = [&](Value result, const Input &before, const Input &now) {
      if (!result)
        return;
      setInput(l, result,
               pointwise(l, {before, now}, innerType(before.elem), l.elem(result), dims,
                         [&](const ScalarOps &s, ValueRange v) {
                           return s.add(s.mul(v[0], s.constant(momentum)), s.mul(v[1], s.constant(1 - momentum)));
                         }));
    };
    running(onnx::result(op, 1), mean, m.mean);
    running(onnx::result(op, 2), variance, m.variance);
  }
  l.set(op->getResult(0), normalize(l, x, m, scale, bias, epsilon, dims).lowered);
  return success();
}

LogicalResult lowerInstanceNorm(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  int64_t rank = x.dims.size();
  if (rank < 3)
    return unsupported(op, "needs an input of rank 3 or more (N, C, spatial axes); this one has rank " + Twine(rank));
  SmallVector<int64_t> axes = axesFrom(2, rank);
  SmallVector<Dim> dims = channelDims(l, x.dims[1], rank);
  Input scale = perChannel(l, op->getOperand(1), x.dims[1], dims),
        bias = perChannel(l, op->getOperand(2), x.dims[1], dims);
  Moments m = moments(l, x, axes);
  Input y = normalize(l, x, m, scale, bias, floatAttr(op, "epsilon", 1e-5f), keptDims(l, x.dims, axes));
  l.set(op->getResult(0), y.lowered);
  return success();
}

LogicalResult lowerGroupNorm(Operation *op, Lowering &l) {
  Value result = op->getResult(0);
  Input x = l.input(op->getOperand(0));
  int64_t rank = x.dims.size(), groups = intAttr(op, "num_groups", 0);
  if (rank < 2 || groups <= 0)
    return unsupported(op, "needs an input of rank 2 or more and num_groups above 0; they are " + Twine(rank) +
                               " and " + Twine(groups));
  Dim channels = x.dims[1], one = l.shapes.constant(1), g = l.shapes.constant(groups);
  if (channels->isConst() && channels->value % groups)
    return unsupported(op,
                       "has " + Twine(channels->value) + " channels, not a multiple of num_groups " + Twine(groups));
  Dim each = l.shapes.floorDiv(channels, g), spatial = reducedCount(l, x.dims, axesFrom(2, rank));
  if (!channels->isConst()) {
    Value whole = arith::MulIOp::create(l.b, l.loc, l.index(each), l.constIndex(groups));
    l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::eq, whole, l.index(channels)),
            "the number of channels is not a multiple of num_groups");
  }
  Input grouped = viewAs(l, x, {x.dims[0], g, each, spatial});
  // The parameters hold one value per channel.
  SmallVector<Dim> parameterDims = {one, g, each, one};
  Input scale = perChannel(l, op->getOperand(1), channels, parameterDims),
        bias = perChannel(l, op->getOperand(2), channels, parameterDims);
  Moments m = moments(l, grouped, {2, 3});
  // The factor of a group stays apart from the scale of a channel: it belongs to a row of the data.
  Input inv = inverseDeviation(l, m.variance, floatAttr(op, "epsilon", 1e-5f));
  Input y = pointwise(
      l, {grouped, m.mean, inv, scale, bias}, innerType(x.elem), x.elem, grouped.dims,
      [](const ScalarOps &s, ValueRange v) { return s.add(s.mul(s.mul(s.sub(v[0], v[1]), v[2]), v[3]), v[4]); });
  setInput(l, result, y);
  return success();
}

//===----------------------------------------------------------------------===//
// Lp, LRN, mean-variance
//===----------------------------------------------------------------------===//

LogicalResult lowerLpNorm(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  int64_t p = intAttr(op, "p", 2);
  if (x.dims.empty() || (p != 1 && p != 2))
    return unsupported(op, "has p = " + Twine(p) + " and rank " + Twine(x.dims.size()) +
                               "; supported are p 1 and 2 and a rank above 0");
  Type inner = innerType(x.elem), acc = sumType(l, x.elem);
  int64_t axis = normalAxis(intAttr(op, "axis", -1), x.dims.size());
  Input sum = foldAxes(l, "LpNorm.sum", x, {axis}, Fold::Sum, acc, [&](const ScalarOps &s, Value v) {
    return p == 2 ? s.mul(v, v) : Value(math::AbsFOp::create(s.b, s.loc, v));
  });
  if (p == 2)
    sum = pointwise(l, {sum}, acc, acc, sum.dims, [](const ScalarOps &s, ValueRange v) { return squareRoot(s, v[0]); });
  Input y = pointwise(l, {x, sum}, inner, x.elem, x.dims, [](const ScalarOps &s, ValueRange v) {
    Value zero = s.constant(0);
    return s.select(s.eq(v[1], zero), zero, s.div(v[0], v[1]));
  });
  l.set(op->getResult(0), y.lowered);
  return success();
}

/// x / (bias + alpha / size * sum of squares of the neighbouring channels) ^ beta.
LogicalResult lowerLrn(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  int64_t size = intAttr(op, "size", 0);
  if (x.dims.size() < 2 || size <= 0)
    return unsupported(op, "needs a rank of 2 or more and a size above 0; they are " + Twine(x.dims.size()) + " and " +
                               Twine(size));
  Type inner = innerType(x.elem);
  double alpha = floatAttr(op, "alpha", 1e-4f), beta = floatAttr(op, "beta", 0.75f), bias = floatAttr(op, "bias", 1);
  Value channels = l.index(x.dims[1]);
  l.set(op->getResult(0), l.generate("LRN", x.elem, x.dims, [&](OpBuilder &b, Location loc, ValueRange at) {
    ScalarOps s{b, loc, inner};
    auto constant = [&](int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); };
    Value low = arith::SubIOp::create(b, loc, at[1], constant((size - 1) / 2));
    low = arith::MaxSIOp::create(b, loc, low, constant(0));
    Value high = arith::AddIOp::create(b, loc, at[1], constant(size / 2 + 1));
    high = arith::MinSIOp::create(b, loc, high, channels);
    auto loop = scf::ForOp::create(b, loc, low, high, constant(1), ValueRange{s.constant(0)},
                                   [&](OpBuilder &nb, Location nl, Value c, ValueRange acc) {
                                     SmallVector<Value> where(at);
                                     where[1] = c;
                                     ScalarOps n{nb, nl, inner};
                                     Value v =
                                         castScalar(nb, nl, l.load(nb, nl, x.lowered, x.elem, where), x.elem, inner);
                                     scf::YieldOp::create(nb, nl, n.add(acc[0], n.mul(v, v)));
                                   });
    Value base = s.add(s.constant(bias), s.mul(s.constant(alpha / double(size)), loop.getResult(0)));
    Value v = castScalar(b, loc, l.load(b, loc, x.lowered, x.elem, at), x.elem, inner);
    Value power = math::PowFOp::create(b, loc, base, s.constant(beta));
    return castScalar(b, loc, s.div(v, power), inner, x.elem);
  }));
  return success();
}

LogicalResult lowerMeanVariance(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  Type inner = innerType(x.elem);
  SmallVector<int64_t> axes = {0, 2, 3};
  if (auto a = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    axes.assign(a.asArrayRef().begin(), a.asArrayRef().end());
  int64_t rank = x.dims.size();
  for (int64_t &a : axes) {
    if (a < -rank || a >= rank)
      return unsupported(op, "has axis " + Twine(a) + ", outside [" + Twine(-rank) + ", " + Twine(rank - 1) + "]");
    a = normalAxis(a, rank);
  }
  llvm::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  Moments m = moments(l, x, axes);
  Input y = pointwise(l, {x, m.mean, m.variance}, inner, x.elem, x.dims, [](const ScalarOps &s, ValueRange v) {
    return s.div(s.sub(v[0], v[1]), s.add(squareRoot(s, v[2]), s.constant(1e-9)));
  });
  l.set(op->getResult(0), y.lowered);
  return success();
}

const LoweringRow rows[] = {
    {"onnx.Softmax", ranked<lowerSoftmax<false>>},
    {"onnx.LogSoftmax", ranked<lowerSoftmax<true>>},
    {"onnx.Hardmax", ranked<lowerHardmax>},
    {"onnx.LayerNormalization", ranked<lowerLayerNorm>},
    {"onnx.RMSNormalization", ranked<lowerRmsNorm>},
    {"onnx.BatchNormalization", ranked<lowerBatchNorm>},
    {"onnx.InstanceNormalization", ranked<lowerInstanceNorm>},
    {"onnx.GroupNormalization", ranked<lowerGroupNorm>},
    {"onnx.LpNormalization", ranked<lowerLpNorm>},
    {"onnx.LRN", ranked<lowerLrn>},
    {"onnx.MeanVarianceNormalization", ranked<lowerMeanVariance>},
};
} // namespace

void optc::registerNormLowerings(LoweringTable &table) { registerRows(table, rows); }
