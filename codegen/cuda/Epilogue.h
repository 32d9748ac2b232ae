//===- Epilogue.h - consumers computed on accumulators ----------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CUDA_EPILOGUE_H
#define OPTC_CODEGEN_CUDA_EPILOGUE_H
#include "optc/codegen/common/Epilogues.h"
#include "optc/codegen/cuda/DeviceBody.h"

namespace optc::cuda {

/// The consumers of a kernel's root on some of its sums that a thread has.
class Epilogue : public codegen::EpilogueChain {
public:
  explicit Epilogue(DeviceBody &body) : EpilogueChain(body), device(body) {}

  /// EpilogueChain's; products of the consumers may be contracted when `contract` is set, and with `indices` they may
  /// ask where they are.
  mlir::LogicalResult collect(const kernel::LoopNest &nest, llvm::ArrayRef<unsigned> columns, bool contract,
                              bool indices = false);

  /// Whether results and what is read with them can be accessed `lanes` elements at once, from multiples of `lanes`
  /// columns on.
  bool allowsVectors(int64_t lanes) const;

  /// Computes the consumers of consecutive elements of the root's result, and stores what the kernel's results are.
  /// `offset` gives the elements from the start of an operand to the first of them. More than one element needs
  /// allowsVectors. `position` along a loop of the nest: for ops that ask where they are.
  void store(llvm::ArrayRef<mlir::Value> sums,
             llvm::function_ref<mlir::Value(const kernel::NestOperand &operand)> offset,
             llvm::function_ref<mlir::Value(unsigned loop)> position = nullptr);

private:
  DeviceBody &device;
};

} // namespace optc::cuda
#endif
