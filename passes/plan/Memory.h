//===- Memory.h - liveness and placement of buffers -------------*- C++ -*-===//
#ifndef OPTC_PASSES_PLAN_MEMORY_H
#define OPTC_PASSES_PLAN_MEMORY_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/dialects/kernel/Kernel.h"

namespace optc {

/// Buffers of the host program, each alive over a closed interval of program points. Those of static size get byte
/// offsets in one arena: greedy by size, lowest offset that fits beside the buffers it overlaps in time (Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5.2). Those of run-time size are
/// placed by the runtime in the same way, as many at once as have sizes that are known by then.
class ArenaPlanner {
public:
  static constexpr int64_t kAlignment = 64;

  /// A new buffer whose address `placeholder` (a kernel.arena) provides; returns its id.
  int add(kernel::ArenaOp placeholder, int64_t bytes, int64_t position);
  /// A new buffer of run-time size.
  int add(kernel::AllocOp alloc, int64_t position);
  void touch(int id, int64_t position);
  /// Where the buffer was made.
  int64_t madeAt(int id) const { return buffers[id].first; }
  bool isStatic(int id) const { return buffers[id].placeholder != nullptr; }
  /// A use at `position` inside a loop that ends at `loopEnd` of buffers made before `loopBegin` keeps them alive to
  /// its end.
  void extendOverLoop(int64_t loopBegin, int64_t loopEnd);
  /// Writes the offsets; returns the size of the arena in bytes.
  int64_t place();
  /// Replaces the kernel.alloc of each block by a kernel.solve_arena per segment (Segments.cpp).
  void formSegments(mlir::func::FuncOp host);

private:
  struct Buffer {
    kernel::ArenaOp placeholder; ///< null: of run-time size
    kernel::AllocOp alloc;
    int64_t bytes, first, last;
    int64_t offset = -1;
  };
  llvm::SmallVector<Buffer> buffers;
};

} // namespace optc
#endif
