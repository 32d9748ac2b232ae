//===- RefitModel.cpp - fit the layers of a pruned model ------------------===//
#include "optc/compiler/RefitModel.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/HostModel.h"
#include "optc/compiler/Watch.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/passes/compress/Quantize.h"
#include "optc/passes/compress/Refit.h"

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

/// Each stage compiles the pruned model once and runs all samples.
static constexpr size_t kMostStages = 12;
static constexpr size_t kMostSamples = 512;
/// Relative to the mean square of the inputs: small enough for what samples determine, large enough for the rest.
static constexpr double kRidge = 1e-3;

namespace {
struct Entry {
  size_t layer; ///< among those of the module
  LayerFit fit;
  size_t outcome;
};
} // namespace

static FloatTensor tensorOf(const optc_value &value) {
  return {watchedFloats(value), SmallVector<int64_t>(ArrayRef<int64_t>(value.tensor.shape, value.tensor.ndim))};
}

/// A model that gives what `pick` chooses of some layers.
static Expected<std::unique_ptr<HostModel>> watch(ModuleOp module, ArrayRef<Entry> entries, const Target &target,
                                                  const PluginSet *plugins,
                                                  llvm::function_ref<Value(Operation *)> pick) {
  OwningOpRef<ModuleOp> copy = module.clone();
  func::FuncOp main = copy->lookupSymbol<func::FuncOp>("main");
  SmallVector<Operation *> layers = compress::layersOf(main, /*withTables=*/false);
  SmallVector<Value> values;
  for (const Entry &entry : entries)
    values.push_back(pick(layers[entry.layer]));
  setResults(main, values);
  return HostModel::compile(*copy, target, /*optLevel=*/3, plugins);
}

/// Runs both models on the samples. `outputs` are those of all layers, of which the stage's begin at `first`.
static Error collect(HostModel &inputs, HostModel &outputs, size_t first, MutableArrayRef<Entry> stage,
                     const SampleSet &samples) {
  size_t step = std::max<size_t>(1, samples.size() / kMostSamples), runs = (samples.size() + step - 1) / step;
  for (size_t i = 0; i < samples.size(); i += step) {
    Expected<Sample> sample = samples.load(i);
    if (!sample)
      return sample.takeError();
    Expected<ArrayRef<optc_value>> y = outputs.run(*sample);
    if (!y)
      return inputError(samples.source() + ", sample " + Twine(i) + ": " + llvm::toString(y.takeError()));
    Expected<ArrayRef<optc_value>> x = inputs.run(*sample);
    if (!x)
      return inputError(samples.source() + ", sample " + Twine(i) + ": " + llvm::toString(x.takeError()));
    for (auto [n, entry] : llvm::enumerate(stage))
      if (!entry.fit.add(tensorOf((*x)[n]), tensorOf((*y)[first + n]), entry.fit.wantedRows() / runs + 1, i / step))
        return internalError("a layer has other inputs or outputs than its weights say");
  }
  return Error::success();
}

Expected<std::vector<RefitOutcome>> optc::refitLayers(ModuleOp original, ModuleOp pruned, const SampleSet &samples,
                                                      const Target &target, const PluginSet *plugins) {
  SmallVector<Operation *> layers = compress::layersOf(pruned.lookupSymbol<func::FuncOp>("main"), /*withTables=*/false);
  if (layers.size() != compress::layersOf(original.lookupSymbol<func::FuncOp>("main"), /*withTables=*/false).size())
    return internalError("pruning changed the number of layers");
  std::vector<Entry> entries;
  std::vector<RefitOutcome> outcomes;
  for (auto [i, layer] : llvm::enumerate(layers)) {
    if (!layer->hasAttr(kRefitAttr))
      continue;
    RefitOutcome &outcome = outcomes.emplace_back();
    outcome.node = onnx::nodeName(layer->getLoc());
    outcome.op = layer->getName().stripDialect().str();
    if (std::optional<LayerFit> fit = LayerFit::create(layer, outcome.reason))
      entries.push_back({i, std::move(*fit), outcomes.size() - 1});
  }
  Error error = Error::success();
  if (!entries.empty()) {
    auto outputs = watch(original, entries, target, plugins, [](Operation *layer) { return layer->getResult(0); });
    if (!outputs)
      return outputs.takeError();
    size_t perStage = (entries.size() + kMostStages - 1) / kMostStages;
    for (size_t first = 0; first < entries.size() && !error; first += perStage) {
      auto stage = MutableArrayRef<Entry>(entries).slice(first, std::min(perStage, entries.size() - first));
      auto inputs = watch(pruned, stage, target, plugins, [](Operation *layer) { return layer->getOperand(0); });
      if (!inputs)
        return inputs.takeError();
      error = collect(**inputs, **outputs, first, stage, samples);
      if (error)
        break;
      for (Entry &entry : stage) {
        RefitOutcome &outcome = outcomes[entry.outcome];
        outcome.rows = entry.fit.rows();
        if (!entry.fit.apply(kRidge, outcome.left))
          outcome.reason = "no other weights come closer to its outputs on the samples";
      }
    }
  }
  for (Operation *layer : layers)
    layer->removeAttr(kRefitAttr);
  if (error)
    return std::move(error);
  return outcomes;
}
