//===- Placement.cpp - buffers that share memory, at run time -------------===//
//
// The same greedy placement as the compiler's (passes/plan/Memory.h): the largest buffer first, each at the lowest
// offset that is free for its lifetime.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <stdlib.h>

using namespace optc::rt;

/// As many sets of sizes are remembered per program point; the one that was not used for longest goes.
static constexpr int kSetsPerPoint = 8;

static bool overlap(const int32_t *a, const int32_t *b) { return a[0] <= b[1] && b[0] <= a[1]; }

/// Whole lines, at least one: pointers are distinct, and optc_rt_keep can move each on its own.
static int64_t roundedUp(int64_t bytes) {
  return bytes < 1 ? int64_t(kAlign) : (bytes + int64_t(kAlign) - 1) & ~int64_t(kAlign - 1);
}

/// False when the sizes are too large together.
static bool solve(Placement &p) {
  int64_t total = int64_t(kAlign);
  for (int32_t i = 0; i < p.n; ++i) { // insertion: equal sizes stay in program order
    int32_t at = i;
    for (; at > 0 && p.bytes[p.order[at - 1]] < p.bytes[i]; --at)
      p.order[at] = p.order[at - 1];
    p.order[at] = i;
  }
  for (int32_t k = 0; k < p.n; ++k) {
    int32_t i = p.order[k], at = 0;
    if (p.bytes[i] > PTRDIFF_MAX / 4)
      return false;
    int64_t rounded = roundedUp(p.bytes[i]), offset = 0;
    for (int32_t j = 0; j < k; ++j) { // by offset
      int32_t other = p.placed[j];
      if (!overlap(p.lifetimes + 2 * i, p.lifetimes + 2 * other))
        continue;
      if (offset + rounded <= p.offsets[other])
        break;
      int64_t free = p.offsets[other] + roundedUp(p.bytes[other]);
      offset = free > offset ? free : offset;
    }
    int64_t end = offset + rounded;
    if (end > PTRDIFF_MAX / 4)
      return false;
    p.offsets[i] = offset;
    total = end > total ? end : total;
    for (at = k; at > 0 && p.offsets[p.placed[at - 1]] > offset; --at)
      p.placed[at] = p.placed[at - 1];
    p.placed[at] = i;
  }
  p.total = total;
  return true;
}

const Placement *optc::rt::findPlacement(Placement *&list, int32_t n, const int64_t *bytes, const int32_t *lifetimes) {
  size_t size = sizeof(int64_t) * size_t(n);
  Placement **link = &list, **oldest = nullptr;
  int sets = 0;
  for (; *link; link = &(*link)->next) {
    Placement *p = *link;
    if (p->lifetimes != lifetimes || p->n != n)
      continue;
    if (!memcmp(p->bytes, bytes, size)) {
      *link = p->next;
      p->next = list;
      return list = p;
    }
    ++sets;
    oldest = link;
  }
  if (sets >= kSetsPerPoint) {
    Placement *p = *oldest;
    *oldest = p->next;
    free(p);
  }
  auto *p = static_cast<Placement *>(malloc(sizeof(Placement) + 2 * size + 2 * sizeof(int32_t) * size_t(n)));
  if (!p)
    return nullptr;
  auto *bytesCopy = reinterpret_cast<int64_t *>(p + 1), *offsets = bytesCopy + n;
  auto *order = reinterpret_cast<int32_t *>(offsets + n);
  *p = {list, lifetimes, n, 0, bytesCopy, offsets, order, order + n};
  memcpy(p->bytes, bytes, size);
  if (!solve(*p)) {
    free(p);
    return nullptr;
  }
  return list = p;
}

void optc::rt::freePlacements(Placement *&list) {
  while (list) {
    Placement *next = list->next;
    free(list);
    list = next;
  }
}
