//===- VectorBody.cpp - scalar bodies of structured ops on vectors --------===//
#include "optc/codegen/cpu/VectorBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace optc;

Value optc::cpu::spread(ImplicitLocOpBuilder &b, Value scalar, int64_t lanes) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, VectorType::get({lanes}, scalar.getType()), scalar);
}

SmallVector<Value> optc::cpu::cloneOnVectors(ImplicitLocOpBuilder &b, Block &body, ValueRange args, int64_t lanes,
                                             llvm::function_ref<Value(unsigned)> indexOf) {
  IRMapping map;
  for (auto [from, to] : llvm::zip(body.getArguments(), args))
    map.map(from, spread(b, to, lanes));
  auto operand = [&](Value v) {
    if (Value mapped = map.lookupOrNull(v))
      return mapped;
    return spread(b, v, lanes); // a scalar from outside
  };
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      map.map(index.getResult(), spread(b, indexOf(index.getDim()), lanes));
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Value copy = b.clone(*constant.getOperation())->getResult(0);
      map.map(constant.getResult(), spread(b, copy, lanes));
      continue;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value v : op.getOperands())
      state.operands.push_back(operand(v));
    for (Type type : op.getResultTypes())
      state.types.push_back(VectorType::get({lanes}, type));
    state.attributes = llvm::to_vector(op.getAttrs());
    Operation *made = b.create(state);
    for (auto [from, to] : llvm::zip(op.getResults(), made->getResults()))
      map.map(from, to);
  }
  SmallVector<Value> out;
  for (Value v : body.getTerminator()->getOperands())
    out.push_back(operand(v));
  return out;
}
