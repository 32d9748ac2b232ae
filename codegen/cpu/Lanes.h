//===- Lanes.h - vectors in memory ------------------------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CPU_LANES_H
#define OPTC_CODEGEN_CPU_LANES_H
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace optc::cpu {

/// Loads or stores consecutive elements; a null mask means all.
mlir::Value loadLanes(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type, mlir::Value buffer, mlir::Value offset,
                      mlir::Value mask = nullptr);
void storeLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value v, mlir::Value buffer, mlir::Value offset,
                mlir::Value mask = nullptr);

} // namespace optc::cpu
#endif
