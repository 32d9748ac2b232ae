//===- Report.h - what a compilation did, as JSON -------------------------===//
#ifndef OPTC_COMPILER_REPORT_H
#define OPTC_COMPILER_REPORT_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/Target.h"
#include "optc/codegen/object/Artifact.h"
#include "optc/compiler/Options.h"
#include "llvm/Support/JSON.h"

namespace optc {

/// Collected along the way; every part may be missing when a compilation ended early.
struct Report {
  std::vector<std::pair<std::string, double>> phaseMs;
  std::vector<llvm::json::Value> kernels;
  std::optional<Target> target;
  std::optional<ModelSignature> signature;
  std::optional<DeviceModule> device;
  std::optional<ArtifactStats> artifact;
  std::optional<llvm::json::Object> compression;
  std::vector<std::string> problems;
  int exitCode = 0;

  /// Reads the strategies of the dispatches after `configure`, and which kernels of plugins are called.
  void collectKernels(mlir::ModuleOp module);
  llvm::json::Object toJson(const Options &options) const;
};

/// The metadata inside an artifact: resolved target and options, versions, hash of the model. Nothing that depends on
/// where or when it was made.
std::string artifactMetadata(const Options &options, const Target &target, llvm::StringRef modelBytes);

} // namespace optc
#endif
