//===- Shapes.h - the families of shape functions ---------------*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_SHAPES_SHAPES_H
#define OPTC_DIALECTS_ONNX_SHAPES_SHAPES_H
#include "optc/dialects/onnx/Shape.h"
#include "optc/dialects/onnx/Types.h"

namespace optc {

void registerElementwiseShapes(ShapeFnTable &table);
void registerReductionShapes(ShapeFnTable &table);
void registerMovementShapes(ShapeFnTable &table);
void registerIndexingShapes(ShapeFnTable &table);
void registerMatmulShapes(ShapeFnTable &table);
void registerConvShapes(ShapeFnTable &table);
void registerNormShapes(ShapeFnTable &table);
void registerCreationShapes(ShapeFnTable &table);
void registerQuantShapes(ShapeFnTable &table);
void registerRecurrentShapes(ShapeFnTable &table);
void registerControlShapes(ShapeFnTable &table);
void registerSequenceShapes(ShapeFnTable &table);
void registerSignalShapes(ShapeFnTable &table);
void registerMLShapes(ShapeFnTable &table);
void registerContribShapes(ShapeFnTable &table);

/// Registers one function for several ops, given without the prefix "onnx.".
inline void add(ShapeFnTable &table, std::initializer_list<llvm::StringRef> names, ShapeFn fn) {
  for (llvm::StringRef name : names)
    table[("onnx." + name).str()] = fn;
}

/// All results have the shape of input 0 and the element types of the schema.
inline mlir::LogicalResult sameAsFirst(ShapeContext &ctx) {
  for (unsigned i = 0, e = onnx::numResultPositions(ctx.op); i < e; ++i)
    if (mlir::failed(ctx.ranked(0) ? ctx.set(i, ctx.dims(0)) : ctx.setUnranked(i)))
      return mlir::failure();
  return mlir::success();
}

/// Pooling and convolution windows, see Conv.cpp.
mlir::LogicalResult inferConv(ShapeContext &ctx, unsigned x, unsigned w, mlir::Type element);
mlir::LogicalResult inferPool(ShapeContext &ctx, bool channelsLast);
/// numpy matmul of inputs a and b.
mlir::LogicalResult inferMatMul(ShapeContext &ctx, unsigned a, unsigned b, mlir::Type element);
/// Broadcast of the given inputs into result 0.
mlir::LogicalResult inferBroadcast(ShapeContext &ctx, llvm::ArrayRef<unsigned> inputs, mlir::Type element);
/// Concatenation of the given inputs along an axis.
mlir::LogicalResult inferConcat(ShapeContext &ctx, llvm::ArrayRef<unsigned> inputs, mlir::Type element);
/// The values of a small floating-point tensor that follow from constants and static sizes, see Floats.cpp.
std::optional<llvm::SmallVector<double>> constantFloatsOf(ShapeTable &table, mlir::Value value);
/// LSTM, GRU, RNN.
mlir::LogicalResult inferRecurrent(ShapeContext &ctx);

} // namespace optc
#endif
