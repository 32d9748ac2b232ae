//===- Epilogues.h - consumers computed on accumulators ---------*- C++ -*-===//
#ifndef OPTC_CODEGEN_COMMON_EPILOGUES_H
#define OPTC_CODEGEN_COMMON_EPILOGUES_H
#include "optc/codegen/common/KernelBody.h"

namespace optc::codegen {

/// The elementwise ops behind the root of a kernel, a product or a window, which are cloned onto its accumulators
/// before those are stored. How a target reads operands and stores results is its own.
class EpilogueChain {
public:
  explicit EpilogueChain(KernelBody &body) : body(body) {}

  /// Takes the structured ops of the kernel behind the root of `nest`; the arguments are those of matchEpilogue.
  mlir::LogicalResult collect(const kernel::LoopNest &nest, llvm::ArrayRef<unsigned> columns, bool indices);

  llvm::ArrayRef<kernel::Epilogue> ops() const { return chain; }
  /// Whether neighbouring columns have elements of their own of an operand.
  bool movesAlongColumns(const kernel::NestOperand &operand) const {
    return llvm::any_of(columns, [&](unsigned loop) { return operand.moves(loop); });
  }
  /// Calls `visit` for every operand, whose address stays valid.
  void forOperands(llvm::function_ref<void(const kernel::NestOperand &)> visit) const;

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  /// Of the elements that are computed: reads them from an operand's buffer, or stores them.
  using Load = llvm::function_ref<Values(mlir::Value buffer, const kernel::NestOperand &walk)>;
  using Store = llvm::function_ref<void(const Values &values, mlir::Value buffer, const kernel::NestOperand &walk)>;

  /// Computes the consumers of `values` of the root's result, vectors of `lanes` elements or, with 0, scalars; stores
  /// what the kernel's results are. `position` gives the position along a loop of the nest.
  void emit(Values values, int64_t lanes, Load load, Store store,
            llvm::function_ref<mlir::Value(unsigned loop)> position = nullptr);

  KernelBody &body;
  const kernel::LoopNest *nest = nullptr;
  llvm::SmallVector<unsigned> columns;

private:
  llvm::SmallVector<kernel::Epilogue> chain;
};

} // namespace optc::codegen
#endif
