//===- Watch.cpp - models that give their inner values --------------------===//
#include "optc/compiler/Watch.h"

using namespace mlir;
using namespace optc;

void optc::setResults(func::FuncOp main, ArrayRef<Value> values) {
  Operation *end = main.getBody().front().getTerminator();
  (void)main.eraseResults(llvm::BitVector(main.getNumResults(), true));
  for (Value value : values)
    (void)main.insertResult(main.getNumResults(), value.getType(), DictionaryAttr());
  end->setOperands(values);
}

ArrayRef<float> optc::watchedFloats(const optc_value &value) {
  int64_t count = 1;
  for (int64_t size : ArrayRef<int64_t>(value.tensor.shape, value.tensor.ndim))
    count *= size;
  auto *data = reinterpret_cast<const float *>(static_cast<const char *>(value.tensor.data) + value.tensor.byte_offset);
  return {data, size_t(count)};
}
