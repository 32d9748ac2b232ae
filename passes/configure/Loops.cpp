//===- Loops.cpp - strategy of the loop family ----------------------------===//
//
// A dispatch whose structured ops all iterate over the first dimensions of their results in parallel is cut into tiles
// along them: as many dimensions as it takes to keep threads busy, flattened. Sequential loops are one tile.
//===----------------------------------------------------------------------===//
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;

/// Work of one tile that makes handing it to another thread worthwhile, in iterations of the innermost loop.
static constexpr int64_t kTileIterations = 16 << 10;

/// So many tiles are enough for any number of threads that plain loops are worth.
static constexpr int64_t kManyTiles = 16;

/// The parallel loops that walk the first dimensions of the op's results, one for each, the same for all of them.
static SmallVector<unsigned> outerLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (unsigned dim = 0;; ++dim) {
    std::optional<unsigned> loop;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      AffineMap map = op.getMatchingIndexingMap(&init);
      auto expr = dim < map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResult(dim)) : AffineDimExpr(nullptr);
      if (!expr || (loop && *loop != expr.getPosition()) ||
          op.getIteratorTypesArray()[expr.getPosition()] != utils::IteratorType::parallel)
        return loops;
      loop = expr.getPosition();
    }
    if (!loop)
      return loops;
    loops.push_back(*loop);
  }
}

/// Iterations of one step of all `loops`, the sizes not known at compile time taken as 1.
static int64_t iterationsPerStep(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  int64_t count = 1;
  for (auto [i, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!llvm::is_contained(loops, i) && !ShapedType::isDynamic(size))
      count = std::min<int64_t>(count * std::max<int64_t>(size, 1), int64_t(1) << 40);
  return count;
}

kernel::StrategyAttr configure::chooseLoops(kernel::DispatchOp dispatch, const Machine &, std::string &declined) {
  auto sequential = [&](StringRef reason) {
    return makeStrategy(dispatch.getContext(), kernel::kFamilyLoops, {}, {}, {}, reason);
  };
  SmallVector<linalg::LinalgOp> ops;
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      ops.push_back(linalgOp);
  if (ops.empty())
    return sequential("sequential loops");
  // How many dimensions the ops agree on: beyond the first, the sizes have to be the same ones, for the tiles are.
  ArrayRef<int64_t> shape = cast<ShapedType>(dispatch.getResult(0).getType()).getShape();
  SmallVector<SmallVector<unsigned>> outer;
  size_t most = shape.size();
  for (linalg::LinalgOp op : ops) {
    outer.push_back(outerLoops(op));
    ArrayRef<int64_t> own = cast<ShapedType>(op.getDpsInits()[0].getType()).getShape();
    size_t same = std::min<size_t>(outer.back().size(), 1);
    while (same < std::min(outer.back().size(), most) && shape[same] == own[same] &&
           (ops.size() == 1 || !ShapedType::isDynamic(own[same])))
      ++same;
    most = std::min(most, same);
  }
  if (most == 0)
    return sequential("no parallel loop over the first dimension of the result");
  // Another dimension makes more tiles while a step is worth one. The innermost one stays a loop of its own, unless the
  // others have one element: a flattened index would keep it from being vectorised.
  auto isOne = [](int64_t size) { return size == 1; };
  int64_t steps = 1;
  for (unsigned dims = 1;; ++dims) {
    int64_t work = 0, size = shape[dims - 1];
    steps = std::min<int64_t>(steps * (ShapedType::isDynamic(size) ? 1 : std::max<int64_t>(size, 1)), int64_t(1) << 40);
    for (auto [op, loops] : llvm::zip(ops, outer))
      work = std::max(work, iterationsPerStep(op, ArrayRef(loops).take_front(dims)));
    if (dims < most && work > kTileIterations && steps < kManyTiles &&
        (llvm::all_of(shape.take_front(dims), isOne) || !llvm::all_of(shape.drop_front(dims + 1), isOne)))
      continue;
    return makeStrategy(
        dispatch.getContext(), kernel::kFamilyLoops, {dims}, {std::max<int64_t>(1, kTileIterations / work)}, {},
        dims == 1 ? "tiles along the first dimension of the result" : "tiles along the first dimensions of the result");
  }
}
