//===- Elements.cpp - bytes of a tensor to the value of a constant --------===//
#include "optc/dialects/onnx/Elements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

/// Larger constants stay out of attributes.
static constexpr uint64_t kDenseBytes = 1024;

static uint64_t elementBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

uint64_t optc::onnx::rawBytes(RankedTensorType type) {
  return llvm::divideCeil(uint64_t(type.getNumElements()) * elementBits(type.getElementType()), uint64_t(8));
}

/// The elements of a small tensor, one per byte where they are smaller than a byte.
static DenseElementsAttr denseOf(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char c : bytes)
      values.push_back(c != 0);
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  uint64_t bits = elementBits(type.getElementType());
  if (bits >= 8)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);

  std::string unpacked;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    uint64_t bit = i * bits;
    unsigned pair = static_cast<uint8_t>(bytes[bit / 8]);
    if (bit / 8 + 1 < bytes.size())
      pair |= static_cast<uint8_t>(bytes[bit / 8 + 1]) << 8;
    unpacked.push_back(static_cast<char>(pair >> (bit % 8) & ((1u << bits) - 1)));
  }
  return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(unpacked.data(), unpacked.size()));
}

ElementsAttr optc::onnx::elementsAttr(RankedTensorType type, ArrayRef<char> bytes,
                                      function_ref<AsmResourceBlob()> makeBlob) {
  if (bytes.size() <= kDenseBytes)
    return denseOf(type, bytes);
  // The key is the content, so that dumps of the same model are equal.
  std::string key = llvm::utohexstr(llvm::xxh3_64bits(StringRef(bytes.data(), bytes.size())), true, 16) + "_" +
                    std::to_string(bytes.size());
  auto &interface = DenseResourceElementsHandle::getManagerInterface(type.getContext());
  auto *dialect = cast<BuiltinDialect>(interface.getDialect());
  for (unsigned clash = 0;; ++clash) {
    std::string name = clash ? key + "_" + std::to_string(clash) : key;
    auto *entry = interface.getBlobManager().lookup(name);
    if (!entry)
      return DenseResourceElementsAttr::get(type, interface.insert(name, makeBlob()));
    if (entry->getBlob() && entry->getBlob()->getData() == bytes)
      return DenseResourceElementsAttr::get(type, DenseResourceElementsHandle(entry, dialect));
  }
}
