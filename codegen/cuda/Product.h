//===- Product.h - walking the operands of a product ------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_PRODUCT_H
#define OPTC_CODEGEN_CUDA_PRODUCT_H
#include "optc/codegen/cuda/Epilogue.h"

namespace optc::cuda {

/// A product in a kernel, its consumers, and where a tile is.
class Product {
public:
  explicit Product(DeviceBody &body) : body(body), epilogue(body) {}

  using Matcher = mlir::FailureOr<kernel::Contraction> (*)(mlir::linalg::GenericOp op, std::string *why);
  /// Finds the product, of the kind that `matcher` takes, and its consumers; reports why a kernel is not one that the
  /// emitter can take.
  mlir::LogicalResult match(Matcher matcher, bool contract);
  /// Takes the tile of a block: the first row and column of it, and the position along the outer loops.
  void enterTile(llvm::ArrayRef<DeviceBody::TileRange> ranges);
  /// The elements that `operand` moves for step `flat` of `loops`, taken as one.
  mlir::Value offsetAlong(const kernel::NestOperand &operand, llvm::ArrayRef<unsigned> loops, mlir::Value flat) {
    return body.offsetAlong(c.nest, operand, loops, flat);
  }
  /// Where the outer loops of the tile are in `operand`, `from` elements on.
  mlir::Value outerOffset(const kernel::NestOperand &operand, mlir::Value from);
  mlir::Value outerOffset(const kernel::NestOperand &operand) { return outerOffset(operand, body.index.c(0)); }
  /// Whether `lanes` elements of `operand` along a loop, from multiples of `lanes` on, are aligned neighbours.
  bool isAligned(const kernel::NestOperand &operand, unsigned along, int64_t lanes) const;
  /// Computes the consumers of consecutive sums of a row, from `column` on, and stores the results.
  void store(llvm::ArrayRef<mlir::Value> sums, mlir::Value row, mlir::Value column);

  /// A tile of sums in shared memory, whose rows are `pitch` floats long (a multiple of 4), and those who store it.
  struct SharedTile {
    mlir::Value sums;
    int64_t rows, columns, pitch;
    mlir::Value firstRow; ///< in the tile of the block
    mlir::Value thread;   ///< number among the `threads` that share the work
    int64_t threads;
  };
  /// Computes the consumers of the tile, and stores the part of it that the results have.
  void storeTile(const SharedTile &tile);

  DeviceBody &body;
  kernel::Contraction c;
  Epilogue epilogue;
  mlir::Value mBegin, nBegin;                                ///< of the tile
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> outer; ///< loops with their positions
};

} // namespace optc::cuda
#endif
