//===- Libdevice.h - NVIDIA's mathematical functions -----------------------===//
#ifndef OPTC_CODEGEN_CUDA_LIBDEVICE_H
#define OPTC_CODEGEN_CUDA_LIBDEVICE_H
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace optc::cuda {

/// Links what a module calls of libdevice, when it calls any of it, and replaces the inline PTX in there by what LLVM
/// knows, where it does: the emulator runs LLVM IR.
llvm::Error linkLibdevice(llvm::Module &module);

} // namespace optc::cuda
#endif
