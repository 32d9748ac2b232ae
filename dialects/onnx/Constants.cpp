//===- Constants.cpp - weights of a model, read and made ------------------===//
#include "optc/dialects/onnx/Constants.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Onnx.h"

using namespace mlir;
using namespace optc;

/// The value of a constant of float32 with as many bytes as it needs, null for others.
static ElementsAttr floatElements(Value value) {
  auto constant = value ? value.getDefiningOp<onnx::ConstantOp>() : onnx::ConstantOp();
  if (!constant || !constant.getValue().getElementType().isF32())
    return {};
  ElementsAttr elements = constant.getValue();
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return isa<DenseElementsAttr>(elements) ? elements : ElementsAttr();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  return blob && blob->getData().size() == size_t(elements.getNumElements()) * sizeof(float) ? elements
                                                                                             : ElementsAttr();
}

bool onnx::isFloatConstant(Value value) { return bool(floatElements(value)); }

std::optional<std::vector<float>> onnx::floatsOf(Value value) {
  ElementsAttr elements = floatElements(value);
  if (!elements)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return std::vector<float>(dense.value_begin<float>(), dense.value_end<float>());
  ArrayRef<char> bytes = cast<DenseResourceElementsAttr>(elements).getRawHandle().getBlob()->getData();
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) // at any address: it is a mapped file
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Value onnx::makeConstant(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<char> bytes) {
  ElementsAttr value = onnx::elementsAttr(
      type, bytes, [&] { return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64, /*dataIsMutable=*/false); });
  return onnx::ConstantOp::create(b, loc, value);
}
