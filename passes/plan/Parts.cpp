//===- Parts.cpp - slices and parts of concatenations ---------------------===//
//
// A part has the address of its first element and the roots of the whole, which keeps the whole alive. The buffer of a
// concatenation is made at the first dispatch that computes one of its parts.
//===----------------------------------------------------------------------===//
#include "optc/passes/plan/Planner.h"

using namespace mlir;
using namespace optc;

Buffer Planner::partOf(Location loc, const Buffer &whole, Value tensor, ArrayRef<Value> starts,
                       SmallVector<Value> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  // Elements before the part, in memory whose shape is that of the whole: sizes that are not known are the whole's own.
  SmallVector<int64_t> stored = kernel::storedShape(tensor);
  Value offset = constIndex(0);
  for (auto [start, size, stride] : llvm::zip(starts, whole.dims, stored))
    offset = arith::AddIOp::create(b, loc, mul(loc, offset, ShapedType::isDynamic(stride) ? size : constIndex(stride)),
                                   start);
  Value bytes = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                           mul(loc, offset, constIndex(elementBytes(type.getElementType()))));
  Buffer part = whole;
  part.ptr = LLVM::GEPOp::create(b, loc, ptrType, b.getI8Type(), whole.ptr, ArrayRef<LLVM::GEPArg>{bytes});
  part.dims = std::move(dims);
  part.isPart = true;
  return part;
}

LogicalResult Planner::convertSlice(tensor::ExtractSliceOp op) {
  std::string why;
  if (!kernel::isAddressable(op, &why))
    return op.emitOpError("cannot be read where it is: it ") << why;
  Buffer source = buffer(op.getSource());
  auto value = [&](OpFoldResult v) {
    if (std::optional<int64_t> constant = getConstantIntValue(v))
      return constIndex(*constant);
    return scalars.lookupOrDefault(cast<Value>(v));
  };
  auto starts = llvm::map_to_vector(op.getMixedOffsets(), value),
       sizes = llvm::map_to_vector(op.getMixedSizes(), value);
  buffers[op.getResult()] = partOf(op.getLoc(), source, op.getSource(), starts, sizes);
  return success();
}

FailureOr<Buffer> Planner::placeResult(kernel::DispatchOp op, unsigned number, SmallVector<Value> dims) {
  Location loc = op.getLoc();
  OpResult result = op->getResult(number);
  auto memory = op.getStoredIn() ? cast<TypeAttr>((*op.getStoredIn())[number]).getValue() : result.getType();
  if (memory == result.getType())
    return allocateResult(loc, result, std::move(dims));
  auto [concat, operand] = kernel::concatenationOf(result);
  auto type = concat ? concat.getType() : RankedTensorType();
  if (type != memory || concat->getBlock() != op->getBlock())
    return op.emitOpError("stores a result in ")
           << memory << ", but there is no one concatenation of this type that reads it";
  int64_t axis = concat.getDim(), before = 0;
  for (Value part : concat.getInputs()) {
    int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(axis);
    if (ShapedType::isDynamic(size) || type.isDynamicDim(axis))
      return op.emitOpError("stores a result in a concatenation along sizes that only a run knows");
    if (part == concat.getInputs()[operand])
      break;
    before += size;
  }
  Buffer whole;
  if (auto have = buffers.find(concat.getResult()); have != buffers.end()) {
    whole = have->second;
    use(concat.getResult());
  } else {
    SmallVector<Value> sizes = dims; // but for the axis, all parts have the sizes of the whole
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(size))
        sizes[d] = constIndex(size);
    whole = buffers[concat.getResult()] = allocateResult(loc, concat.getResult(), std::move(sizes));
  }
  SmallVector<Value> starts(type.getRank(), constIndex(0));
  starts[axis] = constIndex(before);
  return partOf(loc, whole, concat.getResult(), starts, std::move(dims));
}

LogicalResult Planner::convertConcat(tensor::ConcatOp op) {
  for (Value part : op.getInputs()) {
    use(part);
    while (auto cast = part.getDefiningOp<tensor::CastOp>())
      part = cast.getSource();
    auto result = dyn_cast<OpResult>(part);
    auto dispatch = result ? dyn_cast<kernel::DispatchOp>(result.getOwner()) : kernel::DispatchOp();
    bool placed = dispatch && dispatch.getStoredIn() && kernel::concatenationOf(part).first == op &&
                  cast<TypeAttr>((*dispatch.getStoredIn())[result.getResultNumber()]).getValue() == op.getType();
    if (!placed)
      return op.emitOpError("has a part that no dispatch computes in its place");
  }
  use(op.getResult());
  return success();
}
