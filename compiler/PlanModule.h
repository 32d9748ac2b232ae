//===- PlanModule.h - all phases on a module that is compiled in passing ---===//
#ifndef OPTC_COMPILER_PLANMODULE_H
#define OPTC_COMPILER_PLANMODULE_H
#include "optc/codegen/Target.h"
#include "optc/passes/Pipelines.h"

namespace optc {

struct Phase;

/// Runs the phases from `first` (null: from `graph`) to `llvm` on a module of the compiler's own making, without
/// plugins, and takes the plan out. The message of a failure is the first that a pass gave.
llvm::Expected<PlannedModel> planModule(mlir::ModuleOp module, const PipelineOptions &options,
                                        const Phase *first = nullptr);

/// What every machine of this one's kind can run.
llvm::StringRef oldestTarget();

} // namespace optc
#endif
