//===- BuiltinsTest.cpp - conversions of small floats, against the compiler's --===//
#include "optc/runtime/ops/Common.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace optc::rt;

template <typename To, typename From> static To bits(From f) {
  To t;
  memcpy(&t, &f, sizeof(t));
  return t;
}

/// Correct rounding by search: the two neighbours are exact doubles.
static uint16_t nearestHalf(double v) {
  if (std::isnan(v))
    return 0x7e00;
  uint16_t best = 0x7c00;
  double a = std::fabs(v);
  for (uint16_t h = 0; h < 0x7c00; ++h) {
    double low = halfToFloat(h), high = h == 0x7bff ? 65536.0 : double(halfToFloat(uint16_t(h + 1)));
    if (a < low || a > high)
      continue;
    double middle = (low + high) / 2;
    best = a < middle || (a == middle && !(h & 1)) ? h : uint16_t(h + 1);
    break;
  }
  return uint16_t(best | (std::signbit(v) ? 0x8000 : 0));
}

TEST(Builtins, HalfRoundsToNearestEven) {
  for (double v : {0.0,     -0.0,           1.0,       65504.0,        65519.99,    65520.0, 1e9,      0x1p-24,
                   0x1p-25, 0x1.000001p-25, 0x1.8p-24, 0x1.ffcp-15,    0x1.ffep-15, 0.1,     -3.14159, 2049.0,
                   2051.0,  1e-300,         0x1.002p0, 0x1.00200001p0, -HUGE_VAL}) {
    EXPECT_EQ(doubleToHalf(v), nearestHalf(v)) << v;
    EXPECT_EQ(floatToHalf(float(v)), nearestHalf(float(v))) << v;
  }
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(halfToFloat(doubleToHalf(bits<double>(uint64_t(0x7ff0000000000001))))));
  for (uint32_t h = 0; h < 0x10000; ++h) {
    float f = halfToFloat(uint16_t(h));
    if (f == f) {
      ASSERT_EQ(floatToHalf(f), h);
      ASSERT_EQ(doubleToHalf(f), h);
    }
  }
}

TEST(Builtins, BfloatRoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    auto f = bits<float>(h << 16);
    if (f != f)
      continue;
    ASSERT_EQ(floatToBfloat(f), h);
    ASSERT_EQ(doubleToBfloat(f), h);
    if ((h & 0x7fff) >= 0x7f80)
      continue;
    auto below = bits<float>(h << 16 | 0x7fff), tie = bits<float>(h << 16 | 0x8000),
         above = bits<float>(h << 16 | 0x8001);
    ASSERT_EQ(floatToBfloat(below), h);
    ASSERT_EQ(floatToBfloat(tie), h + (h & 1));
    ASSERT_EQ(floatToBfloat(above), h + 1);
    ASSERT_EQ(doubleToBfloat(tie), h + (h & 1));
    ASSERT_EQ(doubleToBfloat(std::nextafter(double(tie), h & 0x8000 ? -INFINITY : INFINITY)), h + 1);
  }
}

extern "C" {
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
}

TEST(Builtins, WideDivision) {
  unsigned __int128 a = (unsigned __int128)(0x123456789abcdef0) << 64 | 0xfedcba9876543210;
  for (uint64_t low : {uint64_t(3), uint64_t(1) << 63, ~uint64_t(0)})
    for (uint64_t high : {uint64_t(0), uint64_t(5), ~uint64_t(0)}) {
      unsigned __int128 b = (unsigned __int128)(high) << 64 | low, q = __udivti3(a, b), r = __umodti3(a, b);
      EXPECT_TRUE(q * b + r == a && r < b);
    }
  EXPECT_EQ(int64_t(__divti3(-7, 2)), -3);
  EXPECT_EQ(int64_t(__modti3(-7, 2)), -1);
  EXPECT_EQ(int64_t(__modti3(7, -2)), 1);
}
