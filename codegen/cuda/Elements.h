//===- Elements.h - one element of a tensor, computed by one thread -*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_ELEMENTS_H
#define OPTC_CODEGEN_CUDA_ELEMENTS_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "optc/codegen/cuda/DeviceBody.h"

namespace optc::cuda {

/// Computes elements of tensors from their position (kernel::computesByElement): what is not in memory is computed from
/// what it is made of. Values that were computed at this position are used again.
class ElementEmitter {
public:
  explicit ElementEmitter(DeviceBody &body) : body(body), b(body.b), index(body.index) {}

  /// Where an element is: by indices, or by its number in row-major order, or both.
  struct Point {
    llvm::SmallVector<mlir::Value> indices;
    mlir::Value flat;
  };

  mlir::Value at(mlir::Value tensor, Point point);
  /// The scalar body of a structured op for the given arguments and positions along its loops; what it yields.
  llvm::SmallVector<mlir::Value> cloneBody(mlir::linalg::GenericOp op, mlir::ValueRange args, mlir::ValueRange ivs);
  /// Replaces reads of single elements and sizes outside of structured ops.
  void replaceScalarReads();
  /// The size of a loop.
  mlir::Value loopSize(mlir::linalg::GenericOp op, unsigned loop);

private:
  mlir::Value flatOf(mlir::Value tensor, Point &point);
  mlir::ValueRange indicesOf(mlir::Value tensor, Point &point);
  /// The element of a tensor with a part put into it.
  mlir::Value select(mlir::tensor::InsertSliceOp op, Point &point);
  mlir::Value compute(mlir::linalg::GenericOp op, unsigned result, Point &point);
  mlir::Value emptyElement(mlir::Type type);
  /// Replaces an op of a body that knows of tensors or positions; null for others.
  mlir::Value replacementOf(mlir::Operation *op, const mlir::IRMapping &map, mlir::ValueRange ivs);

  struct Known {
    llvm::SmallVector<mlir::Value> indices;
    mlir::Value flat, value;
  };
  mlir::Value *find(mlir::Value tensor, const Point &point);

  DeviceBody &body;
  mlir::ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Known>> known;
};

} // namespace optc::cuda
#endif
