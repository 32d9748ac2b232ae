//===- TopK.cpp -----------------------------------------------------------===//
#include "Common.h"
#include <algorithm>

using namespace optc::rt;

namespace {
/// Smaller is better: keys are inverted for `largest`, so that equal elements come in the order of their index either
/// way.
struct Entry {
  uint64_t key;
  int64_t index;
  bool operator<(const Entry &o) const { return key < o.key || (key == o.key && index < o.index); }
};
} // namespace

OPTC_OP(topk) {
  checkCall(h, "TopK", n, 2, attrs, 3, m, 1);
  const optc_tensor &x = in[0];
  if (!isNumber(x.dtype) || x.dtype == OPTC_COMPLEX64 || x.dtype == OPTC_COMPLEX128)
    fail(h, OPTC_RUN_FAILED, "TopK: element type %s has no order", optc_dtype_name(x.dtype));
  int32_t axis = checkAxis(h, "TopK", attr[0], x.rank);
  bool largest = attr[1], sorted = attr[2];
  int64_t k = integerAt(h, "TopK", "k", in[1], 0);
  Split s = splitAt(x, axis);
  if (k < 0 || k > s.axis)
    fail(h, OPTC_RUN_FAILED, "TopK: k is %lld, but axis %d has %lld elements", (long long)k, axis, (long long)s.axis);
  int64_t dims[OPTC_MAX_RANK];
  std::copy(x.dims, x.dims + x.rank, dims);
  dims[axis] = k;
  out[0] = makeTensor(h, x.dtype, x.rank, dims);
  optc_tensor indices = makeTensor(h, OPTC_INT64, x.rank, dims);
  if (m > 1)
    out[1] = indices;
  auto *where = static_cast<int64_t *>(indices.data);
  int64_t width = storageBytes(x.dtype);
  auto *src = static_cast<const char *>(x.data);
  auto *dst = static_cast<char *>(out[0].data);
  if (!k)
    return 0;
  Scratch scratch(h);
  // A heap of the k best so far, its worst on top; where k is a large part of the axis, selection among all is faster.
  bool heap = k < s.axis / 8;
  auto *best = allocArray<Entry>(h, heap ? k : s.axis);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      const char *row = src + (o * s.axis * s.inner + i) * width;
      for (int64_t a = 0; a < s.axis; ++a) {
        uint64_t key = sortKey(x.dtype, row + a * s.inner * width);
        Entry e = {largest ? ~key : key, a};
        if (!heap || a < k) {
          best[a] = e;
          if (heap && a + 1 == k)
            std::make_heap(best, best + k);
        } else if (e < best[0]) {
          std::pop_heap(best, best + k);
          best[k - 1] = e;
          std::push_heap(best, best + k);
        }
      }
      if (!heap && k < s.axis)
        std::nth_element(best, best + k, best + s.axis);
      if (sorted)
        std::sort(best, best + k);
      else
        std::sort(best, best + k, [](const Entry &a, const Entry &b) { return a.index < b.index; });
      for (int64_t a = 0; a < k; ++a) {
        int64_t to = (o * k + a) * s.inner + i;
        where[to] = best[a].index;
        memcpy(dst + to * width, row + best[a].index * s.inner * width, size_t(width));
      }
    }
  return 0;
}
