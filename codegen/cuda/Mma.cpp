//===- Mma.cpp - products by warps -----------------------------------------===//
//
// As cuda-gemm, for any sizes and strides, and for convolutions, whose windows are addresses. A block has a tile of
// rows x columns; `depth` steps of the sums at a time come to one of two stages in shared memory while the other is
// used:
//
//   copy k = 0 to stage 0
//   for k = 0, depth, ...:
//     copy k + depth to the other stage       cp.async where 4 bytes or more lie side by side
//     wait until the copies of k are there; barrier
//     for 16 steps each: fragments by ldmatrix; products
//     barrier
//   sums to shared memory; epilogue
//
// What is behind the end of an operand is zero in shared memory.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/codegen/cuda/Product.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::CudaMmaBlocks;
using kernel::NestOperand;

/// Elements behind a row of a stage, so that the 8 rows of a matrix lie in different banks; floats behind one of sums.
static constexpr int64_t kPadding = 8, kSumPadding = 4;
static constexpr int64_t kStages = 2, kElementBytes = 2;

namespace {
/// How a block brings an operand's part of a tile to shared memory.
struct Loader {
  const NestOperand *operand;
  ArrayRef<unsigned> loops; ///< of rows: m, or n for b
  int64_t rows;
  bool alongDepth;       ///< neighbours in shared memory lie along k, else along the rows
  int64_t lanes;         ///< elements of a copy
  int64_t count;         ///< copies of a thread
  Value buffer, address; ///< address: of the first stage
  Value begin, size;
  int64_t pitch;
  int64_t stageBytes() const { return (alongDepth ? rows : depth) * pitch * kElementBytes; }
  int64_t depth;
};

class MmaEmitter {
public:
  MmaEmitter(DeviceBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), product(body) {}
  LogicalResult run();

private:
  Loader loaderOf(unsigned operand, ArrayRef<unsigned> loops, int64_t rows);
  void copy(const Loader &l, Value k, Value stage);
  SmallVector<Value> multiply(ValueRange sums, Value stage);
  void emitTile(ArrayRef<DeviceBody::TileRange> ranges);
  void storeSums(ValueRange sums);

  Value c32(int64_t v) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(v)); }
  Value to32(Value v) { return arith::IndexCastOp::create(b, b.getI32Type(), v); }
  Value less(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y); }
  /// The address of element (row, k) of a stage.
  Value place(const Loader &l, Value stage, Value row, Value k) {
    Value element =
        l.alongDepth ? index.add(index.mul(row, index.c(l.pitch)), k) : index.add(index.mul(k, index.c(l.pitch)), row);
    Value bytes = index.add(index.mul(stage, index.c(l.stageBytes())), index.mul(element, index.c(kElementBytes)));
    return LLVM::GEPOp::create(b, l.address.getType(), b.getI8Type(), l.address, ValueRange{to32(bytes)});
  }

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  const EmitOptions &options;
  Product product;
  CudaMmaBlocks blocks = {};
  Loader left, right;
  Value depthSize, warpRow, warpColumn, lane, sumsAddress;
  std::string mma;
};
} // namespace

Loader MmaEmitter::loaderOf(unsigned number, ArrayRef<unsigned> loops, int64_t rows) {
  const kernel::Contraction &c = product.c;
  Loader l = {};
  l.operand = &c.nest.operands[number];
  l.loops = loops;
  l.rows = rows;
  l.depth = blocks.depth;
  bool runs = !loops.empty() && l.operand->strides[loops.back()].is(1);
  l.alongDepth = !runs;
  l.lanes = 1;
  unsigned along = runs ? loops.back() : c.k.empty() ? 0 : c.k.back();
  if (runs || !c.k.empty())
    for (int64_t lanes : {8, 4, 2})
      if (l.lanes == 1 && product.isAligned(*l.operand, along, lanes))
        l.lanes = lanes;
  l.count = llvm::divideCeil(rows * blocks.depth, body.threads * l.lanes);
  l.buffer = body.flat(l.operand->tensor);
  l.pitch = (l.alongDepth ? blocks.depth : rows) + kPadding;
  l.address = body.sharedAddress(kStages * l.stageBytes(), 128);
  l.size = body.size(c.nest.sizeOf(loops));
  return l;
}

/// Copies the steps from k on to a stage.
void MmaEmitter::copy(const Loader &l, Value k, Value stage) {
  const kernel::Contraction &c = product.c;
  int64_t perLine = (l.alongDepth ? blocks.depth : l.rows) / l.lanes;
  int64_t total = l.rows * blocks.depth / l.lanes;
  Value outer = product.outerOffset(*l.operand);
  for (int64_t i = 0; i < l.count; ++i) {
    auto one = [&] {
      Value number = index.add(body.thread, index.c(i * body.threads));
      Value line = index.div(number, index.c(perLine));
      Value first = index.mul(index.rem(number, index.c(perLine)), index.c(l.lanes));
      Value localRow = l.alongDepth ? line : first, localDepth = l.alongDepth ? first : line;
      Value row = index.add(l.begin, localRow), at = index.add(k, localDepth);
      Value inside = arith::AndIOp::create(b, less(row, l.size), less(at, depthSize));
      // What is outside is not read, but has an address.
      auto clamped = [&](Value v) { return arith::SelectOp::create(b, inside, v, index.c(0)).getResult(); };
      Value offset = index.add(index.add(product.offsetAlong(*l.operand, l.loops, clamped(row)),
                                         product.offsetAlong(*l.operand, c.k, clamped(at))),
                               outer);
      Value to = place(l, stage, localRow, localDepth);
      if (l.lanes == 1) {
        Value zero = arith::ConstantOp::create(b, b.getZeroAttr(cast<MemRefType>(l.buffer.getType()).getElementType()));
        Value v = memref::LoadOp::create(b, l.buffer, offset);
        v = arith::SelectOp::create(b, inside, v, zero);
        LLVM::StoreOp::create(b, v, to);
        return;
      }
      int64_t bytes = l.lanes * kElementBytes;
      auto global = LLVM::LLVMPointerType::get(b.getContext(), 1);
      Value base = l.buffer.getDefiningOp<kernel::BindOp>().getPtr();
      Value from = LLVM::AddrSpaceCastOp::create(b, global, base);
      Value offset64 = arith::IndexCastOp::create(b, b.getI64Type(), index.mul(offset, index.c(kElementBytes)));
      from = LLVM::GEPOp::create(b, global, b.getI8Type(), from, ValueRange{offset64});
      Value read = arith::SelectOp::create(b, inside, c32(bytes), c32(0));
      callDeviceFunction(b, b.getLoc(), "cp.async." + std::to_string(bytes) + ".zfill", {to, from, read});
    };
    if ((i + 1) * body.threads <= total)
      one();
    else
      body.when(less(index.add(body.thread, index.c(i * body.threads)), index.c(total)), one);
  }
}

/// The products of one stage. Fragments as in the PTX ISA, "mma.m16n8k16": four 8x8 matrices of 16 rows x 16 steps for
/// a, two for 8 columns of b; lane 8 * j + r gives the address of row r of matrix j.
SmallVector<Value> MmaEmitter::multiply(ValueRange sums, Value stage) {
  SmallVector<Value> acc(sums);
  Value matrix = index.div(lane, index.c(8)), r = index.rem(lane, index.c(8));
  Value odd = index.mul(index.rem(matrix, index.c(2)), index.c(8)),
        high = index.mul(index.div(matrix, index.c(2)), index.c(8));
  int64_t rowTiles = blocks.rows / 16, columnTiles = blocks.columns / 8;
  for (int64_t step = 0; step < blocks.depth; step += 16) {
    auto load = [&](const Loader &l, Value row, Value k) {
      std::string name = l.alongDepth ? "ldmatrix.x4" : "ldmatrix.x4.trans";
      return callDeviceFunction(b, b.getLoc(), name, {place(l, stage, row, index.add(k, index.c(step)))});
    };
    SmallVector<SmallVector<Value>> a, columns;
    for (int64_t i = 0; i < rowTiles; ++i) {
      Value row = index.add(index.mul(warpRow, index.c(blocks.rows)), index.c(i * 16));
      // Matrices: rows 0, steps 0; rows 8, steps 0; rows 0, steps 8; rows 8, steps 8.
      a.push_back(left.alongDepth ? load(left, index.add(row, index.add(odd, r)), high)
                                  : load(left, index.add(row, odd), index.add(high, r)));
    }
    for (int64_t j = 0; j < columnTiles; j += 2) {
      Value column = index.add(index.mul(warpColumn, index.c(blocks.columns)), index.c(j * 8));
      // Columns 0, steps 0; columns 0, steps 8; columns 8, steps 0; columns 8, steps 8.
      SmallVector<Value> four = right.alongDepth ? load(right, index.add(column, index.add(high, r)), odd)
                                                 : load(right, index.add(column, high), index.add(odd, r));
      columns.push_back({four[0], four[1]});
      columns.push_back({four[2], four[3]});
    }
    for (int64_t i = 0; i < rowTiles; ++i)
      for (int64_t j = 0; j < columnTiles; ++j) {
        int64_t at = (i * columnTiles + j) * 4;
        SmallVector<Value> operands = a[i];
        llvm::append_range(operands, columns[j]);
        llvm::append_range(operands, ArrayRef(acc).slice(at, 4));
        llvm::copy(callDeviceFunction(b, b.getLoc(), mma, operands), acc.begin() + at);
      }
  }
  return acc;
}

void MmaEmitter::storeSums(ValueRange sums) {
  int64_t pitch = blocks.tileColumns() + kSumPadding;
  Value tile = body.sharedAt(sumsAddress, b.getF32Type(), blocks.tileRows() * pitch);
  Value row = index.add(index.mul(warpRow, index.c(blocks.rows)), index.div(lane, index.c(4)));
  Value column =
      index.add(index.mul(warpColumn, index.c(blocks.columns)), index.mul(index.rem(lane, index.c(4)), index.c(2)));
  int64_t columnTiles = blocks.columns / 8;
  for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); i += 2) {
    int64_t rowTile = i / 4 / columnTiles, columnTile = i / 4 % columnTiles;
    Value at = index.add(index.mul(index.add(row, index.c(rowTile * 16 + i % 4 / 2 * 8)), index.c(pitch)),
                         index.add(column, index.c(columnTile * 8)));
    body.storeVector(sums.slice(i, 2), tile, at);
  }
  body.barrier();
  product.storeTile({tile, blocks.tileRows(), blocks.tileColumns(), pitch, index.c(0), body.thread, body.threads});
  body.barrier(); // before the next tile's sums
}

void MmaEmitter::emitTile(ArrayRef<DeviceBody::TileRange> ranges) {
  product.enterTile(ranges);
  left.begin = product.mBegin;
  right.begin = product.nBegin;
  auto copyBoth = [&](Value k, Value stage) {
    copy(left, k, stage);
    copy(right, k, stage);
    callDeviceFunction(b, b.getLoc(), "cp.async.commit", {});
  };
  copyBoth(index.c(0), index.c(0));
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  SmallVector<Value> start(blocks.rows * blocks.columns / 32, zero);
  auto loop = scf::ForOp::create(b, index.c(0), depthSize, index.c(blocks.depth), start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar(), stage = index.rem(index.div(k, index.c(blocks.depth)), index.c(kStages));
    Value next = index.add(k, index.c(blocks.depth));
    copyBoth(next, index.sub(index.c(1), stage)); // behind the end: zeros, which nobody reads
    callDeviceFunction(b, b.getLoc(), "cp.async.wait", {c32(1)});
    body.barrier();
    SmallVector<Value> sums = multiply(loop.getRegionIterArgs(), stage);
    body.barrier();
    scf::YieldOp::create(b, sums);
  }
  callDeviceFunction(b, b.getLoc(), "cp.async.wait", {c32(0)});
  storeSums(loop.getResults());
}

LogicalResult MmaEmitter::run() {
  FailureOr<CudaMmaBlocks> read = body.blocks<CudaMmaBlocks>();
  if (failed(read) || failed(product.match(kernel::matchTensorProduct, options.contract)))
    return failure();
  blocks = *read;
  const kernel::Contraction &c = product.c;
  Type elem = cast<ShapedType>(c.operandA().tensor.getType()).getElementType();
  mma = elem.isF16() ? "mma.m16n8k16.f32.f16" : "mma.m16n8k16.f32.bf16";
  left = loaderOf(c.a, c.m, blocks.tileRows());
  right = loaderOf(c.b, c.n, blocks.tileColumns());
  sumsAddress = body.sharedAddress(blocks.tileRows() * (blocks.tileColumns() + kSumPadding) * 4, 128);
  depthSize = body.size(c.nest.sizeOf(c.k));
  Value warp = index.div(body.thread, index.c(kWarp));
  lane = index.rem(body.thread, index.c(kWarp));
  warpRow = index.div(warp, index.c(blocks.warpColumns));
  warpColumn = index.rem(warp, index.c(blocks.warpColumns));
  body.forTiles([&](ArrayRef<DeviceBody::TileRange> ranges) { emitTile(ranges); });
  body.finish();
  return failure(body.broken);
}

LogicalResult cuda::emitMma(DeviceBody &body, const EmitOptions &options) { return MmaEmitter(body, options).run(); }
