//===- Configure.cpp - choose a strategy for every dispatch ---------------===//
//
// The first family whose conditions a dispatch meets takes it; the loop family takes everything. What the device cannot
// have (strings are addresses of the host) is left to the CPU's.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"
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
    auto type = cast<RankedTensorType>(source.getType());
    if (auto narrow = source.getDefiningOp<kernel::PackedConstantOp>()) // values smaller than bytes
      type = type.clone(getElementTypeOrSelf(narrow.getValue().getType()));
    type = kernel::packedType(type, packing);
    panels = kernel::PackOp::create(before, source.getLoc(), type, source, packing);
  }
  OpBuilder inside(operand.getOwner());
  operand.set(kernel::PackedOp::create(inside, source.getLoc(), source.getType(), panels, packing));
}

void configure::packColumns(linalg::GenericOp root, const kernel::Contraction &c) {
  if (kernel::PackingAttr packing = kernel::packingOfColumns(c))
    readPanels(root->getOpOperand(c.b), packing);
}

static constexpr configure::ChooseFn kCpuFamilies[] = {configure::chooseGemm, configure::chooseWindow,
                                                       configure::chooseRows, configure::chooseColumns};
static constexpr configure::ChooseFn kDeviceFamilies[] = {configure::chooseCudaGemm, configure::chooseCudaWindow,
                                                          configure::chooseCudaMma,  configure::chooseCudaSimtGemm,
                                                          configure::chooseCudaRows, configure::chooseCudaElementwise};

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

/// Why a dispatch cannot run on a device; empty when it can.
static StringRef hostOnly(kernel::DispatchOp dispatch) {
  return kernel::usesStrings(dispatch) ? "strings live in the host's memory" : "";
}

static kernel::StrategyAttr withNote(kernel::StrategyAttr strategy, const Twine &note) {
  auto reason = StringAttr::get(strategy.getContext(), strategy.getReason().getValue() + note);
  return kernel::StrategyAttr::get(strategy.getContext(), strategy.getFamily(), strategy.getGroups(),
                                   strategy.getTiles(), strategy.getBlocks(), strategy.getScratch(), reason);
}

/// The strategy of the first device family that takes a dispatch.
static kernel::StrategyAttr chooseOnDevice(kernel::DispatchOp dispatch, const configure::Machine &machine,
                                           std::string &declined) {
  for (configure::ChooseFn choose : kDeviceFamilies)
    if (kernel::StrategyAttr strategy = choose(dispatch, machine, declined))
      return strategy;
  return configure::chooseCudaLoops(dispatch, machine, declined);
}

StringRef configure::deviceFamily(kernel::DispatchOp dispatch, int32_t capability) {
  Machine machine{};
  machine.capability = capability;
  machine.multiprocessors = 1;
  machine.sharedBytes = kWhole;
  machine.onlyAsks = true;
  std::string declined;
  return chooseOnDevice(dispatch, machine, declined).getFamily().getValue();
}

namespace {
struct Configure : public optc::impl::ConfigureBase<Configure> {
  using ConfigureBase::ConfigureBase;
  void runOnOperation() override {
    configure::Machine machine{vectorBits, vectorRegisters, l2Bytes,    dotDepth,
                               capability, multiprocessors, sharedBytes};
    configure::Machine generic = machine;
    generic.capability = kernel::kGenericCapability;
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
      kernel::StrategyAttr strategy = choose(dispatch, machine);
      dispatch.setStrategyAttr(strategy);
      if (machine.capability && kernel::leastCapability(strategy) > kernel::kGenericCapability)
        dispatch->setAttr(kernel::kGenericStrategy, choose(dispatch, generic));
    }
  }

  kernel::StrategyAttr choose(kernel::DispatchOp dispatch, const configure::Machine &machine) {
    StringRef host = machine.capability ? hostOnly(dispatch) : "";
    bool onDevice = machine.capability && host.empty();
    kernel::StrategyAttr strategy;
    std::string declined;
    if (onDevice && optLevel >= 1)
      strategy = chooseOnDevice(dispatch, machine, declined);
    else if (!onDevice && optLevel >= 1)
      for (configure::ChooseFn choose : kCpuFamilies)
        if (!strategy)
          strategy = choose(dispatch, machine, declined);
    if (!strategy)
      strategy = onDevice ? configure::chooseCudaLoops(dispatch, machine, declined)
                          : configure::chooseLoops(dispatch, machine, declined);
    // The report tells why the families before did not take it, and why it does not run on the device.
    if (!declined.empty())
      strategy = withNote(strategy, "; " + declined);
    if (!host.empty())
      strategy = withNote(strategy, "; " + host);
    return strategy;
  }
};
} // namespace
