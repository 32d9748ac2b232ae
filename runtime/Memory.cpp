//===- Memory.cpp - pools, the run's stack, element sizes -----------------===//
#include "Internal.h"
#include <stdlib.h>
#include <sys/mman.h>

using namespace optc::rt;

static constexpr size_t kHugePage = size_t(2) << 20;

void *optc::rt::allocAligned(size_t bytes) {
  if (bytes > size_t(PTRDIFF_MAX) - kHugePage)
    return nullptr;
  size_t align = bytes >= kHugePage ? kHugePage : kAlign;
  void *p = nullptr;
  if (posix_memalign(&p, align, bytes ? (bytes + kAlign - 1) & ~(kAlign - 1) : kAlign))
    return nullptr;
#ifdef MADV_HUGEPAGE
  if (align == kHugePage)
    madvise(p, bytes & ~(kHugePage - 1), MADV_HUGEPAGE); // a hint: failure changes nothing
#endif
  return p;
}

void optc::rt::freeAligned(void *p) { free(p); }

int64_t optc::rt::countElements(int32_t rank, const int64_t *dims) {
  int64_t n = 1;
  bool zero = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return -1;
    zero |= dims[i] == 0;
  }
  if (zero)
    return 0;
  for (int32_t i = 0; i < rank; ++i)
    if (!mulSize(n, dims[i], n))
      return -1;
  return n;
}

//===-- element types --------------------------------------------------------//

namespace {
struct TypeInfo {
  const char *name;
  int16_t bits;
  uint8_t dlCode; // DLPack's type code, 255: none
};
} // namespace

static constexpr TypeInfo kTypes[OPTC_NUM_DTYPES] = {{"undefined", 0, 255},
                                                     {"float32", 32, 2},
                                                     {"uint8", 8, 1},
                                                     {"int8", 8, 0},
                                                     {"uint16", 16, 1},
                                                     {"int16", 16, 0},
                                                     {"int32", 32, 0},
                                                     {"int64", 64, 0},
                                                     {"string", 128, 255},
                                                     {"bool", 8, 6},
                                                     {"float16", 16, 2},
                                                     {"float64", 64, 2},
                                                     {"uint32", 32, 1},
                                                     {"uint64", 64, 1},
                                                     {"complex64", 64, 5},
                                                     {"complex128", 128, 5},
                                                     {"bfloat16", 16, 4},
                                                     {"float8e4m3fn", 8, 10},
                                                     {"float8e4m3fnuz", 8, 11},
                                                     {"float8e5m2", 8, 12},
                                                     {"float8e5m2fnuz", 8, 13},
                                                     {"uint4", 4, 1},
                                                     {"int4", 4, 0},
                                                     {"float4e2m1", 4, 17},
                                                     {"float8e8m0", 8, 14},
                                                     {"uint2", 2, 1},
                                                     {"int2", 2, 0}};

static const TypeInfo &typeInfo(optc_dtype t) { return kTypes[t > 0 && t < OPTC_NUM_DTYPES ? t : 0]; }

extern "C" const char *optc_dtype_name(optc_dtype t) { return typeInfo(t).name; }
extern "C" int32_t optc_dtype_bits(optc_dtype t) { return typeInfo(t).bits; }

optc_dtype optc::rt::dtypeFromDL(optc_dltype d) {
  if (d.lanes > 1)
    return 0;
  for (int32_t t = 1; t < OPTC_NUM_DTYPES; ++t)
    if (kTypes[t].dlCode == d.code && kTypes[t].bits == d.bits)
      return t;
  return 0;
}

optc_dltype optc::rt::dtypeToDL(optc_dtype t) {
  const TypeInfo &info = typeInfo(t);
  return {info.dlCode == 255 ? uint8_t(3) : info.dlCode, uint8_t(info.bits), 1};
}

int32_t optc::rt::storageBytes(optc_dtype t) { return (typeInfo(t).bits + 7) / 8; }

int64_t optc::rt::packedBytes(optc_dtype t, int64_t count) {
  int64_t bits, n = typeInfo(t).bits;
  if (!n || count < 0)
    return -1;
  if (n >= 8)
    return mulSize(count, n / 8, bits) ? bits : -1;
  return count / (8 / n) + (count % (8 / n) != 0);
}

void optc::rt::unpackSubByte(optc_dtype t, const void *src, int64_t count, void *dst) {
  int bits = typeInfo(t).bits, per = 8 / bits, mask = (1 << bits) - 1;
  bool isSigned = t == OPTC_INT4 || t == OPTC_INT2;
  auto *s = static_cast<const uint8_t *>(src);
  auto *d = static_cast<uint8_t *>(dst);
  for (int64_t i = 0; i < count; ++i) {
    int v = (s[i / per] >> (i % per * bits)) & mask;
    d[i] = uint8_t(isSigned && v >> (bits - 1) ? v - (1 << bits) : v);
  }
}

void optc::rt::packSubByte(optc_dtype t, const void *src, int64_t count, void *dst) {
  int bits = typeInfo(t).bits, per = 8 / bits, mask = (1 << bits) - 1;
  auto *s = static_cast<const uint8_t *>(src);
  auto *d = static_cast<uint8_t *>(dst);
  memset(d, 0, size_t(packedBytes(t, count)));
  for (int64_t i = 0; i < count; ++i)
    d[i / per] = uint8_t(d[i / per] | (s[i] & mask) << (i % per * bits));
}

//===-- pools ----------------------------------------------------------------//

void *Pool::alloc(size_t bytes) {
  constexpr size_t header = kAlign;
  if (bytes > size_t(PTRDIFF_MAX) - 4 * kHugePage)
    return nullptr;
  size_t align = bytes >= kAlign ? kAlign : 16;
  size_t at = head ? (head->used + align - 1) & ~(align - 1) : 0;
  if (!head || at + bytes > head->size) {
    // Blocks double, so that many small pieces cost few blocks.
    size_t size = head ? head->size * 2 : 4096;
    size = size > kHugePage ? kHugePage : size;
    size = size < bytes + header ? bytes + header : size;
    auto *b = static_cast<Block *>(allocAligned(size));
    if (!b)
      return nullptr;
    if (head && bytes > head->size / 4) { // a block of its own; the current one keeps its room
      *b = {head->next, header + bytes, size};
      head->next = b;
      return reinterpret_cast<char *>(b) + header;
    }
    *b = {head, header, size};
    head = b;
    at = header;
  }
  head->used = at + bytes;
  return reinterpret_cast<char *>(head) + at;
}

void Pool::reset() {
  while (head) {
    Block *next = head->next;
    freeAligned(head);
    head = next;
  }
}

int64_t Pool::bytes() const {
  int64_t n = 0;
  for (Block *b = head; b; b = b->next)
    n += int64_t(b->size);
  return n;
}

void *Stack::alloc(int64_t bytes) {
  if (bytes < 0 || bytes > PTRDIFF_MAX / 4)
    return nullptr;
  return allocLines((bytes + int64_t(kAlign)) & ~int64_t(kAlign - 1)); // at least one line: pointers are distinct
}

void *Stack::allocLines(int64_t need) {
  // The current chunk, else a later one that is large enough, else a new one in front of the small ones.
  for (;;) {
    if (current && top - current->base + need <= int64_t(current->size)) {
      void *p = current->data + (top - current->base);
      top += need;
      return p;
    }
    Chunk *next = current ? current->next : first;
    int64_t base = current ? current->base + int64_t(current->size) : 0;
    if (!next || int64_t(next->size) < need) {
      size_t size = current ? current->size * 2 : size_t(64) << 10;
      size = size > (size_t(64) << 20) ? size_t(64) << 20 : size;
      size = size < size_t(need) ? size_t(need) : size;
      if (size > kHugePage)
        size = (size + kHugePage - 1) & ~(kHugePage - 1);
      auto *c = static_cast<Chunk *>(malloc(sizeof(Chunk)));
      char *data = c ? static_cast<char *>(takeChunk(size)) : nullptr;
      if (!data) {
        free(c);
        return nullptr;
      }
      *c = {next, size, data, base};
      (current ? current->next : first) = c;
      next = c;
    }
    next->base = base;
    current = next;
    top = base;
  }
}

void *Stack::takeChunk(size_t bytes) { return memory ? memory->take(memory->user, bytes) : allocAligned(bytes); }

void Stack::release(int64_t mark) {
  if (mark < 0 || mark > top)
    return;
  top = mark;
  // Bases of the chunks up to the current one are in order, so the chunk of the mark is the last one that begins at or
  // before it.
  Chunk *c = first;
  while (c && c != current && c->base + int64_t(c->size) <= mark)
    c = c->next;
  current = c;
}

int64_t Stack::positionOf(const void *p) const {
  int64_t base = 0; // bases of chunks past the current one are stale
  for (const Chunk *c = first; c; base += int64_t(c->size), c = c->next) {
    uintptr_t at = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(c->data);
    if (at < c->size)
      return base + int64_t(at);
  }
  return -1;
}

void Stack::destroy() {
  while (first) {
    Chunk *next = first->next;
    if (memory)
      memory->give(memory->user, first->data);
    else
      freeAligned(first->data);
    free(first);
    first = next;
  }
  current = nullptr;
  top = 0;
}

int64_t Stack::bytes() const {
  int64_t n = 0;
  for (Chunk *c = first; c; c = c->next)
    n += int64_t(c->size);
  return n;
}

void *Buffer::reserve(size_t bytes) {
  if (data && bytes <= size)
    return data;
  freeAligned(data);
  data = allocAligned(bytes);
  size = data ? bytes : 0;
  return data;
}

bool Retired::push(void *p) {
  if (size == capacity) {
    int32_t n = capacity ? capacity * 2 : 8;
    auto *grown = static_cast<void **>(realloc(data, sizeof(void *) * size_t(n)));
    if (!grown)
      return false;
    data = grown;
    capacity = n;
  }
  data[size++] = p;
  return true;
}

void Retired::freeAll() {
  while (size)
    freeAligned(data[--size]);
}
