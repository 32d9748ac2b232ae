//===- EmitObject.cpp - LLVM dialect to machine code ----------------------===//
#include "optc/codegen/object/EmitObject.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "optc/codegen/Analyses.h"
#include "optc/codegen/CompileError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/SplitModule.h"
#include <mutex>

using namespace llvm;
using namespace optc;

/// Functions per part of a large module, and the most parts. Constants, never the number of cores: bytes must not
/// depend on it.
static constexpr unsigned kFunctionsPerPart = 24, kMaxParts = 16;

std::string optc::weightSymbol(const ModelSignature &signature) { return signature.name + "_optc_weights"; }

GlobalVariable *optc::declareWeights(Module &module, const ModelSignature &signature) {
  std::string name = weightSymbol(signature);
  GlobalVariable *weights = module.getGlobalVariable(name);
  if (!weights) {
    Type *bytes = ArrayType::get(Type::getInt8Ty(module.getContext()), 0);
    weights = new GlobalVariable(module, bytes, /*isConstant=*/true, GlobalValue::ExternalLinkage, nullptr, name);
  }
  weights->setAlignment(Align(64));
  // Default visibility makes code go through the GOT, which reaches constants of any size; the definition is hidden, so
  // that the linker turns this back into an address computation where the distance allows it.
  weights->setVisibility(GlobalValue::DefaultVisibility);
  weights->setDSOLocal(false);
  return weights;
}

Expected<std::unique_ptr<Module>> optc::translateModel(mlir::ModuleOp module, LLVMContext &context,
                                                       const optc::Target &target, const ModelSignature &signature,
                                                       Linkage linkage, const DeviceModule *device) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<Module> made = mlir::translateModuleToLLVMIR(module, context, signature.name);
  if (!made)
    return internalError("the generated code cannot be translated to LLVM IR");
  made->setSourceFileName(signature.name); // ends up in the symbol table
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(target, 0);
  if (!machine)
    return machine.takeError();
  made->setTargetTriple(Triple(target.triple));
  made->setDataLayout((*machine)->createDataLayout());

  for (Function &f : *made)
    if (!f.isDeclaration())
      f.setLinkage(GlobalValue::InternalLinkage);
  for (GlobalVariable &g : made->globals())
    if (!g.isDeclaration() && !g.hasLocalLinkage())
      g.setLinkage(GlobalValue::InternalLinkage);
  if (GlobalVariable *weights = made->getGlobalVariable("optc_weights")) {
    weights->setName(weightSymbol(signature));
    declareWeights(*made, signature);
  }
  if (Error error = addDescriptor(*made, target, signature, linkage, device))
    return std::move(error);
  for (Function &f : *made) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      f.addFnAttr("target-features", target.features);
    // Some CPUs make LLVM prefer 256 bits, which would split every vector that the kernels ask for.
    if (target.isX86() && target.vectorBits > 128)
      f.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    f.addFnAttr(Attribute::NoUnwind);
    f.setUWTableKind(UWTableKind::None);
  }
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(*made, &os))
    return internalError("the generated LLVM IR is invalid: " + StringRef(problem).split('\n').first);
  return made;
}

static void optimize(Module &module, TargetMachine &machine, int optLevel) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = optLevel > 0;
  // Without the machine there would be no cost model, and next to nothing would be vectorised.
  PassBuilder builder(&machine, tuning);
  Analyses analyses(builder, module);
  OptimizationLevel level = optLevel == 0   ? OptimizationLevel::O1
                            : optLevel >= 3 ? OptimizationLevel::O3
                                            : OptimizationLevel::O2;
  builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
}

/// Bodies of kernels go into their wrappers before a module is cut: the two may land in different parts.
static void inlineBodies(Module &module) {
  PassBuilder builder;
  Analyses analyses(builder, module);
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass());
  passes.addPass(GlobalDCEPass());
  passes.run(module, analyses.modules);
}

Error optc::optimizeModule(Module &module, const optc::Target &target, int optLevel) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(target, optLevel);
  if (!machine)
    return machine.takeError();
  optimize(module, **machine, optLevel);
  return Error::success();
}

static Error emitPart(Module &module, const optc::Target &target, int optLevel, SmallVectorImpl<char> &object) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(target, optLevel);
  if (!machine)
    return machine.takeError();
  optimize(module, **machine, optLevel);
  raw_svector_ostream os(object);
  legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, os, nullptr, CodeGenFileType::ObjectFile))
    return environmentError("LLVM cannot emit object files for " + target.triple);
  codegen.run(module);
  return Error::success();
}

Expected<std::vector<SmallVector<char, 0>>> optc::emitObjects(std::unique_ptr<Module> module,
                                                              const optc::Target &target, int optLevel) {
  unsigned functions = llvm::count_if(
      *module, [](Function &f) { return !f.isDeclaration() && !f.hasFnAttribute(Attribute::AlwaysInline); });
  unsigned parts = std::clamp(functions / kFunctionsPerPart, 1u, kMaxParts);
  std::vector<SmallVector<char, 0>> objects(parts);
  if (parts == 1) {
    if (Error error = emitPart(*module, target, optLevel, objects.front()))
      return std::move(error);
    return objects;
  }

  inlineBodies(*module);
  // Local symbols become visible to the other parts: give them the model's name, two models may meet in one program.
  std::string prefix = module->getSourceFileName() + ".";
  for (Function &f : *module)
    if (f.hasLocalLinkage())
      f.setName(prefix + f.getName());
  for (GlobalVariable &g : module->globals())
    if (g.hasLocalLinkage())
      g.setName(prefix + g.getName());
  // An LLVMContext belongs to one thread: parts travel as bitcode.
  std::vector<SmallString<0>> bitcode;
  SplitModule(*module, parts, [&](std::unique_ptr<Module> part) {
    raw_svector_ostream os(bitcode.emplace_back());
    WriteBitcodeToFile(*part, os);
  });
  module.reset();
  objects.resize(bitcode.size());
  Error failure = Error::success();
  std::mutex mutex;
  DefaultThreadPool pool;
  for (size_t i = 0; i < bitcode.size(); ++i)
    pool.async([&, i] {
      LLVMContext context;
      Expected<std::unique_ptr<Module>> part = parseBitcodeFile(MemoryBufferRef(bitcode[i], "part"), context);
      Error error = part ? emitPart(**part, target, optLevel, objects[i]) : part.takeError();
      bitcode[i].clear();
      std::lock_guard lock(mutex);
      failure = joinErrors(std::move(failure), std::move(error));
    });
  pool.wait();
  if (failure)
    return std::move(failure);
  return objects;
}
