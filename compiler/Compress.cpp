//===- Compress.cpp - the phase `compress` --------------------------------===//
#include "optc/compiler/Compress.h"
#include "mlir/Pass/PassManager.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/HostModel.h"
#include "optc/compiler/MeasureLayers.h"
#include "optc/compiler/Quality.h"
#include "optc/compiler/RefitModel.h"
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

static func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

namespace {
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
  Error openSamples();
  Error refit();
  Error takePruning();
  Error quantizeAll();
  Error keepFloat();
  Error equalize();
  Error calibrate();
  Error correct();
  Error reduce();
  compress::LayerOutcomes quantize(ModuleOp target) const;
  void recordLayers();
  void describe();
  Error guard();
  Expected<double> qualityOf(ModuleOp candidate, const Quality &quality) const;
  Expected<std::vector<LayerError>> measure(const SampleSet &samples) const;
  std::vector<LayerError> byGain() const;
  std::string worstLayers() const;
  Error rollBack(const Quality &quality, double floatQuality, double &current);
  std::string title(unsigned layer) const;

  ModuleOp module;
  Compression &state;
  const CompressionOptions &options;
  OwningOpRef<ModuleOp> original; ///< the trusted baseline, while there is a guardrail
  OwningOpRef<ModuleOp> prepared; ///< ready to be quantized: with ranges
  compress::LayerOutcomes outcomes;
  std::vector<LayerError> errors; ///< of quantized layers, each alone; found when they are needed
  std::optional<SampleSet> calibration, golden;
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

/// Reads both sets of samples, before anything takes time.
Error Compressor::openSamples() {
  for (auto [flag, path, set] : {std::tuple("--calibrate", &options.calibrate, &calibration),
                                 std::tuple("--golden", &options.golden, &golden)}) {
    if (path->empty())
      continue;
    Expected<SampleSet> samples = SampleSet::open(flag, *path, inputsOf(mainOf(module)));
    if (!samples)
      return samples.takeError();
    set->emplace(std::move(*samples));
    llvm::append_range(state.files, (*set)->files());
  }
  return Error::success();
}

/// Makes the channels of what layers read more alike.
Error Compressor::equalize() {
  Expected<std::vector<EqualizedValue>> values = equalizeModel(module, state, *calibration);
  if (!values)
    return values.takeError();
  json::Array all;
  for (const EqualizedValue &value : *values) {
    json::Object line{{"step", "equalize"}, {"layer", utf8(value.node)}, {"operator", value.op}};
    line["layers"] = int64_t(value.layers);
    line["gain_db"] = value.decibels;
    line["decision"] = value.isFree ? "factors in the op before" : "multiplied before it is rounded";
    line["why"] = "channels of what it reads differ, and share one scale";
    all.push_back(json::Object(line));
    state.record(std::move(line));
  }
  state.report["equalized"] = std::move(all);
  return Error::success();
}

/// Runs the float model on samples and leaves ranges on its ops.
Error Compressor::calibrate() {
  Expected<size_t> values = findRanges(module, state, *calibration);
  if (!values)
    return values.takeError();
  json::Object line{{"step", "calibrate"}, {"samples", int64_t(calibration->size())}};
  line["values"] = int64_t(*values);
  line["method"] = options.methodName.empty() ? "mse" : options.methodName;
  state.record(std::move(line));
  return Error::success();
}

/// The error that the quantized form of each layer makes on exact inputs.
Expected<std::vector<LayerError>> Compressor::measure(const SampleSet &samples) const {
  return measureLayers(prepared ? *prepared : module, state, samples, [&](func::FuncOp main) {
    return isStatic() ? compress::isolateStatic(main) : compress::isolateWeights(main, weightOptions());
  });
}

/// Marks layers whose results would be shifted, with the shift.
Error Compressor::correct() {
  Expected<std::vector<LayerError>> measured = measure(*calibration);
  if (!measured)
    return measured.takeError();
  errors = std::move(*measured);
  SmallVector<Operation *> layers = compress::layersOf(mainOf(module), /*withTables=*/false);
  for (const LayerError &error : errors) {
    Operation *layer = layers[error.layer];
    json::Object line{{"step", "correct"}, {"layer", utf8(onnx::nodeName(layer->getLoc()))}};
    line["operator"] = layer->getName().stripDialect();
    line["sqnr_db"] = error.decibels;
    bool isShifted = llvm::any_of(error.shift, [](float s) { return s != 0; });
    if (isShifted) {
      layer->setAttr(compress::kShiftAttr, DenseF32ArrayAttr::get(layer->getContext(), error.shift));
      line["after_db"] = error.corrected;
    }
    line["decision"] = isShifted ? "bias corrected" : "bias as it is";
    state.record(std::move(line));
  }
  return Error::success();
}

compress::LayerOutcomes Compressor::quantize(ModuleOp target) const {
  return isStatic() ? compress::quantizeStatic(mainOf(target))
                    : compress::quantizeWeights(mainOf(target), weightOptions());
}

/// A journal line per layer.
void Compressor::recordLayers() {
  for (const compress::LayerOutcome &outcome : outcomes) {
    json::Object line{
        {"step", options.quantizes() ? "quantize" : "reduce"}, {"layer", utf8(outcome.node)}, {"operator", outcome.op}};
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
  size_t count = 0, changed = 0;
  using Key = std::pair<std::string, std::string>;
  std::map<Key, std::vector<std::string>> inFloat;                 // layers by operator and reason
  std::map<std::string, std::map<std::string, size_t>> betweenOps; // others by reason, then operator
  std::map<unsigned, double> decibels;
  for (const LayerError &error : errors)
    decibels[error.layer] = isStatic() ? error.corrected : error.decibels;
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    json::Object entry{{"node", utf8(outcome.node)}, {"operator", outcome.op}, {"form", outcome.form}};
    if (outcome.isFloat()) {
      entry["reason"] = utf8(outcome.reason);
      if (outcome.isLayer)
        inFloat[{outcome.op, outcome.reason}].push_back(outcome.node);
      else
        ++betweenOps[outcome.reason][outcome.op];
    } else if (auto known = decibels.find(i); known != decibels.end()) {
      entry["sqnr_db"] = known->second;
    }
    entry["float_bytes"] = int64_t(outcome.floatBytes);
    entry["bytes"] = int64_t(outcome.bytes);
    before += outcome.floatBytes;
    after += outcome.bytes;
    count += outcome.isLayer;
    changed += outcome.isLayer && !outcome.isFloat();
    layers.push_back(std::move(entry));
  }
  state.report["precision"] = nameOf(options.precision);
  state.report["layers"] = std::move(layers);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "--precision=" << nameOf(options.precision) << ": " << changed << " of " << count << " layers are "
     << (options.quantizes()                   ? "quantized"
         : options.precision == Precision::F16 ? "computed in float16"
                                               : "computed in bfloat16")
     << ", their weights are " << after << " bytes instead of " << before;
  if (calibration && isStatic())
    os << "; calibrated on " << calibration->size() << " samples";
  state.notes.push_back(text);
  for (const auto &[what, nodes] : inFloat)
    state.notes.push_back(counted(what.first, nodes) + " stay float: " + what.second);
  for (const auto &[reason, operators] : betweenOps) {
    std::vector<std::string> counts;
    for (const auto &[op, number] : operators)
      counts.push_back(std::to_string(number) + " " + op);
    state.notes.push_back("between layers " + llvm::join(counts, ", ") + " stay float: " + reason);
  }
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// Fits layers whose inputs lost channels.
Error Compressor::refit() {
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

/// Layers in the order in which float is worth most: much error for little of the time that integers save. The time is
/// that of multiplications, and the same again for every layer, since none is free.
std::vector<LayerError> Compressor::byGain() const {
  double total = 0;
  auto work = [&](const LayerError &error) {
    double weights = double(outcomes[error.layer].floatBytes) / sizeof(float);
    return error.shift.empty() ? 0 : error.results * weights / double(error.shift.size());
  };
  for (const LayerError &error : errors)
    total += work(error);
  auto gain = [&](const LayerError &error) {
    double noise = std::pow(10, -(isStatic() ? error.corrected : error.decibels) / 10);
    return noise / ((total > 0 ? work(error) / total : 0) + 1 / double(errors.size()));
  };
  std::vector<LayerError> ranking = errors;
  llvm::sort(ranking, [&](const LayerError &a, const LayerError &b) {
    return std::pair(-gain(a), a.layer) < std::pair(-gain(b), b.layer);
  });
  return ranking;
}

/// "Conv 'a' (20.1 dB), ...": those with the largest errors.
std::string Compressor::worstLayers() const {
  constexpr size_t kNamed = 5;
  auto decibels = [&](const LayerError &error) { return isStatic() ? error.corrected : error.decibels; };
  std::vector<LayerError> ranking = errors;
  llvm::sort(ranking, [&](const LayerError &a, const LayerError &b) {
    return std::pair(decibels(a), a.layer) < std::pair(decibels(b), b.layer);
  });
  std::vector<std::string> texts;
  for (const LayerError &error : ArrayRef(ranking).take_front(kNamed))
    texts.push_back(title(error.layer) + llvm::formatv(" ({0:F1} dB)", decibels(error)).str());
  return llvm::join(texts, ", ");
}

/// Puts layers back to float, one at a time, those first that are worth most; each stays so only when that helps.
Error Compressor::rollBack(const Quality &quality, double floatQuality, double &current) {
  SmallVector<unsigned> kept;
  std::vector<LayerError> ranking = byGain();
  for (const LayerError &next : ArrayRef(ranking).take_front(options.rollback)) {
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
    line["sqnr_db"] = isStatic() ? next.corrected : next.decibels;
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
    if (errors.empty()) {
      Expected<std::vector<LayerError>> measured = measure(*golden);
      if (!measured)
        return measured.takeError();
      errors = std::move(*measured);
    }
    worst = worstLayers();
    if (Error error = rollBack(quality, *best, current))
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
    for (auto step : {&Compressor::equalize, &Compressor::calibrate, &Compressor::correct})
      if (Error error = (this->*step)())
        return error;
  if (!options.golden.empty())
    prepared = module.clone();
  outcomes = quantize(module);
  recordLayers();
  return Error::success();
}

/// Computes in fewer bits what can be.
Error Compressor::reduce() {
  FloatType narrow = options.precision == Precision::F16 ? FloatType(Float16Type::get(module.getContext()))
                                                         : FloatType(BFloat16Type::get(module.getContext()));
  outcomes = compress::reducePrecision(mainOf(module), narrow);
  recordLayers();
  return Error::success();
}

Error Compressor::run(llvm::function_ref<LogicalResult()> prune, llvm::function_ref<LogicalResult()> rewrite) {
  if (!mainOf(module))
    return inputError("the module has no function @main to compress");
  if (Error error = openSamples())
    return error;
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
  Error error = options.quantizes() ? quantizeAll() : options.reduces() ? reduce() : Error::success();
  if (error)
    return error;
  error = options.golden.empty() ? Error::success() : guard();
  size_t summary = state.notes.size();
  if (options.quantizes() || options.reduces())
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
