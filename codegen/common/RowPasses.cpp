//===- RowPasses.cpp - in which pass over a row what is computed ----------===//
#include "optc/codegen/common/RowPasses.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using kernel::RowGroup;
using kernel::RowOp;
using Kind = kernel::RowOp::Kind;

/// Computing a value again is as good as reading it when it costs no more than this many additions.
static constexpr int64_t kCheapAgain = 4;

namespace {
class Planner {
public:
  Planner(const RowGroup &group, llvm::function_ref<bool(unsigned)> isResult, int64_t stackBytes)
      : group(group), isResult(isResult), stackBytes(stackBytes) {}
  RowPlan plan();

private:
  void schedule();
  void fillPasses();
  void need(unsigned op, unsigned pass);
  bool keepOne();
  int64_t costAgain(unsigned op) const;
  Type elementType(unsigned op) const { return cast<ShapedType>(group.ops[op].result().getType()).getElementType(); }
  /// Calls `fn` for the ops whose values `op` reads.
  void forSources(unsigned op, llvm::function_ref<void(unsigned source)> fn) const {
    for (const kernel::RowOperand &input : group.ops[op].inputs)
      if (input.source >= 0)
        fn(input.source);
  }

  const RowGroup &group;
  llvm::function_ref<bool(unsigned)> isResult;
  int64_t stackBytes;
  RowPlan result;
  /// The first pass that can compute an op, or, of arithmetic on rows, the pass that it comes before.
  SmallVector<unsigned> ready;
  SmallVector<SmallVector<unsigned>> neededIn; ///< passes, by op
  SmallVector<bool> refused, lends;
};
} // namespace

void Planner::schedule() {
  unsigned numPasses = 1;
  for (auto [i, op] : llvm::enumerate(group.ops)) {
    unsigned at = 0;
    forSources(i, [&](unsigned s) { at = std::max(at, ready[s] + (group.ops[s].kind == Kind::Reduction)); });
    ready.push_back(at);
    if (op.kind != Kind::Row)
      numPasses = std::max(numPasses, at + 1);
  }
  result.passes.resize(numPasses);
  result.rowOpsAt.resize(numPasses + 1);
  for (auto [i, op] : llvm::enumerate(group.ops))
    if (op.kind == Kind::Row)
      result.rowOpsAt[std::min(ready[i], numPasses)].push_back(i);
}

void Planner::need(unsigned i, unsigned pass) {
  if (llvm::is_contained(neededIn[i], pass))
    return;
  RowPass &p = result.passes[pass];
  bool kept = result.places[i].kind != RowPlan::Place::Nowhere;
  bool first = neededIn[i].empty();
  neededIn[i].push_back(pass);
  if (kept && !first) {
    p.reload.push_back(i);
    return;
  }
  forSources(i, [&](unsigned s) {
    if (group.ops[s].kind == Kind::Full)
      need(s, pass);
  });
  p.compute.push_back(i);
  if (kept)
    p.store.push_back(i);
}

void Planner::fillPasses() {
  neededIn.assign(group.ops.size(), {});
  for (auto [k, pass] : llvm::enumerate(result.passes)) {
    pass = {};
    for (auto [i, op] : llvm::enumerate(group.ops))
      if (ready[i] == k && (op.kind == Kind::Reduction || (op.kind == Kind::Full && isResult(i))))
        need(i, k);
  }
}

int64_t Planner::costAgain(unsigned i) const {
  int64_t cost = kernel::bodyCost(*group.ops[i].nest.op.getBody());
  forSources(i, [&](unsigned s) {
    if (cost <= kCheapAgain && group.ops[s].kind == Kind::Full && result.places[s].kind == RowPlan::Place::Nowhere)
      cost += costAgain(s);
  });
  return cost;
}

/// Finds a place for one more value; users before what they use.
bool Planner::keepOne() {
  for (unsigned i = group.ops.size(); i-- > 0;) {
    if (group.ops[i].kind != Kind::Full || refused[i] || neededIn[i].size() < 2 ||
        result.places[i].kind != RowPlan::Place::Nowhere || costAgain(i) <= kCheapAgain)
      continue;
    // The row of a result that is written when the value is read for the last time, or later.
    for (auto [r, op] : llvm::enumerate(group.ops))
      if (op.kind == Kind::Full && isResult(r) && !lends[r] && elementType(r) == elementType(i) &&
          ready[r] >= neededIn[i].back()) {
        result.places[i] = {RowPlan::Place::Result, static_cast<unsigned>(r)};
        lends[r] = true;
        return true;
      }
    int64_t bytes = group.numColumns.valueOr(INT64_MAX / 16) * ((elementType(i).getIntOrFloatBitWidth() + 7) / 8);
    if (bytes <= stackBytes) {
      stackBytes -= bytes;
      result.places[i].kind = RowPlan::Place::Stack;
      return true;
    }
    refused[i] = true; // computed again
  }
  return false;
}

RowPlan Planner::plan() {
  result.places.resize(group.ops.size());
  refused.resize(group.ops.size());
  lends.resize(group.ops.size());
  for (auto [i, op] : llvm::enumerate(group.ops))
    if (op.kind == Kind::Full && isResult(i))
      result.places[i] = {RowPlan::Place::Result, static_cast<unsigned>(i)};
  schedule();
  do
    fillPasses();
  while (keepOne());
  return std::move(result);
}

RowPlan codegen::planPasses(const RowGroup &group, llvm::function_ref<bool(unsigned)> isResult, int64_t stackBytes) {
  return Planner(group, isResult, stackBytes).plan();
}
