//===- TensorTile.cpp - products that tensor cores compute -----------------===//
#include "optc/dialects/kernel/TensorTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc::kernel;

/// What a tensor map can say: https://docs.nvidia.com/cuda/cuda-driver-api, cuTensorMapEncodeTiled.
static constexpr int64_t kStrideBytes = 16, kMaxStrideBytes = int64_t(1) << 40, kMaxSize = int64_t(1) << 32;
static constexpr size_t kMaxRank = 5;

int32_t optc::kernel::leastCapability(StrategyAttr strategy) {
  return strategy.getFamily().getValue() == kFamilyCudaGemm ? kTensorMapCapability : kGenericCapability;
}

FailureOr<Contraction> optc::kernel::matchTensorProduct(linalg::GenericOp op, std::string *why) {
  FailureOr<Contraction> c = matchContraction(op, why);
  if (failed(c))
    return failure();
  auto elementOf = [](const NestOperand &operand) {
    return cast<ShapedType>(operand.tensor.getType()).getElementType();
  };
  if (!c->computedB && c->aFactor == Contraction::Factor::Float && c->bFactor == Contraction::Factor::Float &&
      elementOf(c->operandA()) == elementOf(c->operandB()))
    return c;
  if (why)
    *why = "its factors are neither both f16 nor both bf16";
  return failure();
}

FailureOr<TensorOperand> optc::kernel::matchTensorOperand(const Contraction &c, unsigned number, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return failure();
  };
  const NestOperand &operand = c.nest.operands[number];
  ArrayRef<unsigned> rows = number == c.a ? c.m : c.n;
  if (c.k.empty() || rows.empty())
    return refuse("it has one row, one column or one step of the sum");
  if (!c.nest.isFlat(operand, c.k) || !c.nest.isFlat(operand, rows))
    return refuse("rows or sums of an operand are more than one loop");
  TensorOperand made;
  const SizeExpr &kStride = operand.strides[c.k.back()], &rowStride = operand.strides[rows.back()];
  made.alongRows = !kStride.is(1);
  if (made.alongRows && !rowStride.is(1))
    return refuse("no loop of an operand is contiguous");
  SmallVector<SizeExpr> strides = {made.alongRows ? kStride : rowStride};
  SmallVector<SizeExpr> sizes = {c.nest.sizeOf(c.k), c.nest.sizeOf(rows)};
  if (made.alongRows)
    std::swap(sizes[0], sizes[1]);
  for (unsigned loop : llvm::reverse(c.outer))
    if (operand.moves(loop)) {
      made.outer.push_back(loop);
      strides.push_back(operand.strides[loop]);
      sizes.push_back(c.nest.sizes[loop]);
    }
  if (sizes.size() > kMaxRank)
    return refuse("a tensor map has 5 dimensions at most");
  int64_t bytes = cast<ShapedType>(operand.tensor.getType()).getElementTypeBitWidth() / 8;
  for (const SizeExpr &size : sizes)
    if (!size.isStatic() || size.factor > kMaxSize)
      return refuse("a size is known to the run only");
  for (const SizeExpr &stride : strides)
    if (!stride.isStatic() || stride.factor * bytes % kStrideBytes || stride.factor * bytes >= kMaxStrideBytes)
      return refuse("rows of an operand do not begin at multiples of 16 bytes");
  if (alignmentOf(operand.tensor) % kStrideBytes)
    return refuse("an operand does not begin at a multiple of 16 bytes");
  // What the documentation asserts of a map: a step of a dimension is no shorter than the one below it is long.
  for (size_t i = 1; i < strides.size(); ++i)
    if (strides[i].factor * bytes < sizes[i].factor)
      return refuse("an operand's steps along its outer loops are too short");
  return made;
}

PackingAttr optc::kernel::packingOfColumns(const Contraction &c) {
  const NestOperand &b = c.operandB();
  auto type = cast<RankedTensorType>(b.tensor.getType());
  auto isContiguous = [&](ArrayRef<unsigned> loops) { return loops.empty() || b.strides[loops.back()].is(1); };
  if (!b.tensor.getDefiningOp<arith::ConstantOp>() || !type.hasStaticShape() || c.n.empty() || isContiguous(c.n) ||
      isContiguous(c.k))
    return {};
  SmallVector<unsigned> outerLoops = llvm::filter_to_vector(c.outer, [&](unsigned loop) { return b.moves(loop); });
  auto outer = dimsOfLoops(c.nest, b, outerLoops), n = dimsOfLoops(c.nest, b, c.n), k = dimsOfLoops(c.nest, b, c.k);
  if (failed(outer) || failed(n) || failed(k))
    return {};
  Builder builder(c.nest.op.getContext());
  auto array = [&](ArrayRef<int64_t> dims) { return builder.getDenseI64ArrayAttr(dims); };
  auto packing = PackingAttr::get(builder.getContext(), array(*outer), array(*n), array(*k), c.nest.sizeOf(c.n).factor,
                                  /*depth=*/1, /*run=*/0);
  return packedType(type, packing) ? packing : PackingAttr();
}

void optc::kernel::walkPackedColumns(Contraction &c) {
  NestOperand &b = c.nest.operands[c.b];
  SizeExpr stride(1);
  for (ArrayRef<unsigned> loops : {ArrayRef(c.n), ArrayRef(c.k), ArrayRef(c.outer)})
    for (unsigned loop : llvm::reverse(loops))
      if (b.moves(loop)) {
        b.strides[loop] = stride;
        stride = stride * c.nest.sizes[loop];
      }
}

FailureOr<CudaGemmBlocks> CudaGemmBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  if (blocks.size() != 3 || blocks[0] != kThreads || (blocks[1] != 64 && blocks[1] != 128 && blocks[1] != 256) ||
      blocks[2] < 2 || blocks[2] > 8)
    return failure();
  return CudaGemmBlocks{blocks[0], blocks[1], blocks[2]};
}

FailureOr<CudaMmaBlocks> CudaMmaBlocks::get(StrategyAttr strategy) {
  llvm::ArrayRef<int64_t> blocks = strategy.getBlocks().asArrayRef();
  if (blocks.size() != 5 || blocks[0] < 32 || blocks[0] > 1024 || blocks[0] % 32 || blocks[1] < 1 ||
      blocks[0] / 32 % blocks[1])
    return failure();
  for (int64_t size : blocks.drop_front(2))
    if (size < 16 || size > 128 || size % 16)
      return failure();
  return CudaMmaBlocks{blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]};
}
