//===- ScalarOps.cpp - scalar arithmetic and conversions in bodies --------===//
//
// Storage types, compute types, and everything between them. The narrow floats (8 bits and less) are taken apart with
// integer operations, so that the result depends on no target feature and holds for subnormals, infinities and NaN.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Lowering.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;
using namespace optc;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() <= 8; }

Type Lowering::storageType(Type elem) {
  MLIRContext *ctx = elem.getContext();
  if (isNarrowFloat(elem))
    return IntegerType::get(ctx, 8);
  if (auto t = dyn_cast<IntegerType>(elem))
    return IntegerType::get(ctx, std::max(8u, t.getWidth()));
  return elem;
}

Type Lowering::computeType(Type elem) {
  MLIRContext *ctx = elem.getContext();
  if (isa<FloatType>(elem))
    return elem.getIntOrFloatBitWidth() < 32 ? Type(Float32Type::get(ctx)) : elem;
  if (elem.isInteger(1))
    return elem;
  return storageType(elem);
}

Type ScalarOps::computeType() const { return Lowering::computeType(elem); }

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

namespace {
/// The layout of a float of at most 8 bits with a sign. `nan` is the code of NaN without the sign (0: the format has
/// none); `overflow` the code of what lies above the largest finite value.
struct NarrowFormat {
  int exponentBits, mantissaBits, bias;
  int maxCode;  ///< of the largest finite value
  int overflow; ///< also of +inf
  int nan;
  bool oneZero; ///< FNUZ: the only NaN has the code of -0, and -0 does not exist
  double max;
};

const NarrowFormat e4m3fn{4, 3, 7, 0x7e, 0x7f, 0x7f, false, 448};
const NarrowFormat e4m3fnuz{4, 3, 8, 0x7f, 0x80, 0x80, true, 240};
const NarrowFormat e5m2{5, 2, 15, 0x7b, 0x7c, 0x7e, false, 57344};
const NarrowFormat e5m2fnuz{5, 2, 16, 0x7f, 0x80, 0x80, true, 57344};
const NarrowFormat e2m1{2, 1, 1, 7, 7, 0, false, 6};
const NarrowFormat e2m3{2, 3, 1, 0x1f, 0x1f, 0, false, 7.5};
const NarrowFormat e3m2{3, 2, 3, 0x1f, 0x1f, 0, false, 28};

const NarrowFormat *narrowFormat(Type t) {
  if (isa<Float8E4M3FNType>(t))
    return &e4m3fn;
  if (isa<Float8E4M3FNUZType>(t))
    return &e4m3fnuz;
  if (isa<Float8E5M2Type>(t))
    return &e5m2;
  if (isa<Float8E5M2FNUZType>(t))
    return &e5m2fnuz;
  if (isa<Float4E2M1FNType>(t))
    return &e2m1;
  if (isa<Float6E2M3FNType>(t))
    return &e2m3;
  if (isa<Float6E3M2FNType>(t))
    return &e3m2;
  return nullptr;
}

/// Short names for the operations on i32 and f32 that the conversions need.
struct Bits {
  OpBuilder &b;
  Location loc;
  Value i(int64_t v) const { return arith::ConstantIntOp::create(b, loc, b.getI32Type(), int64_t(int32_t(v))); }
  Value f(double v) const { return arith::ConstantFloatOp::create(b, loc, b.getF32Type(), APFloat(float(v))); }
  Value toInt(Value x) const { return arith::BitcastOp::create(b, loc, b.getI32Type(), x); }
  Value toFloat(Value x) const { return arith::BitcastOp::create(b, loc, b.getF32Type(), x); }
  Value andI(Value x, int64_t m) const { return arith::AndIOp::create(b, loc, x, i(m)); }
  Value orI(Value x, Value y) const { return arith::OrIOp::create(b, loc, x, y); }
  Value shl(Value x, int n) const { return arith::ShLIOp::create(b, loc, x, i(n)); }
  Value shr(Value x, int n) const { return arith::ShRUIOp::create(b, loc, x, i(n)); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
  Value cmp(arith::CmpIPredicate p, Value x, int64_t y) const { return arith::CmpIOp::create(b, loc, p, x, i(y)); }
  Value sel(Value c, Value x, Value y) const { return arith::SelectOp::create(b, loc, c, x, y); }
};
constexpr int64_t f32Inf = 0x7f800000, f32Nan = 0x7fc00000;

Value decode(const Bits &k, Value code, const NarrowFormat &f) {
  int width = f.exponentBits + f.mantissaBits;
  Value magnitude = k.andI(code, (1 << width) - 1);
  Value sign = k.shl(k.andI(code, 1 << width), 31 - width);
  Value normal = k.add(k.shl(magnitude, 23 - f.mantissaBits), k.i(int64_t(127 - f.bias) << 23));
  Value count = arith::UIToFPOp::create(k.b, k.loc, k.b.getF32Type(), magnitude);
  Value quantum = k.f(std::ldexp(1.0, 1 - f.bias - f.mantissaBits));
  Value small = k.toInt(arith::MulFOp::create(k.b, k.loc, count, quantum));
  Value bits = k.sel(k.cmp(arith::CmpIPredicate::ult, magnitude, 1 << f.mantissaBits), small, normal);
  if (f.oneZero) {
    bits = k.orI(bits, sign);
    bits = k.sel(k.cmp(arith::CmpIPredicate::eq, k.andI(code, 0xff), f.nan), k.i(f32Nan), bits);
    return k.toFloat(bits);
  }
  if (f.nan) {
    bits = k.sel(k.cmp(arith::CmpIPredicate::ugt, magnitude, f.maxCode), k.i(f32Nan), bits);
    if (f.overflow != f.nan)
      bits = k.sel(k.cmp(arith::CmpIPredicate::eq, magnitude, f.overflow), k.i(f32Inf), bits);
  }
  return k.toFloat(k.orI(bits, sign));
}

/// Rounds to nearest even; what exceeds the range becomes `overflow`.
Value encode(const Bits &k, Value x, const NarrowFormat &f) {
  int width = f.exponentBits + f.mantissaBits, drop = 23 - f.mantissaBits;
  Value bits = k.toInt(x);
  Value a = k.andI(bits, 0x7fffffff);
  Value sign = k.andI(k.shr(bits, 31 - width), 1 << width);
  // Normal: round in place, then move the exponent to the other bias.
  Value lsb = k.andI(k.shr(a, drop), 1);
  Value rounded = k.add(k.add(a, k.i((1 << (drop - 1)) - 1)), lsb);
  Value normal = k.sub(k.shr(rounded, drop), k.i((127 - f.bias) << f.mantissaBits));
  // Subnormal: adding 2^23 quanta makes the addition round to whole quanta.
  double magic = std::ldexp(1.0, 24 - f.bias - f.mantissaBits);
  Value sum = k.toInt(arith::AddFOp::create(k.b, k.loc, k.toFloat(a), k.f(magic)));
  Value small = k.sub(sum, k.toInt(k.f(magic)));
  Value code = k.sel(k.cmp(arith::CmpIPredicate::ult, a, int64_t(128 - f.bias) << 23), small, normal);
  code = k.sel(k.cmp(arith::CmpIPredicate::sgt, code, f.maxCode), k.i(f.overflow), code);
  code = k.sel(k.cmp(arith::CmpIPredicate::ugt, a, f32Inf), k.i(f.nan), code);
  if (!f.oneZero)
    // Formats without NaN hold it as -0.
    return f.nan ? k.orI(code, sign)
                 : k.sel(k.cmp(arith::CmpIPredicate::ugt, a, f32Inf), k.i(1 << width), k.orI(code, sign));
  Value plain = k.cmp(arith::CmpIPredicate::eq, code, 0);
  return k.sel(plain, code, k.sel(k.cmp(arith::CmpIPredicate::eq, code, f.nan), code, k.orI(code, sign)));
}

/// Powers of two from 2^-127 (code 0) to 2^127 (code 254); 255 is NaN.
Value decodeE8M0(const Bits &k, Value code) {
  code = k.andI(code, 0xff);
  Value bits = k.sel(k.cmp(arith::CmpIPredicate::eq, code, 0), k.i(0x400000), k.shl(code, 23));
  return k.toFloat(k.sel(k.cmp(arith::CmpIPredicate::eq, code, 255), k.i(f32Nan), bits));
}

/// The sign is ignored; `mode` is Cast's round_mode.
Value encodeE8M0(const Bits &k, Value x, bool saturate, StringRef mode) {
  Value a = k.andI(k.toInt(x), 0x7fffffff);
  Value exponent = k.shr(a, 23), mantissa = k.andI(a, 0x7fffff);
  Value one = k.i(1), zero = k.i(0);
  Value up = zero;
  if (mode == "up") {
    // Below 2^-126 the code 0 stands for 2^-127, which the mantissa 0x400000 denotes.
    Value limit = k.sel(k.cmp(arith::CmpIPredicate::eq, exponent, 0), k.i(0x400000), zero);
    up = k.sel(arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ugt, mantissa, limit), one, zero);
  } else if (mode == "nearest") {
    Value limit = k.sel(k.cmp(arith::CmpIPredicate::eq, exponent, 0), k.i(0x600000), k.i(0x400000));
    up = k.sel(arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::uge, mantissa, limit), one, zero);
  }
  Value code = k.add(exponent, up);
  if (saturate)
    code = k.sel(k.cmp(arith::CmpIPredicate::ugt, code, 254), k.i(254), code);
  else
    code = k.sel(k.cmp(arith::CmpIPredicate::ult, a, 0x400000), k.i(255),
                 k.sel(k.cmp(arith::CmpIPredicate::ugt, code, 255), k.i(255), code));
  return k.sel(k.cmp(arith::CmpIPredicate::ugt, a, f32Inf), k.i(255), code);
}

/// f64 to f32 rounded to odd, so that a second rounding to a narrower format gives the correctly rounded result.
Value truncToOdd(OpBuilder &b, Location loc, Value x) {
  Bits k{b, loc};
  Value near = arith::TruncFOp::create(b, loc, b.getF32Type(), x);
  Value back = arith::ExtFOp::create(b, loc, b.getF64Type(), near);
  Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value larger = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                                       math::AbsFOp::create(b, loc, x));
  Value bits = k.toInt(near);
  Value towardZero = k.sel(larger, k.sub(bits, k.i(1)), bits);
  return k.toFloat(k.sel(inexact, k.orI(towardZero, k.i(1)), bits));
}
} // namespace

//===----------------------------------------------------------------------===//
// Storage and compute values
//===----------------------------------------------------------------------===//

Value Lowering::toCompute(OpBuilder &b, Location loc, Value stored, Type elem) {
  Type compute = computeType(elem);
  if (elem.isInteger(1)) {
    Value zero = arith::ConstantIntOp::create(b, loc, stored.getType(), 0);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
  }
  if (isNarrowFloat(elem)) {
    Bits k{b, loc};
    Value code = arith::ExtUIOp::create(b, loc, b.getI32Type(), stored);
    const NarrowFormat *f = narrowFormat(elem);
    return f ? decode(k, code, *f) : decodeE8M0(k, code);
  }
  if (isa<FloatType>(elem) && compute != elem)
    return arith::ExtFOp::create(b, loc, compute, stored);
  return stored;
}

/// Brings an i8 into the range of a 2- or 4-bit integer by keeping its low bits.
static Value wrapSubByte(OpBuilder &b, Location loc, Value v, IntegerType t) {
  unsigned width = t.getWidth();
  if (t.isUnsigned()) {
    Value mask = arith::ConstantIntOp::create(b, loc, v.getType(), (1 << width) - 1);
    return arith::AndIOp::create(b, loc, v, mask);
  }
  Value n = arith::ConstantIntOp::create(b, loc, v.getType(), 8 - width);
  return arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, v, n), n);
}

Value Lowering::toStorage(OpBuilder &b, Location loc, Value computed, Type elem) {
  if (elem.isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), computed);
  if (isNarrowFloat(elem)) {
    Bits k{b, loc};
    const NarrowFormat *f = narrowFormat(elem);
    Value code = f ? encode(k, computed, *f) : encodeE8M0(k, computed, true, "nearest");
    return arith::TruncIOp::create(b, loc, b.getI8Type(), code);
  }
  if (isa<FloatType>(elem) && computed.getType() != elem)
    return arith::TruncFOp::create(b, loc, elem, computed);
  if (auto t = dyn_cast<IntegerType>(elem); t && t.getWidth() < 8)
    return wrapSubByte(b, loc, computed, t);
  return computed;
}

//===----------------------------------------------------------------------===//
// ScalarOps
//===----------------------------------------------------------------------===//

Value ScalarOps::constant(double v) const {
  Type t = computeType();
  if (auto f = dyn_cast<FloatType>(t)) {
    APFloat value(v);
    bool lost;
    value.convert(f.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return arith::ConstantFloatOp::create(b, loc, f, value);
  }
  bool exact;
  llvm::APSInt value(t.getIntOrFloatBitWidth(), isUnsigned());
  APFloat(v).convertToInteger(value, APFloat::rmTowardZero, &exact);
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(t, value));
}

Value ScalarOps::constantInt(int64_t v) const {
  Type t = computeType();
  if (isa<FloatType>(t))
    return constant(double(v));
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(t, APInt(64, v, true).trunc(t.getIntOrFloatBitWidth())));
}

static Value integerLimit(const ScalarOps &s, bool high) {
  unsigned width = s.elem.getIntOrFloatBitWidth();
  APInt v = s.isUnsigned() ? (high ? APInt::getMaxValue(width) : APInt::getMinValue(width))
                           : (high ? APInt::getSignedMaxValue(width) : APInt::getSignedMinValue(width));
  Type t = s.computeType();
  unsigned wide = t.getIntOrFloatBitWidth();
  v = s.isUnsigned() ? v.zext(wide) : v.sext(wide);
  return arith::ConstantOp::create(s.b, s.loc, IntegerAttr::get(t, v));
}

Value ScalarOps::lowest() const {
  return isFloat() ? constant(-std::numeric_limits<double>::infinity()) : integerLimit(*this, false);
}
Value ScalarOps::highest() const {
  return isFloat() ? constant(std::numeric_limits<double>::infinity()) : integerLimit(*this, true);
}

Value ScalarOps::add(Value x, Value y) const {
  if (isFloat())
    return arith::AddFOp::create(b, loc, x, y);
  if (elem.isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}
Value ScalarOps::sub(Value x, Value y) const {
  return isFloat() ? Value(arith::SubFOp::create(b, loc, x, y)) : Value(arith::SubIOp::create(b, loc, x, y));
}
Value ScalarOps::mul(Value x, Value y) const {
  return isFloat() ? Value(arith::MulFOp::create(b, loc, x, y)) : Value(arith::MulIOp::create(b, loc, x, y));
}

/// A quotient or remainder that is defined for every pair: y = 0 gives 0, and MIN / -1 wraps.
static Value safeDivide(const ScalarOps &s, Value x, Value y, bool quotient) {
  OpBuilder &b = s.b;
  Value zero = s.constantInt(0), one = s.constantInt(1);
  Value isZero = s.eq(y, zero);
  if (s.isUnsigned()) {
    Value d = s.select(isZero, one, y);
    Value r = quotient ? Value(arith::DivUIOp::create(b, s.loc, x, d)) : Value(arith::RemUIOp::create(b, s.loc, x, d));
    return s.select(isZero, zero, r);
  }
  Value isMinus = s.eq(y, s.constantInt(-1));
  Value d = s.select(arith::OrIOp::create(b, s.loc, isZero, isMinus), one, y);
  if (!quotient) // x rem 1 = x rem -1 = 0
    return arith::RemSIOp::create(b, s.loc, x, d);
  Value q = arith::DivSIOp::create(b, s.loc, x, d);
  return s.select(isZero, zero, s.select(isMinus, s.sub(zero, x), q));
}

Value ScalarOps::div(Value x, Value y) const {
  return isFloat() ? Value(arith::DivFOp::create(b, loc, x, y)) : safeDivide(*this, x, y, true);
}
Value ScalarOps::rem(Value x, Value y) const {
  return isFloat() ? Value(arith::RemFOp::create(b, loc, x, y)) : safeDivide(*this, x, y, false);
}
Value ScalarOps::min(Value x, Value y) const {
  if (isFloat())
    return arith::MinimumFOp::create(b, loc, x, y);
  return isUnsigned() ? Value(arith::MinUIOp::create(b, loc, x, y)) : Value(arith::MinSIOp::create(b, loc, x, y));
}
Value ScalarOps::max(Value x, Value y) const {
  if (isFloat())
    return arith::MaximumFOp::create(b, loc, x, y);
  return isUnsigned() ? Value(arith::MaxUIOp::create(b, loc, x, y)) : Value(arith::MaxSIOp::create(b, loc, x, y));
}
Value ScalarOps::neg(Value x) const {
  return isFloat() ? Value(arith::NegFOp::create(b, loc, x)) : sub(constantInt(0), x);
}
Value ScalarOps::lt(Value x, Value y) const {
  if (isFloat())
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  return arith::CmpIOp::create(b, loc, isUnsigned() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
}
Value ScalarOps::le(Value x, Value y) const {
  if (isFloat())
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, x, y);
  return arith::CmpIOp::create(b, loc, isUnsigned() ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle, x, y);
}
Value ScalarOps::eq(Value x, Value y) const {
  if (isFloat())
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}
Value ScalarOps::select(Value c, Value x, Value y) const { return arith::SelectOp::create(b, loc, c, x, y); }

//===----------------------------------------------------------------------===//
// castScalar
//===----------------------------------------------------------------------===//

/// Truncates toward zero. ONNX leaves out-of-range values undefined; here they are what x86 gives on every target: the
/// smallest i64 for a 64-bit result, and the low bits of the 32- or 64-bit result for narrower ones.
static Value floatToInt(OpBuilder &b, Location loc, Value v, IntegerType to) {
  auto type = cast<FloatType>(v.getType());
  ScalarOps s{b, loc, type};
  unsigned via = to.getWidth() > 32 || (to.getWidth() == 32 && to.isUnsigned()) ? 64 : 32;
  double limit = std::ldexp(1.0, via - 1);
  Type wide = b.getIntegerType(via);
  Value zero = s.constant(0);
  auto convert = [&](Value x) -> Value {
    Value fits = arith::AndIOp::create(b, loc, s.le(s.constant(-limit), x), s.lt(x, s.constant(limit)));
    Value i = arith::FPToSIOp::create(b, loc, wide, s.select(fits, x, zero));
    Value out = arith::ConstantOp::create(b, loc, IntegerAttr::get(wide, APInt::getSignedMinValue(via)));
    return s.select(fits, i, out);
  };
  Value r = convert(v);
  if (to.getWidth() == 64 && to.isUnsigned()) {
    Value isBig = s.le(s.constant(limit), v);
    Value high = arith::ConstantOp::create(b, loc, IntegerAttr::get(wide, APInt::getSignedMinValue(64)));
    Value big = arith::XOrIOp::create(b, loc, convert(s.sub(v, s.constant(limit))), high);
    r = s.select(isBig, big, r);
  }
  if (to.getWidth() < via)
    r = arith::TruncIOp::create(b, loc, b.getIntegerType(std::max(8u, to.getWidth())), r);
  return to.getWidth() < 8 ? wrapSubByte(b, loc, r, to) : r;
}

/// Rounds to what `to` can hold, in f32, with the saturation that toStorage does not do.
static Value saturateNarrow(OpBuilder &b, Location loc, Value v, Type to, bool saturate, StringRef roundMode) {
  Bits k{b, loc};
  const NarrowFormat *f = narrowFormat(to);
  if (!f)
    return decodeE8M0(k, encodeE8M0(k, v, saturate, roundMode));
  if (!saturate || f->overflow == f->maxCode)
    return v;
  ScalarOps s{b, loc, b.getF32Type()};
  Value high = s.constant(f->max), low = s.constant(-f->max); // comparisons are false for NaN
  v = s.select(s.lt(high, v), high, v);
  return s.select(s.lt(v, low), low, v);
}

Value optc::castScalar(OpBuilder &b, Location loc, Value v, Type from, Type to, bool saturate, StringRef roundMode) {
  if (from == to || isa<ComplexType>(from) || isa<ComplexType>(to))
    return v;
  ScalarOps s{b, loc, from};
  Type target = Lowering::computeType(to);
  if (to.isInteger(1)) {
    if (isa<FloatType>(from)) // NaN is true
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, v, s.constant(0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, s.constantInt(0));
  }
  auto intTo = dyn_cast<IntegerType>(to);
  if (!intTo) {
    if (!isa<FloatType>(from))
      v = s.isUnsigned() ? Value(arith::UIToFPOp::create(b, loc, target, v))
                         : Value(arith::SIToFPOp::create(b, loc, target, v));
    else if (v.getType().getIntOrFloatBitWidth() > target.getIntOrFloatBitWidth())
      v = to.getIntOrFloatBitWidth() < 32 ? truncToOdd(b, loc, v) : Value(arith::TruncFOp::create(b, loc, target, v));
    else if (v.getType() != target)
      v = arith::ExtFOp::create(b, loc, target, v);
    return isNarrowFloat(to) ? saturateNarrow(b, loc, v, to, saturate, roundMode) : v;
  }
  if (isa<FloatType>(from))
    return floatToInt(b, loc, v, intTo);
  unsigned have = v.getType().getIntOrFloatBitWidth(), want = target.getIntOrFloatBitWidth();
  if (have > want)
    v = arith::TruncIOp::create(b, loc, target, v);
  else if (have < want)
    v = s.isUnsigned() ? Value(arith::ExtUIOp::create(b, loc, target, v))
                       : Value(arith::ExtSIOp::create(b, loc, target, v));
  return intTo.getWidth() < 8 ? wrapSubByte(b, loc, v, intTo) : v;
}
