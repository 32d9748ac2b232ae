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
    ArrayRef<int64_t> shape = cast<MemRefType>(bind.getMemref().getType()).getShape();
    ArrayRef<int64_t> memory = bind.getStored().value_or(shape);
    SmallVector<Value> sizes, stored; // of the result, and of the memory that it is a part of
    ValueRange dynamic = bind.getDims();
    for (auto [size, storedSize] : llvm::zip(shape, memory)) {
      sizes.push_back(ShapedType::isDynamic(size) ? dynamic.front() : body.index.c(size));
      stored.push_back(ShapedType::isDynamic(storedSize) ? sizes.back() : body.index.c(storedSize));
      if (ShapedType::isDynamic(size))
        dynamic = dynamic.drop_front();
    }
    body.forElements(body.product(sizes), 1, [&](Value flat) {
      cuda::ElementEmitter::Point point{{}, flat};
      Value place = flat;
      if (bind.getStored()) {
        point.indices = body.unflatten(flat, sizes);
        place = body.flatten(point.indices, stored);
      }
      memref::StoreOp::create(body.b, elements.at(result, std::move(point)), buffer, place);
    });
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
