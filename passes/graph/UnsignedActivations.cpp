//===- UnsignedActivations.cpp - signed quantized tensors as unsigned ones ===//
//
// QuantizeLinear to int8 with zero point z makes x, to uint8 with z + 128 it makes x + 128, and DequantizeLinear with
// z + 128 reads that as the same number. Operators between that move or compare elements do not mind. Instructions that
// multiply bytes take unsigned rows by signed columns; signed rows would cost another operation each.
//===----------------------------------------------------------------------===//
#include "optc/passes/graph/Quantization.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace optc;
using quant::Linear;

/// Whether scale and zero point are single values, and the zero point is known.
static bool hasOneKnownZero(const Linear &linear) {
  auto zero = quant::zeroOf(linear);
  return zero && zero->size() == 1 && quant::isPerTensor(linear);
}

/// The values that have to change together with `seed`, the result of a QuantizeLinear; empty when one of them cannot.
static SmallVector<Value> valuesWith(Value seed) {
  llvm::SetVector<Value> values;
  values.insert(seed);
  for (unsigned i = 0; i < values.size(); ++i) {
    Value v = values[i];
    Operation *def = v.getDefiningOp();
    std::optional<Linear> q = def ? quant::quantizeOf(def) : std::nullopt;
    if (!q && def && quant::movesIntegers(def)) {
      for (Value data : quant::dataOf(def))
        values.insert(data);
    } else if (!q || !hasOneKnownZero(*q)) {
      return {};
    }
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (user->getNumResults() != 1)
        return {};
      if (auto dq = quant::dequantizeOf(user->getResult(0))) {
        if (use.getOperandNumber() != 0 || !hasOneKnownZero(*dq))
          return {};
      } else if (quant::movesIntegers(user) && llvm::is_contained(quant::dataOf(user), v)) {
        values.insert(user->getResult(0));
      } else {
        return {};
      }
    }
  }
  return values.takeVector();
}

/// A copy of a QuantizeLinear or DequantizeLinear with the zero point of the unsigned form.
static Value withUnsignedZero(const Linear &linear, Value x, Type result) {
  OpBuilder b(linear.op);
  Type ui8 = b.getIntegerType(8, /*isSigned=*/false);
  auto shape = linear.zero ? cast<RankedTensorType>(linear.zero.getType()).getShape() : ArrayRef<int64_t>();
  char zero = static_cast<char>((*quant::zeroOf(linear))[0] + 128);
  Value moved = onnx::makeConstant(b, linear.op->getLoc(), RankedTensorType::get(shape, ui8), ArrayRef<char>(zero));
  return quant::makeOp(b, linear.op->getLoc(), linear.op->getName().stripDialect(), {x, linear.scale, moved}, result);
}

unsigned quant::makeActivationsUnsigned(func::FuncOp func) {
  unsigned count = 0;
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) { ops.push_back(op); });
  llvm::SmallPtrSet<Operation *, 8> dead;
  for (Operation *op : ops) {
    std::optional<Linear> q = dead.contains(op) ? std::nullopt : quantizeOf(op);
    if (!q || !q->integers.isInteger(8) || q->integers.isUnsignedInteger() || !isPerTensor(*q))
      continue;
    SmallVector<Value> values = valuesWith(op->getResult(0));
    Type ui8 = IntegerType::get(func.getContext(), 8, IntegerType::Unsigned);
    for (Value v : values) {
      // Readers first: they are found through the value that goes.
      for (Operation *user : llvm::make_early_inc_range(v.getUsers()))
        if (auto dq = dequantizeOf(user->getResult(0))) {
          user->getResult(0).replaceAllUsesWith(withUnsignedZero(*dq, v, user->getResult(0).getType()));
          dead.insert(user);
          user->dropAllReferences();
        }
      if (std::optional<Linear> maker = quantizeOf(v.getDefiningOp())) {
        v.replaceAllUsesWith(withUnsignedZero(*maker, maker->x, typeLike(v, ui8)));
        dead.insert(maker->op);
      } else {
        v.setType(typeLike(v, ui8));
      }
    }
    count += values.size();
  }
  for (Operation *op : llvm::reverse(ops))
    if (dead.contains(op))
      op->erase();
  return count;
}
