//===- Configure.cpp - choose a strategy for every dispatch ---------------===//
//
// The first family whose conditions a dispatch meets takes it; the loop family takes everything.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/passes/configure/Strategies.h"

namespace optc {
#define GEN_PASS_DEF_CONFIGURE
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

/// What a size that only a run knows is taken for.
static constexpr int64_t kTypicalSize = 128;

int64_t configure::typical(const kernel::SizeExpr &size) {
  int64_t product = std::max<int64_t>(size.factor, 1);
  for (size_t i = 0; i < size.runtime.size(); ++i)
    product = std::min(product * kTypicalSize, kWhole);
  return product;
}

SmallVector<linalg::GenericOp> configure::reducingOps(kernel::DispatchOp dispatch) {
  SmallVector<linalg::GenericOp> ops;
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      ops.push_back(generic);
    else if (!isa<linalg::FillOp, tensor::EmptyOp, kernel::ViewOp>(op))
      return {};
  bool reduces = llvm::any_of(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  return reduces ? ops : SmallVector<linalg::GenericOp>();
}

kernel::StrategyAttr configure::decline(std::string &declined, StringRef family, StringRef reason) {
  declined += ((declined.empty() ? "no " : "; no ") + family + ": " + reason).str();
  return {};
}

linalg::GenericOp configure::reductionOf(kernel::DispatchOp dispatch) {
  for (auto generic : dispatch.getBody().front().getOps<linalg::GenericOp>())
    if (generic.getNumReductionLoops())
      return generic;
  return nullptr;
}

void configure::readPanels(OpOperand &operand, kernel::PackingAttr packing, Value panels) {
  Value source = operand.get();
  if (!panels) {
    OpBuilder before(operand.getOwner()->getParentOfType<kernel::DispatchOp>());
    Type type = kernel::packedType(cast<RankedTensorType>(source.getType()), packing);
    panels = kernel::PackOp::create(before, source.getLoc(), type, source, packing);
  }
  OpBuilder inside(operand.getOwner());
  operand.set(kernel::PackedOp::create(inside, source.getLoc(), source.getType(), panels, packing));
}

static constexpr configure::ChooseFn kFamilies[] = {configure::chooseGemm, configure::chooseWindow,
                                                    configure::chooseRows, configure::chooseColumns};

kernel::StrategyAttr configure::makeStrategy(MLIRContext *context, StringRef family, ArrayRef<int64_t> groups,
                                             ArrayRef<int64_t> tiles, ArrayRef<int64_t> blocks, StringRef reason) {
  Builder b(context);
  return kernel::StrategyAttr::get(context, b.getStringAttr(family), b.getDenseI64ArrayAttr(groups),
                                   b.getDenseI64ArrayAttr(tiles), b.getDenseI64ArrayAttr(blocks), /*scratch=*/0,
                                   b.getStringAttr(reason));
}

int64_t configure::widestBits(ArrayRef<linalg::GenericOp> ops) {
  int64_t bits = 8;
  auto see = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (linalg::GenericOp op : ops) {
    Block *body = op.getBody();
    llvm::for_each(body->getArgumentTypes(), see);
    body->walk([&](Operation *inner) { llvm::for_each(inner->getResultTypes(), see); });
  }
  return bits;
}

namespace {
struct Configure : public optc::impl::ConfigureBase<Configure> {
  using ConfigureBase::ConfigureBase;
  void runOnOperation() override {
    configure::Machine machine{vectorBits, vectorRegisters, l2Bytes, dotDepth};
    SmallVector<kernel::DispatchOp> dispatches;
    getOperation()->walk([&](kernel::DispatchOp dispatch) { dispatches.push_back(dispatch); });
    // Users before producers: a dispatch whose result its users read in another way goes.
    for (kernel::DispatchOp dispatch : llvm::reverse(dispatches)) {
      if (dispatch.getStrategyAttr()) // made by the strategy of another one
        continue;
      if (dispatch->use_empty()) {
        dispatch->erase();
        continue;
      }
      kernel::StrategyAttr strategy;
      std::string declined;
      if (optLevel >= 1)
        for (configure::ChooseFn choose : kFamilies)
          if (!strategy)
            strategy = choose(dispatch, machine, declined);
      if (!strategy)
        strategy = configure::chooseLoops(dispatch, machine, declined);
      // The report tells why the families before did not take it.
      if (!declined.empty())
        strategy = kernel::StrategyAttr::get(
            &getContext(), strategy.getFamily(), strategy.getGroups(), strategy.getTiles(), strategy.getBlocks(),
            strategy.getScratch(), StringAttr::get(&getContext(), strategy.getReason().getValue() + "; " + declined));
      dispatch.setStrategyAttr(strategy);
    }
  }
};
} // namespace
