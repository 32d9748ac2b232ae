//===- HostModel.cpp - a module that runs inside the compiler -------------===//
#include "optc/compiler/HostModel.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/object/Artifact.h"
#include "optc/compiler/Phases.h"
#include "optc/compiler/PlanModule.h"
#include "optc/compiler/Plugins.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace optc;
using llvm::Error;
using llvm::Expected;

/// More workers than this help no model that anybody calibrates.
static constexpr unsigned kMostThreads = 16;

Expected<Target> optc::runnableTarget(const Target &target) {
  Expected<Target> oldest = resolveTarget(oldestTarget());
  bool sameKind = oldest && oldest->isX86() == target.isX86() && oldest->isAArch64() == target.isAArch64();
  if (!sameKind || target.cpuFeatures & ~optc_cpu_features())
    return oldest;
  Target host = target;
  host.device = nullptr; // the compiler has none
  return host;
}

/// The exit code that a failure of the runtime means for a compilation.
static Error runtimeError(const optc_error &error) {
  return makeError(error.status == OPTC_OUT_OF_MEMORY || error.status == OPTC_IO ? ExitCode::Environment
                                                                                 : ExitCode::Input,
                   error.message);
}

Expected<std::unique_ptr<HostModel>> HostModel::compile(ModuleOp module, const Target &wanted, int optLevel,
                                                        const PluginSet *plugins) {
  Expected<Target> target = runnableTarget(wanted);
  if (!target)
    return target.takeError();
  PipelineOptions pipeline;
  pipeline.optLevel = optLevel;
  pipeline.target = &*target;
  pipeline.name = "optc_host";
  Expected<PlannedModel> plan = planModule(module, pipeline, findPhase("tensor"));
  if (!plan)
    return plan.takeError();

  SmallString<128> path;
  if (std::error_code why = llvm::sys::fs::createTemporaryFile("optc-host", "so", path))
    return environmentError("cannot make a temporary file: " + why.message());
  llvm::FileRemover remover(path);
  llvm::sys::RemoveFileOnSignal(path);
  ArtifactOptions artifact;
  artifact.output = std::string(path);
  artifact.optLevel = optLevel;
  if (plugins) {
    Expected<std::vector<std::string>> kernels = plugins->kernelFiles(module, *target);
    if (!kernels)
      return kernels.takeError();
    artifact.libraries = std::move(*kernels);
  }
  ArtifactStats stats;
  Error error = emitArtifact(module, *target, plan->signature, plan->weights, artifact, stats);
  std::unique_ptr<HostModel> host(new HostModel);
  optc_error problem;
  if (!error && optc_model_load_file(path.c_str(), &host->model, &problem))
    error = environmentError(problem.message);
  llvm::sys::DontRemoveFileOnSignal(path);
  if (error)
    return std::move(error);
  optc_context_options options = {sizeof(options), 0, nullptr, nullptr};
  options.threads = std::min(llvm::hardware_concurrency().compute_thread_count(), kMostThreads);
  if (optc_context_create(host->model, &options, &host->context, &problem))
    return runtimeError(problem);
  host->outputs.resize(host->desc().num_outputs);
  return std::move(host);
}

HostModel::~HostModel() {
  optc_context_destroy(context);
  optc_model_destroy(model);
}

Expected<ArrayRef<optc_value>> HostModel::run(ArrayRef<run::Value> inputs) {
  run::Keeper keep;
  std::vector<optc_value> in;
  for (const run::Value &value : inputs)
    in.push_back(run::toRuntime(value, keep));
  llvm::fill(outputs, optc_value{});
  optc_error problem;
  if (optc_run(context, in.data(), in.size(), outputs.data(), outputs.size(), nullptr, &problem))
    return runtimeError(problem);
  return ArrayRef<optc_value>(outputs);
}
