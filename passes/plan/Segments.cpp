//===- Segments.cpp - buffers of run-time size, placed together -----------===//
//
// A segment begins at the first kernel.alloc of a block whose size is not known at the begin of an earlier one, and
// takes all later ones whose sizes are. What computes those sizes moves up to its begin, and so do the checks in
// between, which may be what makes the sizes valid; kernel.solve_arena there replaces the kernel.allocs.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "optc/passes/plan/Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace optc;

namespace {
struct Segment {
  Operation *begin;
  SmallVector<kernel::AllocOp> allocs;
  SmallVector<kernel::CheckOp> checks;
  DenseSet<Operation *> movable; ///< ops of the block after `begin` whose operands are known there
  bool checkStays = false;       ///< a check was passed that needs what is known later only

  bool isKnown(Value value) const {
    Operation *def = value.getDefiningOp();
    return !def || def->getBlock() != begin->getBlock() || def->isBeforeInBlock(begin) || movable.contains(def);
  }
  bool canMove(Operation *op) const { return movable.contains(op) && begin->isBeforeInBlock(op); }
  bool areKnown(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isKnown(value); });
  }
};
} // namespace

/// Trap on 0, which the checks before them rule out.
static bool isDivision(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp>(op);
}

static void scan(Operation &op, Segment &segment) {
  if (op.getNumRegions() || !segment.areKnown(op.getOperands())) {
    segment.checkStays |= isa<kernel::CheckOp>(op);
    return;
  }
  if (auto check = dyn_cast<kernel::CheckOp>(op))
    segment.checks.push_back(check);
  else if (isPure(&op) || (isDivision(op) && !segment.checkStays))
    segment.movable.insert(&op);
}

/// Moves `op` and what it needs before the segment. An earlier segment may have taken some of it.
static void moveUp(Operation *op, Segment &segment) {
  SetVector<Operation *> needed;
  needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && segment.canMove(def))
        needed.insert(def);
  SmallVector<Operation *> order = needed.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *moved : order) {
    moved->moveBefore(segment.begin);
    segment.movable.erase(moved);
  }
}

void ArenaPlanner::formSegments(func::FuncOp host) {
  DenseMap<Operation *, const Buffer *> lifetimes;
  for (const Buffer &buffer : buffers)
    if (buffer.alloc)
      lifetimes[buffer.alloc] = &buffer;
  auto formIn = [&](Block &block) {
    SmallVector<Segment> segments;
    for (Operation &op : block) {
      auto alloc = dyn_cast<kernel::AllocOp>(op);
      if (!alloc) {
        for (Segment &segment : segments)
          scan(op, segment);
        continue;
      }
      auto home = llvm::find_if(segments, [&](Segment &segment) { return segment.isKnown(alloc.getBytes()); });
      if (home == segments.end())
        home = &segments.emplace_back(Segment{&op, {}, {}, {}, false});
      home->allocs.push_back(alloc);
    }
    DenseSet<Operation *> movedChecks;
    for (Segment &segment : segments) {
      if (segment.allocs.size() < 2)
        continue;
      // In program order: checks come before the divisions that they guard.
      SmallVector<Operation *> roots;
      for (kernel::CheckOp check : segment.checks)
        if (check->isBeforeInBlock(segment.allocs.back()) && movedChecks.insert(check).second)
          roots.push_back(check);
      for (kernel::AllocOp alloc : segment.allocs)
        if (Operation *def = alloc.getBytes().getDefiningOp(); def && segment.canMove(def))
          roots.push_back(def);
      llvm::sort(roots, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (Operation *root : roots)
        if (isa<kernel::CheckOp>(root) || segment.canMove(root))
          moveUp(root, segment);
      OpBuilder b(segment.begin);
      SmallVector<Value> bytes;
      SmallVector<int32_t> points;
      for (kernel::AllocOp alloc : segment.allocs) {
        bytes.push_back(alloc.getBytes());
        points.push_back(lifetimes.at(alloc)->first);
        points.push_back(lifetimes.at(alloc)->last);
      }
      SmallVector<Type> types(bytes.size(), segment.allocs[0].getPtr().getType());
      auto solve = kernel::SolveArenaOp::create(b, segment.begin->getLoc(), types, bytes, points);
      for (auto [alloc, ptr] : llvm::zip(segment.allocs, solve.getPtrs())) {
        alloc.getPtr().replaceAllUsesWith(ptr);
        alloc.erase();
      }
    }
  };
  SmallVector<Block *> blocks;
  host.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    formIn(*block);
}
