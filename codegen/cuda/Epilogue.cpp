//===- Epilogue.cpp - consumers computed on accumulators ------------------===//
#include "optc/codegen/cuda/Epilogue.h"
#include "optc/codegen/cpu/VectorBody.h"

using namespace mlir;
using namespace optc;
using kernel::NestOperand;

LogicalResult cuda::Epilogue::collect(const kernel::LoopNest &loops, ArrayRef<unsigned> along, bool contract) {
  nest = &loops;
  columns.assign(along.begin(), along.end());
  Value result = loops.op.getResult(0);
  for (linalg::LinalgOp op : body.ops()) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || generic == loops.op)
      continue; // the fill that the root starts from
    std::string why;
    FailureOr<kernel::Epilogue> match = kernel::matchEpilogue(loops, columns, generic, result, /*indices=*/false, &why);
    if (failed(match))
      return generic.emitError("the ") << body.strategy.getFamily().getValue() << " family cannot emit kernel '"
                                       << body.func.getName() << "': " << why;
    if (contract)
      cpu::allowContraction({generic});
    ops.push_back(std::move(*match));
    result = generic.getResult(0);
  }
  return success();
}

bool cuda::Epilogue::allowsVectors(int64_t lanes) const {
  auto isAligned = [&](const NestOperand &operand) {
    if (!moves(operand))
      return true;
    Type elem = cast<RankedTensorType>(operand.tensor.getType()).getElementType();
    if (!elem.isIntOrFloat() || llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8) * lanes > 16)
      return false;
    for (unsigned loop = 0; loop < nest->numLoops(); ++loop)
      if (!llvm::is_contained(columns, loop) && operand.strides[loop].factor % lanes)
        return false;
    return operand.strides[columns.back()].is(1);
  };
  if (columns.empty() || nest->sizeOf(columns).factor % lanes || !isAligned(nest->result()))
    return lanes == 1;
  return llvm::all_of(ops, [&](const kernel::Epilogue &op) { return llvm::all_of(op.operands, isAligned); });
}

void cuda::Epilogue::store(ArrayRef<Value> sums, llvm::function_ref<Value(const NestOperand &)> offset) {
  int64_t lanes = sums.size();
  SmallVector<Value> values(sums);
  auto storeTo = [&](Value tensor, const NestOperand &walk) {
    if (Value buffer = body.destination(tensor))
      body.storeVector(values, buffer, offset(walk));
  };
  Value result = nest->op->getResult(0);
  storeTo(result, nest->result());
  for (kernel::Epilogue &epilogue : ops) {
    SmallVector<SmallVector<Value>> args;
    for (auto [operand, walk] : llvm::zip(epilogue.op->getOpOperands(), epilogue.operands)) {
      bool isRead = epilogue.op.isDpsInput(&operand) && epilogue.op.payloadUsesValueFromOperand(&operand);
      if (!isRead || operand.get() == result) {
        args.push_back(values);
        continue;
      }
      Value buffer = body.flat(operand.get()), at = offset(walk);
      if (moves(walk))
        args.push_back(body.loadVector(buffer, at, lanes));
      else
        args.push_back(SmallVector<Value>(lanes, memref::LoadOp::create(b, buffer, at)));
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<Value> scalars = llvm::map_to_vector(args, [&](const SmallVector<Value> &arg) { return arg[lane]; });
      values[lane] = cpu::cloneOnVectors(b, *epilogue.op.getBody(), scalars, 0, [](unsigned) { return Value(); })[0];
    }
    result = epilogue.op->getResult(0);
    storeTo(result, epilogue.operands.back());
  }
}
