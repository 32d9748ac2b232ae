//===- CudaRows.cpp - strategy of the row family of devices ---------------===//
//
// Short rows have a warp, whose threads exchange values without shared memory; long ones, and those of which there are
// few, a block.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Rows.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using kernel::CudaRowBlocks;
using kernel::RowOp;

/// Columns from which on a row has a block, when there are enough rows for warps; and when there are not.
static constexpr int64_t kLongRow = 2048, kLonelyRow = 1024;
/// Threads of a block whose rows have warps, and of one that has a row.
static constexpr int64_t kWarpThreads = 128, kRowThreads = 256, kLongRowThreads = 512;
/// Elements of a row that a thread keeps in registers, per value that it keeps.
static constexpr int64_t kKept = 32;
static constexpr int64_t kAccessBytes = 16, kMostLanes = 8;

/// Bytes of the widest element that threads read or write side by side; complex elements have no vectors.
static int64_t widestAccess(const kernel::RowGroup &group) {
  int64_t bytes = 1;
  auto see = [&](Value tensor) {
    Type elem = cast<RankedTensorType>(tensor.getType()).getElementType();
    bytes = std::max<int64_t>(bytes, elem.isIntOrFloat() ? llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8) : 16);
  };
  for (const RowOp &op : group.ops) {
    for (const kernel::RowOperand &input : op.inputs)
      if (input.source < 0 && input.isVector())
        see(input.walk.tensor);
    if (op.kind == RowOp::Kind::Full)
      see(op.result());
  }
  return bytes;
}

kernel::StrategyAttr configure::chooseCudaRows(kernel::DispatchOp dispatch, const Machine &machine,
                                               std::string &declined) {
  SmallVector<linalg::GenericOp> ops = reducingOps(dispatch);
  if (ops.empty())
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "cuda-rows", reason); };
  FailureOr<kernel::RowGroup> group = kernel::matchRows(ops, &why);
  if (failed(group))
    return decline(why);
  std::optional<unsigned> dims = rowDimsOfResult(dispatch, *group);
  if (!dims)
    return decline("the first result is not one of an op");
  for (const RowOp &op : group->ops)
    if (op.kind == RowOp::Kind::Reduction && !isa<IntegerType, FloatType>(op.combiner.start.getType()))
      return decline("threads cannot exchange accumulators of this type");

  int64_t columns = typical(group->numColumns), rows = typical(group->numRows);
  bool few = rows < machine.multiprocessors * (kWarpThreads / 32);
  bool wholeBlock = columns >= kLongRow || (few && columns >= kLonelyRow);
  CudaRowBlocks blocks{kWarpThreads, 32, std::min(kAccessBytes / widestAccess(*group), kMostLanes), 0, {}};
  if (wholeBlock)
    blocks.threads = blocks.threadsPerRow = columns >= 4 * kLongRow ? kLongRowThreads : kRowThreads;
  else
    while (blocks.threads > 32 && rows < machine.multiprocessors * (blocks.threads / 32))
      blocks.threads /= 2;
  // No vectors that rows cut, or that leave threads without any.
  while (blocks.lanes > 1 &&
         (!kernel::hasAlignedColumns(*group, blocks.lanes) || columns < blocks.lanes * blocks.threadsPerRow))
    blocks.lanes /= 2;
  for (const RowOp &op : group->ops)
    blocks.shapes.push_back(op.shape);
  if (group->numColumns.isStatic() && llvm::divideCeil(columns, blocks.threadsPerRow) <= uint64_t(kKept))
    blocks.steps = llvm::divideCeil(columns, blocks.threadsPerRow * blocks.lanes);

  SmallVector<int64_t> groups, tiles;
  if (*dims) {
    groups.push_back(*dims);
    tiles.push_back(blocks.threads / blocks.threadsPerRow);
  }
  std::string reason = group->ops.size() > 1 ? "ops that share their rows" : "a reduction along rows";
  reason += wholeBlock ? ", a block per row" : ", a warp per row";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyCudaRows, groups, tiles, blocks.toArray(), reason);
}
