//===- Quality.cpp - how good a model is on a golden set ------------------===//
#include "optc/compiler/Quality.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

double optc::cosine(ArrayRef<float> a, ArrayRef<float> b) {
  double aa = 0, bb = 0, ab = 0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    aa += double(x) * x;
    bb += double(y) * y;
    ab += double(x) * y;
  }
  if (aa == 0 && bb == 0)
    return 1;
  double value = ab / std::sqrt(aa * bb);
  return std::isfinite(value) ? value : 0;
}

std::vector<int64_t> optc::largestOf(ArrayRef<float> scores, int64_t classes) {
  std::vector<int64_t> indices;
  for (; classes > 0 && int64_t(scores.size()) >= classes; scores = scores.drop_front(classes)) {
    ArrayRef<float> row = scores.take_front(classes);
    bool hasNan = llvm::any_of(row, [](float s) { return std::isnan(s); });
    indices.push_back(hasNan ? -1 : std::max_element(row.begin(), row.end()) - row.begin());
  }
  return indices;
}

Expected<Quality::Result> Quality::runSample(HostModel &model, size_t i) const {
  Expected<Sample> sample = samples.load(i);
  if (!sample)
    return sample.takeError();
  Expected<ArrayRef<optc_value>> values = model.run(*sample);
  if (!values)
    return makeError(ExitCode::Input,
                     samples.source() + ", sample " + Twine(i) + ": " + llvm::toString(values.takeError()));
  Result result;
  for (const optc_value &value : *values) {
    if (value.kind != OPTC_TENSOR || value.dtype != OPTC_FLOAT)
      continue;
    int64_t count = 1;
    for (int64_t size : ArrayRef<int64_t>(value.tensor.shape, value.tensor.ndim))
      count *= size;
    if (result.outputs.empty())
      result.classes = value.tensor.ndim ? value.tensor.shape[value.tensor.ndim - 1] : 1;
    auto *data =
        reinterpret_cast<const float *>(static_cast<const char *>(value.tensor.data) + value.tensor.byte_offset);
    result.outputs.emplace_back(data, data + count);
  }
  if (result.outputs.empty())
    return inputError("--metric=" + nameOf(metric) + " compares float32 outputs, and the model has none");
  return std::move(result);
}

/// Whether numbers that a metric cannot compare are among the outputs: nothing could be worse than those.
static bool isComparable(ArrayRef<std::vector<float>> outputs, Metric metric) {
  if (metric == Metric::Top1)
    return llvm::none_of(outputs.front(), [](float x) { return std::isnan(x); });
  return llvm::all_of(outputs, [](const std::vector<float> &output) {
    return llvm::all_of(output, [](float x) { return std::isfinite(x); });
  });
}

Expected<double> Quality::baseline(HostModel &model) {
  std::vector<std::vector<int64_t>> own;
  int64_t classes = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    Expected<Result> result = runSample(model, i);
    if (!result)
      return result.takeError();
    if (!isComparable(result->outputs, metric))
      return inputError(samples.source() + ", sample " + Twine(i) + ": the float model itself gives NaN" +
                        (metric == Metric::Cosine ? " or infinity" : "") + ", so that --metric=" + nameOf(metric) +
                        " has nothing to compare with; leave the sample out");
    classes = std::max(classes, result->classes);
    if (metric == Metric::Cosine)
      expected.push_back(std::move(result->outputs));
    else
      own.push_back(largestOf(result->outputs.front(), result->classes));
  }
  if (metric == Metric::Cosine)
    return 1.0;
  const run::Value *given = samples.extra("labels");
  if (!given) { // what the float model says is right
    labels = std::move(own);
    return 1.0;
  }
  size_t rows = 0, right = 0, at = 0;
  for (const std::vector<int64_t> &sample : own)
    rows += sample.size();
  if (given->kind != OPTC_TENSOR || size_t(std::max<int64_t>(given->count(), 0)) != rows)
    return inputError(samples.source() + ": labels are " + run::describe(*given) + ", but the " +
                      Twine(samples.size()) + " samples have " + Twine(rows) +
                      " rows of scores; --metric=top1 needs one integer for each");
  for (const std::vector<int64_t> &sample : own) {
    std::vector<int64_t> &row = labels.emplace_back();
    for (int64_t index : sample) {
      double label = run::element(*given, at++);
      if (!(label >= 0 && label < classes) || label != std::floor(label))
        return inputError(samples.source() + ": the label of row " + Twine(at - 1) + " is " +
                          llvm::formatv("{0}", label).str() + ", but the first output has " + Twine(classes) +
                          " classes; --metric=top1 needs indices of them");
      row.push_back(int64_t(label));
      right += index == row.back();
    }
  }
  return rows ? double(right) / double(rows) : 1.0;
}

Expected<double> Quality::measure(HostModel &model) const {
  double sum = 0, parts = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    Expected<Result> result = runSample(model, i);
    if (!result)
      return result.takeError();
    if (metric == Metric::Cosine) {
      for (auto [got, want] : llvm::zip(result->outputs, expected[i])) {
        sum += got.size() == want.size() ? cosine(got, want) : 0;
        ++parts;
      }
      continue;
    }
    std::vector<int64_t> got = largestOf(result->outputs.front(), result->classes);
    for (auto [k, label] : llvm::enumerate(labels[i]))
      sum += k < got.size() && got[k] == label;
    parts += labels[i].size();
  }
  return parts ? sum / parts : 1.0;
}
