//===- Contrib.cpp - shapes of com.microsoft -------------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// Result `i` with the sizes `dims`, or of the given rank where they are not known.
static LogicalResult setOrRank(ShapeContext &ctx, unsigned i, bool known, ArrayRef<Dim> dims, int64_t rank) {
  if (!ctx.hasResult(i))
    return success();
  return known ? ctx.set(i, dims) : ctx.setRank(i, ctx.resultElement(i), rank);
}

static LogicalResult inferFusedMatMul(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setUnranked(0, element);
  // trans swaps the last two axes; transBatch moves the first axis before the last.
  auto arranged = [&](unsigned i, StringRef trans, StringRef transBatch) {
    SmallVector<Dim> d = ctx.dims(i);
    if (d.size() < 2)
      return d;
    if (ctx.intAttr(transBatch, 0))
      std::rotate(d.begin(), d.begin() + 1, d.end() - 1);
    if (ctx.intAttr(trans, 0))
      std::swap(d[d.size() - 1], d[d.size() - 2]);
    return d;
  };
  SmallVector<Dim> a = arranged(0, "transA", "transBatchA"), b = arranged(1, "transB", "transBatchB");
  if (a.empty() || b.empty())
    return ctx.error("cannot multiply " + ctx.str(a) + " and " + ctx.str(b));
  Dim kb = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (ShapeContext::differ(a.back(), kb))
    return ctx.error("cannot multiply " + ctx.str(a) + " and " + ctx.str(b) + ": the inner sizes differ");
  auto dims = ctx.broadcast(ArrayRef(a).drop_back(std::min<size_t>(2, a.size())),
                            ArrayRef(b).drop_back(std::min<size_t>(2, b.size())));
  if (failed(dims))
    return failure();
  if (a.size() > 1)
    dims->push_back(a[a.size() - 2]);
  if (b.size() > 1)
    dims->push_back(b.back());
  return ctx.set(0, element, *dims);
}

static LogicalResult inferSkipNorm(ShapeContext &ctx) {
  Type f32 = Float32Type::get(ctx.op->getContext());
  for (unsigned i : {0, 3})
    if (ctx.hasResult(i) && failed(ctx.ranked(0) ? ctx.set(i, ctx.dims(0)) : ctx.setUnranked(i)))
      return failure();
  SmallVector<Dim> dims;
  if (ctx.ranked(0)) {
    dims = ctx.dims(0);
    if (dims.empty())
      return ctx.error("the input is a scalar");
    dims.back() = ctx.constant(1);
  }
  for (unsigned i : {1, 2})
    if (ctx.hasResult(i) && failed(ctx.ranked(0) ? ctx.set(i, f32, dims) : ctx.setUnranked(i, f32)))
      return failure();
  return success();
}

static LogicalResult inferEmbedLayerNorm(ShapeContext &ctx) {
  if (failed(ctx.expectRank(0, 2)) || failed(ctx.expectRank(2, 2)))
    return failure();
  bool known = ctx.ranked(0) && ctx.ranked(2);
  SmallVector<Dim> dims = known ? SmallVector<Dim>{ctx.dims(0)[0], ctx.dims(0)[1], ctx.dims(2)[1]} : SmallVector<Dim>();
  if (failed(setOrRank(ctx, 0, known, dims, 3)) || failed(setOrRank(ctx, 2, known, dims, 3)))
    return failure();
  return setOrRank(ctx, 1, ctx.ranked(0), ctx.ranked(0) ? ArrayRef<Dim>(ctx.dims(0).front()) : ArrayRef<Dim>(), 1);
}

static LogicalResult inferAttention(ShapeContext &ctx, unsigned pastAt) {
  if (failed(ctx.expectRank(0, 3)) || failed(ctx.expectRank(1, 2)))
    return failure();
  int64_t heads = ctx.intAttr("num_heads", 0);
  if (heads < 1)
    return ctx.error("num_heads = " + Twine(heads) + " must be positive");
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return success(succeeded(setOrRank(ctx, 0, false, {}, 3)) && succeeded(setOrRank(ctx, 1, false, {}, 5)));
  ArrayRef<Dim> input = ctx.dims(0);
  Dim hidden = ctx.table.floorDiv(ctx.dims(1)[1], 3);
  if (auto sizes = ctx.intsAttr("qkv_hidden_sizes"); sizes && sizes->size() == 3)
    hidden = ctx.constant((*sizes)[2]);
  if (failed(ctx.set(0, {input[0], input[1], hidden})) || !ctx.hasResult(1))
    return success();
  Dim past = ctx.ranked(pastAt) && ctx.rank(pastAt) == 5 ? ctx.dims(pastAt)[3]
             : ctx.has(pastAt)                           ? nullptr
                                                         : ctx.constant(0);
  Dim total = past ? ctx.table.add(past, input[1]) : ctx.leaf(1, 3);
  return ctx.set(1, {ctx.constant(2), input[0], ctx.constant(heads), total, ctx.table.floorDiv(hidden, heads)});
}

static LogicalResult inferMultiHeadAttention(ShapeContext &ctx) {
  int64_t heads = ctx.intAttr("num_heads", 0);
  if (heads < 1)
    return ctx.error("num_heads = " + Twine(heads) + " must be positive");
  ShapeTable &t = ctx.table;
  Dim headCount = ctx.constant(heads), batch = nullptr, length = nullptr, keys = nullptr, qSize = nullptr,
      vSize = nullptr;
  if (ctx.ranked(0)) {
    ArrayRef<Dim> q = ctx.dims(0);
    if (q.size() != 3 && q.size() != 5)
      return ctx.error("query has the shape " + ctx.str(q) + " and must have rank 3 or 5");
    batch = q[0];
    length = q[1];
    // Packed: [batch, length, heads, 3, size].
    qSize = q.size() == 5 ? q[4] : t.floorDiv(q[2], heads);
    if (q.size() == 5) {
      keys = length;
      vSize = q[4];
    }
  }
  if (ctx.ranked(1)) {
    ArrayRef<Dim> k = ctx.dims(1);
    if (k.size() < 3 || k.size() > 5)
      return ctx.error("key has the shape " + ctx.str(k) + " and must have rank 3, 4 or 5");
    keys = k.size() == 4 ? k[2] : k[1];
    if (k.size() == 5)
      vSize = k[4];
  }
  if (ctx.ranked(2)) {
    ArrayRef<Dim> v = ctx.dims(2);
    if (v.size() != 3 && v.size() != 4)
      return ctx.error("value has the shape " + ctx.str(v) + " and must have rank 3 or 4");
    vSize = v.size() == 4 ? v[3] : t.floorDiv(v[2], heads);
  }
  Dim total = keys;
  if (ctx.has(6))
    total = keys && ctx.ranked(6) && ctx.rank(6) == 4 ? t.add(ctx.dims(6)[2], keys) : nullptr;
  bool output = batch && length && vSize, present = batch && total;
  SmallVector<Dim> y, k, v, qk;
  if (output)
    y = {batch, length, t.mul(vSize, headCount)};
  if (present && qSize)
    k = {batch, headCount, total, qSize};
  if (present && vSize)
    v = {batch, headCount, total, vSize};
  if (present && length)
    qk = {batch, headCount, length, total};
  return success(succeeded(setOrRank(ctx, 0, output, y, 3)) && succeeded(setOrRank(ctx, 1, !k.empty(), k, 4)) &&
                 succeeded(setOrRank(ctx, 2, !v.empty(), v, 4)) && succeeded(setOrRank(ctx, 3, !qk.empty(), qk, 4)));
}

static LogicalResult inferMatMul2(ShapeContext &ctx) { return inferMatMul(ctx, 0, 1, ctx.resultElement(0)); }

static LogicalResult inferMatMulNBits(ShapeContext &ctx) {
  int64_t n = ctx.intAttr("N", 0), k = ctx.intAttr("K", 0);
  if (n < 1 || k < 1)
    return ctx.error("N = " + Twine(n) + " and K = " + Twine(k) + " must be positive");
  if (!ctx.ranked(0))
    return ctx.setUnranked(0);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.empty() || ShapeContext::differ(dims.back(), ctx.constant(k)))
    return ctx.error("A has the shape " + ctx.str(dims) + " and K = " + Twine(k));
  dims.back() = ctx.constant(n);
  return ctx.set(0, dims);
}

static LogicalResult inferGatherBlockQuantized(ShapeContext &ctx) {
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setUnranked(0);
  SmallVector<Dim> data = ctx.dims(0);
  auto axis = ctx.axis(ctx.intAttr("gather_axis", 0), data.size(), "gather_axis");
  auto packed = ctx.axis(ctx.intAttr("quantize_axis", 1), data.size(), "quantize_axis");
  if (failed(axis) || failed(packed))
    return failure();
  // Bytes hold 8 / bits values along the last axis.
  int64_t bits = ctx.intAttr("bits", 4);
  if (ctx.elementType(0).isUnsignedInteger(8) && bits > 0 && bits < 8)
    data.back() = ctx.table.mul(data.back(), 8 / bits);
  SmallVector<Dim> dims(data.begin(), data.begin() + *axis);
  dims.append(ctx.dims(1).begin(), ctx.dims(1).end());
  dims.append(data.begin() + *axis + 1, data.end());
  return ctx.set(0, dims);
}

static LogicalResult inferGlobalPool(ShapeContext &ctx) {
  if (!ctx.ranked(0))
    return ctx.setUnranked(0);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.size() < 2)
    return ctx.error("the input of shape " + ctx.str(dims) + " has no channels");
  bool last = ctx.intAttr("channels_last", 0);
  std::fill(dims.begin() + (last ? 1 : 2), dims.end() - last, ctx.constant(1));
  return ctx.set(0, dims);
}

/// Inputs come as triples of tensor, scale and zero point, from position 2 on.
static LogicalResult inferConcatTriples(ShapeContext &ctx) {
  SmallVector<unsigned> inputs;
  for (unsigned i = 2, e = onnx::numOperandPositions(ctx.op); i < e; i += 3)
    inputs.push_back(i);
  if (inputs.empty() || (onnx::numOperandPositions(ctx.op) - 2) % 3)
    return ctx.error("the inputs must be triples of tensor, scale and zero point");
  return inferConcat(ctx, inputs, ctx.elementType(1));
}

/// A, a_scale, a_zero_point, B, ...; floats without a zero point for the result.
static LogicalResult inferQGemm(ShapeContext &ctx) {
  Type element = ctx.has(8) ? ctx.elementType(8) : Type(Float32Type::get(ctx.op->getContext()));
  if (failed(ctx.expectRank(0, 2)) || failed(ctx.expectRank(3, 2)))
    return failure();
  if (!ctx.ranked(0) || !ctx.ranked(3))
    return ctx.setRank(0, element, 2);
  bool transA = ctx.intAttr("transA", 0), transB = ctx.intAttr("transB", 0);
  if (ShapeContext::differ(ctx.dims(0)[!transA], ctx.dims(3)[transB]))
    return ctx.error("cannot multiply " + ctx.str(ctx.dims(0)) + " and " + ctx.str(ctx.dims(3)) +
                     ": the inner sizes differ");
  return ctx.set(0, element, {ctx.dims(0)[transA], ctx.dims(3)[!transB]});
}

/// input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past
static LogicalResult inferQAttention(ShapeContext &ctx) { return inferAttention(ctx, 8); }
static LogicalResult inferFloatAttention(ShapeContext &ctx) { return inferAttention(ctx, 4); }

static LogicalResult inferQReduceMean(ShapeContext &ctx) {
  if (!ctx.ranked(0))
    return ctx.setUnranked(0);
  SmallVector<Dim> dims = ctx.dims(0), kept;
  SmallVector<bool> reduced(dims.size(), false);
  for (int64_t given : ctx.intsAttr("axes").value_or(SmallVector<int64_t>())) {
    auto axis = ctx.axis(given, dims.size(), "axes");
    if (failed(axis))
      return failure();
    reduced[*axis] = true;
  }
  bool keep = ctx.intAttr("keepdims", 1);
  for (auto [dim, gone] : llvm::zip(dims, reduced))
    if (!gone || keep)
      kept.push_back(gone ? ctx.constant(1) : dim);
  return ctx.set(0, kept);
}

static LogicalResult inferQWhere(ShapeContext &ctx) { return inferBroadcast(ctx, {0, 1, 4}, ctx.resultElement(0)); }
/// Elements like the zero point; without one it is the unsigned byte.
static LogicalResult inferQuantizeLike(ShapeContext &ctx) {
  Type element =
      ctx.has(2) ? ctx.elementType(2) : Type(IntegerType::get(ctx.op->getContext(), 8, IntegerType::Unsigned));
  return ctx.ranked(0) ? ctx.set(0, element, ctx.dims(0)) : ctx.setUnranked(0, element);
}
static LogicalResult inferDequantizeLike(ShapeContext &ctx) {
  return ctx.ranked(0) ? ctx.set(0, ctx.elementType(1), ctx.dims(0)) : ctx.setUnranked(0, ctx.elementType(1));
}
static LogicalResult inferQBinary(ShapeContext &ctx) { return inferBroadcast(ctx, {0, 3}, ctx.resultElement(0)); }
static LogicalResult inferBias(ShapeContext &ctx) { return inferBroadcast(ctx, {0, 1}, ctx.resultElement(0)); }
static LogicalResult inferPoolOp(ShapeContext &ctx) { return inferPool(ctx, ctx.intAttr("channels_last", 0)); }
static LogicalResult inferConvOp(ShapeContext &ctx) { return inferConv(ctx, 0, 1, ctx.resultElement(0)); }

void optc::registerContribShapes(ShapeFnTable &t) {
  add(t, {"ms.Gelu", "ms.FastGelu", "ms.QuickGelu", "ms.QLinearSigmoid", "ms.QLinearLeakyRelu", "ms.QLinearSoftmax"},
      sameAsFirst);
  add(t, {"ms.BiasGelu"}, inferBias);
  add(t, {"ms.FusedMatMul"}, inferFusedMatMul);
  add(t, {"ms.SkipLayerNormalization", "ms.SkipSimplifiedLayerNormalization"}, inferSkipNorm);
  add(t, {"ms.EmbedLayerNormalization", "ms.QEmbedLayerNormalization"}, inferEmbedLayerNorm);
  add(t, {"ms.Attention"}, inferFloatAttention);
  add(t, {"ms.QAttention"}, inferQAttention);
  add(t, {"ms.MultiHeadAttention"}, inferMultiHeadAttention);
  add(t, {"ms.DynamicQuantizeMatMul", "ms.MatMulIntegerToFloat"}, inferMatMul2);
  add(t, {"ms.MatMulNBits"}, inferMatMulNBits);
  add(t, {"ms.GatherBlockQuantized"}, inferGatherBlockQuantized);
  add(t, {"ms.QLinearGlobalAveragePool"}, inferGlobalPool);
  add(t, {"ms.QLinearConcat"}, inferConcatTriples);
  add(t, {"ms.QLinearAdd", "ms.QLinearMul"}, inferQBinary);
  add(t, {"ms.QLinearWhere"}, inferQWhere);
  add(t, {"ms.QLinearReduceMean"}, inferQReduceMean);
  add(t, {"ms.QGemm"}, inferQGemm);
  add(t, {"ms.QuantizeLinear"}, inferQuantizeLike);
  add(t, {"ms.DequantizeLinear"}, inferDequantizeLike);
  add(t, {"ms.QLinearAveragePool"}, inferPoolOp);
  add(t, {"ms.FusedConv"}, inferConvOp);
}
