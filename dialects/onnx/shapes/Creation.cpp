//===- Creation.cpp - shapes of constants, shapes, ranges, random numbers --===//
#include "optc/dialects/onnx/shapes/Shapes.h"
#include <cmath>

using namespace mlir;
using namespace optc;

/// Integers of a small dense attribute.
static std::optional<SmallVector<Dim>> attrElements(ShapeContext &ctx, Attribute value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!dense || !isa<IntegerType>(dense.getElementType()) || dense.getNumElements() > maxTrackedElements)
    return std::nullopt;
  SmallVector<Dim> elements;
  bool isSigned = !dense.getElementType().isUnsignedInteger() && !dense.getElementType().isInteger(1);
  for (APInt v : dense.getValues<APInt>()) {
    if (!isSigned && v.getActiveBits() > 63)
      return std::nullopt;
    elements.push_back(ctx.constant(isSigned ? v.getSExtValue() : int64_t(v.getZExtValue())));
  }
  return elements;
}

static LogicalResult inferConstant(ShapeContext &ctx) {
  auto value = ctx.op->getAttrOfType<ElementsAttr>("value");
  if (!value)
    return ctx.error("has no value");
  auto type = cast<ShapedType>(value.getType());
  return ctx.setRowMajor(0, type.getElementType(), ctx.constants(type.getShape()), attrElements(ctx, value));
}

static LogicalResult inferShapeOp(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setRank(0, element, 1);
  ArrayRef<Dim> dims = ctx.dims(0);
  int64_t rank = dims.size();
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = clamp(ctx.intAttr("start", 0)), end = clamp(ctx.intAttr("end", rank));
  SmallVector<Dim> elements(start < end ? dims.slice(start, end - start) : ArrayRef<Dim>());
  return ctx.set(0, element, {ctx.constant(elements.size())}, elements);
}

static LogicalResult inferSize(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.set(0, element, {});
  return ctx.set(0, element, {}, SmallVector<Dim>{ctx.table.numElements(ctx.dims(0))});
}

static LogicalResult inferConstantOfShape(ShapeContext &ctx) {
  auto value = ctx.op->getAttrOfType<ElementsAttr>("value");
  Type element =
      value ? cast<ShapedType>(value.getType()).getElementType() : Type(Float32Type::get(ctx.op->getContext()));
  if (failed(ctx.expectRank(0, 1)))
    return failure();
  auto shape = ctx.elements(0);
  if (!shape)
    return ctx.setUnranked(0, element);
  std::optional<SmallVector<Dim>> elements;
  auto one = attrElements(ctx, value);
  if (shape->size() <= 1 && one && one->size() == 1 && (shape->empty() || (*shape)[0]->isConst())) {
    int64_t count = shape->empty() ? 1 : (*shape)[0]->value;
    if (count >= 0 && count <= maxTrackedElements)
      elements = SmallVector<Dim>(count, one->front());
  }
  return ctx.set(0, element, *shape, std::move(elements));
}

static LogicalResult inferRange(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto first = [](auto values) {
    return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
  };
  if (isa_and_nonnull<IntegerType>(element)) {
    auto start = first(ctx.elements(0)), limit = first(ctx.elements(1)), delta = first(ctx.elements(2));
    if (!start || !limit || !delta || !(*delta)->isConst())
      return ctx.setRank(0, element, 1);
    int64_t step = (*delta)->value;
    if (step == 0)
      return ctx.error("delta is 0");
    ShapeTable &t = ctx.table;
    Dim span = step > 0 ? t.sub(*limit, *start) : t.sub(*start, *limit);
    if (step == std::numeric_limits<int64_t>::min())
      return ctx.setRank(0, element, 1);
    Dim count = t.max(t.ceilDiv(span, std::abs(step)), ctx.constant(0));
    std::optional<SmallVector<Dim>> elements;
    if (count->isConst() && count->value <= maxTrackedElements) {
      elements.emplace();
      for (int64_t i = 0; i < count->value; ++i)
        elements->push_back(t.add(*start, t.mul(*delta, i)));
    }
    return ctx.set(0, element, {count}, std::move(elements));
  }
  auto start = first(ctx.constFloats(0)), limit = first(ctx.constFloats(1)), delta = first(ctx.constFloats(2));
  if (!start || !limit || !delta)
    return ctx.setRank(0, element, 1);
  double count = std::ceil((*limit - *start) / *delta);
  if (!(count < 1e15))
    return ctx.error("start, limit and delta give no finite number of elements");
  return ctx.set(0, element, {ctx.constant(std::max<int64_t>(int64_t(std::max(count, 0.0)), 0))});
}

/// The element type of the attribute dtype, or `fallback`.
static FailureOr<Type> dtype(ShapeContext &ctx, StringRef name, Type fallback) {
  if (!ctx.hasAttr(name))
    return fallback;
  int64_t number = ctx.intAttr(name, 0);
  Type type = onnx::elementTypeOf(ctx.op->getContext(), number);
  if (!type)
    return ctx.error(name + " = " + Twine(number) + " is not an ONNX data type");
  return type;
}

static LogicalResult inferRandom(ShapeContext &ctx) {
  FailureOr<Type> element = dtype(ctx, "dtype", Float32Type::get(ctx.op->getContext()));
  auto shape = ctx.intsAttr("shape");
  return failed(element) ? failure() : ctx.set(0, *element, ctx.constants(shape ? *shape : SmallVector<int64_t>()));
}

/// The shape of input 0, and the type of dtype or of input 0.
static LogicalResult inferLike(ShapeContext &ctx) {
  FailureOr<Type> element = dtype(ctx, "dtype", ctx.elementType(0));
  if (failed(element))
    return failure();
  return ctx.ranked(0) ? ctx.set(0, *element, ctx.dims(0)) : ctx.setUnranked(0, *element);
}

static LogicalResult inferEyeLike(ShapeContext &ctx) {
  return failed(ctx.expectRank(0, 2)) ? failure() : inferLike(ctx);
}

static LogicalResult inferMultinomial(ShapeContext &ctx) {
  FailureOr<Type> element = dtype(ctx, "dtype", IntegerType::get(ctx.op->getContext(), 32));
  if (failed(element) || failed(ctx.expectRank(0, 2)))
    return failure();
  Dim batch = ctx.ranked(0) ? ctx.dims(0)[0] : ctx.leaf(0, 0);
  return ctx.set(0, *element, {batch, ctx.constant(ctx.intAttr("sample_size", 1))});
}

/// HannWindow and its like: one size.
static LogicalResult inferWindow(ShapeContext &ctx) {
  FailureOr<Type> element = dtype(ctx, "output_datatype", Float32Type::get(ctx.op->getContext()));
  if (failed(element))
    return failure();
  auto size = ctx.elements(0);
  return size && size->size() == 1 ? ctx.set(0, *element, *size) : ctx.setRank(0, *element, 1);
}

static LogicalResult inferMelWeightMatrix(ShapeContext &ctx) {
  FailureOr<Type> element = dtype(ctx, "output_datatype", Float32Type::get(ctx.op->getContext()));
  if (failed(element))
    return failure();
  auto bins = ctx.elements(0), length = ctx.elements(1);
  if (!bins || !length || bins->size() != 1 || length->size() != 1)
    return ctx.setRank(0, *element, 2);
  return ctx.set(0, *element, {ctx.table.add(ctx.table.floorDiv(length->front(), 2), 1), bins->front()});
}

void optc::registerCreationShapes(ShapeFnTable &t) {
  add(t, {"Constant"}, inferConstant);
  add(t, {"Shape"}, inferShapeOp);
  add(t, {"Size"}, inferSize);
  add(t, {"ConstantOfShape"}, inferConstantOfShape);
  add(t, {"Range"}, inferRange);
  add(t, {"RandomNormal", "RandomUniform"}, inferRandom);
  add(t, {"RandomNormalLike", "RandomUniformLike", "Bernoulli"}, inferLike);
  add(t, {"EyeLike"}, inferEyeLike);
  add(t, {"Multinomial"}, inferMultinomial);
  add(t, {"HannWindow", "HammingWindow", "BlackmanWindow"}, inferWindow);
  add(t, {"MelWeightMatrix"}, inferMelWeightMatrix);
}
