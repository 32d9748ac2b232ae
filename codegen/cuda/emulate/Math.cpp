//===- Math.cpp - arithmetic intrinsics on the host ------------------------===//
//
// Approximations are computed exactly, and numbers that are too small to be normal are kept where the device flushes
// them (ftz): results differ in the last places.
//===----------------------------------------------------------------------===//
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace optc::cuda;

namespace {
/// "fma.rm.ftz.f" in parts.
struct Name {
  StringRef operation, rounding; ///< rounding: rn, rz, rm, rp, approx or nothing
  bool nan = false;              ///< of minima and maxima
};
/// Operations with one meaning.
struct Unary {
  StringLiteral name;
  Intrinsic::ID id;
};
} // namespace

static constexpr Unary kUnary[] = {
    {"fabs", Intrinsic::fabs},   {"floor", Intrinsic::floor},     {"ceil", Intrinsic::ceil},
    {"trunc", Intrinsic::trunc}, {"round", Intrinsic::roundeven}, {"ex2", Intrinsic::exp2},
    {"lg2", Intrinsic::log2},    {"sin", Intrinsic::sin},         {"cos", Intrinsic::cos},
    {"tanh", Intrinsic::tanh},
};

static Name parse(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  Name made;
  made.operation = parts.front();
  for (StringRef part : ArrayRef(parts).drop_front()) {
    if (part == "rn" || part == "rz" || part == "rm" || part == "rp" || part == "approx")
      made.rounding = part;
    made.nan |= part == "nan";
  }
  return made;
}

/// Rounds to an integer in the direction of the name.
static Value *toIntegral(IRBuilder<> &b, Value *value, StringRef rounding) {
  Intrinsic::ID id = rounding == "rm"   ? Intrinsic::floor
                     : rounding == "rp" ? Intrinsic::ceil
                     : rounding == "rz" ? Intrinsic::trunc
                                        : Intrinsic::roundeven;
  return b.CreateUnaryIntrinsic(id, value);
}

/// Conversions: "f2i", "d2ull", "i2f" ...; null when it is none, or one with a rounding that the host does not have.
static Value *convert(IRBuilder<> &b, CallInst &call, const Name &name) {
  auto [from, to] = name.operation.split('2');
  Value *value = call.getArgOperand(0);
  Type *type = call.getType();
  bool fromFloat = from == "f" || from == "d", isUnsigned = from.starts_with("u") || to.starts_with("u");
  if (!value->getType()->isFloatingPointTy() && !value->getType()->isIntegerTy())
    return nullptr;
  if (fromFloat && type->isIntegerTy() && to != "h") // saturates, and NaN is 0, as in PTX
    return b.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat, {type, value->getType()},
                             {toIntegral(b, value, name.rounding)});
  if (name.rounding != "rn" && !name.rounding.empty())
    return nullptr;
  if (to == "h")
    return b.CreateBitCast(b.CreateFPTrunc(value, b.getHalfTy()), type);
  if (fromFloat)
    return b.CreateFPCast(value, type);
  return isUnsigned ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
}

/// The high half of a product.
static Value *highProduct(IRBuilder<> &b, CallInst &call, bool isUnsigned) {
  unsigned bits = call.getType()->getIntegerBitWidth();
  Type *wide = b.getIntNTy(2 * bits);
  auto extend = [&](Value *v) { return isUnsigned ? b.CreateZExt(v, wide) : b.CreateSExt(v, wide); };
  Value *product = b.CreateMul(extend(call.getArgOperand(0)), extend(call.getArgOperand(1)));
  return b.CreateTrunc(b.CreateLShr(product, bits), call.getType());
}

/// A sum, product, quotient, root or fma in another direction than to nearest: the engine's.
static Value *rounded(Rewriter &rewriter, IRBuilder<> &b, CallInst &call, char operation, char mode) {
  Type *type = call.getType();
  SmallVector<Value *> operands = {b.getInt32(operation), b.getInt32(mode)};
  for (Value *operand : call.args())
    operands.push_back(operand);
  while (operands.size() < 5)
    operands.push_back(ConstantFP::get(type, 1.0));
  return rewriter.call(b, type->isFloatTy() ? "math.f32" : "math.f64", type, operands);
}

Value *optc::cuda::emulateMath(Rewriter &rewriter, IRBuilder<> &b, CallInst &call, StringRef text) {
  Type *type = call.getType();
  if (call.arg_size() == 0)
    return nullptr;
  Value *x = call.getArgOperand(0), *y = call.arg_size() > 1 ? call.getArgOperand(1) : nullptr;
  if (text == "mulhi.i" || text == "mulhi.ll" || text == "mulhi.ui" || text == "mulhi.ull")
    return highProduct(b, call, text.contains(".u"));
  if (text == "d2i.lo" || text == "d2i.hi") {
    Value *bits = b.CreateBitCast(x, b.getInt64Ty());
    return b.CreateTrunc(text == "d2i.hi" ? b.CreateLShr(bits, 32) : bits, type);
  }
  if (text == "lohi.i2d") {
    Value *high = b.CreateShl(b.CreateZExt(y, b.getInt64Ty()), 32);
    return b.CreateBitCast(b.CreateOr(high, b.CreateZExt(x, b.getInt64Ty())), type);
  }
  if (text == "sad.i" || text == "sad.ui") {
    CmpInst::Predicate less = text == "sad.i" ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
    Value *distance = b.CreateSelect(b.CreateICmp(less, x, y), b.CreateSub(y, x), b.CreateSub(x, y));
    return b.CreateAdd(distance, call.getArgOperand(2));
  }

  Name name = parse(text);
  if (name.operation.contains('2') && name.operation != "ex2" && name.operation != "lg2")
    return convert(b, call, name);
  if (!type->isFloatTy() && !type->isDoubleTy())
    return nullptr;
  for (const Unary &unary : kUnary)
    if (unary.name == name.operation)
      return b.CreateUnaryIntrinsic(unary.id, x);
  if (name.operation == "saturate") { // NaN becomes 0
    Value *low = b.CreateBinaryIntrinsic(Intrinsic::maxnum, x, ConstantFP::get(type, 0.0));
    return b.CreateBinaryIntrinsic(Intrinsic::minnum, low, ConstantFP::get(type, 1.0));
  }
  if (name.operation == "fmin" || name.operation == "fmax") {
    bool isMin = name.operation == "fmin";
    Intrinsic::ID id =
        name.nan ? (isMin ? Intrinsic::minimum : Intrinsic::maximum) : (isMin ? Intrinsic::minnum : Intrinsic::maxnum);
    return b.CreateBinaryIntrinsic(id, x, y);
  }
  Value *one = ConstantFP::get(type, 1.0);
  if (name.operation == "rsqrt")
    return b.CreateFDiv(one, b.CreateUnaryIntrinsic(Intrinsic::sqrt, x));
  char operation = StringSwitch<char>(name.operation)
                       .Case("add", 'a')
                       .Case("sub", '-')
                       .Case("mul", 'm')
                       .Case("div", 'd')
                       .Case("rcp", 'r')
                       .Case("sqrt", 's')
                       .Case("fma", 'f')
                       .Default(0);
  if (!operation)
    return nullptr;
  if (operation == '-')
    return name.rounding == "rn" ? b.CreateFSub(x, y) : nullptr;
  if (name.rounding == "rm" || name.rounding == "rp" || name.rounding == "rz") {
    char mode = name.rounding.back();
    if (operation != 'r')
      return rounded(rewriter, b, call, operation, mode);
    return rewriter.call(b, type->isFloatTy() ? "math.f32" : "math.f64", type,
                         {b.getInt32('d'), b.getInt32(mode), one, x, one});
  }
  switch (operation) {
  case 'a':
    return b.CreateFAdd(x, y);
  case 'm':
    return b.CreateFMul(x, y);
  case 'd':
    return b.CreateFDiv(x, y);
  case 'r':
    return b.CreateFDiv(one, x);
  case 's':
    return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x);
  default:
    return b.CreateIntrinsic(Intrinsic::fma, {type}, {x, y, call.getArgOperand(2)});
  }
}
