//===- Configure.cpp - choose a strategy for every dispatch ---------------===//
//
// The first family whose conditions a dispatch meets takes it; the loop family takes everything.
//===----------------------------------------------------------------------===//
#include "optc/passes/configure/Strategies.h"

namespace optc {
#define GEN_PASS_DEF_CONFIGURE
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

static constexpr configure::ChooseFn kFamilies[] = {configure::chooseGemm, configure::chooseRows,
                                                    configure::chooseColumns};

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
    configure::Machine machine{vectorBits, vectorRegisters, l2Bytes};
    getOperation()->walk([&](kernel::DispatchOp dispatch) {
      kernel::StrategyAttr strategy;
      std::string declined;
      if (optLevel >= 1)
        for (configure::ChooseFn choose : kFamilies)
          if (!strategy)
            strategy = choose(dispatch, machine, declined);
      if (!strategy)
        strategy = configure::chooseLoops(dispatch, machine, declined);
      dispatch.setStrategyAttr(strategy);
    });
  }
};
} // namespace
