//===- ElementwiseCast.cpp - Cast, CastLike, BitCast, Identity ------------===//
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

namespace {
LogicalResult lowerCast(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Type from = l.elem(x), to = l.elem(result);
  if (from == to) {
    l.set(result, l.get(x));
    return success();
  }
  if (isa<onnx::StringType>(from) || isa<onnx::StringType>(to)) {
    if (isa<onnx::StringType>(to))
      return callAndSet(l, kernel::LibraryFn::cast_to_string, x, {}, result);
    return callAndSet(l, kernel::LibraryFn::cast_from_string, x, {onnx::dataTypeOf(to)}, result);
  }
  if (isa<ComplexType>(from) || isa<ComplexType>(to))
    return unsupported(op, "casts between real and complex numbers, which ONNX does not define");
  bool saturate = intAttr(op, "saturate", 1);
  StringRef mode = stringAttr(op, "round_mode", "up");
  l.set(result, l.elementwise({x}, to, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange in) {
    return castScalar(b, loc, in[0], from, to, saturate, mode);
  }));
  return success();
}

/// Of the second operand only the element type counts.
LogicalResult lowerCastLike(Operation *op, Lowering &l) {
  return isRanked(l, op->getOperand(0)) ? lowerCast(op, l) : requireRanked(op, l);
}

/// Reinterprets the stored bits. Narrow formats are read as the integers that hold them, so that no code changes.
LogicalResult lowerBitCast(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Type from = l.elem(x), to = l.elem(result);
  auto widthOf = [](Type t) { return t.isInteger(1) ? 8u : t.isIntOrFloat() ? t.getIntOrFloatBitWidth() : 0u; };
  if (!widthOf(from) || widthOf(from) != widthOf(to))
    return unsupported(op, "takes types of one width; " + onnx::dataTypeName(from) + " to " + onnx::dataTypeName(to) +
                               " is not possible (complex types are not covered)");
  auto asStored = [](Type t) -> Type {
    Type stored = Lowering::storageType(t);
    return isa<IntegerType>(stored) ? stored : t;
  };
  Lowering::Input in = l.input(x);
  in.elem = asStored(from);
  // The integer types of 2 and 4 bits are stored with their high bits extended: toStorage does that.
  Type out = widthOf(to) < 8 && isa<IntegerType>(to) ? to : asStored(to);
  bool maskNibble = widthOf(to) < 8 && isa<FloatType>(to);
  l.set(result, l.elementwise({in}, out, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    Value bits = Lowering::toStorage(b, loc, v[0], in.elem);
    if (maskNibble)
      bits = arith::AndIOp::create(b, loc, bits,
                                   arith::ConstantIntOp::create(b, loc, bits.getType(), (1 << widthOf(to)) - 1));
    Type stored = Lowering::storageType(out);
    if (bits.getType() != stored)
      bits = arith::BitcastOp::create(b, loc, stored, bits);
    return Lowering::toCompute(b, loc, bits, out);
  }));
  return success();
}

LogicalResult lowerIdentity(Operation *op, Lowering &l) {
  l.set(op->getResult(0), l.get(op->getOperand(0)));
  return success();
}

const LoweringRow rows[] = {
    {"onnx.Cast", ranked<lowerCast>},
    {"onnx.CastLike", lowerCastLike},
    {"onnx.BitCast", ranked<lowerBitCast>},
    {"onnx.Identity", lowerIdentity},
};
} // namespace

void optc::registerCastLowerings(LoweringTable &table) { registerRows(table, rows); }
