//===- Window.cpp - strategy of the window family -------------------------===//
//
// Vectors run along the channels; a tile of positions is computed at once, so that an element of the input is loaded
// once for all windows of the tile that hold it. Channels are the inner loop: whole cache lines stream by.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "optc/dialects/kernel/Padding.h"
#include "optc/passes/configure/Strategies.h"

using namespace mlir;
using namespace optc;
using configure::kWhole, configure::typical;
using kernel::Window;

/// Taps of a tile: enough to pay for handing it out, and not so many that threads end at different times.
static constexpr int64_t kLeastTileWork = 64 << 10, kMostTileWork = 1 << 20;
/// Taps of a window, and of all windows of a tile, that are written out; the axes before those are loops.
static constexpr int64_t kMostTaps = 49, kMostSteps = 400;
/// Sums in flight that hide the latency of a multiply-add.
static constexpr int64_t kAccumulators = 8;

/// Bits of the widest scalar that the body computes with.
static int64_t widestBits(linalg::GenericOp op) {
  int64_t bits = 8;
  auto add = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (Type type : op.getBody()->getArgumentTypes())
    add(type);
  for (Operation &inner : op.getBody()->without_terminator())
    for (Type type : inner.getResultTypes())
      add(type);
  return bits;
}

/// The largest part of `size` that is no larger than `most`, with parts of nearly equal size.
static int64_t evenPart(const kernel::SizeExpr &size, int64_t most) {
  if (!size.isStatic() || size.factor <= 0)
    return most;
  return llvm::divideCeil(size.factor, llvm::divideCeil(size.factor, most));
}

static kernel::WindowBlocks blocksFor(const Window &w, const configure::Machine &machine) {
  kernel::WindowBlocks blocks{};
  int64_t lanes = w.nest.sizes[w.lane].factor;
  blocks.lanes = llvm::bit_floor<uint64_t>(std::min(machine.vectorBits / widestBits(w.nest.op), lanes));

  int64_t taps = 1;
  blocks.looped = w.axes.size();
  while (blocks.looped > 0 && taps * w.nest.sizes[w.axes[blocks.looped - 1].tap].factor <= kMostTaps)
    taps *= w.nest.sizes[w.axes[--blocks.looped].tap].factor;

  blocks.rows = blocks.columns = 1;
  if (w.columns)
    blocks.columns = kAccumulators;
  if (w.rows && *w.rows >= blocks.looped) {
    const kernel::WindowAxis &rows = w.axes[*w.rows], &columns = w.axes[*w.columns];
    int64_t rowTaps = w.nest.sizes[rows.tap].factor, columnTaps = w.nest.sizes[columns.tap].factor;
    // Two rows share what they read, as long as the weights of both stay in registers.
    bool shares = rows.stride < (rowTaps - 1) * rows.dilation + 1;
    if (shares && (!w.weights || 2 * columnTaps + kAccumulators < machine.vectorRegisters)) {
      blocks.rows = evenPart(w.nest.sizes[rows.out], 2);
      blocks.columns = kAccumulators / blocks.rows;
    }
  }
  if (w.columns)
    blocks.columns = evenPart(w.nest.sizes[w.axes[*w.columns].out], blocks.columns);
  while (blocks.columns > 1 && blocks.rows * blocks.columns * taps > kMostSteps)
    --blocks.columns;

  // Few positions: several vectors along the lanes, when that makes no more of them.
  blocks.vectors = 1;
  int64_t steps = llvm::divideCeil(lanes, blocks.lanes);
  for (int64_t vectors = 2; vectors * blocks.rows * blocks.columns <= kAccumulators; ++vectors)
    if (steps % vectors == 0 && vectors * blocks.lanes <= lanes &&
        blocks.rows * blocks.columns * vectors * taps <= kMostSteps)
      blocks.vectors = vectors;
  return blocks;
}

bool configure::readThroughPadding(kernel::DispatchOp dispatch, const Window &w) {
  auto producer = w.inputOperand().tensor.getDefiningOp<kernel::DispatchOp>();
  if (!producer || producer.getNumResults() != 1)
    return false;
  auto copies = producer.getBody().front().getOps<linalg::GenericOp>();
  auto yield = cast<kernel::YieldOp>(producer.getBody().front().getTerminator());
  if (!llvm::hasSingleElement(copies) || yield.getValues()[0] != (*copies.begin()).getResult(0))
    return false;
  std::optional<kernel::Padding> padding = kernel::matchPadding(*copies.begin());
  if (!padding)
    return false;
  auto isOutside = [&](OpFoldResult v) {
    auto value = dyn_cast_if_present<Value>(v);
    return !value || !producer.getBody().isAncestor(value.getParentRegion());
  };
  if (!isOutside(OpFoldResult(padding->source)) || !llvm::all_of(padding->low, isOutside) ||
      !llvm::all_of(padding->sizes, isOutside))
    return false;
  auto type = cast<RankedTensorType>(w.inputOperand().tensor.getType());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    bool slides = llvm::any_of(
        w.axes, [&](const kernel::WindowAxis &axis) { return static_cast<int64_t>(axis.dim) == d && !w.isLane(axis); });
    if (padding->hasBorder(d) && !slides)
      return false;
  }

  OpBuilder b(dispatch);
  Location loc = producer.getLoc();
  auto valueOf = [&](OpFoldResult v) { return getValueOrCreateConstantIndexOp(b, loc, v); };
  SmallVector<Value> low, sizes;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    low.push_back(valueOf(padding->low[d]));
    OpFoldResult size = padding->sizes[d];
    if (!size)
      size = type.isDynamicDim(d) ? OpFoldResult(producer.getResultDims()[type.getDynamicDimIndex(d)])
                                  : OpFoldResult(b.getIndexAttr(type.getDimSize(d)));
    sizes.push_back(valueOf(size));
  }
  Value fill = arith::ConstantOp::create(b, loc, padding->fill);
  b.setInsertionPoint(w.nest.op);
  Value padded = kernel::PaddedOp::create(b, loc, type, padding->source, low, sizes, fill, producer.getResultDims());
  w.nest.op->setOperand(w.input, padded);
  return true;
}

kernel::StrategyAttr configure::chooseWindow(kernel::DispatchOp dispatch, const Machine &machine,
                                             std::string &declined) {
  linalg::GenericOp root = reductionOf(dispatch);
  if (!root)
    return {};
  std::string why;
  auto decline = [&](StringRef reason) { return configure::decline(declined, "window", reason); };
  FailureOr<Window> match = kernel::matchWindow(root, &why);
  if (failed(match))
    return decline(why);
  Window &w = *match;
  if (!kernel::hasVectorWeights(w))
    return decline("the second operand is neither constant nor contiguous along the vectors");
  if (failed(kernel::matchEpilogues(w.nest, w.lane, dispatch.getBody().front(), /*indices=*/true, &why)))
    return decline(why);
  // Dimensions of the result that tiles are cut along: all up to the rows.
  SmallVector<unsigned> order;
  for (AffineExpr expr : root.getIndexingMapsArray().back().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  std::optional<unsigned> cut;
  if (w.columns)
    cut = w.axes[w.rows ? *w.rows : *w.columns].out;
  size_t dims = llvm::find(order, cut ? *cut : w.lane) - order.begin();

  if (!kernel::hasContiguousWeights(w))
    readPanels(root->getOpOperand(*w.weights), kernel::packingOfWeights(w));
  bool border = readThroughPadding(dispatch, w);

  kernel::WindowBlocks blocks = blocksFor(w, machine);
  SmallVector<int64_t> groups(dims, 1), tiles(dims, 1);
  if (cut) {
    int64_t inner = typical(w.nest.sizeOf(w.taps())) * typical(w.nest.sizes[w.lane]);
    if (w.rows)
      inner *= typical(w.nest.sizes[w.axes[*w.columns].out]);
    inner = std::min(inner, kWhole >> 10);
    const kernel::SizeExpr &extent = w.nest.sizes[*cut];
    int64_t step = w.rows ? blocks.rows : blocks.columns;
    int64_t total = std::min(inner * typical(extent), kWhole >> 10) * std::min(typical(w.nest.sizeOf(w.outer)), kWhole);
    int64_t most = std::max<int64_t>(std::clamp(total / 8, kLeastTileWork, kMostTileWork) / inner, step);
    groups.push_back(1);
    tiles.push_back(llvm::alignTo(evenPart(extent, most), step));
  }
  std::string reason = w.weights ? "windows with weights" : "windows";
  if (border)
    reason += ", the border not stored";
  return makeStrategy(dispatch.getContext(), kernel::kFamilyWindow, groups, tiles, blocks.toArray(), reason);
}
