//===- Dot.cpp - the multiply-add of a register tile ----------------------===//
//
// depth 1: acc += row * columns, of floats or of integers widened to 32 bits
// depth 2: pairs of a group of four widened to 16 bits, pmaddwd: exact for any signs. A shift and a mask widen the
// bytes
//          of a lane where they are, so pairs are not neighbours; a's and b's are the same.
// depth 4: vpdpbusd, unsigned rows times signed columns, exact in 32 bits. Signed rows are read with their sign bits
//          flipped, which adds 128 to each element; the emitter subtracts what that adds to the sums.
//===----------------------------------------------------------------------===//
#include "optc/codegen/cpu/Dot.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::cpu;
using Factor = kernel::Contraction::Factor;

namespace {
struct Instruction {
  int64_t depth, lanes;
  StringLiteral intrinsic;
};
} // namespace

/// Bytes of a lane of 32 bits.
static constexpr int64_t kGroup = 4;

static constexpr Instruction kInstructions[] = {
    {2, 4, "llvm.x86.sse2.pmadd.wd"},        {2, 8, "llvm.x86.avx2.pmadd.wd"},
    {2, 16, "llvm.x86.avx512.pmaddw.d.512"}, {4, 4, "llvm.x86.avx512.vpdpbusd.128"},
    {4, 8, "llvm.x86.avx512.vpdpbusd.256"},  {4, 16, "llvm.x86.avx512.vpdpbusd.512"},
};

FailureOr<DotEmitter> DotEmitter::get(ImplicitLocOpBuilder &b, const kernel::Contraction &product,
                                      const kernel::GemmBlocks &blocks, bool contract) {
  DotEmitter dot(b, product);
  dot.lanes = blocks.lanes;
  dot.depth = blocks.depth;
  Type elem = getElementTypeOrSelf(product.nest.op.getResult(0));
  dot.accType = VectorType::get({blocks.lanes}, elem);
  if (contract && !product.isInteger)
    dot.flags = arith::FastMathFlags::contract;
  if (blocks.depth == 1)
    return dot;
  auto isByte = [&](const kernel::NestOperand &operand) { return getElementTypeOrSelf(operand.tensor).isInteger(8); };
  bool fits = product.isInteger && isByte(product.operandA()) && isByte(product.operandB());
  if (fits && (blocks.depth != 4 || product.bFactor == Factor::Signed))
    for (const Instruction &i : kInstructions)
      if (i.depth == blocks.depth && i.lanes == blocks.lanes)
        dot.intrinsic = i.intrinsic;
  if (dot.intrinsic.empty())
    return product.nest.op.emitError("has no instruction that adds up ")
           << blocks.depth << " of its products in vectors of " << blocks.lanes << " sums";
  return dot;
}

Value DotEmitter::widened(Value v, Factor kind, Type to) const {
  if (kind == Factor::Plain || v.getType() == to)
    return v;
  if (kind == Factor::Float)
    return arith::ExtFOp::create(*b, to, v);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(to));
  if (kind == Factor::Unsigned)
    return isFloat ? arith::UIToFPOp::create(*b, to, v).getResult() : arith::ExtUIOp::create(*b, to, v).getResult();
  return isFloat ? arith::SIToFPOp::create(*b, to, v).getResult() : arith::ExtSIOp::create(*b, to, v).getResult();
}

/// The bits 0x80 of every byte: adds 128 to signed bytes, and is 128 as a row.
static Value signBits(ImplicitLocOpBuilder &b, int64_t bytes) {
  auto type = VectorType::get({bytes}, b.getI8Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, APInt(8, 0x80)));
}

DotEmitter::Parts DotEmitter::pairs(Value bytes, Factor kind) const {
  auto type = VectorType::get({lanes * 2}, b->getI16Type());
  auto all = [&](int64_t value) {
    return arith::ConstantOp::create(*b, DenseElementsAttr::get(type, APInt(16, value)));
  };
  Value words = vector::BitCastOp::create(*b, type, bytes), eight = all(8);
  if (kind == Factor::Unsigned)
    return {arith::AndIOp::create(*b, words, all(0xFF)), arith::ShRUIOp::create(*b, words, eight)};
  return {arith::ShRSIOp::create(*b, arith::ShLIOp::create(*b, words, eight), eight),
          arith::ShRSIOp::create(*b, words, eight)};
}

DotEmitter::Parts DotEmitter::spreadGroup(Value group) const {
  Type word = b->getI32Type();
  Value bits = vector::ExtractOp::create(*b, vector::BitCastOp::create(*b, VectorType::get({1}, word), group), 0);
  Value all = vector::BroadcastOp::create(*b, VectorType::get({lanes}, word), bits);
  if (depth == 2)
    return pairs(all, product->aFactor);
  all = vector::BitCastOp::create(*b, VectorType::get({lanes * kGroup}, b->getI8Type()), all);
  return {isBiased() ? arith::XOrIOp::create(*b, all, signBits(*b, lanes * kGroup)).getResult() : all};
}

DotEmitter::Parts DotEmitter::row(Value buffer, Value offset) const {
  if (depth > 1)
    return spreadGroup(vector::LoadOp::create(*b, VectorType::get({kGroup}, b->getI8Type()), buffer, offset));
  Value x = memref::LoadOp::create(*b, buffer, offset);
  if (product->aFactor == Factor::Float) // one instruction broadcasts from memory, one widens
    return {widened(vector::BroadcastOp::create(*b, VectorType::get({lanes}, x.getType()), x), Factor::Float, accType)};
  return {vector::BroadcastOp::create(*b, accType, widened(x, product->aFactor, accType.getElementType()))};
}

DotEmitter::Parts DotEmitter::row(Value buffer, ArrayRef<Value> offsets) const {
  SmallVector<Value> elements;
  for (Value offset : offsets)
    elements.push_back(memref::LoadOp::create(*b, buffer, offset));
  return spreadGroup(vector::FromElementsOp::create(*b, VectorType::get({kGroup}, b->getI8Type()), elements));
}

DotEmitter::Parts DotEmitter::columns(Value buffer, Value offset, Value mask) const {
  Type elem = cast<MemRefType>(buffer.getType()).getElementType();
  Value loaded = loadLanes(*b, VectorType::get({depth > 1 ? lanes * kGroup : lanes}, elem), buffer, offset, mask);
  if (depth == 2)
    return pairs(loaded, product->bFactor);
  return {depth == 1 ? widened(loaded, product->bFactor, accType) : loaded};
}

Value DotEmitter::multiplyAdd(Value acc, const Parts &row, const Parts &columns) const {
  if (!product->isInteger)
    return arith::AddFOp::create(*b, acc, arith::MulFOp::create(*b, row[0], columns[0], flags), flags);
  if (depth == 1)
    return arith::AddIOp::create(*b, acc, arith::MulIOp::create(*b, row[0], columns[0]));
  auto call = [&](ValueRange args) {
    return LLVM::CallIntrinsicOp::create(*b, Type(accType), b->getStringAttr(intrinsic), args)->getResult(0);
  };
  if (depth == 4)
    return call({acc, row[0], columns[0]});
  for (auto [x, y] : llvm::zip(row, columns))
    acc = arith::AddIOp::create(*b, acc, call({x, y}));
  return acc;
}

DotEmitter::Parts DotEmitter::biasRow() const { return {signBits(*b, lanes * kGroup)}; }
