//===- EmitObject.h - LLVM dialect to machine code ------------------------===//
#ifndef OPTC_CODEGEN_OBJECT_EMITOBJECT_H
#define OPTC_CODEGEN_OBJECT_EMITOBJECT_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/Target.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "optc/codegen/object/Model.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace optc {

/// How the artifact reaches the runtime.
enum class Linkage {
  Shared, ///< a hidden descriptor and exported thunks NAME_* to the embedded runtime
  Static  ///< an exported descriptor NAME_descriptor
};

/// Translates a module in the LLVM dialect, adds the model's descriptor with that of the device, if any, and leaves
/// nothing visible but what `linkage` says. Kernels refer to the constants as `optc_weights`, which becomes the hidden
/// symbol weightSymbol(name).
llvm::Expected<std::unique_ptr<llvm::Module>> translateModel(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                             const Target &target, const ModelSignature &signature,
                                                             Linkage linkage, const DeviceModule *device = nullptr);
/// Name of the symbol that the object of the constants defines.
std::string weightSymbol(const ModelSignature &signature);
/// The declaration of that symbol in `module`, made when it is not there yet.
llvm::GlobalVariable *declareWeights(llvm::Module &module, const ModelSignature &signature);
/// Runs LLVM's optimiser for -O0..3.
llvm::Error optimizeModule(llvm::Module &module, const Target &target, int optLevel);
/// Optimises and emits objects into memory. Large modules are cut into parts that threads compile; how they are cut
/// depends on the module only, so the bytes do not depend on the machine.
llvm::Expected<std::vector<llvm::SmallVector<char, 0>>> emitObjects(std::unique_ptr<llvm::Module> module,
                                                                    const Target &target, int optLevel);

/// Adds the descriptor (and thunks) of the model to a module that defines its entry (Descriptor.cpp).
llvm::Error addDescriptor(llvm::Module &module, const Target &target, const ModelSignature &signature, Linkage linkage,
                          const DeviceModule *device);

} // namespace optc
#endif
