//===- FoldConstants.h - compute at compile time what is constant ---------===//
#ifndef OPTC_COMPILER_FOLDCONSTANTS_H
#define OPTC_COMPILER_FOLDCONSTANTS_H
#include "mlir/Pass/Pass.h"

namespace optc {

/// Bounds on what is computed at compile time.
struct FoldBudget {
  uint64_t bytes = 256ull << 20; ///< of the constants made
  uint64_t steps = 256ull << 20; ///< elements computed, or multiplications where an element takes many
  /// The unbounded part of how a constant may grow, see FoldConstants.cpp.
  uint64_t freeBytes = 1024;
};

/// Replaces values that depend on constants only by constants: all of a model's are compiled and run as one batch
/// (Evaluate.h). Works on modules.
std::unique_ptr<mlir::Pass> createFoldConstantsPass();

/// The same as `optc-fold-constants{max-bytes=N max-steps=N}`.
void registerFoldConstantsPass();

} // namespace optc
#endif
