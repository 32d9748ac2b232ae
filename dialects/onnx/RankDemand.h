//===- RankDemand.h - the rank that the users of a tensor ask for -*- C++ -*-===//
//
// Where an op leaves the rank of its result to a run, the other ops of the block often leave only one that can work:
// a Transpose has a permutation, a Concat other operands. The op is then inferred with that rank, and its lowering
// checks it: a run that would have failed in the user fails here.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_ONNX_RANKDEMAND_H
#define OPTC_DIALECTS_ONNX_RANKDEMAND_H
#include "optc/dialects/onnx/Shape.h"

namespace optc {

/// Ranks from `least` to `most`; none when `most` is smaller.
struct RankRange {
  int64_t least = 0, most = std::numeric_limits<int64_t>::max();

  static RankRange exactly(int64_t rank) { return {rank, rank}; }
  static RankRange atLeast(int64_t rank) { return {rank}; }
  /// Of the axis of an operand, which may be negative.
  static RankRange ofAxis(int64_t axis) { return {axis < 0 ? -axis : axis + 1}; }
  RankRange operator&(RankRange o) const { return {std::max(least, o.least), std::min(most, o.most)}; }
  std::optional<int64_t> exact() const { return least == most ? std::optional(least) : std::nullopt; }
};

/// The ranks of `value` with which the ops in its own block can run. Ops of other blocks may never run.
RankRange demandedRanks(mlir::Value value, ShapeTable &table);

/// The only such rank, when there is one that a tensor of the runtime can have.
std::optional<int64_t> demandedRank(mlir::Value value, ShapeTable &table);

/// Whether every use reads `value` as broadcasting does, beside an operand of at least that rank: axes of size 1 in
/// front change nothing.
bool onlyBroadcast(mlir::Value value, int64_t rank, ShapeTable &table);

} // namespace optc
#endif
