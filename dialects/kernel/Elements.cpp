//===- Elements.cpp - results that are computed element by element --------===//
#include "optc/dialects/kernel/Elements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "optc/dialects/kernel/Kernel.h"

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
      if (linalg::isParallelIterator(kind) != found.test(loop))
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
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<linalg::FillOp, linalg::CopyOp, tensor::EmptyOp, ViewOp>(op))
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (StringRef reason = refusalOf(generic); !reason.empty())
        return refuse(reason);
      continue;
    }
    bool onTensors = llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>) ||
                     llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
    if (op.getNumRegions() || !isMemoryEffectFree(&op) || (onTensors && !isa<tensor::DimOp, tensor::ExtractOp>(op)))
      return refuse(("'" + op.getName().getStringRef() + "' writes element after element").str());
  }
  return true;
}
