//===- Quality.h - how good a model is on a golden set --------------------===//
#ifndef OPTC_COMPILER_QUALITY_H
#define OPTC_COMPILER_QUALITY_H
#include "optc/compiler/Compress.h"
#include "optc/compiler/HostModel.h"
#include "optc/compiler/Samples.h"

namespace optc {

/// The cosine of the angle between two vectors of equal size. 1 for two of zeros; 0 where NaN or infinity is in one.
double cosine(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b);
/// The index of the largest of each `classes` neighbours, the first of equal ones; -1 where one is NaN.
std::vector<int64_t> largestOf(llvm::ArrayRef<float> scores, int64_t classes);

/// A metric over a golden set, between 0 and 1.
class Quality {
public:
  Quality(const SampleSet &samples, Metric metric) : samples(samples), metric(metric) {}
  /// Runs the float model: what it gives is the reference. Its own quality.
  llvm::Expected<double> baseline(HostModel &model);
  llvm::Expected<double> measure(HostModel &model) const;

private:
  using Outputs = std::vector<std::vector<float>>; ///< one per float32 output
  struct Result {
    Outputs outputs;
    int64_t classes = 0; ///< the last size of the first output
  };
  llvm::Expected<Result> runSample(HostModel &model, size_t i) const;

  const SampleSet &samples;
  Metric metric;
  std::vector<Outputs> expected;            ///< of cosine
  std::vector<std::vector<int64_t>> labels; ///< of top1, per sample
};

} // namespace optc
#endif
