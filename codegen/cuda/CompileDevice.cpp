//===- CompileDevice.cpp - from the LLVM dialect to PTX -------------------===//
//
// One LLVM module holds all kernels. Its optimised form, with the device functions still as calls, is what the emulator
// gets; the assembler gets the same with inline PTX in their place. PTX for other devices, which the driver compiles
// there, is made of the same module: kernels that have a generic version are left out of it, and the others' versions
// out of the device's own PTX.
//
// The optimiser runs without loop unrolling and peeling: a peeled step of a pipelined loop makes ptxas serialise the
// asynchronous products in it (its note C7517). Emitters unroll what they want unrolled.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "optc/codegen/Analyses.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/Assemble.h"
#include "optc/codegen/cuda/DeviceBody.h"
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "optc/codegen/cuda/Libdevice.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <chrono>

using namespace llvm;
using namespace optc;

namespace {
/// Milliseconds since it was made.
class Stopwatch {
public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

/// The kernels in the order in which launches count them; drops what only optc's dialects know.
static void takeKernels(mlir::gpu::GPUModuleOp device, DeviceModule &result) {
  for (auto func : device.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
    auto entry = func->getAttrOfType<mlir::IntegerAttr>("kernel.entry");
    if (!strategy || !entry)
      continue;
    DeviceKernel kernel;
    kernel.name = func.getName().str();
    kernel.family = strategy.getFamily().str();
    kernel.threads = strategy.getBlocks()[0];
    if (auto bytes = func->getAttrOfType<mlir::IntegerAttr>(cuda::kSharedBytes))
      kernel.sharedBytes = bytes.getInt();
    kernel.buffers = entry.getInt();
    kernel.maps = cuda::tensorMapsOf(func);
    kernel.scalars = func.getNumArguments() - kernel.buffers - kernel.maps.size();
    if (func->hasAttr(cuda::kGenericVersion) && !result.kernels.empty()) {
      result.kernels.back().generic = result.generic.size();
      result.generic.push_back(std::move(kernel));
    } else {
      result.kernels.push_back(std::move(kernel));
    }
    for (mlir::NamedAttribute attr : llvm::to_vector(func->getDiscardableAttrs()))
      if (attr.getName().strref().starts_with("kernel."))
        func->removeDiscardableAttr(attr.getName());
  }
}

static void optimize(Module &module, TargetMachine &machine, int optLevel) {
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  PassBuilder builder(&machine, tuning);
  Analyses analyses(builder, module);
  // libdevice has to be inlined at any level: it decides what it computes by constants that only inlining shows.
  builder.buildPerModuleDefaultPipeline(optLevel >= 3 ? OptimizationLevel::O3 : OptimizationLevel::O2)
      .run(module, analyses.modules);
}

static Expected<std::unique_ptr<Module>> translate(mlir::gpu::GPUModuleOp device, LLVMContext &context,
                                                   TargetMachine &machine) {
  mlir::MLIRContext *from = device.getContext();
  mlir::registerBuiltinDialectTranslation(*from);
  mlir::registerGPUDialectTranslation(*from);
  mlir::registerLLVMDialectTranslation(*from);
  mlir::registerNVVMDialectTranslation(*from);
  std::unique_ptr<Module> made = mlir::translateModuleToLLVMIR(device, context, "device");
  if (!made)
    return internalError("the device code cannot be translated to LLVM IR");
  made->setSourceFileName("device");
  made->setTargetTriple(machine.getTargetTriple());
  made->setDataLayout(machine.createDataLayout());
  for (Function &f : *made)
    if (!f.isDeclaration())
      f.addFnAttr(Attribute::NoUnwind);
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(*made, &os))
    return internalError("the device code is invalid LLVM IR: " + StringRef(problem).split('\n').first);
  return made;
}

/// The PTX of a module without some of its kernels. The module is used up.
static Expected<std::string> emitPtx(Module &code, TargetMachine &machine, const StringSet<> &without) {
  for (Function &f : make_early_inc_range(code))
    if (without.contains(f.getName()))
      f.eraseFromParent();
  code.setDataLayout(machine.createDataLayout());
  if (Error error = cuda::expandDeviceFunctions(code))
    return std::move(error);
  SmallString<0> ptx;
  raw_svector_ostream os(ptx);
  legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, os, nullptr, CodeGenFileType::AssemblyFile))
    return environmentError("this LLVM cannot emit PTX");
  codegen.run(code);
  return std::string(ptx);
}

Expected<DeviceModule> optc::compileDevice(mlir::ModuleOp module, const DeviceTarget &target, int optLevel,
                                           bool assemble, bool generic) {
  DeviceModule result;
  result.capability = target.capability;
  auto device = module.lookupSymbol<mlir::gpu::GPUModuleOp>(cuda::kDeviceModule);
  if (!device)
    return result;
  Stopwatch watch;
  takeKernels(device, result);
  for (const DeviceKernel &kernel : result.kernels)
    if (kernel.sharedBytes > target.sharedBytes)
      return internalError("kernel '" + kernel.name + "' takes " + Twine(kernel.sharedBytes) +
                           " bytes of shared memory; a block on " + target.name + " has " + Twine(target.sharedBytes) +
                           " at most");
  Expected<std::unique_ptr<TargetMachine>> machine = createDeviceMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> code = translate(device, context, **machine);
  if (!code)
    return code.takeError();
  device.erase();
  if (Error error = cuda::linkLibdevice(**code))
    return std::move(error);
  optimize(**code, **machine, optLevel);
  {
    raw_svector_ostream os(result.bitcode);
    WriteBitcodeToFile(**code, os);
  }
  StringSet<> own, others; // kernels of one of the two only
  for (const DeviceKernel &kernel : result.kernels)
    if (kernel.generic >= 0) {
      own.insert(kernel.name);
      others.insert(result.generic[kernel.generic].name);
    }
  bool isGeneric = target.capability == kernel::kGenericCapability;
  std::unique_ptr<Module> second = generic && !isGeneric ? CloneModule(**code) : nullptr;
  Expected<std::string> ptx = emitPtx(**code, **machine, others);
  if (!ptx)
    return ptx.takeError();
  result.ptx = std::move(*ptx);
  if (generic && isGeneric)
    result.genericPtx = result.ptx;
  if (second) {
    Expected<std::unique_ptr<TargetMachine>> other = createDeviceMachine(genericDevice());
    Expected<std::string> text = other ? emitPtx(*second, **other, own) : other.takeError();
    if (!text)
      return text.takeError();
    result.genericPtx = std::move(*text);
  }
  result.codegenMs = watch.ms();
  if (!assemble)
    return result;
  Stopwatch assembler;
  if (Error error = cuda::assemble(target, result))
    return std::move(error);
  result.assembleMs = assembler.ms();
  return result;
}
