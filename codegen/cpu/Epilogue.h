//===- Epilogue.h - consumers computed on accumulators ----------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CPU_EPILOGUE_H
#define OPTC_CODEGEN_CPU_EPILOGUE_H
#include "optc/codegen/cpu/KernelBody.h"
#include <functional>

namespace optc::cpu {

/// The elementwise ops behind the root of a kernel, a product or a window, which are cloned onto its accumulators
/// before those are stored.
class EpilogueEmitter {
public:
  explicit EpilogueEmitter(KernelBody &body) : body(body), b(body.b) {}

  /// Takes the structured ops of the kernel behind the root of `nest`; the arguments are those of matchEpilogue.
  mlir::LogicalResult collect(const kernel::LoopNest &nest, llvm::ArrayRef<unsigned> columns, bool indices);

  /// Calls `visit` for every operand, whose address stays valid.
  void forOperands(llvm::function_ref<void(const kernel::NestOperand &)> visit) const;

  /// Some consecutive elements of the result.
  struct Place {
    int64_t lanes;
    mlir::Value mask; ///< null: all lanes
    /// Elements from the start of a buffer to the first lane.
    std::function<mlir::Value(const kernel::NestOperand &)> offset;
    /// The position along a loop of the nest; may be null when `indices` was not set.
    std::function<mlir::Value(unsigned loop)> position;
    /// Keeps what was loaded of an operand for places that read the same; null when there are none.
    std::function<mlir::Value *(const kernel::NestOperand &)> kept;
  };
  /// Computes the consumers of `sum`, a vector of the root's result, and stores what the kernel's results are.
  void store(mlir::Value sum, const Place &place);

private:
  mlir::Value load(mlir::OpOperand &operand, const kernel::NestOperand &walk, const Place &place);

  KernelBody &body;
  mlir::ImplicitLocOpBuilder &b;
  const kernel::LoopNest *nest = nullptr;
  llvm::SmallVector<unsigned> columns;
  llvm::SmallVector<kernel::Epilogue> epilogues;
};

} // namespace optc::cpu
#endif
