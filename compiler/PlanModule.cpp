//===- PlanModule.cpp - all phases on a module that is compiled in passing -===//
#include "optc/compiler/PlanModule.h"
#include "mlir/IR/Verifier.h"
#include "optc/compiler/Phases.h"

using namespace mlir;
using namespace optc;

llvm::StringRef optc::oldestTarget() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86-64-v2";
#endif
}

llvm::Expected<PlannedModel> optc::planModule(ModuleOp module, const PipelineOptions &options, const Phase *first) {
  std::string reason;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return success();
  });
  auto problem = [&](ExitCode code) {
    return makeError(code, reason.empty() ? "the compilation failed without saying why" : reason);
  };
  for (const Phase *phase = first ? first : phases().begin(); phase != phases().end(); ++phase) {
    if (!phase->addPasses)
      continue;
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    pm.enableVerifier(false);
    phase->addPasses(pm, options);
    if (failed(pm.run(module)))
      return problem(phase->fault);
  }
  // The LLVM translation trusts its input.
  FailureOr<PlannedModel> plan = failure();
  if (succeeded(verify(module)))
    plan = takePlan(module);
  if (failed(plan))
    return problem(ExitCode::Internal);
  plan->signature.name = options.name;
  return std::move(*plan);
}
