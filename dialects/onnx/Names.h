//===- Names.h - how messages call nodes and operators ----------*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_NAMES_H
#define OPTC_DIALECTS_ONNX_NAMES_H
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace optc::onnx {

/// The ONNX node name that a location carries; empty when there is none.
std::string nodeName(mlir::Location loc);
/// "node 'conv1' (Conv)": for the start of a sentence about an op.
std::string describeOp(mlir::Operation *op);

} // namespace optc::onnx
#endif
