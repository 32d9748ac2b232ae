//===- Emulate.cpp - device code as a program of the host ------------------===//
#include "optc/codegen/cuda/emulate/Emulate.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/Target.h"
#include "optc/codegen/cuda/emulate/Rewriter.h"
#include "optc/codegen/object/Artifact.h"
#include "optc/codegen/object/EmitObject.h"
#include "optc/codegen/object/Linker.h"
#include "optc/codegen/object/OutputFile.h"
#include "optc/runtime/emulator/Abi.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace llvm;
using namespace optc;
using namespace optc::cuda;
using emulator::KernelRecord;

/// The host code asks for FMA and half precision conversions, which the emulator's users have.
static constexpr StringLiteral kHost = "x86-64-v3";

//===-- Kernels --------------------------------------------------------------===//

CallInst *Rewriter::call(IRBuilder<> &b, StringRef name, Type *result, ArrayRef<Value *> operands) {
  SmallVector<Value *> all = {thread, b.getInt32(sites++)};
  append_range(all, operands);
  SmallVector<Type *> types;
  for (Value *operand : all)
    types.push_back(operand->getType());
  unsigned index = functions.try_emplace(name, functions.size()).first->second;
  Value *address = b.CreateConstGEP1_64(b.getPtrTy(), table, index);
  LoadInst *target = b.CreateLoad(b.getPtrTy(), address);
  target->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  CallInst *made = b.CreateCall(FunctionType::get(result, types, false), target, all);
  made->setDoesNotThrow();
  engineCalls.insert(made);
  return made;
}

Value *Rewriter::load(IRBuilder<> &b, Type *type, uint64_t offset) {
  return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt8Ty(), thread, offset));
}

Value *Rewriter::generic(IRBuilder<> &b, Value *pointer) {
  return pointer->getType()->getPointerAddressSpace() ? b.CreateAddrSpaceCast(pointer, b.getPtrTy()) : pointer;
}

/// Variables in shared memory become places in the block's window.
void Rewriter::placeShared() {
  const DataLayout &layout = module.getDataLayout();
  auto sizeOf = [&](GlobalVariable *v) -> uint64_t { return layout.getTypeAllocSize(v->getValueType()); };
  SmallVector<std::pair<GlobalVariable *, SmallVector<Use *>>> used;
  // Dynamic shared memory, whose size the launch says, comes behind what has a size.
  for (bool dynamic : {false, true})
    for (GlobalVariable &variable : module.globals()) {
      if (variable.getAddressSpace() != kSharedSpace || (sizeOf(&variable) == 0) != dynamic)
        continue;
      convertUsersOfConstantsToInstructions({&variable}, function);
      SmallVector<Use *> uses;
      for (Use &use : variable.uses())
        if (auto *user = dyn_cast<Instruction>(use.getUser()); user && user->getFunction() == function)
          uses.push_back(&use);
      if (!uses.empty())
        used.push_back({&variable, uses});
    }
  if (used.empty())
    return;
  for (auto &[variable, uses] : used)
    if (!sizeOf(variable))
      sharedAlignment = std::max(sharedAlignment, variable->getAlign().valueOrOne().value());
  IRBuilder<> b(&*function->getEntryBlock().getFirstInsertionPt());
  Value *window = load(b, b.getPtrTy(), offsetof(emulator::ThreadState, shared));
  for (auto &[variable, uses] : used) {
    bool isDynamic = sizeOf(variable) == 0;
    uint64_t offset = alignTo(sharedBytes, isDynamic ? Align(sharedAlignment) : variable->getAlign().valueOrOne());
    if (!isDynamic)
      sharedBytes = offset + sizeOf(variable);
    Value *place = b.CreateAddrSpaceCast(b.CreateConstGEP1_64(b.getInt8Ty(), window, offset), variable->getType());
    for (Use *use : uses)
      use->set(place);
  }
}

Expected<Function *> Rewriter::run(Function &kernel) {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<Type *> types = {PointerType::get(context, 0)};
  append_range(types, kernel.getFunctionType()->params());
  function = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false), GlobalValue::InternalLinkage,
                              "thread." + kernel.getName(), module);
  function->splice(function->begin(), &kernel);
  thread = function->getArg(0);
  for (Argument &argument : kernel.args()) {
    Argument *made = function->getArg(argument.getArgNo() + 1);
    made->takeName(&argument);
    argument.replaceAllUsesWith(made);
    if (Type *type = argument.getParamByValType())
      byValue[made] = layout.getTypeAllocSize(type);
  }
  // Fields of the thread do not change behind the kernel's back, but for the ranges, which only speed checks up.
  function->addParamAttr(0, Attribute::NoAlias);
  checkAccesses();
  placeShared();
  if (Error error = replaceCalls())
    return std::move(error);
  return function;
}

//===-- The module -----------------------------------------------------------===//

/// Everything that kernels call becomes part of them.
static Error inlineCalls(Module &module) {
  for (Function &f : module) {
    if (f.isDeclaration() || f.getCallingConv() == CallingConv::PTX_Kernel)
      continue;
    f.setLinkage(GlobalValue::InternalLinkage);
    f.removeFnAttr(Attribute::NoInline);
    f.removeFnAttr(Attribute::OptimizeNone);
    f.addFnAttr(Attribute::AlwaysInline);
  }
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass());
  passes.addPass(GlobalDCEPass());
  passes.run(module, modules);
  for (Function &f : module)
    if (!f.isDeclaration() && f.getCallingConv() != CallingConv::PTX_Kernel)
      return internalError("device code calls " + f.getName() +
                           " in a way that cannot be inlined, which the emulator needs");
  return Error::success();
}

/// entry(thread, parameters): loads the values of the parameters and calls the kernel.
static Function *makeEntry(Function &kernel, Function &body) {
  LLVMContext &context = body.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *entry = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false),
                                 GlobalValue::InternalLinkage, "entry." + kernel.getName(), body.getParent());
  IRBuilder<> b(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> operands = {entry->getArg(0)};
  for (Argument &argument : kernel.args()) {
    Value *address = b.CreateLoad(pointer, b.CreateConstGEP1_64(pointer, entry->getArg(1), argument.getArgNo()));
    operands.push_back(argument.hasByValAttr() ? address : b.CreateLoad(argument.getType(), address));
  }
  b.CreateCall(&body, operands);
  b.CreateRetVoid();
  return entry;
}

static Constant *globalString(Module &module, StringRef text) {
  Constant *bytes = ConstantDataArray::getString(module.getContext(), text);
  return new GlobalVariable(module, bytes->getType(), true, GlobalValue::InternalLinkage, bytes, "text");
}

static Constant *globalArray(Module &module, Type *element, ArrayRef<Constant *> values, bool constant) {
  auto *type = ArrayType::get(element, values.size());
  return new GlobalVariable(module, type, constant, GlobalValue::InternalLinkage, ConstantArray::get(type, values),
                            "table");
}

/// Attributes of the device mean nothing, or something else, on the host.
static void resetAttributes(Function &f, const optc::Target &host) {
  bool alwaysInline = f.hasFnAttribute(Attribute::AlwaysInline);
  f.setAttributes(AttributeList());
  f.setCallingConv(CallingConv::C);
  f.addFnAttr("target-cpu", host.cpu);
  if (!host.features.empty())
    f.addFnAttr("target-features", host.features);
  f.addFnAttr(Attribute::NoUnwind);
  if (alwaysInline)
    f.addFnAttr(Attribute::AlwaysInline);
}

Error cuda::rewriteForEmulation(Module &module) {
  LLVMContext &context = module.getContext();
  if (Error error = inlineCalls(module))
    return error;
  Expected<optc::Target> host = resolveTarget(kHost);
  if (!host)
    return host.takeError();
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(*host, 1);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(host->triple));
  module.setDataLayout((*machine)->createDataLayout());
  if (NamedMDNode *flags = module.getModuleFlagsMetadata())
    flags->eraseFromParent();

  SmallVector<GlobalVariable *> shared;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace)
      shared.push_back(&variable);
    else if (variable.isDeclaration())
      return internalError("device code uses the variable " + variable.getName() + ", which nobody defines");

  // The table of functions has its size when all calls are known.
  auto *pointer = PointerType::get(context, 0);
  auto *placeholder =
      new GlobalVariable(module, ArrayType::get(pointer, 0), false, GlobalValue::ExternalLinkage, nullptr, "functions");
  StringMap<unsigned> functions;
  unsigned sites = 0;
  SmallVector<Function *> kernels;
  for (Function &f : module)
    if (!f.isDeclaration())
      kernels.push_back(&f);

  auto *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
  auto number = [&](uint64_t value) -> Constant * { return ConstantInt::get(i32, value); };
  auto *recordType = StructType::get(context, {pointer, pointer, i32, i32, i32, i32, pointer});
  SmallVector<Constant *> records;
  for (Function *kernel : kernels) {
    Rewriter rewriter(module, placeholder, functions, sites);
    Expected<Function *> body = rewriter.run(*kernel);
    if (!body)
      return body.takeError();
    Function *entry = makeEntry(*kernel, **body);
    SmallVector<Constant *> sizes;
    for (Argument &argument : kernel->args()) {
      Type *type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
      sizes.push_back(number(module.getDataLayout().getTypeAllocSize(type)));
    }
    records.push_back(
        ConstantStruct::get(recordType, {globalString(module, kernel->getName()), entry, number(rewriter.sharedBytes),
                                         number(rewriter.sharedAlignment), number(sizes.size()), number(0),
                                         globalArray(module, i32, sizes, true)}));
    resetAttributes(**body, *host);
    (*body)->addFnAttr(Attribute::AlwaysInline);
    (*body)->addParamAttr(0, Attribute::NoAlias);
    resetAttributes(*entry, *host);
    kernel->eraseFromParent();
  }
  for (GlobalVariable *variable : shared)
    variable->eraseFromParent();
  for (Function &f : make_early_inc_range(module))
    if (f.isDeclaration() && f.use_empty())
      f.eraseFromParent();

  SmallVector<Constant *> names(functions.size());
  for (auto &[name, index] : functions)
    names[index] = globalString(module, name);
  Constant *table =
      globalArray(module, pointer, SmallVector<Constant *>(names.size(), ConstantPointerNull::get(pointer)), false);
  placeholder->replaceAllUsesWith(table);
  placeholder->eraseFromParent();
  auto *headerType = StructType::get(context, {i32, i32, pointer, pointer, i64, pointer});
  Constant *header = ConstantStruct::get(
      headerType, {number(emulator::kAbiVersion), number(names.size()), globalArray(module, pointer, names, true),
                   table, ConstantInt::get(i64, records.size()), globalArray(module, recordType, records, true)});
  new GlobalVariable(module, headerType, true, GlobalValue::ExternalLinkage, header, emulator::kHeaderSymbol);

  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(module, &os))
    return internalError("the code for the emulator is invalid: " + StringRef(problem).split('\n').first);
  return Error::success();
}

Expected<SmallVector<char, 0>> cuda::makeEmulationImage(std::unique_ptr<Module> module) {
  if (Error error = rewriteForEmulation(*module))
    return std::move(error);
  Expected<optc::Target> host = resolveTarget(kHost);
  if (!host)
    return host.takeError();
  Expected<std::vector<SmallVector<char, 0>>> objects = emitObjects(std::move(module), *host, /*optLevel=*/1);
  if (!objects)
    return objects.takeError();

  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::string base = (folder + "/optc-emulation").str();
  std::vector<OutputFile> files;
  std::vector<std::string> paths;
  for (SmallVector<char, 0> &object : *objects) {
    Expected<OutputFile> file = OutputFile::create(base + ".o");
    if (!file)
      return file.takeError();
    if (Error error = file->write(ArrayRef<char>(object), 0))
      return std::move(error);
    paths.push_back(file->path().str());
    files.push_back(std::move(*file));
  }
  // Conversions that the compiler leaves to a library.
  if (std::string runtime = findInstalledFile("liboptc_rt.a"); !runtime.empty())
    paths.push_back(runtime);
  Expected<OutputFile> image = OutputFile::create(base + ".so");
  if (!image)
    return image.takeError();
  if (Error error = linkSharedLibrary(*host, "optc-emulation", {emulator::kHeaderSymbol}, paths, image->path()))
    return std::move(error);
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(image->path(), false, false);
  if (!bytes)
    return image->failed(bytes.getError());
  StringRef text = (*bytes)->getBuffer();
  return SmallVector<char, 0>(text.begin(), text.end());
}
