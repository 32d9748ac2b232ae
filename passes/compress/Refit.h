//===- Refit.h - layers that make up for lost inputs ------------*- C++ -*-===//
//
// A layer whose input lost channels gets the weights that come closest to the outputs it had, measured on samples: its
// inputs as the pruned model computes them, its outputs as the float model does.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_REFIT_H
#define OPTC_PASSES_COMPRESS_REFIT_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/passes/compress/LeastSquares.h"
#include <optional>
#include <string>

namespace optc {

/// On a layer that lost inputs: which of its output channels are left (all: an empty list).
constexpr llvm::StringLiteral kRefitAttr = "onnx.refit";

/// A float32 tensor in memory.
struct FloatTensor {
  llvm::ArrayRef<float> values;
  llvm::SmallVector<int64_t> shape;
};

/// Collects the samples of one layer.
class LayerFit {
public:
  /// A clause in `reason` when the layer is none that can be fitted.
  static std::optional<LayerFit> create(mlir::Operation *layer, std::string &reason);

  /// One run of both models: the input of the pruned layer and the output of the one that it was. At most about `most`
  /// positions count; which ones follows from `turn`. False when the shapes are not those of the layer.
  bool add(const FloatTensor &input, const FloatTensor &output, int64_t most, int64_t turn);
  /// How many positions make a good fit.
  int64_t wantedRows() const;
  int64_t rows() const { return fit.count(); }

  /// Gives the layer new constants. False when they would be no better. The share of the error that is left comes with
  /// it.
  bool apply(double ridge, double &left);

private:
  /// A window over positions; of a product, none.
  struct Window {
    llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  };
  LayerFit(mlir::Operation *layer, int64_t inputs, int64_t outputs, bool hasBias)
      : layer(layer), inputs(inputs), outputs(outputs), hasBias(hasBias), fit(inputs, outputs, hasBias) {}
  bool addWindows(const FloatTensor &input, const FloatTensor &output, int64_t most, int64_t turn);
  bool addRows(const FloatTensor &input, const FloatTensor &output, int64_t most, int64_t turn);
  /// Sum of squares matters to neither side of a channel that is gone.
  void addRow(llvm::ArrayRef<float> x, llvm::ArrayRef<float> y);

  mlir::Operation *layer;
  int64_t inputs, outputs;
  bool hasBias;
  bool isTransposed = false; ///< weights are [inputs, outputs]
  std::optional<Window> window;
  llvm::SmallVector<int64_t> keptOutputs;
  LeastSquares fit;
};

} // namespace optc
#endif
