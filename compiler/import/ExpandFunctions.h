//===- ExpandFunctions.h - operators as their function bodies ---*- C++ -*-===//
//
// Many operators are defined as functions of simpler ones. What has no lowering of its own is replaced by that body.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_IMPORT_EXPANDFUNCTIONS_H
#define OPTC_COMPILER_IMPORT_EXPANDFUNCTIONS_H
#include "mlir/Pass/Pass.h"
#include <functional>

namespace optc {

/// Replaces the op by the body that the ONNX standard gives it for its types and attributes. Fails with a clause ("has
/// no function body for its types and attributes"); the op is then as it was.
mlir::LogicalResult expandFunctionBody(mlir::Operation *op, std::string &reason);

/// Expands every op with a function body for which `keep` says no, and what the bodies consist of. Ops whose types have
/// no body are left. Works on functions.
std::unique_ptr<mlir::Pass> createExpandFunctionsPass(std::function<bool(mlir::Operation *)> keep);

/// The same as `optc-expand-functions{keep=onnx.Softmax,onnx.Gelu}`.
void registerExpandFunctionsPass();

} // namespace optc
#endif
