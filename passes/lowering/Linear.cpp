//===- Linear.cpp - linear models of ai.onnx.ml ---------------------------===//
#include "optc/passes/lowering/Ml.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

/// x times the transposed coefficients [E, C], plus one intercept per row of them: [N, E] in f32, or f64 for f64
/// inputs.
static FailureOr<Lowering::Input> linearScores(Operation *op, Lowering &l, Value x, ArrayRef<float> coefficients,
                                               ArrayRef<float> intercepts, int64_t outputs) {
  FailureOr<Lowering::Input> in = rowsOf(op, l, x);
  if (failed(in))
    return failure();
  std::optional<int64_t> width = knownSize(in->dims[1]);
  if (!width && outputs > 0)
    width = coefficients.size() / outputs;
  if (!width || *width < 1 || coefficients.empty() || coefficients.size() % *width)
    return unsupported(op, Twine(coefficients.size()) + " coefficients do not fit an input with " +
                               (width ? Twine(*width) : Twine("?")) + " columns");
  int64_t count = coefficients.size() / *width;
  if (intercepts.size() > 1 && static_cast<int64_t>(intercepts.size()) != count)
    return unsupported(op, Twine(intercepts.size()) + " intercepts for " + Twine(count) + " outputs");
  Dim columns = l.shapes.constant(*width), rows = in->dims[0], results = l.shapes.constant(count);
  checkSameSize(l, in->dims[1], columns, "the input does not have " + Twine(*width) + " columns");
  Type elem = in->elem.isF64() ? in->elem : Type(l.b.getF32Type()), f32 = l.b.getF32Type();
  Value weights = l.view(constantOf(l, coefficients), f32, {results, columns});
  MLIRContext *ctx = op->getContext();
  AffineExpr n = getAffineDimExpr(0, ctx), e = getAffineDimExpr(1, ctx), c = getAffineDimExpr(2, ctx);
  SmallVector<AffineMap> maps{AffineMap::get(3, 0, {n, c}, ctx), AffineMap::get(3, 0, {e, c}, ctx),
                              AffineMap::get(3, 0, {n, e}, ctx)};
  Value sum = l.contract(
      "linear", {*in, Lowering::Input{weights, f32, {results, columns}}}, maps,
      {Iter::parallel, Iter::parallel, Iter::reduction}, elem, {rows, results}, ScalarOps{l.b, l.loc, elem}.constant(0),
      [&](OpBuilder &b, Location loc, ValueRange v, Value acc) {
        ScalarOps s{b, loc, elem};
        return s.add(acc, s.mul(castScalar(b, loc, v[0], in->elem, elem), castScalar(b, loc, v[1], f32, elem)));
      });
  SmallVector<Lowering::Input> inputs{{sum, elem, {rows, results}}};
  if (intercepts.empty())
    return inputs[0];
  inputs.push_back({constantOf(l, intercepts), f32, {l.shapes.constant(intercepts.size())}});
  Value shifted = l.elementwise(inputs, elem, {rows, results}, [&](OpBuilder &b, Location loc, ValueRange v) {
    return ScalarOps{b, loc, elem}.add(v[0], castScalar(b, loc, v[1], f32, elem));
  });
  return Lowering::Input{shifted, elem, {rows, results}};
}

/// Hands scores over as f32.
static LogicalResult setScores(Operation *op, Lowering &l, Value result, const Lowering::Input &scores,
                               StringRef kind) {
  FailureOr<Value> y = postTransform(op, l, scores, kind);
  if (failed(y))
    return failure();
  Type to = l.elem(result);
  Value converted = *y;
  if (to != scores.elem)
    converted = l.elementwise(
        Lowering::Input{*y, scores.elem, scores.dims}, to, scores.dims,
        [&](OpBuilder &b, Location loc, ValueRange x) { return castScalar(b, loc, x[0], scores.elem, to); });
  l.set(result, l.view(converted, to, l.dims(result)));
  return success();
}

static LogicalResult lowerLinearRegressor(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLLinearRegressorOp>(o);
  FailureOr<Lowering::Input> scores =
      linearScores(op, l, op.getX(), orEmpty(op.getCoefficients()), orEmpty(op.getIntercepts()), op.getTargets());
  if (failed(scores))
    return failure();
  return setScores(op, l, op.getY(), *scores, op.getPostTransform());
}

static LogicalResult lowerLinearClassifier(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLLinearClassifierOp>(o);
  ArrayRef<int64_t> ints = orEmpty(op.getClasslabelsInts());
  ArrayAttr strings = op.getClasslabelsStringsAttr();
  if (strings && strings.empty())
    strings = {};
  int64_t classes = strings ? strings.size() : ints.size();
  FailureOr<Lowering::Input> scores = linearScores(op, l, op.getX(), op.getCoefficients(), orEmpty(op.getIntercepts()),
                                                   orEmpty(op.getIntercepts()).size());
  if (failed(scores))
    return failure();
  if (knownSize(scores->dims[1]) == 1 && classes == 2) { // One score for two classes: the other one is its negative.
    Lowering::Input one = *scores;
    scores->dims[1] = l.shapes.constant(2);
    scores->lowered =
        l.generate("binary_scores", one.elem, scores->dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          IndexBuilder m{b, loc};
          ScalarOps s{b, loc, one.elem};
          Value x = l.load(b, loc, one.lowered, one.elem, {at[0], m.cst(0)});
          return s.select(m.eq(at[1], m.cst(1)), x, s.neg(x));
        });
  }
  int64_t columns = *knownSize(scores->dims[1]);
  if (columns != classes || columns < 2)
    return unsupported(op, Twine(columns) + " scores for " + Twine(classes) +
                               " class labels; one score per class, or one for two, are supported");
  FailureOr<Value> z = postTransform(op, l, *scores, op.getPostTransform());
  if (failed(z))
    return failure();
  scores->lowered = *z;
  if (failed(setScores(op, l, op.getZ(), *scores, "NONE")))
    return failure();
  Type labelElem = strings ? Type(onnx::StringType::get(op.getContext())) : Type(l.b.getI64Type());
  l.set(op.getY(), l.view(bestLabels(l, *scores, ints, strings), labelElem, l.dims(op.getY())));
  return success();
}

//===----------------------------------------------------------------------===//
// SVMRegressor
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel makes of one column of x and of a support vector, and of the sum of that over all columns.
struct SvmKernel {
  StringRef name;
  bool distance; ///< sums (x - v)^2 instead of x * v
  Value (*finish)(const ScalarOps &s, Value sum, ArrayRef<float> params);
};
} // namespace

static Value scaled(const ScalarOps &s, Value sum, ArrayRef<float> p) {
  return s.add(s.mul(sum, s.constant(p[0])), s.constant(p[1]));
}
static Value linear(const ScalarOps &, Value sum, ArrayRef<float>) { return sum; }
static Value poly(const ScalarOps &s, Value sum, ArrayRef<float> p) {
  return math::PowFOp::create(s.b, s.loc, scaled(s, sum, p), s.constant(std::trunc(p[2])));
}
static Value sigmoid(const ScalarOps &s, Value sum, ArrayRef<float> p) {
  return math::TanhOp::create(s.b, s.loc, scaled(s, sum, p));
}
static Value rbf(const ScalarOps &s, Value sum, ArrayRef<float> p) {
  return math::ExpOp::create(s.b, s.loc, s.mul(s.constant(-p[0]), sum));
}
static const SvmKernel svmKernels[] = {
    {"LINEAR", false, linear}, {"POLY", false, poly}, {"SIGMOID", false, sigmoid}, {"RBF", true, rbf}};

static LogicalResult lowerSvmRegressor(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLSVMRegressorOp>(o);
  ArrayRef<float> coefficients = orEmpty(op.getCoefficients()), rho = orEmpty(op.getRho()),
                  vectors = orEmpty(op.getSupportVectors());
  int64_t supports = op.getNSupports();
  if (coefficients.empty() || rho.empty())
    return unsupported(op, "attributes coefficients and rho must not be empty");
  const SvmKernel *kernel = llvm::find_if(svmKernels, [&](auto &k) { return k.name == op.getKernelType(); });
  SmallVector<float> params = llvm::to_vector(orEmpty(op.getKernelParams()));
  params.resize(3, 0);
  if (kernel == std::end(svmKernels))
    return unsupported(op, "attribute kernel_type \"" + op.getKernelType() +
                               "\"; supported are LINEAR, POLY, RBF and SIGMOID");
  FailureOr<Lowering::Input> scores;
  if (supports <= 0) {
    scores = linearScores(op, l, op.getX(), coefficients, rho.take_front(1), 1);
  } else {
    if (static_cast<int64_t>(coefficients.size()) != supports || vectors.size() % supports || vectors.empty())
      return unsupported(op, Twine(coefficients.size()) + " coefficients and " + Twine(vectors.size()) +
                                 " numbers of support vectors for n_supports " + Twine(supports));
    FailureOr<Lowering::Input> in = rowsOf(op, l, op.getX());
    if (failed(in))
      return failure();
    Type f32 = l.b.getF32Type();
    Dim rows = in->dims[0], count = l.shapes.constant(supports), columns = l.shapes.constant(vectors.size() / supports);
    checkSameSize(l, in->dims[1], columns, "the input and the support vectors have different numbers of columns");
    if (knownSize(in->dims[1]) && in->dims[1] != columns)
      return unsupported(op, "support vectors of " + Twine(*knownSize(columns)) + " columns for an input with " +
                                 Twine(*knownSize(in->dims[1])));
    MLIRContext *ctx = op.getContext();
    AffineExpr n = getAffineDimExpr(0, ctx), e = getAffineDimExpr(1, ctx), c = getAffineDimExpr(2, ctx);
    SmallVector<AffineMap> maps{AffineMap::get(3, 0, {n, c}, ctx), AffineMap::get(3, 0, {e, c}, ctx),
                                AffineMap::get(3, 0, {n, e}, ctx)};
    Lowering::Input support{l.view(constantOf(l, vectors), f32, {count, columns}), f32, {count, columns}};
    Value zero = ScalarOps{l.b, l.loc, f32}.constant(0);
    Value sums = l.contract("svm_kernel", {*in, support}, maps, {Iter::parallel, Iter::parallel, Iter::reduction}, f32,
                            {rows, count}, zero, [&](OpBuilder &b, Location loc, ValueRange v, Value acc) {
                              ScalarOps s{b, loc, f32};
                              Value x = castScalar(b, loc, v[0], in->elem, f32), d = s.sub(x, v[1]);
                              return s.add(acc, kernel->distance ? s.mul(d, d) : s.mul(x, v[1]));
                            });
    Value weights = constantOf(l, coefficients);
    AffineExpr row = getAffineDimExpr(0, ctx), k = getAffineDimExpr(1, ctx);
    Value total = l.contract(
        "svm", {Lowering::Input{sums, f32, {rows, count}}, Lowering::Input{weights, f32, {count}}},
        {AffineMap::get(2, 0, {row, k}, ctx), AffineMap::get(2, 0, {k}, ctx), AffineMap::get(2, 0, {row}, ctx)},
        {Iter::parallel, Iter::reduction}, f32, {rows}, zero, [&](OpBuilder &b, Location loc, ValueRange v, Value acc) {
          ScalarOps s{b, loc, f32};
          return s.add(acc, s.mul(v[1], kernel->finish(s, v[0], params)));
        });
    SmallVector<Dim> column{rows, l.shapes.constant(1)};
    Value shifted = l.elementwise(Lowering::Input{l.view(total, f32, column), f32, column}, f32, column,
                                  [&](OpBuilder &b, Location loc, ValueRange v) {
                                    ScalarOps s{b, loc, f32};
                                    return s.add(v[0], s.constant(rho[0]));
                                  });
    scores = Lowering::Input{shifted, f32, column};
  }
  if (failed(scores))
    return failure();
  if (op.getOneClass())
    scores->lowered = l.elementwise(*scores, scores->elem, scores->dims, [&](OpBuilder &b, Location loc, ValueRange v) {
      ScalarOps s{b, loc, scores->elem};
      return s.select(s.lt(s.constant(0), v[0]), s.constant(1), s.constant(-1));
    });
  return setScores(op, l, op.getY(), *scores, op.getPostTransform());
}

void optc::registerLinearLowerings(LoweringTable &table) {
  static const LoweringRow rows[] = {
      {"onnx.ml.LinearRegressor", lowerLinearRegressor},
      {"onnx.ml.LinearClassifier", lowerLinearClassifier},
      {"onnx.ml.SVMRegressor", lowerSvmRegressor},
  };
  registerRows(table, rows);
}
