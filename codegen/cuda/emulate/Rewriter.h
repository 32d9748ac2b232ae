//===- Rewriter.h - inside of codegen/cuda/emulate --------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_EMULATE_REWRITER_H
#define OPTC_CODEGEN_CUDA_EMULATE_REWRITER_H
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace optc::cuda {

/// The address space of shared memory, of global memory, of local memory.
inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kLocalSpace = 5;

/// One function on its way to the host.
class Rewriter {
public:
  Rewriter(llvm::Module &module, llvm::Value *table, llvm::StringMap<unsigned> &functions, unsigned &sites)
      : module(module), context(module.getContext()), table(table), functions(functions), sites(sites) {}

  /// Gives the body of a kernel to a function with the thread as first parameter, and rewrites it.
  llvm::Expected<llvm::Function *> run(llvm::Function &kernel);

  uint64_t sharedBytes = 0, sharedAlignment = 1; ///< static shared memory; what the dynamic is aligned to

  //===-- For the parts -----------------------------------------------------===//
  /// Calls a function of the engine: thread and site come first.
  llvm::CallInst *call(llvm::IRBuilder<> &b, llvm::StringRef name, llvm::Type *result,
                       llvm::ArrayRef<llvm::Value *> operands);
  /// The value of a field of the thread's state.
  llvm::Value *load(llvm::IRBuilder<> &b, llvm::Type *type, uint64_t offset);
  llvm::Value *generic(llvm::IRBuilder<> &b, llvm::Value *pointer);

  llvm::Module &module;
  llvm::LLVMContext &context;

private:
  void placeShared();
  void checkAccesses();       // Checks.cpp
  llvm::Error replaceCalls(); // Calls.cpp
  llvm::Error replaceCall(llvm::CallInst &call);
  llvm::Error replaceDeviceFunction(llvm::CallInst &call, llvm::StringRef name);
  llvm::Expected<llvm::Value *> intrinsic(llvm::IRBuilder<> &b, llvm::CallInst &call, llvm::StringRef name);

  enum class Space { Shared, Global, Variable, Unknown };
  struct Place {
    Space space;
    unsigned slot = 0;             ///< global memory: which range to compare with
    llvm::Value *object = nullptr; ///< a variable, and its size
    uint64_t bytes = 0;
  };
  Place classify(llvm::Value *pointer);
  void checkAccess(llvm::Instruction &access, llvm::Value *pointer, uint64_t bytes, llvm::Align align, bool write);
  void checkRange(llvm::Instruction &access, llvm::Value *pointer, llvm::Value *bytes, bool write);

  llvm::Value *table;
  llvm::StringMap<unsigned> &functions;
  unsigned &sites;
  llvm::Function *function = nullptr;
  llvm::Value *thread = nullptr;
  llvm::DenseMap<const llvm::Value *, uint64_t> byValue; ///< parameters passed in memory, with their size
  llvm::DenseSet<llvm::CallInst *> engineCalls;
};

/// Arithmetic intrinsics, by the structure of their names ("fma.rm.f"): their value in the host's LLVM IR. Null when
/// the name is none of these.
llvm::Value *emulateMath(Rewriter &rewriter, llvm::IRBuilder<> &b, llvm::CallInst &call, llvm::StringRef name);

/// The value of a call of inline assembly; null when its text is not one of libdevice's.
llvm::Value *emulateAssembly(Rewriter &rewriter, llvm::IRBuilder<> &b, llvm::CallInst &call);

} // namespace optc::cuda
#endif
