//===- RangesTest.cpp - the arithmetic of quantization --------------------===//
#include "optc/passes/compress/Ranges.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>

using namespace optc::compress;

static RangeMethod percentile(double percent) { return {RangeMethod::Percentile, percent}; }

static Interval collect(RangeMethod method, const std::vector<float> &values) {
  RangeCollector collector(method);
  collector.add(values);
  return collector.range();
}

TEST(Ranges, MinAndMax) {
  Interval range = collect({}, {3, -2, 0.5f});
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 3);
  range = collect({}, {5, 6}); // zero is added only where it is needed
  EXPECT_EQ(range.low, 5);
  EXPECT_EQ(collect({}, {}).high, 0);
}

TEST(Ranges, StrangeValuesAreCountedAndLeftOut) {
  RangeCollector collector({});
  collector.add({1, NAN, INFINITY, -INFINITY, 2});
  EXPECT_EQ(collector.notFinite(), 3u);
  EXPECT_EQ(collector.count(), 2u);
  EXPECT_EQ(collector.range().high, 2);
}

// Of 10000 values from 0 to 1 and one outlier, the outlier goes.
TEST(Ranges, PercentileCutsOutliers) {
  std::vector<float> values = {1000};
  for (int i = 0; i < 10000; ++i)
    values.push_back(float(i) / 10000);
  Interval range = collect(percentile(99.9), values);
  EXPECT_LT(range.high, 1.2f);
  EXPECT_GT(range.high, 0.9f);
  EXPECT_EQ(collect(percentile(100), values).high, 1000);
  // Both ends.
  for (float &v : values)
    v = -v;
  range = collect(percentile(99.9), values);
  EXPECT_GT(range.low, -1.2f);
  EXPECT_LT(range.low, -0.9f);
  EXPECT_EQ(range.high, 0);
}

static double squaredError(const std::vector<float> &values, Interval range) {
  QuantParams p = uint8Params(range);
  double sum = 0;
  for (float v : values) {
    double q = std::clamp(std::nearbyint(double(v) / p.scale) + p.zero, 0.0, 255.0);
    sum += std::pow(v - (q - p.zero) * p.scale, 2);
  }
  return sum;
}

// Clipping costs squared error, finer steps save it: what comes out is better than both extremes.
TEST(Ranges, LeastSquaredErrorWeighsClippingAgainstSteps) {
  std::vector<float> values;
  for (int i = 0; i < 1000000; ++i)
    values.push_back(std::sin(float(i)));
  values.push_back(3);
  Interval range = collect({RangeMethod::Mse}, values);
  EXPECT_LT(range.high, 2.5f);
  EXPECT_GE(range.high, 1);
  EXPECT_LT(squaredError(values, range), 0.6 * squaredError(values, collect({}, values)));
  // Without a tail nothing is worth clipping.
  values.resize(20000); // the outlier, too
  range = collect({RangeMethod::Mse}, values);
  EXPECT_NEAR(range.low, -1, 0.05);
  EXPECT_NEAR(range.high, 1, 0.05);
  // One side alone.
  range = collect({RangeMethod::Mse}, {0, 1, 2, 3});
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 3);
  EXPECT_EQ(collect({RangeMethod::Mse}, {0, 0}).high, 0);
}

// The order of values, and how they are cut into calls, make no difference.
TEST(Ranges, OrderMakesNoDifference) {
  RangeCollector up(percentile(99)), down(percentile(99));
  for (int i = 1; i <= 1000; ++i)
    up.add({float(i) * 0.37f});
  std::vector<float> values;
  for (int i = 1000; i >= 1; --i)
    values.push_back(float(i) * 0.37f);
  down.add(values);
  EXPECT_EQ(up.range().high, down.range().high);
  EXPECT_EQ(up.range().low, down.range().low);
  EXPECT_NEAR(up.range().high, 0.995 * 370, 1);
}

TEST(Ranges, Uint8HoldsZero) {
  QuantParams p = uint8Params({-1, 3});
  EXPECT_FLOAT_EQ(p.scale, 4.0f / 255);
  EXPECT_EQ(p.zero, 64);
  p = uint8Params({2, 5}); // widened
  EXPECT_FLOAT_EQ(p.scale, 5.0f / 255);
  EXPECT_EQ(p.zero, 0);
  p = uint8Params({-5, -2});
  EXPECT_EQ(p.zero, 255);
  for (Interval nothing : {Interval{0, 0}, Interval{0, 1e-44f}}) {
    p = uint8Params(nothing);
    EXPECT_EQ(p.scale, 1);
    EXPECT_EQ(p.zero, 0);
  }
  EXPECT_TRUE(std::isfinite(uint8Params({-3e38f, 3e38f}).scale));
}

// [outer 2, depth 2, inner 2]: channels are the middle axis.
TEST(Weights, PerChannel) {
  std::vector<float> w = {127, 1, 2, -1, 0, -64, 1, 0};
  QuantizedWeights q = quantizeWeights(w, {2, 2, 2}, /*block=*/0, /*bits=*/8);
  ASSERT_EQ(q.scales.size(), 2u);
  EXPECT_FLOAT_EQ(q.scales[0], 1);
  EXPECT_FLOAT_EQ(q.scales[1], 2.0f / 127);
  EXPECT_EQ(q.values, (std::vector<int8_t>{127, 1, 127, -64, 0, -64, 64, 0}));
  q = quantizeWeights({0, 0}, {1, 2, 1}, 0, 8);
  EXPECT_EQ(q.scales, (std::vector<float>{1, 1})); // no division by zero
  EXPECT_TRUE(quantizeWeights({}, {1, 0, 1}, 0, 8).scales.empty());
}

// Groups of 2 along the middle axis of [1, 3, 2]: the last one is short.
TEST(Weights, Grouped) {
  std::vector<float> w = {7, 0.7f, -7, 0.1f, 70, 0.7f};
  QuantizedWeights q = quantizeWeights(w, {1, 3, 2}, /*block=*/2, /*bits=*/4);
  ASSERT_EQ(q.scales.size(), 4u);
  EXPECT_FLOAT_EQ(q.scales[0], 1);
  EXPECT_FLOAT_EQ(q.scales[1], 0.1f);
  EXPECT_FLOAT_EQ(q.scales[2], 10);
  EXPECT_FLOAT_EQ(q.scales[3], 0.1f);
  EXPECT_EQ(q.values, (std::vector<int8_t>{7, 7, -7, 1, 7, 7}));
}

// One large value among many: clipping it a little is better than coarse steps for all.
TEST(Weights, FourBitsMayClip) {
  std::vector<float> w(32);
  for (int i = 0; i < 32; ++i)
    w[i] = 0.55f * float(i % 2 ? 1 : -1);
  w[0] = 1.2f;
  QuantizedWeights q = quantizeWeights(w, {1, 32, 1}, 32, 4);
  auto error = [&](float scale) {
    double sum = 0;
    for (float x : w) {
      double d = x - std::fmin(std::fmax(std::nearbyint(x / scale), -7.0), 7.0) * scale;
      sum += d * d;
    }
    return sum;
  };
  EXPECT_LE(error(q.scales[0]), error(1.2f / 7));
}

TEST(Weights, Nibbles) {
  EXPECT_EQ(packNibbles({1, -1, 7}), (std::vector<int8_t>{int8_t(0xf1), 7}));
  EXPECT_TRUE(packNibbles({}).empty());
}

// Sixteen levels: the lowest has no counterpart.
TEST(Weights, FourBitsReachMinusEight) {
  QuantizedWeights q = quantizeWeights({-8, 1, 2, 3}, {1, 4, 1}, 4, 4);
  EXPECT_FLOAT_EQ(q.scales[0], 1);
  EXPECT_EQ(q.values, (std::vector<int8_t>{-8, 1, 2, 3}));
}
