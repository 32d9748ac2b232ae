//===- NonZero.cpp --------------------------------------------------------===//
#include "Common.h"

using namespace optc::rt;

/// Bits that make an element nonzero: all but the signs of floats.
static void nonzeroMask(optc_dtype dtype, uint8_t *mask) {
  memset(mask, 0xff, 16);
  bool isFloat = dtype == OPTC_FLOAT || dtype == OPTC_DOUBLE || dtype == OPTC_FLOAT16 || dtype == OPTC_BFLOAT16;
  bool isComplex = dtype == OPTC_COMPLEX64 || dtype == OPTC_COMPLEX128;
  bool isSmall = dtype == OPTC_FLOAT8E4M3FN || dtype == OPTC_FLOAT8E5M2;
  int width = storageBytes(dtype);
  if (isFloat || isComplex || isSmall)
    mask[width - 1] = 0x7f;
  if (isComplex)
    mask[width / 2 - 1] = 0x7f;
  if (dtype == OPTC_FLOAT4E2M1)
    mask[0] = 7;
  if (dtype == OPTC_STRING)
    memset(mask, 0, 8); // the length decides
}

static bool isNonzero(const uint8_t *p, const uint8_t *mask, int width) {
  uint8_t any = 0;
  for (int i = 0; i < width; ++i)
    any |= uint8_t(p[i] & mask[i]);
  return any != 0;
}

OPTC_OP(nonzero) {
  checkCall(h, "NonZero", n, 1, attrs, 0, m, 1);
  const optc_tensor &x = in[0];
  uint8_t mask[16];
  int width = storageBytes(x.dtype);
  int64_t total = count(x), found = 0;
  if (!width || total < 0)
    fail(h, OPTC_RUN_FAILED, "NonZero: the input is not a tensor");
  nonzeroMask(x.dtype, mask);
  auto *p = static_cast<const uint8_t *>(x.data);
  for (int64_t i = 0; i < total; ++i)
    found += isNonzero(p + i * width, mask, width);
  int64_t dims[2] = {x.rank, found};
  out[0] = makeTensor(h, OPTC_INT64, 2, dims);
  auto *dst = static_cast<int64_t *>(out[0].data);
  int64_t index[OPTC_MAX_RANK] = {0};
  for (int64_t i = 0, k = 0; i < total; ++i) {
    if (isNonzero(p + i * width, mask, width)) {
      for (int32_t d = 0; d < x.rank; ++d)
        dst[d * found + k] = index[d];
      ++k;
    }
    for (int32_t d = x.rank - 1; d >= 0 && ++index[d] == x.dims[d]; --d)
      index[d] = 0;
  }
  return 0;
}
