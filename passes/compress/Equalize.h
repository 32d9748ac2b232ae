//===- Equalize.h - float layers that lose less when quantized --*- C++ -*-===//
//
// Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019): a tensor has one
// scale, so that channels with small values get few levels; a layer's rounded weights shift its mean. Both are mended
// in the float model. Where nothing lets a factor through to the op before, the model gets a multiplication (Xiao et
// al., "SmoothQuant", ICML 2023).
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_EQUALIZE_H
#define OPTC_PASSES_COMPRESS_EQUALIZE_H
#include "optc/passes/compress/Quantize.h"

namespace optc::compress {

/// What calibration saw of one channel.
struct ChannelStats {
  Interval range; ///< with 0
  double squares = 0;
  uint64_t count = 0;
  double meanSquare() const { return count ? squares / double(count) : 0; }
};
/// Adds a tensor whose channels lie along `axis`. False when there are not as many as `stats`, or values that are not
/// finite.
bool addChannels(llvm::MutableArrayRef<ChannelStats> stats, llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
                 int64_t axis);

/// A value that layers sum over the channels of.
struct EqualizeSite {
  mlir::Value value;
  int64_t axis = 0, channels = 0;
  llvm::SmallVector<mlir::Operation *> layers;
};
/// Where layers that read integers could share out their input's range better.
std::vector<EqualizeSite> equalizeSites(mlir::func::FuncOp main);

/// What the channels of a value are divided by.
struct Equalization {
  std::vector<float> factors; ///< empty: they stay as they are
  double decibels = 0;        ///< less noise in the layers' results, as far as statistics tell
  bool isFree = false;        ///< the op before takes the factors into its constants
};
/// The factors with the least noise among some that even out channels, weights, or some of both.
Equalization chooseFactors(const EqualizeSite &site, llvm::ArrayRef<ChannelStats> stats);
/// Divides the channels, and multiplies the weights that read them.
void equalize(const EqualizeSite &site, const Equalization &equalization);

/// Subtracts the shifts (kShiftAttr) of layers that are not kept float from their biases.
void correctBiases(mlir::func::FuncOp main);

} // namespace optc::compress
#endif
