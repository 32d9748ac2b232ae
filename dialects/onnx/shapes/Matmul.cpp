//===- Matmul.cpp - shapes of contractions ---------------------------------===//
#include "optc/dialects/onnx/Einsum.h"
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

LogicalResult optc::inferMatMul(ShapeContext &ctx, unsigned ai, unsigned bi, Type element) {
  if (!ctx.ranked(ai) || !ctx.ranked(bi))
    return ctx.setUnranked(0, element);
  ArrayRef<Dim> a = ctx.dims(ai), b = ctx.dims(bi);
  if (a.empty() || b.empty())
    return ctx.error("cannot multiply " + ctx.str(a) + " and " + ctx.str(b) + ": a scalar is not a matrix");
  Dim ka = a.back(), kb = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (ShapeContext::differ(ka, kb))
    return ctx.error("cannot multiply " + ctx.str(a) + " and " + ctx.str(b) + ": the inner sizes differ");
  auto batch = ctx.broadcast(a.drop_back(std::min<size_t>(2, a.size())), b.drop_back(std::min<size_t>(2, b.size())));
  if (failed(batch))
    return failure();
  SmallVector<Dim> dims = std::move(*batch);
  if (a.size() > 1)
    dims.push_back(a[a.size() - 2]);
  if (b.size() > 1)
    dims.push_back(b.back());
  return ctx.set(0, element, dims);
}

template <unsigned a, unsigned b> static LogicalResult matmul(ShapeContext &ctx) {
  return inferMatMul(ctx, a, b, ctx.resultElement(0));
}

static LogicalResult inferGemm(ShapeContext &ctx) {
  for (unsigned i : {0, 1})
    if (failed(ctx.expectRank(i, 2)))
      return failure();
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return ctx.setRank(0, element, 2);
  ArrayRef<Dim> a = ctx.dims(0), b = ctx.dims(1);
  bool ta = ctx.intAttr("transA", 0), tb = ctx.intAttr("transB", 0);
  if (ShapeContext::differ(a[ta ? 0 : 1], b[tb ? 1 : 0]))
    return ctx.error("cannot multiply " + ctx.str(a) + (ta ? " (transposed)" : "") + " and " + ctx.str(b) +
                     (tb ? " (transposed)" : "") + ": the inner sizes differ");
  SmallVector<Dim> dims = {a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (ctx.ranked(2)) {
    auto sum = ctx.broadcast(ctx.dims(2), dims);
    if (failed(sum))
      return failure();
    for (auto [d, s] : llvm::zip(dims, llvm::ArrayRef(*sum).take_back(2)))
      if (sum->size() > 2 || ShapeContext::differ(d, s))
        return ctx.error("C of shape " + ctx.str(ctx.dims(2)) + " does not broadcast to " + ctx.str(dims));
  }
  return ctx.set(0, element, dims);
}

static LogicalResult inferEinsum(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  unsigned count = ctx.op->getNumOperands();
  SmallVector<int64_t> ranks;
  for (unsigned i = 0; i < count; ++i) {
    if (!ctx.ranked(i))
      return ctx.setUnranked(0, element);
    ranks.push_back(ctx.rank(i));
  }
  auto equation = parseEinsum(ctx.strAttr("equation"), ranks);
  if (!equation)
    return ctx.error(llvm::toString(equation.takeError()));
  SmallVector<Dim> sizes(equation->numLabels, ctx.constant(1));
  for (unsigned i = 0; i < count; ++i)
    for (auto [label, d] : llvm::zip(equation->inputs[i], ctx.dims(i))) {
      Dim next = ctx.table.broadcast(sizes[label], d);
      // Two symbols of one label are equal; only the ellipsis broadcasts them.
      if (next && next->kind == DimKind::Broadcast && label >= equation->numEllipsis)
        next = sizes[label];
      if (!next)
        return ctx.error("the sizes " + ctx.str({sizes[label], d}) + " of one label of the equation '" +
                         ctx.strAttr("equation") + "' differ");
      sizes[label] = next;
    }
  SmallVector<Dim> dims;
  for (unsigned label : equation->output)
    dims.push_back(sizes[label]);
  return ctx.set(0, element, dims);
}

void optc::registerMatmulShapes(ShapeFnTable &t) {
  add(t, {"MatMul", "MatMulInteger"}, matmul<0, 1>);
  add(t, {"QLinearMatMul"}, matmul<0, 3>);
  add(t, {"Gemm"}, inferGemm);
  add(t, {"Einsum"}, inferEinsum);
}
