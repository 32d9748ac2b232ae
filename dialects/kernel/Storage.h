//===- Storage.h - parts of larger tensors ----------------------*- C++ -*-===//
//
// A tensor may lie in the memory of a larger one, of which it is a block: a slice (tensor.extract_slice), or a result
// that is computed straight into its place in a concatenation (`stored_in` of kernel.dispatch). Its elements have the
// strides of that memory. Everything that walks buffers asks here; before `plan` the op that makes the tensor tells,
// in an outlined kernel the buffer that it is bound to.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_STORAGE_H
#define OPTC_DIALECTS_KERNEL_STORAGE_H
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace optc::kernel {

/// The shape of the memory that a tensor lies in. A `?` is the size that the tensor itself has there. What lies in
/// front of the outermost dimension of more than one element does not matter, so it is the tensor's own, too.
llvm::SmallVector<int64_t> storedShape(mlir::Value tensor);

/// Whether the elements of a tensor of this shape follow each other in memory of shape `stored`.
bool isContiguous(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> stored);
bool isContiguous(mlir::Value tensor);

/// The distances of elements along each dimension in memory of this shape; `?` where they depend on run-time sizes.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> stored);

/// Buffers begin at multiples of so many bytes.
inline constexpr int64_t kBufferAlignment = 64;
/// Bytes that the address of a tensor's first element is known to be a multiple of, no more than kBufferAlignment.
int64_t alignmentOf(mlir::Value tensor);
/// Whether the first `lanes` elements of a tensor are an aligned vector.
bool isAligned(mlir::Value tensor, int64_t lanes);

/// Whether dimension `i` of a tensor and dimension `j` of another one are known to have one size.
bool sameSize(mlir::Value a, unsigned i, mlir::Value b, unsigned j);

/// Whether a slice can be read where it is: it has unit steps, and the strides follow from constants and from its own
/// sizes. `why` gets the reason of a refusal.
bool isAddressable(mlir::tensor::ExtractSliceOp slice, std::string *why = nullptr);

/// Whether an op or what is nested in it works on strings, which live in the host's memory.
bool usesStrings(mlir::Operation *root);

/// The concatenation that reads the value, through casts, and as which of its operands; null when it is not the only
/// one, or reads it twice.
std::pair<mlir::tensor::ConcatOp, unsigned> concatenationOf(mlir::Value part);

} // namespace optc::kernel
#endif
