//===- TensorTile.h - products that tensor cores compute --------*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_TENSORTILE_H
#define OPTC_DIALECTS_KERNEL_TENSORTILE_H
#include "optc/dialects/kernel/LoopNest.h"

namespace optc::kernel {

/// An operand of a product that the tensor memory accelerator can bring to shared memory: a box of `kTileDepth` steps
/// of the sum and some rows (columns of b) is one copy, or one per 64 rows where those are the contiguous ones.
struct TensorOperand {
  bool alongRows;                    ///< neighbours lie along the rows (columns), not along k
  llvm::SmallVector<unsigned> outer; ///< the outer loops that move it, innermost first
};

/// Steps of the sum, and contiguous rows, of a box: 128 bytes, the width of the swizzle.
inline constexpr int64_t kTileDepth = 64;

/// Whether, and how, operand `number` of a product of 16-bit floats is one. `why` gets the reason of a refusal.
mlir::FailureOr<TensorOperand> matchTensorOperand(const Contraction &c, unsigned number, std::string *why = nullptr);

} // namespace optc::kernel
#endif
