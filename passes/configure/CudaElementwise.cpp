//===- CudaElementwise.cpp - strategy of elementwise kernels of devices ---===//
#include "optc/dialects/kernel/Elements.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaElementwiseBlocks;

/// Eight such blocks fill a multiprocessor; what a thread has is one access of the widest kind.
static constexpr int64_t kThreads = 256, kAccessBytes = 16, kMostLanes = 8;
/// Shorter sides than this do not fill a square of a transposition.
static constexpr int64_t kLeastSide = 16;

/// Bytes of the widest element that threads read or write side by side.
static int64_t widestAccess(const kernel::FlatNest &flat) {
  int64_t bytes = 1;
  for (const kernel::NestOperand &operand : flat.nest.operands) {
    Type elem = cast<RankedTensorType>(operand.tensor.getType()).getElementType();
    if (!elem.isIntOrFloat())
      return kAccessBytes; // complex: no vectors
    if (flat.stride(operand, flat.groups.size() - 1).is(1))
      bytes = std::max<int64_t>(bytes, llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8));
  }
  return bytes;
}

/// Squares of a transposition: one element of every other group of loops. The dimensions of size 1 behind a group
/// belong to it, those in front of the first one, too.
static void tilesOfSquares(const kernel::FlatNest &flat, unsigned crossed, SmallVectorImpl<int64_t> &groups,
                           SmallVectorImpl<int64_t> &tiles) {
  unsigned last = flat.groups.size() - 1;
  for (unsigned group = 0, dim = 0; group <= last; ++group) {
    unsigned end = group == last ? flat.nest.numLoops() : flat.groups[group + 1].front();
    groups.push_back(end - dim);
    tiles.push_back(group == crossed || group == last ? CudaElementwiseBlocks::kSquare : 1);
    dim = end;
  }
}

kernel::StrategyAttr configure::chooseCudaElementwise(kernel::DispatchOp dispatch, const Machine &machine,
                                                      std::string &declined) {
  std::string why;
  FailureOr<kernel::FlatNest> flat = kernel::matchFlatNest(dispatch.getBody().front(), &why);
  if (failed(flat))
    return decline(declined, "cuda-elementwise", why);
  std::optional<unsigned> crossed = flat->crossedGroup();
  if (crossed && !flat->asksWhere && typical(flat->nest.sizeOf(flat->groups[*crossed])) >= kLeastSide &&
      typical(flat->nest.sizeOf(flat->groups.back())) >= kLeastSide) {
    SmallVector<int64_t> groups, tiles;
    tilesOfSquares(*flat, *crossed, groups, tiles);
    return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaElementwise, groups, tiles,
                        CudaElementwiseBlocks{kThreads, 0}.toArray(), "a transposition, squares in shared memory");
  }
  CudaElementwiseBlocks blocks{kThreads, flat->lanes(std::min(kAccessBytes / widestAccess(*flat), kMostLanes))};
  // Small results spread over the multiprocessors first.
  int64_t count = typical(flat->nest.sizeOf(llvm::to_vector(llvm::seq<unsigned>(0, flat->nest.numLoops()))));
  while (blocks.threads > 32 && count / (blocks.threads * blocks.lanes) < machine.multiprocessors)
    blocks.threads /= 2;
  int64_t rank = cast<RankedTensorType>(dispatch.getResultTypes()[0]).getRank();
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaElementwise, {rank}, {blocks.threads * blocks.lanes},
                      blocks.toArray(),
                      blocks.lanes > 1 ? "elementwise, vectors of elements per thread" : "elementwise");
}
