//===- CudaLoops.cpp - strategy of the loop family of devices -------------===//
//
// A tile is a block of threads, each of which has one element of the first result; further results share the blocks.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Elements.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaLoopBlocks;

/// Threads of a block: enough to hide what a few registers each wait for, and few enough for small results to spread.
static constexpr int64_t kThreads = 128;

/// Threads of a block that does loops in order, and the most blocks that share independent ones.
static constexpr int64_t kSequenceThreads = 256, kSequenceBlocks = 1024;

kernel::StrategyAttr configure::chooseCudaLoops(kernel::DispatchOp dispatch, const Machine &, std::string &) {
  auto type = cast<RankedTensorType>(dispatch.getResultTypes()[0]);
  CudaLoopBlocks blocks{kThreads, CudaLoopBlocks::Elements};
  std::string reason = "a thread per element", why;
  int64_t tile = kThreads;
  if (!kernel::computesByElement(dispatch.getBody().front(), &why)) {
    blocks = {kSequenceThreads, CudaLoopBlocks::Sequence};
    reason = "loops in order: " + why;
    tile = kSequenceThreads;
    if (type.hasStaticShape())
      tile = std::max(tile, llvm::divideCeilSigned(type.getNumElements(), kSequenceBlocks));
  }
  SmallVector<int64_t> groups, tiles;
  if (type.getRank() > 0) {
    groups.push_back(type.getRank());
    tiles.push_back(tile);
  }
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaLoops, groups, tiles, blocks.toArray(), reason);
}
