//===- Rows.h - chains of ops that share their rows -------------*- C++ -*-===//
//
// Softmax, normalizations and their like: reductions along rows, elementwise ops on rows x columns, and arithmetic on
// one value per row. What a group of them shares is R rows of C elements; tensors between the ops are flat buffers of
// R or of R * C elements, under whatever sizes their types (and views in between) give them.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_ROWS_H
#define OPTC_DIALECTS_KERNEL_ROWS_H
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::kernel {

/// How a reduction combines: body = post(pre(accumulator) op map(inputs)), where `pre` and `post` convert.
struct Combiner {
  mlir::Operation *op = nullptr; ///< of the body
  unsigned accOperand = 0;       ///< the operand that comes from the accumulator
  mlir::Value start;             ///< neutral for `op`
  bool ordered = false;          ///< sums and products of floats: another order rounds differently
  llvm::SmallVector<mlir::Operation *> pre, post;
};
/// Matches a reduction of one value that starts at the neutral element.
mlir::FailureOr<Combiner> matchCombiner(mlir::linalg::GenericOp op, std::string *why = nullptr);

/// Which loops of an op (without those of size 1, in order) walk the rows and the levels of the columns. An op of flat
/// columns has them all in the last level, whatever the levels of the group are.
struct RowShape {
  unsigned rows = 0;
  llvm::SmallVector<unsigned> levels;
};

/// An operand of an op of the group, apart from the values that the group computes.
struct RowOperand {
  int source = -1; ///< the op of the group whose result it is (through views)
  NestOperand walk;
  bool flat = false;                        ///< moves through columns one by one, across levels
  llvm::SmallVector<SizeExpr> levelStrides; ///< else: per level; the last is 0 or 1
  bool movesAlongColumns() const {
    return flat || llvm::any_of(levelStrides, [](const SizeExpr &s) { return !s.is(0); });
  }
  bool isVector() const { return flat || (!levelStrides.empty() && levelStrides.back().is(1)); }
};

struct RowOp {
  enum class Kind { Reduction, Full, Row }; ///< rows x columns to rows; rows x columns; rows
  LoopNest nest;
  Kind kind;
  RowShape shape;
  llvm::SmallVector<unsigned> rows, columns; ///< loops, without those of size 1
  llvm::SmallVector<RowOperand> inputs;
  Combiner combiner; ///< of reductions
  mlir::Value result() const { return nest.op.getResult(0); }
};

struct RowGroup {
  std::vector<RowOp> ops; ///< producers first
  SizeExpr numRows, numColumns;
  /// Sizes of the levels that columns are walked in: one where every operand is contiguous along them. The last one is.
  llvm::SmallVector<SizeExpr> levels;
};

/// Finds the rows and columns of ops given in program order. Fails, with the reason in `why`, when there is no
/// reduction among them, when sizes are not known to be equal, when an operand is not contiguous along columns, or when
/// an op does more than arithmetic.
mlir::FailureOr<RowGroup> matchRows(llvm::ArrayRef<mlir::linalg::GenericOp> ops, std::string *why = nullptr);
/// The same for a group that matched before, when sizes can no longer be compared.
mlir::FailureOr<RowGroup> bindRows(llvm::ArrayRef<mlir::linalg::GenericOp> ops, llvm::ArrayRef<RowShape> shapes,
                                   std::string *why = nullptr);

/// Sizes of the row family's inner code, `blocks` of its strategy.
struct RowBlocks {
  int64_t lanes;                      ///< elements of a vector register
  int64_t accumulators;               ///< vectors per step of a reduction
  int64_t rows;                       ///< rows at once, so that one does not wait for its last lane
  llvm::SmallVector<RowShape> shapes; ///< per op
  /// Fails on numbers that this family does not write.
  static mlir::FailureOr<RowBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const;
};

/// Sizes of the inner code of a device's row family, `blocks` of its strategy.
struct CudaRowBlocks {
  int64_t threads;       ///< of a block
  int64_t threadsPerRow; ///< a warp, or all of them
  int64_t lanes;         ///< consecutive columns of a thread
  int64_t steps;         ///< of a thread along the row, written out; 0: a loop
  llvm::SmallVector<RowShape> shapes;
  static mlir::FailureOr<CudaRowBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const;
};
/// Whether vectors of `lanes` columns, from multiples of `lanes` on, are aligned and in one level for every operand and
/// result that moves along columns.
bool hasAlignedColumns(const RowGroup &group, int64_t lanes);

/// The tensor behind views.
mlir::Value stripViews(mlir::Value tensor);
/// How long one evaluation of a body takes, in additions.
int64_t bodyCost(mlir::Block &body);

} // namespace optc::kernel
#endif
