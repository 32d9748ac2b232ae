//===- Emitters.h - the families of kernel emitters -------------*- C++ -*-===//
//
// `configure` names a family in a dispatch's strategy; the family's emitter turns the outlined kernel into loops over
// its buffers. A family reads nothing but the kernel and its strategy.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CPU_EMITTERS_H
#define OPTC_CODEGEN_CPU_EMITTERS_H
#include "optc/codegen/cpu/KernelBody.h"

namespace optc::cpu {

struct EmitOptions {
  int optLevel = 3;
  /// Products may be contracted with the additions behind them.
  bool contract = true;
};

/// Everything, slowly at worst: bufferization and plain loops, which LLVM vectorises where it can.
mlir::LogicalResult emitLoops(mlir::func::FuncOp func, const EmitOptions &options);
/// The same code with the tiles given; of no dimensions: every loop whole. Then the function's arguments are not read.
mlir::LogicalResult lowerToLoops(mlir::func::FuncOp func, const EmitOptions &options, kernel::TileGroup tiles);
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
