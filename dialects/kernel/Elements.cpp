//===- Elements.cpp - results that are computed element by element --------===//
#include "optc/dialects/kernel/Elements.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc::kernel;

/// Why an op cannot be computed for one element of its result; empty when it can.
static llvm::StringRef refusalOf(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    llvm::SmallBitVector found(op.getNumLoops());
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim ? found.test(dim.getPosition()) : !isa<AffineConstantExpr>(expr))
        return "the result is not indexed by loops";
      if (dim)
        found.set(dim.getPosition());
    }
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if ((kind == utils::IteratorType::parallel) != found.test(loop))
        return "a parallel loop does not appear in the result";
  }
  bool writes = false;
  op.getBody()->walk([&](Operation *inner) {
    writes |= !isMemoryEffectFree(inner) || isa<tensor::InsertOp>(inner) ||
              (inner->getDialect()->getNamespace() == "linalg" && !isa<linalg::IndexOp, linalg::YieldOp>(inner));
  });
  return writes ? "its body computes tensors" : "";
}

bool optc::kernel::computesByElement(Block &block, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<linalg::FillOp, linalg::CopyOp, tensor::EmptyOp, ViewOp>(op) ||
        isa<bufferization::ToTensorOp, bufferization::MaterializeInDestinationOp>(op)) // of outlined kernels
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (StringRef reason = refusalOf(generic); !reason.empty())
        return refuse(reason);
      continue;
    }
    // Parts that are put together: whose the element is follows from its position.
    bool isPart = isa<tensor::InsertSliceOp, tensor::ExtractSliceOp>(op) &&
                  cast<OffsetSizeAndStrideOpInterface>(op).hasUnitStride() &&
                  cast<RankedTensorType>(op.getOperand(0).getType()).getRank() ==
                      cast<RankedTensorType>(op.getResult(0).getType()).getRank();
    if (isPart)
      continue;
    bool onTensors = llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>) ||
                     llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
    if (op.getNumRegions() || !isMemoryEffectFree(&op) || (onTensors && !isa<tensor::DimOp, tensor::ExtractOp>(op)))
      return refuse(("'" + op.getName().getStringRef() + "' writes element after element").str());
  }
  return true;
}

static bool divides(int64_t n, const SizeExpr &size) { return size.factor % n == 0; }

bool FlatNest::isVector(const NestOperand &operand, int64_t lanes) const {
  for (unsigned group = 0; group + 1 < groups.size(); ++group)
    if (!divides(lanes, stride(operand, group)))
      return false;
  return stride(operand, groups.size() - 1).is(1) && isAligned(operand.tensor, lanes);
}

std::optional<unsigned> FlatNest::crossedGroup() const {
  std::optional<unsigned> found;
  for (unsigned group = 0; group + 1 < groups.size(); ++group)
    if (llvm::any_of(nest.operands, [&](const NestOperand &operand) { return isCrossed(operand, group); })) {
      if (found)
        return std::nullopt;
      found = group;
    }
  return found;
}

int64_t FlatNest::lanes(int64_t most) const {
  // A single group has no rows to cut: its last vector is a special case. But a position has to be found once only.
  SizeExpr row(0);
  if (asksWhere)
    row = nest.sizes[groups.back().back()];
  else if (groups.size() > 1)
    row = nest.sizeOf(groups.back());
  int64_t all = nest.sizeOf(llvm::to_vector(llvm::seq<unsigned>(0, nest.numLoops()))).valueOr(most);
  while (most > 1 && (!divides(most, row) || most > all || !isVector(nest.result(), most)))
    most /= 2;
  return most;
}

FailureOr<FlatNest> optc::kernel::matchFlatNest(Block &block, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return failure();
  };
  auto generics = block.getOps<linalg::GenericOp>();
  if (!llvm::hasSingleElement(generics) || !block.getOps<linalg::FillOp>().empty() ||
      !block.getOps<linalg::CopyOp>().empty() || !block.getOps<ViewOp>().empty())
    return refuse("not one structured op");
  linalg::GenericOp op = *generics.begin();
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1)
    return refuse("not an elementwise op with one result");
  if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return refuse("changes a tensor in place");
  if (!computesByElement(block, why))
    return failure();
  if (!op.getIndexingMapsArray().back().isIdentity())
    return refuse("does not write its result in memory order");
  FailureOr<LoopNest> nest = loopNestOf(op);
  if (failed(nest))
    return refuse("an access is not a sum of loops");
  FlatNest flat{std::move(*nest), {}};
  op.getBody()->walk([&](linalg::IndexOp) { flat.asksWhere = true; });
  unsigned loops = flat.nest.numLoops();
  for (unsigned loop = 0; loop < loops; ++loop) {
    if (flat.nest.sizes[loop].is(1))
      continue;
    bool joins = !flat.groups.empty() && llvm::all_of(flat.nest.operands, [&](const NestOperand &operand) {
      return flat.nest.isFlat(operand, {flat.groups.back().back(), loop});
    });
    if (joins)
      flat.groups.back().push_back(loop);
    else
      flat.groups.push_back({loop});
  }
  if (flat.groups.empty() && loops > 0)
    flat.groups.push_back({loops - 1});
  if (flat.groups.empty())
    return refuse("has no loop");
  return flat;
}
