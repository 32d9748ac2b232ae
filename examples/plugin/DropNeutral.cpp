//===- DropNeutral.cpp - a pass outside of optc's tree ----------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/compiler/PluginApi.h"
#include "optc/dialects/onnx/Onnx.h"

using namespace mlir;
using namespace optc;

namespace example {
#define GEN_PASS_DECL_DROPNEUTRAL
#define GEN_PASS_DEF_DROPNEUTRAL
#include "Passes.h.inc"
} // namespace example

namespace {
/// What a constant of one element does to the other operand.
enum class Effect { None, Neutral, NeutralUpToSignedZeros };

class DropNeutral : public example::impl::DropNeutralBase<DropNeutral> {
public:
  using DropNeutralBase::DropNeutralBase;
  void runOnOperation() override;

private:
  bool drops(Effect effect) const {
    return effect == Effect::Neutral || (effect == Effect::NeutralUpToSignedZeros && ignoreSignedZeros);
  }
  Value keptOperand(Operation *op) const;
};
} // namespace

/// The element of a constant with one element.
static Attribute onlyElement(Value value) {
  auto constant = value.getDefiningOp<onnx::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.getNumElements() == 1 ? elements.getSplatValue<Attribute>() : Attribute();
}

static Effect effectOf(Operation *op, Attribute element) {
  bool wantsOne = isa<onnx::MulOp, onnx::DivOp>(op);
  if (auto integer = dyn_cast_if_present<IntegerAttr>(element))
    return (wantsOne ? integer.getValue().isOne() : integer.getValue().isZero()) ? Effect::Neutral : Effect::None;
  auto real = dyn_cast_if_present<FloatAttr>(element);
  if (!real)
    return Effect::None;
  llvm::APFloat value = real.getValue();
  if (wantsOne)
    return value.isExactlyValue(1.0) ? Effect::Neutral : Effect::None;
  if (!value.isZero())
    return Effect::None;
  // x + -0.0 and x - +0.0 are x for every x.
  return value.isNegative() == isa<onnx::AddOp>(op) ? Effect::Neutral : Effect::NeutralUpToSignedZeros;
}

/// The operand that the op's result is equal to; null when there is none.
Value DropNeutral::keptOperand(Operation *op) const {
  if (!isa<onnx::AddOp, onnx::SubOp, onnx::MulOp, onnx::DivOp>(op))
    return Value();
  bool commutes = isa<onnx::AddOp, onnx::MulOp>(op);
  for (auto [kept, constant] : {std::pair(0, 1), std::pair(1, 0)}) {
    if (kept == 1 && !commutes)
      break;
    Value x = op->getOperand(kept), c = op->getOperand(constant);
    auto type = dyn_cast<RankedTensorType>(x.getType());
    // Of no larger rank, so that broadcasting leaves the shape as it is.
    if (type && type == op->getResult(0).getType() && drops(effectOf(op, onlyElement(c))) &&
        cast<RankedTensorType>(c.getType()).getRank() <= type.getRank())
      return x;
  }
  return Value();
}

void DropNeutral::runOnOperation() {
  getOperation()->walk([&](Operation *op) {
    Value kept = keptOperand(op);
    if (!kept)
      return;
    if (report)
      op->emitRemark("removed: it changes nothing");
    ++numRemoved;
    op->getResult(0).replaceAllUsesWith(kept);
    op->erase();
  });
}

static void registerAll(PluginRegistrar &registrar) {
  // Behind shape inference, so that types are known, and before the ops become loops.
  registrar.insertPass(PluginPosition::After, "graph", [] { return std::make_unique<DropNeutral>(); });
}

OPTC_PLUGIN("drop-neutral", "1.0", registerAll)
