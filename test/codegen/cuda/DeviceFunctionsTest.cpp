//===- DeviceFunctionsTest.cpp - device functions become PTX ---------------===//
#include "optc/codegen/cuda/DeviceFunctions.h"
#include "Emulated.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "optc/runtime/emulator/Engine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace optc;
using namespace optc::test;

/// A kernel per device function that calls it with parameters of the kernel.
static std::unique_ptr<Module> callAll(LLVMContext &context) {
  auto module = std::make_unique<Module>("all", context);
  module->setTargetTriple(Triple("nvptx64-nvidia-cuda"));
  for (const std::string &name : cuda::deviceFunctionNames()) {
    std::optional<cuda::DeviceFunction> known = cuda::findDeviceFunction(name);
    EXPECT_TRUE(known) << name;
    FunctionType *type = known->type(context);
    Function *device =
        Function::Create(type, GlobalValue::ExternalLinkage, cuda::kDeviceFunctionPrefix + name, *module);
    SmallVector<Type *> types(type->params());
    types.push_back(PointerType::get(context, 1));
    std::string symbol = "k_" + name;
    std::replace(symbol.begin(), symbol.end(), '.', '_');
    Function *kernel = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                        GlobalValue::ExternalLinkage, symbol, *module);
    kernel->setCallingConv(CallingConv::PTX_Kernel);
    IRBuilder<> b(BasicBlock::Create(context, "", kernel));
    SmallVector<Value *> operands;
    SmallVector<char> letters;
    for (char letter : known->params)
      letters.append(letter == 'a' ? known->accumulators : 1, letter);
    for (auto [i, letter] : enumerate(letters))
      operands.push_back(letter == 'n' ? static_cast<Value *>(b.getInt32(StringRef(name).contains("maxnreg") ? 40 : 1))
                                       : kernel->getArg(i));
    Value *result = b.CreateCall(device, operands);
    if (!result->getType()->isVoidTy())
      b.CreateStore(result, kernel->getArg(types.size() - 1));
    b.CreateRetVoid();
  }
  return module;
}

TEST(DeviceFunctions, TheEmulatorHasThemAll) {
  for (std::string name : cuda::deviceFunctionNames()) {
    if (unsigned n = cuda::findDeviceFunction(name)->accumulators * 2)
      name.replace(name.find("n" + std::to_string(n)) + 1, std::to_string(n).size(), "#");
    EXPECT_TRUE(emulator::findFunction(name.c_str())) << name;
  }
  LLVMContext context;
  std::unique_ptr<Module> module = callAll(context);
  EXPECT_EQ(toString(cuda::rewriteForEmulation(*module)), "");
}

TEST(DeviceFunctions, AllBecomePtxThatAssembles) {
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  LLVMContext context;
  std::unique_ptr<Module> module = callAll(context);
  ASSERT_EQ(toString(cuda::expandDeviceFunctions(*module)), "");
  for (Function &f : *module)
    EXPECT_FALSE(f.getName().starts_with(cuda::kDeviceFunctionPrefix)) << f.getName().str();
  std::string problem;
  const Target *target = TargetRegistry::lookupTarget(module->getTargetTriple(), problem);
  ASSERT_TRUE(target) << problem;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(module->getTargetTriple(), "sm_90a", "+ptx83", {}, std::nullopt));
  module->setDataLayout(machine->createDataLayout());
  SmallString<0> ptx;
  raw_svector_ostream os(ptx);
  legacy::PassManager passes;
  ASSERT_FALSE(machine->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::AssemblyFile));
  passes.run(*module);
  for (const char *text : {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {", "cp.async.bulk.tensor.5d",
                           "mbarrier.try_wait.parity", "setmaxnreg.inc.sync.aligned.u32 40"})
    EXPECT_TRUE(ptx.str().contains(text)) << text;

  ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas");
  if (!ptxas)
    if (const char *home = getenv("CUDA_HOME"))
      ptxas = sys::findProgramByName("ptxas", {(home + StringRef("/bin")).str()});
  if (!ptxas)
    GTEST_SKIP() << "no ptxas";
  SmallString<128> input, log;
  int fd;
  ASSERT_FALSE(sys::fs::createTemporaryFile("functions", "ptx", fd, input));
  ASSERT_FALSE(sys::fs::createTemporaryFile("functions", "log", log));
  raw_fd_ostream(fd, /*shouldClose=*/true) << ptx;
  std::optional<StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  int status = sys::ExecuteAndWait(*ptxas, {*ptxas, "-arch=sm_90a", input, "-o", "/dev/null"}, std::nullopt, redirects);
  auto text = MemoryBuffer::getFile(log);
  EXPECT_EQ(status, 0) << (text ? (*text)->getBuffer().str() : "");
  sys::fs::remove(input);
  sys::fs::remove(log);
}

static std::string expansion(const char *text) {
  LLVMContext context;
  std::unique_ptr<Module> module = parseDevice(text, context);
  return module ? toString(cuda::expandDeviceFunctions(*module)) : "";
}

TEST(DeviceFunctions, WrongCallsAreErrors) {
  EXPECT_TRUE(contains(expansion("declare void @optc.nv.nothing()\n"), "optc.nv.nothing, which is not in"));
  EXPECT_TRUE(contains(expansion("declare void @optc.nv.wgmma.wait.n260()\n"), "is not in"));
  EXPECT_TRUE(contains(expansion("declare i64 @optc.nv.elect()\n"), "with other types"));
  EXPECT_TRUE(contains(expansion("declare void @optc.nv.bulk.wait(i32)\ndefine void @f(i32 %n) {\n"
                                 "  call void @optc.nv.bulk.wait(i32 %n)\n  ret void\n}\n"),
                       "an operand that is not constant"));
  EXPECT_TRUE(contains(expansion("declare void @optc.nv.bulk.commit()\n@p = global ptr @optc.nv.bulk.commit\n"),
                       "uses the address"));
}

TEST(DeviceFunctions, CallsInTheDialect) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  mlir::OpBuilder b(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToStart(module->getBody());
  auto f32 = b.getF32Type();
  auto function = mlir::LLVM::LLVMFuncOp::create(
      b, b.getUnknownLoc(), "f",
      mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(&context), SmallVector<mlir::Type>(4, f32)));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  SmallVector<mlir::Value> values =
      cuda::callDeviceFunction(b, b.getUnknownLoc(), "wgmma.wait.n8", function.getArguments());
  EXPECT_EQ(values.size(), 4u);
  EXPECT_EQ(cuda::callDeviceFunction(b, b.getUnknownLoc(), "elect", {}).size(), 1u);
  EXPECT_TRUE(cuda::callDeviceFunction(b, b.getUnknownLoc(), "wgmma.fence", {}).empty());
  EXPECT_TRUE(cuda::callDeviceFunction(b, b.getUnknownLoc(), "wgmma.fence", {}).empty());
  mlir::LLVM::ReturnOp::create(b, b.getUnknownLoc(), mlir::ValueRange());
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  auto declared = module->lookupSymbol<mlir::LLVM::LLVMFuncOp>("optc.nv.wgmma.fence");
  ASSERT_TRUE(declared);
  EXPECT_TRUE(declared.getConvergent());
}
