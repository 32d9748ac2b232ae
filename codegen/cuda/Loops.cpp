//===- Loops.cpp - the family that takes everything -----------------------===//
//
// Elements: a thread computes an element of a result from its position, whatever lies between it and the buffers; sums
// are added up in the order of the loops. Sequence: what goes element after element (scatters, scans, recurrences) is
// the CPU's plain loops in one thread: slow, and right.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/codegen/cuda/Elements.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/dialects/kernel/Elements.h"

using namespace mlir;
using namespace optc;
using kernel::CudaLoopBlocks;

static LogicalResult emitElements(cuda::DeviceBody &body) {
  std::string why;
  if (!kernel::computesByElement(body.func.getBody().front(), &why))
    return body.func.emitError("the cuda-loops family cannot emit kernel '")
           << body.func.getName() << "' element by element: " << why;
  cuda::ElementEmitter elements(body);
  elements.replaceScalarReads();
  SmallVector<Value> results;
  body.func.walk([&](bufferization::MaterializeInDestinationOp op) { results.push_back(op.getSource()); });
  for (Value result : results) {
    Value buffer = body.destination(result), count = body.product(body.dims(result));
    body.forElements(
        count, 1, [&](Value flat) { memref::StoreOp::create(body.b, elements.at(result, {{}, flat}), buffer, flat); });
  }
  body.finish();
  return success();
}

/// Everything behind the kernel's first ops, where its buffers are bound, is for one thread.
static LogicalResult emitSequence(cuda::DeviceBody &body, const cuda::EmitOptions &options) {
  if (failed(cpu::lowerToLoops(body.func, {options.optLevel, options.contract}, /*tiles=*/{})))
    return failure();
  Block &entry = body.func.getBody().front();
  auto from = llvm::find_if(entry, [](Operation &op) { return !isPure(&op) && !isa<memref::AllocaOp>(op); });
  ImplicitLocOpBuilder b(body.func.getLoc(), &entry, from);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  auto isZero = [&](Value v) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, v, zero).getResult(); };
  Value isFirst = arith::AndIOp::create(b, isZero(body.thread), isZero(body.block));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->begin(), entry.getOperations(), from, entry.getTerminator()->getIterator());
  return success();
}

LogicalResult cuda::emitLoops(DeviceBody &body, const EmitOptions &options) {
  FailureOr<CudaLoopBlocks> blocks = CudaLoopBlocks::get(body.strategy);
  if (failed(blocks))
    return body.func.emitError("the cuda-loops family cannot emit kernel '")
           << body.func.getName() << "': its strategy has blocks of another family";
  return blocks->form == CudaLoopBlocks::Elements ? emitElements(body) : emitSequence(body, options);
}
