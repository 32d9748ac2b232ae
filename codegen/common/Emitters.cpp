//===- Emitters.cpp - kernels and the families that emit them -------------===//
#include "optc/codegen/common/Emitters.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace optc;

LogicalResult codegen::checkKernel(func::FuncOp func) {
  bufferization::MaterializeInDestinationOp first;
  func.walk([&](bufferization::MaterializeInDestinationOp op) {
    first = op;
    return WalkResult::interrupt();
  });
  if (!first || !first.getDest().getDefiningOp<kernel::BindOp>())
    return func.emitError("kernel '") << func.getName() << "' has no result bound to a buffer";
  unsigned rank = cast<MemRefType>(first.getDest().getType()).getRank();
  for (const kernel::TileGroup &group :
       kernel::tileGroups(func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy")))
    if (group.firstDim + group.numDims > rank)
      return func.emitError("kernel '") << func.getName() << "' has tiles of dimensions that its result does not have";
  return success();
}
