//===- Unique.cpp ---------------------------------------------------------===//
#include "Common.h"
#include <algorithm>

using namespace optc::rt;

namespace {
/// Slices of a tensor along an axis, compared element by element.
struct Slices {
  const char *data;
  optc_dtype dtype;
  int64_t width;
  Split s;
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i) {
        const char *base = data + o * s.axis * s.inner * width + i * width;
        if (int c = compareElements(dtype, base + a * s.inner * width, base + b * s.inner * width))
          return c;
      }
    return 0;
  }
};
} // namespace

OPTC_OP(unique) {
  checkCall(h, "Unique", n, 1, attrs, 2, m, 1);
  optc_tensor x = in[0];
  if (!isSortable(x.dtype))
    fail(h, OPTC_RUN_FAILED, "Unique: element type %s is not supported", optc_dtype_name(x.dtype));
  if (attr[0] == OPTC_NO_AXIS) {
    x.dims[0] = count(x);
    x.rank = 1;
  }
  int32_t axis = attr[0] == OPTC_NO_AXIS ? 0 : checkAxis(h, "Unique", attr[0], x.rank);
  bool sorted = attr[1];
  Slices slices = {static_cast<const char *>(x.data), x.dtype, storageBytes(x.dtype), splitAt(x, axis)};
  const Split &s = slices.s;
  int64_t total = s.axis;

  // Sorted order; equal slices by index, so the first of a group is its first occurrence. Groups number 0..groups in
  // sorted order.
  auto *order = allocArray<int64_t>(h, total), *first = allocArray<int64_t>(h, total),
       *inverse = allocArray<int64_t>(h, total);
  auto *counts = allocArray<int64_t>(h, total), *place = allocArray<int64_t>(h, total);
  for (int64_t i = 0; i < total; ++i)
    order[i] = i;
  std::sort(order, order + total, [&](int64_t a, int64_t b) {
    int c = slices.compare(a, b);
    return c < 0 || (c == 0 && a < b);
  });
  int64_t groups = 0;
  for (int64_t i = 0; i < total; ++i) {
    if (!i || slices.compare(order[i - 1], order[i]) != 0) {
      first[groups] = order[i];
      counts[groups++] = 0;
    }
    inverse[order[i]] = groups - 1;
    ++counts[groups - 1];
  }
  // place[g]: where group g goes in the result; order[k]: the group at place k.
  for (int64_t g = 0; g < groups; ++g)
    order[g] = g;
  if (!sorted)
    std::sort(order, order + groups, [&](int64_t a, int64_t b) { return first[a] < first[b]; });
  for (int64_t k = 0; k < groups; ++k)
    place[order[k]] = k;

  int64_t dims[OPTC_MAX_RANK];
  std::copy(x.dims, x.dims + x.rank, dims);
  dims[axis] = groups;
  out[0] = makeTensor(h, x.dtype, x.rank, dims);
  int64_t piece = s.inner * slices.width;
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t k = 0; k < groups; ++k)
      memcpy(static_cast<char *>(out[0].data) + (o * groups + k) * piece,
             slices.data + (o * s.axis + first[order[k]]) * piece, size_t(piece));
  for (int32_t r = 1; r < m && r < 4; ++r) {
    int64_t length = r == 2 ? total : groups;
    out[r] = makeTensor(h, OPTC_INT64, 1, &length);
    auto *dst = static_cast<int64_t *>(out[r].data);
    for (int64_t i = 0; i < length; ++i)
      dst[i] = r == 1 ? first[order[i]] : r == 2 ? place[inverse[i]] : counts[order[i]];
  }
  return 0;
}
