//===- Watch.h - models that give their inner values ----------------------===//
#ifndef OPTC_COMPILER_WATCH_H
#define OPTC_COMPILER_WATCH_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/runtime/optc.h"

namespace optc {

/// Makes `values` all that @main returns.
void setResults(mlir::func::FuncOp main, llvm::ArrayRef<mlir::Value> values);

/// The elements of a float32 tensor that a run gave.
llvm::ArrayRef<float> watchedFloats(const optc_value &value);

} // namespace optc
#endif
