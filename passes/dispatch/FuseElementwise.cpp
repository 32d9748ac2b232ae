//===- FuseElementwise.cpp - fuse chains of elementwise ops ---------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Window.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;

/// Repeating a producer is worth it when its body does no more than this many operations.
static constexpr int64_t kCheapBodyOps = 2;

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
  bool cheap = static_cast<int64_t>(producer.getBody()->getOperations().size()) - 1 <= kCheapBodyOps;
  bool oneUser = llvm::hasSingleElement(producer->getUsers());
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
