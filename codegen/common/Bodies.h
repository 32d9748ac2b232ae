//===- Bodies.h - scalar bodies of structured ops on values -----*- C++ -*-===//
#ifndef OPTC_CODEGEN_COMMON_BODIES_H
#define OPTC_CODEGEN_COMMON_BODIES_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace optc::codegen {

/// Clones a body (kernel::isElementwiseBody, or with linalg.index) with a vector of `lanes` elements or a scalar, the
/// same for all lanes, per argument; what depends on scalars only stays scalar. With 0 lanes everything is scalar.
/// `indexOf` gives linalg.index of a loop. Returns what is yielded, as vectors.
llvm::SmallVector<mlir::Value> cloneBody(mlir::ImplicitLocOpBuilder &b, mlir::Block &body, mlir::ValueRange args,
                                         int64_t lanes = 0,
                                         llvm::function_ref<mlir::Value(unsigned loop)> indexOf = nullptr);

/// Clones one op of a body on vectors, or on scalars when `lanes` is 0. `map` holds what its operands became (values
/// from outside are spread) and gets its results.
void cloneOp(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op, mlir::IRMapping &map, int64_t lanes = 0);

/// Lets products of the ops be contracted with the additions behind them.
void allowContraction(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

/// A vector of `lanes` elements, or the scalar type when `lanes` is 0.
mlir::Type vectorOf(mlir::Type element, int64_t lanes);

/// `scalar` in all lanes; vectors stay, and so does everything when `lanes` is 0.
mlir::Value spread(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, int64_t lanes);

} // namespace optc::codegen
#endif
