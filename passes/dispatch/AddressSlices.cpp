//===- AddressSlices.cpp - slices that are read where they are ------------===//
//
//   %s = tensor.extract_slice %x[2, 0] [4, 8] [1, 1]
//   %y = linalg.generic ins(%s)                          stays: plan makes %s an address, strides are those of %x
//   return %s                                            reads a copy instead:
//
//   %e = tensor.empty() : tensor<4x8xf32>
//   %c = linalg.generic outs(%e) { %i = linalg.index 0 ...  yield tensor.extract %x[%i + 2, %j] }
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "optc/dialects/kernel/Columns.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Rows.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"
#include "optc/passes/dispatch/Groups.h"

namespace optc {
#define GEN_PASS_DEF_ADDRESSSLICES
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

/// Whether a family of emitters with fast code for reductions takes the op as it is.
static bool isFastReduction(linalg::GenericOp op) {
  if (auto product = kernel::matchContraction(op); succeeded(product))
    return kernel::hasContiguousColumns(*product) || kernel::isPackable(*product);
  if (auto window = kernel::matchWindow(op); succeeded(window))
    return kernel::hasVectorWeights(*window);
  return succeeded(kernel::matchRows(op)) || succeeded(kernel::matchColumns(op));
}

/// Whether a copy of a slice can be read by the tensor memory accelerator, which cannot read the slice itself.
static bool wantsCopyForTensorMap(const kernel::Contraction &product, Value slice) {
  for (unsigned operand : {product.a, product.b})
    if (product.nest.operands[operand].tensor == slice && failed(kernel::matchTensorOperand(product, operand))) {
      auto type = cast<RankedTensorType>(slice.getType());
      int64_t row = type.getRank() ? type.getShape().back() : 1;
      bool fits = !ShapedType::isDynamic(row) && row * type.getElementTypeBitWidth() / 8 % 16 == 0;
      return fits && type.hasStaticShape() && type.getElementTypeBitWidth() == 16;
    }
  return false;
}

/// The same for the families of a device, which read products by any strides.
static bool isFastOnDevice(linalg::GenericOp op, Value slice, int32_t capability) {
  if (auto product = kernel::matchContraction(op); succeeded(product))
    return capability < kernel::kTensorMapCapability || !wantsCopyForTensorMap(*product, slice);
  if (auto window = kernel::matchWindow(op); succeeded(window))
    return kernel::hasVectorWeights(*window);
  // What goes across rows is computed element by element, as is everything else.
  return succeeded(kernel::matchRows(op)) || succeeded(kernel::matchColumns(op));
}

/// Why a user needs a copy of a slice, or of what views make of one; empty when it reads it where it is.
static StringRef needsCopy(OpOperand &use, bool contiguous, int32_t capability) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp, tensor::ExtractSliceOp, tensor::ConcatOp>(user))
    return "";
  if (user->getParentOfType<linalg::LinalgOp>() || user->getParentOfType<kernel::DispatchOp>())
    return isa<tensor::ExtractOp>(user) ? "" : "is not read by element in a kernel";
  if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
    if (!op.isDpsInput(&use))
      return "is what an op starts from";
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || generic.getNumReductionLoops() == 0)
      return "";
    // Contiguous or not: where a device's vectors begin decides, too.
    if (capability)
      return isFastOnDevice(generic, use.get(), capability) ? "" : "is not laid out for a reduction of the device";
    return contiguous || isFastReduction(generic) ? "" : "is not contiguous for a reduction";
  }
  bool isCast = isa<tensor::CastOp>(user) && isa<RankedTensorType>(user->getResult(0).getType());
  if (!isCast && !contiguous)
    return "is not contiguous for an op that needs it so";
  if (isa<kernel::LibraryOp, kernel::ForeignOp, tensor::ExtractOp>(user))
    return "";
  if (!isCast && !isa<kernel::ViewOp>(user))
    return "is a result, or carried by control flow";
  for (OpOperand &inner : user->getResult(0).getUses())
    if (StringRef why = needsCopy(inner, contiguous, capability); !why.empty())
      return why;
  return "";
}

/// A view that splits the innermost dimension of a slice of columns becomes a slice of a view:
///   [n, 8:16 of 24] as [n, 2, 4]     [n, 2:4 of 6, 4]
static void splitFirst(kernel::ViewOp view) {
  auto slice = view.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !slice.hasUnitStride() || kernel::isContiguous(slice.getResult()) ||
      !kernel::isContiguous(slice.getSource()))
    return;
  RankedTensorType source = slice.getSourceType(), from = slice.getType();
  auto to = cast<RankedTensorType>(view.getType());
  int64_t last = from.getRank() - 1, inner = 1;
  std::optional<int64_t> offset = last < 0 ? std::nullopt : getConstantIntValue(slice.getMixedOffsets()[last]);
  if (!offset || source.getRank() != from.getRank() || to.getRank() <= from.getRank() || source.isDynamicDim(last) ||
      ShapedType::isDynamicShape(to.getShape().drop_front(last)))
    return;
  for (int64_t size : to.getShape().drop_front(last + 1))
    inner *= size;
  if (inner == 0 || to.getDimSize(last) * inner != from.getDimSize(last) || *offset % inner != 0 ||
      source.getDimSize(last) % inner != 0)
    return;
  for (int64_t d = 0; d < last; ++d)
    if (!kernel::sameSize(view, d, slice, d))
      return;
  OpBuilder b(view);
  Location loc = view.getLoc();
  SmallVector<int64_t> shape(source.getShape());
  shape[last] /= inner;
  llvm::append_range(shape, to.getShape().drop_front(last + 1));
  SmallVector<Value> dims;
  for (int64_t d = 0; d < last; ++d)
    if (source.isDynamicDim(d))
      dims.push_back(b.createOrFold<tensor::DimOp>(loc, slice.getSource(), d));
  Value whole =
      kernel::ViewOp::create(b, loc, RankedTensorType::get(shape, to.getElementType()), slice.getSource(), dims);
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
  offsets[last] = b.getIndexAttr(*offset / inner);
  sizes[last] = b.getIndexAttr(to.getDimSize(last));
  for (int64_t size : to.getShape().drop_front(last + 1)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(size));
  }
  SmallVector<OpFoldResult> steps(to.getRank(), b.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(b, loc, whole, offsets, sizes, steps);
  if (part.getType() != to)
    part = tensor::CastOp::create(b, loc, to, part);
  view.replaceAllUsesWith(part);
  view.erase();
  if (slice->use_empty())
    slice->erase();
}

/// An op that gathers the elements of a slice. Elementwise users can take it in.
static linalg::GenericOp gather(tensor::ExtractSliceOp slice) {
  OpBuilder b(slice.getContext());
  b.setInsertionPointAfter(slice);
  Location loc = slice.getLoc();
  RankedTensorType type = slice.getType();
  Value init = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, slice.getResult()), type.getElementType());
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), steps = slice.getMixedStrides();
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange(), init, b.getMultiDimIdentityMap(type.getRank()), iterators,
      [&](OpBuilder &nested, Location l, ValueRange) {
        SmallVector<Value> at;
        unsigned loop = 0;
        for (auto [d, offset] : llvm::enumerate(offsets)) {
          at.push_back(getValueOrCreateConstantIndexOp(nested, l, offset));
          if (dropped[d])
            continue;
          Value i = linalg::IndexOp::create(nested, l, loop++);
          i = nested.createOrFold<arith::MulIOp>(l, i, getValueOrCreateConstantIndexOp(nested, l, steps[d]));
          at.back() = nested.createOrFold<arith::AddIOp>(l, at.back(), i);
        }
        linalg::YieldOp::create(nested, l, tensor::ExtractOp::create(nested, l, slice.getSource(), at).getResult());
      });
  op->setAttr("optc.label", b.getStringAttr("slice"));
  return op;
}

namespace {
struct AddressSlices : public optc::impl::AddressSlicesBase<AddressSlices> {
  using AddressSlicesBase::AddressSlicesBase;
  void runOnOperation() override {
    SmallVector<kernel::ViewOp> views;
    if (optLevel >= 1)
      getOperation()->walk([&](kernel::ViewOp view) { views.push_back(view); });
    for (kernel::ViewOp view : views)
      splitFirst(view);
    // Kernels of the host work on copies of whole tensors.
    bool strings = capability && kernel::usesStrings(getOperation());
    SmallVector<tensor::ExtractSliceOp> slices;
    getOperation()->walk([&](tensor::ExtractSliceOp slice) {
      if (!slice->getParentOfType<kernel::DispatchOp>())
        slices.push_back(slice);
    });
    for (tensor::ExtractSliceOp slice : slices) {
      std::string reason = optLevel < 1 ? "everything is copied below -O1" : "is read where strings are, on the host";
      bool anywhere = optLevel >= 1 && !strings && kernel::isAddressable(slice, &reason);
      bool contiguous = anywhere && kernel::isContiguous(slice.getResult());
      SmallVector<OpOperand *> refused;
      for (OpOperand &use : slice->getUses()) {
        StringRef why = anywhere ? needsCopy(use, contiguous, capability) : StringRef(reason);
        if (why.empty())
          continue;
        refused.push_back(&use);
        reason = why.str();
      }
      if (refused.empty()) {
        ++addressed;
        continue;
      }
      if (report)
        slice->emitRemark("is copied: the slice ") << reason;
      linalg::GenericOp copy = gather(slice);
      dispatch::noteDeclined(copy, "the slice " + reason);
      ++copied;
      for (OpOperand *use : refused)
        use->set(copy.getResult(0));
      if (slice->use_empty())
        slice->erase();
    }
  }
};
} // namespace
