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

kernel::StrategyAttr configure::chooseCudaLoops(kernel::DispatchOp dispatch, const Machine &, std::string &) {
  std::string why;
  if (!kernel::computesByElement(dispatch.getBody().front(), &why))
    return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaLoops, {}, {},
                        CudaLoopBlocks{32, CudaLoopBlocks::Sequence}.toArray(), "one thread: " + why);
  int64_t rank = cast<RankedTensorType>(dispatch.getResultTypes()[0]).getRank();
  SmallVector<int64_t> groups, tiles;
  if (rank > 0) {
    groups.push_back(rank);
    tiles.push_back(kThreads);
  }
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaLoops, groups, tiles,
                      CudaLoopBlocks{kThreads, CudaLoopBlocks::Elements}.toArray(), "a thread per element");
}
