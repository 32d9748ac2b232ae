//===- Cpu.cpp - CPU feature detection ------------------------------------===//
#include "Internal.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace {
/// Which state the operating system must save for a feature.
enum State : uint8_t { None, Ymm, Zmm, Tile };
struct Feature {
  uint64_t bit;
  const char *name; // as LLVM and --target spell it
  uint32_t leaf, subleaf;
  uint8_t reg, position; // 0..3: eax, ebx, ecx, edx
  State state;
};
} // namespace

static constexpr Feature kFeatures[] = {
    {OPTC_CPU_SSE3, "sse3", 1, 0, 2, 0, None},
    {OPTC_CPU_SSSE3, "ssse3", 1, 0, 2, 9, None},
    {OPTC_CPU_SSE41, "sse4.1", 1, 0, 2, 19, None},
    {OPTC_CPU_SSE42, "sse4.2", 1, 0, 2, 20, None},
    {OPTC_CPU_POPCNT, "popcnt", 1, 0, 2, 23, None},
    {OPTC_CPU_AVX, "avx", 1, 0, 2, 28, Ymm},
    {OPTC_CPU_F16C, "f16c", 1, 0, 2, 29, Ymm},
    {OPTC_CPU_FMA, "fma", 1, 0, 2, 12, Ymm},
    {OPTC_CPU_AVX2, "avx2", 7, 0, 1, 5, Ymm},
    {OPTC_CPU_BMI, "bmi", 7, 0, 1, 3, None},
    {OPTC_CPU_BMI2, "bmi2", 7, 0, 1, 8, None},
    {OPTC_CPU_LZCNT, "lzcnt", 0x80000001u, 0, 2, 5, None},
    {OPTC_CPU_MOVBE, "movbe", 1, 0, 2, 22, None},
    {OPTC_CPU_AVX512F, "avx512f", 7, 0, 1, 16, Zmm},
    {OPTC_CPU_AVX512BW, "avx512bw", 7, 0, 1, 30, Zmm},
    {OPTC_CPU_AVX512CD, "avx512cd", 7, 0, 1, 28, Zmm},
    {OPTC_CPU_AVX512DQ, "avx512dq", 7, 0, 1, 17, Zmm},
    {OPTC_CPU_AVX512VL, "avx512vl", 7, 0, 1, 31, Zmm},
    {OPTC_CPU_AVX512VNNI, "avx512vnni", 7, 0, 2, 11, Zmm},
    {OPTC_CPU_AVX512BF16, "avx512bf16", 7, 1, 0, 5, Zmm},
    {OPTC_CPU_AVX512FP16, "avx512fp16", 7, 0, 3, 23, Zmm},
    {OPTC_CPU_AVX512VBMI, "avx512vbmi", 7, 0, 2, 1, Zmm},
    {OPTC_CPU_AVXVNNI, "avxvnni", 7, 1, 0, 4, Ymm},
    {OPTC_CPU_AMXTILE, "amx-tile", 7, 0, 3, 24, Tile},
    {OPTC_CPU_AMXINT8, "amx-int8", 7, 0, 3, 25, Tile},
    {OPTC_CPU_AMXBF16, "amx-bf16", 7, 0, 3, 22, Tile},
    {OPTC_CPU_CX16, "cx16", 1, 0, 2, 13, None},
    {OPTC_CPU_SAHF, "sahf", 0x80000001u, 0, 2, 0, None},
};

extern "C" uint64_t optc_cpu_features(void) {
  uint64_t found = 0;
#if defined(__x86_64__)
  unsigned r[4];
  if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]))
    return 0;
  uint32_t xcr0 = 0;
  if (r[2] & (1u << 27)) { // OSXSAVE
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  }
  bool saved[4] = {true, (xcr0 & 0x6) == 0x6, (xcr0 & 0xe6) == 0xe6, (xcr0 & 0x60000) == 0x60000};
  for (const Feature &f : kFeatures) {
    if (!saved[f.state] || !__get_cpuid_count(f.leaf, f.subleaf, &r[0], &r[1], &r[2], &r[3]))
      continue;
    // Subleaf 1 exists only where subleaf 0 says so.
    unsigned s[4];
    if (f.subleaf && (!__get_cpuid_count(f.leaf, 0, &s[0], &s[1], &s[2], &s[3]) || s[0] < f.subleaf))
      continue;
    if (r[f.reg] >> f.position & 1)
      found |= f.bit;
  }
#endif
  return found;
}

extern "C" void optc_cpu_feature_names(uint64_t bits, char *text, size_t size) {
  if (!text || !size)
    return;
  size_t at = 0;
  auto put = [&](const char *s) {
    for (; *s && at + 1 < size; ++s)
      text[at++] = *s;
  };
  for (const Feature &f : kFeatures)
    if (bits & f.bit) {
      put(at ? " " : "");
      put(f.name);
      bits &= ~f.bit;
    }
  if (bits)
    put(at ? " and features this runtime does not know" : "features this runtime does not know");
  text[at] = 0;
}
