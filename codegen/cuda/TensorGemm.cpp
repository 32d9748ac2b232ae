//===- TensorGemm.cpp - products by warpgroups -----------------------------===//
//
// result[outer, m, n] = epilogue(sum over k of a[outer, m, k] * b[outer, k, n]) in f16 or bf16, accumulated in f32. A
// block has 128 rows and 64 to 256 columns. Its third warpgroup copies, the others multiply 64 rows each:
//
//   copies (one thread)                         multiplies (128 threads)
//   for k = 0, 64, ...:                         for k = 0, 64, ...:
//     wait until empty[s]                         wait until full[s]
//     full[s] expects the bytes of both boxes     4 products of 16 steps; commit
//     copy a's and b's box to stage s             wait for the products before; arrive at empty of their stage
//                                               wait for all, write the sums to shared memory, epilogue
//
// Boxes reach beyond the tensors, where they are zero; what is outside is not stored. Stages are a ring that goes on
// from tile to tile.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/codegen/cuda/Product.h"
#include "optc/dialects/kernel/TensorTile.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::CudaGemmBlocks;
using kernel::kTileDepth;

/// Bytes of a row of a box, which the swizzle repeats in; of 64 of them; of a tensor element.
static constexpr int64_t kRowBytes = 128, kBoxBytes = 64 * kRowBytes, kElementBytes = 2;
/// Threads of a warpgroup, rows of its products, and steps of one.
static constexpr int64_t kGroup = 128, kGroupRows = 64, kSteps = 16;
/// Registers of a thread: what copies needs next to none.
static constexpr int64_t kCopyRegisters = 40, kProductRegisters = 232;
/// Floats behind a row of sums in shared memory, so that columns of it lie in different banks.
static constexpr int64_t kPadding = 4;
/// Named barriers: of the warpgroups that multiply, and of each of them.
static constexpr int64_t kProductsBarrier = 1, kGroupBarrier = 2;

namespace {
/// An operand in shared memory and in the tensor maps.
struct Operand {
  unsigned number;
  kernel::TensorOperand tile;
  Value map;
  int64_t rows; ///< of the tile: columns of b
  int64_t at;   ///< bytes from the beginning of a stage
  int64_t bytes() const { return rows * kRowBytes; }
};

class TensorGemm {
public:
  TensorGemm(DeviceBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), product(body) {}
  LogicalResult run();

private:
  Operand operandOf(unsigned number, int64_t rows, int64_t at);
  void initialize();
  void copyTile();
  void multiplyTile();
  SmallVector<Value> multiplyStage(Value stage, ValueRange sums);
  void storeTile(ValueRange sums);
  void issueCopies(const Operand &operand, Value stage, Value barrier, Value k);

  // 32-bit arithmetic, and calls.
  Value c32(int64_t v) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(v)); }
  Value c64(uint64_t v) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(static_cast<int64_t>(v))); }
  Value to32(Value v) { return arith::IndexCastOp::create(b, b.getI32Type(), v); }
  void call(StringRef name, ValueRange operands) { callDeviceFunction(b, b.getLoc(), name, operands); }
  Value equals(Value x, int64_t v) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, c32(v)); }
  Value less(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y); }
  /// The address `bytes` behind another one in shared memory.
  Value addressAt(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base, ValueRange{bytes});
  }
  /// Step `k` of the tile that the loop around is at: number in the ring, stage and parity of its phase.
  struct Step {
    Value stage, parity;
  };
  Step stepAt(Value turn, Value k);
  Value full(Value stage) { return addressAt(barriers, arith::MulIOp::create(b, stage, c32(8))); }
  Value empty(Value stage) {
    return addressAt(barriers, arith::MulIOp::create(b, arith::AddIOp::create(b, stage, c32(blocks.stages)), c32(8)));
  }
  Value drained() { return addressAt(barriers, c32(2 * blocks.stages * 8)); }
  Value stageAddress(Value stage) { return addressAt(stages, arith::MulIOp::create(b, stage, c32(stageBytes))); }
  /// How often the loop over tiles around has come by.
  Value turnOf();
  void namedBarrier(Value id, int64_t threads) { call("barrier.cta.sync.aligned.count", {id, c32(threads)}); }
  void groupBarrier() { namedBarrier(arith::AddIOp::create(b, warpGroup, c32(kGroupBarrier)), kGroup); }

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  const EmitOptions &options;
  Product product;
  CudaGemmBlocks blocks = {};
  Operand left, right;
  int64_t stageBytes = 0;
  bool isBF16 = false;
  Value stages, barriers;          ///< in shared memory
  Value warpGroup, lane, numSteps; ///< i32; lane: within the warpgroup; boxes along k
};
} // namespace

Operand TensorGemm::operandOf(unsigned number, int64_t rows, int64_t at) {
  const kernel::Contraction &c = product.c;
  const kernel::NestOperand &operand = c.nest.operands[number];
  ArrayRef<unsigned> loops = number == c.a ? c.m : c.n;
  Operand made = {number, *kernel::matchTensorOperand(c, number), Value(), rows, at};
  DeviceTensorMap map;
  map.dtype = isBF16 ? 16 : 10; // as in ONNX
  map.rank = 2 + made.tile.outer.size();
  map.swizzle = 3;
  int64_t k = c.nest.sizeOf(c.k).factor, size = c.nest.sizeOf(loops).factor;
  map.dims[0] = made.tile.alongRows ? size : k;
  map.dims[1] = made.tile.alongRows ? k : size;
  map.strides[0] = operand.strides[made.tile.alongRows ? c.k.back() : loops.back()].factor;
  map.box[0] = kTileDepth;
  map.box[1] = made.tile.alongRows ? kTileDepth : rows;
  for (auto [i, loop] : llvm::enumerate(made.tile.outer)) {
    map.dims[2 + i] = c.nest.sizes[loop].factor;
    map.strides[1 + i] = operand.strides[loop].factor;
    map.box[2 + i] = 1;
  }
  made.map = body.tensorMap(operand.tensor, map);
  return made;
}

Value TensorGemm::turnOf() {
  auto loop = cast<scf::ForOp>(b.getInsertionBlock()->getParentOp());
  Value turn = index.div(index.sub(loop.getInductionVar(), loop.getLowerBound()), loop.getStep());
  return to32(turn);
}

TensorGemm::Step TensorGemm::stepAt(Value turn, Value k) {
  Value number = arith::AddIOp::create(b, arith::MulIOp::create(b, turn, numSteps), k);
  Value stage = arith::RemUIOp::create(b, number, c32(blocks.stages));
  Value phase = arith::DivUIOp::create(b, number, c32(blocks.stages));
  return {stage, arith::AndIOp::create(b, phase, c32(1))};
}

void TensorGemm::initialize() {
  Value thread = to32(body.thread);
  warpGroup = arith::DivUIOp::create(b, thread, c32(kGroup));
  lane = arith::RemUIOp::create(b, thread, c32(kGroup));
  Value k = body.size(product.c.nest.sizeOf(product.c.k));
  numSteps = to32(index.div(index.add(k, index.c(kTileDepth - 1)), index.c(kTileDepth)));
  body.when(equals(thread, 0), [&] {
    for (int64_t s = 0; s < blocks.stages; ++s) {
      call("mbarrier.init", {full(c32(s)), c32(1)});
      call("mbarrier.init", {empty(c32(s)), c32(CudaGemmBlocks::kConsumers)});
    }
    call("mbarrier.init", {drained(), c32(CudaGemmBlocks::kConsumers)});
    call("fence.mbarrier_init", {});
    call("tma.prefetch", {left.map});
    call("tma.prefetch", {right.map});
  });
  body.barrier();
}

/// Boxes of an operand: one of all its rows, or one per 64 where these are contiguous.
void TensorGemm::issueCopies(const Operand &operand, Value stage, Value barrier, Value k) {
  Value first = to32(operand.number == product.c.a ? product.mBegin : product.nBegin);
  SmallVector<Value> outer;
  for (unsigned loop : operand.tile.outer)
    for (auto [outerLoop, at] : product.outer)
      if (outerLoop == loop)
        outer.push_back(to32(at));
  std::string name = "tma.load." + std::to_string(2 + operand.tile.outer.size()) + "d";
  for (int64_t i = 0; i < (operand.tile.alongRows ? operand.rows / 64 : 1); ++i) {
    Value place = addressAt(stage, c32(operand.at + i * kBoxBytes));
    Value row = arith::AddIOp::create(b, first, c32(i * 64));
    SmallVector<Value> operands = {place, barrier, operand.map, operand.tile.alongRows ? row : k,
                                   operand.tile.alongRows ? k : row};
    llvm::append_range(operands, outer);
    call(name, operands);
  }
}

void TensorGemm::copyTile() {
  Value turn = turnOf();
  // The sums of the tile before are in the memory of the stages.
  body.when(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, turn, c32(0)), [&] {
    Value before = arith::SubIOp::create(b, turn, c32(1));
    call("mbarrier.wait", {drained(), arith::AndIOp::create(b, before, c32(1))});
  });
  auto loop = scf::ForOp::create(b, c32(0), numSteps, c32(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Step step = stepAt(turn, loop.getInductionVar());
  call("mbarrier.wait", {empty(step.stage), arith::XOrIOp::create(b, step.parity, c32(1))});
  Value barrier = full(step.stage), stage = stageAddress(step.stage);
  call("mbarrier.arrive.expect_tx", {barrier, c32(stageBytes)});
  Value k = arith::MulIOp::create(b, loop.getInductionVar(), c32(kTileDepth));
  issueCopies(left, stage, barrier, k);
  issueCopies(right, stage, barrier, k);
}

/// The products of one stage: PTX ISA, "Asynchronous warpgroup-level matrix instructions", matrix descriptors.
SmallVector<Value> TensorGemm::multiplyStage(Value stage, ValueRange sums) {
  // A row of 128 bytes holds 64 neighbours. Along k: 8 rows are 1024 bytes. Along the rows: 8 steps of k are 1024
  // bytes, and the next 64 rows a box away.
  auto descriptorOf = [&](const Operand &operand, Value first) -> Value {
    uint64_t leading = operand.tile.alongRows ? kBoxBytes / 16 : 1, stride = 8 * kRowBytes / 16, swizzle128 = 1;
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), first);
    Value low = arith::ShRUIOp::create(b, arith::AndIOp::create(b, address, c64(0x3ffff)), c64(4));
    return arith::OrIOp::create(b, low, c64(leading << 16 | stride << 32 | swizzle128 << 62));
  };
  // 64 rows of a are a box, or 64 rows of one.
  Value group = arith::MulIOp::create(b, warpGroup, c32(kBoxBytes));
  Value a = descriptorOf(left, addressAt(addressAt(stage, c32(left.at)), group));
  Value right0 = descriptorOf(right, addressAt(stage, c32(right.at)));
  std::string name = "wgmma.m64n" + std::to_string(blocks.columns) + "k16.f32." + (isBF16 ? "bf16" : "f16");
  SmallVector<Value> values(sums);
  for (int64_t k = 0; k < kTileDepth; k += kSteps) {
    auto moved = [&](const Operand &operand, Value descriptor) -> Value {
      int64_t bytes = operand.tile.alongRows ? k * kRowBytes : k * kElementBytes;
      return arith::AddIOp::create(b, descriptor, c64(bytes / 16));
    };
    SmallVector<Value> operands = values;
    llvm::append_values(operands, moved(left, a), moved(right, right0), c32(1), c32(left.tile.alongRows),
                        c32(right.tile.alongRows));
    values = callDeviceFunction(b, b.getLoc(), name, operands);
  }
  return values;
}

void TensorGemm::multiplyTile() {
  Value turn = turnOf(), isFirst = equals(lane, 0);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  SmallVector<Value> start(blocks.columns / 2, zero);
  auto loop = scf::ForOp::create(b, c32(0), numSteps, c32(1), start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    Step step = stepAt(turn, k);
    call("mbarrier.wait", {full(step.stage), step.parity});
    call("wgmma.fence", {});
    SmallVector<Value> sums = multiplyStage(stageAddress(step.stage), loop.getRegionIterArgs());
    call("wgmma.commit", {});
    call("wgmma.wait", {c32(1)});
    Value hasBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, k, c32(0));
    body.when(arith::AndIOp::create(b, hasBefore, isFirst),
              [&] { call("mbarrier.arrive", {empty(stepAt(turn, arith::SubIOp::create(b, k, c32(1))).stage)}); });
    scf::YieldOp::create(b, sums);
  }
  SmallVector<Value> sums =
      callDeviceFunction(b, b.getLoc(), "wgmma.wait.n" + std::to_string(blocks.columns), loop.getResults());
  body.when(isFirst,
            [&] { call("mbarrier.arrive", {empty(stepAt(turn, arith::SubIOp::create(b, numSteps, c32(1))).stage)}); });
  storeTile(sums);
  // Generic accesses to the stages before the copies of the next tile.
  call("fence.proxy.async", {});
  groupBarrier();
  body.when(isFirst, [&] { call("mbarrier.arrive", {drained()}); });
}

/// Sums go through shared memory: threads have 2 neighbours each in the layout of the products, and 4 here.
void TensorGemm::storeTile(ValueRange sums) {
  // The other warpgroup may still read the last stage.
  namedBarrier(c32(kProductsBarrier), kGroup * CudaGemmBlocks::kConsumers);
  int64_t pitch = blocks.columns + kPadding;
  Value place = addressAt(stages, arith::MulIOp::create(b, warpGroup, c32(kGroupRows * pitch * 4)));
  Value tile = body.sharedAt(place, b.getF32Type(), kGroupRows * pitch);
  Value thread = index.rem(body.thread, index.c(kGroup)), warpLane = index.rem(thread, index.c(kWarp));
  Value row = index.add(index.mul(index.div(thread, index.c(kWarp)), index.c(16)), index.div(warpLane, index.c(4)));
  Value column = index.mul(index.rem(warpLane, index.c(4)), index.c(2));
  for (int64_t r = 0; r < blocks.columns / 2; r += 2) {
    Value at = index.add(index.mul(index.add(row, index.c(r % 4 / 2 * 8)), index.c(pitch)),
                         index.add(column, index.c(r / 4 * 8)));
    body.storeVector(sums.slice(r, 2), tile, at);
  }
  groupBarrier();

  Value groupRow = index.mul(index.div(body.thread, index.c(kGroup)), index.c(kGroupRows));
  product.storeTile({tile, kGroupRows, blocks.columns, pitch, groupRow, thread, kGroup});
}

LogicalResult TensorGemm::run() {
  FailureOr<CudaGemmBlocks> read = body.blocks<CudaGemmBlocks>();
  if (failed(read) || failed(product.match(kernel::matchTensorProduct, options.contract)))
    return failure();
  blocks = *read;
  const kernel::Contraction &c = product.c;
  std::string why;
  for (unsigned operand : {c.a, c.b}) {
    if (failed(kernel::matchTensorOperand(c, operand, &why)))
      return body.refuse(why);
    auto bind = body.flat(c.nest.operands[operand].tensor).getDefiningOp<kernel::BindOp>();
    if (!bind || !isa<BlockArgument>(bind.getPtr()))
      return body.refuse("an operand is not in a buffer of its own");
  }
  for (const kernel::TileGroup &group : kernel::tileGroups(body.strategy)) {
    bool isRows = c.rows.count && group.firstDim == c.rows.first, isColumns = group.firstDim == c.columns.first;
    if (group.tile != (isRows ? CudaGemmBlocks::kRows : isColumns ? blocks.columns : 1))
      return body.refuse("its tiles are not those of the products");
  }
  isBF16 = cast<ShapedType>(c.operandA().tensor.getType()).getElementType().isBF16();
  stageBytes = (CudaGemmBlocks::kRows + blocks.columns) * kRowBytes;
  int64_t sums = CudaGemmBlocks::kConsumers * kGroupRows * (blocks.columns + kPadding) * 4;
  stages = body.sharedAddress(std::max(blocks.stages * stageBytes, sums), kSharedAlignment);
  barriers = body.sharedAddress((2 * blocks.stages + 1) * 8, 8);
  left = operandOf(c.a, CudaGemmBlocks::kRows, 0);
  right = operandOf(c.b, blocks.columns, CudaGemmBlocks::kRows * kRowBytes);
  initialize();
  auto branch = scf::IfOp::create(b, equals(warpGroup, CudaGemmBlocks::kConsumers), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    call("setmaxnreg.dec", {c32(kCopyRegisters)});
    body.when(equals(lane, 0), [&] {
      body.forTiles([&](ArrayRef<DeviceBody::TileRange> ranges) {
        product.enterTile(ranges);
        copyTile();
      });
    });
    b.setInsertionPointToStart(branch.elseBlock());
    call("setmaxnreg.inc", {c32(kProductRegisters)});
    body.forTiles([&](ArrayRef<DeviceBody::TileRange> ranges) {
      product.enterTile(ranges);
      multiplyTile();
    });
  }
  body.finish();
  return failure(body.broken);
}

LogicalResult cuda::emitTensorGemm(DeviceBody &body, const EmitOptions &options) {
  return TensorGemm(body, options).run();
}
