//===- Pointwise.h - attributes and pointwise operators in lowerings ------===//
#ifndef OPTC_PASSES_LOWERING_POINTWISE_H
#define OPTC_PASSES_LOWERING_POINTWISE_H
#include "optc/passes/lowering/LoweringUtils.h"

namespace optc {

inline int64_t intAttr(mlir::Operation *op, llvm::StringRef name, int64_t fallback) {
  auto a = op->getAttrOfType<mlir::IntegerAttr>(name);
  return a ? a.getInt() : fallback;
}
inline double floatAttr(mlir::Operation *op, llvm::StringRef name, double fallback) {
  auto a = op->getAttrOfType<mlir::FloatAttr>(name);
  return a ? a.getValueAsDouble() : fallback;
}
inline llvm::StringRef stringAttr(mlir::Operation *op, llvm::StringRef name, llvm::StringRef fallback) {
  auto a = op->getAttrOfType<mlir::StringAttr>(name);
  return a ? a.getValue() : fallback;
}

/// The value of a pointwise operator at one element. `s` is of the element type of the first operand; `in` holds one
/// compute scalar per operand.
using PointFn = mlir::Value (*)(const ScalarOps &s, mlir::Operation *op, mlir::ValueRange in);

/// Lowers an operator whose result is `fn` of its numpy-broadcast operands.
template <PointFn fn> llvm::LogicalResult lowerPointwise(mlir::Operation *op, Lowering &l) {
  if (failed(requireRanked(op, l)))
    return llvm::failure();
  mlir::Value result = op->getResult(0);
  mlir::Type elem = l.elem(op->getOperand(0));
  l.set(result, l.elementwise(op->getOperands(), l.elem(result), l.dims(result),
                              [&](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange in) {
                                return fn(ScalarOps{b, loc, elem}, op, in);
                              }));
  return llvm::success();
}

/// A row of a family's table.
struct LoweringRow {
  const char *name;
  LowerFn fn;
};
inline void registerRows(LoweringTable &table, llvm::ArrayRef<LoweringRow> rows) {
  for (const LoweringRow &r : rows)
    table[r.name] = r.fn;
}

void registerMathLowerings(LoweringTable &table);       ///< ElementwiseMath.cpp
void registerArithmeticLowerings(LoweringTable &table); ///< ElementwiseArith.cpp
void registerCastLowerings(LoweringTable &table);       ///< ElementwiseCast.cpp
void registerTrainingLowerings(LoweringTable &table);   ///< Training.cpp

} // namespace optc
#endif
