//===- SplitRanks.cpp - continue in the branches that give other ranks -----===//
//
// Exporters write If(size == 1) { Squeeze } else { Identity }. Where inference finds no rank for the result, the ops
// that depend on it are cloned into both branches: the code there is for one rank, like all code below this pass.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/Shape.h"
#include "optc/passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_SPLITRANKS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace optc;

static bool isUnranked(Value v) { return isa<UnrankedTensorType>(v.getType()); }

/// Ops that pass tensors of any rank on.
static bool passesOn(Operation *op) {
  static const llvm::StringSet<> names = {
      "onnx.Identity", "onnx.SequenceConstruct", "onnx.SequenceInsert", "onnx.Optional", "onnx.Yield", "func.return"};
  return names.contains(op->getName().getStringRef());
}

/// Whether an op that needs the rank of a result has to go on without, while a branch knows it.
static bool wantsSplit(onnx::IfOp op) {
  if (op->getNumRegions() != 2)
    return false;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!isUnranked(result))
      continue;
    bool known = llvm::any_of(op->getRegions(), [i = i](Region &region) {
      return !region.empty() && i < region.front().back().getNumOperands() &&
             !isUnranked(region.front().back().getOperand(i));
    });
    // What an Identity gives is as unknown.
    SmallVector<Value> work{result};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (known && !work.empty())
      for (Operation *user : work.pop_back_val().getUsers()) {
        if (!seen.insert(user).second)
          continue;
        if (!passesOn(user))
          return true;
        if (isa<onnx::IdentityOp>(user))
          work.push_back(user->getResult(0));
      }
  }
  return false;
}

/// The ops of the block that depend on results of `root`, in order.
static SmallVector<Operation *> dependents(Operation *root) {
  llvm::SmallSetVector<Operation *, 16> found;
  SmallVector<Operation *> work{root};
  Block *block = root->getBlock();
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (here && here != &block->back() && found.insert(here))
        work.push_back(here);
    }
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

static int64_t countOps(ArrayRef<Operation *> ops) {
  int64_t count = 0;
  for (Operation *op : ops)
    op->walk([&](Operation *) { ++count; });
  return count;
}

/// Clones `ops` into both branches of `op` and replaces all of them by one If at the end of the block.
static void split(onnx::IfOp op, ArrayRef<Operation *> ops) {
  Block *block = op->getBlock();
  Operation *terminator = &block->back();
  // What the new If has to give: results that the terminator reads.
  SmallVector<Value> outputs;
  SmallVector<Type> types;
  llvm::SmallPtrSet<Operation *, 16> moved(ops.begin(), ops.end());
  moved.insert(op);
  for (Value v : terminator->getOperands())
    if (v.getDefiningOp() && moved.contains(v.getDefiningOp()) && !llvm::is_contained(outputs, v)) {
      outputs.push_back(v);
      types.push_back(v.getType());
    }
  OperationState state(op.getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder b(terminator);
  for (std::unique_ptr<Region> &region : state.regions) {
    Operation *yield = &region->front().back();
    IRMapping mapping;
    mapping.map(op->getResults(), yield->getOperands());
    b.setInsertionPoint(yield);
    for (Operation *user : ops)
      b.clone(*user, mapping);
    SmallVector<Value> yielded;
    for (Value v : outputs)
      yielded.push_back(mapping.lookup(v));
    yield->setOperands(yielded);
  }
  b.setInsertionPoint(terminator);
  Operation *made = b.create(state);
  for (auto [before, after] : llvm::zip(outputs, made->getResults()))
    terminator->replaceUsesOfWith(before, after);
  for (Operation *user : llvm::reverse(ops))
    user->erase();
  op->erase();
}

/// Each doubles the paths through what follows.
static constexpr int kMostSplits = 64;

namespace {
struct SplitRanks : optc::impl::SplitRanksBase<SplitRanks> {
  using SplitRanksBase::SplitRanksBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    int64_t left = maxOps;
    for (int i = 0; i < kMostSplits; ++i) {
      onnx::IfOp found;
      SmallVector<Operation *> ops;
      func.walk<WalkOrder::PreOrder>([&](onnx::IfOp op) {
        if (!wantsSplit(op))
          return WalkResult::advance();
        ops = dependents(op);
        if (countOps(ops) > left)
          return WalkResult::advance();
        found = op;
        return WalkResult::interrupt();
      });
      if (!found)
        return;
      left -= countOps(ops);
      split(found, ops);
      ShapeTable table;
      if (failed(inferShapes(func, table)))
        return signalPassFailure();
    }
  }
};
} // namespace
