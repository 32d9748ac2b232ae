//===- Loops.cpp - the family that takes everything -----------------------===//
//
// Elements: a thread computes an element of a result from its position, whatever lies between it and the buffers; sums
// are added up in the order of the loops. Sequence: what goes element after element (Sequence.cpp).
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "optc/codegen/cuda/Elements.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/dialects/kernel/Elements.h"

using namespace mlir;
using namespace optc;
using kernel::CudaLoopBlocks;

static LogicalResult emitElements(cuda::DeviceBody &body) {
  std::string why;
  if (!kernel::computesByElement(body.func.getBody().front(), &why))
    return body.refuse("not element by element: " + Twine(why));
  cuda::ElementEmitter elements(body);
  elements.replaceScalarReads();
  SmallVector<bufferization::MaterializeInDestinationOp> stores;
  body.func.walk([&](bufferization::MaterializeInDestinationOp op) { stores.push_back(op); });
  for (bufferization::MaterializeInDestinationOp store : stores) {
    Value result = store.getSource(), buffer = body.destination(result);
    auto bind = store.getDest().getDefiningOp<kernel::BindOp>();
    if (!bind)
      return store.emitError("the cuda-loops family needs a buffer for every result");
    Value count = body.index.c(1);
    ValueRange dynamic = bind.getDims();
    for (int64_t size : cast<MemRefType>(bind.getMemref().getType()).getShape()) {
      count = body.index.mul(count, ShapedType::isDynamic(size) ? dynamic.front() : body.index.c(size));
      if (ShapedType::isDynamic(size))
        dynamic = dynamic.drop_front();
    }
    body.forElements(
        count, 1, [&](Value flat) { memref::StoreOp::create(body.b, elements.at(result, {{}, flat}), buffer, flat); });
  }
  body.finish();
  return success();
}

LogicalResult cuda::emitLoops(DeviceBody &body, const EmitOptions &options) {
  FailureOr<CudaLoopBlocks> blocks = body.blocks<CudaLoopBlocks>();
  if (failed(blocks))
    return failure();
  return blocks->form == CudaLoopBlocks::Elements ? emitElements(body) : emitSequence(body, options);
}
