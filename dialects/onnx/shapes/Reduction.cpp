//===- Reduction.cpp - shapes of reductions --------------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// Reduces a tracked vector to one element.
using Fold = Dim (*)(ShapeContext &, Dim, Dim);
static Dim foldSum(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.add(a, b); }
static Dim foldProd(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.mul(a, b); }
static Dim foldMin(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.min(a, b); }
static Dim foldMax(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.max(a, b); }

static std::optional<SmallVector<Dim>> foldElements(ShapeContext &ctx, Fold fold, bool reduces) {
  const ShapeInfo &in = ctx.in(0);
  if (!fold || !in.elements || in.elements->empty() || !in.elementType.isInteger(64))
    return std::nullopt;
  if (!reduces || in.rank() == 0)
    return in.elements;
  Dim value = in.elements->front();
  for (Dim d : llvm::drop_begin(*in.elements))
    value = fold(ctx, value, d);
  return SmallVector<Dim>{value};
}

template <Fold fold> static LogicalResult inferReduce(ShapeContext &ctx) {
  bool keep = ctx.intAttr("keepdims", 1);
  Type element = ctx.resultElement(0);
  std::optional<SmallVector<int64_t>> given = ctx.constElements(1);
  if (!ctx.has(1))
    given = SmallVector<int64_t>();
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  int64_t rank = ctx.rank(0);
  if (!given) {
    // Which axes is a run-time matter; how many may be known.
    auto count = ctx.elements(1);
    if (keep)
      return ctx.setRank(0, element, rank);
    if (count && !count->empty() && int64_t(count->size()) <= rank)
      return ctx.setRank(0, element, rank - count->size());
    return ctx.setUnranked(0, element);
  }
  auto axes = ctx.axes(*given, rank);
  if (failed(axes))
    return failure();
  if (axes->empty() && !ctx.intAttr("noop_with_empty_axes", 0))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<Dim> dims;
  for (auto [i, d] : llvm::enumerate(ctx.dims(0))) {
    if (!llvm::is_contained(*axes, int64_t(i)))
      dims.push_back(d);
    else if (keep)
      dims.push_back(ctx.constant(1));
  }
  return ctx.set(0, element, dims, foldElements(ctx, fold, !axes->empty()));
}

static LogicalResult inferArg(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), std::max<int64_t>(ctx.rank(0), 1));
  if (failed(axis))
    return failure();
  SmallVector<Dim> dims = ctx.dims(0);
  if (!dims.empty()) {
    if (dims[*axis]->isConst(0))
      return ctx.error("looks for an element along axis " + Twine(*axis) + " of " + ctx.str(dims) + ", which has none");
    if (ctx.intAttr("keepdims", 1))
      dims[*axis] = ctx.constant(1);
    else
      dims.erase(dims.begin() + *axis);
  }
  return ctx.set(0, element, dims);
}

void optc::registerReductionShapes(ShapeFnTable &t) {
  add(t, {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceSumSquare"},
      inferReduce<nullptr>);
  add(t, {"ReduceSum"}, inferReduce<foldSum>);
  add(t, {"ReduceProd"}, inferReduce<foldProd>);
  add(t, {"ReduceMin"}, inferReduce<foldMin>);
  add(t, {"ReduceMax"}, inferReduce<foldMax>);
  add(t, {"ArgMax", "ArgMin"}, inferArg);
}
