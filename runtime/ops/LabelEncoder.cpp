//===- LabelEncoder.cpp - a dictionary lookup -----------------------------===//
#include "Strings.h"
#include <algorithm>

using namespace optc::rt;

OPTC_OP(label_encoder) {
  checkCall(h, "LabelEncoder", n, 4, attrs, 0, m, 1);
  const optc_tensor &x = in[0], &keys = in[1], &values = in[2], &otherwise = in[3];
  int64_t number = count(keys), total = count(x);
  if (!isSortable(x.dtype) || keys.dtype != x.dtype || values.dtype != otherwise.dtype || count(values) != number ||
      count(otherwise) < 1)
    fail(h, OPTC_RUN_FAILED, "LabelEncoder: input %s, %lld keys of %s, %lld values of %s and default of %s do not fit",
         optc_dtype_name(x.dtype), (long long)number, optc_dtype_name(keys.dtype), (long long)count(values),
         optc_dtype_name(values.dtype), optc_dtype_name(otherwise.dtype));
  out[0] = makeTensor(h, values.dtype, x.rank, x.dims);
  Scratch scratch(h);
  int64_t width = storageBytes(x.dtype), outWidth = storageBytes(values.dtype);
  auto *key = static_cast<const char *>(keys.data);
  auto *order = allocArray<int64_t>(h, number);
  for (int64_t i = 0; i < number; ++i)
    order[i] = i;
  std::sort(order, order + number, [&](int64_t a, int64_t b) {
    int c = compareElements(x.dtype, key + a * width, key + b * width);
    return c < 0 || (c == 0 && a < b);
  });
  for (int64_t i = 0; i < total; ++i) {
    const char *want = static_cast<const char *>(x.data) + i * width;
    int64_t *found = std::lower_bound(order, order + number, want, [&](int64_t k, const char *v) {
      return compareElements(x.dtype, key + k * width, v) < 0;
    });
    bool hit = found != order + number && compareElements(x.dtype, key + *found * width, want) == 0;
    auto *from = static_cast<const char *>(hit ? values.data : otherwise.data) + (hit ? *found * outWidth : 0);
    memcpy(static_cast<char *>(out[0].data) + i * outWidth, from, size_t(outWidth));
  }
  return 0;
}
