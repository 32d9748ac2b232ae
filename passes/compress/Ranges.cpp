//===- Ranges.cpp - the arithmetic of quantization ------------------------===//
#include "optc/passes/compress/Ranges.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace optc::compress;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Neighbours become one bin.
static void halve(std::vector<uint64_t> &bins) {
  for (size_t i = 0, e = bins.size() / 2; i < e; ++i)
    bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + bins.size() / 2, bins.end(), 0);
}

void RangeCollector::place(float value) {
  double magnitude = std::fabs(double(value));
  if (magnitude == 0) {
    ++zeros;
    return;
  }
  if (limit == 0) {
    limit = std::exp2(std::ceil(std::log2(magnitude)));
    below.assign(kBins, 0);
    above.assign(kBins, 0);
  }
  for (; magnitude > limit; limit *= 2) {
    halve(below);
    halve(above);
  }
  int bin = std::min(int(magnitude / limit * kBins), kBins - 1);
  ++(value < 0 ? below : above)[bin];
}

void RangeCollector::add(llvm::ArrayRef<float> values) {
  bool needsBins = method.kind != RangeMethod::MinMax;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++strange;
      continue;
    }
    extremes = seen ? Interval{std::min(extremes.low, value), std::max(extremes.high, value)} : Interval{value, value};
    ++seen;
    if (needsBins)
      place(value);
  }
}

/// The magnitude that `count` values of a side exceed at most; `width` is that of a bin.
static double cut(const std::vector<uint64_t> &bins, double count, double width, double most) {
  double above = 0;
  for (size_t i = bins.size(); i-- > 0;) {
    above += double(bins[i]);
    if (above > count)
      return std::min((double(i) + 1) * width, most);
  }
  return 0;
}

Interval RangeCollector::percentiles() const {
  double count = double(seen) * (100 - method.percent) / 200, width = limit / kBins;
  double low = extremes.low < 0 ? -cut(below, count, width, -extremes.low) : extremes.low;
  double high = extremes.high > 0 ? cut(above, count, width, extremes.high) : extremes.high;
  return {float(low), float(high)};
}

namespace {
/// Values of a histogram: what a bin stands for, and how many there are; rising, none empty.
using Bins = std::vector<std::pair<double, double>>;

/// The level of a value.
int levelOf(double value, QuantParams params) {
  return int(std::clamp(std::nearbyint(value / params.scale) + params.zero, 0.0, 255.0));
}

double squaredError(const Bins &bins, Interval range) {
  QuantParams params = uint8Params(range);
  double error = 0;
  for (auto [value, count] : bins) {
    double d = value - double(levelOf(value, params) - params.zero) * params.scale;
    error += count * d * d;
  }
  return error;
}

} // namespace

/// Tries parts of either side of the range in turn.
Interval RangeCollector::leastSquares() const {
  Bins bins;
  double width = limit / kBins;
  for (size_t i = kBins; i-- > 0;)
    if (below[i])
      bins.emplace_back(-(double(i) + 0.5) * width, double(below[i]));
  if (zeros)
    bins.emplace_back(0, double(zeros));
  for (size_t i = 0; i < kBins; ++i)
    if (above[i])
      bins.emplace_back((double(i) + 0.5) * width, double(above[i]));
  // The centre of the last bin lies within the range, so that nothing of it counts as clipped.
  Interval best{float(std::min(double(extremes.low), bins.front().first)),
                float(std::max(double(extremes.high), bins.back().first))};
  const Interval whole = best;
  double least = squaredError(bins, best);
  constexpr int kParts = 40, kFewest = 8, kRounds = 2;
  for (int round = 0; round < kRounds; ++round)
    for (float Interval::*side : {&Interval::high, &Interval::low})
      for (int part = kFewest; part <= kParts; ++part) {
        Interval tried = best;
        tried.*side = whole.*side * float(part) / kParts;
        if (double e = squaredError(bins, tried); e < least) {
          least = e;
          best = tried;
        }
      }
  return {std::max(best.low, extremes.low), std::min(best.high, extremes.high)};
}

Interval RangeCollector::range() const {
  if (method.kind == RangeMethod::MinMax || !seen || limit == 0)
    return extremes;
  return method.kind == RangeMethod::Percentile ? percentiles() : leastSquares();
}

QuantParams optc::compress::uint8Params(Interval range) {
  double low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
  float scale = float((high - low) / 255);
  if (!(scale > 0) || !std::isnormal(scale)) // nothing but zeros, or too small for any multiple of it to matter
    return {1, 0};
  return {scale, int32_t(std::clamp(std::nearbyint(-low / scale), 0.0, 255.0))};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// The integers that are used. Of 8 bits, those with a negative of their own: products of pairs then fit 16 bits. Of 4,
/// all: one level in 16 counts.
struct Levels {
  int low, high;
  explicit Levels(int bits) : low(bits == 4 ? -8 : 1 - (1 << (bits - 1))), high((1 << (bits - 1)) - 1) {}
  int8_t round(float value, float scale) const {
    return int8_t(std::clamp(std::nearbyint(double(value) / scale), double(low), double(high)));
  }
};
} // namespace

/// Scales that are tried, as parts of the one that clips nothing. Four bits have few levels: losing the largest values
/// may pay for finer steps.
static constexpr float kParts[] = {1, 0.95f, 0.9f, 0.875f, 0.85f, 0.8f, 0.75f};

namespace {
/// The weights that share a scale.
struct Group {
  const float *first;
  int64_t count, stride; ///< `count` runs of `run` neighbours, `stride` apart
  int64_t run;
  template <typename Fn> void forEach(Fn fn) const {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < run; ++j)
        fn(first + i * stride + j);
  }
};
} // namespace

static float scaleOf(const Group &group, Levels levels, bool search) {
  float magnitude = 0;
  group.forEach([&](const float *w) { magnitude = std::max(magnitude, std::fabs(*w)); });
  float whole = magnitude / float(levels.high), best = whole;
  if (!(whole > 0) || !std::isnormal(whole))
    return 1;
  if (!search)
    return whole;
  double least = INFINITY;
  for (float part : kParts) {
    float scale = whole * part;
    double error = 0;
    group.forEach([&](const float *w) {
      double d = double(*w) - double(levels.round(*w, scale)) * scale;
      error += d * d;
    });
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

QuantizedWeights optc::compress::quantizeWeights(llvm::ArrayRef<float> weights, WeightShape shape, int64_t block,
                                                 int bits) {
  QuantizedWeights result;
  result.values.resize(weights.size());
  if (weights.empty())
    return result;
  Levels levels(bits);
  auto quantize = [&](const Group &group, bool search) {
    float scale = scaleOf(group, levels, search);
    result.scales.push_back(scale);
    group.forEach([&](const float *w) { result.values[w - weights.data()] = levels.round(*w, scale); });
  };
  int64_t plane = shape.depth * shape.inner;
  if (block == 0) {
    for (int64_t d = 0; d < shape.depth; ++d)
      quantize({weights.data() + d * shape.inner, shape.outer, plane, shape.inner}, false);
    return result;
  }
  for (int64_t o = 0; o < shape.outer; ++o)
    for (int64_t d = 0; d < shape.depth; d += block)
      for (int64_t i = 0; i < shape.inner; ++i)
        quantize({weights.data() + o * plane + d * shape.inner + i, std::min(block, shape.depth - d), shape.inner, 1},
                 true);
  return result;
}

std::vector<int8_t> optc::compress::packNibbles(llvm::ArrayRef<int8_t> values) {
  std::vector<int8_t> packed(llvm::divideCeil(values.size(), size_t(2)));
  for (size_t i = 0; i < values.size(); ++i)
    packed[i / 2] = int8_t(uint8_t(packed[i / 2]) | (values[i] & 15) << (i % 2 * 4));
  return packed;
}
