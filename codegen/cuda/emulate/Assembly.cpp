//===- Assembly.cpp - inline assembly of libdevice on the host -------------===//
//
// optc writes none: what a GPU alone can do is a device function. NVIDIA's libdevice does, in a few texts that never
// change, most of them intrinsics of NVVM by another name.
//===----------------------------------------------------------------------===//
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;
using namespace optc::cuda;

namespace {
struct Assembly {
  StringLiteral text; ///< without the blanks around and between instructions
  StringLiteral intrinsic;
};
} // namespace

static constexpr Assembly kIntrinsics[] = {
    {"rcp.approx.ftz.f32 $0,$1;", "rcp.approx.ftz.f"},
    {"rsqrt.approx.ftz.f64 $0, $1;", "rsqrt.approx.ftz.d"},
    {"sub.rn.f32 $0, $1, $2;", "sub.rn.f"},
    {"sub.rn.f64 $0, $1, $2;", "sub.rn.d"},
    {"sub.rn.ftz.f32 $0, $1, $2;", "sub.rn.ftz.f"},
};

/// A 64-bit sum of a product and a number, in halves: how libdevice reduces large angles.
static constexpr StringLiteral kMultiplyAdd = "{ mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0; }";

/// Blanks in one form.
static std::string normalized(StringRef text) {
  std::string made;
  for (char c : text.trim())
    if (!isSpace(c))
      made += c;
    else if (made.back() != ' ')
      made += ' ';
  return made;
}

Value *optc::cuda::emulateAssembly(Rewriter &rewriter, IRBuilder<> &b, CallInst &call) {
  std::string text = normalized(cast<InlineAsm>(call.getCalledOperand())->getAsmString());
  for (const Assembly &known : kIntrinsics)
    if (text == known.text)
      return emulateMath(rewriter, b, call, known.intrinsic);
  if (text != kMultiplyAdd)
    return nullptr;
  Type *wide = b.getInt64Ty();
  Value *product = b.CreateMul(b.CreateZExt(call.getArgOperand(0), wide), b.CreateZExt(call.getArgOperand(1), wide));
  Value *sum = b.CreateAdd(product, b.CreateZExt(call.getArgOperand(2), wide));
  Value *made = b.CreateInsertValue(PoisonValue::get(call.getType()), b.CreateTrunc(sum, b.getInt32Ty()), 0);
  return b.CreateInsertValue(made, b.CreateTrunc(b.CreateLShr(sum, 32), b.getInt32Ty()), 1);
}
