//===- Indexing.cpp - shapes of gathers, scatters and selections -----------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

static LogicalResult inferGather(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setUnranked(0, element);
  ArrayRef<Dim> data = ctx.dims(0), indices = ctx.dims(1);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), data.size());
  if (failed(axis))
    return failure();
  SmallVector<Dim> dims(data.take_front(*axis));
  dims.append(indices.begin(), indices.end());
  dims.append(data.begin() + *axis + 1, data.end());
  std::optional<SmallVector<Dim>> elements;
  auto positions = ctx.constElements(1);
  if (const auto &in = ctx.in(0).elements; in && positions && data.size() == 1) {
    elements.emplace();
    int64_t n = in->size();
    for (int64_t p : *positions) {
      if (p < -n || p >= n)
        return ctx.error("index " + Twine(p) + " is outside the input of shape " + ctx.str(data));
      elements->push_back((*in)[p < 0 ? p + n : p]);
    }
  }
  return ctx.set(0, element, dims, std::move(elements));
}

static LogicalResult inferGatherElements(ShapeContext &ctx) {
  if (ctx.ranked(0) && ctx.ranked(1) && ctx.rank(0) != ctx.rank(1))
    return ctx.error("data of shape " + ctx.str(ctx.dims(0)) + " and indices of shape " + ctx.str(ctx.dims(1)) +
                     " differ in rank");
  if (ctx.ranked(0) && failed(ctx.axis(ctx.intAttr("axis", 0), ctx.rank(0))))
    return failure();
  return ctx.ranked(1) ? ctx.set(0, ctx.resultElement(0), ctx.dims(1)) : ctx.setUnranked(0);
}

static LogicalResult inferGatherND(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setUnranked(0, element);
  ArrayRef<Dim> data = ctx.dims(0), indices = ctx.dims(1);
  if (indices.empty() || data.empty())
    return ctx.error("needs data and indices of rank 1 at least, got " + ctx.str(data) + " and " + ctx.str(indices));
  Dim last = indices.back();
  int64_t batch = ctx.intAttr("batch_dims", 0);
  if (!last->isConst())
    return ctx.setUnranked(0, element);
  if (batch < 0 || batch >= int64_t(indices.size()) || last->value < 1 || batch + last->value > int64_t(data.size()))
    return ctx.error("cannot index " + ctx.str(data) + " with indices of shape " + ctx.str(indices) +
                     " and batch_dims = " + Twine(batch));
  SmallVector<Dim> dims(indices.drop_back());
  dims.append(data.begin() + batch + last->value, data.end());
  return ctx.set(0, element, dims);
}

static LogicalResult inferScatterElements(ShapeContext &ctx) {
  if (ctx.ranked(0)) {
    if (failed(ctx.axis(ctx.intAttr("axis", 0), ctx.rank(0))))
      return failure();
    for (unsigned i : {1, 2})
      if (ctx.ranked(i) && ctx.rank(i) != ctx.rank(0))
        return ctx.error("data of shape " + ctx.str(ctx.dims(0)) + " and input " + Twine(i) + " of shape " +
                         ctx.str(ctx.dims(i)) + " differ in rank");
  }
  return sameAsFirst(ctx);
}

static LogicalResult inferCompress(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.hasAttr("axis"))
    return ctx.setRank(0, element, 1);
  if (!ctx.ranked(0) || !ctx.hasResult(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), dims.size());
  if (failed(axis))
    return failure();
  dims[*axis] = ctx.leaf(0, *axis);
  return ctx.set(0, element, dims);
}

static LogicalResult inferNonZero(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.hasResult(0))
    return ctx.setRank(0, element, 2);
  return ctx.set(0, element, {ctx.constant(ctx.rank(0)), ctx.leaf(0, 1)});
}

/// The numbers of unique values, of indices and of counts are one unknown.
static LogicalResult inferUnique(ShapeContext &ctx) {
  Type element = ctx.resultElement(0), i64 = IntegerType::get(ctx.op->getContext(), 64);
  bool ranked = ctx.ranked(0);
  int64_t axis = 0;
  SmallVector<Dim> dims;
  Dim inverse = nullptr;
  if (!ctx.hasAttr("axis")) {
    dims = {ctx.leaf(0, 0)};
    if (ranked)
      inverse = ctx.table.numElements(ctx.dims(0));
  } else if (ranked) {
    auto a = ctx.axis(ctx.intAttr("axis", 0), ctx.rank(0));
    if (failed(a))
      return failure();
    axis = *a;
    dims = ctx.dims(0);
    inverse = dims[axis];
    dims[axis] = ctx.leaf(0, axis);
  }
  if (failed(dims.empty() ? ctx.setUnranked(0, element) : ctx.set(0, element, dims)))
    return failure();
  for (unsigned i : {1, 2, 3}) {
    if (!ctx.hasResult(i))
      continue;
    Dim size = i == 2 ? inverse : dims.empty() ? nullptr : dims[axis];
    if (failed(size ? ctx.set(i, i64, {size}) : ctx.setRank(i, i64, 1)))
      return failure();
  }
  return success();
}

static LogicalResult inferTopK(ShapeContext &ctx) {
  Type i64 = IntegerType::get(ctx.op->getContext(), 64), element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return success(succeeded(ctx.setUnranked(0, element)) && succeeded(ctx.setUnranked(1, i64)));
  SmallVector<Dim> dims = ctx.dims(0);
  auto axis = ctx.axis(ctx.intAttr("axis", -1), dims.size());
  if (failed(axis))
    return failure();
  auto k = ctx.elements(1);
  if (k && k->size() != 1)
    return ctx.error("K must have one element");
  Dim size = k ? k->front() : ctx.leaf(0, *axis);
  if (size->isConst() && dims[*axis]->isConst() && size->value > dims[*axis]->value)
    return ctx.error("K = " + Twine(size->value) + " is more than the size of axis " + Twine(*axis) + " of " +
                     ctx.str(dims));
  dims[*axis] = size;
  return success(succeeded(ctx.set(0, element, dims)) && succeeded(ctx.set(1, i64, dims)));
}

static LogicalResult inferOneHot(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  auto axis = ctx.axis(ctx.intAttr("axis", -1), dims.size() + 1);
  if (failed(axis))
    return failure();
  Dim depth = nullptr;
  if (auto elements = ctx.elements(1); elements && elements->size() == 1)
    depth = elements->front();
  else if (auto floats = ctx.constFloats(1);
           floats && floats->size() == 1 && floats->front() >= 0 && floats->front() < 1e15)
    depth = ctx.constant(int64_t(floats->front()));
  else
    depth = ctx.leaf(0, *axis);
  dims.insert(dims.begin() + *axis, depth);
  return ctx.set(0, element, dims);
}

static LogicalResult inferNonMaxSuppression(ShapeContext &ctx) {
  for (unsigned i : {0, 1})
    if (failed(ctx.expectRank(i, 3)))
      return failure();
  return ctx.set(0, ctx.resultElement(0), {ctx.leaf(0, 0), ctx.constant(3)});
}

void optc::registerIndexingShapes(ShapeFnTable &t) {
  add(t, {"Gather"}, inferGather);
  add(t, {"GatherElements"}, inferGatherElements);
  add(t, {"GatherND"}, inferGatherND);
  add(t, {"ScatterElements"}, inferScatterElements);
  add(t, {"ScatterND"}, sameAsFirst);
  add(t, {"Compress"}, inferCompress);
  add(t, {"NonZero"}, inferNonZero);
  add(t, {"Unique"}, inferUnique);
  add(t, {"TopK"}, inferTopK);
  add(t, {"OneHot"}, inferOneHot);
  add(t, {"NonMaxSuppression"}, inferNonMaxSuppression);
}
