//===- MoveQuantization.cpp - integers through ops that only move them ----===//
#include "optc/passes/Passes.h"
#include "optc/passes/graph/Quantization.h"

namespace optc {
#define GEN_PASS_DEF_MOVEQUANTIZATION
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;
using quant::Linear;

/// The dequantizations of the data of an op, when all of it comes from such and with the parameters of one.
static std::optional<SmallVector<Linear>> dequantizedData(Operation *op) {
  SmallVector<Linear> all;
  for (Value v : quant::dataOf(op)) {
    std::optional<Linear> linear = quant::dequantizeOf(v);
    if (!linear || !quant::isPerTensor(*linear))
      return std::nullopt;
    all.push_back(*linear);
  }
  return all.empty() ? std::nullopt : std::optional(all);
}

/// A copy of the op that works on the integers.
static Value onIntegers(OpBuilder &b, Operation *op, ArrayRef<Linear> data) {
  b.setInsertionPoint(op);
  Operation *copy = b.clone(*op);
  for (auto [i, linear] : llvm::enumerate(data))
    copy->setOperand(i, linear.x);
  Value result = copy->getResult(0);
  result.setType(quant::typeLike(result, data[0].integers));
  return result;
}

namespace {
struct MoveQuantization : optc::impl::MoveQuantizationBase<MoveQuantization> {
  using MoveQuantizationBase::MoveQuantizationBase;

  /// QuantizeLinear of integers that it would give back.
  bool cancel(Operation *op) {
    std::optional<Linear> q = quant::quantizeOf(op);
    if (!q)
      return false;
    if (std::optional<Linear> dq = quant::dequantizeOf(q->x); dq && quant::isExactPair(*dq, *q)) {
      op->getResult(0).replaceAllUsesWith(dq->x);
      ++cancelled;
      return true;
    }
    Operation *inner = q->x.getDefiningOp();
    std::optional<SmallVector<Linear>> data = quant::movesIntegers(inner) ? dequantizedData(inner) : std::nullopt;
    if (!data || !llvm::all_of(*data, [&](const Linear &dq) { return quant::isExactPair(dq, *q); }))
      return false;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(onIntegers(b, inner, *data));
    ++moved;
    return true;
  }

  /// An op on dequantized numbers: the integers move, and are dequantized behind it. Only elements of one operand, and
  /// where nothing else needs the numbers in front.
  bool sink(Operation *op) {
    if (!quant::movesIntegers(op) || op->getResult(0).use_empty())
      return false;
    std::optional<SmallVector<Linear>> data = dequantizedData(op);
    if (!data || data->size() != 1 || !data->front().op->hasOneUse())
      return false;
    auto scale = onnx::floatsOf(data->front().scale);
    if (quant::comparesIntegers(op) && !(scale && (*scale)[0] > 0))
      return false;
    OpBuilder b(op);
    Value integers = onIntegers(b, op, *data);
    const Linear &dq = data->front();
    Value numbers = quant::makeOp(b, dq.op->getLoc(), "DequantizeLinear", {integers, dq.scale, dq.zero},
                                  op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(numbers);
    ++moved;
    return true;
  }

  void runOnOperation() override {
    // Producers first, so that what moved can move on; a second time for pairs that met.
    for (int round = 0; round < 2; ++round) {
      SmallVector<Operation *> ops, dead;
      getOperation()->walk([&](Operation *op) { ops.push_back(op); });
      for (Operation *op : ops)
        if (round == 0 ? sink(op) || cancel(op) : cancel(op))
          dead.push_back(op);
      for (Operation *op : llvm::reverse(dead))
        if (op->use_empty())
          op->erase();
    }
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if ((quant::movesIntegers(op) || quant::quantizeOf(op) ||
           op->getName().getStringRef() == "onnx.DequantizeLinear") &&
          op->use_empty())
        op->erase();
  }
};
} // namespace
