//===- Assembly.cpp - inline assembly of libdevice on the host -------------===//
//
// optc writes none: what a GPU alone can do is a device function. NVIDIA's libdevice does, in a few texts that never
// change, most of them intrinsics of NVVM by another name.
//===----------------------------------------------------------------------===//
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "llvm/ADT/STLExtras.h"
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

/// Arithmetic with twice as many bits as an operand has, in halves: how libdevice reduces large angles.
enum class Wide { MultiplyAdd, Multiply, Add, Subtract };
static constexpr std::pair<StringLiteral, Wide> kWide[] = {
    {"{ mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0; }", Wide::MultiplyAdd},
    {"{ .reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi; mov.b64 {alo,ahi}, $2; mov.b64 {blo,bhi}, $3; "
     "mov.b64 {clo,chi}, $4; mad.lo.cc.u32 r0, alo, blo, clo; madc.hi.cc.u32 r1, alo, blo, chi; "
     "madc.hi.u32 r2, alo, bhi, 0; mad.lo.cc.u32 r1, alo, bhi, r1; madc.hi.cc.u32 r2, ahi, blo, r2; "
     "madc.hi.u32 r3, ahi, bhi, 0; mad.lo.cc.u32 r1, ahi, blo, r1; madc.lo.cc.u32 r2, ahi, bhi, r2; "
     "addc.u32 r3, r3, 0; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
     Wide::MultiplyAdd},
    {"{ .reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi; mov.b64 {alo,ahi}, $2; mov.b64 {blo,bhi}, $3; "
     "mul.lo.u32 r0, alo, blo; mul.hi.u32 r1, alo, blo; mad.lo.cc.u32 r1, alo, bhi, r1; madc.hi.u32 r2, alo, bhi, 0; "
     "mad.lo.cc.u32 r1, ahi, blo, r1; madc.hi.cc.u32 r2, ahi, blo, r2; madc.hi.u32 r3, ahi, bhi, 0; "
     "mad.lo.cc.u32 r2, ahi, bhi, r2; addc.u32 r3, r3, 0; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
     Wide::Multiply},
    {"{ .reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3; mov.b64 {a0,a1}, $2; mov.b64 {a2,a3}, $3; "
     "mov.b64 {b0,b1}, $4; mov.b64 {b2,b3}, $5; add.cc.u32 r0, a0, b0; addc.cc.u32 r1, a1, b1; "
     "addc.cc.u32 r2, a2, b2; addc.u32 r3, a3, b3; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
     Wide::Add},
    {"{ .reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3; mov.b64 {a0,a1}, $2; mov.b64 {a2,a3}, $3; "
     "mov.b64 {b0,b1}, $4; mov.b64 {b2,b3}, $5; sub.cc.u32 r0, a0, b0; subc.cc.u32 r1, a1, b1; "
     "subc.cc.u32 r2, a2, b2; subc.u32 r3, a3, b3; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
     Wide::Subtract},
};

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
  const auto *wide = llvm::find_if(kWide, [&](auto &known) { return text == known.first; });
  if (wide == std::end(kWide))
    return nullptr;
  unsigned bits = call.getArgOperand(0)->getType()->getIntegerBitWidth();
  Type *type = b.getIntNTy(2 * bits);
  auto operand = [&](unsigned i) { return b.CreateZExt(call.getArgOperand(i), type); };
  auto pair = [&](unsigned i) { return b.CreateOr(operand(i), b.CreateShl(operand(i + 1), bits)); };
  auto compute = [&]() -> Value * {
    switch (wide->second) {
    case Wide::MultiplyAdd:
      return b.CreateAdd(b.CreateMul(operand(0), operand(1)), operand(2));
    case Wide::Multiply:
      return b.CreateMul(operand(0), operand(1));
    case Wide::Add:
      return b.CreateAdd(pair(0), pair(2));
    case Wide::Subtract:
      return b.CreateSub(pair(0), pair(2));
    }
    llvm_unreachable("all kinds are above");
  };
  Value *result = compute();
  Type *half = b.getIntNTy(bits);
  Value *made = b.CreateInsertValue(PoisonValue::get(call.getType()), b.CreateTrunc(result, half), 0);
  return b.CreateInsertValue(made, b.CreateTrunc(b.CreateLShr(result, bits), half), 1);
}
