//===- Storage.cpp - parts of larger tensors ------------------------------===//
#include "optc/dialects/kernel/Storage.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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
    // Of a whole tensor it is one, whatever its type has forgotten.
    return isContiguous(cast.getSource()) ? SmallVector<int64_t>(shape)
                                          : relevant(shape, storedShape(cast.getSource()));
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

/// Bytes of an element in memory.
static int64_t bytesOf(Type elem) {
  if (auto complexType = dyn_cast<ComplexType>(elem))
    return 2 * bytesOf(complexType.getElementType());
  return elem.isIntOrFloat() ? llvm::divideCeil(elem.getIntOrFloatBitWidth(), 8) : 8;
}

/// The largest power of two, up to the alignment of buffers, that a distance is a multiple of.
static int64_t alignmentOfDistance(int64_t bytes) {
  return bytes ? std::min(bytes & -bytes, kBufferAlignment) : kBufferAlignment;
}

/// The same of `offset` steps along a dimension of memory of this shape; without an offset, of any number of steps.
static int64_t alignmentOfStep(ArrayRef<int64_t> stored, int64_t dim, std::optional<int64_t> offset, Type elem) {
  int64_t distance = bytesOf(elem);
  for (int64_t size : stored.drop_front(dim + 1))
    if (!ShapedType::isDynamic(size))
      distance *= size;
  return alignmentOfDistance(distance * offset.value_or(1));
}

/// Of a result that is computed in its place in a concatenation.
static int64_t alignmentOfPart(DispatchOp dispatch, unsigned number) {
  OpResult result = dispatch->getResult(number);
  auto type = cast<RankedTensorType>(result.getType());
  std::optional<ArrayAttr> storedIn = dispatch.getStoredIn();
  if (!storedIn || cast<TypeAttr>((*storedIn)[number]).getValue() == type)
    return kBufferAlignment;
  auto [concat, operand] = concatenationOf(result);
  int64_t before = 0;
  for (unsigned i = 0; concat && i < operand; ++i) {
    int64_t size = cast<RankedTensorType>(concat.getInputs()[i].getType()).getDimSize(concat.getDim());
    if (ShapedType::isDynamic(size))
      concat = nullptr;
    else
      before += size;
  }
  if (!concat) // `plan` reports it
    return alignmentOfDistance(bytesOf(type.getElementType()));
  return alignmentOfStep(concat.getType().getShape(), concat.getDim(), before, type.getElementType());
}

int64_t optc::kernel::alignmentOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto dispatch = dyn_cast_or_null<DispatchOp>(argument.getOwner()->getParentOp());
    return dispatch ? alignmentOfPart(dispatch, argument.getArgNumber()) : kBufferAlignment;
  }
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  Operation *def = tensor.getDefiningOp();
  if (auto dispatch = dyn_cast<DispatchOp>(def))
    return alignmentOfPart(dispatch, number);
  if (auto op = dyn_cast<linalg::LinalgOp>(def))
    return alignmentOf(op.getDpsInits()[number]);
  if (isa<tensor::CastOp, ViewOp, PaddedOp>(def) && isa<RankedTensorType>(def->getOperand(0).getType()))
    return alignmentOf(def->getOperand(0));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
    int64_t alignment = alignmentOf(slice.getSource());
    SmallVector<int64_t> stored = storedShape(slice.getSource());
    for (auto [d, offset] : llvm::enumerate(slice.getMixedOffsets()))
      alignment = std::min(
          alignment, alignmentOfStep(stored, d, getConstantIntValue(offset), slice.getSourceType().getElementType()));
    return alignment;
  }
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(def))
    if (auto bind = toTensor.getBuffer().getDefiningOp<BindOp>())
      if (auto buffer = dyn_cast<BlockArgument>(bind.getPtr()))
        if (auto func = dyn_cast<FunctionOpInterface>(buffer.getOwner()->getParentOp()))
          if (auto align =
                  func.getArgAttrOfType<IntegerAttr>(buffer.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName()))
            return std::min(align.getInt(), kBufferAlignment);
  return kBufferAlignment;
}

bool optc::kernel::isAligned(Value tensor, int64_t lanes) {
  return alignmentOf(tensor) % (bytesOf(cast<RankedTensorType>(tensor.getType()).getElementType()) * lanes) == 0;
}

bool optc::kernel::sameSize(Value a, unsigned i, Value b, unsigned j) {
  auto sizeOf = [](Value tensor, unsigned d) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SizeExpr size(type.isDynamicDim(d) ? 1 : type.getDimSize(d));
    if (type.isDynamicDim(d))
      size.runtime.push_back({tensor, d});
    return size;
  };
  return SizeClasses().equal(sizeOf(a, i), sizeOf(b, j));
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
  for (int64_t d = outermost(type.getShape()) + 1; d < type.getRank(); ++d)
    if (ShapedType::isDynamic(stored[d]) && !sameSize(slice, d, slice.getSource(), d))
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

bool optc::kernel::usesStrings(Operation *root) {
  auto isString = [](Type type) { return isa<StringType>(getElementTypeOrSelf(type)); };
  return root
      ->walk([&](Operation *op) {
        bool uses = llvm::any_of(op->getOperandTypes(), isString) || llvm::any_of(op->getResultTypes(), isString);
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
