//===- Copies.cpp - TMA and cp.async ---------------------------------------===//
//
// A copy happens when it is issued; in late mode when a wait asks for it, or when no thread can run. In both cases the
// memory it uses is taken until somebody has waited for it.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <algorithm>
#include <cstring>

using namespace optc::emulator;

static const TensorMap &checkMap(Thread &thread, const void *address, unsigned rank, const char *what) {
  requireChip(thread, what);
  auto *map = static_cast<const TensorMap *>(address);
  if (reinterpret_cast<uint64_t>(address) % 64 || map->magic != TensorMap::kMagic)
    fail(thread, "%s: %p is no tensor map", what, address);
  if (map->rank != rank)
    fail(thread, "%s of rank %u with a tensor map of rank %u", what, rank, map->rank);
  return *map;
}

static uint32_t boxBytes(const TensorMap &map) {
  uint32_t bytes = map.elementBytes;
  for (unsigned i = 0; i < map.rank; ++i)
    bytes *= map.box[i];
  return bytes;
}

/// A place in shared memory with the swizzle of a map: bits 4.. are exchanged with bits 7.. of the same address.
static uint32_t swizzled(uint32_t offset, unsigned swizzle) {
  uint32_t mask = (1u << swizzle) - 1; // 32, 64 and 128 bytes: 1, 2 and 3 bits
  return offset ^ ((offset >> 7 & mask) << 4);
}

void optc::emulator::checkAsyncWrite(Thread &thread, uint32_t begin, uint32_t end, const char *what) {
  Block &block = *thread.block;
  for (size_t i = 0; i < block.groups.size(); ++i) {
    auto check = [&](const ProductGroup &group) {
      for (const Span &span : group.reads)
        if (span.overlaps(begin, end))
          fail(thread, "%s to shared+%u..%u, which a product of warpgroup %zu reads that has not been waited for", what,
               begin, end, i);
    };
    check(block.groups[i].open);
    for (const ProductGroup &group : block.groups[i].groups)
      check(group);
  }
  for (const TensorCopy &copy : block.tensorCopies) {
    uint32_t last = copy.shared + boxBytes(*copy.map);
    if (!copy.load && !copy.readDone && copy.shared < end && begin < last)
      fail(thread, "%s to shared+%u..%u, which a TMA store reads that has not been waited for", what, begin, end);
  }
}

/// One row of a box: the bytes of global memory, and which of them exist.
static void copyRow(Thread &issuer, const TensorCopy &copy, const int64_t *index, uint32_t offset) {
  const TensorMap &map = *copy.map;
  Block &block = *issuer.block;
  uint32_t rowBytes = map.box[0] * map.elementBytes;
  bool inside = true;
  uint64_t address = map.base;
  for (unsigned i = 1; i < map.rank; ++i) {
    inside &= index[i] >= 0 && index[i] < static_cast<int64_t>(map.dims[i]);
    address += inside ? index[i] * map.strides[i - 1] : 0;
  }
  int64_t begin = std::clamp<int64_t>(-index[0], 0, map.box[0]);
  int64_t end = std::clamp<int64_t>(static_cast<int64_t>(map.dims[0]) - index[0], begin, map.box[0]);
  if (!inside)
    begin = end = 0;
  begin *= map.elementBytes, end *= map.elementBytes;
  auto *global = reinterpret_cast<uint8_t *>(address + index[0] * map.elementBytes);
  if (begin < end)
    accessGlobal(issuer, global + begin, end - begin, !copy.load, copy.load ? "TMA load" : "TMA store");
  uint8_t outside[16];
  memset(outside, map.nanFill ? 0xff : 0, sizeof outside);
  for (uint32_t at = 0; at < rowBytes; at += 16) {
    uint8_t *local = block.shared + swizzled(offset + at, map.swizzle);
    int64_t from = std::clamp<int64_t>(begin, at, at + 16) - at, to = std::clamp<int64_t>(end, at, at + 16) - at;
    if (!copy.load) {
      memcpy(global + at + from, local + from, to - from);
      continue;
    }
    memcpy(local, outside, from);
    memcpy(local + from, global + at + from, to - from);
    memcpy(local + to, outside, 16 - to);
  }
}

void optc::emulator::performTensorCopy(Block &block, TensorCopy &copy) {
  const TensorMap &map = *copy.map;
  Thread &issuer = *copy.issuer;
  const char *what = copy.load ? "TMA load" : "TMA store";
  uint32_t bytes = boxBytes(map), begin = copy.shared, end = begin + bytes;
  copy.performed = true;
  if (copy.load) {
    checkAsyncWrite(issuer, begin, end, what);
    for (uint32_t i = begin; i < end; ++i)
      if (block.state[i] == Barrier)
        fail(issuer, "TMA load to shared+%u..%u overwrites the mbarrier at shared+%u", begin, end, i / 8 * 8);
    memset(block.state.data() + begin, Written, bytes);
  } else {
    for (uint32_t i = begin; i < end; ++i)
      if (block.state[i] != Written)
        fail(issuer, "TMA store reads shared+%u, which nobody has written", i);
  }
  MBarrier *barrier = copy.load ? &block.mbarriers[block.mbarrierAt[copy.barrier / 8] - 1] : nullptr;
  if (block.race.on) {
    Race &race = block.race;
    unsigned actor = copy.load ? race.barrierActor(barrier - block.mbarriers.data()) : race.bulkActor();
    uint32_t clock = copy.readClock = ++race.asyncClockOf(actor);
    race.asyncAccess(issuer, actor, clock, copy.clocks, race.fenced[issuer.index], begin, end, copy.load, what);
    if (barrier)
      barrier->arriving[actor] = std::max(barrier->arriving[actor], clock);
  }
  int64_t index[5];
  uint32_t rowBytes = map.box[0] * map.elementBytes, rows = bytes / rowBytes;
  for (uint32_t row = 0; row < rows; ++row) {
    uint32_t rest = row;
    index[0] = copy.coordinates[0];
    for (unsigned i = 1; i < map.rank; ++i) {
      index[i] = static_cast<int64_t>(copy.coordinates[i]) + rest % map.box[i];
      rest /= map.box[i];
    }
    copyRow(issuer, copy, index, begin + row * rowBytes);
  }
  if (barrier)
    completeBytes(block, *barrier, bytes);
}

static void issue(Thread &thread, bool load, const void *shared, const void *barrier, const void *address,
                  unsigned rank, const int32_t *coordinates) {
  Block &block = *thread.block;
  const char *what = load ? "TMA load" : "TMA store";
  const TensorMap &map = checkMap(thread, address, rank, what);
  uint32_t bytes = boxBytes(map);
  uint32_t offset = sharedOffset(thread, shared, bytes, what);
  uint32_t alignment = map.swizzle ? 128u << map.swizzle : 128;
  if (offset % alignment)
    fail(thread, "%s: shared+%u is misaligned, a box with swizzle %u has to begin at a multiple of %u", what, offset,
         map.swizzle, alignment);
  TensorCopy copy;
  copy.load = load;
  copy.shared = offset;
  copy.barrier = load ? mbarrierAt(thread, barrier, what).offset : 0;
  copy.map = &map;
  for (unsigned i = 0; i < rank; ++i)
    copy.coordinates[i] = coordinates[i];
  copy.issuer = &thread;
  copy.group = thread.bulkGroups;
  if (block.race.on)
    copy.clocks = block.race.clocks[thread.index];
  // Copies that are complete and need nobody's wait are forgotten.
  while (!block.tensorCopies.empty() && block.tensorCopies.front().performed &&
         (block.tensorCopies.front().load || block.tensorCopies.front().readDone))
    block.tensorCopies.pop_front();
  block.tensorCopies.push_back(std::move(copy));
  if (!block.engine.modes.lateTma)
    performTensorCopy(block, block.tensorCopies.back());
  block.maybeSwitch(thread);
}

bool optc::emulator::performLate(Block &block) {
  for (TensorCopy &copy : block.tensorCopies)
    if (copy.load && !copy.performed) {
      performTensorCopy(block, copy);
      return true;
    }
  return false;
}

/// Stores of `thread` in all groups but the last `pending` have read their memory.
static void waitForStores(Thread &thread, uint32_t pending) {
  Block &block = *thread.block;
  for (TensorCopy &copy : block.tensorCopies) {
    if (copy.load || copy.issuer != &thread || copy.readDone || copy.group + pending >= thread.bulkGroups)
      continue;
    if (!copy.performed)
      performTensorCopy(block, copy);
    copy.readDone = true;
    if (block.race.on) {
      uint32_t &seen = block.race.clocks[thread.index][block.race.bulkActor()];
      seen = std::max(seen, copy.readClock);
    }
  }
}

//===-- cp.async -------------------------------------------------------------===//

void optc::emulator::performThreadCopy(Block &block, ThreadCopy &copy) {
  copy.performed = true;
  Thread &thread = *copy.issuer;
  uint8_t *destination = block.shared + copy.shared;
  if (copy.read)
    accessGlobal(thread, copy.source, copy.read, false, "cp.async");
  accessShared(thread, destination, copy.bytes, true, "cp.async");
  memcpy(destination, copy.source, copy.read);
  memset(destination + copy.read, 0, copy.bytes - copy.read);
}

static void copyAsync(Thread &thread, void *shared, const void *source, uint32_t bytes, uint32_t read) {
  Block &block = *thread.block;
  uint32_t offset = sharedOffset(thread, shared, bytes, "cp.async");
  if (offset % bytes || (read && reinterpret_cast<uint64_t>(source) % bytes))
    fail(thread, "cp.async of %u bytes from %p to shared+%u: both have to be multiples of %u", bytes, source, offset,
         bytes);
  if (read > bytes)
    fail(thread, "cp.async of %u bytes reads %u", bytes, read);
  checkAsyncWrite(thread, offset, offset + bytes, "cp.async");
  block.threadCopies.push_back(
      {&thread, offset, bytes, read, static_cast<const uint8_t *>(source), thread.copyGroups, false});
  if (!block.engine.modes.lateTma)
    performThreadCopy(block, block.threadCopies.back());
}

static void waitForCopies(Thread &thread, uint32_t pending) {
  Block &block = *thread.block;
  for (size_t i = 0; i < block.threadCopies.size(); ++i) {
    ThreadCopy &copy = block.threadCopies[i];
    if (copy.issuer != &thread || copy.group + pending >= thread.copyGroups)
      continue;
    if (!copy.performed)
      performThreadCopy(block, copy);
    else if (block.race.on) // visible from here on, not from where it was issued
      block.race.threadAccess(thread, copy.shared, copy.shared + copy.bytes, true);
    copy.issuer = nullptr;
  }
  while (!block.threadCopies.empty() && !block.threadCopies.front().issuer)
    block.threadCopies.pop_front();
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

void tmaPrefetch(Thread *t, uint32_t, const void *map) {
  auto *m = static_cast<const TensorMap *>(map);
  checkMap(*t, map, m->rank, "tma.prefetch");
}
void tmaLoad1(Thread *t, uint32_t, void *shared, void *barrier, const void *map, int32_t x) {
  issue(*t, true, shared, barrier, map, 1, &x);
}
void tmaLoad2(Thread *t, uint32_t, void *shared, void *barrier, const void *map, int32_t x, int32_t y) {
  int32_t c[] = {x, y};
  issue(*t, true, shared, barrier, map, 2, c);
}
void tmaLoad3(Thread *t, uint32_t, void *shared, void *barrier, const void *map, int32_t x, int32_t y, int32_t z) {
  int32_t c[] = {x, y, z};
  issue(*t, true, shared, barrier, map, 3, c);
}
void tmaLoad4(Thread *t, uint32_t, void *shared, void *barrier, const void *map, int32_t x, int32_t y, int32_t z,
              int32_t u) {
  int32_t c[] = {x, y, z, u};
  issue(*t, true, shared, barrier, map, 4, c);
}
void tmaLoad5(Thread *t, uint32_t, void *shared, void *barrier, const void *map, int32_t x, int32_t y, int32_t z,
              int32_t u, int32_t v) {
  int32_t c[] = {x, y, z, u, v};
  issue(*t, true, shared, barrier, map, 5, c);
}
void tmaStore2(Thread *t, uint32_t, const void *map, const void *shared, int32_t x, int32_t y) {
  int32_t c[] = {x, y};
  issue(*t, false, shared, nullptr, map, 2, c);
}
void tmaStore3(Thread *t, uint32_t, const void *map, const void *shared, int32_t x, int32_t y, int32_t z) {
  int32_t c[] = {x, y, z};
  issue(*t, false, shared, nullptr, map, 3, c);
}
void bulkCommit(Thread *t, uint32_t) { ++t->bulkGroups; }
void bulkWait(Thread *t, uint32_t, uint32_t pending) { waitForStores(*t, pending); }

void cpAsync16(Thread *t, uint32_t, void *shared, const void *source) { copyAsync(*t, shared, source, 16, 16); }
void cpAsync4Fill(Thread *t, uint32_t, void *shared, const void *source, uint32_t read) {
  copyAsync(*t, shared, source, 4, read);
}
void cpAsync8Fill(Thread *t, uint32_t, void *shared, const void *source, uint32_t read) {
  copyAsync(*t, shared, source, 8, read);
}
void cpAsync16Fill(Thread *t, uint32_t, void *shared, const void *source, uint32_t read) {
  copyAsync(*t, shared, source, 16, read);
}
void cpAsyncCommit(Thread *t, uint32_t) { ++t->copyGroups; }
void cpAsyncWait(Thread *t, uint32_t, uint32_t pending) { waitForCopies(*t, pending); }

void fenceAsync(Thread *t, uint32_t) {
  Race &race = t->block->race;
  if (!race.on)
    return;
  race.fenced[t->index] = race.clocks[t->index];
  race.release(t->index);
}

} // namespace optc::emulator
