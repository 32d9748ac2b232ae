//===- Memory.cpp - checks of every access ---------------------------------===//
#include "Engine.h"
#include <cstring>

using namespace optc::emulator;

uint32_t optc::emulator::sharedOffset(Thread &thread, const void *address, uint64_t bytes, const char *what) {
  uint64_t offset = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(thread.shared);
  uint64_t size = thread.block->launch->sharedBytes;
  if (bytes > size || offset > size - bytes)
    fail(thread, "%s of %llu bytes at shared+%lld, outside of the block's %llu bytes of shared memory", what,
         static_cast<unsigned long long>(bytes), static_cast<long long>(offset), static_cast<unsigned long long>(size));
  return static_cast<uint32_t>(offset);
}

void optc::emulator::accessShared(Thread &thread, const void *address, uint64_t bytes, bool write, const char *what) {
  Block &block = *thread.block;
  uint32_t offset = sharedOffset(thread, address, bytes, what);
  uint8_t *state = block.state.data() + offset;
  if (write) {
    for (uint64_t i = 0; i < bytes; ++i) {
      if (state[i] == Barrier)
        fail(thread, "%s at shared+%u overwrites an mbarrier", what, offset);
      state[i] = Written;
    }
  } else {
    for (uint64_t i = 0; i < bytes; ++i)
      if (state[i] != Written)
        fail(thread, "%s at shared+%u reads %s", what, static_cast<uint32_t>(offset + i),
             state[i] == Barrier ? "an mbarrier as if it were data" : "shared memory that nobody has written");
  }
  if (block.race.on)
    block.race.threadAccess(thread, offset, offset + bytes, write);
  block.maybeSwitch(thread);
}

void optc::emulator::accessGlobal(Thread &thread, const void *address, uint64_t bytes, bool write, const char *what) {
  Engine &engine = thread.block->engine;
  uint64_t value = reinterpret_cast<uint64_t>(address);
  if (!engine.find(value, bytes).limit) {
    ThreadState::Range near = engine.find(value, 0);
    if (near.limit)
      fail(thread, "%s of %llu bytes at %p, %llu bytes into an allocation of %llu", what,
           static_cast<unsigned long long>(bytes), address, static_cast<unsigned long long>(value - near.base),
           static_cast<unsigned long long>(near.limit));
    fail(thread, "%s of %llu bytes at %p, which is in no allocation", what, static_cast<unsigned long long>(bytes),
         address);
  }
  if (engine.modes.race)
    engine.globalRace.access(thread, value, bytes, write);
}

static void checkAlignment(Thread &thread, const void *address, uint32_t info, const char *space) {
  uint32_t alignment = Access::alignment(info);
  if (reinterpret_cast<uint64_t>(address) & (alignment - 1))
    fail(thread, "misaligned %s of %u bytes of %s memory at %p: has to be a multiple of %u",
         info & Access::kWrite ? "store" : "load", Access::bytes(info), space, address, alignment);
}

//===-- What generated code calls -------------------------------------------===//

namespace optc::emulator {

void checkShared(Thread *thread, uint32_t, const void *address, uint32_t info) {
  checkAlignment(*thread, address, info, "shared");
  bool write = info & Access::kWrite;
  uint32_t bytes = Access::bytes(info);
  Block &block = *thread->block;
  // The usual case, without a call: everything in bounds and in the state it should be in.
  uint64_t offset = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(thread->shared);
  if (!block.race.on && !block.engine.modes.random && offset + bytes <= block.launch->sharedBytes && bytes <= 16) {
    uint8_t *state = block.state.data() + offset;
    uint8_t all = Written, any = 0;
    for (uint32_t i = 0; i < bytes; ++i) {
      all &= state[i];
      any |= state[i];
    }
    if (write ? !(any & Barrier) : all == Written && !(any & Barrier)) {
      if (write)
        memset(state, Written, bytes);
      return;
    }
  }
  accessShared(*thread, address, bytes, write, write ? "store" : "load");
}

void checkGlobal(Thread *thread, uint32_t, const void *address, uint32_t info) {
  checkAlignment(*thread, address, info, "global");
  bool write = info & Access::kWrite;
  accessGlobal(*thread, address, Access::bytes(info), write, write ? "store" : "load");
  Engine &engine = thread->block->engine;
  if (engine.modes.race)
    return; // every access comes here
  ThreadState::Range range = engine.find(reinterpret_cast<uint64_t>(address), 1);
  if (range.limit >= 16)
    thread->ranges[Access::slot(info)] = {range.base, range.limit - 16};
}

/// A pointer of which the compiler does not know the space.
void checkGeneric(Thread *thread, uint32_t site, const void *address, uint32_t info) {
  uint64_t value = reinterpret_cast<uint64_t>(address);
  uint64_t window = value - reinterpret_cast<uint64_t>(thread->shared);
  if (window < kSharedWindow)
    return checkShared(thread, site, address, info);
  uint64_t here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (value >= here && value - here < (256 << 10))
    return; // local memory: the stack of the fiber
  checkGlobal(thread, site, address, info);
}

/// memcpy and memset of device code: any number of bytes.
void checkRange(Thread *thread, uint32_t, const void *address, uint64_t bytes, uint32_t write) {
  uint64_t window = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(thread->shared);
  if (bytes == 0)
    return;
  if (window < kSharedWindow)
    return accessShared(*thread, address, bytes, write, write ? "store" : "load");
  uint64_t value = reinterpret_cast<uint64_t>(address), here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (value >= here && value - here < (256 << 10))
    return;
  accessGlobal(*thread, address, bytes, write, write ? "store" : "load");
}

/// An access to a variable that is known to leave it.
void checkFailed(Thread *thread, uint32_t, const void *address, uint32_t info) {
  fail(*thread, "%s of %u bytes at %p, outside of the local or constant variable it belongs to",
       info & Access::kWrite ? "store" : "load", Access::bytes(info), address);
}

/// llvm.trap: an assertion of device code.
void trap(Thread *thread, uint32_t) { fail(*thread, "trap"); }

uint32_t isShared(Thread *thread, uint32_t, const void *address) {
  return reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(thread->shared) < kSharedWindow;
}

} // namespace optc::emulator
