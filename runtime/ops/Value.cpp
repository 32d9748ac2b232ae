//===- Value.cpp - values whose kind is known at run time -----------------===//
#include "Sequence.h"

using namespace optc::rt;

OPTC_OP(value_copy) {
  checkCall(h, "a value", n, 1, attrs, 3, m, 1);
  auto dtype = optc_dtype(attr[0]);
  int64_t rank = attr[1];
  bool mustExist = attr[2];
  const optc_tensor &x = in[0];
  out[0] = optc_tensor{};
  if (!x.data) {
    if (mustExist)
      fail(h, OPTC_RUN_FAILED, "an optional is read that has no value");
    return 0;
  }
  if (!x.dtype) { // sequences never change
    if (dtype)
      fail(h, OPTC_RUN_FAILED, "a value is a sequence, %s is expected", optc_dtype_name(dtype));
    out[0] = x;
    return 0;
  }
  if ((dtype && x.dtype != dtype) || (rank >= 0 && x.rank != rank))
    fail(h, OPTC_RUN_FAILED, "a value is %s%s, %s of rank %lld is expected", optc_dtype_name(x.dtype),
         shapeText(x.rank, x.dims).text, dtype ? optc_dtype_name(dtype) : "a tensor",
         (long long)(rank < 0 ? x.rank : rank));
  if (rank < 0) {
    out[0] = copyTensor(h, x);
    return 0;
  }
  out[0] = makeTensor(h, x.dtype, x.rank, x.dims);
  memcpy(out[0].data, x.data, size_t(count(x) * storageBytes(x.dtype)));
  return 0;
}

OPTC_OP(value_exists) {
  checkCall(h, "OptionalHasElement", n, 1, attrs, 0, m, 1);
  out[0] = makeTensor(h, OPTC_BOOL, 0, nullptr);
  *static_cast<uint8_t *>(out[0].data) = in[0].data != nullptr;
  return 0;
}
