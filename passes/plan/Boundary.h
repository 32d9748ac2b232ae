//===- Boundary.h - elements as a caller would hand them over ---*- C++ -*-===//
#ifndef OPTC_PASSES_PLAN_BOUNDARY_H
#define OPTC_PASSES_PLAN_BOUNDARY_H
#include "mlir/IR/BuiltinAttributes.h"

namespace optc {

/// The bytes of a tensor of the onnx dialect in the form that inputs of a run have: bool one byte each, sub-byte types
/// packed, the first element in the low bits; one zero byte when there are no elements. A resource keeps its bytes
/// where they are.
mlir::ElementsAttr boundaryBytes(mlir::ElementsAttr value);

} // namespace optc
#endif
