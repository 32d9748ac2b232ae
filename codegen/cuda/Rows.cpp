//===- Rows.cpp - reductions along rows and what belongs to them ----------===//
//
// A softmax or a normalization. A warp or a block has a row; its threads take vectors of columns in turn, so that
// neighbours read neighbouring addresses. What a pass computes for a later one stays in registers when the row is short
// enough for its steps to be written out; else it is computed again, or read from the row of a result, which each
// thread wrote itself.
//
//   for rows of the block:
//     x[0..s] = load(row, lane + s * threads)                         once
//     max = x[0] max x[1] ...; all threads: shuffles, then shared memory between warps
//     e[s] = exp(x[s] - max); sum += e[s]; all threads
//     store(e[s] / sum)
//
// Sums are added up per thread, then in a tree: the order follows from the number of columns and the sizes in the
// strategy alone.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/common/RowKernel.h"
#include "optc/codegen/cuda/Emitters.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cuda;
using kernel::RowOp;
using kernel::RowOperand;
using Kind = kernel::RowOp::Kind;

namespace {
class RowEmitter : RowKernel {
public:
  RowEmitter(DeviceBody &body, const EmitOptions &options)
      : RowKernel(body), body(body), b(body.b), index(body.index), options(options) {}
  LogicalResult run();

private:
  using Lanes = SmallVector<Value>;
  /// Some consecutive columns of a thread.
  struct Position {
    int64_t step = -1;        ///< of steps that are written out
    Value flat;               ///< the first column
    SmallVector<Value> outer; ///< indices of the outer levels
    Value inner;              ///< within the last level
    Value inside;             ///< whether there are such columns; null: there are
  };

  LogicalResult analyze();
  void emitRow(Value at);
  void emitPass(const RowPass &pass);
  void emitStep(const RowPass &pass, const Position &at, MutableArrayRef<Lanes> acc);
  Position positionOf(Value column, int64_t step);
  Value shuffle(Value v, int32_t distance);
  Value reduceThreads(const RowOp &op, Value v);
  Value sharedSlot(Type type);
  Lanes loadColumns(const RowOperand &input, const Position &at);
  Lanes clone(const RowOp &op, ArrayRef<Lanes> args);
  void storeColumns(ArrayRef<Value> values, Value buffer, const Position &at);
  void storeRowValue(unsigned op);
  bool keepsInRegisters() const { return steps > 0; }

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  const EmitOptions &options;

  int64_t lanes = 1, threadsPerRow = kWarp, steps = 0; ///< steps: 0 when they are a loop
  Value columns, lane;                                 ///< of a row; the thread's number in it
  llvm::DenseMap<Type, Value> slots;

  // Of the row at hand.
  Row row;
  llvm::DenseMap<std::pair<const void *, int64_t>, Lanes> registers; ///< by operand or op, and step
};
} // namespace

LogicalResult RowEmitter::analyze() {
  FailureOr<kernel::CudaRowBlocks> blocks = body.blocks<kernel::CudaRowBlocks>();
  if (failed(blocks) || failed(match(blocks->shapes, options)))
    return failure();
  lanes = blocks->lanes;
  threadsPerRow = blocks->threadsPerRow;
  if (!kernel::hasAlignedColumns(group, lanes))
    return body.refuse("vectors of " + Twine(lanes) + " elements would be cut by its columns");
  columns = body.product(levelSizes);
  if (blocks->steps > 0) {
    if (!group.numColumns.isStatic() ||
        llvm::divideCeil(group.numColumns.factor, lanes * threadsPerRow) != static_cast<uint64_t>(blocks->steps))
      return body.refuse("its strategy has another number of steps than its columns need");
    steps = blocks->steps;
  }
  planPasses(keepsInRegisters() ? INT64_MAX / 2 : 0);
  lane = index.rem(body.thread, index.c(threadsPerRow));
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

RowEmitter::Position RowEmitter::positionOf(Value column, int64_t step) {
  Position at;
  at.step = step;
  at.flat = column;
  if (step >= 0 && (step + 1) * lanes * threadsPerRow > group.numColumns.factor) {
    // Threads behind the end look at the last columns, and what they find is dropped.
    at.inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, columns);
    at.flat = index.min(column, index.c(group.numColumns.factor - lanes));
  }
  at.inner = at.flat;
  if (levelSizes.size() > 1) {
    at.outer = body.unflatten(at.flat, levelSizes);
    at.inner = at.outer.pop_back_val();
  }
  return at;
}

RowEmitter::Lanes RowEmitter::loadColumns(const RowOperand &input, const Position &at) {
  Lanes *kept = at.step >= 0 ? &registers[{&input, at.step}] : nullptr;
  if (kept && !kept->empty())
    return *kept;
  Value buffer = body.flat(input.walk.tensor), offset = row.offsets[&input];
  if (input.flat) {
    offset = index.add(offset, at.flat);
  } else {
    for (auto [level, outer] : llvm::enumerate(at.outer))
      if (!input.levelStrides[level].is(0))
        offset = index.add(offset, index.mul(outer, body.size(input.levelStrides[level])));
    if (input.isVector())
      offset = index.add(offset, at.inner);
  }
  Lanes loaded;
  if (input.isVector())
    loaded = body.loadVector(buffer, offset, lanes);
  else
    loaded.assign(lanes, memref::LoadOp::create(b, buffer, offset));
  if (kept)
    registers[{&input, at.step}] = loaded;
  return loaded;
}

void RowEmitter::storeColumns(ArrayRef<Value> lanesOf, Value buffer, const Position &at) {
  auto store = [&] { body.storeVector(lanesOf, buffer, index.add(row.start, at.flat)); };
  if (at.inside)
    body.when(at.inside, store);
  else
    store();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The value of the thread whose number differs in one bit.
Value RowEmitter::shuffle(Value v, int32_t distance) {
  Type type = v.getType(), i32 = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto c32 = [&](int32_t n) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(n)).getResult(); };
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, i32, c32(-1), word, c32(distance), c32(31), NVVM::ShflKind::bfly, UnitAttr());
  };
  Type bits = b.getIntegerType(width);
  Value word = isa<FloatType>(type) ? arith::BitcastOp::create(b, bits, v).getResult() : v;
  if (width < 32)
    word = arith::TruncIOp::create(b, bits, exchange(arith::ExtUIOp::create(b, i32, word)));
  else if (width == 32)
    word = exchange(word);
  else {
    Value half = arith::ConstantOp::create(b, b.getIntegerAttr(bits, 32));
    Value low = exchange(arith::TruncIOp::create(b, i32, word));
    Value high = exchange(arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, word, half)));
    high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bits, high), half);
    word = arith::OrIOp::create(b, high, arith::ExtUIOp::create(b, bits, low));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, word).getResult() : word;
}

/// A place per warp in shared memory.
Value RowEmitter::sharedSlot(Type type) {
  Value &slot = slots[type];
  if (!slot)
    slot = body.shared(type, body.threads / kWarp);
  return slot;
}

/// The accumulators of all threads of the row as one value, which all get.
Value RowEmitter::reduceThreads(const RowOp &op, Value v) {
  for (int32_t distance = kWarp / 2; distance >= 1; distance /= 2)
    v = combine(op, v, shuffle(v, distance));
  if (threadsPerRow == kWarp)
    return v;
  Value slot = sharedSlot(v.getType()), warp = index.div(body.thread, index.c(kWarp));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index.rem(body.thread, index.c(kWarp)), index.c(0));
  body.barrier(); // what was there has been read
  body.when(isFirst, [&] { memref::StoreOp::create(b, v, slot, warp); });
  body.barrier();
  Value all = memref::LoadOp::create(b, slot, index.c(0));
  for (int64_t other = 1; other < body.threads / kWarp; ++other)
    all = combine(op, all, memref::LoadOp::create(b, slot, index.c(other)));
  return all;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

RowEmitter::Lanes RowEmitter::clone(const RowOp &op, ArrayRef<Lanes> args) {
  Lanes out;
  for (int64_t j = 0; j < lanes; ++j) {
    SmallVector<Value> scalarsOf;
    for (const Lanes &arg : args)
      scalarsOf.push_back(arg[j]);
    out.push_back(cloneBody(b, *op.nest.op.getBody(), scalarsOf)[0]);
  }
  return out;
}

void RowEmitter::emitStep(const RowPass &pass, const Position &at, MutableArrayRef<Lanes> acc) {
  llvm::DenseMap<unsigned, Lanes> here;
  auto isKept = [&](unsigned i) { return plan.places[i].kind != RowPlan::Place::Nowhere; };
  for (unsigned i : pass.reload) {
    if (keepsInRegisters())
      here[i] = registers[{&group.ops[i], at.step}];
    else
      here[i] = body.loadVector(results[plan.places[i].result], index.add(row.start, at.flat), lanes);
  }
  unsigned reduction = 0;
  for (unsigned i : pass.compute) {
    const RowOp &op = group.ops[i];
    SmallVector<Lanes> args;
    for (const RowOperand &input : op.inputs) {
      if (input.source >= 0 && group.ops[input.source].kind == Kind::Full)
        args.push_back(here[input.source]);
      else if (input.source >= 0)
        args.push_back(Lanes(lanes, row.values[input.source]));
      else if (!input.movesAlongColumns())
        args.push_back(Lanes(lanes, row.scalars[&input]));
      else
        args.push_back(loadColumns(input, at));
    }
    if (op.kind != Kind::Reduction) {
      here[i] = clone(op, args);
      continue;
    }
    Lanes &sums = acc[reduction++];
    args.push_back(sums);
    Lanes next = clone(op, args);
    for (auto [sum, value] : llvm::zip(sums, next))
      sum = at.inside ? arith::SelectOp::create(b, at.inside, value, sum).getResult() : value;
  }
  for (unsigned i : pass.store) {
    if (keepsInRegisters() && isKept(i))
      registers[{&group.ops[i], at.step}] = here[i];
    if (keepsInRegisters() ? results[i] != nullptr : isKept(i))
      storeColumns(here[i], results[keepsInRegisters() ? i : plan.places[i].result], at);
  }
}

void RowEmitter::storeRowValue(unsigned i) {
  if (!results[i])
    return;
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, index.c(0));
  body.when(isFirst, [&] { memref::StoreOp::create(b, row.values[i], results[i], row.at); });
}

void RowEmitter::emitPass(const RowPass &pass) {
  SmallVector<unsigned> reductions = reductionsOf(pass);
  SmallVector<Lanes> acc;
  for (unsigned i : reductions)
    acc.push_back(Lanes(lanes, group.ops[i].combiner.start));
  Value first = index.mul(lane, index.c(lanes));
  if (keepsInRegisters()) {
    for (int64_t step = 0; step < steps; ++step)
      emitStep(pass, positionOf(index.add(first, index.c(step * lanes * threadsPerRow)), step), acc);
  } else {
    Lanes carried;
    for (const Lanes &sums : acc)
      llvm::append_range(carried, sums);
    auto loop = scf::ForOp::create(b, first, columns, index.c(lanes * threadsPerRow), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange inside = loop.getRegionIterArgs();
    for (Lanes &sums : acc) {
      sums = Lanes(inside.take_front(lanes));
      inside = inside.drop_front(lanes);
    }
    emitStep(pass, positionOf(loop.getInductionVar(), -1), acc);
    Lanes next;
    for (const Lanes &sums : acc)
      llvm::append_range(next, sums);
    if (!next.empty())
      scf::YieldOp::create(b, next);
    ValueRange after = loop.getResults();
    for (Lanes &sums : acc) {
      sums = Lanes(after.take_front(lanes));
      after = after.drop_front(lanes);
    }
  }
  for (auto [i, sums] : llvm::zip(reductions, acc)) {
    Value sum = sums[0];
    for (Value other : ArrayRef(sums).drop_front())
      sum = combine(group.ops[i], sum, other);
    row.values[i] = reduceThreads(group.ops[i], sum);
    storeRowValue(i);
  }
}

/// All threads of the row do its arithmetic.
void RowEmitter::emitRow(Value at) {
  begin(row, at, columns);
  auto store = [&](unsigned op) { storeRowValue(op); };
  for (auto [k, pass] : llvm::enumerate(plan.passes)) {
    emitRowOps(row, k, store);
    emitPass(pass);
  }
  emitRowOps(row, plan.passes.size(), store);
}

LogicalResult RowEmitter::run() {
  if (failed(analyze()))
    return failure();
  body.forTiles([&](ArrayRef<DeviceBody::TileRange> ranges) {
    Value number = index.div(body.thread, index.c(threadsPerRow));
    Value at = ranges.empty() ? number : index.add(ranges.front().begin, number);
    Value count = ranges.empty() ? index.c(1) : ranges.front().count;
    std::optional<int64_t> known = getConstantIntValue(count);
    if (known == body.threads / threadsPerRow)
      emitRow(at);
    else // Warps without a row wait for nobody: a row of several warps is one of a block of its own.
      body.when(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, count), [&] { emitRow(at); });
  });
  body.finish();
  return success();
}

LogicalResult cuda::emitRows(DeviceBody &body, const EmitOptions &options) { return RowEmitter(body, options).run(); }
