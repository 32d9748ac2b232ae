//===- DimMath.h - short names for arithmetic on symbolic sizes -----------===//
#ifndef OPTC_PASSES_LOWERING_DIMMATH_H
#define OPTC_PASSES_LOWERING_DIMMATH_H
#include "optc/passes/lowering/Lowering.h"

namespace optc {

inline std::optional<int64_t> constOf(Dim d) { return constantOf(d); }
inline bool isConst(Dim d, int64_t v) { return d->isConst(v); }
inline Dim constDim(Lowering &l, int64_t v) { return l.shapes.constant(v); }
inline Dim addDims(Lowering &l, Dim x, Dim y) { return l.shapes.add(x, y); }
inline Dim addDim(Lowering &l, Dim x, int64_t y) { return l.shapes.add(x, y); }
inline Dim mulDims(Lowering &l, Dim x, Dim y) { return l.shapes.mul(x, y); }
inline Dim scaleDim(Lowering &l, Dim x, int64_t y) { return l.shapes.mul(x, y); }
inline Dim divideDim(Lowering &l, Dim x, int64_t y) { return l.shapes.floorDiv(x, y); }
inline Dim maxDim(Lowering &l, Dim x, Dim y) { return l.shapes.max(x, y); }
inline Dim productOf(Lowering &l, llvm::ArrayRef<Dim> dims) { return l.shapes.numElements(dims); }

} // namespace optc
#endif
