//===- Padding.h - tensors with a border ------------------------*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_PADDING_H
#define OPTC_DIALECTS_KERNEL_PADDING_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace optc::kernel {

/// result[p] = source[p - low] where 0 <= p - low < size in every dimension, else a constant.
struct Padding {
  mlir::Value source;
  llvm::SmallVector<mlir::OpFoldResult> low;   ///< per dimension
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< null: the dimension has no border and is read at p itself
  mlir::TypedAttr fill;
  bool hasBorder(unsigned dim) const { return bool(sizes[dim]); }
};

/// Matches an op that copies a tensor into the middle of a larger one. Values of the result are defined outside of it.
std::optional<Padding> matchPadding(mlir::linalg::GenericOp op);

} // namespace optc::kernel
#endif
