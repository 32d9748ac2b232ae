//===- Registers.cpp - setmaxnreg -------------------------------------------===//
//
// Warps give back registers of the block, and take some that others have given back; who takes more than there are
// waits.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <algorithm>

using namespace optc::emulator;

/// Of a multiprocessor, and the most that a thread can have when a kernel begins.
static constexpr uint32_t kRegisters = 65536, kMostPerThread = 248;

void optc::emulator::resetRegisters(Block &block) {
  uint32_t lanes = 32 * block.warps.size();
  for (Warp &warp : block.warps) {
    warp.registers = std::min(kRegisters / lanes / 8 * 8, kMostPerThread);
    warp.wanted = 0;
    warp.waiting.clear();
  }
  block.freeRegisters = 0;
}

/// Gives registers to the warps that wait for some, in their order.
static void distribute(Block &block) {
  for (Warp &warp : block.warps) {
    if (!warp.wanted || warp.wanted - warp.registers > block.freeRegisters)
      continue;
    block.freeRegisters -= warp.wanted - warp.registers;
    warp.registers = warp.wanted;
    warp.wanted = 0;
    for (Thread *thread : warp.waiting)
      block.wake(*thread);
    warp.waiting.clear();
  }
}

static void change(Thread &thread, uint32_t site, uint32_t count, bool more) {
  const char *what = more ? "setmaxnreg.inc" : "setmaxnreg.dec";
  requireChip(thread, what, /*onlyThat=*/true);
  if (count < 24 || count > 256 || count % 8)
    fail(thread, "setmaxnreg of %u registers; 24 to 256 in steps of 8 are possible", count);
  Block &block = *thread.block;
  Warp &warp = block.warps[thread.warp];
  if (warp.live != ~0u)
    fail(thread, "%s of a whole warp, whose live lanes are %#x", what, warp.live);
  if (more ? count < warp.registers : count > warp.registers)
    fail(thread, "%s to %u registers of a warp that has %u", what, count, warp.registers);
  meet(thread, site, ~0u, what, true, &count,
       [](Block &, Warp &met, uint32_t, Meeting &m) { met.wanted = *static_cast<uint32_t *>(m.arguments[0]); });
  if (!more) {
    if (warp.wanted) { // the first thread behind the meeting
      block.freeRegisters += warp.registers - warp.wanted;
      warp.registers = warp.wanted;
      warp.wanted = 0;
      distribute(block);
    }
    return;
  }
  distribute(block);
  if (!warp.wanted)
    return;
  warp.waiting.push_back(&thread);
  block.wait(thread, what, site);
}

namespace optc::emulator {
void moreRegisters(Thread *t, uint32_t site, uint32_t count) { change(*t, site, count, true); }
void fewerRegisters(Thread *t, uint32_t site, uint32_t count) { change(*t, site, count, false); }
} // namespace optc::emulator
