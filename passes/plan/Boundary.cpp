//===- Boundary.cpp - elements as a caller would hand them over -----------===//
#include "optc/passes/plan/Boundary.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace optc;

/// The bits of every element, for types of less than a byte.
static SmallVector<uint8_t> codes(DenseElementsAttr dense) {
  SmallVector<uint8_t> all;
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &v : dense.getValues<APFloat>())
      all.push_back(v.bitcastToAPInt().getZExtValue());
  else
    for (const APInt &v : dense.getValues<APInt>())
      all.push_back(v.getZExtValue());
  return all;
}

ElementsAttr optc::boundaryBytes(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  Type elem = type.getElementType();
  auto bytesType = [&](int64_t count) {
    return RankedTensorType::get({std::max<int64_t>(count, 1)}, IntegerType::get(value.getContext(), 8));
  };
  int64_t count = type.getNumElements(), bits = 8;
  if (auto complex = dyn_cast<ComplexType>(elem))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (!elem.isInteger(1))
    bits = elem.getIntOrFloatBitWidth();
  int64_t size = llvm::divideCeil(count * bits, 8);
  // Resources are in this form already.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value); resource && count)
    return DenseResourceElementsAttr::get(bytesType(size), resource.getRawHandle());

  SmallVector<char> bytes(std::max<int64_t>(size, 1), 0);
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && count && (bits < 8 || elem.isInteger(1))) {
    int64_t perByte = 8 / bits;
    for (auto [i, code] : llvm::enumerate(codes(dense)))
      bytes[i / perByte] |= static_cast<char>(code << (i % perByte * bits));
  } else if (dense && count) {
    ArrayRef<char> raw = dense.getRawData(); // one element of a splat
    for (int64_t at = 0; at < size; at += raw.size())
      llvm::copy(raw, bytes.begin() + at);
  }
  return DenseElementsAttr::getFromRawBuffer(bytesType(size), bytes);
}
