//===- DeviceFunctions.h - what device code calls beyond LLVM IR -*- C++ -*-===//
//
// Device code is LLVM IR with the NVVM intrinsics for indices, barriers and shuffles. What has no intrinsic, or one
// that does not say what the emulator has to know, is a call of a function `optc.nv.<name>` from the table in
// DeviceFunctions.def. One module with these calls feeds both ways: the device's replaces them by inline PTX
// (expandDeviceFunctions), the emulator's by calls of its functions (emulate/).
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CUDA_DEVICEFUNCTIONS_H
#define OPTC_CODEGEN_CUDA_DEVICEFUNCTIONS_H
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace llvm {
class FunctionType;
class LLVMContext;
class Module;
} // namespace llvm

namespace optc::cuda {

/// Prefix of the names of device functions in a module.
inline constexpr llvm::StringLiteral kDeviceFunctionPrefix = "optc.nv.";

/// One device function, with the numbers of its name and its types resolved.
struct DeviceFunction {
  std::string name;                          ///< without the prefix
  llvm::SmallVector<char, 4> results;        ///< types of DeviceFunctions.def, repetitions written out
  llvm::SmallVector<char, 8> params;         ///< accumulators are one parameter 'a' ...
  unsigned accumulators = 0;                 ///< ... of this many registers
  bool convergent = false, noMemory = false; ///< flags
  std::string ptx;                           ///< with %r, %0 ...

  llvm::FunctionType *type(llvm::LLVMContext &context) const;
};

/// The device function of this name, without the prefix.
std::optional<DeviceFunction> findDeviceFunction(llvm::StringRef name);
/// One name of every row of the table; a `#` is an N that exists.
std::vector<std::string> deviceFunctionNames();

/// Replaces calls of device functions by inline PTX. An unknown name, other types than the table's and operands that
/// have to be constants and are not are errors.
llvm::Error expandDeviceFunctions(llvm::Module &module);

/// Emits a call of a device function in the LLVM dialect, and declares it in the nearest symbol table. Accumulators are
/// passed and returned one by one.
llvm::SmallVector<mlir::Value> callDeviceFunction(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                                                  mlir::ValueRange operands);

} // namespace optc::cuda
#endif
