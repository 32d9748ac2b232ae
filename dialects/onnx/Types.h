//===- Types.h - types of the onnx dialect and their constraint -*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_TYPES_H
#define OPTC_DIALECTS_ONNX_TYPES_H
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "optc/dialects/onnx/OnnxDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "optc/dialects/onnx/OnnxTypes.h.inc"

namespace optc::onnx {

/// Bits of a type mask beside `1 << DataType` for tensors.
enum TypeMask : uint64_t {
  MaskSeq = 1ULL << 48,
  MaskOpt = 1ULL << 49,
  MaskOptSeq = 1ULL << 50,
  MaskMap = 1ULL << 51,
  MaskSeqMap = 1ULL << 52,
};

/// The number of an element type in ONNX (TensorProto.DataType), 0 when ONNX has no such type.
int dataTypeOf(mlir::Type elementType);
/// The element type of ONNX's type number, null for an unknown number.
mlir::Type elementTypeOf(mlir::MLIRContext *ctx, int dataType);
/// The ONNX name of an element type, for messages: "float16".
llvm::StringRef dataTypeName(mlir::Type elementType);

/// Whether `type` is in the set `mask`.
bool allowed(mlir::Type type, uint64_t mask);

} // namespace optc::onnx
#endif
