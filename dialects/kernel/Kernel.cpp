//===- Kernel.cpp - the kernel dialect ------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/Strategy.h"
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

Operation *KernelDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
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
  if (std::optional<ArrayAttr> storedIn = getStoredIn()) {
    if (storedIn->size() != getNumResults())
      return emitOpError("says where ") << storedIn->size() << " of " << getNumResults() << " results are stored";
    for (auto [stored, type] : llvm::zip(storedIn->getAsValueRange<TypeAttr>(), getResultTypes())) {
      auto memory = dyn_cast<RankedTensorType>(stored);
      auto result = cast<RankedTensorType>(type);
      bool fits = memory && memory.getElementType() == result.getElementType() &&
                  memory.getRank() == result.getRank() &&
                  llvm::all_of(llvm::zip(memory.getShape(), result.getShape()), [](auto sizes) {
                    auto [large, small] = sizes;
                    return ShapedType::isDynamic(large) || ShapedType::isDynamic(small) || large >= small;
                  });
      if (!fits)
        return emitOpError("cannot store a result of type ") << type << " in a part of " << stored;
    }
  }
  if (StrategyAttr strategy = getStrategyAttr()) {
    int64_t dims = 0;
    for (int64_t count : strategy.getGroups().asArrayRef())
      dims += count;
    if (dims > 0 && (getNumResults() == 0 || dims > cast<RankedTensorType>(getResult(0).getType()).getRank()))
      return emitOpError("has a strategy whose groups name ") << dims << " dimensions, more than the first result has";
  }
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

OpFoldResult ViewOp::fold(FoldAdaptor adaptor) {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.hasStaticShape() && getSource().getType() == type)
    return getSource();
  // A view of a view is a view of the first source.
  if (auto inner = getSource().getDefiningOp<ViewOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (!type.hasStaticShape())
    return {};
  // The same bytes under another type.
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource()))
    return dense.reshape(type);
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getSource()))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

LogicalResult StrategyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringAttr family,
                                   DenseI64ArrayAttr groups, DenseI64ArrayAttr tiles, DenseI64ArrayAttr blocks,
                                   int64_t scratch, StringAttr reason) {
  if (groups.size() != tiles.size())
    return emitError() << "needs one tile size per group, but has " << tiles.size() << " for " << groups.size();
  for (auto [group, tile] : llvm::zip(groups.asArrayRef(), tiles.asArrayRef()))
    if (group < 1 || tile < 0)
      return emitError() << "needs groups of at least one dimension and tiles that are not negative";
  if (scratch < 0)
    return emitError() << "needs scratch bytes that are not negative";
  // Families whose blocks are always so many numbers (Strategy.h).
  static constexpr std::pair<StringLiteral, size_t> kBlocks[] = {
      {kFamilyGemm, 5}, {kFamilyPack, 1}, {kFamilyWindow, 5}};
  for (auto [name, count] : kBlocks)
    if (family == name && blocks.size() != static_cast<int64_t>(count))
      return emitError() << "needs " << count << " blocks for the family '" << name << "', but has " << blocks.size();
  bool anyCount = llvm::none_of(kBlocks, [&](auto &entry) { return family == entry.first; });
  for (auto [i, block] : llvm::enumerate(blocks.asArrayRef()))
    if (!anyCount && (block < (family == kFamilyWindow && i == 4 ? 0 : 1) || block > 1024))
      return emitError() << "has a block of " << block << ", which is no size of inner code";
  return success();
}

/// [outer..., ceil(n / lanes), k, lanes], or with groups of k, of a source shape; fails on dimensions out of range or
/// named twice.
static FailureOr<SmallVector<int64_t>> packedShape(RankedTensorType source, PackingAttr packing) {
  SmallVector<bool> seen(source.getRank());
  SmallVector<int64_t> shape;
  // A product with a size that only a run knows is such a size.
  int64_t n = 1, k = 1, run = 1, depth = packing.getDepth();
  auto multiply = [](int64_t x, int64_t y) {
    return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) ? ShapedType::kDynamic : x * y;
  };
  auto take = [&](ArrayRef<int64_t> dims, llvm::function_ref<void(int64_t)> use) {
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= source.getRank() || seen[dim])
        return false;
      seen[dim] = true;
      use(source.getDimSize(dim));
    }
    return true;
  };
  ArrayRef<int64_t> kDims = packing.getK();
  if (depth < 1 || packing.getRun() < 0 || packing.getRun() > static_cast<int64_t>(kDims.size()))
    return failure();
  if (packing.getLanes() < 1 || !take(packing.getOuter(), [&](int64_t size) { shape.push_back(size); }) ||
      !take(packing.getN(), [&](int64_t size) { n = multiply(n, size); }) ||
      !take(kDims.drop_back(packing.getRun()), [&](int64_t size) { k = multiply(k, size); }) ||
      !take(kDims.take_back(packing.getRun()), [&](int64_t size) { run = multiply(run, size); }))
    return failure();
  k = multiply(k, ShapedType::isDynamic(run) ? run : llvm::divideCeilSigned(run, depth));
  for (int64_t i = 0; i < source.getRank(); ++i)
    if (!seen[i] && source.getDimSize(i) != 1)
      return failure();
  shape.push_back(ShapedType::isDynamic(n) ? n : llvm::divideCeilSigned(n, packing.getLanes()));
  shape.append({k, packing.getLanes() * depth});
  return shape;
}

/// The elements of panels. Values of 4 bits or less, which tensors hold in a byte each, share bytes where the lanes of
/// a step can be halved: the first half is in the low bits, the second one in the high bits, so that a mask or a shift
/// of a vector is a vector again.
static Type panelElement(Type elem, PackingAttr packing) {
  auto integer = dyn_cast<IntegerType>(elem);
  if (!integer || integer.getWidth() < 2 || integer.getWidth() > 4)
    return elem;
  if (packing.getDepth() != 1 || packing.getLanes() % 2 != 0)
    return IntegerType::get(elem.getContext(), 8);
  return IntegerType::get(elem.getContext(), 4, integer.getSignedness());
}

static LogicalResult verifyPacking(Operation *op, Type plain, Type packed, PackingAttr packing) {
  auto plainType = cast<RankedTensorType>(plain), packedType = cast<RankedTensorType>(packed);
  FailureOr<SmallVector<int64_t>> shape = packedShape(plainType, packing);
  if (failed(shape))
    return op->emitOpError("has a packing that does not name each dimension of ") << plain << " once";
  Type elem = packedType.getElementType();
  bool fits = elem == plainType.getElementType() ||
              (plainType.getElementType().isInteger(8) && elem.isInteger(4) && panelElement(elem, packing) == elem);
  if (packedType.getShape() != ArrayRef(*shape) || !fits)
    return op->emitOpError("has panels of type ") << packed << " where the packing makes another shape";
  return success();
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getResult().getType(), getPacking());
}
LogicalResult PackedOp::verify() {
  return verifyPacking(*this, getResult().getType(), getPanels().getType(), getPacking());
}

LogicalResult PaddedOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), result = cast<RankedTensorType>(getResult().getType());
  if (source.getRank() != result.getRank() || source.getElementType() != result.getElementType())
    return emitOpError("cannot change the rank or the element type");
  if (getFill().getType() != result.getElementType())
    return emitOpError("has a fill of another type than its elements");
  if (static_cast<int64_t>(getLow().size()) != source.getRank() || getSizes().size() != getLow().size())
    return emitOpError("needs a low border and a size for each of ") << source.getRank() << " dimensions";
  if (result.getNumDynamicDims() != getDims().size())
    return emitOpError("has ") << getDims().size() << " dims for " << result.getNumDynamicDims()
                               << " dynamic dimensions";
  return success();
}

LogicalResult ForeignOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("computes nothing");
  if (countDynamicDims(getResultTypes()) != static_cast<int64_t>(getResultDims().size()))
    return emitOpError("has ") << getResultDims().size() << " dims for " << countDynamicDims(getResultTypes())
                               << " dynamic dimensions";
  return success();
}

LogicalResult BindOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (getDims().size() != type.getNumDynamicDims())
    return emitOpError("has ") << getDims().size() << " dims for " << type.getNumDynamicDims() << " dynamic dimensions";
  bool fits = type.getLayout().isIdentity();
  if (std::optional<ArrayRef<int64_t>> stored = getStored()) {
    auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
    fits = static_cast<int64_t>(stored->size()) == type.getRank() && layout && layout.getOffset() == 0 &&
           layout.getStrides() == ArrayRef(stridesOf(*stored)) &&
           llvm::all_of(llvm::zip(*stored, type.getShape()), [](auto sizes) {
             auto [memory, own] = sizes;
             return !ShapedType::isDynamic(memory) || ShapedType::isDynamic(own);
           });
  }
  if (!fits)
    return emitOpError("has a layout that its stored shape does not tell");
  return success();
}

RankedTensorType optc::kernel::packedType(RankedTensorType source, PackingAttr packing) {
  FailureOr<SmallVector<int64_t>> shape = packedShape(source, packing);
  return failed(shape) ? RankedTensorType()
                       : RankedTensorType::get(*shape, panelElement(source.getElementType(), packing));
}
