//===- Gemm.cpp - matrix products and convolutions ------------------------===//
//
// One micro-kernel for GEMM, batched GEMM, 1x1 and k x k convolutions (implicit im2col): a register tile of MR rows and
// a few vectors, whose rows are base offsets into `a`, whatever the loops behind them are. Elementwise consumers are
// cloned onto the accumulators before they are stored (the epilogue).
//
//   for tile: for columns of b in the tile: for rows in the tile, MR at a time:
//     acc = 0
//     for k...: acc[r][v] += a[row r + k] * b[panel, k, v]      r = 0..MR-1
//     c[r][v] = epilogue(acc[r][v], ...)
//
// Where b is computed from several tensors (dequantized weights), each has panels of its own, and its vectors are
// computed when they are loaded. Products of 8-bit integers take steps of k in groups (Dot.h), which never leave a run
// of elements of a. The order of additions per element is that of the plain loops. Goto, van de Geijn: Anatomy of
// High-Performance Matrix Multiplication (2008), without the packing of `a`.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cpu/Dot.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cpu/Epilogue.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;
using kernel::NestOperand;
using kernel::SizeExpr;

namespace {

class GemmEmitter {
public:
  GemmEmitter(KernelBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), blocks(kernel::GemmBlocks::get(body.strategy)),
        epilogue(body) {}

  LogicalResult run();

private:
  /// Columns of the register tile: full vectors, or the last ones of the matrix.
  struct Columns {
    Value first;
    SmallVector<Value> masks; ///< one per vector; null: all lanes
  };
  /// A position in b, or a step there: one per tensor that it comes from.
  using Places = SmallVector<Value, 1>;
  /// One loop over k: its size and how far it moves the operands.
  struct KLoop {
    Value size, aStride;
    Places bStrides;
  };
  /// A tensor that b comes from.
  struct Second {
    const NestOperand *walk;
    kernel::PackedOp packed;
    Value buffer;
    bool isScalar;            ///< the same for all columns
    Value panelStride;        ///< elements from one panel to the next
    SmallVector<Value> bases; ///< per vector of the register tile
  };

  LogicalResult analyze();
  void mergeK();
  void emitTile(ArrayRef<KernelBody::TileRange> ranges);
  void emitColumns(const Columns &columns);
  Value bestHeight(Value count);
  void emitMicroTile(Value row, int64_t rows, const Columns &columns);
  SmallVector<Value> emitK(size_t level, Value aOffset, Places bOffsets, SmallVector<Value> acc);
  /// One step of the innermost loop over k; `left` is null, or how many steps a last group has.
  SmallVector<Value> multiplyStep(Value aOffset, const Places &bOffsets, Value left, SmallVector<Value> acc);
  SmallVector<Value> emitGroups(Value aOffset, const Places &bOffsets, SmallVector<Value> acc);
  DotEmitter::Parts columnsOf(int64_t v, const Places &bOffsets);
  Places step(const Places &from, Value by, const Places &strides) {
    Places to;
    for (auto [at, stride] : llvm::zip(from, strides))
      to.push_back(index.add(at, index.mul(by, stride)));
    return to;
  }
  void storeRow(int64_t r, Value row, ArrayRef<Value> acc, const Columns &columns);

  /// Elements from the start of the buffer to the outer loops' position.
  Value outerOffset(const NestOperand &operand);
  Value rowOffset(const NestOperand &operand, Value row);
  Value columnOffset(const NestOperand &operand, Value column);

  KernelBody &body;
  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  const EmitOptions &options;
  kernel::GemmBlocks blocks;
  EpilogueEmitter epilogue;

  kernel::Contraction c;
  SmallVector<Second> seconds; ///< b first
  std::optional<DotEmitter> dot;
  Value aBuffer;
  SmallVector<KLoop> kLoops;

  // Of the tile being emitted.
  DenseMap<unsigned, Value> outerIndex; ///< by loop
  Value rowBegin, rowCount;
  int64_t rowTile = 1;
  SmallVector<int64_t> heights; ///< of register tiles that there is code for
  Value height;                 ///< the one to use, when there are several
  bool rowsDivide = false;      ///< the height divides every tile's rows
  DenseMap<const NestOperand *, Value> outerOffsets;
  // Of the register tile being emitted.
  SmallVector<Value> rowBases;
  const Columns *current = nullptr;
  DenseMap<std::pair<const NestOperand *, int64_t>, Value> sharedVectors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

LogicalResult GemmEmitter::analyze() {
  SmallVector<linalg::GenericOp> generics = body.generics();
  if (generics.empty())
    return body.refuse("it has no product");
  linalg::GenericOp root = generics.front();
  std::string why;
  FailureOr<kernel::Contraction> match = kernel::matchContraction(root, &why);
  if (failed(match))
    return body.refuse(why, root);
  c = std::move(*match);
  if (failed(epilogue.collect(c.nest, c.n, /*indices=*/false)))
    return failure();
  FailureOr<DotEmitter> step = DotEmitter::get(b, c, blocks, options.contract);
  if (failed(step))
    return failure();
  dot = *step;
  for (const NestOperand *operand : c.secondOperands()) {
    auto packed = operand->tensor.getDefiningOp<kernel::PackedOp>();
    bool moves = llvm::any_of(c.n, [&](unsigned loop) { return operand->moves(loop); });
    if (c.computedB && (moves || seconds.empty()) && !packed)
      return body.refuse("a tensor that the second operand is computed from is not in panels", root);
    seconds.push_back(
        {operand, packed, body.flat(operand->tensor), !moves && !packed && !seconds.empty(), Value(), {}});
  }
  if (blocks.depth > 1 &&
      (!seconds[0].packed || seconds[0].packed.getPacking().getDepth() != blocks.group() || c.k.empty()))
    return body.refuse("the second operand is not in panels of groups", root);
  aBuffer = body.flat(c.operandA().tensor);
  return success();
}

/// Loops over k that are one loop for `a` (and for b, unless it is packed in this order anyway) become one.
void GemmEmitter::mergeK() {
  SmallVector<SmallVector<unsigned>> runs;
  // Groups are cut from the loops that the packing says.
  size_t grouped = blocks.depth > 1 ? seconds[0].packed.getPacking().getRun() : 0, first = c.k.size() - grouped;
  auto isOneLoop = [&](ArrayRef<unsigned> both) {
    return c.nest.isFlat(c.operandA(), both) && llvm::all_of(seconds, [&](const Second &second) {
             return second.packed ? second.walk->moves(both[0]) == second.walk->moves(both[1])
                                  : c.nest.isFlat(*second.walk, both);
           });
  };
  for (unsigned loop : ArrayRef(c.k).take_front(first)) {
    if (!runs.empty() && isOneLoop({runs.back().back(), loop}))
      runs.back().push_back(loop);
    else
      runs.push_back({loop});
  }
  Places inner; // elements of panels per step of k
  for (const Second &second : seconds)
    inner.push_back(second.packed ? index.c(blocks.panelWidth()) : Value());
  if (grouped) {
    KLoop loop{body.size(c.nest.sizeOf(ArrayRef(c.k).drop_front(first))),
               index.c(1),
               {index.c(blocks.panelWidth() * blocks.group())}};
    inner[0] = index.mul(index.div(index.add(loop.size, index.c(blocks.group() - 1)), index.c(blocks.group())),
                         loop.bStrides[0]);
    kLoops.push_back(loop);
  }
  for (const auto &run : llvm::reverse(runs)) {
    KLoop loop;
    loop.size = body.size(c.nest.sizeOf(run));
    loop.aStride = body.size(c.operandA().strides[run.back()]);
    for (auto [second, stride] : llvm::zip(seconds, inner)) {
      if (!second.packed) {
        loop.bStrides.push_back(body.size(second.walk->strides[run.back()]));
      } else if (!second.walk->moves(run.back())) {
        loop.bStrides.push_back(index.c(0));
      } else {
        loop.bStrides.push_back(stride);
        stride = index.mul(stride, loop.size);
      }
    }
    kLoops.insert(kLoops.begin(), loop);
  }
  for (auto [second, stride] : llvm::zip(seconds, inner))
    second.panelStride = stride;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value GemmEmitter::outerOffset(const NestOperand &operand) {
  Value &known = outerOffsets[&operand];
  if (known)
    return known;
  Value offset = index.c(0);
  for (unsigned loop : c.outer)
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(outerIndex[loop], body.size(operand.strides[loop])));
  return known = offset;
}

Value GemmEmitter::rowOffset(const NestOperand &operand, Value row) {
  return body.offsetAlong(c.nest, operand, c.m, row);
}

Value GemmEmitter::columnOffset(const NestOperand &operand, Value column) {
  return c.n.empty() ? index.c(0) : index.mul(column, body.size(operand.strides[c.n.back()]));
}

//===----------------------------------------------------------------------===//
// The micro-kernel
//===----------------------------------------------------------------------===//

/// Vector v of the columns, at an offset of k.
DotEmitter::Parts GemmEmitter::columnsOf(int64_t v, const Places &bOffsets) {
  auto placeOf = [&](size_t i) {
    int64_t inPanel = (v % blocks.vectors) * blocks.lanes * blocks.group();
    return index.add(index.add(seconds[i].bases[v], bOffsets[i]), index.c(seconds[i].isScalar ? 0 : inPanel));
  };
  Value mask = seconds[0].packed ? Value() : current->masks[v];
  if (!c.computedB)
    return dot->columns(seconds[0].buffer, placeOf(0), mask);
  Block *scalars = c.nest.op.getBody();
  IRMapping map;
  for (auto [i, second] : llvm::enumerate(seconds)) {
    auto type = VectorType::get({blocks.lanes}, cast<MemRefType>(second.buffer.getType()).getElementType());
    Value loaded = second.isScalar ? memref::LoadOp::create(b, second.buffer, placeOf(i)).getResult()
                                   : loadLanes(b, type, second.buffer, placeOf(i));
    map.map(scalars->getArgument(second.walk - c.nest.operands.begin()), loaded);
  }
  auto isVector = [&](Value value) { return isa<VectorType>(map.lookupOrDefault(value).getType()); };
  for (Operation &op : scalars->without_terminator()) {
    if (llvm::any_of(op.getOperands(), isVector))
      cloneOp(b, op, map, blocks.lanes);
    else
      b.clone(op, map);
    if (&op == c.computedB.getDefiningOp())
      break;
  }
  return {spread(b, map.lookup(c.computedB), blocks.lanes)};
}

SmallVector<Value> GemmEmitter::multiplyStep(Value aOffset, const Places &bOffsets, Value left,
                                             SmallVector<Value> acc) {
  int64_t vectors = current->masks.size(), rows = rowBases.size();
  SmallVector<DotEmitter::Parts> columns;
  for (int64_t v = 0; v < vectors; ++v)
    columns.push_back(columnsOf(v, bOffsets));
  for (int64_t r = 0; r < rows; ++r) {
    Value at = index.add(rowBases[r], aOffset);
    DotEmitter::Parts row;
    if (left) {
      // Behind the last element: that one again, b has zeros there.
      SmallVector<Value> places;
      for (int64_t i = 0; i < blocks.group(); ++i)
        places.push_back(index.add(at, index.min(index.c(i), index.sub(left, index.c(1)))));
      row = dot->row(aBuffer, places);
    } else {
      row = dot->row(aBuffer, at);
    }
    for (int64_t v = 0; v < vectors; ++v)
      acc[r * vectors + v] = dot->multiplyAdd(acc[r * vectors + v], row, columns[v]);
  }
  if (dot->isBiased())
    for (int64_t v = 0; v < vectors; ++v)
      acc[rows * vectors + v] = dot->multiplyAdd(acc[rows * vectors + v], dot->biasRow(), columns[v]);
  return acc;
}

/// The innermost loop over k in groups, the last of which may not be full.
SmallVector<Value> GemmEmitter::emitGroups(Value aOffset, const Places &bOffsets, SmallVector<Value> acc) {
  const KLoop &k = kLoops.back();
  Value group = index.c(blocks.group()), full = index.div(k.size, group), left = index.rem(k.size, group);
  auto offsets = [&](Value at) {
    return std::pair(index.add(aOffset, index.mul(at, group)), step(bOffsets, at, k.bStrides));
  };
  if (getConstantIntValue(full) != 0) {
    auto loop = scf::ForOp::create(b, index.c(0), full, index.c(1), acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto [aAt, bAt] = offsets(loop.getInductionVar());
    scf::YieldOp::create(b, multiplyStep(aAt, bAt, Value(), SmallVector<Value>(loop.getRegionIterArgs())));
    acc = SmallVector<Value>(loop.getResults());
  }
  std::optional<int64_t> rest = getConstantIntValue(left);
  if (rest == 0)
    return acc;
  auto [aAt, bAt] = offsets(full);
  kernel::PackedOp packed = seconds[0].packed;
  if (kernel::lastGroupEndsRun(cast<RankedTensorType>(packed.getType()), packed.getPacking())) {
    aAt = index.add(aOffset, index.sub(k.size, group));
    left = Value();
  }
  if (rest)
    return multiplyStep(aAt, bAt, left, std::move(acc));
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, left, index.c(0));
  auto branch = scf::IfOp::create(b, TypeRange(ValueRange(acc)), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, multiplyStep(aAt, bAt, left, acc));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, acc);
  return SmallVector<Value>(branch.getResults());
}

SmallVector<Value> GemmEmitter::emitK(size_t level, Value aOffset, Places bOffsets, SmallVector<Value> acc) {
  if (level == kLoops.size())
    return multiplyStep(aOffset, bOffsets, Value(), std::move(acc));
  if (blocks.depth > 1 && level + 1 == kLoops.size())
    return emitGroups(aOffset, bOffsets, std::move(acc));
  const KLoop &k = kLoops[level];
  auto loop = scf::ForOp::create(b, index.c(0), k.size, index.c(1), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  SmallVector<Value> next = emitK(level + 1, index.add(aOffset, index.mul(at, k.aStride)),
                                  step(bOffsets, at, k.bStrides), SmallVector<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

void GemmEmitter::storeRow(int64_t r, Value row, ArrayRef<Value> acc, const Columns &columns) {
  for (size_t v = 0; v < acc.size(); ++v) {
    Value column = index.add(columns.first, index.c(v * blocks.lanes));
    EpilogueEmitter::Place place{
        blocks.lanes, columns.masks[v],
        [&](const NestOperand &walk) {
          return index.add(index.add(outerOffset(walk), rowOffset(walk, row)), columnOffset(walk, column));
        },
        nullptr,
        [&](const NestOperand &walk) -> Value * {
          bool sameForRows = llvm::none_of(c.m, [&](unsigned loop) { return walk.moves(loop); });
          return sameForRows ? &sharedVectors[{&walk, static_cast<int64_t>(v)}] : nullptr;
        }};
    epilogue.store(acc[v], place);
  }
}

void GemmEmitter::emitMicroTile(Value row, int64_t rows, const Columns &columns) {
  int64_t vectors = columns.masks.size();
  current = &columns;
  const NestOperand &x = c.operandA();
  SmallVector<Value> rowIndex;
  rowBases.clear();
  sharedVectors.clear();
  for (int64_t r = 0; r < rows; ++r) {
    rowIndex.push_back(index.add(row, index.c(r)));
    rowBases.push_back(index.add(outerOffset(x), rowOffset(x, rowIndex.back())));
  }
  for (Second &second : seconds) {
    second.bases.clear();
    for (int64_t v = 0; v < vectors; ++v) {
      int64_t panel = v / blocks.vectors;
      Value at = index.c(0);
      if (second.packed)
        at = index.mul(index.add(index.div(columns.first, index.c(blocks.panelWidth())), index.c(panel)),
                       second.panelStride);
      else if (!second.isScalar) // the vectors of a panel follow each other: columnsOf adds the position inside of it
        at = columnOffset(*second.walk, index.add(columns.first, index.c(panel * blocks.panelWidth())));
      second.bases.push_back(index.add(outerOffset(*second.walk), at));
    }
  }
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(dot->accumulatorType()));
  SmallVector<Value> acc((rows + dot->isBiased()) * vectors, zero);
  acc = emitK(0, index.c(0), Places(seconds.size(), index.c(0)), acc);
  if (dot->isBiased())
    for (int64_t i = 0; i < rows * vectors; ++i)
      acc[i] = arith::SubIOp::create(b, acc[i], acc[rows * vectors + i % vectors]);
  for (int64_t r = 0; r < rows; ++r)
    storeRow(r, rowIndex[r], ArrayRef(acc).slice(r * vectors, vectors), columns);
}

//===----------------------------------------------------------------------===//
// Rows and columns of a tile
//===----------------------------------------------------------------------===//

/// All rows of the tile in register tiles of one height. Where the height does not divide them, the last register tile
/// starts early and computes some rows a second time: the same values, by the same thread.
void GemmEmitter::emitColumns(const Columns &columns) {
  auto rowsOf = [&](int64_t height) {
    Value h = index.c(height), count = index.div(index.add(rowCount, index.c(height - 1)), h);
    Value lastStart = index.sub(rowCount, h);
    auto loop = scf::ForOp::create(b, index.c(0), count, index.c(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value start = index.mul(loop.getInductionVar(), h);
    if (!rowsDivide)
      start = index.min(start, lastStart);
    emitMicroTile(index.add(rowBegin, start), height, columns);
  };
  if (heights.size() == 1)
    return rowsOf(heights.front());
  auto choice = scf::IndexSwitchOp::create(b, TypeRange(), height, heights, heights.size());
  for (auto [region, rows] : llvm::zip(choice.getCaseRegions(), heights)) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    rowsOf(rows);
    scf::YieldOp::create(b);
  }
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&choice.getDefaultRegion());
  scf::YieldOp::create(b);
}

/// The height, of those there is code for, that takes the least time for `count` rows; it is never more than `count`.
Value GemmEmitter::bestHeight(Value count) {
  Value best = index.c(1), least = index.mul(count, index.c(kernel::GemmBlocks::costOfHeight(1)));
  for (int64_t height : llvm::reverse(heights)) {
    if (height == 1)
      continue;
    Value h = index.c(height);
    Value cost = index.mul(index.div(index.add(count, index.c(height - 1)), h),
                           index.c(kernel::GemmBlocks::costOfHeight(height)));
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, h, count);
    Value cheaper = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, cost, least);
    Value take = arith::AndIOp::create(b, fits, cheaper);
    best = arith::SelectOp::create(b, take, h, best);
    least = arith::SelectOp::create(b, take, cost, least);
  }
  return best;
}

void GemmEmitter::emitTile(ArrayRef<KernelBody::TileRange> ranges) {
  outerIndex.clear();
  outerOffsets.clear();
  Value columnBegin = index.c(0), columnCount = body.size(c.nest.sizeOf(c.n));
  rowBegin = index.c(0);
  rowCount = index.c(1);
  AffineMap outMap = c.nest.op.getIndexingMapsArray().back();
  Value allColumns = columnCount;
  for (auto [group, range] : llvm::zip(kernel::tileGroups(body.strategy), ranges)) {
    if (c.rows.count && group.firstDim == c.rows.first) {
      rowBegin = range.begin;
      rowCount = range.count;
      rowTile = group.tile;
    } else if (group.firstDim == c.columns.first) {
      columnBegin = range.begin;
      columnCount = range.count;
    } else {
      outerIndex[cast<AffineDimExpr>(outMap.getResult(group.firstDim)).getPosition()] = range.begin;
    }
  }
  SizeExpr m = c.nest.sizeOf(c.m);
  if (m.isStatic()) {
    heights = {blocks.rows};
    rowsDivide = m.factor % blocks.rows == 0 && rowTile % blocks.rows == 0;
  } else {
    heights = blocks.heights();
    height = bestHeight(rowCount);
  }
  // Offsets of the outer loops are made here, where every register tile can use them.
  for (const NestOperand &operand : c.nest.operands)
    (void)outerOffset(operand);
  for (const Second &second : seconds) {
    if (!second.packed)
      continue;
    // Its outer loops are the first dimensions of the panels.
    Value offset = index.c(0);
    for (unsigned loop : c.outer)
      if (second.walk->moves(loop))
        offset = index.add(index.mul(offset, body.size(c.nest.sizes[loop])), outerIndex[loop]);
    Value width = index.c(blocks.panelWidth()), rounded = index.add(allColumns, index.c(blocks.panelWidth() - 1));
    outerOffsets[second.walk] = index.mul(offset, index.mul(index.div(rounded, width), second.panelStride));
  }
  epilogue.forOperands([&](const NestOperand &operand) { (void)outerOffset(operand); });

  int64_t width = blocks.columns(), vectors = blocks.vectors * blocks.panels;
  Value full = index.div(columnCount, index.c(width));
  if (std::optional<int64_t> known = getConstantIntValue(full); !known || *known > 0) {
    auto loop = scf::ForOp::create(b, index.c(0), full, index.c(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitColumns({index.add(columnBegin, index.mul(loop.getInductionVar(), index.c(width))),
                 SmallVector<Value>(vectors, Value())});
  }
  SizeExpr n = c.nest.sizeOf(c.n);
  if (n.isStatic() && n.factor % width == 0)
    return;
  Value done = index.mul(full, index.c(width)), rest = index.sub(columnCount, done);
  auto emitRest = [&] {
    Columns columns{index.add(columnBegin, done), {}};
    auto maskType = VectorType::get({blocks.lanes}, b.getI1Type());
    if (n.isStatic()) {
      int64_t left = n.factor % width;
      for (int64_t v = 0; v * blocks.lanes < left; ++v) {
        int64_t inside = std::min(left - v * blocks.lanes, blocks.lanes);
        columns.masks.push_back(
            inside == blocks.lanes ? Value() : vector::CreateMaskOp::create(b, maskType, index.c(inside)).getResult());
      }
    } else {
      for (int64_t v = 0; v < vectors; ++v)
        columns.masks.push_back(vector::CreateMaskOp::create(b, maskType, index.sub(rest, index.c(v * blocks.lanes))));
    }
    emitColumns(columns);
  };
  if (getConstantIntValue(rest))
    return emitRest();
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, index.c(0));
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitRest();
}

LogicalResult GemmEmitter::run() {
  if (failed(analyze()))
    return failure();
  mergeK();
  body.forTiles([&](ArrayRef<KernelBody::TileRange> ranges) { emitTile(ranges); });
  body.finish();
  return success();
}

LogicalResult cpu::emitGemm(KernelBody &body, const EmitOptions &options) { return GemmEmitter(body, options).run(); }
