//===- PruneChannels.h - remove channels that matter least ------*- C++ -*-===//
#ifndef OPTC_PASSES_COMPRESS_PRUNECHANNELS_H
#define OPTC_PASSES_COMPRESS_PRUNECHANNELS_H
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace optc {

class PruneJournal;

/// How many of `channels` stay when about the share `ratio` of them goes: a multiple of `multiple`, or of one that fits
/// their number where that is 0.
int64_t channelsToKeep(int64_t channels, double ratio, int64_t multiple);

/// Removes channels of all layers, slices the constants that belong to them and infers types anew. Layers and their
/// reasons go to the journal. With `mark`, layers whose input loses channels get `onnx.refit` (Refit.h).
mlir::LogicalResult pruneChannels(mlir::func::FuncOp func, double ratio, int64_t multiple, bool mark,
                                  PruneJournal &journal);

} // namespace optc
#endif
