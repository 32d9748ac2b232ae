//===- Epilogue.cpp - consumers computed on accumulators ------------------===//
#include "optc/codegen/cuda/Epilogue.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc;
using kernel::NestOperand;

LogicalResult cuda::Epilogue::collect(const kernel::LoopNest &loops, ArrayRef<unsigned> along, bool contract,
                                      bool indices) {
  if (failed(EpilogueChain::collect(loops, along, indices)))
    return failure();
  if (contract)
    for (const kernel::Epilogue &epilogue : ops())
      codegen::allowContraction({epilogue.op});
  return success();
}

bool cuda::Epilogue::allowsVectors(int64_t lanes) const {
  auto isAligned = [&](const NestOperand &operand) {
    if (!movesAlongColumns(operand))
      return true;
    Type elem = cast<RankedTensorType>(operand.tensor.getType()).getElementType();
    if (!elem.isIntOrFloat() || llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8) * lanes > 16 ||
        !kernel::isAligned(operand.tensor, lanes))
      return false;
    for (unsigned loop = 0; loop < nest->numLoops(); ++loop)
      if (!llvm::is_contained(columns, loop) && operand.strides[loop].factor % lanes)
        return false;
    return operand.strides[columns.back()].is(1);
  };
  if (columns.empty() || nest->sizeOf(columns).factor % lanes || !isAligned(nest->result()))
    return lanes == 1;
  return llvm::all_of(ops(), [&](const kernel::Epilogue &op) { return llvm::all_of(op.operands, isAligned); });
}

void cuda::Epilogue::store(ArrayRef<Value> sums, llvm::function_ref<Value(const NestOperand &)> offset,
                           llvm::function_ref<Value(unsigned)> position) {
  emit(
      Values(sums), /*lanes=*/0,
      [&](Value buffer, const NestOperand &walk) -> Values {
        Value at = offset(walk);
        if (movesAlongColumns(walk))
          return device.loadVector(buffer, at, sums.size());
        return Values(sums.size(), memref::LoadOp::create(device.b, buffer, at));
      },
      [&](const Values &values, Value buffer, const NestOperand &walk) {
        device.storeVector(values, buffer, offset(walk));
      },
      position);
}
