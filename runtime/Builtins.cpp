//===- Builtins.cpp - conversions the code generator may call -------------===//
//
// Without F16C, LLVM converts half and bfloat16 by calls that normally live in libgcc or compiler-rt. Here they are
// hidden and round to nearest even.
//
//===----------------------------------------------------------------------===//
#include "ops/Common.h"
#include <stdint.h>
#include <string.h>

namespace {
template <typename To, typename From> To bits(From f) {
  static_assert(sizeof(To) == sizeof(From));
  To t;
  memcpy(&t, &f, sizeof(t));
  return t;
}
} // namespace

/// Rounds the binary floating point number with bits `a` (M explicit mantissa bits, E exponent bits) to one with m and
/// e.
template <int M, int E, int m, int e> static uint16_t truncate(uint64_t a) {
  constexpr int bias = (1 << (E - 1)) - 1, newBias = (1 << (e - 1)) - 1;
  constexpr uint64_t one = 1;
  uint64_t sign = a >> (M + E) & 1, exp = a >> M & ((one << E) - 1), man = a & ((one << M) - 1);
  uint64_t newSign = sign << (m + e), inf = ((one << e) - 1) << m;
  if (exp == (one << E) - 1)
    return uint16_t(newSign | inf | (man ? one << (m - 1) | man >> (M - m) : 0));
  int64_t x = int64_t(exp) - bias + newBias;
  uint64_t full = man | (exp ? one << M : 0);
  if (!exp)
    x = 1 - bias + newBias;
  int shift = M - m;
  if (x <= 0) { // becomes subnormal
    if (1 - x > m + 2)
      return uint16_t(newSign);
    shift += int(1 - x);
    x = 0;
  } else if (!(full >> M)) {
    x = 0; // a subnormal source of the same exponent range (float -> bfloat16)
  } else {
    full &= (one << M) - 1;
  }
  if (shift > 63)
    return uint16_t(newSign);
  uint64_t r = (uint64_t(x) << m) + (full >> shift), rest = full & ((one << shift) - 1), half = one << (shift - 1);
  if (rest > half || (rest == half && (r & 1)))
    ++r; // a carry into the exponent is what it should be
  return uint16_t(newSign | (r >= inf ? inf : r));
}

static uint32_t extendHalf(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, exp = h >> 10 & 31, man = h & 0x3ff;
  if (exp == 31)
    return sign | 0x7f800000 | man << 13 | (man ? 0x400000 : 0);
  if (exp)
    return sign | (exp + 112) << 23 | man << 13;
  if (!man)
    return sign;
  int shift = __builtin_clz(man) - 21;
  return sign | uint32_t(113 - shift) << 23 | (man << shift & 0x3ff) << 13;
}

/// How half and bfloat16 travel: in the low bits of a vector register, like the float here. So no compiler needs the
/// types.
static float inFloat(uint16_t code) { return bits<float>(uint32_t(code)); }
static uint16_t fromFloat(float carrier) { return uint16_t(bits<uint32_t>(carrier)); }

// Hidden and weak: a program that has libgcc linked in already keeps its own.
#define OPTC_BUILTIN extern "C" __attribute__((visibility("hidden"), weak))

OPTC_BUILTIN float __truncsfhf2(float x) { return inFloat(truncate<23, 8, 10, 5>(bits<uint32_t>(x))); }
OPTC_BUILTIN float __truncdfhf2(double x) { return inFloat(truncate<52, 11, 10, 5>(bits<uint64_t>(x))); }
OPTC_BUILTIN float __extendhfsf2(float x) { return bits<float>(extendHalf(fromFloat(x))); }
OPTC_BUILTIN double __extendhfdf2(float x) { return double(bits<float>(extendHalf(fromFloat(x)))); }
OPTC_BUILTIN float __gnu_h2f_ieee(uint16_t x) { return bits<float>(extendHalf(x)); }
OPTC_BUILTIN uint16_t __gnu_f2h_ieee(float x) { return truncate<23, 8, 10, 5>(bits<uint32_t>(x)); }
OPTC_BUILTIN float __truncsfbf2(float x) { return inFloat(truncate<23, 8, 7, 8>(bits<uint32_t>(x))); }
OPTC_BUILTIN float __truncdfbf2(double x) { return inFloat(truncate<52, 11, 7, 8>(bits<uint64_t>(x))); }
OPTC_BUILTIN float __extendbfsf2(float x) { return bits<float>(uint32_t(fromFloat(x)) << 16); }

//===-- integers and powers --------------------------------------------------//

using u128 = unsigned __int128;
using i128 = __int128;

/// Shift and subtract: only odd constants and fixed-point code come here.
static u128 divide(u128 a, u128 b, u128 &rest) {
  if (!(a >> 64) && !(b >> 64) && b) {
    rest = uint64_t(a) % uint64_t(b);
    return uint64_t(a) / uint64_t(b);
  }
  u128 quotient = 0;
  rest = 0;
  for (int i = 127; i >= 0; --i) {
    bool carry = rest >> 127;
    rest = rest << 1 | (a >> i & 1);
    if (carry || rest >= b) {
      rest -= b;
      quotient |= u128(1) << i;
    }
  }
  return quotient;
}

static u128 magnitude(i128 v) { return v < 0 ? -u128(v) : u128(v); }

OPTC_BUILTIN u128 __udivti3(u128 a, u128 b) {
  u128 rest;
  return divide(a, b, rest);
}
OPTC_BUILTIN u128 __umodti3(u128 a, u128 b) {
  u128 rest;
  divide(a, b, rest);
  return rest;
}
OPTC_BUILTIN i128 __divti3(i128 a, i128 b) {
  u128 rest, q = divide(magnitude(a), magnitude(b), rest);
  return i128((a < 0) != (b < 0) ? -q : q);
}
OPTC_BUILTIN i128 __modti3(i128 a, i128 b) {
  u128 rest;
  divide(magnitude(a), magnitude(b), rest);
  return i128(a < 0 ? -rest : rest);
}

template <typename T> static T power(T x, int n) {
  T r = 1;
  for (unsigned k = n < 0 ? 0u - unsigned(n) : unsigned(n); k; k >>= 1, x *= x)
    if (k & 1)
      r *= x;
  return n < 0 ? 1 / r : r;
}
OPTC_BUILTIN float __powisf2(float x, int n) { return power(x, n); }
OPTC_BUILTIN double __powidf2(double x, int n) { return power(x, n); }

// The same for the operators, by bits.
float optc::rt::halfToFloat(uint16_t x) { return bits<float>(extendHalf(x)); }
uint16_t optc::rt::floatToHalf(float x) { return truncate<23, 8, 10, 5>(bits<uint32_t>(x)); }
uint16_t optc::rt::doubleToHalf(double x) { return truncate<52, 11, 10, 5>(bits<uint64_t>(x)); }
uint16_t optc::rt::floatToBfloat(float x) { return truncate<23, 8, 7, 8>(bits<uint32_t>(x)); }
uint16_t optc::rt::doubleToBfloat(double x) { return truncate<52, 11, 7, 8>(bits<uint64_t>(x)); }
