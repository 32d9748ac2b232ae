//===- Strategy.h - reading and writing #kernel.strategy --------*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_STRATEGY_H
#define OPTC_DIALECTS_KERNEL_STRATEGY_H
#include "optc/dialects/kernel/Kernel.h"

namespace optc::kernel {

/// Families of emitters, by the names that strategies carry.
inline constexpr llvm::StringLiteral kFamilyLoops = "loops", kFamilyGemm = "gemm", kFamilyWindow = "window",
                                     kFamilyPack = "pack", kFamilyRows = "rows", kFamilyColumns = "columns",
                                     kFamilyCudaLoops = "cuda-loops", kFamilyCudaElementwise = "cuda-elementwise",
                                     kFamilyCudaRows = "cuda-rows", kFamilyCudaSimtGemm = "cuda-simt-gemm",
                                     kFamilyCudaMma = "cuda-mma", kFamilyCudaGemm = "cuda-gemm";

/// The memory that the tensors of a program live in, and that a kernel reads and writes.
enum class MemorySpace { Host, Device };

struct Family {
  llvm::StringLiteral name;
  MemorySpace space;
  /// Every element of a result is computed once, from what no other element's computation writes: it may be computed
  /// over an operand. Others overlap tiles, or read what they have written.
  bool inPlace;
};
/// Null for a name that no family has.
const Family *findFamily(llvm::StringRef name);
/// Host when there is no strategy, or an unknown family.
MemorySpace spaceOf(StrategyAttr strategy);

/// Consecutive dimensions of the first result, flattened, that tiles of `tile` elements are cut from.
struct TileGroup {
  unsigned firstDim, numDims;
  int64_t tile; ///< never 0
};
/// The groups that are cut.
llvm::SmallVector<TileGroup> tileGroups(StrategyAttr strategy);

/// Sizes of the GEMM family's inner code, `blocks` of its strategy.
struct GemmBlocks {
  int64_t rows;    ///< MR: rows of the register tile; every tile has at least so many when their number is static
  int64_t lanes;   ///< elements of a vector register
  int64_t vectors; ///< registers along a panel of b
  int64_t panels;  ///< panels worked on at once

  int64_t panelWidth() const { return lanes * vectors; }
  int64_t columns() const { return panelWidth() * panels; }
  /// Heights of register tiles for a number of rows that only a run knows, MR first, 1 last.
  llvm::SmallVector<int64_t> heights() const;
  /// Relative time of a register tile: its rows, and what it loads anyway.
  static int64_t costOfHeight(int64_t height) { return 2 * height + 1; }
  static GemmBlocks get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {rows, lanes, vectors, panels}; }
};

/// Sizes of the window family's inner code, `blocks` of its strategy.
struct WindowBlocks {
  int64_t lanes;         ///< elements of a vector
  int64_t vectors;       ///< at once along the lanes; no more than the result has
  int64_t rows, columns; ///< positions of the result that are computed at once
  int64_t looped;        ///< the first so many axes of the window are loops, the others are unrolled

  static WindowBlocks get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {lanes, vectors, rows, columns, looped}; }
};

/// Size of the pack family's inner code: elements of a vector register.
struct PackBlocks {
  int64_t lanes;
  static PackBlocks get(StrategyAttr strategy) { return {strategy.getBlocks()[0]}; }
};

/// Sizes of the device families' inner code, `blocks` of their strategies. All begin with the threads of a block, a
/// multiple of a warp. `get` fails on numbers that the family does not write.
struct CudaLoopBlocks {
  enum Form : int64_t {
    Elements, ///< a thread per element of a result
    Sequence  ///< loops that write element after element
  };
  int64_t threads;
  Form form;
  static mlir::FailureOr<CudaLoopBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, form}; }
};

/// Threads of a block are `threadRows` x `threadColumns`; each computes rows x columns of the block's tile.
struct CudaSimtGemmBlocks {
  int64_t threads, threadColumns;
  int64_t rows, columns; ///< of the result, per thread
  int64_t depth;         ///< of the sums, at once in shared memory
  int64_t threadRows() const { return threads / threadColumns; }
  int64_t tileRows() const { return threadRows() * rows; }
  int64_t tileColumns() const { return threadColumns * columns; }
  static mlir::FailureOr<CudaSimtGemmBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, threadColumns, rows, columns, depth}; }
};

struct CudaElementwiseBlocks {
  int64_t threads;
  int64_t lanes; ///< consecutive elements of a thread; 0: squares of kSquare elements go through shared memory
  static constexpr int64_t kSquare = 32;
  static mlir::FailureOr<CudaElementwiseBlocks> get(StrategyAttr strategy);
  llvm::SmallVector<int64_t> toArray() const { return {threads, lanes}; }
};

} // namespace optc::kernel
#endif
