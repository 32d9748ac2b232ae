//===- Constants.cpp - weights of a model, read and made ------------------===//
#include "optc/dialects/onnx/Constants.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Onnx.h"

using namespace mlir;
using namespace optc;

onnx::ConstantBytes::ConstantBytes(ElementsAttr value) {
  tensor = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  Type element = tensor ? tensor.getElementType() : Type();
  if (!element || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return;
  width = element.getIntOrFloatBitWidth() / 8;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return;
    data = blob->getData();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    data = dense.getRawData();
    if (dense.isSplat() && tensor.getNumElements() != 1) {
      owned.resize(tensor.getNumElements() * width);
      for (size_t i = 0; i < owned.size(); i += width)
        std::memcpy(owned.data() + i, data.data(), width);
      data = owned;
    }
  } else {
    return;
  }
  good = data.size() == onnx::rawBytes(tensor);
}

static ElementsAttr elementsOf(Value value) {
  auto constant = value ? value.getDefiningOp<onnx::ConstantOp>() : onnx::ConstantOp();
  return constant ? constant.getValue() : ElementsAttr();
}

onnx::ConstantBytes::ConstantBytes(Value value) : ConstantBytes(elementsOf(value)) {}

bool onnx::isFloatConstant(Value value) {
  ElementsAttr elements = elementsOf(value);
  return elements && elements.getElementType().isF32() && ConstantBytes(elements);
}

std::optional<std::vector<float>> onnx::floatsOf(Value value) {
  ConstantBytes constant(value);
  if (!constant || !constant.type().getElementType().isF32())
    return std::nullopt;
  std::vector<float> values(constant.bytes().size() / sizeof(float));
  if (!values.empty()) // at any address: it is a mapped file
    std::memcpy(values.data(), constant.bytes().data(), constant.bytes().size());
  return values;
}

ElementsAttr onnx::makeElements(RankedTensorType type, function_ref<void(MutableArrayRef<char>)> fill) {
  uint64_t size = onnx::rawBytes(type);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(std::max<uint64_t>(size, 1), 64, /*dataIsMutable=*/true);
  MutableArrayRef<char> bytes = blob.getMutableData().take_front(size);
  fill(bytes);
  return onnx::elementsAttr(type, bytes, [&] { return std::move(blob); });
}

Value onnx::makeConstant(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<char> bytes) {
  ElementsAttr value = onnx::elementsAttr(
      type, bytes, [&] { return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64, /*dataIsMutable=*/false); });
  return onnx::ConstantOp::create(b, loc, value);
}
