//===- Lanes.cpp - vectors in memory --------------------------------------===//
#include "optc/codegen/cpu/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace optc;

Value cpu::loadLanes(ImplicitLocOpBuilder &b, VectorType type, Value buffer, Value offset, Value mask) {
  if (!mask)
    return vector::LoadOp::create(b, type, buffer, offset);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, buffer, offset, mask, zero);
}

void cpu::storeLanes(ImplicitLocOpBuilder &b, Value v, Value buffer, Value offset, Value mask) {
  // LLVM 22 writes four bytes for one lane of a narrow vector that is truncated from a wide one.
  auto lanes = mask ? mask.getDefiningOp<vector::CreateMaskOp>() : nullptr;
  if (lanes && getConstantIntValue(lanes.getOperands()[0]) == 1)
    memref::StoreOp::create(b, vector::ExtractOp::create(b, v, 0), buffer, offset);
  else if (mask)
    vector::MaskedStoreOp::create(b, buffer, offset, mask, v);
  else
    vector::StoreOp::create(b, v, buffer, offset);
}
