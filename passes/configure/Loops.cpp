//===- Loops.cpp - strategy of the loop family ----------------------------===//
//
// A dispatch whose structured ops all iterate over the first dimension of their result in parallel is cut into tiles
// along it; sequential loops are one tile.
//===----------------------------------------------------------------------===//
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;

/// Work of one tile that makes handing it to another thread worthwhile, in iterations of the innermost loop.
static constexpr int64_t kTileIterations = 16 << 10;

/// The loop that walks dimension 0 of the op's results, when it is the same parallel loop for all of them.
static std::optional<unsigned> outerLoop(linalg::LinalgOp op) {
  std::optional<unsigned> outer;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (map.getNumResults() == 0)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(0));
    if (!dim || (outer && *outer != dim.getPosition()) ||
        op.getIteratorTypesArray()[dim.getPosition()] != utils::IteratorType::parallel)
      return std::nullopt;
    outer = dim.getPosition();
  }
  return outer;
}

/// Iterations of one step of loop `outer`, the sizes not known at compile time taken as 1.
static int64_t iterationsPerStep(linalg::LinalgOp op, unsigned outer) {
  int64_t count = 1;
  for (auto [i, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (i != outer && !ShapedType::isDynamic(size))
      count = std::min<int64_t>(count * std::max<int64_t>(size, 1), int64_t(1) << 40);
  return count;
}

kernel::StrategyAttr configure::chooseLoops(kernel::DispatchOp dispatch, const Machine &, std::string &declined) {
  int64_t work = 0;
  std::string reason = "sequential loops";
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    std::optional<unsigned> outer = outerLoop(linalgOp);
    if (!outer) {
      work = 0;
      reason = "no parallel loop over the first dimension of the result";
      break;
    }
    work = std::max(work, iterationsPerStep(linalgOp, *outer));
    reason = "tiles along the first dimension of the result";
  }
  SmallVector<int64_t> groups, tiles;
  if (work > 0) {
    groups.push_back(1);
    tiles.push_back(std::max<int64_t>(1, kTileIterations / work));
  }
  return makeStrategy(dispatch.getContext(), kernel::kFamilyLoops, groups, tiles, {}, reason);
}
