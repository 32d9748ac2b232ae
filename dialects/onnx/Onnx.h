//===- Onnx.h - the onnx dialect --------------------------------*- C++ -*-===//
//
// All op classes. Files that need only types or the table of operators include Types.h or OpTable.h, which parse
// faster.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_ONNX_ONNX_H
#define OPTC_DIALECTS_ONNX_ONNX_H
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "optc/dialects/onnx/OpTable.h"
#include "optc/dialects/onnx/Types.h"

#define GET_OP_CLASSES
#include "optc/dialects/onnx/OnnxOps.h.inc"
#endif
