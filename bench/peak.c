//===- peak.c - what this machine can do: FMA rate and copy rate ----------===//
//
//   peak fma THREADS SECONDS          -> GFLOP/s of f32 FMA on registers, summed over the threads
//   peak copy THREADS SECONDS BYTES   -> GB/s read plus written by memcpy between two hot buffers of BYTES in all
//
// Windows are short (about a millisecond) and the best one counts, so that other processes disturb little.
//
//===----------------------------------------------------------------------===//
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Runs independent chains of FMAs `rounds` times; returns the floating-point operations done.
typedef double Kernel(long rounds);

#if defined(__x86_64__)
#define REP4(f, a, b, c, d) f(a) f(b) f(c) f(d)
// The factors are tiny but normal numbers: the sums stay finite and no denormal slows a chain down.
static const float kFactor = 1e-9f;

#define YMM(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n\t"
#define YMM_SET(n) "vmovaps %%ymm15, %%ymm" #n "\n\t"
__attribute__((target("avx2,fma"))) static double fma256(long rounds) {
  long left = rounds;
  __asm__ volatile("vbroadcastss %1, %%ymm14\n\tvmovaps %%ymm14, %%ymm15\n\t" REP4(YMM_SET, 0, 1, 2, 3)
                       REP4(YMM_SET, 4, 5, 6, 7) REP4(YMM_SET, 8, 9, 10, 11) YMM_SET(12)
                           YMM_SET(13) "1:\n\t" REP4(YMM, 0, 1, 2, 3) REP4(YMM, 4, 5, 6, 7) REP4(YMM, 8, 9, 10, 11)
                               YMM(12) YMM(13) REP4(YMM, 0, 1, 2, 3) REP4(YMM, 4, 5, 6, 7) REP4(YMM, 8, 9, 10, 11)
                                   YMM(12) YMM(13) "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(left)
                   : "m"(kFactor)
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15", "cc");
  return (double)rounds * 28 * 8 * 2;
}

#define ZMM(n) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #n "\n\t"
#define ZMM_SET(n) "vmovaps %%zmm31, %%zmm" #n "\n\t"
#define ZMM_ALL(f)                                                                                                     \
  REP4(f, 0, 1, 2, 3)                                                                                                  \
  REP4(f, 4, 5, 6, 7) REP4(f, 8, 9, 10, 11) REP4(f, 12, 13, 14, 15) REP4(f, 16, 17, 18, 19) REP4(f, 20, 21, 22, 23)
__attribute__((target("avx512f"))) static double fma512(long rounds) {
  long left = rounds;
  __asm__ volatile("vbroadcastss %1, %%zmm30\n\tvmovaps %%zmm30, %%zmm31\n\t" ZMM_ALL(ZMM_SET) "1:\n\t" ZMM_ALL(
                       ZMM) "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(left)
                   : "m"(kFactor)
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",
                     "xmm23", "xmm30", "xmm31", "cc");
  return (double)rounds * 24 * 16 * 2;
}

static int kernels(Kernel **out) {
  int n = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    out[n++] = fma256;
  if (__builtin_cpu_supports("avx512f"))
    out[n++] = fma512;
  return n;
}
#elif defined(__aarch64__)
#include <arm_neon.h>
static double fmaNeon(long rounds) {
  float32x4_t a = vdupq_n_f32(1e-9f), s[16];
  for (int i = 0; i < 16; ++i)
    s[i] = a;
  for (long r = 0; r < rounds; ++r) {
    for (int i = 0; i < 16; ++i)
      s[i] = vfmaq_f32(s[i], a, a);
    __asm__ volatile("" : "+w"(a));
  }
  for (int i = 0; i < 16; ++i)
    __asm__ volatile("" : : "w"(s[i]));
  return (double)rounds * 16 * 4 * 2;
}
static int kernels(Kernel **out) {
  out[0] = fmaNeon;
  return 1;
}
#else
static int kernels(Kernel **out) {
  (void)out;
  return 0;
}
#endif

typedef struct {
  pthread_t thread;
  pthread_barrier_t *start;
  Kernel *kernel; // null: copy
  size_t bytes;
  double seconds, best;
} Job;

static void *work(void *argument) {
  Job *j = argument;
  size_t half = j->bytes / 2 ? j->bytes / 2 : 1;
  char *from = NULL, *to = NULL;
  if (!j->kernel) {
    from = malloc(half);
    to = malloc(half);
    if (!from || !to) {
      fprintf(stderr, "peak: out of memory\n");
      exit(4);
    }
    memset(from, 1, half);
    memset(to, 2, half);
  }
  pthread_barrier_wait(j->start);
  double end = now() + j->seconds;
  for (long repeat = 1; now() < end;) {
    double start = now(), done = 0;
    if (j->kernel)
      done = j->kernel(repeat);
    else
      for (long i = 0; i < repeat; ++i, done += 2 * (double)half) {
        memcpy(to, from, half);
        __asm__ volatile("" : : "r"(to) : "memory");
      }
    double took = now() - start, rate = done / took * 1e-9;
    if (took < 1e-3) // the clock's own time is not to count: lengthen the window first
      repeat *= 2;
    if (took > 2e-4 && rate > j->best)
      j->best = rate;
  }
  free(from);
  free(to);
  return NULL;
}

static double measure(int threads, double seconds, Kernel *kernel, size_t bytes) {
  Job *jobs = calloc((size_t)threads, sizeof(Job));
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    jobs[i] = (Job){.start = &start, .kernel = kernel, .bytes = bytes, .seconds = seconds};
    if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i])) {
      fprintf(stderr, "peak: cannot start a thread\n");
      exit(4);
    }
  }
  double sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(jobs[i].thread, NULL);
    sum += jobs[i].best;
  }
  free(jobs);
  return sum;
}

int main(int argc, char **argv) {
  int copy = argc > 1 && !strcmp(argv[1], "copy");
  if (argc != 4 + copy || (!copy && strcmp(argv[1], "fma")) || atoi(argv[2]) < 1) {
    fprintf(stderr, "usage: peak fma THREADS SECONDS | peak copy THREADS SECONDS BYTES\n");
    return 2;
  }
  int threads = atoi(argv[2]);
  double seconds = atof(argv[3]), best = 0;
  if (copy) {
    best = measure(threads, seconds, NULL, (size_t)atoll(argv[4]) / (size_t)threads);
  } else {
    Kernel *all[4];
    int n = kernels(all);
    for (int i = 0; i < n; ++i) {
      double rate = measure(threads, seconds / n, all[i], 0);
      best = rate > best ? rate : best;
    }
  }
  printf("%.6g\n", best);
  return 0;
}
