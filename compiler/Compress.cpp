//===- Compress.cpp - the phase `compress` --------------------------------===//
#include "optc/compiler/Compress.h"
#include "mlir/Pass/PassManager.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/HostModel.h"
#include "optc/compiler/Quality.h"
#include "optc/compiler/RefitModel.h"
#include "optc/compiler/Samples.h"
#include "optc/compiler/Watch.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/passes/compress/Journal.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

static std::string utf8(StringRef s) { return json::isUTF8(s) ? s.str() : json::fixUTF8(s); }

void Compression::record(json::Object decision) {
  llvm::raw_string_ostream(journal) << json::Value(std::move(decision)) << "\n";
}

//===----------------------------------------------------------------------===//
// Modules that measure
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

namespace {
/// A layer and the ratio of signal to noise of its quantized form alone, in decibels.
struct LayerError {
  unsigned layer;
  double decibels;
};

class Compressor {
public:
  Compressor(ModuleOp module, Compression &state) : module(module), state(state), options(state.options) {}
  /// `prune` and `rewrite` run passes on the module; their errors are reported.
  Error run(llvm::function_ref<LogicalResult()> prune, llvm::function_ref<LogicalResult()> rewrite);

private:
  bool isStatic() const { return options.precision == Precision::Int8 && !options.calibrate.empty(); }
  compress::WeightOptions weightOptions() const {
    return {options.precision == Precision::Int4 ? 4 : 8, options.groupSize};
  }
  Error openCalibration();
  Error refit();
  Error takePruning();
  Error quantizeAll();
  Error keepFloat();
  Error calibrate();
  compress::LayerOutcomes quantize(ModuleOp target) const;
  void recordLayers();
  void describe();
  Error guard();
  Expected<double> qualityOf(ModuleOp candidate, const Quality &quality) const;
  Expected<std::vector<LayerError>> rank(const SampleSet &golden) const;
  Error rollBack(const Quality &quality, ArrayRef<LayerError> ranking, double floatQuality, double &current);
  std::string title(unsigned layer) const;

  ModuleOp module;
  Compression &state;
  const CompressionOptions &options;
  OwningOpRef<ModuleOp> original; ///< the trusted baseline, while there is a guardrail
  OwningOpRef<ModuleOp> prepared; ///< ready to be quantized: with ranges
  compress::LayerOutcomes outcomes;
  std::optional<SampleSet> calibration;
  bool rolledBack = false; ///< at least one layer
  std::string verdict;     ///< of a guardrail that is kept
};
} // namespace

/// "Conv 'stem'"
std::string Compressor::title(unsigned layer) const {
  const compress::LayerOutcome &outcome = outcomes[layer];
  return outcome.op + (outcome.node.empty() ? "" : " '" + outcome.node + "'");
}

/// "3 Conv ('a', 'b', ...)"
static std::string counted(StringRef op, ArrayRef<std::string> nodes) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (const std::string &node : nodes.take_front(kNamed))
    names.push_back("'" + node + "'");
  if (nodes.size() > kNamed)
    names.push_back("...");
  return (Twine(nodes.size()) + " " + op + " (" + llvm::join(names, ", ") + ")").str();
}

/// Marks the nodes that the user wants to stay float.
Error Compressor::keepFloat() {
  SmallVector<Operation *> layers = compress::layersOf(mainOf(module), /*withTables=*/!isStatic());
  for (StringRef name : options.keepFloat) {
    bool found = false;
    for (Operation *op : layers)
      if (onnx::nodeName(op->getLoc()) == name) {
        op->setAttr(compress::kKeepFloatAttr, StringAttr::get(op->getContext(), "--keep-float names it"));
        found = true;
      }
    if (found)
      continue;
    std::string nearest;
    unsigned best = name.size();
    for (Operation *op : layers) {
      std::string other = onnx::nodeName(op->getLoc());
      if (unsigned distance = name.edit_distance(other, true, best); distance < best) {
        best = distance;
        nearest = other;
      }
    }
    return inputError("--keep-float=" + name + ": no layer with weights has this name" +
                      (nearest.empty() ? "" : "; the nearest is '" + nearest + "'"));
  }
  return Error::success();
}

Error Compressor::openCalibration() {
  if (calibration)
    return Error::success();
  Expected<SampleSet> samples = SampleSet::open("--calibrate", options.calibrate, inputsOf(mainOf(module)));
  if (!samples)
    return samples.takeError();
  calibration.emplace(std::move(*samples));
  llvm::append_range(state.files, calibration->files());
  return Error::success();
}

/// Runs the float model on samples and leaves ranges on its ops.
Error Compressor::calibrate() {
  if (Error error = openCalibration())
    return error;
  OwningOpRef<ModuleOp> watched = module.clone();
  SmallVector<Value> values = compress::valuesToObserve(mainOf(*watched));
  std::vector<compress::RangeCollector> seen(values.size(), compress::RangeCollector(options.method));
  if (!values.empty()) {
    setResults(mainOf(*watched), values);
    if (Error error = runOn(*watched, state, *calibration, calibration->size(), [&](auto outputs) {
          for (auto [collector, output] : llvm::zip(seen, outputs))
            collector.add(watchedFloats(output));
        }))
      return error;
  }
  // The same values of the module itself: the order depends on nothing but the ops.
  for (auto [value, collector] : llvm::zip_equal(compress::valuesToObserve(mainOf(module)), seen))
    if (collector.count() && !collector.notFinite())
      compress::setRange(value, collector.range());
  json::Object line{{"step", "calibrate"}, {"samples", int64_t(calibration->size())}};
  line["values"] = int64_t(values.size());
  line["percent"] = options.method.percent;
  state.record(std::move(line));
  return Error::success();
}

compress::LayerOutcomes Compressor::quantize(ModuleOp target) const {
  return isStatic() ? compress::quantizeStatic(mainOf(target))
                    : compress::quantizeWeights(mainOf(target), weightOptions());
}

/// A journal line per layer.
void Compressor::recordLayers() {
  for (const compress::LayerOutcome &outcome : outcomes) {
    json::Object line{{"step", "quantize"}, {"layer", utf8(outcome.node)}, {"operator", outcome.op}};
    line["decision"] = outcome.form;
    if (outcome.isFloat())
      line["why"] = utf8(outcome.reason);
    state.record(std::move(line));
  }
}

/// What became of the layers: the report, and what the user should know.
void Compressor::describe() {
  json::Array layers;
  uint64_t before = 0, after = 0;
  unsigned quantized = 0;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> inFloat; // by operator and reason
  for (const compress::LayerOutcome &outcome : outcomes) {
    json::Object entry{{"node", utf8(outcome.node)}, {"operator", outcome.op}, {"form", outcome.form}};
    if (outcome.isFloat()) {
      entry["reason"] = utf8(outcome.reason);
      inFloat[{outcome.op, outcome.reason}].push_back(outcome.node);
    }
    entry["float_bytes"] = int64_t(outcome.floatBytes);
    entry["bytes"] = int64_t(outcome.bytes);
    before += outcome.floatBytes;
    after += outcome.bytes;
    quantized += !outcome.isFloat();
    layers.push_back(std::move(entry));
  }
  state.report["precision"] = nameOf(options.precision);
  state.report["layers"] = std::move(layers);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "--precision=" << nameOf(options.precision) << ": " << quantized << " of " << outcomes.size()
     << " layers are quantized, their weights are " << after << " bytes instead of " << before;
  if (calibration)
    os << "; calibrated on " << calibration->size() << " samples";
  state.notes.push_back(text);
  for (const auto &[what, nodes] : inFloat) {
    state.notes.push_back(counted(what.first, nodes) + " stay float: " + what.second);
  }
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// Fits layers whose inputs lost channels.
Error Compressor::refit() {
  if (Error error = openCalibration())
    return error;
  Expected<std::vector<RefitOutcome>> outcomes =
      refitLayers(*original, module, *calibration, *state.target, state.plugins);
  if (!outcomes)
    return outcomes.takeError();
  json::Array layers;
  size_t fitted = 0;
  for (const RefitOutcome &outcome : *outcomes) {
    json::Object line{{"step", "refit"}, {"layer", utf8(outcome.node)}, {"operator", outcome.op}};
    line["decision"] = outcome.reason.empty() ? "fitted" : "as it was cut";
    if (!outcome.reason.empty())
      line["why"] = outcome.reason;
    line["rows"] = outcome.rows;
    line["error_left"] = outcome.left;
    fitted += outcome.reason.empty();
    layers.push_back(json::Object(line));
    state.record(std::move(line));
  }
  state.report["refit"] = std::move(layers);
  state.notes.push_back("--prune=channels: " + std::to_string(fitted) + " of " + std::to_string(outcomes->size()) +
                        " layers that lost inputs are fitted to " + std::to_string(calibration->size()) + " samples");
  return Error::success();
}

/// Moves what the passes wrote about layers into report and journal, and sums it up.
Error Compressor::takePruning() {
  auto entries = module->getAttrOfType<ArrayAttr>(PruneJournal::kAttr);
  if (!options.prune.any())
    return Error::success();
  if (!entries)
    entries = ArrayAttr::get(module.getContext(), {});
  module->removeAttr(PruneJournal::kAttr);
  struct Sum {
    int64_t layers = 0, before = 0, after = 0;
  };
  json::Array layers;
  std::map<std::pair<std::string, std::string>, Sum> sums;                      // by method and what is counted
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> kept; // by operator and reason
  for (auto entry : entries.getAsRange<DictionaryAttr>()) {
    json::Object line{{"step", "prune"}};
    for (NamedAttribute field : entry)
      if (auto text = dyn_cast<StringAttr>(field.getValue()))
        line[utf8(field.getName())] = utf8(text.getValue());
      else if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
        line[utf8(field.getName())] = number.getInt();
    auto textOf = [&](StringRef name) { return line.getString(name).value_or("").str(); };
    bool stays = line.get("reason");
    line["decision"] = stays ? "stays" : "pruned";
    if (stays) {
      kept[{textOf("op"), textOf("reason")}].push_back(textOf("layer"));
    } else {
      Sum &sum = sums[{textOf("method"), textOf("what")}];
      ++sum.layers;
      sum.before += line.getInteger("before").value_or(0);
      sum.after += line.getInteger("after").value_or(0);
    }
    layers.push_back(json::Object(line));
    state.record(std::move(line));
  }
  for (const auto &[what, sum] : sums)
    state.notes.push_back("--prune=" + what.first + ": " + std::to_string(sum.layers) + " layers have " +
                          std::to_string(sum.after) + " of " + std::to_string(sum.before) + " " + what.second +
                          " left");
  for (const auto &[what, nodes] : kept)
    state.notes.push_back(counted(what.first, nodes) + " stay whole: " + what.second);
  bool hasLayers = !layers.empty();
  state.report["pruning"] = std::move(layers);
  if (!sums.empty())
    return Error::success();
  return inputError(hasLayers ? "--prune: no layer of the model can be pruned; the notes have the reasons"
                              : "--prune: the model has no layers with weights (Conv, Gemm, MatMul, ConvTranspose, "
                                "LSTM, GRU, RNN) that could be pruned");
}

//===----------------------------------------------------------------------===//
// The guardrail
//===----------------------------------------------------------------------===//

Expected<double> Compressor::qualityOf(ModuleOp candidate, const Quality &quality) const {
  OwningOpRef<ModuleOp> copy = candidate.clone();
  Expected<std::unique_ptr<HostModel>> host = HostModel::compile(*copy, *state.target, state.optLevel, state.plugins);
  return host ? quality.measure(**host) : host.takeError();
}

/// The layers by the error that their quantized form makes on exact inputs, largest first.
Expected<std::vector<LayerError>> Compressor::rank(const SampleSet &golden) const {
  constexpr size_t kSamples = 16; // as good as all for an order
  OwningOpRef<ModuleOp> watched = prepared.get().clone();
  func::FuncOp main = mainOf(*watched);
  std::vector<compress::LayerPair> pairs =
      isStatic() ? compress::isolateStatic(main) : compress::isolateWeights(main, weightOptions());
  SmallVector<Value> values;
  for (const compress::LayerPair &pair : pairs)
    values.append({pair.exact, pair.quantized});
  std::vector<std::pair<double, double>> power(pairs.size()); // of signal and noise
  if (pairs.empty())
    return std::vector<LayerError>();
  setResults(main, values);
  if (Error error =
          runOn(*watched, state, calibration ? *calibration : golden, kSamples, [&](ArrayRef<optc_value> all) {
            for (auto [i, sums] : llvm::enumerate(power))
              for (auto [x, y] : llvm::zip(watchedFloats(all[2 * i]), watchedFloats(all[2 * i + 1]))) {
                sums.first += double(x) * x;
                sums.second += (double(x) - y) * (double(x) - y);
              }
          }))
    return std::move(error);
  std::vector<LayerError> ranking;
  for (auto [pair, sums] : llvm::zip(pairs, power)) {
    constexpr double kBest = 200; // no noise at all
    double decibels = sums.second > 0 ? 10 * std::log10(sums.first / sums.second) : kBest;
    ranking.push_back({pair.layer, std::isnan(decibels) ? -kBest : std::clamp(decibels, -kBest, kBest)});
  }
  llvm::sort(ranking, [](const LayerError &a, const LayerError &b) {
    return std::pair(a.decibels, a.layer) < std::pair(b.decibels, b.layer);
  });
  return ranking;
}

/// Puts the worst layers back to float, one at a time; each stays so only when that helps.
Error Compressor::rollBack(const Quality &quality, ArrayRef<LayerError> ranking, double floatQuality, double &current) {
  SmallVector<unsigned> kept;
  for (const LayerError &next : ranking.take_front(options.rollback)) {
    if (floatQuality - current <= *options.maxDrop)
      break;
    kept.push_back(next.layer);
    OwningOpRef<ModuleOp> attempt = prepared.get().clone();
    SmallVector<Operation *> layers = compress::layersOf(mainOf(*attempt), /*withTables=*/!isStatic());
    for (unsigned layer : kept)
      layers[layer]->setAttr(
          compress::kKeepFloatAttr,
          StringAttr::get(module.getContext(), "rolled back, the golden set is better with it in float"));
    compress::LayerOutcomes made = quantize(*attempt);
    Expected<double> result = qualityOf(*attempt, quality);
    if (!result)
      return result.takeError();
    bool helps = *result > current;
    json::Object line{{"step", "roll back"}, {"layer", utf8(outcomes[next.layer].node)}};
    line["operator"] = outcomes[next.layer].op;
    line["sqnr_db"] = next.decibels;
    line["metric"] = nameOf(*options.metric);
    line["before"] = current;
    line["after"] = *result;
    line["decision"] = helps ? "float" : "quantized";
    line["why"] = helps ? "the golden set is better with this layer in float" : "no better in float";
    state.record(std::move(line));
    if (!helps) {
      kept.pop_back();
      continue;
    }
    current = *result;
    rolledBack = true;
    outcomes = std::move(made);
    module.getBodyRegion().takeBody(attempt->getBodyRegion());
  }
  return Error::success();
}

/// At most six digits, so that texts are short and equal.
static std::string digits(double value) { return llvm::formatv("{0:F6}", value).str(); }

/// Fails when the quality on the golden set drops by more than is allowed.
Error Compressor::guard() {
  Expected<SampleSet> golden = SampleSet::open("--golden", options.golden, inputsOf(mainOf(*original)));
  if (!golden)
    return golden.takeError();
  llvm::append_range(state.files, golden->files());
  Quality quality(*golden, *options.metric);
  OwningOpRef<ModuleOp> copy = original.get().clone();
  Expected<std::unique_ptr<HostModel>> host = HostModel::compile(*copy, *state.target, state.optLevel, state.plugins);
  if (!host)
    return host.takeError();
  Expected<double> best = quality.baseline(**host);
  if (!best)
    return best.takeError();
  Expected<double> first = qualityOf(module, quality);
  if (!first)
    return first.takeError();
  double current = *first;
  std::string worst;
  if (prepared && *best - current > *options.maxDrop) {
    Expected<std::vector<LayerError>> ranking = rank(*golden);
    if (!ranking)
      return ranking.takeError();
    constexpr size_t kNamed = 5;
    for (const LayerError &entry : ArrayRef(*ranking).take_front(kNamed))
      worst += (worst.empty() ? "" : ", ") + title(entry.layer) + llvm::formatv(" ({0:F1} dB)", entry.decibels).str();
    if (Error error = rollBack(quality, *ranking, *best, current))
      return error;
  }
  double drop = *best - current;
  bool good = drop <= *options.maxDrop;
  json::Object line{{"step", "guardrail"}, {"metric", nameOf(*options.metric)}, {"before", *best}, {"after", current}};
  line["max_drop"] = *options.maxDrop;
  line["samples"] = int64_t(golden->size());
  line["decision"] = good ? "accepted" : "rejected";
  state.report["guardrail"] = json::Object(line);
  state.record(std::move(line));
  std::string measured = (nameOf(*options.metric) + " on " + Twine(golden->size()) + " samples of " + golden->source() +
                          " is " + digits(current) + ", of the float model " + digits(*best))
                             .str();
  if (good) {
    verdict = measured;
    return Error::success();
  }
  return makeError(ExitCode::Limit,
                   measured + ": the drop of " + digits(drop) + " is more than --max-drop=" + digits(*options.maxDrop) +
                       (worst.empty() ? "" : "; the layers with the largest errors are " + worst) +
                       (options.quantizes() ? "; allow some of them to stay float (--rollback=N or --keep-float=NODE), "
                                              "calibrate on more or other samples (--calibrate, --calibration-method), "
                                              "or allow a larger drop"
                        : options.prune.channels > 0 && !options.refits()
                            ? "; fit layers to samples (--calibrate), prune less, or allow a larger drop"
                            : "; compress less, or allow a larger drop"));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Quantizes what can be, whatever the golden set says.
Error Compressor::quantizeAll() {
  if (Error error = keepFloat())
    return error;
  if (isStatic())
    if (Error error = calibrate())
      return error;
  if (!options.golden.empty())
    prepared = module.clone();
  outcomes = quantize(module);
  recordLayers();
  return Error::success();
}

Error Compressor::run(llvm::function_ref<LogicalResult()> prune, llvm::function_ref<LogicalResult()> rewrite) {
  if (!mainOf(module))
    return inputError("the module has no function @main to compress");
  if (!options.golden.empty() || options.refits())
    original = module.clone();
  if (failed(prune()))
    return makeError(ExitCode::Input, "");
  if (options.refits())
    if (Error error = refit())
      return error;
  if (failed(rewrite()))
    return makeError(ExitCode::Input, "");
  if (Error error = takePruning())
    return error;
  Error error = options.quantizes() ? quantizeAll() : Error::success();
  if (error)
    return error;
  error = options.golden.empty() ? Error::success() : guard();
  size_t summary = state.notes.size();
  if (options.quantizes())
    describe();
  if (!verdict.empty())
    state.notes.push_back(verdict);
  if (error || !options.quantizes() || !llvm::all_of(outcomes, [](const auto &o) { return o.isFloat(); }))
    return error;
  std::string reasons;
  for (StringRef note : ArrayRef(state.notes).drop_front(summary + 1))
    reasons += ("; " + note).str();
  // With nothing left the guardrail is what failed.
  return makeError(rolledBack ? ExitCode::Limit : ExitCode::Input,
                   "--precision=" + nameOf(options.precision) + ": no layer of the model can be quantized" + reasons);
}

namespace {
struct CompressPass : PassWrapper<CompressPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompressPass)
  CompressPass(Compression &state, OpPassManager pruning, OpPassManager rewrites)
      : state(&state), pruning(std::move(pruning)), rewrites(std::move(rewrites)) {
    auto textOf = [](const OpPassManager &pm, Option<std::string> &option) {
      std::string text;
      llvm::raw_string_ostream os(text);
      pm.printAsTextualPipeline(os);
      option.setValue(pm.empty() ? "" : text);
    };
    textOf(this->pruning, pruningText);
    textOf(this->rewrites, rewritesText);
  }
  CompressPass(const CompressPass &other)
      : PassWrapper(other), state(other.state), pruning(other.pruning), rewrites(other.rewrites) {}

  StringRef getArgument() const final { return "optc-compress"; }
  StringRef getDescription() const final { return "Quantize, measure, and take back what costs too much"; }
  /// Those of all phases, which run inside this pass.
  void getDependentDialects(DialectRegistry &registry) const final { registerDialects(registry); }

  void runOnOperation() final {
    Error error = Compressor(getOperation(), *state)
                      .run([&] { return runPipeline(pruning, getOperation()); },
                           [&] { return runPipeline(rewrites, getOperation()); });
    if (!error)
      return;
    llvm::handleAllErrors(
        std::move(error), [&](const CompileError &e) { state->failure.emplace(e.code(), e.message()); },
        [&](const llvm::ErrorInfoBase &e) { state->failure.emplace(ExitCode::Internal, e.message()); });
    signalPassFailure();
  }
  Compression *state;
  OpPassManager pruning, rewrites;
  // For --print-pipeline.
  Option<std::string> pruningText{*this, "pruning", llvm::cl::desc("The passes that remove channels")};
  Option<std::string> rewritesText{*this, "rewrites", llvm::cl::desc("The passes that change weights and types")};
};
} // namespace

std::unique_ptr<Pass> optc::createCompressPass(Compression &state, OpPassManager pruning, OpPassManager rewrites) {
  return std::make_unique<CompressPass>(state, std::move(pruning), std::move(rewrites));
}
