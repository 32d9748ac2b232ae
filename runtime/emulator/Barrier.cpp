//===- Barrier.cpp - barriers of blocks and meetings of warps --------------===//
#include "Engine.h"
#include <algorithm>
#include <cstring>

using namespace optc::emulator;

void NamedBarrier::clear() {
  arrived = expected = count = 0;
  inUse = any = false;
  vote = true;
  waiting.clear();
  joined.clear();
}

/// All lanes of the warps that took part have to have been there (.aligned).
static void checkAligned(Thread &thread, const NamedBarrier &barrier, unsigned id) {
  Block &block = *thread.block;
  std::vector<uint32_t> lanes(block.warps.size());
  for (Thread *t : barrier.joined)
    lanes[t->warp] |= 1u << t->lane;
  for (size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] && lanes[i] != block.warps[i].live)
      fail(thread, "barrier %u: only the lanes %#x of warp %zu are there, but its live lanes are %#x", id, lanes[i], i,
           block.warps[i].live);
}

static void release(Block &block, NamedBarrier &barrier) {
  if (block.race.on) {
    if (barrier.joined.size() == block.live)
      block.race.joinAll();
    else
      block.race.join(barrier.joined);
  }
  // Threads that wait read the result of a reduction when they wake, so it stays until the next use.
  std::vector<Thread *> waiting = std::move(barrier.waiting);
  bool vote = barrier.vote, any = barrier.any;
  uint32_t count = barrier.count;
  barrier.clear();
  barrier.lastVote = vote, barrier.lastAny = any, barrier.lastCount = count;
  std::sort(waiting.begin(), waiting.end(), [](Thread *a, Thread *b) { return a->index < b->index; });
  for (Thread *t : waiting)
    block.wake(*t);
}

void optc::emulator::leaveBarriers(Block &block) {
  for (NamedBarrier &barrier : block.barriers)
    if (barrier.inUse && barrier.expected == 0 && block.live && barrier.arrived == block.live)
      release(block, barrier);
}

/// `count` threads, 0 for all of the block; `aligned` as in PTX; does not wait when `arriveOnly`.
static NamedBarrier &arrive(Thread &thread, uint32_t site, uint32_t id, uint32_t count, bool aligned, bool arriveOnly,
                            bool predicate = false) {
  Block &block = *thread.block;
  if (id >= 16)
    fail(thread, "barrier %u: there are 16", id);
  uint32_t all = block.threads.size();
  if (count % 32 || count > (all + 31) / 32 * 32)
    fail(thread, "barrier %u of %u threads: has to be a multiple of 32, and the block has %u", id, count, all);
  NamedBarrier &barrier = block.barriers[id];
  if (barrier.inUse && barrier.expected != count)
    fail(thread, "barrier %u of %u threads, which others use for %u at the same time", id, count, barrier.expected);
  for (Thread *other : barrier.joined)
    if (aligned && other->warp == thread.warp && other->barrierSite != site)
      fail(thread, "barrier %u: lanes of warp %u are at different barrier instructions", id, thread.warp);
  thread.barrierSite = site;
  barrier.inUse = true;
  barrier.expected = count;
  ++barrier.arrived;
  barrier.vote &= predicate;
  barrier.any |= predicate;
  barrier.count += predicate;
  barrier.joined.push_back(&thread);
  if (barrier.arrived == (count ? count : block.live)) {
    if (aligned)
      checkAligned(thread, barrier, id);
    release(block, barrier);
    block.maybeSwitch(thread);
    return barrier;
  }
  if (!arriveOnly) {
    barrier.waiting.push_back(&thread);
    block.wait(thread, count ? "a named barrier" : "a barrier of the block", site);
  }
  return barrier;
}

void optc::emulator::meet(Thread &thread, uint32_t site, uint32_t mask, const char *name, bool aligned, void *argument,
                          void (*run)(Block &, Warp &, uint32_t, Meeting &)) {
  Block &block = *thread.block;
  Warp &warp = block.warps[thread.warp];
  uint32_t bit = 1u << thread.lane;
  if (!(mask & bit))
    fail(thread, "%s: the mask %#x does not have the lane that executes it", name, mask);
  if (mask & ~warp.live)
    fail(thread, "%s: the mask %#x names lanes that have ended or do not exist (live: %#x)", name, mask, warp.live);
  Meeting *meeting = nullptr;
  for (Meeting &m : warp.meetings) {
    if (!(m.mask & mask))
      continue;
    if (m.mask != mask || strcmp(m.name, name))
      fail(thread, "%s with mask %#x, while lanes %#x wait in %s with mask %#x", name, mask, m.arrived, m.name, m.mask);
    if (aligned && m.site != site)
      fail(thread, "%s: lanes of the warp are at different instructions", name);
    meeting = &m;
  }
  if (!meeting) {
    warp.meetings.emplace_back();
    meeting = &warp.meetings.back();
    meeting->mask = mask;
    meeting->site = site;
    meeting->name = name;
  }
  meeting->arrived |= bit;
  meeting->arguments[thread.lane] = argument;
  if (meeting->arrived != mask) {
    block.wait(thread, name, site);
    return;
  }
  Meeting complete = *meeting;
  warp.meetings.erase(warp.meetings.begin() + (meeting - warp.meetings.data()));
  run(block, warp, thread.warp, complete);
  for (uint32_t lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) && lane != thread.lane)
      block.wake(block.threads[thread.warp * 32 + lane]);
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

void barrierAligned(Thread *t, uint32_t site, uint32_t id) { arrive(*t, site, id, 0, true, false); }
void barrierAll(Thread *t, uint32_t site, uint32_t id) { arrive(*t, site, id, 0, false, false); }
void barrierAlignedCount(Thread *t, uint32_t site, uint32_t id, uint32_t n) {
  if (n == 0)
    fail(*t, "barrier %u of 0 threads", id);
  arrive(*t, site, id, n, true, false);
}
void barrierCount(Thread *t, uint32_t site, uint32_t id, uint32_t n) {
  if (n == 0)
    fail(*t, "barrier %u of 0 threads", id);
  arrive(*t, site, id, n, false, false);
}
void barrierArrive(Thread *t, uint32_t site, uint32_t id, uint32_t n) {
  if (n == 0)
    fail(*t, "barrier %u of 0 threads", id);
  arrive(*t, site, id, n, true, true);
}
uint32_t barrierAnd(Thread *t, uint32_t site, uint32_t id, uint32_t p) {
  return arrive(*t, site, id, 0, true, false, p & 1).lastVote;
}
uint32_t barrierOr(Thread *t, uint32_t site, uint32_t id, uint32_t p) {
  return arrive(*t, site, id, 0, true, false, p & 1).lastAny;
}
uint32_t barrierPopc(Thread *t, uint32_t site, uint32_t id, uint32_t p) {
  return arrive(*t, site, id, 0, true, false, p & 1).lastCount;
}

void warpSync(Thread *t, uint32_t site, uint32_t mask) {
  meet(*t, site, mask, "bar.warp.sync", false, nullptr, [](Block &block, Warp &, uint32_t warp, Meeting &m) {
    if (!block.race.on)
      return;
    std::vector<Thread *> members;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (m.mask >> lane & 1)
        members.push_back(&block.threads[warp * 32 + lane]);
    block.race.join(members);
  });
}

} // namespace optc::emulator
