//===- Quant.cpp - shapes of quantization ----------------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// The type of output_dtype, when given.
static FailureOr<Type> outputType(ShapeContext &ctx, Type fallback) {
  int64_t number = ctx.intAttr("output_dtype", 0);
  if (number == 0)
    return fallback;
  Type type = onnx::elementTypeOf(ctx.op->getContext(), number);
  if (!type)
    return ctx.error("output_dtype = " + Twine(number) + " is not an ONNX data type");
  return type;
}

static LogicalResult quantize(ShapeContext &ctx, Type fallback) {
  FailureOr<Type> element = outputType(ctx, fallback);
  if (failed(element))
    return failure();
  return ctx.ranked(0) ? ctx.set(0, *element, ctx.dims(0)) : ctx.setUnranked(0, *element);
}

static LogicalResult inferQuantize(ShapeContext &ctx) {
  Type uint8 = IntegerType::get(ctx.op->getContext(), 8, IntegerType::Unsigned);
  return quantize(ctx, ctx.has(2) ? ctx.elementType(2) : uint8);
}

static LogicalResult inferDequantize(ShapeContext &ctx) { return quantize(ctx, ctx.elementType(1)); }

static LogicalResult inferDynamicQuantize(ShapeContext &ctx) {
  if (failed(ctx.ranked(0) ? ctx.set(0, ctx.dims(0)) : ctx.setUnranked(0)))
    return failure();
  return success(succeeded(ctx.set(1, ctx.resultElement(1), {})) && succeeded(ctx.set(2, ctx.resultElement(2), {})));
}

void optc::registerQuantShapes(ShapeFnTable &t) {
  add(t, {"QuantizeLinear"}, inferQuantize);
  add(t, {"DequantizeLinear"}, inferDequantize);
  add(t, {"DynamicQuantizeLinear"}, inferDynamicQuantize);
}
