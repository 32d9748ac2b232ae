//===- Threads.cpp - the fork-join pool and optc_rt_launch ----------------===//
//
// Workers spin for some microseconds after a job and then sleep on a futex, so an idle context costs nothing. Worker 0
// is the caller.
//
//===----------------------------------------------------------------------===//
#include "Internal.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace optc::rt;

static constexpr int kSpins = 1500; // 10 to 50 us

static void futexWait(uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
static void futexWake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0); }

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until *word differs from `value`; `sleepers` tells the waker whether a wake-up call is needed.
static uint32_t awaitChange(uint32_t *word, uint32_t value, uint32_t *sleepers) {
  for (int i = 0; i < kSpins; ++i) {
    uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (now != value)
      return now;
    relax();
  }
  __atomic_fetch_add(sleepers, 1, __ATOMIC_SEQ_CST);
  uint32_t now;
  while ((now = __atomic_load_n(word, __ATOMIC_SEQ_CST)) == value)
    futexWait(word, value);
  __atomic_fetch_sub(sleepers, 1, __ATOMIC_SEQ_CST);
  return now;
}

static void change(uint32_t *word, uint32_t value, uint32_t *sleepers) {
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(sleepers, __ATOMIC_SEQ_CST))
    futexWake(word);
}

namespace optc::rt {
struct ThreadPool {
  struct Worker {
    ThreadPool *pool;
    pthread_t thread;
    int32_t index;
  };
  alignas(64) uint32_t epoch; // one step per job
  uint32_t epochSleepers;
  alignas(64) uint32_t pending; // workers that have not finished the job
  alignas(64) uint32_t done;    // epoch of the last finished job
  uint32_t doneSleepers;
  void (*body)(void *, int32_t);
  void *arg;
  bool stop;
  int32_t count;
  Worker workers[1]; // count - 1 of them
};
} // namespace optc::rt

static void *workerMain(void *p) {
  auto *self = static_cast<ThreadPool::Worker *>(p);
  ThreadPool *pool = self->pool;
  for (uint32_t seen = 0;;) {
    seen = awaitChange(&pool->epoch, seen, &pool->epochSleepers);
    if (pool->stop)
      return nullptr;
    pool->body(pool->arg, self->index);
    if (__atomic_sub_fetch(&pool->pending, 1, __ATOMIC_ACQ_REL) == 0)
      change(&pool->done, seen, &pool->doneSleepers);
  }
}

ThreadPool *optc::rt::createPool(int32_t count) {
  size_t bytes = sizeof(ThreadPool) + sizeof(ThreadPool::Worker) * size_t(count);
  auto *pool = static_cast<ThreadPool *>(allocAligned(bytes));
  if (!pool)
    return nullptr;
  memset(static_cast<void *>(pool), 0, bytes);
  pool->count = 1;
  for (int32_t i = 1; i < count; ++i) {
    pool->workers[i - 1] = {pool, {}, i};
    if (pthread_create(&pool->workers[i - 1].thread, nullptr, workerMain, &pool->workers[i - 1])) {
      destroyPool(pool);
      return nullptr;
    }
    ++pool->count;
  }
  return pool;
}

void optc::rt::destroyPool(ThreadPool *pool) {
  if (!pool)
    return;
  pool->stop = true;
  change(&pool->epoch, pool->epoch + 1, &pool->epochSleepers);
  for (int32_t i = 1; i < pool->count; ++i)
    pthread_join(pool->workers[i - 1].thread, nullptr);
  freeAligned(pool);
}

void optc::rt::runOnPool(ThreadPool *pool, void (*body)(void *, int32_t), void *arg) {
  pool->body = body;
  pool->arg = arg;
  uint32_t before = __atomic_load_n(&pool->done, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->pending, uint32_t(pool->count - 1), __ATOMIC_RELAXED);
  change(&pool->epoch, pool->epoch + 1, &pool->epochSleepers);
  body(arg, 0);
  awaitChange(&pool->done, before, &pool->doneSleepers);
}

//===-- launches -------------------------------------------------------------//

// Each worker begins with a range of its own, the same part of the tiles in every launch, so that it finds in its cache
// what it wrote in the launch before; whoever has finished takes from the others' ranges.

namespace {
constexpr int32_t kMaxRanges = 32; // more workers share them

struct alignas(64) Range {
  int64_t next, end, step; // `next`: first tile not taken yet
};
struct Launch {
  optc_kernel kernel;
  void *const *buf;
  const int64_t *scalar;
  char *scratch;
  int64_t scratchBytes;
  int32_t count;
  Range ranges[kMaxRanges];
};
} // namespace

static void runTiles(void *arg, int32_t worker) {
  auto *l = static_cast<Launch *>(arg);
  optc_dispatch d = {l->buf, l->scalar, l->scratch ? l->scratch + worker * l->scratchBytes : nullptr, 0, 0, worker};
  for (int32_t i = 0; i < l->count; ++i) {
    Range &range = l->ranges[(worker + i) % l->count];
    while ((d.first = __atomic_fetch_add(&range.next, range.step, __ATOMIC_RELAXED)) < range.end) {
      d.last = d.first + range.step < range.end ? d.first + range.step : range.end;
      l->kernel(&d);
    }
  }
}

/// Parts of equal length. Four steps each even out unequal speeds; more would only cost atomic operations.
static void splitTiles(Launch &l, int64_t tiles, int32_t workers) {
  l.count = workers < kMaxRanges ? workers : kMaxRanges;
  int64_t whole = tiles / l.count, rest = tiles % l.count, first = 0;
  for (int32_t i = 0; i < l.count; ++i) {
    int64_t length = whole + (i < rest);
    l.ranges[i] = {first, first + length, length > 4 ? length / 4 : 1};
    first += length;
  }
}

extern "C" void optc_rt_launch(optc_host *h, optc_kernel kernel, void *const *buf, const int64_t *scalar, int64_t tiles,
                               int64_t scratchBytes) {
  if (tiles <= 0)
    return;
  int32_t workers = tiles > 1 ? h->workers : 1; // the pool wakes everybody; the surplus finds no tile
  int64_t line = (scratchBytes + int64_t(kAlign) - 1) & ~int64_t(kAlign - 1), total = 0;
  char *scratch = nullptr;
  if (scratchBytes > 0) {
    if (!mulSize(line, workers, total) || !(scratch = static_cast<char *>(h->scratch.reserve(size_t(total)))))
      fail(h, OPTC_OUT_OF_MEMORY, "out of memory: %d workers need %lld bytes of scratch each", workers,
           (long long)scratchBytes);
  }
  if (workers == 1) {
    optc_dispatch d = {buf, scalar, scratch, 0, tiles, 0};
    kernel(&d);
    return;
  }
  Launch l;
  l.kernel = kernel;
  l.buf = buf;
  l.scalar = scalar;
  l.scratch = scratch;
  l.scratchBytes = line;
  splitTiles(l, tiles, workers);
  if (h->options.parallel_for)
    h->options.parallel_for(h->options.parallel_for_user, workers, runTiles, &l);
  else
    runOnPool(h->pool, runTiles, &l);
}
