//===- RowNormalize.cpp - an operator outside of optc's tree ----------------===//
//
// com.example.RowNormalize, since version 2:
//   Y = X / sqrt(mean(X * X along the last axis) + epsilon) * (scale + unit_offset)
//===----------------------------------------------------------------------===//
#include "RowNormalize.h"
#include "optc/compiler/PluginApi.h"

using namespace mlir;
using namespace optc;

/// Y has the shape of X, which has rows; the scale has one element per column.
static LogicalResult rowShapes(ShapeContext &ctx) {
  if (failed(ctx.expectRank(1, 1)))
    return failure();
  if (!ctx.ranked(0))
    return ctx.setUnranked(0);
  if (ctx.rank(0) < 1)
    return ctx.error("needs an input of rank 1 or more");
  if (ctx.ranked(1) && ShapeContext::differ(ctx.dims(0).back(), ctx.dims(1)[0]))
    return ctx.error("has rows of the shape " + ctx.str(ctx.dims(0)) + " and a scale of the shape " +
                     ctx.str(ctx.dims(1)));
  return ctx.set(0, ctx.dims(0));
}

static void registerAll(PluginRegistrar &registrar) {
  constexpr int32_t kFloat = 1; // TensorProto.FLOAT
  onnx::CustomOperator op;
  op.domain = "com.example";
  op.name = "RowNormalize";
  op.sinceVersion = 2;
  op.inputs = {{"X", {kFloat}, 0}, {"scale", {kFloat}, 0}};
  op.outputs = {{"Y", {kFloat}, 0}};
  op.attributes = {{"epsilon", onnx::AttrKind::Float, /*required=*/false, {}, {1e-5f}},
                   {"unit_offset", onnx::AttrKind::Int, /*required=*/false, {0}, {}}};
  op.inferShapes = rowShapes;
  op.kernel = "example_row_normalize";
  op.tileDims = -1; // tiles are rows
  op.tileSize = TILE_ROWS;
  registrar.addOperator(std::move(op));
  registrar.addKernels(OPTC_PLUGIN_KERNELS);
}

OPTC_PLUGIN("row-normalize", "1.0", registerAll)
