//===- Storage.cpp - parts of larger tensors ------------------------------===//
#include "optc/dialects/kernel/Storage.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/SizeClasses.h"

using namespace mlir;
using namespace optc::kernel;

/// The first dimension of more than one element: only the sizes behind it make strides.
static size_t outermost(ArrayRef<int64_t> shape) {
  return llvm::find_if(shape, [](int64_t size) { return size != 1; }) - shape.begin();
}

/// The strides of memory of shape `stored` for a tensor of shape `shape` in it.
static SmallVector<int64_t> relevant(ArrayRef<int64_t> shape, ArrayRef<int64_t> stored) {
  SmallVector<int64_t> all(shape);
  for (size_t d = outermost(shape) + 1; d < shape.size(); ++d)
    if (!ShapedType::isDynamic(stored[d]))
      all[d] = stored[d];
  return all;
}

SmallVector<int64_t> optc::kernel::storedShape(Value tensor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  auto ofDispatch = [&](DispatchOp dispatch, unsigned number) {
    std::optional<ArrayAttr> storedIn = dispatch.getStoredIn();
    auto memory = storedIn ? cast<TypeAttr>((*storedIn)[number]).getValue() : tensor.getType();
    return relevant(shape, cast<RankedTensorType>(memory).getShape());
  };
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto dispatch = dyn_cast_or_null<DispatchOp>(argument.getOwner()->getParentOp());
    return dispatch ? ofDispatch(dispatch, argument.getArgNumber()) : SmallVector<int64_t>(shape);
  }
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  Operation *def = tensor.getDefiningOp();
  if (auto dispatch = dyn_cast<DispatchOp>(def))
    return ofDispatch(dispatch, number);
  if (auto op = dyn_cast<linalg::LinalgOp>(def))
    return relevant(shape, storedShape(op.getDpsInits()[number]));
  if (auto cast = dyn_cast<tensor::CastOp>(def); cast && isa<RankedTensorType>(cast.getSource().getType()))
    return relevant(shape, storedShape(cast.getSource()));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def);
      slice && slice.getSourceType().getRank() == slice.getType().getRank())
    return relevant(shape, storedShape(slice.getSource()));
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(def))
    if (auto bind = toTensor.getBuffer().getDefiningOp<BindOp>(); bind && bind.getStored())
      return relevant(shape, *bind.getStored());
  return SmallVector<int64_t>(shape);
}

bool optc::kernel::isContiguous(ArrayRef<int64_t> shape, ArrayRef<int64_t> stored) {
  return relevant(shape, stored) == shape;
}

bool optc::kernel::isContiguous(Value tensor) {
  return storedShape(tensor) == cast<RankedTensorType>(tensor.getType()).getShape();
}

SmallVector<int64_t> optc::kernel::stridesOf(ArrayRef<int64_t> stored) {
  SmallVector<int64_t> strides(stored.size());
  int64_t stride = 1;
  for (size_t d = stored.size(); d-- > 0;) {
    strides[d] = stride;
    bool known = !ShapedType::isDynamic(stride) && !ShapedType::isDynamic(stored[d]);
    stride = known ? stride * stored[d] : ShapedType::kDynamic;
  }
  return strides;
}

bool optc::kernel::isAddressable(tensor::ExtractSliceOp slice, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  RankedTensorType source = slice.getSourceType(), type = slice.getType();
  if (!slice.hasUnitStride() || source.getRank() != type.getRank())
    return refuse("steps over elements");
  SmallVector<int64_t> stored = storedShape(slice.getSource());
  SizeClasses sizes;
  auto sizeOf = [](Value tensor, unsigned d) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SizeExpr size(type.isDynamicDim(d) ? 1 : type.getDimSize(d));
    if (type.isDynamicDim(d))
      size.runtime.push_back({tensor, d});
    return size;
  };
  for (int64_t d = outermost(type.getShape()) + 1; d < type.getRank(); ++d)
    if (ShapedType::isDynamic(stored[d]) && !sizes.equal(sizeOf(slice, d), sizeOf(slice.getSource(), d)))
      return refuse("cuts a dimension whose size only a run knows");
  return true;
}

std::pair<tensor::ConcatOp, unsigned> optc::kernel::concatenationOf(Value part) {
  std::pair<tensor::ConcatOp, unsigned> found;
  SmallVector<Value> values = {part};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()); cast && isa<RankedTensorType>(cast.getType()))
        values.push_back(cast);
      auto concat = dyn_cast<tensor::ConcatOp>(use.getOwner());
      if (!concat)
        continue;
      if (found.first)
        return {};
      found = {concat, use.getOperandNumber()};
    }
  }
  return found;
}
