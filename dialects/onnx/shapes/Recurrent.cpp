//===- Recurrent.cpp - shapes of RNN, GRU and LSTM -------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

LogicalResult optc::inferRecurrent(ShapeContext &ctx) {
  for (unsigned i : {0, 1, 2})
    if (failed(ctx.expectRank(i, 3)))
      return failure();
  StringRef direction = ctx.strAttr("direction", "forward");
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, direction))
    return ctx.error("direction = '" + direction + "' is none of forward, reverse, bidirectional");
  int64_t layout = ctx.intAttr("layout", 0), hiddenAttr = ctx.intAttr("hidden_size", 0);
  if (layout != 0 && layout != 1)
    return ctx.error("layout = " + Twine(layout) + " must be 0 or 1");
  // The quantized LSTM has transposed weights.
  int64_t hiddenAxis = ctx.info->domain.empty() ? 2 : 1;
  Dim directions = ctx.constant(direction == "bidirectional" ? 2 : 1);
  if (ctx.ranked(2) && ShapeContext::differ(ctx.dims(2)[0], directions))
    return ctx.error("the weight R of shape " + ctx.str(ctx.dims(2)) + " does not fit direction = " + direction);
  for (unsigned i = 0; i < 3; ++i) {
    if (!ctx.hasResult(i))
      continue;
    bool sequence = i == 0;
    auto at = [&](int64_t axis) { return ctx.leaf(i, axis); };
    int64_t batchAt = layout ? 0 : sequence ? 2 : 1;
    Dim length = ctx.ranked(0) ? ctx.dims(0)[layout] : sequence ? at(layout) : nullptr;
    Dim batch = ctx.ranked(0) ? ctx.dims(0)[1 - layout] : at(batchAt);
    Dim hidden = ctx.ranked(2)    ? ctx.dims(2)[hiddenAxis]
                 : hiddenAttr > 0 ? ctx.constant(hiddenAttr)
                                  : at(sequence ? 3 : 2);
    SmallVector<Dim> dims;
    if (sequence)
      dims = layout ? SmallVector<Dim>{batch, length, directions, hidden}
                    : SmallVector<Dim>{length, directions, batch, hidden};
    else
      dims = layout ? SmallVector<Dim>{batch, directions, hidden} : SmallVector<Dim>{directions, batch, hidden};
    if (failed(ctx.set(i, dims)))
      return failure();
  }
  return success();
}

void optc::registerRecurrentShapes(ShapeFnTable &t) {
  add(t, {"RNN", "GRU", "LSTM", "ms.DynamicQuantizeLSTM"}, inferRecurrent);
}
