//===- VectorBody.h - scalar bodies of structured ops on vectors -*- C++ -*-===//
#ifndef OPTC_CODEGEN_CPU_VECTORBODY_H
#define OPTC_CODEGEN_CPU_VECTORBODY_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace optc::cpu {

/// Clones a body (kernel::isElementwiseBody, or with linalg.index) with a vector of `lanes` elements or a scalar, the
/// same for all lanes, per argument; what depends on scalars only stays scalar. `indexOf` gives linalg.index of a loop.
/// Returns the yielded vectors.
llvm::SmallVector<mlir::Value> cloneOnVectors(mlir::ImplicitLocOpBuilder &b, mlir::Block &body, mlir::ValueRange args,
                                              int64_t lanes, llvm::function_ref<mlir::Value(unsigned loop)> indexOf);

/// `scalar` in all lanes; vectors stay.
mlir::Value spread(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, int64_t lanes);

/// Loads or stores consecutive elements; a null mask means all.
mlir::Value loadLanes(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type, mlir::Value buffer, mlir::Value offset,
                      mlir::Value mask = nullptr);
void storeLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value v, mlir::Value buffer, mlir::Value offset,
                mlir::Value mask = nullptr);

} // namespace optc::cpu
#endif
