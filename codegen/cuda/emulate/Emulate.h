//===- Emulate.h - device code as a program of the host ---------*- C++ -*-===//
//
// The LLVM IR that ptxas gets, before device functions are replaced by PTX, becomes an x86-64 shared object for the
// emulator (runtime/emulator; Abi.h says what it looks like): a function per kernel that runs one CUDA thread.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CUDA_EMULATE_EMULATE_H
#define OPTC_CODEGEN_CUDA_EMULATE_EMULATE_H
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class Module;
}

namespace optc::cuda {

/// Turns a device module into a host module: kernels get the thread as first parameter, shared memory becomes a window,
/// every access is preceded by a check, intrinsics and device functions become calls of the emulator. What the emulator
/// cannot do is an error that names it.
llvm::Error rewriteForEmulation(llvm::Module &module);

/// The image: rewrites, compiles and links.
llvm::Expected<llvm::SmallVector<char, 0>> makeEmulationImage(std::unique_ptr<llvm::Module> module);

} // namespace optc::cuda
#endif
