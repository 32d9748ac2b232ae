//===- Bodies.cpp - scalar bodies of structured ops on values -------------===//
#include "optc/codegen/common/Bodies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace optc;

void codegen::allowContraction(ArrayRef<linalg::GenericOp> ops) {
  for (linalg::GenericOp op : ops)
    op.getBody()->walk([&](Operation *inner) {
      auto math = dyn_cast<arith::ArithFastMathInterface>(inner);
      if (math && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(inner))
        inner->setAttr(math.getFastMathAttrName(),
                       arith::FastMathFlagsAttr::get(op.getContext(), arith::FastMathFlags::contract));
    });
}

Type codegen::vectorOf(Type element, int64_t lanes) { return lanes == 0 ? element : VectorType::get({lanes}, element); }

Value codegen::spread(ImplicitLocOpBuilder &b, Value scalar, int64_t lanes) {
  if (lanes == 0 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, VectorType::get({lanes}, scalar.getType()), scalar);
}

static Value mapped(ImplicitLocOpBuilder &b, const IRMapping &map, Value v, int64_t lanes) {
  return codegen::spread(b, map.lookupOrDefault(v), lanes);
}

void codegen::cloneOp(ImplicitLocOpBuilder &b, Operation &op, IRMapping &map, int64_t lanes) {
  if (isa<arith::ConstantOp>(op)) {
    Value copy = b.clone(op)->getResult(0);
    map.map(op.getResult(0), spread(b, copy, lanes));
    return;
  }
  OperationState state(op.getLoc(), op.getName());
  for (Value v : op.getOperands())
    state.operands.push_back(mapped(b, map, v, lanes));
  for (Type type : op.getResultTypes())
    state.types.push_back(vectorOf(type, lanes));
  state.attributes = llvm::to_vector(op.getAttrs());
  Operation *made = b.create(state);
  for (auto [from, to] : llvm::zip(op.getResults(), made->getResults()))
    map.map(from, to);
}

SmallVector<Value> codegen::cloneBody(ImplicitLocOpBuilder &b, Block &body, ValueRange args, int64_t lanes,
                                      llvm::function_ref<Value(unsigned)> indexOf) {
  IRMapping map;
  for (auto [from, to] : llvm::zip(body.getArguments(), args))
    map.map(from, to);
  auto isVector = [&](Value v) { return isa<VectorType>(map.lookupOrDefault(v).getType()); };
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      map.map(index.getResult(), indexOf(index.getDim()));
    else if (llvm::none_of(op.getOperands(), isVector))
      b.clone(op, map);
    else
      cloneOp(b, op, map, lanes);
  }
  SmallVector<Value> out;
  for (Value v : body.getTerminator()->getOperands())
    out.push_back(mapped(b, map, v, lanes));
  return out;
}
