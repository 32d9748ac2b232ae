//===- Libdevice.h - NVIDIA's mathematical functions -----------------------===//
#ifndef OPTC_CODEGEN_CUDA_LIBDEVICE_H
#define OPTC_CODEGEN_CUDA_LIBDEVICE_H
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace optc::cuda {

/// Links what a module calls of libdevice, when it calls any of it.
llvm::Error linkLibdevice(llvm::Module &module);

} // namespace optc::cuda
#endif
