//===- Columns.cpp - strategy of the column family ------------------------===//
#include "optc/dialects/kernel/Columns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::ColumnGroup;
using kernel::ColumnOp;

/// Cost of a tile, in additions of vectors, that pays for handing it to another thread.
static constexpr int64_t kTileCost = 16 << 10;
/// Vectors side by side, whose sums do not wait for each other.
static constexpr int64_t kVectors = 4;

kernel::StrategyAttr configure::chooseColumns(kernel::DispatchOp dispatch, const Machine &machine,
                                              std::string &declined) {
  SmallVector<linalg::GenericOp> ops;
  bool reduces = false;
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      reduces |= generic.getNumReductionLoops() > 0;
      ops.push_back(generic);
    } else if (!isa<linalg::FillOp, tensor::EmptyOp, kernel::ViewOp>(op)) {
      return {};
    }
  if (!reduces)
    return {};
  auto decline = [&](StringRef reason) {
    declined += ((declined.empty() ? "no columns: " : "; no columns: ") + reason).str();
    return kernel::StrategyAttr();
  };
  std::string why;
  FailureOr<ColumnGroup> group = kernel::matchColumns(ops, &why);
  if (failed(group))
    return decline(why);

  kernel::ColumnBlocks blocks{std::max<int64_t>(machine.vectorBits / widestBits(ops), 1), kVectors, {}};
  int64_t cost = 0; // of one vector of the result
  for (const ColumnOp &op : group->ops) {
    blocks.columnLoops.push_back(op.columns.size());
    cost += std::min(typical(op.nest.sizeOf(op.k)), int64_t(1) << 30) * (kernel::bodyCost(*op.nest.op.getBody()) + 1);
  }
  // Tiles are cut from the dimensions of the first result: rows of a part of the columns.
  Value first = cast<kernel::YieldOp>(dispatch.getBody().front().getTerminator()).getValues()[0];
  auto owner = llvm::find_if(group->ops, [&](const ColumnOp &op) { return op.result() == first; });
  if (owner == group->ops.end())
    return decline("the first result is not one of an op");
  AffineMap map = owner->nest.op.getIndexingMapsArray().back();
  int64_t rank = map.getNumResults(), outer = 0;
  while (!map.getResult(outer).isFunctionOfDim(owner->columns.front()))
    ++outer;
  int64_t step = blocks.lanes * blocks.vectors, columns = typical(group->numColumns);
  int64_t width = std::max<int64_t>(kTileCost / std::max<int64_t>(cost, 1) * blocks.lanes / step, 1) * step;
  int64_t whole = llvm::divideCeil(columns, step) * step, rows = 1;
  if (width >= whole) {
    rows = std::max<int64_t>(width / whole, 1);
    width = whole;
  }
  SmallVector<int64_t> groups, tiles;
  if (outer > 0) {
    groups.push_back(outer);
    tiles.push_back(rows);
  }
  groups.push_back(rank - outer);
  tiles.push_back(width);
  StringRef reason =
      group->ops.size() > 1 ? "reductions across rows and ops on their results" : "a reduction across rows";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyColumns, groups, tiles, blocks.toArray(), reason);
}
