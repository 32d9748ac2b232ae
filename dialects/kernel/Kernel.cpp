//===- Kernel.cpp - the kernel dialect ------------------------------------===//
#include "optc/dialects/kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace optc::kernel;

#include "optc/dialects/kernel/KernelDialect.cpp.inc"
#include "optc/dialects/kernel/KernelEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "optc/dialects/kernel/KernelTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "optc/dialects/kernel/KernelAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "optc/dialects/kernel/Kernel.cpp.inc"

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "optc/dialects/kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "optc/dialects/kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "optc/dialects/kernel/Kernel.cpp.inc"
      >();
}

/// Number of `?` in the types.
static int64_t countDynamicDims(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    count += cast<RankedTensorType>(type).getNumDynamicDims();
  return count;
}

void DispatchOp::build(OpBuilder &builder, OperationState &state, StringRef label, TypeRange results,
                       ValueRange resultDims) {
  state.addTypes(results);
  state.addOperands(resultDims);
  state.getOrAddProperties<Properties>().label = builder.getStringAttr(label);
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Type type : results)
    block.addArgument(type, state.location);
}

LogicalResult DispatchOp::verify() {
  if (countDynamicDims(getResultTypes()) != static_cast<int64_t>(getResultDims().size()))
    return emitOpError("has ") << getResultDims().size() << " result dims for " << countDynamicDims(getResultTypes())
                               << " dynamic dimensions";
  Block &block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(getResultTypes()))
    return emitOpError("needs one destination per result, of its type");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(getResultTypes()))
    return emitOpError("must yield one value per result, of its type");
  return success();
}

LogicalResult ReleaseOp::verify() {
  if (getKept().size() != getBytes().size() || getKept().size() != getMoved().size())
    return emitOpError("keeps ") << getKept().size() << " buffers, but has " << getBytes().size() << " sizes and "
                                 << getMoved().size() << " results";
  return success();
}

LogicalResult SolveArenaOp::verify() {
  if (getPtrs().size() != getBytes().size() || getLifetimes().size() != 2 * getBytes().size())
    return emitOpError("has ") << getBytes().size() << " sizes, " << getLifetimes().size() << " ends of lifetimes and "
                               << getPtrs().size() << " results";
  return success();
}

LogicalResult ViewOp::verify() {
  if (countDynamicDims(getResult().getType()) != static_cast<int64_t>(getDims().size()))
    return emitOpError("has ") << getDims().size() << " dims for " << countDynamicDims(getResult().getType())
                               << " dynamic dimensions";
  auto source = cast<RankedTensorType>(getSource().getType()), result = cast<RankedTensorType>(getResult().getType());
  if (source.getElementType() != result.getElementType())
    return emitOpError("cannot change the element type");
  if (source.hasStaticShape() && result.hasStaticShape() && source.getNumElements() != result.getNumElements())
    return emitOpError("cannot change the number of elements");
  return success();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (getSource().getType() == type && type.hasStaticShape())
    return getSource();
  return {};
}
