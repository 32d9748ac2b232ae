//===- TensorTile.h - products that tensor cores compute --------*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_TENSORTILE_H
#define OPTC_DIALECTS_KERNEL_TENSORTILE_H
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::kernel {

/// The least compute capability with a tensor memory accelerator; and what generic versions of kernels are for, which
/// newer devices run, too.
inline constexpr int32_t kTensorMapCapability = 90, kGenericCapability = 80;
/// Attribute of a dispatch, and of its kernel, with the strategy of its generic version.
inline constexpr llvm::StringLiteral kGenericStrategy = "kernel.generic";
/// The least compute capability that runs kernels of a strategy's family.
int32_t leastCapability(StrategyAttr strategy);

/// As matchContraction, of two tensors of f16, or two of bf16, with sums in f32.
mlir::FailureOr<Contraction> matchTensorProduct(mlir::linalg::GenericOp op, std::string *why = nullptr);

/// Products by warpgroups: two of them compute 64 rows each, a third one copies.
struct CudaGemmBlocks {
  static constexpr int64_t kThreads = 384, kConsumers = 2, kRows = 64 * kConsumers;
  int64_t threads;
  int64_t columns; ///< of a tile: 64, 128 or 256
  int64_t stages;  ///< of the ring in shared memory
  static mlir::FailureOr<CudaGemmBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, columns, stages}; }
};

/// Products by warps: warpRows x warpColumns of them, each computes rows x columns of the block's tile.
struct CudaMmaBlocks {
  int64_t threads, warpColumns;
  int64_t rows, columns; ///< of a warp: multiples of 16
  int64_t depth;         ///< of the sums, at once in shared memory: a multiple of 16
  int64_t warpRows() const { return threads / 32 / warpColumns; }
  int64_t tileRows() const { return warpRows() * rows; }
  int64_t tileColumns() const { return warpColumns * columns; }
  static mlir::FailureOr<CudaMmaBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, warpColumns, rows, columns, depth}; }
};

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

/// A packing of b, a constant, that makes one matrix of it for each step of the outer loops, its columns contiguous;
/// null where its columns or the steps of the sum are contiguous already, or it cannot be stored so.
PackingAttr packingOfColumns(const Contraction &c);
/// Gives b, which is read through such a packing, the strides that it has there.
void walkPackedColumns(Contraction &c);

} // namespace optc::kernel
#endif
