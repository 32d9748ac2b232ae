//===- Columns.cpp - reductions across rows -------------------------------===//
//
//   for rows of the result in the tile: for columns, 4 vectors at a time:
//     sum[0..3] = 0
//     for k...: sum[v] += x[row, k, columns of v]
//     y[row, columns of v] = sum[v] / n                       what the group does with its results
//
// Every element is added up in the order of the loops, so results do not depend on vectors or tiles.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Columns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;
using kernel::ColumnGroup;
using kernel::ColumnOp;
using kernel::ColumnOperand;

namespace {
class ColumnEmitter {
public:
  ColumnEmitter(KernelBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options) {}
  LogicalResult run();

private:
  LogicalResult analyze();
  void emitTile(ArrayRef<KernelBody::TileRange> ranges);
  void emitRow(Value row, Value begin, Value count);
  /// `vectors` vectors of the result from `column` on; one with a mask.
  void emitVectors(Value row, Value column, int64_t vectors, Value mask);
  SmallVector<Value> emitK(const ColumnOp &op, size_t level, SmallVector<Value> offsets, SmallVector<Value> acc);
  SmallVector<Value> emitBody(const ColumnOp &op, ArrayRef<Value> offsets, ArrayRef<Value> acc);

  KernelBody &body;
  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  const EmitOptions &options;

  ColumnGroup group;
  int64_t lanes = 1, vectors = 1;
  Value numColumns;
  SmallVector<Value> results; ///< buffer by op, null where there is none
  /// Loops of the reduction that are one for every operand, by op.
  SmallVector<SmallVector<SmallVector<unsigned>>> kRuns;
  // Of the vectors being emitted.
  Value currentMask;
  int64_t currentVectors = 1;
  SmallVector<SmallVector<Value>> values; ///< by op, then vector
};
} // namespace

LogicalResult ColumnEmitter::analyze() {
  FailureOr<kernel::ColumnBlocks> blocks = body.blocks<kernel::ColumnBlocks>();
  if (failed(blocks))
    return failure();
  SmallVector<linalg::GenericOp> generics = body.generics();
  std::string why;
  FailureOr<ColumnGroup> match = kernel::bindColumns(generics, blocks->columnLoops, &why);
  if (failed(match))
    return body.refuse(why);
  group = std::move(*match);
  if (failed(body.bindGroup(group.ops, results)))
    return failure();
  lanes = blocks->lanes;
  vectors = blocks->vectors;
  numColumns = body.size(group.numColumns);
  for (const ColumnOp &op : group.ops) {
    SmallVector<SmallVector<unsigned>> runs;
    for (unsigned loop : op.k) {
      bool joins = !runs.empty() && llvm::all_of(op.inputs, [&](const ColumnOperand &input) {
        return op.nest.isFlat(input.walk, {runs.back().back(), loop});
      });
      if (joins)
        runs.back().push_back(loop);
      else
        runs.push_back({loop});
    }
    kRuns.push_back(std::move(runs));
  }
  if (options.contract)
    allowContraction(generics);
  return success();
}

/// One evaluation of the body for every vector. `acc` is empty for elementwise ops.
SmallVector<Value> ColumnEmitter::emitBody(const ColumnOp &op, ArrayRef<Value> offsets, ArrayRef<Value> acc) {
  SmallVector<Value> scalars(op.inputs.size());
  SmallVector<Value> out;
  for (int64_t v = 0; v < currentVectors; ++v) {
    SmallVector<Value> args;
    for (auto [i, input] : llvm::enumerate(op.inputs)) {
      if (input.source >= 0) {
        args.push_back(values[input.source][v]);
        continue;
      }
      Value buffer = body.flat(input.walk.tensor);
      if (!input.isVector) {
        if (!scalars[i])
          scalars[i] = memref::LoadOp::create(b, buffer, offsets[i]);
        args.push_back(scalars[i]);
        continue;
      }
      auto type = VectorType::get({lanes}, cast<MemRefType>(buffer.getType()).getElementType());
      Value at = index.add(offsets[i], index.c(v * lanes));
      args.push_back(loadLanes(b, type, buffer, at, currentMask));
    }
    if (!acc.empty())
      args.push_back(acc[v]);
    out.push_back(cloneBody(b, *op.nest.op.getBody(), args, lanes)[0]);
  }
  return out;
}

SmallVector<Value> ColumnEmitter::emitK(const ColumnOp &op, size_t level, SmallVector<Value> offsets,
                                        SmallVector<Value> acc) {
  const auto &runs = kRuns[&op - group.ops.data()];
  if (level == runs.size())
    return emitBody(op, offsets, acc);
  ArrayRef<unsigned> run = runs[level];
  auto loop = scf::ForOp::create(b, index.c(0), body.size(op.nest.sizeOf(run)), index.c(1), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  for (auto [offset, input] : llvm::zip(offsets, op.inputs))
    if (input.source < 0 && input.walk.moves(run.back()))
      offset = index.add(offset, index.mul(loop.getInductionVar(), body.size(input.walk.strides[run.back()])));
  scf::YieldOp::create(b, emitK(op, level + 1, std::move(offsets), SmallVector<Value>(loop.getRegionIterArgs())));
  return SmallVector<Value>(loop.getResults());
}

void ColumnEmitter::emitVectors(Value row, Value column, int64_t count, Value mask) {
  currentMask = mask;
  currentVectors = count;
  values.assign(group.ops.size(), {});
  for (auto [n, op] : llvm::enumerate(group.ops)) {
    SmallVector<Value> offsets, acc;
    for (const ColumnOperand &input : op.inputs) {
      Value offset;
      if (input.source < 0) {
        offset = body.offsetAlong(op.nest, input.walk, op.outer, row);
        if (input.isVector)
          offset = index.add(offset, column);
      }
      offsets.push_back(offset);
    }
    if (op.reduces)
      acc.assign(count, spread(b, op.start, lanes));
    values[n] = op.reduces ? emitK(op, 0, offsets, acc) : emitBody(op, offsets, {});
    if (!results[n])
      continue;
    Value place = index.add(index.mul(row, numColumns), column);
    for (auto [v, value] : llvm::enumerate(values[n]))
      storeLanes(b, value, results[n], index.add(place, index.c(v * lanes)), mask);
  }
}

/// Columns of the tile: several vectors at a time, single ones, then a part of one.
void ColumnEmitter::emitRow(Value row, Value begin, Value count) {
  Value done = index.c(0);
  auto loopTo = [&](int64_t perStep) {
    Value step = index.c(perStep * lanes), end = index.mul(index.div(count, step), step), from = done;
    done = end;
    if (std::optional<int64_t> a = getConstantIntValue(from), z = getConstantIntValue(end); a && z && *a >= *z)
      return;
    auto loop = scf::ForOp::create(b, from, end, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitVectors(row, index.add(begin, loop.getInductionVar()), perStep, Value());
  };
  if (vectors > 1)
    loopTo(vectors);
  loopTo(1);
  // Tiles are multiples of the vectors: only the last one of a row may have a rest, which is that of the row.
  std::optional<int64_t> known = getConstantIntValue(numColumns);
  if (lanes == 1 || (known && *known % lanes == 0))
    return;
  Value rest = index.sub(count, done);
  if (getConstantIntValue(rest) == 0)
    return;
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, index.c(0));
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value left = known ? index.c(*known % lanes) : rest;
  Value mask = vector::CreateMaskOp::create(b, VectorType::get({lanes}, b.getI1Type()), left);
  emitVectors(row, index.add(begin, done), 1, mask);
}

void ColumnEmitter::emitTile(ArrayRef<KernelBody::TileRange> ranges) {
  const KernelBody::TileRange &columns = ranges.back();
  if (ranges.size() == 1)
    return emitRow(index.c(0), columns.begin, columns.count);
  Value begin = ranges.front().begin, end = index.add(begin, ranges.front().count);
  auto loop = scf::ForOp::create(b, begin, end, index.c(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emitRow(loop.getInductionVar(), columns.begin, columns.count);
}

LogicalResult ColumnEmitter::run() {
  if (failed(analyze()))
    return failure();
  size_t numGroups = kernel::tileGroups(body.strategy).size();
  if (numGroups < 1 || numGroups > 2)
    return body.refuse("it has " + Twine(numGroups) + " tile groups where 1 or 2 are known");
  body.forTiles([&](ArrayRef<KernelBody::TileRange> ranges) { emitTile(ranges); });
  body.finish();
  return success();
}

LogicalResult cpu::emitColumns(KernelBody &body, const EmitOptions &options) {
  return ColumnEmitter(body, options).run();
}
