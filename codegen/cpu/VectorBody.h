//===- VectorBody.h - scalar bodies of structured ops on vectors -*- C++ -*-===//
#ifndef OPTC_CODEGEN_CPU_VECTORBODY_H
#define OPTC_CODEGEN_CPU_VECTORBODY_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace optc::cpu {

/// Clones a body (kernel::isElementwiseBody, or with linalg.index) with one vector of `lanes` elements per argument
/// (scalars are spread). `indexOf` gives linalg.index of a loop as a vector of index. Returns the yielded vectors.
llvm::SmallVector<mlir::Value> cloneOnVectors(mlir::ImplicitLocOpBuilder &b, mlir::Block &body, mlir::ValueRange args,
                                              int64_t lanes, llvm::function_ref<mlir::Value(unsigned loop)> indexOf);

/// `scalar` in all lanes; vectors stay.
mlir::Value spread(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, int64_t lanes);

} // namespace optc::cpu
#endif
