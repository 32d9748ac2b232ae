//===- DeviceModule.h - the code of a device ------------------------------===//
#ifndef OPTC_CODEGEN_CUDA_DEVICEMODULE_H
#define OPTC_CODEGEN_CUDA_DEVICEMODULE_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/Target.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace optc {

/// A tensor map that a kernel takes, in the terms of optc_tensor_map (runtime/dispatch.h).
struct DeviceTensorMap {
  int32_t buffer = 0, dtype = 0, rank = 0, swizzle = 0;
  int64_t offsetBytes = 0;
  int64_t dims[5] = {}, strides[4] = {};
  int32_t box[5] = {};
};

/// A kernel, in the terms of optc_device_kernel, and what ptxas says of it.
struct DeviceKernel {
  std::string name, family;
  int32_t threads = 0, sharedBytes = 0; ///< dynamic shared memory
  int32_t buffers = 0, scalars = 0;
  int32_t generic = -1; ///< DeviceModule::generic: its version for other devices; -1: it runs there itself
  std::vector<DeviceTensorMap> maps;
  int32_t registers = 0, stackBytes = 0, spillStores = 0, spillLoads = 0; ///< bytes, but for the registers
  int32_t staticSharedBytes = 0;
  std::vector<std::string> notes; ///< of ptxas, on performance
};

/// Everything that the device part of an artifact is made from.
struct DeviceModule {
  int32_t capability = 0;
  std::vector<DeviceKernel> kernels, generic;
  /// Optimised LLVM IR of all versions, device functions not yet replaced: for the emulator.
  llvm::SmallVector<char, 0> bitcode;
  std::string ptx;
  std::string genericPtx;               ///< for other devices; empty when it was not asked for
  llvm::SmallVector<char, 0> cubin;     ///< empty when it was not asked for
  llvm::SmallVector<char, 0> emulation; ///< shared object for this machine's CPU; empty when it was not asked for
  double codegenMs = 0, assembleMs = 0;
};

/// Takes gpu.module @device, in the LLVM dialect, out of a module and compiles it. Without `assemble` the result has no
/// cubin, and ptxas is not needed; without `generic` it has no code for other devices. No kernels: an empty list.
llvm::Expected<DeviceModule> compileDevice(mlir::ModuleOp module, const DeviceTarget &device, int optLevel,
                                           bool assemble, bool generic);

/// Makes the image for the emulator from the module's bitcode.
llvm::Error addEmulation(DeviceModule &device);

/// A file of NVIDIA's toolkit (`bin/ptxas`, `nvvm/libdevice/libdevice.10.bc`): below CUDA_HOME, beside the ptxas on
/// PATH, or in the wheels of the Python environment (nvidia-cuda-nvcc). Empty when there is none.
std::string findToolkitFile(llvm::StringRef path);

/// Reads what `ptxas -v` printed into the kernels of these names. What it warns of goes to the kernel named in it.
void readPtxasOutput(llvm::StringRef output, std::vector<DeviceKernel> &kernels);

} // namespace optc
#endif
