//===- Sequence.cpp - types of sequences and optionals ---------------------===//
//
// A sequence type has one tensor type for all its elements: static sizes where all elements agree, unranked where their
// ranks differ.
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// The most specific type of both; null when the element types differ.
static Type unify(Type a, Type b) {
  if (a == b)
    return a;
  auto ta = dyn_cast_or_null<TensorType>(a), tb = dyn_cast_or_null<TensorType>(b);
  if (!ta || !tb || ta.getElementType() != tb.getElementType())
    return Type();
  if (!ta.hasRank() || !tb.hasRank() || ta.getRank() != tb.getRank())
    return UnrankedTensorType::get(ta.getElementType());
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(ta.getShape(), tb.getShape()))
    shape.push_back(x == y ? x : ShapedType::kDynamic);
  return RankedTensorType::get(shape, ta.getElementType());
}

static Type typeOf(ShapeContext &ctx, unsigned i) { return ShapeTable::typeOf(ctx.in(i)); }

/// The element type of the sequence input `i`; an error when it is none.
static FailureOr<Type> elementOf(ShapeContext &ctx, unsigned i) {
  Type type = typeOf(ctx, i);
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return seq.getElementType();
  return ctx.error("input " + Twine(i) + " is no sequence");
}

static LogicalResult inferConstruct(ShapeContext &ctx) {
  Type element;
  for (unsigned i = 0, e = ctx.op->getNumOperands(); i < e; ++i) {
    element = i ? unify(element, typeOf(ctx, i)) : typeOf(ctx, i);
    if (!element)
      return ctx.error("the inputs have different element types");
  }
  if (!element)
    return ctx.error("needs at least one input");
  return ctx.setType(0, onnx::SeqType::get(ctx.op->getContext(), element));
}

static LogicalResult inferEmpty(ShapeContext &ctx) {
  Type element = onnx::elementTypeOf(ctx.op->getContext(), ctx.intAttr("dtype", 1));
  if (!element)
    return ctx.error("dtype = " + Twine(ctx.intAttr("dtype", 1)) + " is not an ONNX data type");
  return ctx.setType(0, onnx::SeqType::get(ctx.op->getContext(), UnrankedTensorType::get(element)));
}

static LogicalResult inferInsert(ShapeContext &ctx) {
  FailureOr<Type> element = elementOf(ctx, 0);
  if (failed(element))
    return failure();
  Type both = unify(*element, typeOf(ctx, 1));
  if (!both)
    return ctx.error("the sequence and the tensor have different element types");
  return ctx.setType(0, onnx::SeqType::get(ctx.op->getContext(), both));
}

static LogicalResult inferErase(ShapeContext &ctx) {
  return failed(elementOf(ctx, 0)) ? failure() : ctx.setType(0, typeOf(ctx, 0));
}

/// Result 0 is what a sequence or an optional holds.
static LogicalResult setElement(ShapeContext &ctx, Type type) {
  auto tensor = dyn_cast<UnrankedTensorType>(type);
  return tensor ? ctx.setDemanded(0, tensor.getElementType()) : ctx.setType(0, type);
}

static LogicalResult inferAt(ShapeContext &ctx) {
  FailureOr<Type> element = elementOf(ctx, 0);
  return failed(element) ? failure() : setElement(ctx, *element);
}

static LogicalResult inferLength(ShapeContext &ctx) { return ctx.set(0, ctx.resultElement(0), {}); }

static LogicalResult inferConcatFromSequence(ShapeContext &ctx) {
  FailureOr<Type> element = elementOf(ctx, 0);
  if (failed(element))
    return failure();
  auto tensor = dyn_cast<TensorType>(*element);
  if (!tensor)
    return ctx.error("input 0 is no sequence of tensors");
  if (!tensor.hasRank() || !ctx.hasResult(0))
    return ctx.setDemanded(0, tensor.getElementType());
  bool stack = ctx.intAttr("new_axis", 0);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), tensor.getRank() + stack);
  if (failed(axis))
    return failure();
  SmallVector<int64_t> shape(tensor.getShape());
  if (stack)
    shape.insert(shape.begin() + *axis, ShapedType::kDynamic);
  else
    shape[*axis] = ShapedType::kDynamic;
  return ctx.setType(0, RankedTensorType::get(shape, tensor.getElementType()));
}

static LogicalResult inferSplitToSequence(ShapeContext &ctx) {
  Type element = ctx.elementType(0);
  auto sequence = [&](Type type) { return ctx.setType(0, onnx::SeqType::get(ctx.op->getContext(), type)); };
  if (!ctx.ranked(0))
    return sequence(UnrankedTensorType::get(element));
  SmallVector<int64_t> shape;
  for (Dim d : ctx.dims(0))
    shape.push_back(d->isConst() ? d->value : ShapedType::kDynamic);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), shape.size());
  if (failed(axis))
    return failure();
  int64_t &size = shape[*axis];
  if (!ctx.has(1)) {
    if (ctx.intAttr("keepdims", 1))
      size = 1;
    else
      shape.erase(shape.begin() + *axis);
  } else if (auto split = ctx.constElements(1)) {
    // A scalar is the size of the parts, a vector has all sizes.
    bool scalar = ctx.ranked(1) && ctx.rank(1) == 0;
    if (llvm::any_of(*split, [&](int64_t s) { return s < 0 || (scalar && s == 0); }))
      return ctx.error("split has the entry " +
                       Twine(llvm::count_if(*split, [](int64_t s) { return s < 0; }) ? -1 : 0));
    bool even = scalar ? size >= 0 && size % split->front() == 0 : llvm::all_equal(*split);
    size = even && !split->empty() ? split->front() : ShapedType::kDynamic;
  } else {
    size = ShapedType::kDynamic;
  }
  return sequence(RankedTensorType::get(shape, element));
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult inferOptional(ShapeContext &ctx) {
  Type type;
  if (ctx.has(0))
    type = typeOf(ctx, 0);
  else if (auto attr = ctx.op->getAttrOfType<TypeAttr>("type"))
    type = attr.getValue();
  if (!type)
    return ctx.error("has neither an input nor the attribute type");
  if (isa<onnx::OptType>(type))
    return ctx.setType(0, type);
  if (!isa<TensorType, onnx::SeqType>(type))
    return ctx.error("holds neither a tensor nor a sequence");
  return ctx.setType(0, onnx::OptType::get(ctx.op->getContext(), type));
}

static LogicalResult inferHasElement(ShapeContext &ctx) {
  Type boolean = IntegerType::get(ctx.op->getContext(), 1);
  // Absent or not optional: known at compile time.
  std::optional<SmallVector<Dim>> elements;
  if (!ctx.has(0) || !isa<onnx::OptType>(typeOf(ctx, 0)))
    elements = SmallVector<Dim>{ctx.constant(ctx.has(0))};
  return ctx.set(0, boolean, {}, std::move(elements));
}

static LogicalResult inferGetElement(ShapeContext &ctx) {
  if (auto opt = dyn_cast<onnx::OptType>(typeOf(ctx, 0)))
    return setElement(ctx, opt.getElementType());
  return ctx.setInfo(0, ctx.in(0));
}

void optc::registerSequenceShapes(ShapeFnTable &t) {
  add(t, {"SequenceConstruct"}, inferConstruct);
  add(t, {"SequenceEmpty"}, inferEmpty);
  add(t, {"SequenceInsert"}, inferInsert);
  add(t, {"SequenceErase"}, inferErase);
  add(t, {"SequenceAt"}, inferAt);
  add(t, {"SequenceLength"}, inferLength);
  add(t, {"ConcatFromSequence"}, inferConcatFromSequence);
  add(t, {"SplitToSequence"}, inferSplitToSequence);
  add(t, {"Optional"}, inferOptional);
  add(t, {"OptionalHasElement"}, inferHasElement);
  add(t, {"OptionalGetElement"}, inferGetElement);
}
