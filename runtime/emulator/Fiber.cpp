//===- Fiber.cpp - threads of a block on one host thread -------------------===//
//
// A fiber that ends runs the next thread that has not started on its own stack, so kernels that never wait need one.
//===----------------------------------------------------------------------===//
#include "Engine.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

using namespace optc::emulator;

#if !defined(__x86_64__)
#error "the emulator runs on x86-64 only"
#endif

/// Saves the registers that a call preserves, stores the stack pointer to *from and continues where `to` was saved.
extern "C" void optc_emulator_switch(void **from, void *to);
asm(R"(
.text
.p2align 4
.globl optc_emulator_switch
.hidden optc_emulator_switch
.type optc_emulator_switch,@function
optc_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size optc_emulator_switch, .-optc_emulator_switch
)");

static constexpr size_t kStackBytes = 256 << 10, kGuardBytes = 4096;

/// The block whose fibers this host thread runs: where a new fiber finds its thread.
static thread_local Block *currentBlock;
static thread_local Thread *startedThread;

char *Block::takeStack() {
  if (freeStacks.empty()) {
    void *memory =
        mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    mprotect(memory, kGuardBytes, PROT_NONE); // an overflow is a signal, not somebody else's data
    allStacks.push_back(static_cast<char *>(memory));
    freeStacks.push_back(allStacks.back());
  }
  char *stack = freeStacks.back();
  freeStacks.pop_back();
  return stack;
}

Block::Block(Engine &engine) : engine(engine) {
  void *memory =
      mmap(nullptr, 2 * kSharedWindow, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED)
    shared =
        reinterpret_cast<uint8_t *>((reinterpret_cast<uint64_t>(memory) + kSharedWindow - 1) & ~(kSharedWindow - 1));
  windowMemory = memory;
}

Block::~Block() {
  for (char *stack : allStacks)
    munmap(stack, kStackBytes);
  if (shared)
    munmap(windowMemory, 2 * kSharedWindow);
}

uint64_t Block::nextRandom() {
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  return randomState;
}

void Block::leave() {
  void *unused;
  optc_emulator_switch(&unused, mainStack);
  __builtin_unreachable();
}

Thread *Block::pickReady() {
  while (ready.empty())
    if (live == 0 || !performLate(*this))
      return nullptr;
  if (engine.modes.random)
    std::swap(ready.front(), ready[nextRandom() % ready.size()]);
  Thread *next = ready.front();
  ready.pop_front();
  return next;
}

/// First code of a fiber.
static void startFiber() { currentBlock->runFrom(*startedThread); }

/// Runs threads on the stack of `first` until the next one has a stack of its own.
void Block::runFrom(Thread &first) {
  Thread *thread = &first;
  while (true) {
    launch->kernel->record->entry(thread, launch->parameters);
    thread->done = true;
    warps[thread->warp].live &= ~(1u << thread->lane);
    --live;
    leaveBarriers(*this);
    if (live == 0)
      checkEndOfBlock(*this, *thread);
    Thread *next = pickReady();
    if (!next) {
      if (live)
        fail(*thread, "%s", describeDeadlock().c_str());
      freeStacks.push_back(thread->stack);
      leave();
    }
    if (next->sp) {
      // Nobody takes this stack before it has been left.
      freeStacks.push_back(thread->stack);
      optc_emulator_switch(&thread->sp, next->sp);
      __builtin_unreachable();
    }
    next->stack = thread->stack;
    next->sp = &next; // started
    thread = next;
  }
}

bool Block::prepare(Thread &thread) {
  if (thread.sp)
    return true;
  thread.stack = takeStack();
  if (!thread.stack)
    return false;
  // The layout that optc_emulator_switch pops: six registers, then where it returns to, which finds the stack as after
  // a call.
  void **top = reinterpret_cast<void **>(thread.stack + kStackBytes);
  *--top = nullptr;
  *--top = reinterpret_cast<void *>(&startFiber);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  thread.sp = top;
  startedThread = &thread;
  return true;
}

void Block::switchTo(Thread &from, Thread &next) {
  if (&from == &next)
    return;
  if (!prepare(next))
    fail(from, "the host has no memory for the stack of another thread");
  optc_emulator_switch(&from.sp, next.sp);
}

void Block::wait(Thread &thread, const char *what, uint32_t site) {
  thread.waitsFor = what;
  thread.waitSite = site;
  // In late mode, what happens at the last moment may be what this thread waits for.
  Thread *next = pickReady();
  if (!next)
    fail(thread, "%s", describeDeadlock().c_str());
  switchTo(thread, *next);
}

void Block::wake(Thread &thread) {
  thread.waitsFor = nullptr;
  ready.push_back(&thread);
}

void Block::yield(Thread &thread) {
  ready.push_back(&thread);
  Thread *next = pickReady();
  switchTo(thread, *next);
}

std::string Block::describeDeadlock() const {
  struct Line {
    const char *what;
    uint32_t site, count, first;
  };
  std::vector<Line> lines;
  for (const Thread &thread : threads) {
    if (thread.done || !thread.waitsFor)
      continue;
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line &l) {
      return l.site == thread.waitSite && !strcmp(l.what, thread.waitsFor);
    });
    if (line == lines.end())
      lines.push_back({thread.waitsFor, thread.waitSite, 1, thread.index});
    else
      ++line->count;
  }
  std::string text = "deadlock:";
  for (const Line &line : lines) {
    char buffer[200];
    snprintf(buffer, sizeof buffer, "%s %u thread%s from thread %u on wait%s in %s", &line == &lines[0] ? "" : ",",
             line.count, line.count == 1 ? "" : "s", line.first, line.count == 1 ? "s" : "", line.what);
    text += buffer;
    if (!strcmp(line.what, "mbarrier.wait"))
      for (const MBarrier &barrier : mbarriers)
        if (barrier.offset == line.site) {
          snprintf(buffer, sizeof buffer, " at shared+%u (%u arrivals and %lld bytes missing)", barrier.offset,
                   barrier.pending, static_cast<long long>(barrier.bytes));
          text += buffer;
        }
  }
  return text;
}

bool Block::run(const Launch &what, uint64_t which) {
  launch = &what;
  number = which;
  failed = false;
  currentBlock = this;
  uint32_t count = what.block.x * what.block.y * what.block.z;
  if (threads.size() != count) {
    threads.assign(count, Thread{});
    for (Thread &thread : threads)
      for (ThreadState::Range &range : thread.ranges)
        range = {~0ull, 0};
  }
  uint32_t x = which % what.grid.x, y = which / what.grid.x % what.grid.y,
           z = which / (static_cast<uint64_t>(what.grid.x) * what.grid.y);
  warps.resize((count + 31) / 32);
  for (Warp &warp : warps) {
    warp.live = 0;
    warp.meetings.clear();
  }
  resetRegisters(*this);
  groups.resize((warps.size() + 3) / 4);
  for (WarpGroup &group : groups)
    group = WarpGroup();
  for (NamedBarrier &barrier : barriers)
    barrier.clear();
  mbarriers.clear();
  mbarrierAt.assign(what.sharedBytes / 8 + 1, 0);
  tensorCopies.clear();
  threadCopies.clear();
  ready.clear();
  freeStacks = allStacks;
  live = count;
  randomState = (engine.modes.seed + 1) * 0x9e3779b97f4a7c15ull ^ (which + 1) * 0xd1b54a32d192ed03ull;
  memset(shared, 0xff, what.sharedBytes); // floats are NaN
  state.assign(what.sharedBytes, Poison);
  race.on = engine.modes.race;
  if (race.on)
    race.reset(count, what.sharedBytes);

  for (uint32_t i = 0; i < count; ++i) {
    Thread &thread = threads[i];
    thread.block = this;
    thread.index = i;
    thread.tid[0] = i % what.block.x;
    thread.tid[1] = i / what.block.x % what.block.y;
    thread.tid[2] = i / (what.block.x * what.block.y);
    thread.ntid[0] = what.block.x, thread.ntid[1] = what.block.y, thread.ntid[2] = what.block.z;
    thread.ctaid[0] = x, thread.ctaid[1] = y, thread.ctaid[2] = z;
    thread.nctaid[0] = what.grid.x, thread.nctaid[1] = what.grid.y, thread.nctaid[2] = what.grid.z;
    thread.lane = i % 32, thread.warp = i / 32;
    thread.shared = shared;
    thread.sp = nullptr;
    thread.stack = nullptr;
    thread.done = false;
    thread.waitsFor = nullptr;
    thread.copyGroups = thread.bulkGroups = thread.productGroups = 0;
    warps[i / 32].live |= 1u << (i % 32);
    ready.push_back(&thread);
  }
  Thread *first = pickReady();
  if (!shared || !prepare(*first)) {
    std::lock_guard<std::mutex> lock(engine.errorMutex);
    if (!engine.stop.exchange(true))
      engine.error = "the host has no memory for a block of the emulator";
    return false;
  }
  optc_emulator_switch(&mainStack, first->sp);
  return !failed;
}

void optc::emulator::fail(Thread &thread, const char *format, ...) {
  Block &block = *thread.block;
  char text[1024];
  int length = snprintf(text, sizeof text,
                        "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", block.launch->kernel->record->name,
                        thread.ctaid[0], thread.ctaid[1], thread.ctaid[2], thread.tid[0], thread.tid[1], thread.tid[2]);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, sizeof text - length, format, arguments);
  va_end(arguments);
  {
    std::lock_guard<std::mutex> lock(block.engine.errorMutex);
    if (!block.engine.stop.exchange(true))
      block.engine.error = text;
  }
  block.failed = true;
  block.leave();
}
