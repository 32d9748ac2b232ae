//===- Elements.h - bytes of a tensor to the value of a constant -*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_ELEMENTS_H
#define OPTC_DIALECTS_ONNX_ELEMENTS_H
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace optc::onnx {

/// Bytes of a tensor in ONNX's raw form: little-endian, sub-byte types packed, bool one byte each. The type is static,
/// its elements are numbers.
uint64_t rawBytes(mlir::RankedTensorType type);

/// The value of an onnx.Constant whose elements are `bytes` in that form: dense up to 1024 bytes, else a resource named
/// by its content, so that equal bytes are one resource whatever they came from. `makeBlob` gives memory with those
/// bytes that lives as long as the context; it is called where there is no such resource yet.
mlir::ElementsAttr elementsAttr(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                llvm::function_ref<mlir::AsmResourceBlob()> makeBlob);

} // namespace optc::onnx
#endif
