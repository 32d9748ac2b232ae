//===- Race.cpp - which accesses are ordered -------------------------------===//
#include "Engine.h"
#include <algorithm>

using namespace optc::emulator;

void optc::emulator::joinClocks(Clocks &into, const Clocks &other) {
  for (size_t i = 0, n = std::min(into.size(), other.size()); i < n; ++i)
    into[i] = std::max(into[i], other[i]);
}

void Race::reset(unsigned threads, uint32_t sharedBytes) {
  numThreads = threads;
  numActors = threads + kBarrierActors + kGroupActors + 1;
  clocks.assign(threads, Clocks(numActors, 0));
  fenced.assign(threads, Clocks(numActors, 0));
  for (unsigned t = 0; t < threads; ++t)
    clocks[t][t] = 1;
  asyncClock.assign(numActors - threads, 0);
  cells.assign(sharedBytes, Cell());
}

void Race::join(const std::vector<Thread *> &threads) {
  Clocks all(numActors, 0);
  for (Thread *t : threads)
    joinClocks(all, clocks[t->index]);
  for (Thread *t : threads) {
    clocks[t->index] = all;
    release(t->index);
  }
}

void Race::joinAll() {
  Clocks all(numActors, 0);
  for (const Clocks &c : clocks)
    joinClocks(all, c);
  for (unsigned t = 0; t < numThreads; ++t) {
    clocks[t] = all;
    release(t);
  }
}

void Race::report(Thread &thread, const char *what, uint32_t offset, const Stamp &other, bool otherWrites) {
  unsigned actor = other.actor - 1;
  char who[64];
  if (actor < numThreads)
    snprintf(who, sizeof who, "thread %u of the block", actor);
  else if (actor < numThreads + kBarrierActors)
    snprintf(who, sizeof who, "a TMA load");
  else if (actor < bulkActor())
    snprintf(who, sizeof who, "a product of warpgroup %u", actor - numThreads - kBarrierActors);
  else
    snprintf(who, sizeof who, "a TMA store");
  fail(thread, "race: %s shared+%u, and nothing orders that after %s, which %s it", what, offset, who,
       otherWrites ? "wrote" : "read");
}

void Race::record(Cell &cell, const Stamp &stamp, bool write, const Clocks &clocks) {
  if (write) {
    cell = Cell();
    cell.write = stamp;
    return;
  }
  // A reader that is ordered before this one says nothing new.
  for (Stamp &read : cell.reads)
    if (read.actor == 0 || read.actor == stamp.actor || before(read, clocks)) {
      read = stamp;
      return;
    }
  cell.reads[cell.next++ % 4] = stamp;
}

void Race::threadAccess(Thread &thread, uint32_t begin, uint32_t end, bool write) {
  const Clocks &mine = clocks[thread.index];
  Stamp stamp = {mine[thread.index], static_cast<uint16_t>(thread.index + 1)};
  for (uint32_t i = begin; i < end; ++i) {
    Cell &cell = cells[i];
    if (!before(cell.write, mine))
      report(thread, write ? "a store to" : "a load of", i, cell.write, true);
    if (write)
      for (const Stamp &read : cell.reads)
        if (!before(read, mine))
          report(thread, "a store to", i, read, false);
    record(cell, stamp, write, mine);
  }
}

void Race::asyncAccess(Thread &issuer, unsigned actor, uint32_t clock, const Clocks &seen, const Clocks &fences,
                       uint32_t begin, uint32_t end, bool write, const char *what) {
  Stamp stamp = {clock, static_cast<uint16_t>(actor + 1)};
  for (uint32_t i = begin; i < end; ++i) {
    Cell &cell = cells[i];
    if (cell.write.actor != stamp.actor && !before(cell.write, seen))
      report(issuer, what, i, cell.write, true);
    // What threads have written comes before what asynchronous units read or write there by a fence, of the writer or
    // of the issuer.
    if (cell.write.actor && cell.write.actor <= numThreads) {
      unsigned writer = cell.write.actor - 1;
      if (fenced[writer][writer] < cell.write.clock && fences[writer] < cell.write.clock)
        fail(issuer, "%s %s shared+%u, which thread %u of the block wrote, without a fence.proxy.async in between",
             what, write ? "overwrites" : "reads", i, writer);
    }
    if (write)
      for (const Stamp &read : cell.reads)
        if (!before(read, seen))
          report(issuer, what, i, read, false);
    record(cell, stamp, write, seen);
  }
}

void GlobalRace::access(Thread &thread, uint64_t address, uint64_t bytes, bool write) {
  Block &block = *thread.block;
  const Clocks &mine = block.race.clocks[thread.index];
  auto ordered = [&](const Use &use, uint8_t mask) {
    return !(use.mask & mask) || (use.block == block.number && mine[use.thread] >= use.clock);
  };
  for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
    uint8_t mask = 0;
    for (uint64_t b = 0; b < 4; ++b)
      if (word * 4 + b >= address && word * 4 + b < address + bytes)
        mask |= 1 << b;
    Cell &cell = cells[word];
    Use use = {block.number, mine[thread.index], static_cast<uint16_t>(thread.index), mask};
    const Use *other = !ordered(cell.write, mask)                ? &cell.write
                       : write && !ordered(cell.read, mask)      ? &cell.read
                       : write && !ordered(cell.otherRead, mask) ? &cell.otherRead
                                                                 : nullptr;
    if (other)
      fail(thread,
           "race: a %s of global memory at %#llx, and nothing orders that after thread %u of block %llu, which %s it",
           write ? "store" : "load", static_cast<unsigned long long>(word * 4), other->thread,
           static_cast<unsigned long long>(other->block), other == &cell.write ? "wrote" : "read");
    if (write) {
      bool same = cell.write.block == use.block && cell.write.thread == use.thread && cell.write.clock == use.clock;
      use.mask |= same ? cell.write.mask : 0;
      cell.write = use;
    } else if (cell.read.block != use.block || cell.read.thread != use.thread) {
      cell.otherRead = cell.read;
      cell.read = use;
    } else {
      use.mask |= cell.read.mask;
      cell.read = use;
    }
  }
}
