//===- Engine.h - inside of the emulator ------------------------*- C++ -*-===//
//
// A Block runs the threads of one CUDA block on fibers, one after the other on one host thread. A fiber leaves the
// processor only where it waits (and, in random order, at accesses to shared memory). Nothing here is thread-safe but
// what says so: each host thread has a Block of its own, and device memory is the kernel's business.
//===----------------------------------------------------------------------===//
#ifndef OPTC_RUNTIME_EMULATOR_ENGINE_H
#define OPTC_RUNTIME_EMULATOR_ENGINE_H
#include "Abi.h"
#include "Emulator.h"
#include "Race.h"
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace optc::emulator {

struct Block;

/// One CUDA thread.
struct Thread : ThreadState {
  Block *block;
  uint32_t index; ///< in the block
  void *sp;       ///< saved stack pointer; null: not started
  char *stack;    ///< what it runs on
  bool done;
  const char *waitsFor;   ///< null: it is ready
  uint32_t waitSite;      ///< the call, or the offset of an mbarrier
  uint32_t barrierSite;   ///< the barrier it was at last
  uint64_t copyGroups;    ///< cp.async groups committed
  uint64_t bulkGroups;    ///< bulk groups committed
  uint64_t productGroups; ///< wgmma groups committed
};

/// Lanes that meet in one operation.
struct Meeting {
  uint32_t mask = 0, arrived = 0, site = 0;
  const char *name = nullptr;
  void *arguments[32];
};

struct Warp {
  uint32_t live = 0;
  std::vector<Meeting> meetings;
  uint32_t registers = 0, wanted = 0; ///< per thread; wanted: 0 when it has what it asked for
  std::vector<Thread *> waiting;      ///< for registers
};

struct NamedBarrier {
  uint32_t expected = 0; ///< threads; 0: all
  uint32_t arrived = 0;
  bool inUse = false;
  std::vector<Thread *> waiting;
  std::vector<Thread *> joined; ///< all that arrived in this phase, for the order of accesses
  bool vote = true, any = false;
  uint32_t count = 0;
  bool lastVote = true, lastAny = false; ///< of the phase before
  uint32_t lastCount = 0;
  void clear();
};

/// A barrier in shared memory.
struct MBarrier {
  uint32_t offset = 0, expected = 0, pending = 0;
  int64_t bytes = 0;  ///< expected minus arrived
  uint32_t phase = 0; ///< parity of the current phase
  std::vector<Thread *> waiting;
  Clocks arriving, completed; ///< race check: of the current phase, of the last complete one
};

struct Span {
  uint32_t begin, end;
  bool overlaps(uint32_t first, uint32_t last) const { return begin < last && first < end; }
};

/// A copy of TMA that has been issued.
struct TensorCopy {
  bool load;
  uint32_t shared, barrier; ///< offsets
  const TensorMap *map;
  int32_t coordinates[5];
  Thread *issuer;
  uint64_t group; ///< of stores: of the issuing thread
  Clocks clocks;  ///< of the issuer, when it was issued
  bool performed = false, readDone = false;
  uint32_t readClock = 0;
};

/// A cp.async that has been issued.
struct ThreadCopy {
  Thread *issuer;
  uint32_t shared, bytes, read;
  const uint8_t *source;
  uint64_t group;
  bool performed;
};

/// Accumulators of a warpgroup: between a product and its wait the registers hold a tag.
struct Accumulators {
  bool used = false;
  uint32_t n = 0, version = 0;
  float values[64 * 256];
};

enum class ProductType { F16, BF16, TF32 };
struct Product {
  uint64_t a, b;
  uint32_t n, accumulators;
  bool add, transposeA, transposeB;
  ProductType type;
};
struct ProductGroup {
  std::vector<Product> products; ///< not performed yet
  std::vector<Span> reads;       ///< shared memory that is being read
  uint32_t clock = 0;
};

/// Four warps.
struct WarpGroup {
  uint32_t arrived = 0, site = 0;
  const char *name = nullptr;
  std::vector<Thread *> waiting;
  void *results[128];
  const void *operands[128];
  bool fenced = false;
  ProductGroup open;
  std::deque<ProductGroup> groups; ///< committed, the oldest first
  uint64_t committed = 0, retired = 0;
  uint32_t clock = 0, retiredClock = 0;
  std::vector<std::unique_ptr<Accumulators>> accumulators;
};

struct Kernel {
  const KernelRecord *record;
  const Image *image;
};

/// What one launch is about; read only while it runs.
struct Launch {
  const Kernel *kernel;
  Dim3 grid, block;
  uint32_t sharedBytes;
  void **parameters;
};

struct Engine {
  explicit Engine(const Modes &modes) : modes(modes) {}
  Modes modes;
  std::map<uint64_t, uint64_t> allocations;   ///< address -> bytes
  std::vector<std::unique_ptr<Block>> blocks; ///< one per host thread
  GlobalRace globalRace;
  std::atomic<bool> stop{false};
  std::mutex errorMutex;
  std::string error; ///< the first one

  /// The allocation that holds all of these bytes; 0 bytes when there is none. Thread-safe while kernels run.
  ThreadState::Range find(uint64_t address, uint64_t bytes) const;
};

struct Block {
  explicit Block(Engine &engine);
  ~Block();
  Block(const Block &) = delete;

  /// Runs one block to its end. False when something failed.
  bool run(const Launch &launch, uint64_t number);

  Engine &engine;
  const Launch *launch = nullptr;
  uint64_t number = 0;
  uint32_t live = 0;
  uint8_t *shared = nullptr;  ///< kSharedWindow bytes
  std::vector<uint8_t> state; ///< per byte of shared memory: a ByteState
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::deque<WarpGroup> groups;
  uint32_t freeRegisters = 0; ///< per thread of a warp: given back, and not taken
  NamedBarrier barriers[16];
  std::vector<MBarrier> mbarriers;
  std::vector<uint16_t> mbarrierAt; ///< per 8 bytes of shared memory: number + 1
  std::deque<TensorCopy> tensorCopies;
  std::deque<ThreadCopy> threadCopies;
  Race race;

  //===-- Fibers (Fiber.cpp) ------------------------------------------------===//
  /// The running thread waits until `wake`.
  void wait(Thread &thread, const char *what, uint32_t site);
  void wake(Thread &thread);
  /// In random order: lets others run, now and then.
  void maybeSwitch(Thread &thread) {
    if (engine.modes.random && (nextRandom() & 7) == 0)
      yield(thread);
  }
  void yield(Thread &thread);
  uint64_t nextRandom();

  char *takeStack();
  Thread *pickReady();
  [[noreturn]] void runFrom(Thread &thread);
  [[noreturn]] void leave();
  bool prepare(Thread &thread); ///< for the first switch to it; false when there is no memory
  void switchTo(Thread &from, Thread &next);
  std::string describeDeadlock() const;

  std::deque<Thread *> ready;
  std::vector<char *> freeStacks, allStacks;
  void *mainStack = nullptr, *windowMemory = nullptr;
  uint64_t randomState = 1;
  bool failed = false;
};

/// What a byte of shared memory holds.
enum ByteState : uint8_t { Poison = 0, Written = 1, Barrier = 2 };

/// Ends the launch with this message. Runs no destructors of the fiber: hold nothing that needs one.
/// Ends the launch when what it is about to do is for newer devices than the one that is emulated, or for sm_90a only.
void requireChip(Thread &thread, const char *what, bool onlyThat = false);
[[noreturn]] void fail(Thread &thread, const char *format, ...) __attribute__((format(printf, 2, 3)));

//===-- Between the parts --------------------------------------------------===//

/// Offset of an address in shared memory, checked. `what` begins the message.
uint32_t sharedOffset(Thread &thread, const void *address, uint64_t bytes, const char *what);
/// An access of generic code to shared memory; `bytes` may be any number.
void accessShared(Thread &thread, const void *address, uint64_t bytes, bool write, const char *what);
/// An access to global memory; false when no allocation holds it.
void accessGlobal(Thread &thread, const void *address, uint64_t bytes, bool write, const char *what);

/// An asynchronous unit is about to write this range of shared memory: nobody may be reading it or use it as barrier.
void checkAsyncWrite(Thread &thread, uint32_t begin, uint32_t end, const char *what);

void completeBytes(Block &block, MBarrier &barrier, int64_t bytes);
MBarrier &mbarrierAt(Thread &thread, const void *address, const char *what);
/// Late mode: performs the copy or product that must come next when no thread can run. False when there is none.
bool performLate(Block &block);
void performTensorCopy(Block &block, TensorCopy &copy);
void performThreadCopy(Block &block, ThreadCopy &copy);
/// At the end of a block: barriers and copies that nobody waited for.
void checkEndOfBlock(Block &block, Thread &last);
/// At the beginning of a block.
void resetRegisters(Block &block);
/// A thread has ended: barriers of all threads wait for one less.
void leaveBarriers(Block &block);

/// Waits until all lanes of `mask` have arrived in the operation `name`; the last one calls `run`.
void meet(Thread &thread, uint32_t site, uint32_t mask, const char *name, bool aligned, void *argument,
          void (*run)(Block &, Warp &, uint32_t warp, Meeting &));

float fromHalf(uint16_t bits);
inline float fromBFloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  __builtin_memcpy(&value, &wide, 4);
  return value;
}

/// The function of the engine of this name; null when there is none (Functions.cpp).
void *findFunction(const char *name);

} // namespace optc::emulator
#endif
