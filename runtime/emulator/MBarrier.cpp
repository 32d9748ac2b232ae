//===- MBarrier.cpp - barriers in shared memory ----------------------------===//
//
// The bytes of an mbarrier are opaque; its state is here, found by its place. A wait blocks instead of polling.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <cstring>

using namespace optc::emulator;

static uint32_t barrierOffset(Thread &thread, const void *address, const char *what) {
  uint32_t offset = sharedOffset(thread, address, 8, what);
  if (offset % 8)
    fail(thread, "%s: the mbarrier at shared+%u is not aligned to 8 bytes", what, offset);
  return offset;
}

MBarrier &optc::emulator::mbarrierAt(Thread &thread, const void *address, const char *what) {
  Block &block = *thread.block;
  uint32_t offset = barrierOffset(thread, address, what);
  uint32_t number = block.mbarrierAt[offset / 8];
  if (!number)
    fail(thread, "%s: there is no initialized mbarrier at shared+%u", what, offset);
  if (block.race.on)
    block.race.threadAccess(thread, offset, offset + 8, false);
  return block.mbarriers[number - 1];
}

static void checkPhase(Block &block, MBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.phase ^= 1;
  barrier.pending = barrier.expected;
  if (block.race.on) {
    barrier.completed = barrier.arriving;
  }
  // Whoever waits waits for the phase that is complete now.
  std::vector<Thread *> waiting = std::move(barrier.waiting);
  barrier.waiting.clear();
  for (Thread *thread : waiting)
    block.wake(*thread);
}

void optc::emulator::completeBytes(Block &block, MBarrier &barrier, int64_t bytes) {
  barrier.bytes -= bytes;
  checkPhase(block, barrier);
}

static void arriveAt(Thread &thread, MBarrier &barrier) {
  Block &block = *thread.block;
  if (barrier.pending == 0)
    fail(thread, "more arrivals at the mbarrier at shared+%u than the %u of a phase", barrier.offset, barrier.expected);
  if (block.race.on) {
    joinClocks(barrier.arriving, block.race.clocks[thread.index]);
    block.race.release(thread.index);
  }
  --barrier.pending;
  checkPhase(block, barrier);
  block.maybeSwitch(thread);
}

void optc::emulator::checkEndOfBlock(Block &block, Thread &last) {
  for (const TensorCopy &copy : block.tensorCopies)
    if (copy.load ? !copy.performed : !copy.readDone)
      fail(last, "the block ends while a TMA %s at shared+%u is under way: nobody waited for it",
           copy.load ? "load" : "store", copy.shared);
  for (const MBarrier &barrier : block.mbarriers)
    if (barrier.bytes && block.mbarrierAt[barrier.offset / 8])
      fail(last, "the block ends while the mbarrier at shared+%u %s %lld bytes", barrier.offset,
           barrier.bytes > 0 ? "waits for" : "has got too many:",
           static_cast<long long>(barrier.bytes > 0 ? barrier.bytes : -barrier.bytes));
  for (size_t i = 0; i < block.groups.size(); ++i)
    if (!block.groups[i].groups.empty() || !block.groups[i].open.reads.empty())
      fail(last, "the block ends while products of warpgroup %zu are under way: nobody waited for them", i);
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

void mbarrierInit(Thread *t, uint32_t, void *address, uint32_t count) {
  Block &block = *t->block;
  uint32_t offset = barrierOffset(*t, address, "mbarrier.init");
  if (count == 0 || count >= 1u << 20)
    fail(*t, "mbarrier.init at shared+%u: %u arrivals; 1 to %u are possible", offset, count, (1u << 20) - 1);
  if (block.race.on)
    block.race.threadAccess(*t, offset, offset + 8, true);
  uint16_t &number = block.mbarrierAt[offset / 8];
  if (!number) {
    if (block.mbarriers.size() == 0xffff)
      fail(*t, "too many mbarriers");
    block.mbarriers.emplace_back();
    number = block.mbarriers.size();
  }
  MBarrier &barrier = block.mbarriers[number - 1];
  if (!barrier.waiting.empty())
    fail(*t, "mbarrier.init at shared+%u, where threads wait", offset);
  barrier = MBarrier();
  barrier.offset = offset;
  barrier.expected = barrier.pending = count;
  if (block.race.on)
    barrier.arriving.assign(block.race.numActors, 0), barrier.completed = barrier.arriving;
  memset(block.state.data() + offset, Barrier, 8);
}

void mbarrierInval(Thread *t, uint32_t, void *address) {
  MBarrier &barrier = mbarrierAt(*t, address, "mbarrier.inval");
  if (!barrier.waiting.empty())
    fail(*t, "mbarrier.inval at shared+%u, where threads wait", barrier.offset);
  barrier.bytes = 0;
  t->block->mbarrierAt[barrier.offset / 8] = 0;
  memset(t->block->state.data() + barrier.offset, Poison, 8);
}

void mbarrierArrive(Thread *t, uint32_t, void *address) { arriveAt(*t, mbarrierAt(*t, address, "mbarrier.arrive")); }

void mbarrierArriveExpect(Thread *t, uint32_t, void *address, uint32_t bytes) {
  MBarrier &barrier = mbarrierAt(*t, address, "mbarrier.arrive.expect_tx");
  barrier.bytes += bytes;
  if (barrier.bytes >= 1 << 20)
    fail(*t, "the mbarrier at shared+%u would wait for %lld bytes; %d are possible", barrier.offset,
         static_cast<long long>(barrier.bytes), (1 << 20) - 1);
  arriveAt(*t, barrier);
}

static bool passed(const MBarrier &barrier, uint32_t parity) { return barrier.phase != (parity & 1); }

static void acquire(Thread &thread, const MBarrier &barrier) {
  if (thread.block->race.on)
    joinClocks(thread.block->race.clocks[thread.index], barrier.completed);
}

void mbarrierWait(Thread *t, uint32_t, void *address, uint32_t parity) {
  Block &block = *t->block;
  MBarrier *barrier = &mbarrierAt(*t, address, "mbarrier.wait");
  uint32_t number = block.mbarrierAt[barrier->offset / 8];
  block.maybeSwitch(*t);
  if (!passed(block.mbarriers[number - 1], parity)) {
    block.mbarriers[number - 1].waiting.push_back(t);
    block.wait(*t, "mbarrier.wait", block.mbarriers[number - 1].offset);
    // Nobody may be two phases ahead of a thread that waits for one.
    if (!passed(block.mbarriers[number - 1], parity))
      fail(*t, "mbarrier.wait at shared+%u: the next phase is complete, too, before the thread has seen this one",
           block.mbarriers[number - 1].offset);
  }
  acquire(*t, block.mbarriers[number - 1]);
}

uint32_t mbarrierTryWait(Thread *t, uint32_t, void *address, uint32_t parity) {
  MBarrier &barrier = mbarrierAt(*t, address, "mbarrier.try_wait");
  if (passed(barrier, parity)) {
    acquire(*t, barrier);
    return 1;
  }
  // Who tries again in a loop must not keep the others from running.
  Block &block = *t->block;
  uint32_t number = block.mbarrierAt[barrier.offset / 8];
  barrier.waiting.push_back(t);
  block.wait(*t, "mbarrier.wait", barrier.offset);
  acquire(*t, block.mbarriers[number - 1]);
  return 1;
}

} // namespace optc::emulator
