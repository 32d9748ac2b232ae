//===- Rows.cpp - reductions along rows and what belongs to them ----------===//
//
// A softmax or a normalization, row by row. Every pass walks the columns in vectors; what later passes need again is
// computed again or kept (RowPasses.h), in the row of a result or on the stack.
//
//   for rows of the tile:
//     for columns, 4 vectors at a time: max[0..3] = max(max[0..3], x)              pass 0
//     m = max of all lanes
//     for columns...: e = exp(x - m); y = e; sum[0..3] += e                        pass 1
//     s = 1 / sum of all lanes                                                     arithmetic of the row
//     for columns...: y = y * s                                                    pass 2
//
// The order of additions in a row follows from its length and the vector width alone. Below -O3 sums and products of
// floats are added up one element after the other; everything else is vectorised all the same.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/common/RowKernel.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;
using kernel::RowOp;
using kernel::RowOperand;
using Kind = kernel::RowOp::Kind;

/// Rows of at most this many bytes are kept on the stack.
static constexpr int64_t kStackBytes = 16 << 10;
/// Cost, in additions, of the vectors that one step of a pass works on.
static constexpr int64_t kStepCost = 128;

namespace {
class RowEmitter : RowKernel {
public:
  RowEmitter(KernelBody &body, const EmitOptions &options)
      : RowKernel(body), b(body.b), index(body.index), options(options) {}
  LogicalResult run();

private:
  /// One vector of columns, or one element.
  struct Position {
    SmallVector<Value> outer; ///< indices of the outer levels
    Value inner;              ///< first element within the last level
    Value mask;               ///< null: all lanes
  };

  struct Row : RowKernel::Row {
    SmallVector<Value> stack; ///< buffers by op, of rows that are kept
  };

  LogicalResult analyze();
  void emitRows(Value first, int64_t count);
  void storeRowValue(unsigned op);
  SmallVector<Value> startPass(const RowPass &pass);
  void finishPass(const RowPass &pass, ArrayRef<Value> acc);
  SmallVector<Value> emitLevel(const RowPass &pass, SmallVector<Value> outer, SmallVector<Value> acc);
  SmallVector<Value> emitRun(const RowPass &pass, ArrayRef<Value> outer, SmallVector<Value> acc);
  void emitStep(const RowPass &pass, const Position &at, unsigned slot, MutableArrayRef<Value> acc);

  bool isSequential(const RowOp &op) const { return op.combiner.ordered && options.optLevel < 3; }
  unsigned slotsOf(const RowPass &pass) const;
  Value reduceStep(const RowOp &op, ArrayRef<Value> args, Value acc, Value mask);
  Value reduceLanes(const RowOp &op, ArrayRef<Value> accumulators);

  Value columnOffset(const RowOperand &input, const Position &at);
  Value flatOffset(const Position &at);
  Value loadVector(Value buffer, Value offset, Value mask);
  /// Where the kept value of an op is at this position.
  std::pair<Value, Value> placeOf(unsigned op, const Position &at);

  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  const EmitOptions &options;

  int64_t lanes = 1, accumulators = 1, rowsAtOnce = 1;
  SmallVector<Row> rows;         ///< at once
  SmallVector<Value> levelSteps; ///< elements of a row from one step of a level to the next
  Value columns;
  Row *row = nullptr; ///< the one being emitted
};
} // namespace

LogicalResult RowEmitter::analyze() {
  FailureOr<kernel::RowBlocks> blocks = body.blocks<kernel::RowBlocks>();
  if (failed(blocks) || failed(match(blocks->shapes, options)))
    return failure();
  lanes = blocks->lanes;
  accumulators = blocks->accumulators;
  rowsAtOnce = blocks->rows;

  columns = index.c(1);
  SmallVector<Value> steps;
  for (Value size : llvm::reverse(levelSizes)) {
    steps.push_back(columns);
    columns = index.mul(columns, size);
  }
  levelSteps.assign(steps.rbegin(), steps.rend());
  planPasses(kStackBytes / rowsAtOnce);
  rows.resize(rowsAtOnce);
  for (Row &r : rows) {
    r.stack.resize(group.ops.size());
    for (auto [i, place] : llvm::enumerate(plan.places)) {
      if (place.kind != RowPlan::Place::Stack)
        continue;
      Type elem = cast<ShapedType>(group.ops[i].result().getType()).getElementType();
      auto type = MemRefType::get({group.numColumns.factor}, elem);
      r.stack[i] = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value RowEmitter::flatOffset(const Position &at) {
  Value offset = at.inner;
  for (auto [i, outer] : llvm::enumerate(at.outer))
    offset = index.add(offset, index.mul(outer, levelSteps[i]));
  return offset;
}

Value RowEmitter::columnOffset(const RowOperand &input, const Position &at) {
  if (input.flat)
    return flatOffset(at);
  Value offset = input.isVector() ? at.inner : index.c(0);
  for (auto [i, outer] : llvm::enumerate(at.outer))
    if (!input.levelStrides[i].is(0))
      offset = index.add(offset, index.mul(outer, body.size(input.levelStrides[i])));
  return offset;
}

Value RowEmitter::loadVector(Value buffer, Value offset, Value mask) {
  auto type = VectorType::get({lanes}, cast<MemRefType>(buffer.getType()).getElementType());
  return loadLanes(b, type, buffer, offset, mask);
}

std::pair<Value, Value> RowEmitter::placeOf(unsigned op, const Position &at) {
  if (plan.places[op].kind == RowPlan::Place::Stack)
    return {row->stack[op], flatOffset(at)};
  return {results[plan.places[op].result], index.add(row->start, flatOffset(at))};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Vectors that one step of a pass works on. A sum in sequence has one.
unsigned RowEmitter::slotsOf(const RowPass &pass) const {
  SmallVector<unsigned> reductions = reductionsOf(pass);
  bool sequential = llvm::any_of(reductions, [&](unsigned i) { return isSequential(group.ops[i]); });
  if (reductions.empty() || sequential)
    return 1;
  // Short rows do not fill more, and long bodies keep the machine busy as they are.
  int64_t cost = 1;
  for (unsigned i : pass.compute)
    cost += kernel::bodyCost(*group.ops[i].nest.op.getBody());
  int64_t most = std::min(group.levels.back().valueOr(INT64_MAX) / lanes, kStepCost / cost);
  return std::clamp<int64_t>(most, 1, accumulators);
}

/// The accumulator after one more vector. Lanes outside of the mask keep what they have.
Value RowEmitter::reduceStep(const RowOp &op, ArrayRef<Value> args, Value acc, Value mask) {
  Block &block = *op.nest.op.getBody();
  if (!isSequential(op)) {
    SmallVector<Value> all(args);
    all.push_back(acc);
    Value next = cloneBody(b, block, all, lanes)[0];
    return mask ? arith::SelectOp::create(b, mask, next, acc).getResult() : next;
  }
  // The elements to add, then one after the other.
  IRMapping map;
  for (auto [from, to] : llvm::zip(block.getArguments().drop_back(), args))
    map.map(from, spread(b, to, lanes));
  for (Operation &inner : block.without_terminator())
    if (&inner != op.combiner.op)
      cloneOp(b, inner, map, lanes);
  Value other = op.combiner.op->getOperand(1 - op.combiner.accOperand);
  Value elements = map.contains(other) ? map.lookup(other) : spread(b, other, lanes);
  bool adds = isa<arith::AddFOp>(op.combiner.op);
  if (mask) {
    auto type = cast<VectorType>(elements.getType());
    Attribute neutral = b.getFloatAttr(type.getElementType(), adds ? -0.0 : 1.0);
    elements =
        arith::SelectOp::create(b, mask, elements, arith::ConstantOp::create(b, DenseElementsAttr::get(type, neutral)));
  }
  return vector::ReductionOp::create(b, adds ? vector::CombiningKind::ADD : vector::CombiningKind::MUL, elements, acc);
}

/// The accumulators' lanes as one value: pairs, pairs of pairs, ..., in a fixed order.
Value RowEmitter::reduceLanes(const RowOp &op, ArrayRef<Value> partial) {
  SmallVector<Value> values(partial);
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(op, values[i], values[i + 1], lanes));
    if (values.size() % 2)
      next.push_back(values.back());
    values = std::move(next);
  }
  Value v = values.front();
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    auto half = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(b, v, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{width},
                                                   ArrayRef<int64_t>{1});
    };
    v = combine(op, half(0), half(width), width);
  }
  return vector::ExtractOp::create(b, v, ArrayRef<int64_t>{0});
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void RowEmitter::emitStep(const RowPass &pass, const Position &at, unsigned slot, MutableArrayRef<Value> acc) {
  llvm::DenseMap<unsigned, Value> values;
  for (unsigned i : pass.reload) {
    auto [buffer, offset] = placeOf(i, at);
    values[i] = loadVector(buffer, offset, at.mask);
  }
  unsigned slots = slotsOf(pass), reduction = 0;
  for (unsigned i : pass.compute) {
    const RowOp &op = group.ops[i];
    SmallVector<Value> args;
    for (const RowOperand &input : op.inputs) {
      if (input.source >= 0) {
        args.push_back(group.ops[input.source].kind == Kind::Full ? values[input.source] : row->values[input.source]);
        continue;
      }
      if (!input.movesAlongColumns()) {
        args.push_back(row->scalars[&input]);
        continue;
      }
      Value buffer = body.flat(input.walk.tensor), offset = index.add(row->offsets[&input], columnOffset(input, at));
      args.push_back(input.isVector() ? loadVector(buffer, offset, at.mask)
                                      : Value(memref::LoadOp::create(b, buffer, offset)));
    }
    if (op.kind == Kind::Reduction) {
      Value &sum = acc[reduction++ * slots + slot];
      sum = reduceStep(op, args, sum, at.mask);
      continue;
    }
    // The init is the last argument, which no body reads.
    values[i] = cloneBody(b, *op.nest.op.getBody(), args, lanes)[0];
  }
  for (unsigned i : pass.store) {
    auto [buffer, offset] = placeOf(i, at);
    storeLanes(b, values[i], buffer, offset, at.mask);
  }
}

/// The last level: steps of all slots, then single vectors, then a part of one.
SmallVector<Value> RowEmitter::emitRun(const RowPass &pass, ArrayRef<Value> outer, SmallVector<Value> acc) {
  Value length = levelSizes.back(), done = index.c(0);
  unsigned slots = slotsOf(pass);
  auto loopTo = [&](int64_t perStep) {
    Value step = index.c(perStep * lanes), end = index.mul(index.div(length, step), step);
    Value from = done;
    done = end;
    if (std::optional<int64_t> a = getConstantIntValue(from), z = getConstantIntValue(end); a && z && *a >= *z)
      return;
    auto loop = scf::ForOp::create(b, from, end, step, acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    for (int64_t slot = 0; slot < perStep; ++slot) {
      Value inner = index.add(loop.getInductionVar(), index.c(slot * lanes));
      emitStep(pass, {llvm::to_vector(outer), inner, Value()}, slot, next);
    }
    if (!acc.empty()) // without results there is a terminator already
      scf::YieldOp::create(b, next);
    acc = SmallVector<Value>(loop.getResults());
  };
  if (slots > 1)
    loopTo(slots);
  loopTo(1);
  Value rest = index.sub(length, done);
  auto tail = [&] {
    Value mask = vector::CreateMaskOp::create(b, VectorType::get({lanes}, b.getI1Type()), rest);
    emitStep(pass, {llvm::to_vector(outer), done, mask}, 0, acc);
  };
  if (lanes == 1 || getConstantIntValue(rest) == 0)
    return acc;
  if (getConstantIntValue(rest)) {
    tail();
    return acc;
  }
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, index.c(0));
  auto branch = scf::IfOp::create(b, ValueRange(acc).getTypes(), any, /*withElseRegion=*/!acc.empty());
  SmallVector<Value> before = acc;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  tail();
  if (!acc.empty()) {
    scf::YieldOp::create(b, acc);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, before);
  }
  return SmallVector<Value>(branch.getResults());
}

SmallVector<Value> RowEmitter::emitLevel(const RowPass &pass, SmallVector<Value> outer, SmallVector<Value> acc) {
  size_t level = outer.size();
  if (level + 1 == levelSizes.size())
    return emitRun(pass, outer, std::move(acc));
  auto loop = scf::ForOp::create(b, index.c(0), levelSizes[level], index.c(1), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  outer.push_back(loop.getInductionVar());
  SmallVector<Value> next = emitLevel(pass, std::move(outer), SmallVector<Value>(loop.getRegionIterArgs()));
  if (!acc.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

/// The loops of a pass; the accumulators at their end.
SmallVector<Value> RowEmitter::startPass(const RowPass &pass) {
  unsigned slots = slotsOf(pass);
  SmallVector<Value> acc;
  for (unsigned i : reductionsOf(pass)) {
    const RowOp &op = group.ops[i];
    Value start = isSequential(op) ? op.combiner.start : spread(b, op.combiner.start, lanes);
    acc.append(slots, start);
  }
  return emitLevel(pass, {}, std::move(acc));
}

void RowEmitter::finishPass(const RowPass &pass, ArrayRef<Value> acc) {
  unsigned slots = slotsOf(pass);
  for (auto [n, i] : llvm::enumerate(reductionsOf(pass))) {
    const RowOp &op = group.ops[i];
    row->values[i] = isSequential(op) ? acc[n * slots] : reduceLanes(op, acc.slice(n * slots, slots));
    storeRowValue(i);
  }
}

void RowEmitter::storeRowValue(unsigned op) {
  if (results[op])
    memref::StoreOp::create(b, row->values[op], results[op], row->at);
}

/// Rows side by side: while the lanes of one are reduced, the next one's are on their way.
void RowEmitter::emitRows(Value first, int64_t count) {
  auto forRows = [&](llvm::function_ref<void(int64_t)> fn) {
    for (int64_t r = 0; r < count; ++r) {
      row = &rows[r];
      fn(r);
    }
  };
  auto emitRowOpsAt = [&](unsigned point) {
    forRows([&](int64_t) { emitRowOps(*row, point, [&](unsigned op) { storeRowValue(op); }); });
  };
  forRows([&](int64_t r) { begin(*row, index.add(first, index.c(r)), columns); });
  for (auto [k, pass] : llvm::enumerate(plan.passes)) {
    emitRowOpsAt(k);
    SmallVector<SmallVector<Value>> acc(count);
    forRows([&, &pass = pass](int64_t r) { acc[r] = startPass(pass); });
    forRows([&, &pass = pass](int64_t r) { finishPass(pass, acc[r]); });
  }
  emitRowOpsAt(plan.passes.size());
}

LogicalResult RowEmitter::run() {
  if (failed(analyze()))
    return failure();
  body.forTiles([&](ArrayRef<KernelBody::TileRange> ranges) {
    if (ranges.empty())
      return emitRows(index.c(0), 1);
    Value begin = ranges.front().begin, end = index.add(begin, ranges.front().count);
    auto loopTo = [&](Value to, int64_t step) {
      auto loop = scf::ForOp::create(b, begin, to, index.c(step));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      emitRows(loop.getInductionVar(), step);
    };
    if (rowsAtOnce > 1) {
      Value step = index.c(rowsAtOnce), whole = index.mul(index.div(ranges.front().count, step), step);
      Value to = index.add(begin, whole);
      loopTo(to, rowsAtOnce);
      begin = to;
    }
    loopTo(end, 1);
  });
  body.finish();
  return success();
}

LogicalResult cpu::emitRows(KernelBody &body, const EmitOptions &options) { return RowEmitter(body, options).run(); }
