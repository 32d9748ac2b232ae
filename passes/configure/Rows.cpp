//===- Rows.cpp - strategy of the row family ------------------------------===//
//
// A tile is a number of whole rows, so that the order in which a row is added up does not depend on it.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Rows.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::RowGroup;
using kernel::RowOp;

/// Cost of a tile, in additions, that pays for handing it to another thread.
static constexpr int64_t kTileCost = 128 << 10;
/// What a size that only a run knows is taken for.
static constexpr int64_t kTypicalSize = 256;
/// Rows of at most this many elements are worked on in pairs.
static constexpr int64_t kShortRow = 1024;
/// Sums of this many vectors do not wait for each other.
static constexpr int64_t kAccumulators = 4;

std::optional<unsigned> configure::rowDimsOfResult(kernel::DispatchOp dispatch, const RowGroup &group) {
  Value first = cast<kernel::YieldOp>(dispatch.getBody().front().getTerminator()).getValues()[0];
  auto owner = llvm::find_if(group.ops, [&](const RowOp &op) { return op.result() == first; });
  if (owner == group.ops.end())
    return std::nullopt;
  // All before the first that walks columns.
  AffineMap map = owner->nest.op.getIndexingMapsArray().back();
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (llvm::any_of(owner->columns, [expr = expr](unsigned loop) { return expr.isFunctionOfDim(loop); }))
      return i;
  return map.getNumResults();
}

static int64_t typicalColumns(const RowGroup &group) {
  int64_t columns = std::max<int64_t>(group.numColumns.factor, 1);
  for (size_t i = 0; i < group.numColumns.runtime.size(); ++i)
    columns = std::min(columns * kTypicalSize, int64_t(1) << 30);
  return columns;
}

static int64_t costPerRow(const RowGroup &group) {
  int64_t columns = typicalColumns(group), cost = 0;
  for (const RowOp &op : group.ops)
    cost += op.kind == RowOp::Kind::Row ? 0 : columns * (kernel::bodyCost(*op.nest.op.getBody()) + 1);
  return std::max<int64_t>(cost, 1);
}

kernel::StrategyAttr configure::chooseRows(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined) {
  SmallVector<linalg::GenericOp> ops = reducingOps(dispatch);
  if (ops.empty())
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "rows", reason); };
  FailureOr<RowGroup> group = kernel::matchRows(ops, &why);
  if (failed(group))
    return decline(why);
  SmallVector<linalg::GenericOp> onVectors; // arithmetic on one value per row is not
  bool isShort = typicalColumns(*group) <= kShortRow && group->numRows.valueOr(2) > 1;
  kernel::RowBlocks blocks{1, kAccumulators, isShort ? 2 : 1, {}};
  for (const RowOp &op : group->ops) {
    blocks.shapes.push_back(op.shape);
    if (op.kind != RowOp::Kind::Row)
      onVectors.push_back(op.nest.op);
  }
  blocks.lanes = std::max<int64_t>(machine.vectorBits / widestBits(onVectors), 1);

  // Tiles are cut from the dimensions of the first result.
  std::optional<unsigned> dims = rowDimsOfResult(dispatch, *group);
  if (!dims)
    return decline("the first result is not one of an op");
  SmallVector<int64_t> groups, tiles;
  if (*dims) {
    groups.push_back(*dims);
    tiles.push_back(std::max<int64_t>(1, kTileCost / costPerRow(*group)));
  }
  StringRef reason = group->ops.size() > 1 ? "ops that share their rows" : "a reduction along rows";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyRows, groups, tiles, blocks.toArray(), reason);
}
