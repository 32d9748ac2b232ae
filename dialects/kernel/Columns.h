//===- Columns.h - reductions whose elements lie across rows ----*- C++ -*-===//
//
// Sums over other axes than the last: [n, h, w, c] to [n, c]. What stays contiguous is kept, so that a vector holds
// neighbouring elements of the result, each with a sum of its own in the order of the loops. Arithmetic on the results,
// and reductions that need them, join.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_COLUMNS_H
#define OPTC_DIALECTS_KERNEL_COLUMNS_H
#include "optc/dialects/kernel/Rows.h"

namespace optc::kernel {

struct ColumnOperand {
  int source = -1; ///< the op of the group whose result it is (through views)
  NestOperand walk;
  bool isVector = false; ///< moves by one element along the columns; else it stays
};

struct ColumnOp {
  LoopNest nest;
  bool reduces = false;
  /// Loops, without those of size 1: of the result's outer dimensions, of its last ones (the columns), and reductions.
  llvm::SmallVector<unsigned> outer, columns, k;
  llvm::SmallVector<ColumnOperand> inputs;
  mlir::Value start; ///< of reductions
  mlir::Value result() const { return nest.op.getResult(0); }
};

struct ColumnGroup {
  std::vector<ColumnOp> ops; ///< producers first
  SizeExpr numColumns;
};

/// Finds what vectors go along. Fails, with the reason in `why`, when there is no reduction among the ops, when results
/// have different sizes or a last axis of few elements, when an operand is neither contiguous nor constant along the
/// columns, or when an op does more than arithmetic.
mlir::FailureOr<ColumnGroup> matchColumns(llvm::ArrayRef<mlir::linalg::GenericOp> ops, std::string *why = nullptr);
/// The same for a group that matched before: how many of the result's loops are columns, by op.
mlir::FailureOr<ColumnGroup> bindColumns(llvm::ArrayRef<mlir::linalg::GenericOp> ops,
                                         llvm::ArrayRef<int64_t> columnLoops, std::string *why = nullptr);

/// Sizes of the column family's inner code, `blocks` of its strategy.
struct ColumnBlocks {
  int64_t lanes;                          ///< elements of a vector register
  int64_t vectors;                        ///< registers side by side
  llvm::SmallVector<int64_t> columnLoops; ///< per op
  /// Fails on numbers that this family does not write.
  static mlir::FailureOr<ColumnBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const;
};

} // namespace optc::kernel
#endif
