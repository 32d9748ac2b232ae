//===- Microsoft.cpp - com.microsoft operators that are short compositions ===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

//===----------------------------------------------------------------------===//
// Gelu and its kin
//===----------------------------------------------------------------------===//

static Value erfGelu(const ScalarOps &s, Value x) {
  Value erf = math::ErfOp::create(s.b, s.loc, s.mul(x, s.constant(0.7071067811865476)));
  return s.mul(s.mul(s.constant(0.5), x), s.add(s.constant(1), erf));
}
static Value gelu(const ScalarOps &s, Operation *, ValueRange in) { return erfGelu(s, in[0]); }
static Value biasGelu(const ScalarOps &s, Operation *, ValueRange in) { return erfGelu(s, s.add(in[0], in[1])); }
static Value fastGelu(const ScalarOps &s, Operation *, ValueRange in) {
  Value x = in.size() > 1 ? s.add(in[0], in[1]) : in[0];
  Value cube = s.mul(s.mul(x, x), x);
  Value u = s.mul(s.constant(0.7978845608028654), s.add(x, s.mul(s.constant(0.044715), cube)));
  return s.mul(s.mul(s.constant(0.5), x), s.add(s.constant(1), math::TanhOp::create(s.b, s.loc, u)));
}
/// x * sigmoid(alpha * x)
static Value quickGelu(const ScalarOps &s, Operation *op, ValueRange in) {
  Value z = s.mul(in[0], s.constant(floatAttr(op, "alpha", 1.702)));
  Value e = math::ExpOp::create(s.b, s.loc, s.neg(z));
  return s.div(in[0], s.add(s.constant(1), e));
}

//===----------------------------------------------------------------------===//
// FusedMatMul
//===----------------------------------------------------------------------===//

/// A factor with its axes in the order of a plain matrix product.
static FailureOr<Lowering::Input> factor(Operation *op, Lowering &l, Value v, bool transpose, bool transposeBatch) {
  Lowering::Input in = l.input(v);
  int64_t rank = in.dims.size();
  if (rank < 2 || (!transpose && !transposeBatch))
    return in; // A vector has nothing to transpose.
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (transposeBatch && rank > 2)
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1); // [b, ..., m, k] is stored as [m, b, ..., k]
  if (transpose)
    std::swap(perm[rank - 1], perm[rank - 2]);
  SmallVector<Dim> dims;
  for (int64_t axis : perm)
    dims.push_back(in.dims[axis]);
  Type raw = Lowering::storageType(in.elem);
  AffineMap to = AffineMap::getMultiDimIdentityMap(rank, l.b.getContext());
  AffineMap from = inversePermutation(AffineMap::getPermutationMap(perm, l.b.getContext()));
  SmallVector<Iter> iterators(rank, Iter::parallel);
  Value moved = l.contract("transpose", Lowering::Input{in.lowered, raw, in.dims}, {from, to}, iterators, raw, dims,
                           Value(), [](OpBuilder &, Location, ValueRange x, Value) { return x[0]; });
  return Lowering::Input{moved, in.elem, dims};
}

static LogicalResult lowerFusedMatMul(Operation *o, Lowering &l) {
  auto op = cast<onnx::MSFusedMatMulOp>(o);
  if (failed(requireRanked(op, l)))
    return failure();
  FailureOr<Lowering::Input> a = factor(op, l, op.getA(), op.getTransA(), op.getTransBatchA());
  FailureOr<Lowering::Input> b = factor(op, l, op.getB(), op.getTransB(), op.getTransBatchB());
  if (failed(a) || failed(b))
    return failure();
  Type elem = l.elem(op.getY());
  SmallVector<Dim> dims = llvm::to_vector(l.dims(op.getY()));
  double alpha = op.getAlpha().convertToDouble();
  Type productElem = alpha == 1.0 ? elem : accumulatorOf(elem);
  Value product = matmulProduct(l, "fused_matmul", *a, *b, productElem, dims);
  if (alpha != 1.0)
    product = l.elementwise(Lowering::Input{product, productElem, dims}, elem, dims,
                            [&](OpBuilder &b, Location loc, ValueRange x) {
                              ScalarOps s{b, loc, productElem};
                              return s.mul(x[0], s.constant(alpha));
                            });
  l.set(op.getY(), product);
  return success();
}

//===----------------------------------------------------------------------===//
// Layer normalization of a sum
//===----------------------------------------------------------------------===//

namespace {
/// What a normalization makes; sizes of the statistics are those of x with 1 for the normalized axes.
struct Normalized {
  Value y, mean, inverse;
  Type statElem;
  SmallVector<Dim> statDims;
};
} // namespace

/// (x - mean) / sqrt(var + epsilon) * scale + bias over the axes from `axis` on; without the mean when `simplified`.
static Normalized normalize(Lowering &l, const Lowering::Input &x, int64_t axis, bool simplified, double epsilon,
                            const Lowering::Input &scale, const Lowering::Input *bias) {
  Normalized out;
  Type acc = out.statElem = accumulatorOf(x.elem);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, x.dims.size()));
  SmallVector<Dim> kept(x.dims.begin(), x.dims.begin() + axis);
  out.statDims = kept;
  out.statDims.append(axes.size(), l.shapes.constant(1));

  IndexBuilder m{l.b, l.loc};
  Value count = m.cst(1);
  for (int64_t i : axes)
    count = m.mul(count, l.index(x.dims[i]));
  Value asInt = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), count);
  Value n = arith::SIToFPOp::create(l.b, l.loc, acc, asInt);
  Value zero = ScalarOps{l.b, l.loc, acc}.constant(0);

  auto average = [&](OpBuilder &b, Location loc, ValueRange v) { return ScalarOps{b, loc, acc}.div(v[0], n); };
  SmallVector<Lowering::Input> squared{x};
  MLIRContext *ctx = l.b.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(x.dims.size(), ctx), outer = all.getMajorSubMap(axis);
  SmallVector<AffineMap> maps{all};
  if (!simplified) {
    Value sum = l.reduce(
        "mean", x, axes, acc, zero,
        [&](OpBuilder &b, Location loc, Value v) { return castScalar(b, loc, v, x.elem, acc); },
        [&](OpBuilder &b, Location loc, Value a, Value v) { return ScalarOps{b, loc, acc}.add(a, v); });
    out.mean = l.elementwise(Lowering::Input{sum, acc, kept}, acc, kept, average);
    squared.push_back({out.mean, acc, kept});
    maps.push_back(outer);
  }
  maps.push_back(outer);
  SmallVector<Iter> iterators(axis, Iter::parallel);
  iterators.append(axes.size(), Iter::reduction);
  Value sumOfSquares = l.contract("variance", squared, maps, iterators, acc, kept, zero,
                                  [&](OpBuilder &b, Location loc, ValueRange v, Value sum) {
                                    ScalarOps s{b, loc, acc};
                                    Value d = castScalar(b, loc, v[0], x.elem, acc);
                                    if (!simplified)
                                      d = s.sub(d, v[1]);
                                    return s.add(sum, s.mul(d, d));
                                  });
  out.inverse = l.elementwise(Lowering::Input{sumOfSquares, acc, kept}, acc, kept,
                              [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                                ScalarOps s{b, loc, acc};
                                Value variance = s.add(s.div(v[0], n), s.constant(epsilon));
                                return s.div(s.constant(1), math::SqrtOp::create(b, loc, variance));
                              });
  out.inverse = l.view(out.inverse, acc, out.statDims);
  if (out.mean)
    out.mean = l.view(out.mean, acc, out.statDims);

  SmallVector<Lowering::Input> inputs{x, {out.inverse, acc, out.statDims}, scale};
  if (out.mean)
    inputs.push_back({out.mean, acc, out.statDims});
  if (bias)
    inputs.push_back(*bias);
  out.y = l.elementwise(inputs, x.elem, x.dims, [&](OpBuilder &b, Location loc, ValueRange v) {
    ScalarOps s{b, loc, acc};
    Value d = castScalar(b, loc, v[0], x.elem, acc);
    if (out.mean)
      d = s.sub(d, v[3]);
    Value y = s.mul(s.mul(d, v[1]), castScalar(b, loc, v[2], scale.elem, acc));
    if (bias)
      y = s.add(y, castScalar(b, loc, v.back(), bias->elem, acc));
    return castScalar(b, loc, y, acc, x.elem);
  });
  return out;
}

/// Hands a statistic over in the element type that the result has.
static void setStatistic(Lowering &l, Value result, Value statistic, const Normalized &n) {
  if (!result || result.use_empty())
    return;
  Value converted = l.elementwise(
      Lowering::Input{statistic, n.statElem, n.statDims}, l.elem(result), n.statDims,
      [&](OpBuilder &b, Location loc, ValueRange v) { return castScalar(b, loc, v[0], n.statElem, l.elem(result)); });
  l.set(result, l.view(converted, l.elem(result), l.dims(result)));
}

template <typename Op>
static LogicalResult lowerSkipNormalization(Operation *o, Lowering &l, Value beta, bool simplified) {
  auto op = cast<Op>(o);
  if (failed(requireRanked(op, l)))
    return failure();
  Value input = op.getInput();
  Type elem = l.elem(input);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(input));
  if (dims.empty() || l.rank(op.getSkip()) > static_cast<int64_t>(dims.size()))
    return unsupported(op,
                       "input of rank " + Twine(dims.size()) + " with a skip of rank " + Twine(l.rank(op.getSkip())));
  SmallVector<Value> terms{input, op.getSkip()};
  if (op.getBias())
    terms.push_back(op.getBias());
  Value sum = l.elementwise(terms, elem, dims, [&](OpBuilder &b, Location loc, ValueRange v) {
    ScalarOps s{b, loc, elem};
    Value total = s.add(v[0], v[1]);
    return v.size() > 2 ? s.add(total, v[2]) : total;
  });
  Lowering::Input scale = l.input(op.getGamma()), bias;
  if (beta)
    bias = l.input(beta);
  Normalized n = normalize(l, {sum, elem, dims}, dims.size() - 1, simplified, op.getEpsilon().convertToDouble(), scale,
                           beta ? &bias : nullptr);
  l.set(op.getOutput(), n.y);
  if (!simplified)
    setStatistic(l, op.getMean(), n.mean, n);
  else if (op.getMean() && !op.getMean().use_empty())
    return unsupported(op, "output mean; this operator computes none");
  setStatistic(l, op.getInvStdVar(), n.inverse, n);
  if (op.getInputSkipBiasSum())
    l.set(op.getInputSkipBiasSum(), sum);
  return success();
}

static LogicalResult lowerSkipLayerNormalization(Operation *op, Lowering &l) {
  return lowerSkipNormalization<onnx::MSSkipLayerNormalizationOp>(
      op, l, cast<onnx::MSSkipLayerNormalizationOp>(op).getBeta(), false);
}
static LogicalResult lowerSkipSimplifiedLayerNormalization(Operation *op, Lowering &l) {
  return lowerSkipNormalization<onnx::MSSkipSimplifiedLayerNormalizationOp>(op, l, Value(), true);
}

static LogicalResult lowerSimplifiedLayerNormalization(Operation *o, Lowering &l) {
  auto op = cast<onnx::MSSimplifiedLayerNormalizationOp>(o);
  if (failed(requireRanked(op, l)))
    return failure();
  Lowering::Input x = l.input(op.getX());
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), x.dims.size());
  if (failed(axis))
    return failure();
  Normalized n =
      normalize(l, x, *axis, /*simplified=*/true, op.getEpsilon().convertToDouble(), l.input(op.getScale()), nullptr);
  l.set(op.getY(), n.y);
  setStatistic(l, op.getInvStdVar(), n.inverse, n);
  return success();
}

//===----------------------------------------------------------------------===//
// EmbedLayerNormalization
//===----------------------------------------------------------------------===//

static LogicalResult lowerEmbedLayerNormalization(Operation *o, Lowering &l) {
  auto op = cast<onnx::MSEmbedLayerNormalizationOp>(o);
  if (failed(requireRanked(op, l)))
    return failure();
  if (l.rank(op.getInputIds()) != 2 || l.rank(op.getWordEmbedding()) != 2 || l.rank(op.getPositionEmbedding()) != 2)
    return unsupported(op, "input_ids and the embeddings must be of rank 2");
  Type elem = l.elem(op.getWordEmbedding());
  SmallVector<Dim> dims = llvm::to_vector(l.dims(op.getOutput()));
  // One looked-up row per embedding; `ids` null means the position itself.
  struct Lookup {
    Value table, rows, ids;
    bool sharedIds;
  };
  SmallVector<Lookup> lookups;
  IndexBuilder m{l.b, l.loc};
  auto add = [&](Value table, Value ids) {
    Value rows = l.index(l.dims(table)[0]);
    l.check(m.lt(m.cst(0), rows), "an embedding without rows");
    bool shared = ids && (l.rank(ids) < 2 || knownSize(l.dims(ids)[0]) == 1);
    lookups.push_back({l.get(table), rows, ids ? l.get(ids) : Value(), shared});
  };
  add(op.getWordEmbedding(), op.getInputIds());
  add(op.getPositionEmbedding(), op.getPositionIds());
  if (op.getSegmentEmbedding() && op.getSegmentIds())
    add(op.getSegmentEmbedding(), op.getSegmentIds());
  lookups[0].sharedIds = false;
  Type i32 = l.b.getI32Type();
  Value sum = l.generate("embed", elem, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexBuilder m{b, loc};
    ScalarOps s{b, loc, elem};
    Value total;
    for (const Lookup &lookup : lookups) {
      Value row = m.min(at[1], m.sub(lookup.rows, m.cst(1)));
      if (lookup.ids) {
        SmallVector<Value> position{lookup.sharedIds ? m.cst(0) : at[0], at[1]};
        if (cast<RankedTensorType>(lookup.ids.getType()).getRank() == 1)
          position.erase(position.begin());
        row = l.wrapIndex(b, loc, l.load(b, loc, lookup.ids, i32, position), i32, lookup.rows);
      }
      Value v = l.load(b, loc, lookup.table, elem, {row, at[2]});
      total = total ? s.add(total, v) : v;
    }
    return total;
  });
  Lowering::Input bias = l.input(op.getBeta());
  Normalized n = normalize(l, {sum, elem, dims}, 2, /*simplified=*/false, op.getEpsilon().convertToDouble(),
                           l.input(op.getGamma()), &bias);
  l.set(op.getOutput(), n.y);
  if (op.getEmbeddingSum())
    l.set(op.getEmbeddingSum(), sum);
  if (op.getMaskIndex()) {
    SmallVector<Dim> batch{l.dims(op.getInputIds())[0]};
    if (op.getMask()) {
      l.set(op.getMaskIndex(),
            l.reduce(
                "mask_index", l.input(op.getMask()), {1}, i32, ScalarOps{l.b, l.loc, i32}.constantInt(0),
                [](OpBuilder &, Location, Value v) { return v; },
                [&](OpBuilder &b, Location loc, Value a, Value v) { return ScalarOps{b, loc, i32}.add(a, v); }));
    } else {
      l.set(op.getMaskIndex(), l.generate("mask_index", i32, batch, [&](OpBuilder &b, Location loc, ValueRange) {
        return ScalarOps{b, loc, i32}.constantInt(0);
      }));
    }
  }
  return success();
}

void optc::registerMicrosoftLowerings(LoweringTable &table) {
  static const LoweringRow rows[] = {
      {"onnx.ms.Gelu", lowerPointwise<gelu>},
      {"onnx.ms.BiasGelu", lowerPointwise<biasGelu>},
      {"onnx.ms.FastGelu", lowerPointwise<fastGelu>},
      {"onnx.ms.QuickGelu", lowerPointwise<quickGelu>},
      {"onnx.ms.FusedMatMul", lowerFusedMatMul},
      {"onnx.ms.SkipLayerNormalization", lowerSkipLayerNormalization},
      {"onnx.ms.SkipSimplifiedLayerNormalization", lowerSkipSimplifiedLayerNormalization},
      {"onnx.ms.SimplifiedLayerNormalization", lowerSimplifiedLayerNormalization},
      {"onnx.ms.EmbedLayerNormalization", lowerEmbedLayerNormalization},
  };
  registerRows(table, rows);
}
