//===- CudaWindow.cpp - strategy of windows on devices ---------------------===//
//
// A thread has as many channels as an access holds, and up to 4 positions, which share what they read; fewer where
// there would not be enough threads.
//===----------------------------------------------------------------------===//
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaWindowBlocks;
using kernel::Window;

static constexpr int64_t kThreads = 128, kAccessBytes = 16, kMostLanes = 8, kMostColumns = 4;
/// Taps that are written out for several positions at once.
static constexpr int64_t kMostTaps = 49;

/// Channels of a thread: those of an access, if they divide them. Along an axis that windows slide along no access but
/// the first would be aligned.
static int64_t lanesFor(const Window &w) {
  if (llvm::any_of(w.axes, [&](const kernel::WindowAxis &axis) { return w.isLane(axis); }))
    return 1;
  Type elem = cast<RankedTensorType>(w.inputOperand().tensor.getType()).getElementType();
  int64_t bytes = elem.isIntOrFloat() ? llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8) : kAccessBytes;
  int64_t lanes = std::clamp<int64_t>(kAccessBytes / bytes, 1, kMostLanes);
  while (w.nest.sizes[w.lane].factor % lanes)
    lanes /= 2;
  return lanes;
}

kernel::StrategyAttr configure::chooseCudaWindow(kernel::DispatchOp dispatch, const Machine &machine,
                                                 std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "cuda-window", reason); };
  FailureOr<Window> w = kernel::matchWindow(root, &why);
  if (failed(w))
    return decline(why);
  auto elem = cast<RankedTensorType>(w->inputOperand().tensor.getType()).getElementType();
  if (!elem.isIntOrFloat())
    return decline("its elements are not numbers of one part");
  if (failed(kernel::matchEpilogues(w->nest, w->lane, dispatch.getBody().front(), /*indices=*/true, &why)))
    return decline(why);
  bool border = false;
  if (!machine.onlyAsks) {
    if (!kernel::hasContiguousWeights(*w) && kernel::packingOfWeights(*w))
      readPanels(root->getOpOperand(*w->weights), kernel::packingOfWeights(*w));
    border = readThroughPadding(dispatch, *w);
  }
  CudaWindowBlocks blocks{kThreads, lanesFor(*w), 1};
  int64_t results = 1, taps = typical(w->nest.sizeOf(w->taps()));
  for (unsigned loop = 0; loop < w->nest.numLoops(); ++loop)
    if (!w->nest.isReduction(loop))
      results = std::min(results * typical(w->nest.sizes[loop]), kWhole);
  auto blocksFor = [&](int64_t columns) {
    return llvm::divideCeilSigned(results, blocks.lanes * columns * blocks.threads);
  };
  if (w->columns && taps <= kMostTaps) {
    int64_t positions = w->nest.sizes[w->axes[*w->columns].out].factor; // of a run-time size: what divides it for sure
    for (int64_t columns = kMostColumns; columns > 1 && blocks.columns == 1; --columns)
      if (positions % columns == 0 && blocksFor(columns) >= machine.multiprocessors)
        blocks.columns = columns;
  }
  while (blocks.threads > 32 && blocksFor(blocks.columns) < machine.multiprocessors)
    blocks.threads /= 2;
  int64_t rank = cast<RankedTensorType>(dispatch.getResultTypes()[0]).getRank();
  std::string reason = w->weights ? "windows with weights" : "windows";
  if (border)
    reason += ", the border not stored";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaWindow, {rank},
                      {blocks.threads * blocks.lanes * blocks.columns}, blocks.toArray(), reason);
}
