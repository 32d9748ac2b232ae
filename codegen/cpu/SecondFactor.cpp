//===- SecondFactor.cpp - vectors of a product's second factor ------------===//
//
//   sum over k of a[k] * ((q[k] - zero) * scale)  =  (sum of a[k] * q[k]  -  zero * sum of a[k]) * scale
//
// Both are for -O3 only: sums are rounded otherwise than those of the plain loops, as contraction does. Signed values
// of 4 bits are stored with 8 added, so that halves of bytes need no extension of a sign and the 8 is part of the zero
// point.
//===----------------------------------------------------------------------===//
#include "optc/codegen/cpu/SecondFactor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using namespace optc::cpu;
using Factor = kernel::Contraction::Factor;

/// Steps of an innermost loop over k that are worth work on its sums.
static constexpr int64_t kLeastSteps = 8;
/// What is added to signed values of 4 bits.
static constexpr int64_t kBias = 8;

IntegerType SecondFactor::Tensor::narrow() const {
  auto type = packed ? dyn_cast<IntegerType>(packed.getPanels().getType().getElementType()) : IntegerType();
  return type && type.getWidth() == 4 ? type : IntegerType();
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

LogicalResult SecondFactor::collect(const kernel::Contraction &c, bool contract, std::string &why) {
  product = &c;
  auto refuse = [&](StringRef reason) {
    why = reason.str();
    return failure();
  };
  for (const kernel::NestOperand *operand : c.secondOperands()) {
    auto packed = operand->tensor.getDefiningOp<kernel::PackedOp>();
    bool moves = llvm::any_of(c.n, [&](unsigned loop) { return operand->moves(loop); });
    if (c.computedB && (moves || tensors.empty()) && !packed)
      return refuse("a tensor that the second operand is computed from is not in panels");
    tensors.push_back(
        {operand, packed, body.flat(operand->tensor), !moves && !packed && !tensors.empty(), Value(), {}});
  }
  kernel::PackedOp first = tensors[0].packed;
  if (blocks.depth > 1 && (!first || first.getPacking().getDepth() != blocks.group() || c.k.empty()))
    return refuse("the second operand is not in panels of groups");
  for (const Tensor &tensor : tensors) {
    if (!tensor.packed)
      continue;
    if (tensor.packed.getPacking().getLanes() != blocks.panelWidth())
      return refuse("panels are not as wide as the register tile");
    bool isBytes = cast<MemRefType>(tensor.buffer.getType()).getElementType().isInteger(8);
    if (tensor.narrow() && (!isBytes || blocks.vectors % 2 != 0))
      return refuse("an odd number of vectors cannot share bytes");
  }
  element = c.computedB;
  if (contract && !c.isInteger && !c.k.empty() && c.nest.sizes[c.k.back()].valueOr(kLeastSteps) >= kLeastSteps) {
    findScale();
    findRaw();
  }
  return success();
}

void SecondFactor::findScale() {
  auto mul = element ? element.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!mul)
    return;
  for (auto [factor, rest] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    auto arg = dyn_cast<BlockArgument>(factor);
    if (!arg || arg.getOwner() != mul->getBlock() || !arg.hasOneUse() || rest.getParentBlock() != mul->getBlock())
      continue;
    auto at = llvm::find(product->parameters, arg.getArgNumber());
    if (at == product->parameters.end() || product->nest.operands[*at].moves(product->k.back()))
      continue;
    scale = at - product->parameters.begin() + 1;
    element = rest;
    return;
  }
}

void SecondFactor::findRaw() {
  IntegerType narrow = tensors[0].narrow();
  if (!narrow)
    return;
  if (!element) {
    raw = product->bFactor == (narrow.isUnsigned() ? Factor::Unsigned : Factor::Signed);
    return;
  }
  auto toFloat = element.getDefiningOp<arith::SIToFPOp>();
  Value integer = toFloat ? toFloat.getIn() : Value(), subtrahend;
  if (auto sub = integer ? integer.getDefiningOp<arith::SubIOp>() : nullptr) {
    integer = sub.getLhs();
    subtrahend = sub.getRhs();
  }
  // The zero point: a constant, or an extended parameter.
  auto extended = [&](Value value) -> BlockArgument {
    Operation *op = value.getDefiningOp();
    bool extends = isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op) && op->getBlock() == toFloat->getBlock();
    return extends ? dyn_cast<BlockArgument>(op->getOperand(0)) : BlockArgument();
  };
  BlockArgument ofB = integer ? extended(integer) : BlockArgument();
  bool signs = ofB && isa<arith::ExtSIOp>(integer.getDefiningOp()) == !narrow.isUnsigned();
  if (!signs || ofB.getArgNumber() != product->b)
    return;
  if (subtrahend && !subtrahend.getDefiningOp<arith::ConstantOp>()) {
    BlockArgument arg = extended(subtrahend);
    if (!arg || !llvm::is_contained(product->parameters, arg.getArgNumber()) ||
        product->nest.operands[arg.getArgNumber()].moves(product->k.back()))
      return;
  }
  zero = subtrahend;
  raw = true;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// The bytes that vector v shares with another one, in 32 bits, which every target can shift. `whole`: they are used as
/// they are, too.
Value SecondFactor::loadBytes(const Tensor &tensor, int64_t v, Value place, bool whole) {
  int64_t inBytes = v % blocks.vectors % (blocks.vectors / 2) * blocks.lanes;
  Value at = body.index.add(body.index.add(tensor.bases[v], place), body.index.c(inBytes));
  auto type = VectorType::get({blocks.lanes}, b.getI8Type()), wide = VectorType::get({blocks.lanes}, b.getI32Type());
  Value bytes = loadLanes(b, type, tensor.buffer, at);
  if (!whole)
    return arith::ExtUIOp::create(b, wide, bytes);
  // An extension that LLVM does not see through: it would mask bytes and then extend them a second time.
  SmallVector<int64_t> mask(4 * blocks.lanes, blocks.lanes);
  for (int64_t i = 0; i < blocks.lanes; ++i)
    mask[4 * i] = i;
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::BitCastOp::create(b, wide, vector::ShuffleOp::create(b, bytes, zeros, mask));
}

static Value splat(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(cast<VectorType>(type), APInt(32, value)));
}

Value SecondFactor::halfOf(Value bytes, bool high) {
  if (high)
    return arith::ShRUIOp::create(b, bytes, splat(b, bytes.getType(), 4));
  return arith::AndIOp::create(b, bytes, splat(b, bytes.getType(), 15));
}

/// Vector v of a tensor; its element where that is the same for all columns.
Value SecondFactor::load(const Tensor &tensor, int64_t v, Value place, Value mask) {
  Type elem = cast<MemRefType>(tensor.buffer.getType()).getElementType();
  Value at = body.index.add(tensor.bases[v], place);
  if (tensor.isScalar)
    return memref::LoadOp::create(b, tensor.buffer, at);
  if (tensor.narrow()) {
    Value half = halfOf(loadBytes(tensor, v, place, /*whole=*/false), isHigh(v));
    if (!tensor.narrow().isUnsigned())
      half = arith::SubIOp::create(b, half, splat(b, half.getType(), kBias));
    return arith::TruncIOp::create(b, VectorType::get({blocks.lanes}, elem), half);
  }
  int64_t width = blocks.lanes * blocks.group();
  return loadLanes(b, VectorType::get({width}, elem), tensor.buffer,
                   body.index.add(at, body.index.c(v % blocks.vectors * width)), tensor.packed ? Value() : mask);
}

Value SecondFactor::compute(Value value, IRMapping &map) {
  auto isVector = [&](Value v) { return isa<VectorType>(map.lookupOrDefault(v).getType()); };
  for (Operation &op : product->nest.op.getBody()->without_terminator()) {
    if (map.contains(value))
      break;
    // What only other values are computed from may lack its operands.
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return v.getParentBlock() == op.getBlock() && !map.contains(v); }))
      continue;
    if (llvm::any_of(op.getOperands(), isVector))
      cloneOp(b, op, map, blocks.lanes);
    else
      b.clone(op, map);
  }
  return spread(b, map.lookupOrDefault(value), blocks.lanes);
}

DotEmitter::Parts SecondFactor::vector(const DotEmitter &dot, int64_t v, const Places &places, Value mask, bool raw) {
  if (raw) {
    Value bytes = loadBytes(tensors[0], v, places[0], /*whole=*/true);
    return {arith::SIToFPOp::create(b, dot.accumulatorType(), isHigh(v) ? bytes : halfOf(bytes, /*high=*/false))};
  }
  if (!element)
    return dot.columns(load(tensors[0], v, places[0], mask));
  IRMapping map;
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (static_cast<int>(i) != scale)
      map.map(product->nest.op.getBody()->getArgument(tensor.walk - product->nest.operands.begin()),
              load(tensor, v, places[i], mask));
  return {compute(element, map)};
}

Value SecondFactor::finish(const DotEmitter &dot, Value acc, ArrayRef<Value> sums, Value rowSum, int64_t v,
                           const Places &places) {
  VectorType type = dot.accumulatorType();
  auto contract = arith::FastMathFlags::contract;
  auto all = [&](double value) {
    return spread(b, arith::ConstantOp::create(b, FloatAttr::get(type.getElementType(), value)), blocks.lanes);
  };
  Value sum = sums[v], shift;
  if (rowSum && isHigh(v))
    sum = arith::MulFOp::create(b, arith::SubFOp::create(b, sum, sums[v - blocks.vectors / 2]), all(1.0 / 16));
  if (rowSum && !tensors[0].narrow().isUnsigned())
    shift = all(kBias);
  if (rowSum && zero) {
    IRMapping map;
    for (auto [i, tensor] : llvm::enumerate(tensors))
      if (i > 0 && static_cast<int>(i) != scale)
        map.map(product->nest.op.getBody()->getArgument(tensor.walk - product->nest.operands.begin()),
                load(tensor, v, places[i], Value()));
    Value known = arith::SIToFPOp::create(b, type, compute(zero, map));
    shift = shift ? arith::AddFOp::create(b, known, shift).getResult() : known;
  }
  if (shift)
    sum = arith::SubFOp::create(b, sum, arith::MulFOp::create(b, rowSum, shift, contract), contract);
  if (!isScaled())
    return arith::AddFOp::create(b, acc, sum);
  return dot.multiplyAdd(acc, {sum}, {spread(b, load(tensors[scale], v, places[scale], Value()), blocks.lanes)});
}
