//===- Assemble.h - PTX to machine code ------------------------------------===//
#ifndef OPTC_CODEGEN_CUDA_ASSEMBLE_H
#define OPTC_CODEGEN_CUDA_ASSEMBLE_H
#include "optc/codegen/cuda/DeviceModule.h"

namespace optc::cuda {

/// Runs ptxas on the module's PTX: fills in the cubin and what is known of each kernel. Without ptxas the error says
/// what to install (exit code 4).
llvm::Error assemble(const DeviceTarget &target, DeviceModule &module);

} // namespace optc::cuda
#endif
