//===- StringOps.cpp - equal, concat, split, gather -----------------------===//
#include "Strings.h"

using namespace optc::rt;

OPTC_OP(string_equal) {
  checkCall(h, "Equal", n, 2, attrs, 0, m, 1);
  requireStrings(h, "Equal", in[0]);
  requireStrings(h, "Equal", in[1]);
  Broadcast shape = broadcast(h, "Equal", in[0], in[1]);
  out[0] = makeTensor(h, OPTC_BOOL, shape.rank, shape.dims);
  auto *dst = static_cast<uint8_t *>(out[0].data);
  shape.each([&](int64_t i, int64_t a, int64_t b) { dst[i] = equal(strings(in[0])[a], strings(in[1])[b]); });
  return 0;
}

OPTC_OP(string_concat) {
  checkCall(h, "StringConcat", n, 2, attrs, 0, m, 1);
  requireStrings(h, "StringConcat", in[0]);
  requireStrings(h, "StringConcat", in[1]);
  Broadcast shape = broadcast(h, "StringConcat", in[0], in[1]);
  out[0] = makeTensor(h, OPTC_STRING, shape.rank, shape.dims);
  optc_string *dst = newStrings(out[0]);
  shape.each([&](int64_t i, int64_t ai, int64_t bi) {
    const optc_string &a = strings(in[0])[ai], &b = strings(in[1])[bi];
    char *bytes = newBytes(h, a.size + b.size);
    if (a.size)
      memcpy(bytes, a.data, size_t(a.size));
    if (b.size)
      memcpy(bytes + a.size, b.data, size_t(b.size));
    dst[i] = {bytes, a.size + b.size};
  });
  return 0;
}

static bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Calls piece(data, size) for the pieces of `s`; pieces share the bytes of `s`.
template <typename Piece>
static void splitString(const optc_string &s, const optc_string &delimiter, int64_t most, Piece piece) {
  const char *p = s.data, *end = s.size ? s.data + s.size : s.data;
  bool white = delimiter.size == 0;
  for (int64_t made = 0;; ++made) {
    if (white) {
      while (p != end && isSpace(*p))
        ++p;
      if (p == end)
        return;
    }
    const char *q = p;
    if (most >= 0 && made == most) {
      piece(p, end - p);
      return;
    }
    if (white)
      while (q != end && !isSpace(*q))
        ++q;
    else
      while (q != end && (end - q < delimiter.size || memcmp(q, delimiter.data, size_t(delimiter.size))))
        ++q;
    piece(p, q - p);
    if (q == end)
      return;
    p = q + (white ? 1 : delimiter.size);
  }
}

OPTC_OP(string_split) {
  checkCall(h, "StringSplit", n, 1, attrs, 1, m, 1);
  const optc_tensor &x = in[0];
  requireStrings(h, "StringSplit", x);
  optc_string delimiter = {nullptr, 0};
  if (n > 1 && in[1].data) {
    requireStrings(h, "StringSplit", in[1]);
    if (count(in[1]) > 0)
      delimiter = strings(in[1])[0];
  }
  int64_t total = count(x), most = 0;
  optc_tensor counts = makeTensor(h, OPTC_INT64, x.rank, x.dims);
  auto *number = static_cast<int64_t *>(counts.data);
  for (int64_t i = 0; i < total; ++i) {
    number[i] = 0;
    splitString(strings(x)[i], delimiter, attr[0], [&](const char *, int64_t) { ++number[i]; });
    most = number[i] > most ? number[i] : most;
  }
  if (x.rank == OPTC_MAX_RANK)
    fail(h, OPTC_RUN_FAILED, "StringSplit: rank %d; up to %d is supported", x.rank, OPTC_MAX_RANK - 1);
  int64_t dims[OPTC_MAX_RANK];
  memcpy(dims, x.dims, sizeof(dims));
  dims[x.rank] = most;
  out[0] = makeTensor(h, OPTC_STRING, x.rank + 1, dims);
  if (m > 1)
    out[1] = counts;
  optc_string *dst = newStrings(out[0]);
  for (int64_t i = 0; i < total; ++i) {
    optc_string *row = dst + i * most;
    int64_t k = 0;
    splitString(strings(x)[i], delimiter, attr[0], [&](const char *p, int64_t size) { row[k++] = {p, size}; });
    while (k < most)
      row[k++] = {"", 0};
  }
  return 0;
}

OPTC_OP(string_constant) {
  constexpr const char *op = "a constant of strings";
  checkCall(h, op, n, 2, attrs, 0, m, 1);
  if (attrs > OPTC_MAX_RANK)
    fail(h, OPTC_RUN_FAILED, "%s has rank %d; up to %d is supported", op, attrs, OPTC_MAX_RANK);
  out[0] = makeTensor(h, OPTC_STRING, attrs, attr);
  const auto *offsets = static_cast<const int64_t *>(in[0].data);
  const auto *bytes = static_cast<const char *>(in[1].data);
  auto *dst = static_cast<optc_string *>(out[0].data);
  int64_t total = count(out[0]);
  if (total >= count(in[0]))
    fail(h, OPTC_RUN_FAILED, "%s has too few offsets", op);
  for (int64_t i = 0; i < total; ++i) {
    dst[i].data = bytes + offsets[i];
    dst[i].size = offsets[i + 1] - offsets[i];
  }
  return 0;
}

OPTC_OP(string_gather) {
  checkCall(h, "Gather", n, 2, attrs, 0, m, 1);
  optc_tensor x = in[0];
  const optc_tensor &indices = in[1];
  if (!attrs) {
    x.dims[0] = count(x);
    x.rank = 1;
  }
  int32_t axis = attrs ? checkAxis(h, "Gather", attr[0], x.rank) : 0;
  Split s = splitAt(x, axis);
  int64_t dims[2 * OPTC_MAX_RANK], total = count(indices), piece = s.inner * storageBytes(x.dtype);
  int32_t rank = 0;
  for (int32_t d = 0; d < axis; ++d)
    dims[rank++] = x.dims[d];
  for (int32_t d = 0; d < indices.rank; ++d)
    dims[rank++] = indices.dims[d];
  for (int32_t d = axis + 1; d < x.rank; ++d)
    dims[rank++] = x.dims[d];
  out[0] = makeTensor(h, x.dtype, rank, dims);
  auto *dst = static_cast<char *>(out[0].data);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < total; ++i, dst += piece) {
      int64_t at = integerAt(h, "Gather", "indices", indices, i);
      if (at < -s.axis || at >= s.axis)
        fail(h, OPTC_RUN_FAILED, "Gather: index %lld is outside of axis %d of %lld", (long long)at, axis,
             (long long)s.axis);
      memcpy(dst, static_cast<const char *>(x.data) + (o * s.axis + (at < 0 ? at + s.axis : at)) * piece,
             size_t(piece));
    }
  return 0;
}
