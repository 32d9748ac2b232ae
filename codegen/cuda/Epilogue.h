//===- Epilogue.h - consumers computed on accumulators ----------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_EPILOGUE_H
#define OPTC_CODEGEN_CUDA_EPILOGUE_H
#include "optc/codegen/cuda/DeviceBody.h"
#include <functional>

namespace optc::cuda {

/// The elementwise ops behind the root of a kernel, which are cloned onto its accumulators before those are stored.
class Epilogue {
public:
  explicit Epilogue(DeviceBody &body) : body(body), b(body.b) {}

  /// Takes the structured ops of the kernel behind the root of `nest`; `columns` are the loops that neighbouring
  /// elements lie along. Their products may be contracted when `contract` is set.
  mlir::LogicalResult collect(const kernel::LoopNest &nest, llvm::ArrayRef<unsigned> columns, bool contract);

  /// Whether results and what is read with them can be accessed `lanes` elements at once, from multiples of `lanes`
  /// columns on.
  bool allowsVectors(int64_t lanes) const;

  /// Computes the consumers of consecutive elements of the root's result, and stores what the kernel's results are.
  /// `offset` gives the elements from the start of an operand to the first of them. More than one element needs
  /// allowsVectors.
  void store(llvm::ArrayRef<mlir::Value> sums,
             llvm::function_ref<mlir::Value(const kernel::NestOperand &operand)> offset);

private:
  bool moves(const kernel::NestOperand &operand) const {
    return llvm::any_of(columns, [&](unsigned loop) { return operand.moves(loop); });
  }

  DeviceBody &body;
  mlir::ImplicitLocOpBuilder &b;
  const kernel::LoopNest *nest = nullptr;
  llvm::SmallVector<unsigned> columns;
  llvm::SmallVector<kernel::Epilogue> ops;
};

} // namespace optc::cuda
#endif
