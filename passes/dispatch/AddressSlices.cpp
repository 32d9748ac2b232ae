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

/// Why a user needs a copy of a slice, or of what views make of one; empty when it reads it where it is.
static StringRef needsCopy(OpOperand &use, bool contiguous) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp, tensor::ExtractSliceOp, tensor::ConcatOp>(user))
    return "";
  if (user->getParentOfType<linalg::LinalgOp>() || user->getParentOfType<kernel::DispatchOp>())
    return isa<tensor::ExtractOp>(user) ? "" : "is not read by element in a kernel";
  if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
    if (!op.isDpsInput(&use))
      return "is what an op starts from";
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool slow = !contiguous && generic && generic.getNumReductionLoops() > 0 && !isFastReduction(generic);
    return slow ? "is not contiguous for a reduction" : "";
  }
  bool isCast = isa<tensor::CastOp>(user) && isa<RankedTensorType>(user->getResult(0).getType());
  if (!isCast && !contiguous)
    return "is not contiguous for an op that needs it so";
  if (isa<kernel::LibraryOp, tensor::ExtractOp>(user))
    return "";
  if (!isCast && !isa<kernel::ViewOp>(user))
    return "is a result, or carried by control flow";
  for (OpOperand &inner : user->getResult(0).getUses())
    if (StringRef why = needsCopy(inner, contiguous); !why.empty())
      return why;
  return "";
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
    SmallVector<tensor::ExtractSliceOp> slices;
    getOperation()->walk([&](tensor::ExtractSliceOp slice) {
      if (!slice->getParentOfType<kernel::DispatchOp>())
        slices.push_back(slice);
    });
    for (tensor::ExtractSliceOp slice : slices) {
      std::string reason = "everything is copied below -O1";
      bool anywhere = optLevel >= 1 && kernel::isAddressable(slice, &reason);
      bool contiguous = anywhere && kernel::isContiguous(slice.getResult());
      SmallVector<OpOperand *> refused;
      for (OpOperand &use : slice->getUses()) {
        StringRef why = anywhere ? needsCopy(use, contiguous) : StringRef(reason);
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
