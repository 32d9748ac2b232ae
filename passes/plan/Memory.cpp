//===- Memory.cpp - liveness and placement of buffers ----------------------===//
#include "optc/passes/plan/Memory.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace optc;

int ArenaPlanner::add(kernel::ArenaOp placeholder, int64_t bytes, int64_t position) {
  buffers.push_back({placeholder, nullptr, bytes, position, position});
  return buffers.size() - 1;
}

int ArenaPlanner::add(kernel::AllocOp alloc, int64_t position) {
  buffers.push_back({nullptr, alloc, 0, position, position});
  return buffers.size() - 1;
}

void ArenaPlanner::touch(int id, int64_t position) { buffers[id].last = std::max(buffers[id].last, position); }

void ArenaPlanner::extendOverLoop(int64_t loopBegin, int64_t loopEnd) {
  for (Buffer &buffer : buffers)
    if (buffer.first <= loopBegin && buffer.last > loopBegin)
      buffer.last = std::max(buffer.last, loopEnd);
}

int64_t ArenaPlanner::place() {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    if (buffer.placeholder)
      order.push_back(&buffer);
  llvm::stable_sort(order, [](Buffer *a, Buffer *b) { return a->bytes > b->bytes; });
  SmallVector<Buffer *> placed; // sorted by offset
  int64_t peak = 0;
  for (Buffer *buffer : order) {
    int64_t offset = 0;
    for (Buffer *other : placed) {
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(other->offset + other->bytes, kAlignment));
    }
    buffer->offset = offset;
    peak = std::max(peak, offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer, [](Buffer *a, Buffer *b) { return a->offset < b->offset; }),
                  buffer);
    buffer->placeholder.setOffset(offset);
  }
  return llvm::alignTo(peak, kAlignment);
}
