//===- Einsum.h - the equation of an Einsum ---------------------*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_EINSUM_H
#define OPTC_DIALECTS_ONNX_EINSUM_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace optc {

/// An equation with the ellipsis expanded: every axis of every term is a label. A label is a number; numbers
/// 0..numEllipsis-1 stand for the broadcast axes of the ellipsis, aligned to the right.
struct EinsumEquation {
  llvm::SmallVector<llvm::SmallVector<unsigned>> inputs; ///< a label may occur twice in a term: its diagonal
  llvm::SmallVector<unsigned> output;
  unsigned numEllipsis = 0;
  unsigned numLabels = 0;
};

/// Parses `equation` for inputs of the given ranks: spaces, "->" or the implicit output, ellipsis, diagonals, letters
/// of both cases.
llvm::Expected<EinsumEquation> parseEinsum(llvm::StringRef equation, llvm::ArrayRef<int64_t> ranks);

} // namespace optc
#endif
