//===- Loops.h - kernels as plain loops -------------------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_COMMON_LOOPS_H
#define OPTC_CODEGEN_COMMON_LOOPS_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::codegen {

/// Makes loops over buffers of a kernel, whatever its ops are. `tiles` are the first dimensions of the result that
/// tiles cut, flattened; of no dimensions: every loop is whole, and the function's arguments are not read.
mlir::LogicalResult lowerToLoops(mlir::func::FuncOp func, int optLevel, kernel::TileGroup tiles);

} // namespace optc::codegen
#endif
