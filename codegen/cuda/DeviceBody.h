//===- DeviceBody.h - what an emitter of device kernels works on -*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_DEVICEBODY_H
#define OPTC_CODEGEN_CUDA_DEVICEBODY_H
#include "optc/codegen/common/KernelBody.h"
#include "optc/codegen/cuda/DeviceModule.h"

namespace optc::cuda {

/// The name of the gpu.module that holds the kernels.
inline constexpr llvm::StringLiteral kDeviceModule = "device";
/// The symbol of a block's dynamic shared memory, and what it is aligned to (the widest swizzle needs it).
inline constexpr llvm::StringLiteral kSharedSymbol = "optc_shared";
inline constexpr int64_t kSharedAlignment = 1024, kWarp = 32;
/// Attribute of a kernel with the bytes of shared memory that it takes.
inline constexpr llvm::StringLiteral kSharedBytes = "kernel.shared_bytes";
/// Attribute of a kernel that is the generic version of the one before it.
inline constexpr llvm::StringLiteral kGenericVersion = "kernel.generic_version";
/// Attribute of a kernel with its tensor maps, one array of numbers each (DeviceBody.cpp); they are its last
/// parameters.
inline constexpr llvm::StringLiteral kTensorMaps = "kernel.tensor_maps";

/// The tensor maps that a kernel takes.
std::vector<DeviceTensorMap> tensorMapsOf(mlir::Operation *kernel);

/// A kernel in gpu.module @device, of the device's calling convention: buffers, then scalars of 64 bits. A tile is the
/// work of a block.
class DeviceBody : public codegen::KernelBody {
public:
  explicit DeviceBody(mlir::func::FuncOp func);

  int64_t threads;           ///< of a block
  mlir::Value thread, block; ///< index within the block, and that of the block

  /// Makes the indices anew: patterns may have dropped them.
  void bindThread();
  void barrier();
  /// The address of shared memory, and a flat memref over what is at such an address.
  mlir::Value sharedAddress(int64_t bytes, int64_t alignment);
  mlir::Value sharedAt(mlir::Value address, mlir::Type element, int64_t count);
  /// The address of a tensor map, which the host makes for every launch. Its `buffer` is set here, to that of `tensor`.
  mlir::Value tensorMap(mlir::Value tensor, DeviceTensorMap map);
  /// Shared memory for `count` elements as a flat memref, aligned to `alignment` bytes.
  mlir::Value shared(mlir::Type element, int64_t count, int64_t alignment = 16);
  /// Consecutive elements of a flat buffer, from an offset that is a multiple of their number: one access.
  llvm::SmallVector<mlir::Value> loadVector(mlir::Value buffer, mlir::Value offset, int64_t lanes);
  void storeVector(mlir::ValueRange values, mlir::Value buffer, mlir::Value offset);
  /// Calls `body` with the first of `perThread` consecutive elements of [0, count), for all such groups that this
  /// thread has: neighbouring threads have neighbouring groups. The last one may reach beyond `count`.
  void forElements(mlir::Value count, int64_t perThread, llvm::function_ref<void(mlir::Value first)> body);
  /// Calls `body` where `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body);

  /// The indices of element `flat` of a row-major tensor of these sizes.
  llvm::SmallVector<mlir::Value> unflatten(mlir::Value flat, mlir::ValueRange sizes);
  mlir::Value offsetAlong(const kernel::LoopNest &nest, const kernel::NestOperand &operand,
                          llvm::ArrayRef<unsigned> loops, mlir::Value flat) override;
  mlir::Value flatten(mlir::ValueRange indices, mlir::ValueRange sizes);
  /// Sizes of all dimensions of a tensor.
  llvm::SmallVector<mlir::Value> dims(mlir::Value tensor);
  /// Of the memory that it is a part of.
  llvm::SmallVector<mlir::Value> storedDims(mlir::Value tensor);
  mlir::Value product(mlir::ValueRange sizes);

  /// KernelBody's, and note().
  void finish();
  /// Notes on the function what the kernel takes.
  void note();

private:
  int64_t sharedBytes = 0;
};

} // namespace optc::cuda
#endif
