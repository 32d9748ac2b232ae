//===- Pack.cpp - matrices into panels at run time ------------------------===//
//
// One tile is one panel: k rows of `lanes` columns. Where the source is contiguous along its columns, rows are copied
// by vectors; where it is contiguous along k, square blocks are transposed in registers; anything else goes element by
// element, and so do groups of k.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;

namespace {

/// A flattened list of the source's dimensions.
struct Axis {
  SmallVector<Value> sizes, strides;
  bool flat = true; ///< its positions are evenly spaced
  Value extent;
};

class PackEmitter {
public:
  PackEmitter(KernelBody &body, kernel::PackOp op)
      : body(body), b(body.b), index(body.index), op(op), source(body.flat(op.getSource())),
        dest(body.destination(op.getResult())), lanes(kernel::PackBlocks::get(body.strategy).lanes),
        width(op.getPacking().getLanes()), depth(op.getPacking().getDepth()) {
    Type elem = cast<MemRefType>(source.getType()).getElementType();
    vectorType = VectorType::get({lanes}, elem);
  }
  void run();

private:
  Axis axisOf(ArrayRef<int64_t> dims);
  Value offset(const Axis &axis, Value at);
  void emitPanel(Value from, Value to, Value column);
  void copyRows(Value from, Value to, Value column, Value columns);
  void transposeBlocks(Value from, Value to, Value column);
  void copyElements(Value from, Value to, Value column, Value kBegin);
  void copyGroups(Value from, Value to, Value column);
  void loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> emit);

  KernelBody &body;
  ImplicitLocOpBuilder &b;
  IndexEmitter index;
  kernel::PackOp op;
  Value source, dest;
  int64_t lanes, width, depth;
  VectorType vectorType;
  Axis n, k, kRun; ///< of groups: k without its run, and the run that they are cut from
};

} // namespace

void PackEmitter::loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> emit) {
  auto loop = scf::ForOp::create(b, begin, end, index.c(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emit(loop.getInductionVar());
}

Axis PackEmitter::axisOf(ArrayRef<int64_t> dims) {
  Axis axis;
  axis.extent = index.c(1);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getSource().getType()).getShape();
  SmallVector<int64_t> stored = kernel::storedShape(op.getSource());
  int64_t rank = shape.size();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Value stride = index.c(1);
    for (int64_t inner = dim + 1; inner < rank; ++inner)
      stride = index.mul(stride, body.storedDim(op.getSource(), inner));
    axis.sizes.push_back(body.dim(op.getSource(), dim));
    axis.strides.push_back(stride);
    axis.extent = index.mul(axis.extent, axis.sizes.back());
    axis.flat &= i == 0 || (dims[i - 1] + 1 == dim && stored[dim] == shape[dim]);
  }
  if (dims.empty())
    axis.strides.push_back(index.c(1));
  return axis;
}

Value PackEmitter::offset(const Axis &axis, Value at) {
  if (axis.flat)
    return index.mul(at, axis.strides.back());
  Value sum = index.c(0), rest = at;
  for (size_t i = axis.sizes.size(); i-- > 0;) {
    Value position = i == 0 ? rest : index.rem(rest, axis.sizes[i]);
    rest = i == 0 ? rest : index.div(rest, axis.sizes[i]);
    sum = index.add(sum, index.mul(position, axis.strides[i]));
  }
  return sum;
}

void PackEmitter::copyElements(Value from, Value to, Value column, Value kBegin) {
  Value last = index.sub(n.extent, index.c(1));
  loop(kBegin, k.extent, 1, [&](Value row) {
    loop(index.c(0), index.c(width), 1, [&](Value lane) {
      Value at = index.add(from, index.add(offset(n, index.min(index.add(column, lane), last)), offset(k, row)));
      Value element = memref::LoadOp::create(b, source, at);
      memref::StoreOp::create(b, element, dest, index.add(to, index.add(index.mul(row, index.c(width)), lane)));
    });
  });
}

void PackEmitter::copyRows(Value from, Value to, Value column, Value columns) {
  Value full = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, columns, index.c(width));
  auto rows = [&](bool masked) {
    SmallVector<Value> masks;
    for (int64_t v = 0; v < width; v += lanes)
      masks.push_back(masked ? vector::CreateMaskOp::create(b, VectorType::get({lanes}, b.getI1Type()),
                                                            index.sub(columns, index.c(v)))
                                   .getResult()
                             : Value());
    loop(index.c(0), k.extent, 1, [&](Value row) {
      Value at = index.add(from, index.add(offset(n, column), offset(k, row)));
      Value store = index.add(to, index.mul(row, index.c(width)));
      for (auto [i, mask] : llvm::enumerate(masks)) {
        Value next = index.add(at, index.c(i * lanes));
        Value v = mask ? vector::MaskedLoadOp::create(b, vectorType, source, next, mask,
                                                      arith::ConstantOp::create(b, b.getZeroAttr(vectorType)))
                             .getResult()
                       : vector::LoadOp::create(b, vectorType, source, next).getResult();
        vector::StoreOp::create(b, v, dest, index.add(store, index.c(i * lanes)));
      }
    });
  };
  auto branch = scf::IfOp::create(b, full, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  rows(false);
  b.setInsertionPointToStart(branch.elseBlock());
  rows(true);
}

/// Elements of `depth` steps of k side by side in each lane. The last group has zeros behind the end of the run, or in
/// front (lastGroupEndsRun).
void PackEmitter::copyGroups(Value from, Value to, Value column) {
  bool endsRun = kernel::lastGroupEndsRun(cast<RankedTensorType>(op.getSource().getType()), op.getPacking());
  Value last = index.sub(n.extent, index.c(1)), d = index.c(depth);
  Value whole = index.div(kRun.extent, d), groups = index.div(index.add(kRun.extent, index.c(depth - 1)), d);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vectorType.getElementType()));
  loop(index.c(0), k.extent, 1, [&](Value outer) {
    Value begin = index.add(from, offset(k, outer));
    auto emit = [&](Value first, Value end, bool full) {
      loop(first, end, 1, [&](Value group) {
        Value store = index.add(to, index.mul(index.add(index.mul(outer, groups), group), index.c(width * depth)));
        loop(index.c(0), index.c(width), 1, [&](Value lane) {
          Value at = index.add(begin, offset(n, index.min(index.add(column, lane), last)));
          for (int64_t i = 0; i < depth; ++i) {
            Value first = index.mul(group, d), step = index.add(first, index.c(i)), inside;
            if (!full && endsRun) {
              step = index.add(index.sub(kRun.extent, d), index.c(i));
              inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, step, first);
            } else if (!full) {
              inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, kRun.extent);
              step = index.min(step, index.sub(kRun.extent, index.c(1)));
            }
            Value element = memref::LoadOp::create(b, source, index.add(at, offset(kRun, step)));
            if (inside)
              element = arith::SelectOp::create(b, inside, element, zero);
            memref::StoreOp::create(b, element, dest, index.add(store, index.add(index.mul(lane, d), index.c(i))));
          }
        });
      });
    };
    emit(index.c(0), whole, /*full=*/true);
    if (getConstantIntValue(index.rem(kRun.extent, d)) != 0)
      emit(whole, groups, /*full=*/false);
  });
}

/// `lanes` columns of `lanes` steps of k at a time. A round interleaves row i with row i + lanes/2; the bits of an
/// element's row and column rotate by one, so log2(lanes) rounds transpose.
void PackEmitter::transposeBlocks(Value from, Value to, Value column) {
  Value last = index.sub(n.extent, index.c(1));
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < lanes; ++i) {
    low.push_back(i / 2 + (i % 2) * lanes);
    high.push_back(low.back() + lanes / 2);
  }
  Value whole = index.mul(index.div(k.extent, index.c(lanes)), index.c(lanes));
  for (int64_t v = 0; v < width; v += lanes) {
    SmallVector<Value> starts; // behind the last column: the last one again
    for (int64_t i = 0; i < lanes; ++i)
      starts.push_back(index.add(from, offset(n, index.min(index.add(column, index.c(v + i)), last))));
    loop(index.c(0), whole, lanes, [&](Value row) {
      SmallVector<Value> block;
      for (Value start : starts)
        block.push_back(vector::LoadOp::create(b, vectorType, source, index.add(start, row)));
      for (int64_t round = 1; round < lanes; round *= 2) {
        SmallVector<Value> next;
        for (int64_t i = 0; i < lanes / 2; ++i)
          for (const auto &mask : {low, high})
            next.push_back(vector::ShuffleOp::create(b, block[i], block[i + lanes / 2], mask));
        block = std::move(next);
      }
      for (int64_t i = 0; i < lanes; ++i)
        vector::StoreOp::create(
            b, block[i], dest,
            index.add(to, index.add(index.mul(index.add(row, index.c(i)), index.c(width)), index.c(v))));
    });
  }
  copyElements(from, to, column, whole);
}

void PackEmitter::emitPanel(Value from, Value to, Value column) {
  auto isOne = [](Value v) { return getConstantIntValue(v) == 1; };
  if (depth > 1)
    copyGroups(from, to, column);
  else if (n.flat && isOne(n.strides.back()))
    copyRows(from, to, column, index.sub(n.extent, column));
  else if (k.flat && isOne(k.strides.back()))
    transposeBlocks(from, to, column);
  else
    copyElements(from, to, column, index.c(0));
}

void PackEmitter::run() {
  kernel::PackingAttr packing = op.getPacking();
  n = axisOf(packing.getN());
  k = axisOf(packing.getK().asArrayRef().drop_back(packing.getRun()));
  kRun = axisOf(packing.getK().asArrayRef().take_back(packing.getRun()));
  Axis outer = axisOf(packing.getOuter());
  body.forTiles([&](ArrayRef<KernelBody::TileRange> ranges) {
    // One group per outer dimension, then the panels.
    Value from = index.c(0), matrix = index.c(0);
    for (auto [range, size, stride] : llvm::zip(ranges, outer.sizes, outer.strides)) {
      from = index.add(from, index.mul(range.begin, stride));
      matrix = index.add(index.mul(matrix, size), range.begin);
    }
    Value groups = index.div(index.add(kRun.extent, index.c(depth - 1)), index.c(depth));
    Value panel = ranges.back().begin, elements = index.mul(index.mul(k.extent, groups), index.c(width * depth));
    Value panels = index.div(index.add(n.extent, index.c(width - 1)), index.c(width));
    Value to = index.mul(index.add(index.mul(matrix, panels), panel), elements);
    emitPanel(from, to, index.mul(panel, index.c(width)));
  });
  body.finish();
}

LogicalResult cpu::emitPack(KernelBody &body, const EmitOptions &) {
  kernel::PackOp pack;
  body.func.walk([&](kernel::PackOp op) { pack = op; });
  if (!pack)
    return body.func.emitError("kernel '") << body.func.getName() << "' has nothing to pack";
  PackEmitter(body, pack).run();
  return success();
}
