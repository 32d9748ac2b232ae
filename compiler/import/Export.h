//===- Export.h - from the onnx dialect back to protobuf --------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_EXPORT_H
#define OPTC_COMPILER_IMPORT_EXPORT_H
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace optc::import {

/// Names of values in the exported nodes; asked once for each use and definition.
using NameOf = llvm::function_ref<std::string(mlir::Value)>;

/// A type in ONNX's form; without a value where ONNX has none.
optc_onnx::TypeProto exportType(mlir::Type type);

/// A constant as a tensor with raw_data. False for attributes that hold no known elements.
bool exportTensor(mlir::ElementsAttr value, optc_onnx::TensorProto &tensor);

/// An op of the onnx dialect as a node, its regions as subgraphs. False with a clause when it cannot be one.
bool exportNode(mlir::Operation *op, NameOf nameOf, optc_onnx::NodeProto &node, std::string &reason);

} // namespace optc::import
#endif
