//===- Window.cpp - depthwise convolutions and pooling --------------------===//
//
// A tile of positions of the result is computed at once, a vector of channels at a time, its sums in registers:
//
//   for tile: for rows: for columns: for channels, some vectors at a time:
//     acc[r][c] = start
//     for every element x of the input under the tile, in order:
//       acc[r][c] = body(x, weights[tap], acc[r][c])      for every r, c whose window has x as a tap
//     result[r][c] = epilogue(acc[r][c], ...)
//
// An element is loaded once for all windows of a tile; the order of taps per result is that of the plain loops. Where
// tiles do not divide an extent, the last one begins earlier and computes some results again: there are no tails. A
// border that memory does not hold (kernel.padded) costs a test per tile, and per element in tiles that touch it.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cpu/Epilogue.h"
#include "optc/codegen/cpu/Lanes.h"
#include <map>

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;
using kernel::NestOperand;
using kernel::SizeExpr;
using kernel::WindowAxis;

namespace {

class WindowEmitter {
public:
  WindowEmitter(KernelBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), blocks(kernel::WindowBlocks::get(body.strategy)),
        epilogue(body) {}

  LogicalResult run();

private:
  /// A range of positions along one axis of the tile.
  struct Extent {
    Value begin, count;
    int64_t least = 1; ///< the count is known to be no smaller, unless it is 0
  };
  /// Where elements of the input lie along one axis, relative to the first window of the tile.
  struct Position {
    int64_t at;
    Value offset; ///< elements of the buffer
    Value inside; ///< null: known to be inside of the border
  };

  LogicalResult analyze();
  void emitTile(ArrayRef<KernelBody::TileRange> ranges);
  Extent extentOf(std::optional<unsigned> axis, ArrayRef<KernelBody::TileRange> ranges);
  void cover(const Extent &extent, int64_t step, llvm::function_ref<void(Value at, int64_t size)> emit);
  void emitPositions();
  void emitLanes(bool border);
  SmallVector<Value> emitTaps(size_t level, bool border, SmallVector<Value> acc);
  SmallVector<Value> emitSteps(bool border, SmallVector<Value> acc);
  void visitElements(size_t axis, ArrayRef<SmallVector<Position>> all, SmallVectorImpl<int64_t> &at, Value offset,
                     Value inside, SmallVectorImpl<Value> &acc);
  Value loadInput(Value offset, Value inside);
  Value loadWeights(ArrayRef<int64_t> taps, int64_t v);
  void store(ArrayRef<Value> acc);

  int64_t tapCount(const WindowAxis &axis) const { return w.nest.sizes[axis.tap].factor; }
  bool isLooped(size_t axis) const { return static_cast<int64_t>(axis) < blocks.looped; }
  int64_t tileSize(size_t axis) const { return axis == w.rows ? rows : axis == w.columns ? columns : 1; }
  /// Whether the machine has masked loads of the input's vectors: those beyond 128 bits do.
  bool hasMasks() const {
    unsigned bits = inputType.getElementTypeBitWidth();
    return bits >= 32 && blocks.lanes * bits >= 256;
  }
  Value positionOf(unsigned loop) {
    auto it = position.find(loop);
    return it == position.end() ? index.c(0) : it->second;
  }
  /// position * stride summed over loops.
  Value walk(const NestOperand &operand, ArrayRef<unsigned> loops);

  KernelBody &body;
  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  const EmitOptions &options;
  kernel::WindowBlocks blocks;
  EpilogueEmitter epilogue;

  kernel::Window w;
  kernel::PackedOp packed;
  kernel::PaddedOp padded;
  Value inputBuffer, weightsBuffer;
  SmallVector<Value> inputStrides; ///< per dimension of the buffer that the input is read from
  VectorType inputType;
  Value start, fill; ///< vectors

  // Of the tile being emitted.
  DenseMap<unsigned, Value> position; ///< by parallel loop: the first one
  Extent rowExtent, columnExtent;
  int64_t rows = 1, columns = 1;
  SmallVector<Value> origins;  ///< per axis: where the first window begins in the input
  SmallVector<Value> tapIndex; ///< of looped axes
  std::map<std::pair<SmallVector<int64_t>, int64_t>, Value> weightVectors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// A product that is added to the accumulator may be contracted with the addition.
static void allowContraction(Block &block) {
  block.walk([](arith::ArithFastMathInterface op) {
    if (isa<arith::AddFOp, arith::MulFOp>(op.getOperation()))
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract));
  });
}

LogicalResult WindowEmitter::analyze() {
  SmallVector<linalg::GenericOp> generics = body.generics();
  if (generics.empty())
    return body.refuse("it has no window");
  linalg::GenericOp root = generics.front();
  std::string why;
  FailureOr<kernel::Window> match = kernel::matchWindow(root, &why);
  auto refuse = [&](StringRef reason) { return body.refuse(reason, root); };
  if (failed(match))
    return refuse(why);
  w = std::move(*match);
  const SizeExpr &lanes = w.nest.sizes[w.lane];
  if (lanes.factor < blocks.lanes * blocks.vectors)
    return refuse("there are fewer lanes than the vectors have");
  if (failed(epilogue.collect(w.nest, w.lane, /*indices=*/true)))
    return failure();

  Value source = w.inputOperand().tensor;
  padded = source.getDefiningOp<kernel::PaddedOp>();
  if (padded)
    source = padded.getSource();
  inputBuffer = body.flat(source);
  auto type = cast<RankedTensorType>(source.getType());
  Value stride = index.c(1);
  inputStrides.resize(type.getRank());
  for (unsigned d = type.getRank(); d-- > 0;) {
    inputStrides[d] = stride;
    stride = index.mul(stride, body.storedDim(source, d));
  }
  inputType = VectorType::get({blocks.lanes}, type.getElementType());
  if (w.weights) {
    packed = w.weightsOperand().tensor.getDefiningOp<kernel::PackedOp>();
    weightsBuffer = body.flat(w.weightsOperand().tensor);
    if (!packed && !kernel::hasContiguousWeights(w))
      return refuse("the second operand is not contiguous along the vectors");
  }
  start = spread(b, root.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0], blocks.lanes);
  if (padded)
    fill = spread(b, padded.getFill(), blocks.lanes);
  if (options.contract)
    allowContraction(*root.getBody());
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Emits code for all positions of the range, `step` at a time. The last ones begin earlier where the count is not a
/// multiple; a range that is shorter than `step` goes in single positions.
void WindowEmitter::cover(const Extent &extent, int64_t step, llvm::function_ref<void(Value, int64_t)> emit) {
  std::optional<int64_t> known = getConstantIntValue(extent.count);
  if (known && *known <= step) {
    if (*known > 0)
      emit(extent.begin, *known);
    return;
  }
  auto loop = [&](int64_t size) {
    Value sizeValue = index.c(size);
    Value count = index.div(index.add(extent.count, index.c(size - 1)), sizeValue);
    auto op = scf::ForOp::create(b, index.c(0), count, index.c(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    Value at = index.mul(op.getInductionVar(), sizeValue);
    if (size > 1 && !(known && *known % size == 0))
      at = index.min(at, index.sub(extent.count, sizeValue));
    emit(index.add(extent.begin, at), size);
  };
  if (known || step <= extent.least)
    return loop(step);
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, extent.count, index.c(step));
  auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  loop(step);
  b.setInsertionPointToStart(branch.elseBlock());
  loop(1);
}

WindowEmitter::Extent WindowEmitter::extentOf(std::optional<unsigned> axis, ArrayRef<KernelBody::TileRange> ranges) {
  if (!axis)
    return {index.c(0), index.c(1), 1};
  unsigned loop = w.axes[*axis].out;
  const SizeExpr &size = w.nest.sizes[loop];
  AffineMap outMap = w.nest.op.getIndexingMapsArray().back();
  for (auto [group, range] : llvm::zip(kernel::tileGroups(body.strategy), ranges)) {
    if (cast<AffineDimExpr>(outMap.getResult(group.firstDim)).getPosition() != loop)
      continue;
    int64_t least = 1;
    if (size.isStatic())
      least = size.factor % group.tile == 0 ? group.tile : size.factor % group.tile;
    return {range.begin, range.count, least};
  }
  return {index.c(0), body.size(size), 1};
}

Value WindowEmitter::walk(const NestOperand &operand, ArrayRef<unsigned> loops) {
  Value offset = index.c(0);
  for (unsigned loop : loops)
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(positionOf(loop), body.size(operand.strides[loop])));
  return offset;
}

void WindowEmitter::emitTile(ArrayRef<KernelBody::TileRange> ranges) {
  position.clear();
  AffineMap outMap = w.nest.op.getIndexingMapsArray().back();
  for (auto [group, range] : llvm::zip(kernel::tileGroups(body.strategy), ranges))
    position[cast<AffineDimExpr>(outMap.getResult(group.firstDim)).getPosition()] = range.begin;
  rowExtent = extentOf(w.rows, ranges);
  columnExtent = extentOf(w.columns, ranges);
  cover(rowExtent, blocks.rows, [&](Value row, int64_t rowCount) {
    cover(columnExtent, blocks.columns, [&](Value column, int64_t columnCount) {
      rows = rowCount;
      columns = columnCount;
      if (w.rows)
        position[w.axes[*w.rows].out] = row;
      if (w.columns)
        position[w.axes[*w.columns].out] = column;
      emitPositions();
    });
  });
}

/// The windows of one tile of rows and columns, for all lanes.
void WindowEmitter::emitPositions() {
  origins.clear();
  Value interior;
  for (auto [i, axis] : llvm::enumerate(w.axes)) {
    if (w.isLane(axis)) {
      origins.push_back(index.c(0));
      continue;
    }
    Value origin = index.mul(positionOf(axis.out), index.c(axis.stride));
    if (padded)
      origin = index.sub(origin, padded.getLow()[axis.dim]);
    origins.push_back(origin);
    if (!padded)
      continue;
    int64_t span = (tileSize(i) - 1) * axis.stride + (tapCount(axis) - 1) * axis.dilation + 1;
    Value end = index.add(origin, index.c(span));
    Value fits = b.createOrFold<arith::AndIOp>(
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, origin, index.c(0)),
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, end, padded.getSizes()[axis.dim]));
    interior = interior ? b.createOrFold<arith::AndIOp>(interior, fits) : fits;
  }
  if (!interior)
    return emitLanes(/*border=*/false);
  auto branch = scf::IfOp::create(b, interior, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitLanes(/*border=*/false);
  b.setInsertionPointToStart(branch.elseBlock());
  emitLanes(/*border=*/true);
}

void WindowEmitter::emitLanes(bool border) {
  int64_t size = w.nest.sizes[w.lane].factor;
  cover({index.c(0), index.c(size), size}, blocks.lanes * blocks.vectors, [&](Value lane, int64_t) {
    position[w.lane] = lane;
    store(emitTaps(0, border, SmallVector<Value>(rows * columns * blocks.vectors, start)));
  });
  position.erase(w.lane);
}

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

SmallVector<Value> WindowEmitter::emitTaps(size_t level, bool border, SmallVector<Value> acc) {
  tapIndex.resize(level);
  if (!isLooped(level) || level == w.axes.size())
    return emitSteps(border, std::move(acc));
  auto loop = scf::ForOp::create(b, index.c(0), index.c(tapCount(w.axes[level])), index.c(1), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  tapIndex.push_back(loop.getInductionVar());
  scf::YieldOp::create(b, emitTaps(level + 1, border, SmallVector<Value>(loop.getRegionIterArgs())));
  return SmallVector<Value>(loop.getResults());
}

/// One step of all looped axes: every element under the tile.
SmallVector<Value> WindowEmitter::emitSteps(bool border, SmallVector<Value> acc) {
  weightVectors.clear();
  SmallVector<SmallVector<Position>> all;
  for (auto [i, axis] : llvm::enumerate(w.axes)) {
    // A looped axis has the positions of its windows, moved by the tap; others have those of all taps.
    SmallVector<int64_t> places;
    for (int64_t t = 0; t < tileSize(i); ++t)
      for (int64_t k = 0; k < (isLooped(i) ? 1 : tapCount(axis)); ++k)
        places.push_back(t * axis.stride + k * axis.dilation);
    llvm::sort(places);
    places.erase(llvm::unique(places), places.end());
    Value first = origins[i];
    if (isLooped(i))
      first = index.add(first, index.mul(tapIndex[i], index.c(axis.dilation)));
    SmallVector<Position> &positions = all.emplace_back();
    for (int64_t at : places) {
      Value stride = inputStrides[axis.dim];
      Position p{at, index.add(index.mul(first, stride), index.mul(index.c(at), stride)), Value()};
      if (border && !w.isLane(axis)) {
        Value place = index.add(first, index.c(at)), size = padded.getSizes()[axis.dim];
        p.inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, size);
        if (hasMasks()) {
          // A masked load is slow where the address is not one of the program's.
          Value nearest = arith::MaxSIOp::create(b, index.min(place, index.sub(size, index.c(1))), index.c(0));
          p.offset = index.mul(nearest, stride);
        }
      }
      positions.push_back(p);
    }
  }
  // What does not depend on the axes: the other dimensions of the input, and the lanes.
  Value base = positionOf(w.lane);
  AffineMap map = w.nest.op.getMatchingIndexingMap(&w.nest.op->getOpOperand(w.input));
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (auto plain = dyn_cast<AffineDimExpr>(expr); plain && plain.getPosition() != w.lane)
      base = index.add(base, index.mul(positionOf(plain.getPosition()), inputStrides[d]));
  SmallVector<int64_t> at;
  visitElements(0, all, at, base, Value(), acc);
  return acc;
}

void WindowEmitter::visitElements(size_t axis, ArrayRef<SmallVector<Position>> all, SmallVectorImpl<int64_t> &at,
                                  Value offset, Value inside, SmallVectorImpl<Value> &acc) {
  if (axis < w.axes.size()) {
    for (const Position &p : all[axis]) {
      at.push_back(p.at);
      Value both = inside && p.inside ? b.createOrFold<arith::AndIOp>(inside, p.inside) : p.inside ? p.inside : inside;
      visitElements(axis + 1, all, at, index.add(offset, p.offset), both, acc);
      at.pop_back();
    }
    return;
  }
  // The windows of the tile that have this element, and as which tap.
  struct Use {
    int64_t window;
    SmallVector<int64_t> taps;
  };
  SmallVector<Use> uses;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      Use use{r * columns + c, {}};
      for (auto [i, a] : llvm::enumerate(w.axes)) {
        int64_t away = at[i] - (i == w.rows ? r : i == w.columns ? c : 0) * a.stride;
        int64_t tap = isLooped(i) ? 0 : away / a.dilation;
        if (away != tap * a.dilation || tap < 0 || tap >= tapCount(a))
          break;
        use.taps.push_back(tap);
      }
      if (use.taps.size() == w.axes.size())
        uses.push_back(std::move(use));
    }
  if (uses.empty())
    return;
  for (int64_t v = 0; v < blocks.vectors; ++v) {
    Value x = loadInput(index.add(offset, index.c(v * blocks.lanes)), inside);
    for (const Use &use : uses) {
      Value &sum = acc[use.window * blocks.vectors + v];
      SmallVector<Value> args(w.nest.op->getNumOperands(), x); // those that only have a size are not read
      args.back() = sum;
      if (w.weights)
        args[*w.weights] = loadWeights(use.taps, v);
      sum = cloneBody(b, *w.nest.op.getBody(), args, blocks.lanes)[0];
    }
  }
}

Value WindowEmitter::loadInput(Value offset, Value inside) {
  if (!inside)
    return loadLanes(b, inputType, inputBuffer, offset);
  if (hasMasks())
    return vector::MaskedLoadOp::create(b, inputType, inputBuffer, offset, spread(b, inside, blocks.lanes), fill);
  auto branch = scf::IfOp::create(b, inputType, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loadLanes(b, inputType, inputBuffer, offset));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, fill);
  return branch.getResult(0);
}

Value WindowEmitter::loadWeights(ArrayRef<int64_t> taps, int64_t v) {
  const NestOperand &weights = w.weightsOperand();
  bool moves = weights.moves(w.lane);
  Value &known = weightVectors[{SmallVector<int64_t>(taps), moves ? v : 0}];
  if (known)
    return known;
  auto tapAt = [&](size_t i) { return isLooped(i) ? tapIndex[i] : index.c(taps[i]); };
  Value offset = index.c(0);
  if (packed) {
    // [outer..., 1, taps..., lanes]
    for (unsigned loop : w.outer)
      if (weights.moves(loop))
        offset = index.add(index.mul(offset, body.size(w.nest.sizes[loop])), positionOf(loop));
    for (auto [i, axis] : llvm::enumerate(w.axes))
      if (weights.moves(axis.tap))
        offset = index.add(index.mul(offset, index.c(tapCount(axis))), tapAt(i));
    offset = index.mul(offset, index.c(w.nest.sizes[w.lane].factor));
  } else {
    offset = walk(weights, w.outer);
    for (auto [i, axis] : llvm::enumerate(w.axes))
      if (weights.moves(axis.tap))
        offset = index.add(offset, index.mul(tapAt(i), body.size(weights.strides[axis.tap])));
  }
  if (!moves)
    return known = memref::LoadOp::create(b, weightsBuffer, offset);
  offset = index.add(offset, index.add(positionOf(w.lane), index.c(v * blocks.lanes)));
  auto type = VectorType::get({blocks.lanes}, cast<MemRefType>(weightsBuffer.getType()).getElementType());
  return known = loadLanes(b, type, weightsBuffer, offset);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void WindowEmitter::store(ArrayRef<Value> acc) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < w.nest.numLoops(); ++loop)
    if (!w.nest.isReduction(loop))
      loops.push_back(loop);
  // How far a window is from the first one of the tile, in steps of a loop.
  auto away = [&](unsigned loop, int64_t r, int64_t c, int64_t v) -> int64_t {
    if (w.rows && loop == w.axes[*w.rows].out)
      return r;
    if (w.columns && loop == w.axes[*w.columns].out)
      return c;
    return loop == w.lane ? v * blocks.lanes : 0;
  };
  DenseMap<std::pair<const NestOperand *, int64_t>, Value> shared;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t v = 0; v < blocks.vectors; ++v) {
        EpilogueEmitter::Place place{
            blocks.lanes, Value(),
            [&](const NestOperand &operand) {
              Value offset = walk(operand, loops);
              for (unsigned loop : loops)
                if (int64_t steps = away(loop, r, c, v); steps && operand.moves(loop))
                  offset = index.add(offset, index.mul(index.c(steps), body.size(operand.strides[loop])));
              return offset;
            },
            [&](unsigned loop) { return index.add(positionOf(loop), index.c(away(loop, r, c, v))); },
            [&](const NestOperand &operand) -> Value * {
              bool same = llvm::none_of(loops, [&](unsigned loop) {
                return operand.moves(loop) && loop != w.lane && (away(loop, rows, columns, 0) > 0);
              });
              return same ? &shared[{&operand, v}] : nullptr;
            }};
        epilogue.store(acc[(r * columns + c) * blocks.vectors + v], place);
      }
}

LogicalResult WindowEmitter::run() {
  if (failed(analyze()))
    return failure();
  body.forTiles([&](ArrayRef<KernelBody::TileRange> ranges) { emitTile(ranges); });
  body.finish();
  return success();
}

LogicalResult cpu::emitWindow(KernelBody &body, const EmitOptions &options) {
  return WindowEmitter(body, options).run();
}
