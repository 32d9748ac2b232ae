//===- Memory.h - liveness and placement of static buffers ----------------===//
#ifndef OPTC_PASSES_PLAN_MEMORY_H
#define OPTC_PASSES_PLAN_MEMORY_H
#include "optc/dialects/kernel/Kernel.h"

namespace optc {

/// Buffers of static size, each alive over a closed interval of program points, get byte offsets in one arena: greedy
/// by size, lowest offset that fits beside the buffers it overlaps in time (Pisarchyk and Lee, "Efficient Memory
/// Management for Deep Neural Net Inference", 2020, section 5.2).
class ArenaPlanner {
public:
  static constexpr int64_t kAlignment = 64;

  /// A new buffer whose address `placeholder` (a kernel.arena) provides; returns its id.
  int add(kernel::ArenaOp placeholder, int64_t bytes, int64_t position);
  void touch(int id, int64_t position);
  /// Where the buffer was made.
  int64_t madeAt(int id) const { return buffers[id].first; }
  /// A use at `position` inside a loop that ends at `loopEnd` of buffers made before `loopBegin` keeps them alive to
  /// its end.
  void extendOverLoop(int64_t loopBegin, int64_t loopEnd);
  /// Writes the offsets; returns the size of the arena in bytes.
  int64_t place();

private:
  struct Buffer {
    kernel::ArenaOp placeholder;
    int64_t bytes, first, last;
    int64_t offset = -1;
  };
  llvm::SmallVector<Buffer> buffers;
};

} // namespace optc
#endif
