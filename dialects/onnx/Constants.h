//===- Constants.h - weights of a model, read and made --------------------===//
#ifndef OPTC_DIALECTS_ONNX_CONSTANTS_H
#define OPTC_DIALECTS_ONNX_CONSTANTS_H
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace optc::onnx {

/// The bytes of a constant whose elements are whole bytes, in ONNX's raw form: where they lie, at any address, or for a
/// splat a copy per element.
class ConstantBytes {
public:
  /// Not `good` when the value has no such elements, or not all of them.
  explicit ConstantBytes(mlir::ElementsAttr value);
  /// Of an onnx.Constant; other values are not `good`.
  explicit ConstantBytes(mlir::Value value);
  ConstantBytes(ConstantBytes &&) = default;
  ConstantBytes &operator=(ConstantBytes &&) = default;

  explicit operator bool() const { return good; }
  mlir::RankedTensorType type() const { return tensor; }
  llvm::ArrayRef<char> bytes() const { return data; }
  unsigned elementBytes() const { return width; }

private:
  mlir::RankedTensorType tensor;
  llvm::ArrayRef<char> data;
  std::vector<char> owned; ///< of a splat
  unsigned width = 0;
  bool good = false;
};

/// The elements of an onnx.Constant of float32; nothing for other values.
std::optional<std::vector<float>> floatsOf(mlir::Value value);
/// Whether `value` is an onnx.Constant of float32 whose bytes are there.
bool isFloatConstant(mlir::Value value);

/// A value of a constant whose bytes `fill` writes.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::function_ref<void(llvm::MutableArrayRef<char>)> fill);
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
