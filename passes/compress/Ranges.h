//===- Ranges.h - the arithmetic of quantization --------------------------===//
#ifndef OPTC_PASSES_COMPRESS_RANGES_H
#define OPTC_PASSES_COMPRESS_RANGES_H
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace optc::compress {

/// What values a tensor takes.
struct Interval {
  float low = 0, high = 0;
  /// The least range that holds both.
  void merge(const Interval &other) {
    low = low < other.low ? low : other.low;
    high = high > other.high ? high : other.high;
  }
};

/// How ranges follow from what was seen.
struct RangeMethod {
  enum Kind {
    MinMax,     ///< the smallest and the largest value
    Percentile, ///< without the rarest values: half of what `percent` leaves at either end
    Mse         ///< the least squared error of rounding and clipping
  } kind = MinMax;
  double percent = 100;
};

/// Watches the values of one tensor. What it finds does not depend on how they were cut into calls of `add`.
class RangeCollector {
public:
  explicit RangeCollector(RangeMethod method) : method(method) {}
  void add(llvm::ArrayRef<float> values);
  /// How many NaNs and infinities there were.
  uint64_t notFinite() const { return strange; }
  uint64_t count() const { return seen; }
  Interval range() const;

private:
  /// Of the histogram, on either side of zero. The range doubles whenever a value lies outside.
  static constexpr int kBins = 8192;
  void place(float value);
  Interval percentiles() const;
  Interval leastSquares() const;
  RangeMethod method;
  Interval extremes;
  uint64_t seen = 0, strange = 0, zeros = 0;
  double limit = 0; ///< of the histogram: a power of two; 0: nothing but zeros so far
  std::vector<uint64_t> below, above;
};

/// q = clamp(round(x / scale) + zero), as QuantizeLinear has it.
struct QuantParams {
  float scale = 1;
  int32_t zero = 0;
};
/// Of uint8 over a range, which is widened to hold 0: padding and ReLU are then exact.
QuantParams uint8Params(Interval range);

/// A tensor seen as [outer, depth, inner] around its quantization axis.
struct WeightShape {
  int64_t outer = 1, depth = 1, inner = 1;
};
/// Signed integers and what they are multiples of.
struct QuantizedWeights {
  std::vector<int8_t> values;
  std::vector<float> scales;
};
/// Rounds to the nearest of 255 levels around zero for 8 bits, of 16 for 4. Block 0: one scale per index of `depth`;
/// otherwise one per `block` neighbours along it, [outer, ceil(depth / block), inner], each chosen for the least
/// squared error.
QuantizedWeights quantizeWeights(llvm::ArrayRef<float> weights, WeightShape shape, int64_t block, int bits);

/// Pairs of 4-bit values in bytes, the first in the low half.
std::vector<int8_t> packNibbles(llvm::ArrayRef<int8_t> values);

} // namespace optc::compress
#endif
