//===- Emitters.h - the families of device kernels --------------*- C++ -*-===//
//
// A family turns the outlined kernel into what one thread of it does.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CUDA_EMITTERS_H
#define OPTC_CODEGEN_CUDA_EMITTERS_H
#include "optc/codegen/common/Emitters.h"
#include "optc/codegen/cuda/DeviceBody.h"

namespace optc::cuda {

using codegen::EmitOptions;

/// Everything: a thread per element of a result, or emitSequence.
mlir::LogicalResult emitLoops(DeviceBody &body, const EmitOptions &options);
/// What goes element after element: loops whose iterations are independent are shared by threads, the rest is in order.
mlir::LogicalResult emitSequence(DeviceBody &body, const EmitOptions &options);

/// Reductions along rows and what is computed with them: a warp or a block per row.
mlir::LogicalResult emitRows(DeviceBody &body, const EmitOptions &options);
/// Products of f16 and bf16 by warpgroups, whose operands the tensor memory accelerator copies.
mlir::LogicalResult emitTensorGemm(DeviceBody &body, const EmitOptions &options);
/// Products of f16 and bf16 by warps: any sizes and strides, convolutions.
mlir::LogicalResult emitMma(DeviceBody &body, const EmitOptions &options);
/// Products of matrices and convolutions without tensor cores.
mlir::LogicalResult emitSimtGemm(DeviceBody &body, const EmitOptions &options);
/// Depthwise convolutions and pooling: a vector of channels at some positions per thread.
mlir::LogicalResult emitWindow(DeviceBody &body, const EmitOptions &options);
/// Elementwise ops, transpositions, gathers: several elements per thread, in accesses of 16 bytes.
mlir::LogicalResult emitElementwise(DeviceBody &body, const EmitOptions &options);

} // namespace optc::cuda
#endif
