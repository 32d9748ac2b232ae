//===- Phases.h - the phases of a compilation -----------------------------===//
#ifndef OPTC_COMPILER_PHASES_H
#define OPTC_COMPILER_PHASES_H
#include "optc/codegen/CompileError.h"
#include "optc/passes/Pipelines.h"
#include "llvm/ADT/ArrayRef.h"

namespace optc {

/// A step that --stop-after, --start-from and --dump-phases can name.
struct Phase {
  llvm::StringLiteral name;
  llvm::StringLiteral doc;
  /// Adds the phase's passes. Null for `import` and `object`, which are no passes.
  void (*addPasses)(mlir::OpPassManager &, const PipelineOptions &);
  /// Whose fault an error in this phase is.
  ExitCode fault;
};

/// All phases in the order in which they run.
llvm::ArrayRef<Phase> phases();
/// Null when there is none of that name. Pointers compare in the order of the phases.
const Phase *findPhase(llvm::StringRef name);

} // namespace optc
#endif
