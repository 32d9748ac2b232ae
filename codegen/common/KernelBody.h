//===- KernelBody.h - what an emitter works on ------------------*- C++ -*-===//
//
// An outlined kernel holds structured ops on tensors that are bound to raw buffers (passes/plan/Outline.cpp). An
// emitter reads the ops, writes loops over the buffers, and drops the ops.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_COMMON_KERNELBODY_H
#define OPTC_CODEGEN_COMMON_KERNELBODY_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::codegen {

/// Index arithmetic that folds constants.
struct IndexEmitter {
  mlir::ImplicitLocOpBuilder &b;

  mlir::Value c(int64_t v) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  mlir::Value div(mlir::Value x, mlir::Value y) const; ///< of values that are not negative
  mlir::Value rem(mlir::Value x, mlir::Value y) const;
  mlir::Value min(mlir::Value x, mlir::Value y) const;
};

class KernelBody {
public:
  explicit KernelBody(mlir::func::FuncOp func);
  virtual ~KernelBody() = default;

  mlir::func::FuncOp func;
  mlir::ImplicitLocOpBuilder b; ///< at the place of the code to emit: before the return
  IndexEmitter index{b};
  kernel::StrategyAttr strategy;
  bool broken = false; ///< an error was reported while emitting
  /// The tiles that this call of the kernel has to do. Unless set they are those of the function's last two arguments.
  struct Tiles {
    mlir::Value begin, end, step;
  } tiles;

  /// Reports, at `op` or else at the kernel, that its family cannot emit it.
  mlir::LogicalResult refuse(const llvm::Twine &why, mlir::Operation *op = nullptr);
  /// The sizes of the family's inner code. Reports a strategy that has those of another family.
  template <typename Blocks> mlir::FailureOr<Blocks> blocks() {
    mlir::FailureOr<Blocks> blocks = Blocks::get(strategy);
    if (failed(blocks))
      (void)refuse("its strategy has blocks of another family");
    return blocks;
  }

  /// The structured ops, in order.
  llvm::ArrayRef<mlir::linalg::LinalgOp> ops() const { return structured; }
  /// Those with a body.
  llvm::SmallVector<mlir::linalg::GenericOp> generics() const;
  /// The buffer of a tensor as a flat memref; null for tensors without one (values between the structured ops).
  mlir::Value flat(mlir::Value tensor);
  /// The buffer that `tensor`, a result of a structured op, is written to at the end; null when it is not a result.
  mlir::Value destination(mlir::Value tensor);
  mlir::Value size(const kernel::SizeExpr &expr);
  /// A dimension of a tensor that has a buffer.
  mlir::Value dim(mlir::Value tensor, unsigned dim);
  /// The same of the memory that the tensor is a part of: strides are products of these.
  mlir::Value storedDim(mlir::Value tensor, unsigned dim);

  /// The elements that `operand` moves for step `flat` of `loops`, outermost first, taken as one.
  virtual mlir::Value offsetAlong(const kernel::LoopNest &nest, const kernel::NestOperand &operand,
                                  llvm::ArrayRef<unsigned> loops, mlir::Value flat);
  /// Finds the buffers of a group's ops (of kernel::RowGroup or ColumnGroup): those of `results` by op, null where
  /// there is none. Reports an operand without one.
  template <typename Op>
  mlir::LogicalResult bindGroup(const std::vector<Op> &group, llvm::SmallVectorImpl<mlir::Value> &results) {
    for (const Op &op : group) {
      results.push_back(destination(op.result()));
      for (const auto &input : op.inputs)
        if (input.source < 0 && !flat(input.walk.tensor))
          return refuse("an operand has no buffer");
    }
    return mlir::success();
  }

  /// Calls `body` in a loop over the tiles with the first element and the number of elements of every tile group.
  struct TileRange {
    mlir::Value begin, count;
  };
  void forTiles(llvm::function_ref<void(llvm::ArrayRef<TileRange>)> body);
  /// Sizes of the dimensions of the first result.
  llvm::ArrayRef<mlir::Value> resultSizes() const { return sizes; }

  /// Drops the structured ops and everything that only they used.
  void finish();

private:
  mlir::Value boundDim(mlir::Value tensor, unsigned dim);
  llvm::SmallVector<mlir::linalg::LinalgOp> structured;
  llvm::DenseMap<mlir::Value, mlir::Value> flats;
  llvm::SmallVector<mlir::Value> sizes;
};

} // namespace optc::codegen
#endif
