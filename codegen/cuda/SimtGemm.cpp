//===- SimtGemm.cpp - products on the CUDA cores --------------------------===//
//
// result[outer, m, n] = epilogue(sum over k of a[outer, m, k] * b[outer, k, n]): matrices, batches of them, and
// convolutions, whose windows are addresses. A block has a tile of rows x columns; `depth` steps of the sums at a time
// are in shared memory, from where a thread takes rows and columns into registers:
//
//   next = load(k = 0)
//   for k = 0, depth, ...:
//     shared = next; barrier; next = load(k + depth)     while it is on its way:
//     for kk < depth: sums[i][j] += a[kk][i] * b[kk][j]
//     barrier
//   epilogue(sums)
//
// Rows and columns behind the end are read at the last ones and not stored; steps behind the end are zeros.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/codegen/cuda/Product.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::NestOperand;

namespace {
/// How a block brings rows x depth elements of an operand (columns x depth of b) into shared memory.
struct Loader {
  const NestOperand *operand;
  ArrayRef<unsigned> loops; ///< of m or n
  int64_t rows;             ///< of the tile
  bool alongDepth;          ///< neighbouring threads read neighbours along k, else along the rows
  int64_t lanes;            ///< elements of an access
  int64_t count;            ///< accesses per thread
  Value buffer, shared;     ///< shared: [depth][rows + padding]
  int64_t pitch;
  Value begin, size;         ///< first row of the tile, and rows of the operand
  SmallVector<Value> places; ///< offset of the first element of each access, without k
};

class GemmEmitter {
public:
  GemmEmitter(DeviceBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), product(body) {}
  LogicalResult run();

private:
  void emitTile(ArrayRef<DeviceBody::TileRange> ranges);
  Loader loaderOf(unsigned operand, ArrayRef<unsigned> loops, int64_t rows, Value begin);
  Value localRow(const Loader &l, int64_t access);
  Value localDepth(const Loader &l, int64_t access);
  SmallVector<Value> load(const Loader &l, Value k);
  void storeShared(const Loader &l, ValueRange values);
  SmallVector<Value> multiply(const Loader &a, const Loader &bOperand, ValueRange sums);
  void storeTile(ValueRange sums);

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  const EmitOptions &options;
  Product product;
  const kernel::Contraction &c = product.c;
  kernel::CudaSimtGemmBlocks blocks;
  Value sharedA, sharedB;
  Value depthSize, threadRow, threadColumn;
  int64_t vectorColumns = 1; ///< columns of a thread that lie side by side
};
} // namespace

/// Rows of shared memory are this much longer, so that columns of it lie in different banks.
static constexpr int64_t kPadding = 4;

Loader GemmEmitter::loaderOf(unsigned number, ArrayRef<unsigned> loops, int64_t rows, Value begin) {
  Loader l;
  l.operand = &c.nest.operands[number];
  l.loops = loops;
  l.rows = rows;
  l.begin = begin;
  l.size = body.size(c.nest.sizeOf(loops));
  l.buffer = body.flat(l.operand->tensor);
  l.shared = number == c.a ? sharedA : sharedB;
  l.pitch = rows + kPadding;
  bool runs = !loops.empty() && l.operand->strides[loops.back()].is(1);
  l.alongDepth = !runs && !c.k.empty();
  int64_t bytes = cast<MemRefType>(l.buffer.getType()).getElementTypeBitWidth() / 8;
  int64_t extent = l.alongDepth ? blocks.depth : rows;
  l.lanes = 1;
  if (l.alongDepth || runs)
    for (int64_t lanes = 16 / bytes; lanes > 1 && l.lanes == 1; lanes /= 2)
      if (product.isAligned(*l.operand, l.alongDepth ? c.k.back() : loops.back(), lanes) && extent % lanes == 0)
        l.lanes = lanes;
  l.count = llvm::divideCeil(rows * blocks.depth, body.threads * l.lanes);
  for (int64_t i = 0; i < l.count; ++i) {
    Value row = index.min(index.add(begin, localRow(l, i)), index.sub(l.size, index.c(l.alongDepth ? 1 : l.lanes)));
    l.places.push_back(product.outerOffset(*l.operand, product.offsetAlong(*l.operand, loops, row)));
  }
  return l;
}

/// The first row, and the first step of the sum, of a thread's access.
Value GemmEmitter::localRow(const Loader &l, int64_t access) {
  Value number = index.add(body.thread, index.c(access * body.threads));
  if (l.alongDepth)
    return index.div(number, index.c(blocks.depth / l.lanes));
  return index.mul(index.rem(number, index.c(l.rows / l.lanes)), index.c(l.lanes));
}
Value GemmEmitter::localDepth(const Loader &l, int64_t access) {
  Value number = index.add(body.thread, index.c(access * body.threads));
  if (l.alongDepth)
    return index.mul(index.rem(number, index.c(blocks.depth / l.lanes)), index.c(l.lanes));
  return index.div(number, index.c(l.rows / l.lanes));
}

/// A thread's elements of the steps from k on.
SmallVector<Value> GemmEmitter::load(const Loader &l, Value k) {
  SmallVector<Value> values;
  std::optional<int64_t> known = getConstantIntValue(depthSize);
  bool whole = known && *known % blocks.depth == 0;
  int64_t alongK = l.alongDepth ? l.lanes : 1;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(cast<MemRefType>(l.buffer.getType()).getElementType()));
  for (int64_t i = 0; i < l.count; ++i) {
    Value at = index.add(k, localDepth(l, i));
    auto read = [&](Value from) {
      return body.loadVector(l.buffer, index.add(l.places[i], product.offsetAlong(*l.operand, c.k, from)), l.lanes);
    };
    if (whole) { // the load ahead of the last step is of what was there already
      llvm::append_range(values, read(index.min(at, index.sub(depthSize, index.c(alongK)))));
      continue;
    }
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, depthSize);
    SmallVector<Type> types(l.lanes, zero.getType());
    auto branch = scf::IfOp::create(b, types, inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, read(at));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, SmallVector<Value>(l.lanes, zero));
    llvm::append_range(values, branch.getResults());
  }
  return values;
}

void GemmEmitter::storeShared(const Loader &l, ValueRange values) {
  for (int64_t i = 0; i < l.count; ++i) {
    ValueRange own = values.slice(i * l.lanes, l.lanes);
    Value row = localRow(l, i), depth = localDepth(l, i);
    auto store = [&] {
      Value place = index.add(index.mul(depth, index.c(l.pitch)), row);
      if (!l.alongDepth)
        return body.storeVector(own, l.shared, place);
      for (auto [j, v] : llvm::enumerate(own))
        memref::StoreOp::create(b, v, l.shared, index.add(place, index.c(j * l.pitch)));
    };
    // The last accesses may be of fewer threads.
    if ((i + 1) * body.threads * l.lanes <= l.rows * blocks.depth)
      store();
    else
      body.when(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index.add(body.thread, index.c(i * body.threads)),
                                      index.c(l.rows * blocks.depth / l.lanes)),
                store);
  }
}

SmallVector<Value> GemmEmitter::multiply(const Loader &a, const Loader &right, ValueRange sums) {
  SmallVector<Value> acc(sums);
  Block &block = *c.nest.op.getBody();
  for (int64_t kk = 0; kk < blocks.depth; ++kk) {
    auto read = [&](const Loader &l, Value first, int64_t count, SmallVectorImpl<Value> &out) {
      int64_t bytes = cast<MemRefType>(l.buffer.getType()).getElementTypeBitWidth() / 8;
      int64_t width = std::min(count, 16 / bytes);
      while (count % width || (width & (width - 1)))
        --width;
      for (int64_t i = 0; i < count; i += width)
        llvm::append_range(out, body.loadVector(l.shared, index.add(index.c(kk * l.pitch + i), first), width));
    };
    SmallVector<Value> left, columns;
    read(a, index.mul(threadRow, index.c(blocks.rows)), blocks.rows, left);
    for (int64_t j = 0; j < blocks.columns; j += vectorColumns)
      read(right, index.add(index.c(j * blocks.threadColumns), index.mul(threadColumn, index.c(vectorColumns))),
           vectorColumns, columns);
    for (int64_t i = 0; i < blocks.rows; ++i)
      for (int64_t j = 0; j < blocks.columns; ++j) {
        SmallVector<Value> args(3);
        args[c.a] = left[i];
        args[c.b] = columns[j];
        Value &sum = acc[i * blocks.columns + j];
        args[2] = sum;
        sum = codegen::cloneBody(b, block, args)[0];
      }
  }
  return acc;
}

void GemmEmitter::storeTile(ValueRange sums) {
  Value m = body.size(c.nest.sizeOf(c.m)), n = body.size(c.nest.sizeOf(c.n));
  int64_t lanes = vectorColumns;
  while (lanes > 1 && !product.epilogue.allowsVectors(lanes))
    lanes /= 2;
  auto less = [&](Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y).getResult(); };
  for (int64_t i = 0; i < blocks.rows; ++i) {
    Value row = index.add(product.mBegin, index.add(index.mul(threadRow, index.c(blocks.rows)), index.c(i)));
    body.when(less(row, m), [&] {
      for (int64_t j = 0; j < blocks.columns; j += lanes) {
        Value first = index.add(index.mul(threadColumn, index.c(vectorColumns)),
                                index.c(j / vectorColumns * vectorColumns * blocks.threadColumns + j % vectorColumns));
        Value column = index.add(product.nBegin, first);
        body.when(less(column, n),
                  [&] { product.store(SmallVector<Value>(sums.slice(i * blocks.columns + j, lanes)), row, column); });
      }
    });
  }
}

void GemmEmitter::emitTile(ArrayRef<DeviceBody::TileRange> ranges) {
  product.enterTile(ranges);
  Loader a = loaderOf(c.a, c.m, blocks.tileRows(), product.mBegin);
  Loader right = loaderOf(c.b, c.n, blocks.tileColumns(), product.nBegin);
  Value start = c.nest.op.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  SmallVector<Value> carried(blocks.rows * blocks.columns, start);
  size_t numSums = carried.size();
  llvm::append_range(carried, load(a, index.c(0)));
  size_t numA = carried.size() - numSums;
  llvm::append_range(carried, load(right, index.c(0)));
  auto loop = scf::ForOp::create(b, index.c(0), depthSize, index.c(blocks.depth), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange args = loop.getRegionIterArgs();
    storeShared(a, args.slice(numSums, numA));
    storeShared(right, args.drop_front(numSums + numA));
    body.barrier();
    Value ahead = index.add(loop.getInductionVar(), index.c(blocks.depth));
    SmallVector<Value> nextA = load(a, ahead), nextB = load(right, ahead);
    SmallVector<Value> next = multiply(a, right, args.take_front(numSums));
    body.barrier();
    llvm::append_range(next, nextA);
    llvm::append_range(next, nextB);
    scf::YieldOp::create(b, next);
  }
  storeTile(loop.getResults().take_front(numSums));
}

LogicalResult GemmEmitter::run() {
  FailureOr<kernel::CudaSimtGemmBlocks> read = body.blocks<kernel::CudaSimtGemmBlocks>();
  if (failed(read) || failed(product.match(kernel::matchContraction, options.contract)))
    return failure();
  blocks = *read;
  Type elem = cast<ShapedType>(c.nest.op.getResult(0).getType()).getElementType();
  vectorColumns = std::min<int64_t>(blocks.columns, 16 / (elem.getIntOrFloatBitWidth() / 8));
  sharedA = body.shared(elem, blocks.depth * (blocks.tileRows() + kPadding));
  sharedB = body.shared(elem, blocks.depth * (blocks.tileColumns() + kPadding));
  depthSize = body.size(c.nest.sizeOf(c.k));
  threadRow = index.div(body.thread, index.c(blocks.threadColumns));
  threadColumn = index.rem(body.thread, index.c(blocks.threadColumns));
  body.forTiles([&](ArrayRef<DeviceBody::TileRange> ranges) { emitTile(ranges); });
  body.finish();
  return success();
}

LogicalResult cuda::emitSimtGemm(DeviceBody &body, const EmitOptions &options) {
  return GemmEmitter(body, options).run();
}
