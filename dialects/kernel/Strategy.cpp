//===- Strategy.cpp - reading and writing #kernel.strategy ----------------===//
#include "optc/dialects/kernel/Strategy.h"

using namespace optc::kernel;

llvm::SmallVector<TileGroup> optc::kernel::tileGroups(StrategyAttr strategy) {
  llvm::SmallVector<TileGroup> groups;
  unsigned dim = 0;
  for (auto [count, tile] : llvm::zip(strategy.getGroups().asArrayRef(), strategy.getTiles().asArrayRef())) {
    if (tile > 0)
      groups.push_back({dim, static_cast<unsigned>(count), tile});
    dim += count;
  }
  return groups;
}

GemmBlocks GemmBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  return {blocks[0], blocks[1], blocks[2], blocks[3]};
}

WindowBlocks WindowBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  return {blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]};
}
