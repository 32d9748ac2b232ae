//===- Norm.cpp - shapes of normalizations, attention and losses -----------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// Whether parameters hold one element per channel.
static LogicalResult expectPerChannel(ShapeContext &ctx, ArrayRef<unsigned> inputs) {
  if (!ctx.ranked(0))
    return success();
  Dim channels = ctx.rank(0) > 1 ? ctx.dims(0)[1] : ctx.constant(1);
  for (unsigned i : inputs)
    if (ctx.ranked(i) && (ctx.rank(i) != 1 || ShapeContext::differ(ctx.dims(i)[0], channels)))
      return ctx.error("input " + Twine(i) + " has the shape " + ctx.str(ctx.dims(i)) +
                       " and must hold one element per channel of the input of shape " + ctx.str(ctx.dims(0)));
  return success();
}

/// Whether parameters broadcast to the data.
static LogicalResult expectBroadcast(ShapeContext &ctx, ArrayRef<unsigned> inputs) {
  for (unsigned i : inputs) {
    if (!ctx.ranked(0) || !ctx.ranked(i))
      continue;
    bool fits = ctx.rank(i) <= ctx.rank(0);
    for (auto [size, of] : llvm::zip(llvm::reverse(ctx.dims(i)), llvm::reverse(ctx.dims(0))))
      fits &= size->isConst(1) || !ShapeContext::differ(size, of);
    if (!fits)
      return ctx.error("input " + Twine(i) + " of shape " + ctx.str(ctx.dims(i)) +
                       " does not broadcast to the input of shape " + ctx.str(ctx.dims(0)));
  }
  return success();
}

static LogicalResult inferPerChannel(ShapeContext &ctx) {
  return failed(expectPerChannel(ctx, {1, 2})) ? failure() : sameAsFirst(ctx);
}

static LogicalResult inferBatchNorm(ShapeContext &ctx) {
  if (ctx.ranked(0) && ctx.rank(0) < 1)
    return ctx.error("the input has no channels");
  if (failed(expectPerChannel(ctx, {1, 2, 3, 4})))
    return failure();
  if (failed(ctx.ranked(0) ? ctx.set(0, ctx.dims(0)) : ctx.setUnranked(0)))
    return failure();
  for (unsigned i : {1, 2})
    if (ctx.hasResult(i) &&
        failed(ctx.ranked(i + 2) ? ctx.set(i, ctx.dims(i + 2)) : ctx.setRank(i, ctx.resultElement(i), 1)))
      return failure();
  return success();
}

/// Statistics have size 1 along the normalized axes.
static LogicalResult inferLayerNorm(ShapeContext &ctx) {
  if (failed(expectBroadcast(ctx, {1, 2})))
    return failure();
  if (failed(ctx.ranked(0) ? ctx.set(0, ctx.dims(0)) : ctx.setUnranked(0)))
    return failure();
  Type stash = onnx::elementTypeOf(ctx.op->getContext(), ctx.intAttr("stash_type", 1));
  if (!stash)
    return ctx.error("stash_type = " + Twine(ctx.intAttr("stash_type", 1)) + " is not an ONNX data type");
  SmallVector<Dim> dims;
  if (ctx.ranked(0)) {
    dims = ctx.dims(0);
    auto axis = ctx.axis(ctx.intAttr("axis", -1), dims.size());
    if (failed(axis))
      return failure();
    std::fill(dims.begin() + *axis, dims.end(), ctx.constant(1));
  }
  for (unsigned i : {1, 2})
    if (ctx.hasResult(i) && failed(ctx.ranked(0) ? ctx.set(i, stash, dims) : ctx.setUnranked(i, stash)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Sizes of queries, keys or values in either layout.
struct Heads {
  Dim batch, heads, length, size;
};
} // namespace

/// [batch, heads, length, size], or [batch, length, heads * size] with the number of heads from an attribute.
static FailureOr<Heads> readHeads(ShapeContext &ctx, unsigned i, StringRef attr) {
  ArrayRef<Dim> d = ctx.dims(i);
  if (d.size() == 4)
    return Heads{d[0], d[1], d[2], d[3]};
  if (d.size() != 3)
    return ctx.error("input " + Twine(i) + " has the shape " + ctx.str(d) + " and must have rank 3 or 4");
  int64_t heads = ctx.intAttr(attr, 0);
  if (heads < 1)
    return ctx.error("inputs of rank 3 need the attribute " + attr);
  if (d[2]->isConst() && d[2]->value % heads)
    return ctx.error("input " + Twine(i) + " of shape " + ctx.str(d) + " does not divide into " + attr + " = " +
                     Twine(heads));
  return Heads{d[0], ctx.constant(heads), d[1], ctx.table.floorDiv(d[2], heads)};
}

static LogicalResult inferAttention(ShapeContext &ctx) {
  if (!ctx.ranked(0) || !ctx.ranked(1) || !ctx.ranked(2)) {
    for (unsigned i = 0; i < 4; ++i)
      if (ctx.hasResult(i) && failed(i == 0 ? ctx.setUnranked(i) : ctx.setRank(i, ctx.resultElement(i), 4)))
        return failure();
    return success();
  }
  auto q = readHeads(ctx, 0, "q_num_heads"), k = readHeads(ctx, 1, "kv_num_heads"),
       v = readHeads(ctx, 2, "kv_num_heads");
  if (failed(q) || failed(k) || failed(v))
    return failure();
  if (ShapeContext::differ(q->size, k->size))
    return ctx.error("Q of shape " + ctx.str(ctx.dims(0)) + " and K of shape " + ctx.str(ctx.dims(1)) +
                     " differ in the head size");
  ShapeTable &t = ctx.table;
  Dim total = k->length;
  if (ctx.has(4)) {
    if (failed(ctx.expectRank(4, 4)))
      return failure();
    total = ctx.ranked(4) ? t.add(ctx.dims(4)[2], k->length) : nullptr;
  }
  SmallVector<Dim> y = ctx.rank(0) == 4 ? SmallVector<Dim>{q->batch, q->heads, q->length, v->size}
                                        : SmallVector<Dim>{q->batch, q->length, t.mul(q->heads, v->size)};
  auto length = [&](unsigned i, int64_t axis) { return total ? total : ctx.leaf(i, axis); };
  if (failed(ctx.set(0, y)) || (ctx.hasResult(1) && failed(ctx.set(1, {k->batch, k->heads, length(1, 2), k->size}))) ||
      (ctx.hasResult(2) && failed(ctx.set(2, {v->batch, v->heads, length(2, 2), v->size}))) ||
      (ctx.hasResult(3) && failed(ctx.set(3, {q->batch, q->heads, q->length, length(3, 3)}))))
    return failure();
  return success();
}

/// Q, K, V of rank 4. The subgraphs map scores, of rank 4 as well, to the same shape.
static LogicalResult inferFlexAttention(ShapeContext &ctx) {
  for (unsigned i : {0, 1, 2})
    if (failed(ctx.expectRank(i, 4)))
      return failure();
  bool ranked = ctx.ranked(0) && ctx.ranked(1) && ctx.ranked(2);
  SmallVector<Dim> scores, y;
  if (ranked) {
    ArrayRef<Dim> q = ctx.dims(0), k = ctx.dims(1), v = ctx.dims(2);
    if (ShapeContext::differ(q[3], k[3]))
      return ctx.error("Q of shape " + ctx.str(q) + " and K of shape " + ctx.str(k) + " differ in the head size");
    scores = {q[0], q[1], q[2], k[2]};
    y = {q[0], q[1], q[2], v[3]};
  }
  int64_t given = ctx.intAttr("softmax_precision", ctx.elementType(0).isF64() ? 11 : 1);
  Type precision = onnx::elementTypeOf(ctx.op->getContext(), given);
  if (!precision)
    return ctx.error("softmax_precision = " + Twine(given) + " is not an ONNX data type");
  for (Region &region : ctx.op->getRegions()) {
    if (region.empty())
      continue;
    for (BlockArgument arg : region.getArguments()) {
      ShapeInfo info;
      info.elementType = precision;
      info.ranked = ranked;
      info.dims = scores;
      arg.setType(ShapeTable::typeOf(info));
      ctx.table.set(arg, info);
    }
    if (failed(inferBlock(region.front(), ctx.table)))
      return failure();
  }
  return ranked ? ctx.set(0, y) : ctx.setRank(0, ctx.resultElement(0), 4);
}

/// query, key [B, T, H*d], value [B, T, H*d]; the state is [B, H_kv, d_k, d_v].
static LogicalResult inferLinearAttention(ShapeContext &ctx) {
  for (unsigned i : {0, 1, 2})
    if (failed(ctx.expectRank(i, 3)))
      return failure();
  int64_t qHeads = ctx.intAttr("q_num_heads", 0), kvHeads = ctx.intAttr("kv_num_heads", 0);
  if (qHeads < 1 || kvHeads < 1)
    return ctx.error("q_num_heads and kv_num_heads must be positive");
  Type state = ctx.has(3) ? ctx.elementType(3) : ctx.elementType(0);
  if (!ctx.ranked(0) || !ctx.ranked(1) || !ctx.ranked(2))
    return success(succeeded(ctx.setRank(0, ctx.resultElement(0), 3)) && succeeded(ctx.setRank(1, state, 4)));
  ArrayRef<Dim> q = ctx.dims(0), k = ctx.dims(1), v = ctx.dims(2);
  ShapeTable &t = ctx.table;
  Dim dk = t.floorDiv(k[2], kvHeads), dv = t.floorDiv(v[2], kvHeads);
  if (failed(ctx.set(0, {q[0], q[1], t.mul(dv, qHeads)})))
    return failure();
  return ctx.set(1, state, {q[0], ctx.constant(kvHeads), dk, dv});
}

static LogicalResult inferCausalConv(ShapeContext &ctx) {
  for (unsigned i : {0, 1})
    if (failed(ctx.expectRank(i, 3)))
      return failure();
  Type element = ctx.resultElement(0);
  if (failed(ctx.ranked(0) ? ctx.set(0, element, ctx.dims(0)) : ctx.setRank(0, element, 3)))
    return failure();
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setRank(1, element, 3);
  return ctx.set(1, element, {ctx.dims(0)[0], ctx.dims(0)[1], ctx.table.sub(ctx.dims(1)[2], 1)});
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

static LogicalResult inferLoss(ShapeContext &ctx) {
  StringRef reduction = ctx.strAttr("reduction", "mean");
  if (!llvm::is_contained({"none", "sum", "mean"}, reduction))
    return ctx.error("reduction = '" + reduction + "' is none of none, sum, mean");
  if (ctx.hasResult(1) && failed(ctx.ranked(0) ? ctx.set(1, ctx.dims(0)) : ctx.setUnranked(1)))
    return failure();
  Type element = ctx.resultElement(0);
  if (reduction != "none")
    return ctx.set(0, element, {});
  if (ctx.ranked(1))
    return ctx.set(0, element, ctx.dims(1));
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  if (dims.size() < 2)
    return ctx.error("the input of shape " + ctx.str(dims) + " has no classes");
  dims.erase(dims.begin() + 1);
  return ctx.set(0, element, dims);
}

static LogicalResult inferDet(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  ArrayRef<Dim> dims = ctx.dims(0);
  if (dims.size() < 2 || ShapeContext::differ(dims.back(), dims[dims.size() - 2]))
    return ctx.error("the input of shape " + ctx.str(dims) + " is no stack of square matrices");
  return ctx.set(0, element, dims.drop_back(2));
}

void optc::registerNormShapes(ShapeFnTable &t) {
  add(t, {"BatchNormalization"}, inferBatchNorm);
  add(t, {"LayerNormalization", "ms.SimplifiedLayerNormalization"}, inferLayerNorm);
  add(t, {"InstanceNormalization", "GroupNormalization"}, inferPerChannel);
  add(t, {"LRN", "MeanVarianceNormalization", "RotaryEmbedding"}, sameAsFirst);
  add(t, {"Attention"}, inferAttention);
  add(t, {"preview.FlexAttention"}, inferFlexAttention);
  add(t, {"LinearAttention"}, inferLinearAttention);
  add(t, {"CausalConvWithState"}, inferCausalConv);
  add(t, {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}, inferLoss);
  add(t, {"Det"}, inferDet);
}
