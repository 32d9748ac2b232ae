//===- Emitters.h - the families of kernel emitters -------------*- C++ -*-===//
//
// A family turns the outlined kernel into loops over its buffers. It reads nothing but the kernel and its strategy.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CPU_EMITTERS_H
#define OPTC_CODEGEN_CPU_EMITTERS_H
#include "optc/codegen/common/Emitters.h"

namespace optc::cpu {

using codegen::EmitOptions;
using codegen::KernelBody;

/// Everything, slowly at worst: bufferization and plain loops, which LLVM vectorises where it can.
mlir::LogicalResult emitLoops(mlir::func::FuncOp func, const EmitOptions &options);
/// Products of matrices and convolutions with register tiles.
mlir::LogicalResult emitGemm(KernelBody &body, const EmitOptions &options);
/// Depthwise convolutions and pooling, vectors along the channels.
mlir::LogicalResult emitWindow(KernelBody &body, const EmitOptions &options);
/// A matrix into the panels that products read.
mlir::LogicalResult emitPack(KernelBody &body, const EmitOptions &options);
/// Reductions along rows and what is computed with them, row by row.
mlir::LogicalResult emitRows(KernelBody &body, const EmitOptions &options);
/// Reductions across rows: one sum per element of a vector.
mlir::LogicalResult emitColumns(KernelBody &body, const EmitOptions &options);

} // namespace optc::cpu
#endif
