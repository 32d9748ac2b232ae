//===- Libdevice.cpp - NVIDIA's mathematical functions --------------------===//
#include "optc/codegen/cuda/Libdevice.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;
using namespace optc;

namespace {
struct InlinePtx {
  StringLiteral begin; ///< of the text, without blanks in front
  Value *(*replace)(IRBuilder<> &b, CallInst &call);
};
} // namespace

static Value *intrinsic(IRBuilder<> &b, CallInst &call, Intrinsic::ID id) {
  return b.CreateIntrinsic(call.getType(), id, call.getArgOperand(0));
}
static Value *difference(IRBuilder<> &b, CallInst &call) {
  return b.CreateFSub(call.getArgOperand(0), call.getArgOperand(1));
}
/// {low, high} of x * y + z, in words of 32 bits.
static Value *wideMultiplyAdd(IRBuilder<> &b, CallInst &call) {
  auto wide = [&](unsigned i) { return b.CreateZExt(call.getArgOperand(i), b.getInt64Ty()); };
  Value *sum = b.CreateAdd(b.CreateMul(wide(0), wide(1)), wide(2));
  Value *words = b.CreateInsertValue(PoisonValue::get(call.getType()), b.CreateTrunc(sum, b.getInt32Ty()), 0);
  return b.CreateInsertValue(words, b.CreateTrunc(b.CreateLShr(sum, 32), b.getInt32Ty()), 1);
}

/// The inline PTX of functions that the lowering calls. What is not here stays; only the emulator minds.
static constexpr InlinePtx kInlinePtx[] = {
    {"rcp.approx.ftz.f32",
     [](IRBuilder<> &b, CallInst &call) { return intrinsic(b, call, Intrinsic::nvvm_rcp_approx_ftz_f); }},
    {"rsqrt.approx.ftz.f64",
     [](IRBuilder<> &b, CallInst &call) { return intrinsic(b, call, Intrinsic::nvvm_rsqrt_approx_ftz_d); }},
    {"sub.rn.f32", difference},
    {"sub.rn.f64", difference},
    {"{\n\tmad.lo.cc.u32   $0, $2, $3, $4;\n\tmadc.hi.u32     $1, $2, $3,  0;\n\t}", wideMultiplyAdd},
};

static void replaceInlinePtx(Module &module) {
  for (Function &f : module)
    for (BasicBlock &block : f)
      for (Instruction &inst : make_early_inc_range(block)) {
        auto *call = dyn_cast<CallInst>(&inst);
        auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
        if (!text)
          continue;
        for (const InlinePtx &known : kInlinePtx)
          if (StringRef(text->getAsmString()).starts_with(known.begin)) {
            IRBuilder<> b(call);
            call->replaceAllUsesWith(known.replace(b, *call));
            call->eraseFromParent();
            break;
          }
      }
}

static bool callsLibdevice(const Module &module) {
  return llvm::any_of(module, [](const Function &f) {
    return f.isDeclaration() && f.getName().starts_with("__nv_") && !f.use_empty();
  });
}

Error cuda::linkLibdevice(Module &module) {
  if (!callsLibdevice(module))
    return Error::success();
  std::string file = findToolkitFile("nvvm/libdevice/libdevice.10.bc");
  if (file.empty())
    return environmentError("the model needs mathematical functions of NVIDIA's libdevice (libdevice.10.bc), which is "
                            "not found below CUDA_HOME, beside the ptxas on PATH or in the Python environment; install "
                            "NVIDIA's CUDA toolkit or 'pip install nvidia-cuda-nvcc'");
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(file, /*IsText=*/false, false);
  if (!bytes)
    return environmentError("cannot read " + file + ": " + bytes.getError().message());
  Expected<std::unique_ptr<Module>> library = parseBitcodeFile(**bytes, module.getContext());
  if (!library)
    return environmentError(file + " is not a library that this LLVM can read: " + toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  bool failed = Linker::linkModules(
      module, std::move(*library), Linker::LinkOnlyNeeded, [](Module &all, const StringSet<> &linked) {
        internalizeModule(all,
                          [&](const GlobalValue &value) { return !value.hasName() || !linked.count(value.getName()); });
      });
  if (failed)
    return internalError("libdevice cannot be linked to the generated code");
  replaceInlinePtx(module);
  return Error::success();
}
