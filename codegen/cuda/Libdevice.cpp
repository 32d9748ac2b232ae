//===- Libdevice.cpp - NVIDIA's mathematical functions --------------------===//
#include "optc/codegen/cuda/Libdevice.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;
using namespace optc;

static bool callsLibdevice(const Module &module) {
  return llvm::any_of(module, [](const Function &f) {
    return f.isDeclaration() && f.getName().starts_with("__nv_") && !f.use_empty();
  });
}

Error cuda::linkLibdevice(Module &module) {
  if (!callsLibdevice(module))
    return Error::success();
  std::string file = findToolkitFile("nvvm/libdevice/libdevice.10.bc");
  if (file.empty())
    return environmentError("the model needs mathematical functions of NVIDIA's libdevice (libdevice.10.bc), which is "
                            "not found below CUDA_HOME, beside the ptxas on PATH or in the Python environment; install "
                            "NVIDIA's CUDA toolkit or 'pip install nvidia-cuda-nvcc'");
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(file, /*IsText=*/false, false);
  if (!bytes)
    return environmentError("cannot read " + file + ": " + bytes.getError().message());
  Expected<std::unique_ptr<Module>> library = parseBitcodeFile(**bytes, module.getContext());
  if (!library)
    return environmentError(file + " is not a library that this LLVM can read: " + toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  bool failed = Linker::linkModules(
      module, std::move(*library), Linker::LinkOnlyNeeded, [](Module &all, const StringSet<> &linked) {
        internalizeModule(all,
                          [&](const GlobalValue &value) { return !value.hasName() || !linked.count(value.getName()); });
      });
  if (failed)
    return internalError("libdevice cannot be linked to the generated code");
  return Error::success();
}
