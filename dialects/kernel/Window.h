//===- Window.h - reductions over sliding windows ---------------*- C++ -*-===//
//
// Depthwise convolutions and pooling: every element of the result folds a window of the input in its own channel.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_WINDOW_H
#define OPTC_DIALECTS_KERNEL_WINDOW_H
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::kernel {

/// A dimension of the input that windows slide along: it is read at out * stride + tap * dilation.
struct WindowAxis {
  unsigned dim;      ///< of the input
  unsigned out, tap; ///< loops
  int64_t stride, dilation;
};

/// result[..., out..., lane] = fold over the taps of body(input[..., out * stride + tap * dilation..., lane], weights).
struct Window {
  LoopNest nest;
  unsigned input = 0;              ///< operand
  std::optional<unsigned> weights; ///< operand that the result's position does not move, except along `lane`
  /// The loop that vectors run along: the last dimension of the result, contiguous in the input. It may be that of an
  /// axis, whose step is then 1.
  unsigned lane = 0;
  llvm::SmallVector<WindowAxis> axes; ///< in the order of the input's dimensions; never empty
  llvm::SmallVector<unsigned> outer;  ///< other parallel loops, in the order of the result
  /// Positions in `axes` of those that tiles of the result extend along: the last dimensions before the lanes.
  std::optional<unsigned> rows, columns;

  const NestOperand &inputOperand() const { return nest.operands[input]; }
  const NestOperand &weightsOperand() const { return nest.operands[*weights]; }
  bool isLane(const WindowAxis &axis) const { return axis.out == lane; }
  llvm::SmallVector<unsigned> taps() const;
};

/// Matches a fold of windows with any elementwise body, started from one value: what the window family can emit, but
/// for the weights. `why` gets the reason of a refusal.
mlir::FailureOr<Window> matchWindow(mlir::linalg::GenericOp op, std::string *why = nullptr);

/// The weights, if they are a constant, with the taps of all lanes one after the other; null when they cannot be
/// stored so.
PackingAttr packingOfWeights(const Window &w);
/// Whether vectors can read the weights: they are contiguous along the lanes, do not move, or can be packed.
bool hasVectorWeights(const Window &w);
/// Whether they can be read where they are.
bool hasContiguousWeights(const Window &w);

/// The device's family, and the sizes of its inner code.
inline constexpr llvm::StringLiteral kFamilyCudaWindow = "cuda-window";
/// A thread computes some neighbouring positions of a vector of channels.
struct CudaWindowBlocks {
  int64_t threads;
  int64_t lanes;   ///< channels: one access
  int64_t columns; ///< positions along the innermost axis
  static mlir::FailureOr<CudaWindowBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, lanes, columns}; }
};

} // namespace optc::kernel
#endif
