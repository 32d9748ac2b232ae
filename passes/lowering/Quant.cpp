//===- Quant.cpp - QuantizeLinear, DequantizeLinear and integer products --===//
//
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/IntegerProduct.h"
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

namespace {
using Input = Lowering::Input;

/// Rounds half to even, adds the zero point (an i32, or null) and saturates to the integer type `to`.
Value roundToInteger(const ScalarOps &f, Value x, Value zero, Type to) {
  OpBuilder &b = f.b;
  Value r = math::RoundEvenOp::create(b, f.loc, x);
  // Far outside every range, and still exact beside any zero point; NaN becomes the low end.
  Value low = f.constant(-1048576), high = f.constant(1048576);
  r = f.select(f.lt(low, r), r, low);
  r = f.select(f.lt(high, r), high, r);
  Value i = arith::FPToSIOp::create(b, f.loc, b.getI32Type(), r);
  if (zero)
    i = arith::AddIOp::create(b, f.loc, i, zero);
  ScalarOps wide{b, f.loc, b.getI32Type()}, out{b, f.loc, to};
  Value least = castScalar(b, f.loc, out.lowest(), to, b.getI32Type());
  Value most = castScalar(b, f.loc, out.highest(), to, b.getI32Type());
  return castScalar(b, f.loc, wide.min(wide.max(i, least), most), b.getI32Type(), to);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

/// The operator at one element: x, scale and zero point (null when absent) as compute scalars.
using QuantBody = llvm::function_ref<Value(OpBuilder &, Location, Value x, Value scale, Value zero)>;

LogicalResult lowerByScale(Operation *op, Lowering &l, Type outElem, QuantBody body) {
  Value scale = onnx::operand(op, 1), zero = onnx::operand(op, 2), result = op->getResult(0);
  std::optional<Input> packed = packedInput(l, onnx::operand(op, 0));
  Input x = packed ? *packed : l.input(onnx::operand(op, 0));
  int64_t rank = x.dims.size(), block = intAttr(op, "block_size", 0), axis = intAttr(op, "axis", 1);
  bool blocked = block > 0 && l.rank(scale) == rank && rank > 0;
  if (l.rank(scale) > 1 && !blocked)
    return unsupported(op, "has a scale of rank " + Twine(l.rank(scale)) + " and block_size " + Twine(block) +
                               " for an input of rank " + Twine(rank) +
                               "; supported are scalars, one value per index of 'axis', and blocks along it");
  if (block < 0 || (blocked && (axis < -rank || axis >= rank)))
    return unsupported(op, "has block_size " + Twine(block) + " and axis " + Twine(axis) +
                               "; block_size must not be negative and axis in [" + Twine(-rank) + ", " +
                               Twine(rank - 1) + "]");
  axis = normalAxis(axis, rank);
  auto call = [&](OpBuilder &b, Location loc, ValueRange v) { return body(b, loc, v[0], v[1], zero ? v[2] : Value()); };
  if (!blocked) {
    SmallVector<Input> in = {x, perAxis(l, scale, x.dims, axis)};
    if (zero)
      in.push_back(perAxis(l, zero, x.dims, axis));
    l.set(result, l.elementwise(in, outElem, x.dims, call));
    return success();
  }
  Dim blocks = l.dims(scale)[axis], blockDim = l.shapes.constant(block);
  SmallVector<Dim> wanted = x.dims;
  wanted[axis] = l.shapes.ceilDiv(x.dims[axis], block);
  for (Value parameter : {scale, zero})
    for (int64_t i = 0; parameter && i < rank; ++i)
      requireEqual(l, l.dims(parameter)[i], wanted[i], "a scale or zero point has not one element per block");
  if (l.shapes.mul(blocks, blockDim) == x.dims[axis]) {
    // The axis splits into blocks and their elements.
    auto split = [&](const Input &in, Dim inner) {
      SmallVector<Dim> dims = in.dims;
      dims[axis] = blocks;
      dims.insert(dims.begin() + axis + 1, inner);
      return viewAs(l, in, dims);
    };
    Dim one = l.shapes.constant(1);
    SmallVector<Input> in = {split(x, blockDim), split(l.input(scale), one)};
    if (zero)
      in.push_back(split(l.input(zero), one));
    SmallVector<Dim> dims = in[0].dims;
    l.set(result, l.view(l.elementwise(in, outElem, dims, call), outElem, x.dims));
    return success();
  }
  Input s = l.input(scale), z = zero ? l.input(zero) : Input();
  Value last = arith::SubIOp::create(l.b, l.loc, l.index(blocks), l.constIndex(1));
  l.set(result,
        l.generate(op->getName().stripDialect(), outElem, x.dims, [&](OpBuilder &b, Location loc, ValueRange at) {
          SmallVector<Value> from(at);
          from[axis] = arith::DivUIOp::create(b, loc, at[axis], arith::ConstantIndexOp::create(b, loc, block));
          from[axis] = arith::MinSIOp::create(b, loc, from[axis], last);
          SmallVector<Value> v = {l.load(b, loc, x.lowered, x.elem, at), l.load(b, loc, s.lowered, s.elem, from)};
          if (zero)
            v.push_back(l.load(b, loc, z.lowered, z.elem, from));
          return call(b, loc, v);
        }));
  return success();
}

LogicalResult lowerQuantize(Operation *op, Lowering &l) {
  Value x = onnx::operand(op, 0), scale = onnx::operand(op, 1), zero = onnx::operand(op, 2);
  Type xe = l.elem(x), se = l.elem(scale), ze = zero ? l.elem(zero) : Type(), out = l.elem(op->getResult(0));
  Type precision = se;
  if (int64_t p = intAttr(op, "precision", 0))
    precision = onnx::elementTypeOf(op->getContext(), p);
  if (!precision || !isa<FloatType>(precision))
    return unsupported(op, "has precision " + Twine(intAttr(op, "precision", 0)) + ", which is no float type");
  Type f32 = l.b.getF32Type();
  bool rounds = precision.isF16() || precision.isBF16(), saturate = intAttr(op, "saturate", 1);
  // Sums that are scaled already are divided by 1.
  auto known = dyn_cast_or_null<DenseFPElementsAttr>(l.constElements(scale));
  bool isOne = known && known.isSplat() && known.getSplatValue<APFloat>().isExactlyValue(1.0);
  return lowerByScale(op, l, out, [=](OpBuilder &b, Location loc, Value v, Value s, Value z) -> Value {
    ScalarOps f{b, loc, f32};
    auto atPrecision = [&](Value a) {
      return rounds ? Lowering::toCompute(b, loc, Lowering::toStorage(b, loc, a, precision), precision) : a;
    };
    Value q = atPrecision(castScalar(b, loc, v, xe, f32));
    if (!isOne)
      q = atPrecision(f.div(q, atPrecision(castScalar(b, loc, s, se, f32))));
    if (isa<IntegerType>(out))
      return roundToInteger(f, q, z ? castScalar(b, loc, z, ze, b.getI32Type()) : Value(), out);
    if (z)
      q = f.add(q, castScalar(b, loc, z, ze, f32));
    return castScalar(b, loc, q, f32, out, saturate);
  });
}

LogicalResult lowerDequantize(Operation *op, Lowering &l) {
  Value x = onnx::operand(op, 0), scale = onnx::operand(op, 1);
  Type xe = l.elem(x), se = l.elem(scale), out = l.elem(op->getResult(0)), f32 = l.b.getF32Type();
  Type wide = xe.isInteger(32) ? l.b.getI64Type() : l.b.getI32Type();
  return lowerByScale(op, l, out, [=](OpBuilder &b, Location loc, Value v, Value s, Value z) -> Value {
    ScalarOps f{b, loc, f32};
    Value d;
    if (isa<FloatType>(xe) || !z) {
      d = castScalar(b, loc, v, xe, f32);
      if (z)
        d = f.sub(d, castScalar(b, loc, z, xe, f32));
    } else {
      Value diff = arith::SubIOp::create(b, loc, castScalar(b, loc, v, xe, wide), castScalar(b, loc, z, xe, wide));
      d = castScalar(b, loc, diff, wide, f32);
    }
    return castScalar(b, loc, f.mul(d, castScalar(b, loc, s, se, f32)), f32, out);
  });
}

LogicalResult lowerDynamicQuantize(Operation *op, Lowering &l) {
  Input x = l.input(op->getOperand(0));
  Value y = op->getResult(0), yScale = op->getResult(1), yZero = op->getResult(2);
  Type f32 = l.b.getF32Type(), u8 = l.elem(y), i32 = l.b.getI32Type();
  SmallVector<int64_t> axes = axesFrom(0, x.dims.size());
  Input low = viewAs(l, foldAxes(l, "DynamicQuantize.min", x, axes, Fold::Min, f32), {});
  Input high = viewAs(l, foldAxes(l, "DynamicQuantize.max", x, axes, Fold::Max, f32), {});
  Input scale = pointwise(l, {low, high}, f32, f32, {}, [](const ScalarOps &s, ValueRange v) {
    Value zero = s.constant(0), range = s.sub(s.max(v[1], zero), s.min(v[0], zero));
    return s.div(s.select(s.eq(range, zero), s.constant(1), range), s.constant(255));
  });
  Value zero = l.elementwise({low, scale}, u8, {}, [&](OpBuilder &b, Location loc, ValueRange v) {
    ScalarOps s{b, loc, f32};
    Value least = s.min(v[0], s.constant(0));
    return roundToInteger(s, s.sub(s.constant(0), s.div(least, v[1])), Value(), u8);
  });
  l.set(yScale, scale.lowered);
  l.set(yZero, zero);
  l.set(y, l.elementwise({x, scale, Input{zero, u8, {}}}, u8, x.dims, [&](OpBuilder &b, Location loc, ValueRange v) {
    ScalarOps s{b, loc, f32};
    return roundToInteger(s, s.div(v[0], v[1]), castScalar(b, loc, v[2], u8, i32), u8);
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Integer products
//===----------------------------------------------------------------------===//

LogicalResult lowerMatMulInteger(Operation *op, Lowering &l) {
  Value y = op->getResult(0);
  Input sum = matmulInteger(l, "MatMulInteger", onnx::operand(op, 0), onnx::operand(op, 1), onnx::operand(op, 2),
                            onnx::operand(op, 3), l.dims(y));
  l.set(y, convertElements(l, sum.lowered, sum.elem, l.elem(y), sum.dims));
  return success();
}

LogicalResult lowerQLinearMatMul(Operation *op, Lowering &l) {
  Value a = op->getOperand(0), aScale = op->getOperand(1), aZero = op->getOperand(2), b = op->getOperand(3),
        bScale = op->getOperand(4), bZero = op->getOperand(5), yScale = op->getOperand(6), yZero = op->getOperand(7),
        y = op->getResult(0);
  Type out = l.elem(y), f32 = l.b.getF32Type();
  SmallVector<Dim> dims = llvm::to_vector(l.dims(y));
  Input sum = matmulInteger(l, "QLinearMatMul", a, b, aZero, bZero, dims);
  // Result axes: rows exist when a has rank 2 or more, columns when b has.
  bool hasRows = l.rank(a) >= 2, hasColumns = l.rank(b) >= 2;
  int64_t rank = dims.size(), rowAxis = rank - (hasColumns ? 2 : 1);
  ArrayRef<Dim> all = dims;
  auto rows = [&](Value v) { return perAxis(l, v, hasRows ? all : ArrayRef<Dim>(), hasRows ? rowAxis : 0); };
  Input columns = perAxis(l, bScale, hasColumns ? all : ArrayRef<Dim>(), hasColumns ? rank - 1 : 0);
  SmallVector<Input> in = {sum, rows(aScale), columns, rows(yScale), rows(yZero)};
  for (Input &i : in)
    if (int64_t(i.dims.size()) > rank)
      return unsupported(op, "has a scale or zero point of rank " + Twine(i.dims.size()) + " for a result of rank " +
                                 Twine(rank));
  l.set(y, l.elementwise(in, out, dims, [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    ScalarOps f{b, loc, f32};
    auto real = [&](unsigned i) { return castScalar(b, loc, v[i], in[i].elem, f32); };
    Value q = f.mul(real(0), f.div(f.mul(real(1), real(2)), real(3)));
    if (isa<IntegerType>(out))
      return roundToInteger(f, q, castScalar(b, loc, v[4], in[4].elem, b.getI32Type()), out);
    return castScalar(b, loc, f.add(q, real(4)), f32, out);
  }));
  return success();
}

LogicalResult lowerConvInteger(Operation *op, Lowering &l) {
  Value y = op->getResult(0);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(y));
  FailureOr<Input> sum = convolveInteger(op, l, onnx::operand(op, 0), onnx::operand(op, 1), onnx::operand(op, 2),
                                         onnx::operand(op, 3), dims);
  if (failed(sum))
    return failure();
  l.set(y, sum->lowered);
  return success();
}

LogicalResult lowerQLinearConv(Operation *op, Lowering &l) {
  auto at = [&](unsigned i) { return onnx::operand(op, i); };
  Value y = op->getResult(0), bias = at(8);
  Type out = l.elem(y), f32 = l.b.getF32Type(), i32 = l.b.getI32Type();
  SmallVector<Dim> dims = llvm::to_vector(l.dims(y));
  FailureOr<Input> sum = convolveInteger(op, l, at(0), at(3), at(2), at(5), dims);
  if (failed(sum))
    return failure();
  SmallVector<Input> in = {*sum, perAxis(l, at(1), {}, 0), perAxis(l, at(4), dims, 1), perAxis(l, at(6), {}, 0),
                           perAxis(l, at(7), {}, 0)};
  if (bias)
    in.push_back(perAxis(l, bias, dims, 1));
  l.set(y, l.elementwise(in, out, dims, [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    ScalarOps f{b, loc, f32};
    Value acc = bias ? Value(arith::AddIOp::create(b, loc, v[0], v[5])) : v[0];
    auto real = [&](unsigned i) { return castScalar(b, loc, v[i], in[i].elem, f32); };
    Value q = f.mul(castScalar(b, loc, acc, i32, f32), f.div(f.mul(real(1), real(2)), real(3)));
    return roundToInteger(f, q, castScalar(b, loc, v[4], in[4].elem, i32), out);
  }));
  return success();
}

const LoweringRow rows[] = {
    {"onnx.QuantizeLinear", ranked<lowerQuantize>},
    {"onnx.DequantizeLinear", ranked<lowerDequantize>},
    {"onnx.DynamicQuantizeLinear", ranked<lowerDynamicQuantize>},
    {"onnx.MatMulInteger", ranked<lowerMatMulInteger>},
    {"onnx.QLinearMatMul", ranked<lowerQLinearMatMul>},
    {"onnx.ConvInteger", ranked<lowerConvInteger>},
    {"onnx.QLinearConv", ranked<lowerQLinearConv>},
};
} // namespace

void optc::registerQuantLowerings(LoweringTable &table) { registerRows(table, rows); }
