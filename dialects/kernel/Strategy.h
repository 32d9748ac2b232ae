//===- Strategy.h - reading and writing #kernel.strategy --------*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_STRATEGY_H
#define OPTC_DIALECTS_KERNEL_STRATEGY_H
#include "optc/dialects/kernel/Kernel.h"

namespace optc::kernel {

/// Families of emitters, by the names that strategies carry.
inline constexpr llvm::StringLiteral kFamilyLoops = "loops", kFamilyGemm = "gemm", kFamilyRows = "rows",
                                     kFamilyColumns = "columns";

/// Consecutive dimensions of the first result, flattened, that tiles of `tile` elements are cut from.
struct TileGroup {
  unsigned firstDim, numDims;
  int64_t tile; ///< never 0
};
/// The groups that are cut.
llvm::SmallVector<TileGroup> tileGroups(StrategyAttr strategy);

/// Sizes of the GEMM family's inner code, `blocks` of its strategy.
struct GemmBlocks {
  int64_t rows;    ///< MR: rows of the register tile
  int64_t lanes;   ///< elements of a vector register
  int64_t vectors; ///< registers along a panel of b
  int64_t panels;  ///< panels worked on at once

  int64_t panelWidth() const { return lanes * vectors; }
  int64_t columns() const { return panelWidth() * panels; }
  static GemmBlocks get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {rows, lanes, vectors, panels}; }
};

} // namespace optc::kernel
#endif
