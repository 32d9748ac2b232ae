//===- Products.cpp - wgmma ------------------------------------------------===//
//
// The accumulators of a warpgroup live here from the first product to wgmma.wait.n#; meanwhile the registers of the
// threads hold a tag, which is a NaN for everybody who does not wait. Operands are found through the real descriptors.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <algorithm>
#include <cstring>

using namespace optc::emulator;

// Tags: signalling NaNs with 6 bits of number and 15 of version.
static constexpr uint32_t kTag = 0x7f800000u | 1u << 21;
static uint32_t tagOf(uint32_t number, const Accumulators &a) { return kTag | number << 15 | (a.version & 0x7fff); }
static bool isTag(uint32_t bits) { return (bits & 0xffe00000u) == kTag; }

namespace {
/// A matrix operand: where its elements are in shared memory.
struct Operand {
  uint32_t start, leading, stride;
  unsigned swizzle; ///< as in TensorMap
  bool transposed;  ///< the row (or column) index is the contiguous one
  uint32_t elementBytes;

  /// Byte offset of element (mn, k).
  uint32_t at(uint32_t mn, uint32_t k) const {
    uint32_t offset = start;
    if (!transposed) {
      uint32_t bytes = k * elementBytes, row = swizzle ? 16u << swizzle : 16;
      // Without a swizzle, the two 16-byte halves of k are `leading` apart; with one they are neighbours.
      offset += mn / 8 * stride + mn % 8 * row + (swizzle ? bytes : bytes / 16 * leading + bytes % 16);
    } else {
      // 8 rows of k, each as long as the swizzle: `stride` to the next 8, `leading` to the next columns. Without a
      // swizzle the two change places.
      uint32_t row = swizzle ? 16u << swizzle : 16, perRow = row / elementBytes;
      offset += mn % perRow * elementBytes + k % 8 * row;
      offset += swizzle ? mn / perRow * leading + k / 8 * stride : mn / perRow * stride + k / 8 * leading;
    }
    uint32_t mask = (1u << swizzle) - 1;
    return offset ^ ((offset >> 7 & mask) << 4);
  }
};
} // namespace

static Operand decode(Thread &thread, uint64_t descriptor, bool transposed, uint32_t elementBytes, char name) {
  static constexpr unsigned kSwizzles[] = {0, 3, 2, 1};
  Operand operand;
  operand.start = (descriptor & 0x3fff) << 4;
  operand.leading = (descriptor >> 16 & 0x3fff) << 4;
  operand.stride = (descriptor >> 32 & 0x3fff) << 4;
  operand.swizzle = kSwizzles[descriptor >> 62];
  operand.transposed = transposed;
  operand.elementBytes = elementBytes;
  if (descriptor >> 49 & 7)
    fail(thread, "wgmma: the base offset of descriptor %c is %u; the emulator knows 0 only", name,
         static_cast<unsigned>(descriptor >> 49 & 7));
  return operand;
}

/// The elements in 16 bytes of shared memory.
static void convert(ProductType type, const uint8_t *bytes, float *values) {
  if (type == ProductType::TF32) {
    uint32_t bits[4];
    memcpy(bits, bytes, 16);
    for (uint32_t &b : bits)
      b &= 0xffffe000u; // what the tensor core reads
    memcpy(values, bits, 16);
    return;
  }
  uint16_t bits[8];
  memcpy(bits, bytes, 16);
  for (int i = 0; i < 8; ++i)
    values[i] = type == ProductType::F16 ? fromHalf(bits[i]) : fromBFloat(bits[i]);
}

static uint32_t depth(ProductType type) { return type == ProductType::TF32 ? 8 : 16; }
static uint32_t elementSize(ProductType type) { return type == ProductType::TF32 ? 4 : 2; }

/// The range of bytes that an operand of `mn` rows uses; checks that it has been written.
static Span extent(Thread &thread, const Operand &operand, uint32_t mn, uint32_t k, char name) {
  const Block &block = *thread.block;
  uint32_t begin = ~0u, end = 0;
  uint32_t step = 16 / operand.elementBytes; // neighbours in 16 bytes stay together
  for (uint32_t i = 0; i < mn; i += operand.transposed ? step : 1)
    for (uint32_t j = 0; j < k; j += operand.transposed ? 1 : step) {
      uint32_t offset = operand.at(i, j);
      if (offset + 16 > block.launch->sharedBytes)
        fail(thread, "wgmma: operand %c reads shared+%u, outside of the block's %u bytes", name, offset,
             block.launch->sharedBytes);
      static constexpr uint64_t kWritten[2] = {0x0101010101010101u, 0x0101010101010101u};
      if (!memcmp(&block.state[offset], kWritten, 16)) {
        begin = std::min(begin, offset);
        end = std::max(end, offset + 16);
        continue;
      }
      for (uint32_t b = offset; b < offset + 16; ++b)
        if (block.state[b] != Written)
          fail(thread, "wgmma: operand %c reads shared+%u, which %s", name, b,
               block.state[b] == Barrier ? "is an mbarrier" : "nobody has written");
    }
  return {begin, end};
}

/// c[64][n] += a[64][k] * b[k][n]
__attribute__((target_clones("avx512f", "arch=haswell", "default"))) static void
multiply(float *__restrict c, const float *__restrict a, const float *__restrict b, uint32_t n, uint32_t k) {
  for (uint32_t i = 0; i < 64; ++i) {
    float *row = c + i * n;
    for (uint32_t p = 0; p < k; ++p) {
      float x = a[i * k + p];
      const float *line = b + p * n;
      for (uint32_t j = 0; j < n; ++j)
        row[j] += x * line[j];
    }
  }
}

static void perform(Thread &thread, WarpGroup &group, const Product &product) {
  Block &block = *thread.block;
  Accumulators &acc = *group.accumulators[product.accumulators];
  uint32_t k = depth(product.type), n = product.n;
  Operand a = decode(thread, product.a, product.transposeA, elementSize(product.type), 'a');
  Operand b = decode(thread, product.b, product.transposeB, elementSize(product.type), 'b');
  float left[64 * 16], right[16 * 256];
  // left[i][k], right[k][i]; the 16 bytes of a step hold neighbours in k, or in i when transposed.
  auto load = [&](const Operand &operand, uint32_t mn, float *to, uint32_t perRow, uint32_t perK) {
    uint32_t step = 16 / operand.elementBytes;
    float values[8];
    for (uint32_t i = 0; i < mn; i += operand.transposed ? step : 1)
      for (uint32_t j = 0; j < k; j += operand.transposed ? 1 : step) {
        convert(product.type, block.shared + operand.at(i, j), values);
        float *first = to + i * perRow + j * perK;
        for (uint32_t e = 0; e < step; ++e)
          first[e * (operand.transposed ? perRow : perK)] = values[e];
      }
  };
  load(a, 64, left, k, 1);
  load(b, n, right, 1, n);
  if (!product.add)
    memset(acc.values, 0, 64 * n * sizeof(float));
  multiply(acc.values, left, right, n, k);
}

/// Element of the accumulators that register `r` of thread `t` of a warpgroup holds.
static uint32_t fragment(uint32_t t, uint32_t r, uint32_t n) {
  uint32_t row = t / 32 * 16 + t % 32 / 4 + (r >> 1 & 1) * 8, column = r / 4 * 8 + t % 4 * 2 + (r & 1);
  return row * n + column;
}

static WarpGroup &groupOf(Thread &thread, const char *what) {
  Block &block = *thread.block;
  size_t index = thread.warp / 4;
  if ((index + 1) * 128 > block.threads.size())
    fail(thread, "%s: warpgroup %zu has fewer than 128 threads", what, index);
  return block.groups[index];
}

/// Waits for the 128 threads of a warpgroup. True in the last one, which has to call `depart`.
static bool gather(Thread &thread, WarpGroup &group, uint32_t site, const char *what, void *result,
                   const void *operands) {
  if (group.arrived && (group.site != site || strcmp(group.name, what)))
    fail(thread, "%s: threads of the warpgroup are at different instructions (others in %s)", what, group.name);
  group.site = site;
  group.name = what;
  group.results[thread.index % 128] = result;
  group.operands[thread.index % 128] = operands;
  if (++group.arrived == 128)
    return true;
  group.waiting.push_back(&thread);
  thread.block->wait(thread, what, site);
  return false;
}

static void depart(Block &block, WarpGroup &group) {
  group.arrived = 0;
  for (Thread *thread : group.waiting)
    block.wake(*thread);
  group.waiting.clear();
}

/// Completes all committed groups but the last `pending`.
static void retire(Thread &thread, WarpGroup &group, uint32_t pending) {
  while (group.groups.size() > pending) {
    for (const Product &product : group.groups.front().products)
      perform(thread, group, product);
    group.retiredClock = std::max(group.retiredClock, group.groups.front().clock);
    group.groups.pop_front();
  }
}

static void acquire(Thread &thread, const WarpGroup &group) {
  Race &race = thread.block->race;
  if (!race.on)
    return;
  uint32_t &seen = race.clocks[thread.index][race.groupActor(thread.warp / 4)];
  seen = std::max(seen, group.retiredClock);
}

static const float *floats(const void *operands) { return static_cast<const float *>(operands); }
static float *floats(void *result) { return static_cast<float *>(result); }
static uint32_t bitsOf(const void *operands) {
  uint32_t bits;
  memcpy(&bits, operands, 4);
  return bits;
}

/// Accumulators under way that registers of all threads name by their tag; null when they do not.
static Accumulators *current(WarpGroup &group, uint32_t n, uint32_t &number) {
  uint32_t tag = bitsOf(group.operands[0]);
  number = tag >> 15 & 63;
  if (!isTag(tag) || number >= group.accumulators.size())
    return nullptr;
  Accumulators &acc = *group.accumulators[number];
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r = 0; r < n / 2; ++r)
      if (bitsOf(floats(group.operands[t]) + r) != tag)
        return nullptr;
  return acc.used && acc.n == n && tag == tagOf(number, acc) ? &acc : nullptr;
}

/// Accumulators that registers of all threads name by their tag; null when they hold values.
static Accumulators *tagged(Thread &thread, WarpGroup &group, uint32_t n, uint32_t &number, const char *what) {
  uint32_t tag = bitsOf(group.operands[0]);
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r : {0u, n / 2 - 1})
      if (isTag(bitsOf(floats(group.operands[t]) + r)) != isTag(tag) ||
          (isTag(tag) && bitsOf(floats(group.operands[t]) + r) != tag))
        fail(thread, "%s: register %u of thread %u does not belong to the same accumulators as the others", what, r, t);
  if (!isTag(tag))
    return nullptr;
  number = tag >> 15 & 63;
  if (number >= group.accumulators.size() || !group.accumulators[number]->used || group.accumulators[number]->n != n ||
      tag != tagOf(number, *group.accumulators[number]))
    fail(thread, "%s: the accumulators are older ones, which products have overwritten since", what);
  return group.accumulators[number].get();
}

static uint32_t takeAccumulators(Thread &thread, WarpGroup &group, uint32_t n) {
  uint32_t number = 0;
  while (number < group.accumulators.size() && group.accumulators[number]->used)
    ++number;
  if (number == 64)
    fail(thread, "wgmma: more than 64 sets of accumulators");
  if (number == group.accumulators.size())
    group.accumulators.push_back(std::make_unique<Accumulators>());
  Accumulators &acc = *group.accumulators[number];
  acc.used = true;
  acc.n = n;
  return number;
}

static void multiplyGroup(Thread &thread, WarpGroup &group, uint32_t n, ProductType type) {
  struct Rest {
    uint64_t a, b;
    uint32_t add, transposeA, transposeB;
  };
  Block &block = *thread.block;
  // Registers first, then the others as in a struct: descriptors are aligned to 8 bytes.
  size_t restAt = (n / 2 * 4 + 7) / 8 * 8;
  Rest rest = {};
  size_t restBytes = type == ProductType::TF32 ? 20 : 28;
  memcpy(&rest, static_cast<const char *>(group.operands[0]) + restAt, restBytes);
  for (uint32_t t = 1; t < 128; ++t)
    if (memcmp(&rest, static_cast<const char *>(group.operands[t]) + restAt, restBytes))
      fail(thread, "wgmma: thread %u of the warpgroup has other descriptors than thread 0", t);

  uint32_t number = 0;
  Accumulators *acc = nullptr;
  bool fresh = false;
  // Without `add` registers may hold anything: those under way are overwritten, what else they hold is nobody's.
  if (!rest.add)
    acc = current(group, n, number);
  else if (isTag(bitsOf(group.operands[0])))
    acc = tagged(thread, group, n, number, "wgmma");
  if (!acc) {
    fresh = true;
    number = takeAccumulators(thread, group, n);
    acc = group.accumulators[number].get();
    if (rest.add) {
      tagged(thread, group, n, number, "wgmma");
      for (uint32_t t = 0; t < 128; ++t)
        for (uint32_t r = 0; r < n / 2; ++r)
          acc->values[fragment(t, r, n)] = floats(group.operands[t])[r];
    }
  }
  if (fresh && !group.fenced)
    fail(thread, "wgmma: no wgmma.fence between the registers' last use and the first product");
  Product product = {rest.a, rest.b, n, number, rest.add != 0, rest.transposeA != 0, rest.transposeB != 0, type};
  Operand a = decode(thread, rest.a, product.transposeA, elementSize(type), 'a');
  Operand b = decode(thread, rest.b, product.transposeB, elementSize(type), 'b');
  Span spans[] = {extent(thread, a, 64, depth(type), 'a'), extent(thread, b, n, depth(type), 'b')};
  if (block.race.on) {
    Race &race = block.race;
    Clocks all(race.numActors, 0), fences(race.numActors, 0);
    size_t first = thread.index / 128 * 128;
    for (size_t t = first; t < first + 128; ++t) {
      joinClocks(all, race.clocks[t]);
      joinClocks(fences, race.fenced[t]);
    }
    unsigned actor = race.groupActor(thread.warp / 4);
    group.open.clock = ++race.asyncClockOf(actor);
    for (auto [operand, mn] : {std::pair(&a, 64u), std::pair(&b, n)}) {
      uint32_t step = 16 / operand->elementBytes;
      for (uint32_t i = 0; i < mn; i += operand->transposed ? step : 1)
        for (uint32_t j = 0; j < depth(type); j += operand->transposed ? 1 : step)
          race.asyncAccess(thread, actor, group.open.clock, all, fences, operand->at(i, j), operand->at(i, j) + 16,
                           false, "wgmma");
    }
  }
  group.open.reads.push_back(spans[0]);
  group.open.reads.push_back(spans[1]);
  if (block.engine.modes.lateTma)
    group.open.products.push_back(product);
  else
    perform(thread, group, product);
  ++acc->version;
  uint32_t tag = tagOf(number, *acc);
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r = 0; r < n / 2; ++r)
      memcpy(floats(group.results[t]) + r, &tag, 4);
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

template <ProductType type>
static void product(Thread *t, uint32_t site, void *result, const void *operands, uint32_t n) {
  requireChip(*t, "wgmma", /*onlyThat=*/true);
  WarpGroup &group = groupOf(*t, "wgmma");
  if (gather(*t, group, site, "wgmma", result, operands)) {
    multiplyGroup(*t, group, n, type);
    depart(*t->block, group);
  }
}
void wgmmaF16(Thread *t, uint32_t site, void *result, const void *operands, uint32_t n) {
  product<ProductType::F16>(t, site, result, operands, n);
}
void wgmmaBF16(Thread *t, uint32_t site, void *result, const void *operands, uint32_t n) {
  product<ProductType::BF16>(t, site, result, operands, n);
}
void wgmmaTF32(Thread *t, uint32_t site, void *result, const void *operands, uint32_t n) {
  product<ProductType::TF32>(t, site, result, operands, n);
}

void wgmmaFence(Thread *t, uint32_t site) {
  WarpGroup &group = groupOf(*t, "wgmma.fence");
  if (gather(*t, group, site, "wgmma.fence", nullptr, nullptr)) {
    group.fenced = true;
    depart(*t->block, group);
  }
}

void wgmmaCommit(Thread *t, uint32_t site) {
  WarpGroup &group = groupOf(*t, "wgmma.commit");
  if (gather(*t, group, site, "wgmma.commit", nullptr, nullptr)) {
    group.groups.push_back(std::move(group.open));
    group.open = ProductGroup();
    depart(*t->block, group);
  }
}

void wgmmaWait(Thread *t, uint32_t site, uint32_t pending) {
  WarpGroup &group = groupOf(*t, "wgmma.wait");
  if (gather(*t, group, site, "wgmma.wait", nullptr, nullptr)) {
    retire(*t, group, pending);
    depart(*t->block, group);
  }
  acquire(*t, group);
}

void wgmmaWaitValues(Thread *t, uint32_t site, void *result, const void *operands, uint32_t n) {
  WarpGroup &group = groupOf(*t, "wgmma.wait");
  if (gather(*t, group, site, "wgmma.wait", result, operands)) {
    if (!group.open.reads.empty())
      fail(*t, "wgmma.wait: there are products that have not been committed");
    retire(*t, group, 0);
    uint32_t number = 0;
    Accumulators *acc = tagged(*t, group, n, number, "wgmma.wait");
    for (uint32_t i = 0; i < 128; ++i)
      for (uint32_t r = 0; r < n / 2; ++r)
        floats(group.results[i])[r] = acc ? acc->values[fragment(i, r, n)] : floats(group.operands[i])[r];
    if (acc) {
      acc->used = false;
      ++acc->version;
    }
    group.fenced = false;
    depart(*t->block, group);
  }
  acquire(*t, group);
}

} // namespace optc::emulator
