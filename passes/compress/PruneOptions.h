//===- PruneOptions.h - what --prune asks for -------------------*- C++ -*-===//
#ifndef OPTC_PASSES_COMPRESS_PRUNEOPTIONS_H
#define OPTC_PASSES_COMPRESS_PRUNEOPTIONS_H
#include <cstdint>

namespace optc {

/// Ways of pruning; those that are 0 are not asked for.
struct PruneOptions {
  double channels = 0;  ///< share of the channels of each layer that is removed
  int64_t multiple = 0; ///< what their number stays a multiple of; 0: chosen by layer
  double magnitude = 0; ///< share of the weights of each layer that becomes zero
  int64_t keep = 0;     ///< non-zero weights in `of` neighbours
  int64_t of = 0;

  bool any() const { return channels > 0 || magnitude > 0 || keep > 0; }
};

} // namespace optc
#endif
