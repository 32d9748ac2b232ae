//===- Raise.cpp - operators as compositions of others --------------------===//
#include "optc/passes/graph/Raise.h"
#include "optc/dialects/onnx/Types.h"

using namespace mlir;
using namespace optc;

SmallVector<NamedAttribute> Raise::kept(ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> all;
  for (StringRef name : names)
    if (Attribute value = op->getAttr(name))
      all.push_back(b.getNamedAttr(name, value));
  return all;
}

Value Raise::scalar(int64_t value) {
  return onnx::ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, i64()), value));
}

Value Raise::vector(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, i64());
  return onnx::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}

Value Raise::cast(Value v, Type element) {
  return elementOf(v) == element ? v : make("Cast", {v}, element, integer("to", onnx::dataTypeOf(element)));
}

SmallVector<Value> Raise::split(Value v, int64_t axis, int64_t parts) {
  SmallVector<Type> types(parts, unranked(elementOf(v)));
  Operation *made = onnx::createOp(b, loc, "Split", {v}, types, {integer("axis", axis), integer("num_outputs", parts)});
  return llvm::to_vector_of<Value>(made->getResults());
}

SmallVector<Value> Raise::split(Value v, int64_t axis, ArrayRef<int64_t> sizes) {
  SmallVector<Type> types(sizes.size(), unranked(elementOf(v)));
  Operation *made = onnx::createOp(b, loc, "Split", {v, vector(sizes)}, types, integer("axis", axis));
  return llvm::to_vector_of<Value>(made->getResults());
}

Value Raise::sizeOf(Value v, int64_t axis) {
  return make("Shape", {v}, i64(), {integer("start", axis), integer("end", axis + 1)});
}

Value Raise::below(Value size) { return make("Range", {scalar(0), squeezed(size, {0}), scalar(1)}, i64()); }

Value Raise::zeros(Value shape, Type element) {
  auto type = RankedTensorType::get({1}, element);
  Attribute zero = b.getZeroAttr(type);
  return make("ConstantOfShape", {shape}, element, b.getNamedAttr("value", zero));
}

Value Raise::quantized(Value real, Value scale, Value zero) {
  Type element = elementOf(op->getResult(0));
  SmallVector<NamedAttribute> attributes;
  if (!zero)
    attributes.push_back(integer("output_dtype", onnx::dataTypeOf(element)));
  return make("QuantizeLinear", {real, scale, zero}, element, attributes);
}

std::array<Value, 3> Raise::quantizedDynamically(Value real) {
  Type u8 = b.getIntegerType(8, /*isSigned=*/false);
  Operation *made = onnx::createOp(b, loc, "DynamicQuantizeLinear", {real},
                                   {unranked(u8), RankedTensorType::get({}, f32()), RankedTensorType::get({}, u8)});
  return {made->getResult(0), made->getResult(1), made->getResult(2)};
}
