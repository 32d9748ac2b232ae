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

static bool isScalar(ArrayRef<Dim> dims) { return dims.empty() || (dims.size() == 1 && dims[0]->isConst(1)); }

/// Whether scale and zero point are scalars, hold one element per index of the axis, or one per block.
static LogicalResult expectScales(ShapeContext &ctx) {
  if (!ctx.ranked(0) || !ctx.ranked(1))
    return success();
  ArrayRef<Dim> x = ctx.dims(0);
  int64_t rank = x.size(), block = ctx.intAttr("block_size", 0);
  bool blocked = block > 0 && ctx.rank(1) == rank && rank > 0;
  for (unsigned i : {1, 2}) {
    if (!ctx.ranked(i) || isScalar(ctx.dims(i)) || (ctx.rank(i) > 1 && !blocked))
      continue; // other ranks have no lowering
    ArrayRef<Dim> dims = ctx.dims(i);
    // A vector has one axis only, whatever the default says.
    FailureOr<int64_t> axis = rank == 1 ? FailureOr<int64_t>(0) : ctx.axis(ctx.intAttr("axis", 1), rank);
    if (failed(axis))
      return failure();
    SmallVector<Dim> wanted(x);
    if (blocked)
      wanted[*axis] = ctx.table.ceilDiv(x[*axis], block);
    else
      wanted = {x[*axis]};
    bool fits = dims.size() == wanted.size() && llvm::none_of(llvm::zip(dims, wanted), [](auto pair) {
                  return std::apply(ShapeContext::differ, pair);
                });
    if (!fits)
      return ctx.error("input " + Twine(i) + " has the shape " + ctx.str(dims) + " and needs [] or " + ctx.str(wanted) +
                       " for the input of shape " + ctx.str(x) + ", axis " + Twine(*axis) +
                       (blocked ? " and blocks of " + Twine(block) : Twine("")));
  }
  return success();
}

static LogicalResult quantize(ShapeContext &ctx, Type fallback) {
  if (failed(expectScales(ctx)))
    return failure();
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

/// Convolutions of integers: scales and zero points of the weights, and the bias, hold one element or one per filter.
template <unsigned weights>
static LogicalResult inferIntegerConv(ShapeContext &ctx, ArrayRef<unsigned> scalars, ArrayRef<unsigned> perFilter,
                                      unsigned bias) {
  auto wrong = [&](unsigned i, const Twine &wanted) {
    return ctx.error("input " + Twine(i) + " has the shape " + ctx.str(ctx.dims(i)) + " and needs " + wanted);
  };
  for (unsigned i : scalars)
    if (ctx.ranked(i) && ctx.rank(i) <= 1 && !isScalar(ctx.dims(i)) && ctx.dims(i)[0]->isConst())
      return wrong(i, "one element");
  for (unsigned i : perFilter) {
    if (!ctx.ranked(weights) || !ctx.ranked(i) || ctx.rank(weights) < 1)
      continue;
    Dim filters = ctx.dims(weights)[0];
    bool fits = ctx.rank(i) == 1 ? !ShapeContext::differ(ctx.dims(i)[0], filters) : i != bias;
    if (!fits && (i == bias || !isScalar(ctx.dims(i))))
      return wrong(i, (i == bias ? "" : "one element, or ") +
                          ("one per filter of the weights of shape " + ctx.str(ctx.dims(weights))));
  }
  return inferConv(ctx, 0, weights, ctx.resultElement(0));
}

static LogicalResult inferQLinearConv(ShapeContext &ctx) {
  return inferIntegerConv<3>(ctx, {1, 2, 6, 7}, {4, 5, 8}, 8);
}

static LogicalResult inferConvInteger(ShapeContext &ctx) { return inferIntegerConv<1>(ctx, {2}, {3}, ~0u); }

static LogicalResult inferDynamicQuantize(ShapeContext &ctx) {
  if (failed(ctx.ranked(0) ? ctx.set(0, ctx.dims(0)) : ctx.setUnranked(0)))
    return failure();
  return success(succeeded(ctx.set(1, ctx.resultElement(1), {})) && succeeded(ctx.set(2, ctx.resultElement(2), {})));
}

void optc::registerQuantShapes(ShapeFnTable &t) {
  add(t, {"QuantizeLinear"}, inferQuantize);
  add(t, {"DequantizeLinear"}, inferDequantize);
  add(t, {"DynamicQuantizeLinear"}, inferDynamicQuantize);
  add(t, {"QLinearConv"}, inferQLinearConv);
  add(t, {"ConvInteger"}, inferConvInteger);
}
