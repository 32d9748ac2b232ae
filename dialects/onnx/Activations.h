//===- Activations.h - the functions of RNN, GRU and LSTM -------*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_ACTIVATIONS_H
#define OPTC_DIALECTS_ONNX_ACTIVATIONS_H
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace optc::onnx {

/// An entry of attribute 'activations' with its parameters.
struct Activation {
  llvm::StringLiteral name; ///< lower case: names are compared without case
  int parameters;           ///< 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;
};

/// The functions that a recurrent op applies, `defaults` of each direction after the other; parameters are consumed in
/// order by the functions that have them. None, with the reason, when the attribute does not say so many known ones.
std::optional<llvm::SmallVector<Activation>> activationsOf(mlir::Operation *op,
                                                           llvm::ArrayRef<llvm::StringLiteral> defaults,
                                                           int64_t directions, std::string &reason);

} // namespace optc::onnx
#endif
