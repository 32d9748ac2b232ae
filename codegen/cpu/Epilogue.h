//===- Epilogue.h - consumers computed on accumulators ----------*- C++ -*-===//
#ifndef OPTC_CODEGEN_CPU_EPILOGUE_H
#define OPTC_CODEGEN_CPU_EPILOGUE_H
#include "optc/codegen/common/Epilogues.h"
#include <functional>

namespace optc::cpu {

/// The consumers of a product or a window on vectors of its sums.
class EpilogueEmitter : public codegen::EpilogueChain {
public:
  using EpilogueChain::EpilogueChain;

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
  mlir::Value load(mlir::Value buffer, const kernel::NestOperand &walk, const Place &place);
};

} // namespace optc::cpu
#endif
