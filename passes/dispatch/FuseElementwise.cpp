//===- FuseElementwise.cpp - fuse chains of elementwise ops ---------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Rows.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;

/// Repeating a producer is worth it when its body costs no more than this many additions.
static constexpr int64_t kCheapBody = 2;

/// Whether a reduction along rows reads the value: the producer may join its group (form-dispatches), where it is
/// computed once for all that need it.
static bool feedsRows(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && generic.getNumReductionLoops() > 0 && succeeded(optc::kernel::matchRows(generic));
  });
}

/// Whether a value is rounded to 8 bits. It is worth its memory: a consumer that reads two of them would read the sums
/// of two products instead, while a product computes this op and its consumer on its accumulators all the same.
static bool quantizes(linalg::GenericOp op) {
  Type elem = getElementTypeOrSelf(op.getResult(0));
  return elem.isInteger(8) && !op.getBody()->getOps<arith::FPToSIOp>().empty();
}

/// A producer may go into its consumer when nothing is computed twice, or when that costs next to nothing. A consumer
/// that reduces or broadcasts would evaluate the producer once per iteration, not once per element.
static bool isProfitable(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock())
    return false;
  // A product stays one: what it does before multiplying would hide it from its emitter. A window would repeat it for
  // every tap.
  if (succeeded(optc::kernel::matchContraction(consumer)) || succeeded(optc::kernel::matchWindow(consumer)))
    return false;
  if (quantizes(producer))
    return false;
  bool cheap = optc::kernel::bodyCost(*producer.getBody()) <= kCheapBody;
  bool oneUser = llvm::hasSingleElement(producer->getUsers());
  if (!oneUser && feedsRows(operand->get()))
    return false;
  bool permutes = consumer.getMatchingIndexingMap(operand).isPermutation();
  return cheap ? (oneUser || permutes) : (oneUser && permutes);
}

namespace {
struct FuseElementwise : public optc::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      bool fuse = isProfitable(operand);
      fused += fuse;
      return fuse;
    });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
