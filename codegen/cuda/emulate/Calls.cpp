//===- Calls.cpp - intrinsics and device functions become calls ------------===//
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "optc/runtime/emulator/Abi.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace optc;
using namespace optc::cuda;
using emulator::ThreadState;

namespace {
/// Special registers that are fields of the thread.
struct Register {
  StringLiteral name;
  uint64_t offset;
};
/// Intrinsics that are functions of the engine with the same operands: i1 become i32.
struct Forward {
  StringLiteral name, function;
};
} // namespace

static constexpr Register kRegisters[] = {
    {"tid.x", offsetof(ThreadState, tid)},           {"tid.y", offsetof(ThreadState, tid) + 4},
    {"tid.z", offsetof(ThreadState, tid) + 8},       {"ntid.x", offsetof(ThreadState, ntid)},
    {"ntid.y", offsetof(ThreadState, ntid) + 4},     {"ntid.z", offsetof(ThreadState, ntid) + 8},
    {"ctaid.x", offsetof(ThreadState, ctaid)},       {"ctaid.y", offsetof(ThreadState, ctaid) + 4},
    {"ctaid.z", offsetof(ThreadState, ctaid) + 8},   {"nctaid.x", offsetof(ThreadState, nctaid)},
    {"nctaid.y", offsetof(ThreadState, nctaid) + 4}, {"nctaid.z", offsetof(ThreadState, nctaid) + 8},
    {"laneid", offsetof(ThreadState, lane)},         {"warpid", offsetof(ThreadState, warp)},
};

static constexpr Forward kForwards[] = {
    {"barrier.cta.sync.aligned.all", "barrier.cta.sync.aligned.all"},
    {"barrier.cta.sync.aligned.count", "barrier.cta.sync.aligned.count"},
    {"barrier.cta.sync.all", "barrier.cta.sync.all"},
    {"barrier.cta.sync.count", "barrier.cta.sync.count"},
    {"barrier.cta.arrive.aligned.count", "barrier.cta.arrive.aligned.count"},
    {"barrier.cta.arrive.count", "barrier.cta.arrive.count"},
    {"barrier.cta.red.and.aligned.all", "barrier.cta.red.and.aligned.all"},
    {"barrier.cta.red.or.aligned.all", "barrier.cta.red.or.aligned.all"},
    {"barrier.cta.red.popc.aligned.all", "barrier.cta.red.popc.aligned.all"},
    {"bar.warp.sync", "bar.warp.sync"},
    {"membar.cta", "membar.cta"},
    {"membar.gl", "membar.gl"},
    {"membar.sys", "membar.sys"},
    {"shfl.sync.up.i32", "shfl.sync.up"},
    {"shfl.sync.up.f32", "shfl.sync.up"},
    {"shfl.sync.down.i32", "shfl.sync.down"},
    {"shfl.sync.down.f32", "shfl.sync.down"},
    {"shfl.sync.bfly.i32", "shfl.sync.bfly"},
    {"shfl.sync.bfly.f32", "shfl.sync.bfly"},
    {"shfl.sync.idx.i32", "shfl.sync.idx"},
    {"shfl.sync.idx.f32", "shfl.sync.idx"},
    {"shfl.sync.up.i32p", "shfl.sync.up"},
    {"shfl.sync.up.f32p", "shfl.sync.up"},
    {"shfl.sync.down.i32p", "shfl.sync.down"},
    {"shfl.sync.down.f32p", "shfl.sync.down"},
    {"shfl.sync.bfly.i32p", "shfl.sync.bfly"},
    {"shfl.sync.bfly.f32p", "shfl.sync.bfly"},
    {"shfl.sync.idx.i32p", "shfl.sync.idx"},
    {"shfl.sync.idx.f32p", "shfl.sync.idx"},
    {"vote.ballot.sync", "vote.ballot.sync"},
    {"vote.all.sync", "vote.all.sync"},
    {"vote.any.sync", "vote.any.sync"},
    {"redux.sync.add", "redux.sync.add"},
    {"redux.sync.and", "redux.sync.and"},
    {"redux.sync.or", "redux.sync.or"},
    {"redux.sync.xor", "redux.sync.xor"},
    {"redux.sync.umin", "redux.sync.umin"},
    {"redux.sync.umax", "redux.sync.umax"},
    {"redux.sync.min", "redux.sync.min"},
    {"redux.sync.max", "redux.sync.max"},
    {"prmt", "prmt"},
    {"isspacep.shared", "isspacep.shared"},
};

/// Operands and results of the engine's functions are as wide as registers.
static Value *widen(IRBuilder<> &b, Value *value) {
  if (value->getType()->isIntegerTy() && value->getType()->getIntegerBitWidth() < 32)
    return b.CreateZExt(value, b.getInt32Ty());
  return value;
}

Expected<Value *> Rewriter::intrinsic(IRBuilder<> &b, CallInst &old, StringRef name) {
  if (StringRef sreg = name; sreg.consume_front("read.ptx.sreg.")) {
    if (sreg == "warpsize")
      return b.getInt32(32);
    for (const Register &known : kRegisters)
      if (known.name == sreg)
        return load(b, b.getInt32Ty(), known.offset);
  }
  for (const Forward &forward : kForwards) {
    if (forward.name != name)
      continue;
    SmallVector<Value *> operands;
    for (Value *operand : old.args()) {
      bool isFloat = operand->getType()->isFloatTy(); // of shuffles, which move bits
      operands.push_back(operand->getType()->isPointerTy() ? generic(b, operand)
                         : isFloat                         ? b.CreateBitCast(operand, b.getInt32Ty())
                                                           : widen(b, operand));
    }
    if (!forward.function.starts_with("shfl")) {
      Type *type = old.getType()->isIntegerTy(1) ? b.getInt32Ty() : old.getType();
      Value *result = call(b, forward.function, type, operands);
      return old.getType()->isIntegerTy(1) ? b.CreateICmpNE(result, b.getInt32(0)) : result;
    }
    // The value in the low half, whether the lane was in range above.
    Value *both = call(b, forward.function, b.getInt64Ty(), operands);
    bool pair = old.getType()->isStructTy();
    Type *valueType = pair ? old.getType()->getStructElementType(0) : old.getType();
    Value *value = b.CreateBitCast(b.CreateTrunc(both, b.getInt32Ty()), valueType);
    if (!pair)
      return value;
    Value *made = b.CreateInsertValue(PoisonValue::get(old.getType()), value, 0);
    return b.CreateInsertValue(made, b.CreateTrunc(b.CreateLShr(both, 32), b.getInt1Ty()), 1);
  }
  if (Value *value = emulateMath(*this, b, old, name))
    return value;
  return internalError("the emulator does not know the intrinsic llvm.nvvm." + name);
}

Error Rewriter::replaceDeviceFunction(CallInst &old, StringRef name) {
  std::optional<DeviceFunction> known = findDeviceFunction(name);
  if (!known || known->type(context) != old.getFunctionType())
    return internalError("the emulator does not know the device function optc.nv." + name +
                         (known ? " with these types" : ""));
  IRBuilder<> b(&old);
  // Families have one function: the number stands for itself.
  std::string symbol = name.str();
  unsigned n = known->accumulators * 2;
  if (n)
    symbol.replace(symbol.find("n" + std::to_string(n)) + 1, std::to_string(n).size(), "#");
  SmallVector<Value *> operands;
  for (Value *operand : old.args())
    operands.push_back(operand->getType()->isPointerTy() ? generic(b, operand) : operand);
  Type *result = old.getType();
  if (!result->isStructTy() && operands.size() <= 8) {
    old.replaceAllUsesWith(call(b, symbol, result, operands));
    old.eraseFromParent();
    return Error::success();
  }
  // In memory: operands one after the other as in a struct, and room for the results.
  IRBuilder<> entry(&*function->getEntryBlock().getFirstInsertionPt());
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  auto *packed = StructType::get(context, types);
  AllocaInst *in = entry.CreateAlloca(packed), *out = entry.CreateAlloca(result);
  for (auto [i, operand] : enumerate(operands))
    b.CreateStore(operand, b.CreateStructGEP(packed, in, i));
  call(b, symbol, b.getVoidTy(), {out, in, b.getInt32(n)});
  old.replaceAllUsesWith(b.CreateLoad(result, out));
  old.eraseFromParent();
  return Error::success();
}

Error Rewriter::replaceCall(CallInst &old) {
  if (old.isInlineAsm()) {
    IRBuilder<> b(&old);
    Value *value = emulateAssembly(*this, b, old);
    if (!value)
      return internalError("the emulator does not know inline assembly '" +
                           cast<InlineAsm>(old.getCalledOperand())->getAsmString() +
                           "'; device code calls device functions instead");
    old.replaceAllUsesWith(value);
    old.eraseFromParent();
    return Error::success();
  }
  Function *callee = old.getCalledFunction();
  if (!callee)
    return internalError("device code calls a function through a pointer, which the emulator cannot follow");
  StringRef name = callee->getName();
  if (StringRef device = name; device.consume_front(kDeviceFunctionPrefix))
    return replaceDeviceFunction(old, device);
  IRBuilder<> b(&old);
  if (StringRef nvvm = name; nvvm.consume_front("llvm.nvvm.")) {
    Expected<Value *> value = intrinsic(b, old, nvvm);
    if (!value)
      return value.takeError();
    if (!old.getType()->isVoidTy())
      old.replaceAllUsesWith(*value);
    old.eraseFromParent();
    return Error::success();
  }
  switch (callee->getIntrinsicID()) {
  case Intrinsic::trap:
    call(b, "trap", b.getVoidTy(), {});
    old.eraseFromParent();
    return Error::success();
  case Intrinsic::memcpy:
  case Intrinsic::memmove:
  case Intrinsic::memset:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::assume:
  case Intrinsic::experimental_noalias_scope_decl:
    return Error::success();
  case Intrinsic::not_intrinsic:
    return internalError("device code calls " + name + ", which the emulator does not have");
  default:
    // Arithmetic is the same everywhere.
    if (callee->doesNotAccessMemory() || callee->onlyAccessesInaccessibleMemory())
      return Error::success();
    return internalError("the emulator does not know the intrinsic " + name);
  }
}

Error Rewriter::replaceCalls() {
  SmallVector<CallInst *> calls;
  for (Instruction &i : instructions(*function))
    if (auto *call = dyn_cast<CallInst>(&i); call && !engineCalls.contains(call))
      calls.push_back(call);
  for (CallInst *call : calls)
    if (Error error = replaceCall(*call))
      return error;
  return Error::success();
}
