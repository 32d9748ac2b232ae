//===- Math.cpp - arithmetic that the host does otherwise ------------------===//
#include "Engine.h"
#include <cfenv>
#include <cmath>

using namespace optc::emulator;

namespace {
/// Rounds to minus infinity (m), plus infinity (p) or zero (z) for the time of its life.
class Rounding {
public:
  explicit Rounding(uint32_t mode) : old(fegetround()) {
    fesetround(mode == 'm' ? FE_DOWNWARD : mode == 'p' ? FE_UPWARD : FE_TOWARDZERO);
  }
  ~Rounding() { fesetround(old); }

private:
  int old;
};
} // namespace

/// `volatile` keeps the compiler from computing outside of the rounding mode.
template <typename T> static T rounded(uint32_t operation, uint32_t mode, T a, T b, T c) {
  Rounding scope(mode);
  volatile T x = a, y = b, z = c, result;
  switch (operation) {
  case 'a':
    result = x + y;
    break;
  case 'm':
    result = x * y;
    break;
  case 'd':
    result = x / y;
    break;
  case 's':
    result = std::sqrt(static_cast<T>(x));
    break;
  default:
    result = std::fma(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
  }
  return result;
}

namespace optc::emulator {

float roundedFloat(Thread *, uint32_t, uint32_t operation, uint32_t mode, float a, float b, float c) {
  return rounded(operation, mode, a, b, c);
}
double roundedDouble(Thread *, uint32_t, uint32_t operation, uint32_t mode, double a, double b, double c) {
  return rounded(operation, mode, a, b, c);
}

/// prmt: bytes of b:a that the nibbles of c choose; bit 3 of a nibble repeats the sign.
uint32_t permuteBytes(Thread *, uint32_t, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t nibble = c >> 4 * i & 15, byte = both >> 8 * (nibble & 7) & 0xff;
    if (nibble & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// cvt.rna.tf32: to nearest, ties away from zero.
uint32_t toTF32(Thread *, uint32_t, float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000u) == 0x7f800000u)
    return bits;
  return (bits + 0x1000u) & 0xffffe000u;
}

} // namespace optc::emulator
