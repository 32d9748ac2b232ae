//===- StringBase.cpp - broadcasting and UTF-8 of the string operators ----===//
#include "Strings.h"

using namespace optc::rt;

Broadcast optc::rt::broadcast(optc_host *h, const char *op, const optc_tensor &a, const optc_tensor &b) {
  Broadcast r = {};
  const optc_tensor *in[2] = {&a, &b};
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int32_t d = 0; d < r.rank; ++d) {
    int64_t size[2];
    for (int k = 0; k < 2; ++k) {
      int32_t own = d - (r.rank - in[k]->rank);
      size[k] = own < 0 ? 1 : in[k]->dims[own];
    }
    if (size[0] != size[1] && size[0] != 1 && size[1] != 1)
      fail(h, OPTC_RUN_FAILED, "%s: shapes %s and %s do not broadcast", op, shapeText(a.rank, a.dims).text,
           shapeText(b.rank, b.dims).text);
    r.dims[d] = size[0] == 1 ? size[1] : size[0];
  }
  for (int k = 0; k < 2; ++k) {
    int64_t stride = 1;
    for (int32_t d = r.rank - 1; d >= 0; --d) {
      int32_t own = d - (r.rank - in[k]->rank);
      int64_t size = own < 0 ? 1 : in[k]->dims[own];
      r.strides[k][d] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  return r;
}

/// Alphabets whose letters lie in runs: either upper and lower case are `distance` apart, or they alternate (distance
/// 1, upper case even or odd as the first letter says).
namespace {
struct Letters {
  uint32_t first, last, distance;
};
} // namespace
static constexpr Letters kUpper[] = {{'A', 'Z', 32},     {0xc0, 0xd6, 32},    {0xd8, 0xde, 32},    {0x100, 0x12e, 1},
                                     {0x132, 0x136, 1},  {0x139, 0x147, 1},   {0x14a, 0x176, 1},   {0x179, 0x17d, 1},
                                     {0x388, 0x38a, 37}, {0x391, 0x3a1, 32},  {0x3a3, 0x3ab, 32},  {0x400, 0x40f, 80},
                                     {0x410, 0x42f, 32}, {0x460, 0x480, 1},   {0x48a, 0x4be, 1},   {0x4d0, 0x52e, 1},
                                     {0x531, 0x556, 48}, {0x1e00, 0x1e94, 1}, {0x1ea0, 0x1efe, 1}, {0x386, 0x386, 38},
                                     {0x38c, 0x38c, 64}, {0x38e, 0x38f, 63},  {0xff21, 0xff3a, 32}};

uint32_t optc::rt::changeCase(uint32_t c, int to) {
  for (const Letters &l : kUpper) {
    uint32_t base = to == 1 ? l.first : l.first + l.distance;
    if (c < base || c > base + (l.last - l.first) || (l.distance == 1 && ((c - base) & 1)))
      continue;
    return to == 1 ? c + l.distance : c - l.distance;
  }
  if (to == 2)
    return c == 0xff ? 0x178 : c == 0xb5 ? 0x39c : c == 0x3c2 ? 0x3a3 : c;
  return c == 0x178 ? 0xff : c;
}

uint32_t optc::rt::nextCodePoint(const char *&p, const char *end) {
  auto first = uint8_t(*p++);
  if (first < 0x80)
    return first;
  int more = first >= 0xf0 && first < 0xf5   ? 3
             : first >= 0xe0 && first < 0xf0 ? 2
             : first >= 0xc2 && first < 0xe0 ? 1
                                             : 0;
  uint32_t c = first & (0x3fu >> more);
  const char *q = p;
  for (int i = 0; i < more; ++i, ++q) {
    if (q == end || (uint8_t(*q) & 0xc0) != 0x80)
      return 0x110000 + first;
    c = c << 6 | (uint8_t(*q) & 0x3f);
  }
  static constexpr uint32_t least[4] = {0x110000, 0x80, 0x800, 0x10000};
  if (!more || c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    return 0x110000 + first;
  p = q;
  return c;
}

char *optc::rt::putCodePoint(char *p, uint32_t c) {
  if (c >= 0x110000 || c < 0x80) {
    *p++ = char(c);
    return p;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr uint8_t lead[4] = {0, 0xc0, 0xe0, 0xf0};
  *p++ = char(lead[more] | c >> (6 * more));
  while (more--)
    *p++ = char(0x80 | (c >> (6 * more) & 0x3f));
  return p;
}
