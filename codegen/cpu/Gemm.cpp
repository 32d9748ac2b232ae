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
// The order of additions per element is that of the plain loops. Goto, van de Geijn: Anatomy of High-Performance Matrix
// Multiplication (2008), without the packing of `a`.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cpu/Epilogue.h"
#include "optc/codegen/cpu/VectorBody.h"

using namespace mlir;
using namespace optc;
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
  /// One loop over k: its size and how far it moves the operands.
  struct KLoop {
    Value size, aStride, bStride;
  };

  LogicalResult analyze();
  void mergeK();
  void emitTile(ArrayRef<KernelBody::TileRange> ranges);
  void emitColumns(const Columns &columns);
  Value bestHeight(Value count);
  void emitMicroTile(Value row, int64_t rows, const Columns &columns);
  SmallVector<Value> emitK(size_t level, Value aOffset, Value bOffset, SmallVector<Value> acc);
  SmallVector<Value> multiplyStep(Value aOffset, Value bOffset, SmallVector<Value> acc);
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
  kernel::PackedOp packed;
  VectorType vectorType;
  Value aBuffer, bBuffer;
  SmallVector<KLoop> kLoops;
  Value panelStride; ///< elements from one panel of packed b to the next

  // Of the tile being emitted.
  DenseMap<unsigned, Value> outerIndex; ///< by loop
  Value rowBegin, rowCount;
  int64_t rowTile = 1;
  SmallVector<int64_t> heights; ///< of register tiles that there is code for
  Value height;                 ///< the one to use, when there are several
  bool rowsDivide = false;      ///< the height divides every tile's rows
  DenseMap<const NestOperand *, Value> outerOffsets;
  // Of the register tile being emitted.
  SmallVector<Value> rowBases, panelBases;
  const Columns *current = nullptr;
  DenseMap<std::pair<const NestOperand *, int64_t>, Value> sharedVectors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

LogicalResult GemmEmitter::analyze() {
  linalg::GenericOp root;
  for (linalg::LinalgOp op : body.ops())
    if (!root)
      root = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!root)
    return body.func.emitError("kernel '") << body.func.getName() << "' has no product for the gemm family";
  std::string why;
  FailureOr<kernel::Contraction> match = kernel::matchContraction(root, &why);
  if (failed(match))
    return root.emitError("the gemm family cannot emit kernel '") << body.func.getName() << "': " << why;
  c = std::move(*match);
  if (failed(epilogue.collect(c.nest, c.n, /*indices=*/false)))
    return failure();
  vectorType = VectorType::get({blocks.lanes}, cast<ShapedType>(root.getResult(0).getType()).getElementType());
  packed = c.operandB().tensor.getDefiningOp<kernel::PackedOp>();
  aBuffer = body.flat(c.operandA().tensor);
  bBuffer = body.flat(c.operandB().tensor);
  return success();
}

/// Loops over k that are one loop for `a` (and for `b`, unless it is packed in this order anyway) become one.
void GemmEmitter::mergeK() {
  SmallVector<SmallVector<unsigned>> runs;
  for (unsigned loop : c.k) {
    if (!runs.empty()) {
      SmallVector<unsigned> both = {runs.back().back(), loop};
      if (c.nest.isFlat(c.operandA(), both) && (packed || c.nest.isFlat(c.operandB(), both))) {
        runs.back().push_back(loop);
        continue;
      }
    }
    runs.push_back({loop});
  }
  Value inner = index.c(blocks.panelWidth()); // elements of a panel per step of k
  for (const auto &run : llvm::reverse(runs)) {
    KLoop loop;
    loop.size = body.size(c.nest.sizeOf(run));
    loop.aStride = body.size(c.operandA().strides[run.back()]);
    loop.bStride = packed ? inner : body.size(c.operandB().strides[run.back()]);
    inner = index.mul(inner, loop.size);
    kLoops.insert(kLoops.begin(), loop);
  }
  panelStride = inner;
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
  if (c.m.empty())
    return index.c(0);
  if (c.nest.isFlat(operand, c.m))
    return index.mul(row, body.size(operand.strides[c.m.back()]));
  Value offset = index.c(0), rest = row;
  for (unsigned loop : llvm::reverse(c.m)) {
    bool outermost = loop == c.m.front();
    Value size = body.size(c.nest.sizes[loop]);
    Value at = outermost ? rest : index.rem(rest, size);
    rest = outermost ? rest : index.div(rest, size);
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(at, body.size(operand.strides[loop])));
  }
  return offset;
}

Value GemmEmitter::columnOffset(const NestOperand &operand, Value column) {
  return c.n.empty() ? index.c(0) : index.mul(column, body.size(operand.strides[c.n.back()]));
}

//===----------------------------------------------------------------------===//
// The micro-kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> GemmEmitter::multiplyStep(Value aOffset, Value bOffset, SmallVector<Value> acc) {
  int64_t vectors = current->masks.size();
  SmallVector<Value> columns;
  for (int64_t v = 0; v < vectors; ++v) {
    Value at = index.add(index.add(panelBases[v], bOffset), index.c((v % blocks.vectors) * blocks.lanes));
    columns.push_back(loadLanes(b, vectorType, bBuffer, at, packed ? Value() : current->masks[v]));
  }
  auto flags = options.contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
  for (size_t r = 0; r < rowBases.size(); ++r) {
    Value x = memref::LoadOp::create(b, aBuffer, index.add(rowBases[r], aOffset));
    Value row = vector::BroadcastOp::create(b, vectorType, x);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = acc[r * vectors + v];
      sum = arith::AddFOp::create(b, sum, arith::MulFOp::create(b, row, columns[v], flags), flags);
    }
  }
  return acc;
}

SmallVector<Value> GemmEmitter::emitK(size_t level, Value aOffset, Value bOffset, SmallVector<Value> acc) {
  if (level == kLoops.size())
    return multiplyStep(aOffset, bOffset, std::move(acc));
  const KLoop &k = kLoops[level];
  auto loop = scf::ForOp::create(b, index.c(0), k.size, index.c(1), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  SmallVector<Value> next =
      emitK(level + 1, index.add(aOffset, index.mul(at, k.aStride)), index.add(bOffset, index.mul(at, k.bStride)),
            SmallVector<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

void GemmEmitter::storeRow(int64_t r, Value row, ArrayRef<Value> acc, const Columns &columns) {
  for (auto [v, sum] : llvm::enumerate(acc)) {
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
    epilogue.store(sum, place);
  }
}

void GemmEmitter::emitMicroTile(Value row, int64_t rows, const Columns &columns) {
  int64_t vectors = columns.masks.size();
  current = &columns;
  const NestOperand &x = c.operandA(), &y = c.operandB();
  SmallVector<Value> rowIndex;
  rowBases.clear();
  panelBases.clear();
  sharedVectors.clear();
  for (int64_t r = 0; r < rows; ++r) {
    rowIndex.push_back(index.add(row, index.c(r)));
    rowBases.push_back(index.add(outerOffset(x), rowOffset(x, rowIndex.back())));
  }
  for (int64_t v = 0; v < vectors; ++v) {
    if (!packed) {
      // The vectors of a panel follow each other: multiplyStep adds the position inside of the panel.
      Value column = index.add(columns.first, index.c(v / blocks.vectors * blocks.panelWidth()));
      panelBases.push_back(index.add(outerOffset(y), columnOffset(y, column)));
      continue;
    }
    Value panel = index.add(index.div(columns.first, index.c(blocks.panelWidth())), index.c(v / blocks.vectors));
    panelBases.push_back(index.add(outerOffset(y), index.mul(panel, panelStride)));
  }
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
  SmallVector<Value> acc(rows * vectors, zero);
  acc = emitK(0, index.c(0), index.c(0), acc);
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
  if (packed) {
    // Of packed b: its outer loops are the first dimensions of the panels.
    Value offset = index.c(0);
    for (unsigned loop : c.outer)
      if (c.operandB().moves(loop))
        offset = index.add(index.mul(offset, body.size(c.nest.sizes[loop])), outerIndex[loop]);
    Value width = index.c(blocks.panelWidth()), rounded = index.add(allColumns, index.c(blocks.panelWidth() - 1));
    outerOffsets[&c.operandB()] = index.mul(offset, index.mul(index.div(rounded, width), panelStride));
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

LogicalResult optc::cpu::emitGemm(KernelBody &body, const EmitOptions &options) {
  return GemmEmitter(body, options).run();
}
