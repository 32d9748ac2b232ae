//===- Constants.h - weights of a model, read and made --------------------===//
#ifndef OPTC_DIALECTS_ONNX_CONSTANTS_H
#define OPTC_DIALECTS_ONNX_CONSTANTS_H
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <vector>

namespace optc::onnx {

/// The elements of an onnx.Constant of float32; nothing for other values.
std::optional<std::vector<float>> floatsOf(mlir::Value value);
/// Whether `value` is an onnx.Constant of float32 whose bytes are there.
bool isFloatConstant(mlir::Value value);

/// A constant of the onnx dialect from the raw bytes of its elements (dialects/onnx/Elements.h), which are copied.
mlir::Value makeConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                         llvm::ArrayRef<char> bytes);
template <typename T>
mlir::Value makeConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type,
                         const std::vector<T> &elements) {
  return makeConstant(
      b, loc, type, llvm::ArrayRef<char>(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T)));
}

} // namespace optc::onnx
#endif
