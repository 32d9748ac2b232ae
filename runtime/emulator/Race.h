//===- Race.h - which accesses are ordered ----------------------*- C++ -*-===//
//
// Vector clocks in the manner of FastTrack: an access is a pair (actor, clock of the actor); it happened before what a
// thread does now when the thread's own vector has reached that clock. Actors are the threads of a block and the
// asynchronous units that act for them: one per mbarrier (TMA loads), one per warpgroup (products), one for bulk
// stores. Barriers, mbarriers and warp synchronisation order; shuffles do not.
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_EMULATOR_RACE_H
#define OPTC_RUNTIME_EMULATOR_RACE_H
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace optc::emulator {

struct Thread;
struct Block;

/// A vector of clocks; empty when races are not checked.
using Clocks = std::vector<uint32_t>;
void joinClocks(Clocks &into, const Clocks &other);

struct Race {
  static constexpr unsigned kBarrierActors = 64, kGroupActors = 8;
  bool on = false;
  unsigned numThreads = 0, numActors = 0;
  std::vector<Clocks> clocks;       ///< per thread
  std::vector<Clocks> fenced;       ///< per thread: its clocks at its last fence.proxy.async
  std::vector<uint32_t> asyncClock; ///< per asynchronous unit

  void reset(unsigned threads, uint32_t sharedBytes);
  unsigned barrierActor(unsigned barrier) const { return numThreads + barrier % kBarrierActors; }
  unsigned groupActor(unsigned group) const { return numThreads + kBarrierActors + group; }
  unsigned bulkActor() const { return numThreads + kBarrierActors + kGroupActors; }
  uint32_t &asyncClockOf(unsigned actor) { return asyncClock[actor - numThreads]; }

  /// What `thread` has done so far is released; later accesses get another clock.
  void release(unsigned thread) { ++clocks[thread][thread]; }
  /// These threads have met.
  void join(const std::vector<Thread *> &threads);
  void joinAll();

  void threadAccess(Thread &thread, uint32_t begin, uint32_t end, bool write);
  /// An asynchronous unit acts on behalf of whoever has `clocks`.
  void asyncAccess(Thread &issuer, unsigned actor, uint32_t clock, const Clocks &clocks, const Clocks &fences,
                   uint32_t begin, uint32_t end, bool write, const char *what);

private:
  struct Stamp {
    uint32_t clock = 0;
    uint16_t actor = 0; ///< actor + 1; 0: none
  };
  struct Cell {
    Stamp write, reads[4];
    uint8_t next = 0;
  };
  bool before(const Stamp &stamp, const Clocks &clocks) const {
    return stamp.actor == 0 || clocks[stamp.actor - 1] >= stamp.clock;
  }
  [[noreturn]] void report(Thread &thread, const char *what, uint32_t offset, const Stamp &other, bool otherWrites);
  void record(Cell &cell, const Stamp &stamp, bool write, const Clocks &clocks);
  std::vector<Cell> cells;
};

/// Global memory: blocks are never ordered, threads of a block as above. One launch at a time.
struct GlobalRace {
  void access(Thread &thread, uint64_t address, uint64_t bytes, bool write);
  void clear() { cells.clear(); }

private:
  struct Use {
    uint64_t block = ~0ull;
    uint32_t clock = 0;
    uint16_t thread = 0;
    uint8_t mask = 0; ///< bytes of the word
  };
  struct Cell {
    Use write, read, otherRead; ///< the last two blocks (or threads) that read
  };
  std::unordered_map<uint64_t, Cell> cells;
};

} // namespace optc::emulator
#endif
