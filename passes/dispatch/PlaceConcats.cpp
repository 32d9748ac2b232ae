//===- PlaceConcats.cpp - parts of a concatenation, computed in place -----===//
//
// Before:                                        After:
//   %a = kernel.dispatch -> tensor<4x8xf32>        %a = kernel.dispatch {stored_in = [tensor<4x24xf32>]} -> ...
//   %b = kernel.dispatch -> tensor<4x8xf32>        %b = kernel.dispatch {stored_in = [tensor<4x24xf32>]} -> ...
//                                                  %x' = kernel.dispatch {stored_in ...} { linalg.copy ins(%x) }
//   %c = tensor.concat dim(1) %a, %b, %x           %c = tensor.concat dim(1) %a, %b, %x'
//
// `plan` gives the parts places in the buffer of the whole. Where no part can be computed in its place, one dispatch
// copies them all.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "optc/dialects/kernel/Columns.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Rows.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/Strategy.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"
#include "optc/passes/configure/Strategies.h"
#include "optc/passes/dispatch/Groups.h"

namespace optc {
#define GEN_PASS_DEF_PLACECONCATS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

//===----------------------------------------------------------------------===//
// Parts in their place
//===----------------------------------------------------------------------===//

/// The family that `configure` will choose: the conditions of all of them, without their numbers.
static StringRef familyOf(kernel::DispatchOp dispatch, int32_t capability) {
  if (capability)
    return configure::deviceFamily(dispatch, capability);
  Block &body = dispatch.getBody().front();
  SmallVector<linalg::GenericOp> ops = llvm::to_vector(body.getOps<linalg::GenericOp>());
  auto root = llvm::find_if(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  if (root == ops.end())
    return kernel::kFamilyLoops;
  if (auto product = kernel::matchContraction(*root); succeeded(product))
    if ((kernel::hasContiguousColumns(*product) || kernel::isPackable(*product)) &&
        succeeded(kernel::matchEpilogues(product->nest, product->n, body, /*indices=*/false)))
      return kernel::kFamilyGemm;
  if (auto window = kernel::matchWindow(*root); succeeded(window))
    if (kernel::hasVectorWeights(*window) &&
        succeeded(kernel::matchEpilogues(window->nest, window->lane, body, /*indices=*/true)))
      return kernel::kFamilyWindow;
  if (succeeded(kernel::matchRows(ops)))
    return kernel::kFamilyRows;
  if (succeeded(kernel::matchColumns(ops)))
    return kernel::kFamilyColumns;
  return kernel::kFamilyLoops;
}

/// The dispatches around the uses of a value, in `dispatches`; why a use is none of a dispatch.
static StringRef readers(Value value, tensor::ConcatOp concat, SetVector<kernel::DispatchOp> &dispatches) {
  for (Operation *user : value.getUsers()) {
    if (user == concat || isa<tensor::DimOp>(user))
      continue;
    if (auto dispatch = user->getParentOfType<kernel::DispatchOp>()) {
      dispatches.insert(dispatch);
      continue;
    }
    auto cast = dyn_cast<tensor::CastOp>(user);
    if (!cast || !isa<RankedTensorType>(cast.getType()))
      return "is read by an op that needs it contiguous";
    if (StringRef why = readers(cast, concat, dispatches); !why.empty())
      return why;
  }
  return "";
}

static void setStoredIn(OpResult result, RankedTensorType memory) {
  auto dispatch = cast<kernel::DispatchOp>(result.getOwner());
  SmallVector<Type> types(dispatch.getResultTypes());
  if (std::optional<ArrayAttr> have = dispatch.getStoredIn())
    types = llvm::map_to_vector(have->getAsValueRange<TypeAttr>(), [](Type type) { return type; });
  types[result.getResultNumber()] = memory ? Type(memory) : result.getType();
  bool none = ArrayRef(types) == ArrayRef(SmallVector<Type>(dispatch.getResultTypes()));
  if (none)
    dispatch.removeStoredInAttr();
  else
    dispatch.setStoredInAttr(OpBuilder(dispatch).getTypeArrayAttr(types));
}

/// Lets the op that computes a part write it where it belongs. Returns why not, or an empty string.
static StringRef place(OpOperand &operand, int32_t capability) {
  auto concat = cast<tensor::ConcatOp>(operand.getOwner());
  Value part = operand.get();
  while (auto cast = part.getDefiningOp<tensor::CastOp>())
    part = cast.getSource();
  auto result = dyn_cast<OpResult>(part);
  auto producer = result ? dyn_cast<kernel::DispatchOp>(result.getOwner()) : kernel::DispatchOp();
  if (!producer || producer->getBlock() != concat->getBlock())
    return "is not computed next to it";
  if (producer.getStoredIn() &&
      cast<TypeAttr>((*producer.getStoredIn())[result.getResultNumber()]).getValue() != result.getType())
    return "is part of another concatenation";
  if (kernel::concatenationOf(part).first != concat)
    return "is read twice";
  SetVector<kernel::DispatchOp> dispatches;
  if (StringRef why = readers(part, concat, dispatches); !why.empty())
    return why;
  dispatches.insert(producer);
  auto family = [&](kernel::DispatchOp dispatch) { return familyOf(dispatch, capability); };
  SmallVector<StringRef> families = llvm::map_to_vector(dispatches, family);
  setStoredIn(result, concat.getType());
  if (llvm::equal(families, llvm::map_range(dispatches, family)))
    return "";
  setStoredIn(result, {});
  return "belongs to a kernel that needs it contiguous";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static SmallVector<Value> dynamicSizes(OpBuilder &b, Location loc, Value tensor) {
  return llvm::map_to_vector(llvm::make_filter_range(tensor::getMixedSizes(b, loc, tensor),
                                                     [](OpFoldResult size) { return isa<Value>(size); }),
                             [](OpFoldResult size) { return cast<Value>(size); });
}

/// Copies operands of a concatenation to their places in it: a dispatch with a result for each.
static kernel::DispatchOp copyParts(tensor::ConcatOp concat, ArrayRef<OpOperand *> operands) {
  OpBuilder b(concat);
  Location loc = concat.getLoc();
  SmallVector<Type> types, memory(operands.size(), concat.getType());
  SmallVector<Value> sizes;
  for (OpOperand *operand : operands) {
    types.push_back(operand->get().getType());
    llvm::append_range(sizes, dynamicSizes(b, loc, operand->get()));
  }
  auto dispatch = kernel::DispatchOp::create(b, loc, "concat", types, sizes);
  dispatch.setStoredInAttr(b.getTypeArrayAttr(memory));
  Block &body = dispatch.getBody().front();
  b.setInsertionPointToEnd(&body);
  SmallVector<Value> copies;
  for (auto [operand, dest] : llvm::zip(operands, body.getArguments()))
    copies.push_back(linalg::CopyOp::create(b, loc, operand->get(), dest).getResult(0));
  kernel::YieldOp::create(b, loc, copies);
  for (auto [operand, copy] : llvm::zip(operands, dispatch.getResults()))
    operand->set(copy);
  return dispatch;
}

/// The whole concatenation as one dispatch.
static kernel::DispatchOp copyAll(tensor::ConcatOp concat) {
  OpBuilder b(concat);
  Location loc = concat.getLoc();
  RankedTensorType type = concat.getType();
  int64_t axis = concat.getDim();
  SmallVector<SmallVector<OpFoldResult>> parts;
  SmallVector<Value> sizes, ends; // `ends`: where each part ends
  Value end = arith::ConstantIndexOp::create(b, loc, 0);
  for (Value part : concat.getInputs()) {
    parts.push_back(tensor::getMixedSizes(b, loc, part));
    end = b.createOrFold<arith::AddIOp>(loc, end, getValueOrCreateConstantIndexOp(b, loc, parts.back()[axis]));
    ends.push_back(end);
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(d == axis ? end : getValueOrCreateConstantIndexOp(b, loc, parts.front()[d]));
  auto dispatch = kernel::DispatchOp::create(b, loc, "concat", TypeRange(type), sizes);
  Block &body = dispatch.getBody().front();
  b.setInsertionPointToEnd(&body);
  Value whole = body.getArgument(0);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), steps(type.getRank(), b.getIndexAttr(1));
  bool empty = llvm::is_contained(type.getShape(), 0);
  for (auto [i, part] : llvm::enumerate(concat.getInputs())) {
    if (empty)
      break;
    offsets[axis] = i == 0 ? OpFoldResult(b.getIndexAttr(0)) : getAsOpFoldResult(ends[i - 1]);
    // No slice may begin at the end, not even an empty one.
    if (std::optional<int64_t> at = getConstantIntValue(offsets[axis]); at && !type.isDynamicDim(axis))
      offsets[axis] = b.getIndexAttr(std::min(*at, type.getDimSize(axis) - 1));
    Value place = tensor::ExtractSliceOp::create(b, loc, whole, offsets, parts[i], steps);
    Value copy = linalg::CopyOp::create(b, loc, part, place).getResult(0);
    whole = tensor::InsertSliceOp::create(b, loc, copy, whole, offsets, parts[i], steps);
  }
  kernel::YieldOp::create(b, loc, whole);
  concat.replaceAllUsesWith(dispatch.getResult(0));
  concat.erase();
  return dispatch;
}

namespace {
struct PlaceConcats : public optc::impl::PlaceConcatsBase<PlaceConcats> {
  using PlaceConcatsBase::PlaceConcatsBase;
  bool strings = false;

  void convert(tensor::ConcatOp concat) {
    SmallVector<OpOperand *> refused;
    SmallVector<std::string> reasons;
    bool known = concat.getType().getRank() > 0 && !concat.getType().isDynamicDim(concat.getDim()) &&
                 llvm::all_of(concat.getInputs(), [&](Value part) {
                   return !cast<RankedTensorType>(part.getType()).isDynamicDim(concat.getDim());
                 });
    for (OpOperand &operand : concat->getOpOperands()) {
      StringRef why = optLevel < 1 ? "everything is copied below -O1"
                      : strings    ? "is made or read where strings are, on the host"
                      : known      ? place(operand, capability)
                                   : "has a size along the axis that only a run knows";
      if (why.empty()) {
        ++placed;
        continue;
      }
      refused.push_back(&operand);
      reasons.push_back(
          ("part " + Twine(operand.getOperandNumber()) + " of the concatenation is copied: it " + why).str());
      if (report)
        concat->emitRemark(reasons.back());
      ++copied;
    }
    if (refused.empty())
      return;
    kernel::DispatchOp copies;
    if (refused.size() == concat->getNumOperands()) {
      copies = copyAll(concat);
    } else if (concat.getDim() != 0) {
      copies = copyParts(concat, refused);
    } else {
      // Tiles are cut from the first dimension, which differs.
      for (OpOperand *operand : refused)
        copies = copyParts(concat, operand);
    }
    for (const std::string &reason : reasons)
      dispatch::noteDeclined(copies, reason);
  }

  void runOnOperation() override {
    // Kernels of the host work on copies of whole tensors.
    strings = capability && kernel::usesStrings(getOperation());
    SmallVector<tensor::ConcatOp> concats;
    getOperation()->walk([&](tensor::ConcatOp concat) { concats.push_back(concat); });
    for (tensor::ConcatOp concat : concats)
      convert(concat);
  }
};
} // namespace
