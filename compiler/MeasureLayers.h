//===- MeasureLayers.h - what samples say about a model's layers ----------===//
#ifndef OPTC_COMPILER_MEASURELAYERS_H
#define OPTC_COMPILER_MEASURELAYERS_H
#include "optc/compiler/Compress.h"
#include "optc/compiler/Samples.h"

namespace optc {

/// Leaves ranges on the ops of a float model, by the values that they have on all samples. How many there are comes
/// with it.
llvm::Expected<size_t> findRanges(mlir::ModuleOp module, const Compression &state, const SampleSet &samples);

/// A value whose channels were made more alike.
struct EqualizedValue {
  std::string node, op; ///< of the first layer that reads it
  size_t layers = 0;    ///< that read it
  double decibels = 0;  ///< less noise, as far as statistics tell
  bool isFree = false;  ///< without a multiplication of its own
};
/// Changes a float model, and not what it computes, so that layers lose less when they are quantized.
llvm::Expected<std::vector<EqualizedValue>> equalizeModel(mlir::ModuleOp module, const Compression &state,
                                                          const SampleSet &samples);

/// What the quantized form of a layer alone does to its results, given exact inputs.
struct LayerError {
  unsigned layer = 0;                 ///< index into the outcomes
  double decibels = 0, corrected = 0; ///< signal to noise: as it is, and without the shift
  std::vector<float> shift;           ///< mean error per channel, 0 where it is not sure
  double results = 0;                 ///< how many a run has
};
/// The errors of all layers that `isolate` pairs with quantized forms in a copy of `module`, in their order.
llvm::Expected<std::vector<LayerError>>
measureLayers(mlir::ModuleOp module, const Compression &state, const SampleSet &samples,
              llvm::function_ref<std::vector<compress::LayerPair>(mlir::func::FuncOp)> isolate);

} // namespace optc
#endif
