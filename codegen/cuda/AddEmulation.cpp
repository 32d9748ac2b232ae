//===- AddEmulation.cpp - the image for the emulator in a device module ---===//
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "optc/codegen/cuda/emulate/Emulate.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace optc;

Error optc::addEmulation(DeviceModule &device) {
  if (device.kernels.empty())
    return Error::success();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> code =
      parseBitcodeFile(MemoryBufferRef(StringRef(device.bitcode.data(), device.bitcode.size()), "device"), context);
  if (!code)
    return internalError("the device code cannot be read back: " + toString(code.takeError()));
  Expected<SmallVector<char, 0>> image = cuda::makeEmulationImage(std::move(*code));
  if (!image)
    return image.takeError();
  device.emulation = std::move(*image);
  return Error::success();
}
