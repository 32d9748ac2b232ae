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
#include "optc/codegen/cpu/VectorBody.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/codegen/cuda/Epilogue.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::Contraction;
using kernel::NestOperand;
using kernel::SizeExpr;

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
      : body(body), b(body.b), index(body.index), options(options), epilogue(body) {}
  LogicalResult run();

private:
  void emitTile(ArrayRef<DeviceBody::TileRange> ranges);
  Loader loaderOf(unsigned operand, ArrayRef<unsigned> loops, int64_t rows, Value begin);
  bool isAligned(const NestOperand &operand, unsigned along, int64_t lanes) const;
  Value offsetAlong(const NestOperand &operand, ArrayRef<unsigned> loops, Value flat);
  Value localRow(const Loader &l, int64_t access);
  Value localDepth(const Loader &l, int64_t access);
  SmallVector<Value> load(const Loader &l, Value k);
  void storeShared(const Loader &l, ValueRange values);
  SmallVector<Value> multiply(const Loader &a, const Loader &bOperand, ValueRange sums);
  void storeTile(ValueRange sums, Value mBegin, Value nBegin);

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  cpu::IndexEmitter index;
  const EmitOptions &options;
  Contraction c;
  Epilogue epilogue;
  kernel::CudaSimtGemmBlocks blocks;
  Value sharedA, sharedB;
  Value depthSize, threadRow, threadColumn;
  SmallVector<std::pair<unsigned, Value>> outer; ///< loops with their positions
  int64_t vectorColumns = 1;                     ///< columns of a thread that lie side by side
};
} // namespace

/// Rows of shared memory are this much longer, so that columns of it lie in different banks.
static constexpr int64_t kPadding = 4;

Value GemmEmitter::offsetAlong(const NestOperand &operand, ArrayRef<unsigned> loops, Value flat) {
  if (llvm::none_of(loops, [&](unsigned loop) { return operand.moves(loop); }))
    return index.c(0);
  if (c.nest.isFlat(operand, loops))
    return index.mul(flat, body.size(operand.strides[loops.back()]));
  SmallVector<Value> sizes = llvm::map_to_vector(loops, [&](unsigned loop) { return body.size(c.nest.sizes[loop]); });
  Value offset = index.c(0);
  for (auto [loop, at] : llvm::zip(loops, body.unflatten(flat, sizes)))
    if (operand.moves(loop))
      offset = index.add(offset, index.mul(at, body.size(operand.strides[loop])));
  return offset;
}

/// Whether `lanes` elements along a loop, from multiples of `lanes` on, are an aligned vector.
bool GemmEmitter::isAligned(const NestOperand &operand, unsigned along, int64_t lanes) const {
  if (!operand.strides[along].is(1) || c.nest.sizes[along].factor % lanes)
    return false;
  for (unsigned loop = 0; loop < c.nest.numLoops(); ++loop)
    if (loop != along && operand.strides[loop].factor % lanes)
      return false;
  return true;
}

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
      if (isAligned(*l.operand, l.alongDepth ? c.k.back() : loops.back(), lanes) && extent % lanes == 0)
        l.lanes = lanes;
  l.count = llvm::divideCeil(rows * blocks.depth, body.threads * l.lanes);
  for (int64_t i = 0; i < l.count; ++i) {
    Value row = index.min(index.add(begin, localRow(l, i)), index.sub(l.size, index.c(l.alongDepth ? 1 : l.lanes)));
    Value place = offsetAlong(*l.operand, loops, row);
    for (auto [loop, at] : outer)
      if (l.operand->moves(loop))
        place = index.add(place, index.mul(at, body.size(l.operand->strides[loop])));
    l.places.push_back(place);
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
      return body.loadVector(l.buffer, index.add(l.places[i], offsetAlong(*l.operand, c.k, from)), l.lanes);
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
        sum = cpu::cloneOnVectors(b, block, args, 0, [](unsigned) { return Value(); })[0];
      }
  }
  return acc;
}

void GemmEmitter::storeTile(ValueRange sums, Value mBegin, Value nBegin) {
  Value m = body.size(c.nest.sizeOf(c.m)), n = body.size(c.nest.sizeOf(c.n));
  int64_t lanes = vectorColumns;
  while (lanes > 1 && !epilogue.allowsVectors(lanes))
    lanes /= 2;
  auto less = [&](Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y).getResult(); };
  for (int64_t i = 0; i < blocks.rows; ++i) {
    Value row = index.add(mBegin, index.add(index.mul(threadRow, index.c(blocks.rows)), index.c(i)));
    body.when(less(row, m), [&] {
      for (int64_t j = 0; j < blocks.columns; j += lanes) {
        Value first = index.add(index.mul(threadColumn, index.c(vectorColumns)),
                                index.c(j / vectorColumns * vectorColumns * blocks.threadColumns + j % vectorColumns));
        Value column = index.add(nBegin, first);
        body.when(less(column, n), [&] {
          SmallVector<Value> own(sums.slice(i * blocks.columns + j, lanes));
          epilogue.store(own, [&](const NestOperand &operand) {
            Value offset = index.add(offsetAlong(operand, c.m, row), offsetAlong(operand, c.n, column));
            for (auto [loop, at] : outer)
              if (operand.moves(loop))
                offset = index.add(offset, index.mul(at, body.size(operand.strides[loop])));
            return offset;
          });
        });
      }
    });
  }
}

void GemmEmitter::emitTile(ArrayRef<DeviceBody::TileRange> ranges) {
  Value mBegin = index.c(0), nBegin = index.c(0);
  outer.clear();
  AffineMap map = c.nest.op.getIndexingMapsArray().back();
  for (auto [group, range] : llvm::zip(kernel::tileGroups(body.strategy), ranges)) {
    if (c.rows.count && group.firstDim == c.rows.first)
      mBegin = range.begin;
    else if (group.firstDim == c.columns.first)
      nBegin = range.begin;
    else
      outer.push_back({cast<AffineDimExpr>(map.getResult(group.firstDim)).getPosition(), range.begin});
  }
  Loader a = loaderOf(c.a, c.m, blocks.tileRows(), mBegin), right = loaderOf(c.b, c.n, blocks.tileColumns(), nBegin);
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
  storeTile(loop.getResults().take_front(numSums), mBegin, nBegin);
}

LogicalResult GemmEmitter::run() {
  auto refuse = [&](StringRef why) {
    return body.func.emitError("the cuda-simt-gemm family cannot emit kernel '") << body.func.getName() << "': " << why;
  };
  FailureOr<kernel::CudaSimtGemmBlocks> read = kernel::CudaSimtGemmBlocks::get(body.strategy);
  if (failed(read))
    return refuse("its strategy has blocks of another family");
  blocks = *read;
  linalg::GenericOp root;
  for (linalg::LinalgOp op : body.ops())
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
        generic && generic.getNumReductionLoops() && !root)
      root = generic;
  if (!root)
    return refuse("it has no product");
  std::string why;
  FailureOr<Contraction> match = kernel::matchContraction(root, &why);
  if (failed(match))
    return refuse(why);
  c = std::move(*match);
  for (unsigned operand : {c.a, c.b})
    if (!body.flat(c.nest.operands[operand].tensor))
      return refuse("an operand has no buffer");
  if (kernel::tileGroups(body.strategy).size() !=
      static_cast<size_t>(cast<RankedTensorType>(root.getResult(0).getType()).getRank()) -
          (c.rows.count ? c.rows.count - 1 : 0) - (c.columns.count - 1))
    return refuse("its tiles are not those of rows and columns");
  if (options.contract)
    cpu::allowContraction({root});
  if (failed(epilogue.collect(c.nest, c.n, options.contract)))
    return failure();
  Type elem = cast<ShapedType>(root.getResult(0).getType()).getElementType();
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
