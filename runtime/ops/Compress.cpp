//===- Compress.cpp -------------------------------------------------------===//
#include "Common.h"

using namespace optc::rt;

OPTC_OP(compress) {
  checkCall(h, "Compress", n, 2, attrs, 1, m, 1);
  optc_tensor x = in[0];
  if (in[1].dtype != OPTC_BOOL || in[1].rank != 1)
    fail(h, OPTC_RUN_FAILED, "Compress: the condition is %s of rank %d; bool of rank 1 is supported",
         optc_dtype_name(in[1].dtype), in[1].rank);
  if (attr[0] == OPTC_NO_AXIS) {
    x.dims[0] = count(x);
    x.rank = 1;
  }
  int32_t axis = attr[0] == OPTC_NO_AXIS ? 0 : checkAxis(h, "Compress", attr[0], x.rank);
  Split s = splitAt(x, axis);
  auto *chosen = static_cast<const uint8_t *>(in[1].data);
  int64_t length = in[1].dims[0] < s.axis ? in[1].dims[0] : s.axis, kept = 0;
  for (int64_t i = 0; i < in[1].dims[0]; ++i) {
    if (chosen[i] && i >= s.axis)
      fail(h, OPTC_RUN_FAILED, "Compress: the condition chooses slice %lld, but axis %d has %lld", (long long)i, axis,
           (long long)s.axis);
    kept += chosen[i] != 0;
  }
  int64_t dims[OPTC_MAX_RANK];
  for (int32_t d = 0; d < x.rank; ++d)
    dims[d] = x.dims[d];
  dims[axis] = kept;
  out[0] = makeTensor(h, x.dtype, x.rank, dims);
  int64_t piece = s.inner * storageBytes(x.dtype);
  auto *src = static_cast<const char *>(x.data);
  auto *dst = static_cast<char *>(out[0].data);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < length; ++i)
      if (chosen[i]) {
        memcpy(dst, src + (o * s.axis + i) * piece, size_t(piece));
        dst += piece;
      }
  return 0;
}
