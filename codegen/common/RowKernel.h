//===- RowKernel.h - a group of rows in a kernel ----------------*- C++ -*-===//
#ifndef OPTC_CODEGEN_COMMON_ROWKERNEL_H
#define OPTC_CODEGEN_COMMON_ROWKERNEL_H
#include "optc/codegen/common/Emitters.h"
#include "optc/codegen/common/RowPasses.h"

namespace optc::codegen {

/// What the row families of all targets make of a kernel: its group bound to buffers, the plan of its passes, and the
/// arithmetic that has one value per row.
class RowKernel {
public:
  explicit RowKernel(KernelBody &body) : body(body) {}

  /// Finds the group, given the shapes that its strategy has. Reports why a kernel is not one.
  mlir::LogicalResult match(llvm::ArrayRef<kernel::RowShape> shapes, const EmitOptions &options);
  /// planPasses of the group.
  void planPasses(int64_t keptBytes);

  kernel::RowGroup group;
  RowPlan plan;
  llvm::SmallVector<mlir::Value> results;    ///< buffer by op, null where there is none
  llvm::SmallVector<mlir::Value> levelSizes; ///< of the columns

  /// What is known of a row while its code is made.
  struct Row {
    mlir::Value at, start;                 ///< its number; its first element in results of rows x columns
    llvm::SmallVector<mlir::Value> values; ///< of reductions and arithmetic on rows, by op
    /// Of operands from memory: where the row begins and, when they do not move along it, the element.
    llvm::DenseMap<const kernel::RowOperand *, mlir::Value> offsets, scalars;
  };
  /// Starts row `at`, whose length is `columns`.
  void begin(Row &row, mlir::Value at, mlir::Value columns);
  /// The arithmetic on rows in front of pass `point`; `store` is called for each op, whose value is in the row then.
  void emitRowOps(Row &row, unsigned point, llvm::function_ref<void(unsigned op)> store);

  llvm::SmallVector<unsigned> reductionsOf(const RowPass &pass) const;
  /// What the body of a reduction makes of two accumulators, vectors of `lanes` elements or, with 0, scalars.
  mlir::Value combine(const kernel::RowOp &op, mlir::Value x, mlir::Value y, int64_t lanes = 0);

protected:
  KernelBody &body;
};

} // namespace optc::codegen
#endif
