//===- CudaElementwise.cpp - strategy of elementwise kernels of devices ---===//
#include "optc/dialects/kernel/Elements.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaElementwiseBlocks;

/// Eight such blocks fill a multiprocessor; what a thread has is one access of the widest kind.
static constexpr int64_t kThreads = 256, kAccessBytes = 16, kMostLanes = 8;

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

kernel::StrategyAttr configure::chooseCudaElementwise(kernel::DispatchOp dispatch, const Machine &machine,
                                                      std::string &declined) {
  std::string why;
  FailureOr<kernel::FlatNest> flat = kernel::matchFlatNest(dispatch.getBody().front(), &why);
  if (failed(flat))
    return decline(declined, "cuda-elementwise", why);
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
