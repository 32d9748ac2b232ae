//===- RowPasses.h - in which pass over a row what is computed --*- C++ -*-===//
//
// A reduction has its result after a pass over the row, so ops that need it come in a later one. A value of rows x
// columns that several passes need is computed again when that is cheap; else it is kept.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_COMMON_ROWPASSES_H
#define OPTC_CODEGEN_COMMON_ROWPASSES_H
#include "optc/dialects/kernel/Rows.h"

namespace optc::codegen {

/// Ops are numbers of a RowGroup.
struct RowPass {
  llvm::SmallVector<unsigned> reload;  ///< values read from where they are kept
  llvm::SmallVector<unsigned> compute; ///< in order; reductions and values of rows x columns
  llvm::SmallVector<unsigned> store;   ///< values written: results and what is kept
};

struct RowPlan {
  /// Where a value of rows x columns stays between passes.
  struct Place {
    enum Kind { Nowhere, Result, Stack } kind = Nowhere;
    unsigned result = 0; ///< Result: the op whose result's row holds it
  };
  llvm::SmallVector<RowPass> passes;
  llvm::SmallVector<Place> places;                         ///< by op
  llvm::SmallVector<llvm::SmallVector<unsigned>> rowOpsAt; ///< before pass i; the last ones after all passes
};

/// `isResult` says whether an op's value has a buffer. At most `stackBytes` are kept on the stack.
RowPlan planPasses(const kernel::RowGroup &group, llvm::function_ref<bool(unsigned op)> isResult, int64_t stackBytes);

} // namespace optc::codegen
#endif
