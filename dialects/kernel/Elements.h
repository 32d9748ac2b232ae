//===- Elements.h - results that are computed element by element -*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_ELEMENTS_H
#define OPTC_DIALECTS_KERNEL_ELEMENTS_H
#include "optc/dialects/kernel/LoopNest.h"

namespace optc::kernel {

/// Whether every element of every tensor that the ops of a block compute follows from its position alone, so that any
/// number of threads can work on a result without waiting for each other: structured ops without side effects, whose
/// results are indexed by their parallel loops. `why` gets the reason of a refusal.
bool computesByElement(mlir::Block &block, std::string *why = nullptr);

/// One elementwise op over its result in memory order, with the loops that are one for all operands put together.
struct FlatNest {
  LoopNest nest;
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups; ///< loops, outermost first; never empty
  bool asksWhere = false;                                ///< its body reads positions

  /// The elements that an operand moves by when a group takes a step.
  const SizeExpr &stride(const NestOperand &operand, unsigned group) const {
    return operand.strides[groups[group].back()];
  }
  bool stays(const NestOperand &operand) const { return stride(operand, groups.size() - 1).is(0); }
  /// Whether neighbours in an operand's memory are neighbours along this group, and not along the innermost one.
  bool isCrossed(const NestOperand &operand, unsigned group) const {
    return group + 1 < groups.size() && stride(operand, group).is(1) && !stays(operand);
  }
  /// The group that all operands are crossed along that are crossed at all; none when there is no such operand.
  std::optional<unsigned> crossedGroup() const;
  /// Whether `lanes` elements along the innermost group, from a multiple of `lanes` on, are an aligned vector.
  bool isVector(const NestOperand &operand, int64_t lanes) const;
  /// The most elements, up to `most`, that a thread can take at once: rows of the innermost group do not cut them.
  int64_t lanes(int64_t most) const;
};
/// Matches a block with one structured op that computes each element of its only result from its position.
mlir::FailureOr<FlatNest> matchFlatNest(mlir::Block &block, std::string *why = nullptr);

} // namespace optc::kernel
#endif
