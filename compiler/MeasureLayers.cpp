//===- MeasureLayers.cpp - what samples say about a model's layers --------===//
#include "optc/compiler/MeasureLayers.h"
#include "optc/compiler/HostModel.h"
#include "optc/compiler/Watch.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Equalize.h"
#include "optc/passes/compress/Layers.h"
#include <cmath>

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

static func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

/// Runs `module`, whose results are float32 tensors, on the first samples.
static Error runOn(ModuleOp module, const Compression &state, const SampleSet &samples, size_t most,
                   llvm::function_ref<void(ArrayRef<optc_value>)> take) {
  Expected<std::unique_ptr<HostModel>> host = HostModel::compile(module, *state.target, /*optLevel=*/3, state.plugins);
  if (!host)
    return host.takeError();
  for (size_t i = 0, e = std::min(most, samples.size()); i < e; ++i) {
    Expected<Sample> sample = samples.load(i);
    if (!sample)
      return sample.takeError();
    Expected<ArrayRef<optc_value>> values = (*host)->run(*sample);
    if (!values)
      return inputError(samples.source() + ", sample " + Twine(i) + ": " + llvm::toString(values.takeError()));
    take(*values);
  }
  return Error::success();
}

static ArrayRef<int64_t> shapeOf(const optc_value &value) { return {value.tensor.shape, size_t(value.tensor.ndim)}; }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expected<size_t> optc::findRanges(ModuleOp module, const Compression &state, const SampleSet &samples) {
  OwningOpRef<ModuleOp> watched = module.clone();
  SmallVector<Value> values = compress::valuesToObserve(mainOf(*watched));
  if (values.empty())
    return 0;
  std::vector<compress::RangeCollector> seen(values.size(), compress::RangeCollector(state.options.method));
  setResults(mainOf(*watched), values);
  if (Error error = runOn(*watched, state, samples, samples.size(), [&](auto outputs) {
        for (auto [collector, output] : llvm::zip(seen, outputs))
          collector.add(watchedFloats(output));
      }))
    return std::move(error);
  // The same values of the module itself: the order depends on nothing but the ops.
  for (auto [value, collector] : llvm::zip_equal(compress::valuesToObserve(mainOf(module)), seen))
    if (collector.count() && !collector.notFinite())
      compress::setRange(value, collector.range());
  return values.size();
}

Expected<std::vector<EqualizedValue>> optc::equalizeModel(ModuleOp module, const Compression &state,
                                                          const SampleSet &samples) {
  std::vector<compress::EqualizeSite> sites = compress::equalizeSites(mainOf(module));
  std::vector<EqualizedValue> done;
  if (sites.empty())
    return done;
  OwningOpRef<ModuleOp> watched = module.clone();
  SmallVector<Value> values;
  for (const compress::EqualizeSite &site : compress::equalizeSites(mainOf(*watched)))
    values.push_back(site.value);
  setResults(mainOf(*watched), values);
  std::vector<std::vector<compress::ChannelStats>> stats;
  for (const compress::EqualizeSite &site : sites)
    stats.emplace_back(site.channels);
  std::vector<bool> isKnown(sites.size(), true);
  if (Error error = runOn(*watched, state, samples, samples.size(), [&](auto outputs) {
        for (auto [i, output] : llvm::enumerate(outputs))
          isKnown[i] =
              isKnown[i] && compress::addChannels(stats[i], watchedFloats(output), shapeOf(output), sites[i].axis);
      }))
    return std::move(error);
  for (auto [i, site] : llvm::enumerate(sites)) {
    if (!isKnown[i])
      continue;
    compress::Equalization choice = compress::chooseFactors(site, stats[i]);
    if (choice.factors.empty())
      continue;
    Operation *layer = site.layers.front();
    done.push_back({onnx::nodeName(layer->getLoc()), layer->getName().stripDialect().str(), site.layers.size(),
                    choice.decibels, choice.isFree});
    compress::equalize(site, choice);
  }
  return done;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// Sums over the results of a layer, exact and quantized.
struct ErrorSums {
  int64_t axis = 0; ///< of the channels
  double signal = 0, noise = 0;
  uint64_t count = 0;
  unsigned runs = 0;
  std::vector<double> errors, squares; ///< per channel
  void add(const optc_value &exact, const optc_value &quantized);
  LayerError result(unsigned layer) const;
};
} // namespace

void ErrorSums::add(const optc_value &exact, const optc_value &quantized) {
  ArrayRef<float> x = watchedFloats(exact), y = watchedFloats(quantized);
  ArrayRef<int64_t> shape = shapeOf(exact);
  if (x.size() != y.size() || axis >= int64_t(shape.size()))
    return;
  size_t channels = shape[axis], inner = 1;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  errors.resize(channels);
  squares.resize(channels);
  ++runs;
  count += x.size();
  for (size_t i = 0; i < x.size(); ++i) {
    double e = double(y[i]) - x[i];
    size_t channel = i / inner % channels;
    signal += double(x[i]) * x[i];
    noise += e * e;
    errors[channel] += e;
    squares[channel] += e * e;
  }
}

/// 10 * log10(signal / noise), within what a message can show.
static double decibelsOf(double signal, double noise) {
  constexpr double kBest = 200; // no noise at all
  double decibels = noise > 0 ? 10 * std::log10(signal / noise) : kBest;
  return std::isnan(decibels) ? -kBest : std::clamp(decibels, -kBest, kBest);
}

LayerError ErrorSums::result(unsigned layer) const {
  LayerError made;
  made.layer = layer;
  made.results = runs ? double(count) / runs : 0;
  made.decibels = decibelsOf(signal, noise);
  double left = noise, n = errors.empty() ? 0 : double(count) / double(errors.size());
  for (auto [sum, square] : llvm::zip(errors, squares)) {
    // Two standard errors: what is less may be chance.
    double mean = n > 0 ? sum / n : 0, variance = n > 1 ? std::max(square / n - mean * mean, 0.0) : INFINITY;
    bool isSure = std::isfinite(mean) && mean * mean * n > 4 * variance;
    made.shift.push_back(isSure ? float(mean) : 0);
    left -= isSure ? mean * mean * n : 0;
  }
  made.corrected = decibelsOf(signal, std::max(left, 0.0));
  return made;
}

Expected<std::vector<LayerError>>
optc::measureLayers(ModuleOp module, const Compression &state, const SampleSet &samples,
                    llvm::function_ref<std::vector<compress::LayerPair>(func::FuncOp)> isolate) {
  constexpr size_t kSamples = 128; // as good as all
  OwningOpRef<ModuleOp> watched = module.clone();
  func::FuncOp main = mainOf(*watched);
  std::vector<compress::LayerPair> pairs = isolate(main);
  std::vector<LayerError> errors;
  if (pairs.empty())
    return errors;
  SmallVector<Value> values;
  std::vector<ErrorSums> sums;
  for (const compress::LayerPair &pair : pairs) {
    values.append({pair.exact, pair.quantized});
    auto type = dyn_cast<RankedTensorType>(pair.exact.getType());
    Operation *layer = pair.exact.getDefiningOp();
    bool isConv = isa_and_nonnull<onnx::ConvOp, onnx::ConvTransposeOp>(layer);
    sums.emplace_back().axis = isConv ? 1 : type ? std::max<int64_t>(type.getRank() - 1, 0) : 0;
  }
  setResults(main, values);
  if (Error error = runOn(*watched, state, samples, kSamples, [&](ArrayRef<optc_value> all) {
        for (auto [i, sum] : llvm::enumerate(sums))
          sum.add(all[2 * i], all[2 * i + 1]);
      }))
    return std::move(error);
  for (auto [pair, sum] : llvm::zip(pairs, sums))
    errors.push_back(sum.result(pair.layer));
  return errors;
}
