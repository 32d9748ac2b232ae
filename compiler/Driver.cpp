//===- Driver.cpp - one compilation, from options to an artifact ----------===//
#include "optc/compiler/Driver.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "optc/codegen/object/Artifact.h"
#include "optc/codegen/object/OutputFile.h"
#include "optc/compiler/Diagnostics.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/IrFile.h"
#include "optc/compiler/Phases.h"
#include "optc/compiler/Progress.h"
#include "optc/compiler/Report.h"
#include "optc/compiler/Version.h"
#include "optc/compiler/import/ExportModel.h"
#include "optc/compiler/import/Import.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <chrono>

using namespace mlir;
using namespace optc;
using llvm::Error;

static std::atomic<const char *> runningPhase = nullptr;
const char *optc::currentPhase() { return runningPhase; }

static DialectRegistry makeRegistry(const Options &options) {
  DialectRegistry registry;
  registerDialects(registry);
  if (options.plugins)
    options.plugins->registerDialects(registry);
  return registry;
}

namespace {
class Compilation {
public:
  Compilation(const Options &options, raw_ostream &out, raw_ostream &err)
      : options(options), out(out), diagnostics(err), progress(options.progress, err), context(makeRegistry(options)) {
    context.allowUnregisteredDialects(false);
    if (!onnx::customInfos().empty())
      context.getOrLoadDialect(onnx::kPluginDialect);
  }
  ExitCode run();

private:
  PipelineOptions pipelineOptions() {
    bool compresses = compression.options.isActive() && !options.check;
    return {options.optLevel, &*report.target, options.name, compresses ? &compression : nullptr};
  }
  Error compile();
  Error importModel();
  Error runPhase(const Phase &phase);
  Error runPluginPasses(const Phase &phase, PluginPosition position);
  Error finishCompression();
  Error checkOutputs() const;
  void noteFallbacks();
  Error afterPhase(const Phase &phase);
  Error writeIr(StringRef path);
  Error emit();
  Error emitOnnx();
  Error emitDevice();
  Error writeDepfile();
  std::string writeReproducer(const Phase &failed);
  std::string outputPath(StringRef extension) const;
  std::string journalPath() const;

  Options options;
  raw_ostream &out;
  Diagnostics diagnostics;
  Progress progress;
  Report report;
  ImportedFiles files; // outlives the context, whose resources point into it
  MLIRContext context;
  std::optional<WeightStore> dumpedWeights;
  Compression compression;
  std::vector<std::string> compressionFiles; ///< samples that were read
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// The problem was printed already.
static Error alreadyPrinted(ExitCode code) { return makeError(code, ""); }

static Error importFailure(Diagnostics &diagnostics, const Problems &problems) {
  for (const std::string &sentence : problems.list())
    diagnostics.error(sentence);
  if (problems.count() > problems.list().size())
    diagnostics.note((Twine(problems.count() - problems.list().size()) + " more problems are not listed").str());
  return alreadyPrinted(ExitCode::Input);
}

Error Compilation::importModel() {
  Problems problems;
  DiagnosticScope scope(&context, diagnostics);
  size_t before = diagnostics.problems().size();
  if (options.startFrom.empty()) {
    ImportOptions importOptions;
    importOptions.dims = options.dims;
    importOptions.shapes = options.shapes;
    module = importOnnxFile(context, options.model, importOptions, files, problems);
  } else
    module = parseModule(context, options.model, files, problems);
  if (module && problems.empty())
    return Error::success();
  if (problems.empty() && diagnostics.problems().size() == before)
    problems.add("cannot import " + options.model);
  return importFailure(diagnostics, problems);
}

/// Whether two names are of one file. What is no regular file, such as /dev/null, is never replaced.
static bool isSameFile(StringRef a, StringRef b) {
  llvm::sys::fs::file_status status;
  bool exists = !llvm::sys::fs::status(a, status) && llvm::sys::fs::exists(status);
  return exists ? llvm::sys::fs::is_regular_file(status) && llvm::sys::fs::equivalent(a, b) : a == b;
}

/// No file that is written is one that is read, or another one that is written.
Error Compilation::checkOutputs() const {
  std::vector<std::pair<StringRef, std::string>> written = {
      {"-o", options.output}, {"--report", options.report}, {"--depfile", options.depfile}};
  if (options.compression.isActive())
    written.emplace_back("--journal", journalPath());
  if (options.emit == EmitKind::Onnx)
    written.emplace_back("-o", externalDataPath(options.output));
  llvm::erase_if(written, [](const auto &file) { return file.second.empty() || file.second == "-"; });
  std::vector<std::string> read = files.paths();
  llvm::append_range(read, std::initializer_list<std::string>{options.model, options.compression.calibrate,
                                                              options.compression.golden});
  for (size_t i = 0; i < written.size(); ++i) {
    const auto &[flag, path] = written[i];
    for (const std::string &input : read)
      if (!input.empty() && isSameFile(path, input))
        return usageError(flag + " would replace " + path + ", which is read; name another file with " + flag);
    for (size_t k = 0; k < i; ++k)
      if (isSameFile(path, written[k].second))
        return usageError(written[k].first + " and " + flag + " both name " + path + "; give each a file of its own");
  }
  return Error::success();
}

/// Passes of plugins have a manager of their own: when one fails, the fault is not optc's.
Error Compilation::runPluginPasses(const Phase &phase, PluginPosition position) {
  if (!options.plugins || options.plugins->empty())
    return Error::success();
  DiagnosticScope scope(&context, diagnostics);
  PassManager pm(&context, ModuleOp::getOperationName());
  llvm::Expected<std::vector<std::string>> names = options.plugins->addPasses(pm, phase, position, options.passOptions);
  if (!names)
    return names.takeError();
  if (names->empty())
    return Error::success();
  size_t before = diagnostics.problems().size();
  if (succeeded(pm.run(*module)))
    return Error::success();
  StringRef side = position == PluginPosition::Before ? "before" : "after";
  if (diagnostics.problems().size() == before)
    diagnostics.error("a pass of a plugin failed without saying why");
  diagnostics.note(
      ("this happened " + side + " the phase '" + phase.name + "', in the pass " + llvm::join(*names, ", ")).str());
  return alreadyPrinted(ExitCode::Input);
}

std::string Compilation::journalPath() const {
  bool isFile = !options.output.empty() && options.output != "-";
  return !options.compression.journal.empty() ? options.compression.journal
         : isFile                             ? options.output + ".journal.jsonl"
                                              : "";
}

/// What `compress` has to say: notes, the journal, and why it failed. Nothing after other phases.
Error Compilation::finishCompression() {
  for (const std::string &note : compression.notes)
    diagnostics.note(note);
  if (!compression.report.empty())
    report.compression = std::move(compression.report);
  llvm::append_range(compressionFiles, compression.files);
  std::string path = journalPath();
  Error error =
      compression.failure ? makeError(compression.failure->first, compression.failure->second) : Error::success();
  if (!compression.journal.empty() && !path.empty())
    error = llvm::joinErrors(std::move(error), writeTextFile(path, compression.journal));
  return error;
}

Error Compilation::runPhase(const Phase &phase) {
  if (!phase.addPasses)
    return Error::success();
  if (Error error = runPluginPasses(phase, PluginPosition::Before))
    return error;
  DiagnosticScope scope(&context, diagnostics);
  PassManager pm(&context, ModuleOp::getOperationName());
  pm.enableVerifier(options.verifyEachPhase);
  compression = Compression();
  compression.options = options.compression;
  compression.target = &*report.target;
  compression.optLevel = options.optLevel;
  compression.plugins = options.plugins.get();
  phase.addPasses(pm, pipelineOptions());
  size_t before = diagnostics.problems().size();
  bool good = succeeded(pm.run(*module));
  if (Error error = finishCompression())
    return error;
  // The LLVM translation trusts its input.
  if (good && !options.verifyEachPhase && phase.name == "llvm")
    good = succeeded(verify(*module));
  if (good)
    return runPluginPasses(phase, PluginPosition::After);
  if (diagnostics.problems().size() == before)
    diagnostics.error(("the phase '" + phase.name + "' failed without saying why").str());
  return alreadyPrinted(phase.fault);
}

Error Compilation::writeIr(StringRef path) {
  if (path == "-") {
    llvm::Expected<std::string> text = printModule(*module, nullptr);
    if (!text)
      return text.takeError();
    out << *text;
    out.flush();
    return Error::success();
  }
  WeightStore store((path + ".weights").str());
  llvm::Expected<std::string> text = printModule(*module, &store);
  if (!text)
    return text.takeError();
  if (Error error = store.commit())
    return error;
  return writeTextFile(path, *text);
}

Error Compilation::afterPhase(const Phase &phase) {
  if (phase.name == "configure")
    report.collectKernels(*module);
  if (options.dumpPhases.empty())
    return Error::success();
  if (std::error_code why = llvm::sys::fs::create_directories(options.dumpPhases))
    return environmentError("cannot make the folder " + options.dumpPhases + ": " + why.message());
  llvm::Expected<std::string> text = printModule(*module, &*dumpedWeights);
  if (!text)
    return text.takeError();
  SmallString<256> path(options.dumpPhases);
  llvm::sys::path::append(path, Twine(&phase - phases().begin()) + "-" + phase.name + ".mlir");
  return writeTextFile(path, *text);
}

std::string Compilation::outputPath(StringRef extension) const {
  return options.output.empty() ? options.name + extension.str() : options.output;
}

/// What a GPU was asked for and the CPU does.
void Compilation::noteFallbacks() {
  std::vector<std::string> &texts = report.signature->hostFallbacks;
  if (report.device->kernels.empty())
    texts.push_back("host fallback: no kernel of the model runs on " + options.target +
                    "; what there is to compute is done on the CPU");
  constexpr size_t kNamed = 3;
  std::vector<std::string> different;
  for (const std::string &text : texts)
    if (!llvm::is_contained(different, text))
      different.push_back(text);
  for (const std::string &text : ArrayRef(different).take_front(kNamed))
    diagnostics.note(text);
  if (different.size() > kNamed)
    diagnostics.note((Twine(different.size() - kNamed) + " more host fallbacks are in the report (--report)").str());
}

Error Compilation::emit() {
  DiagnosticScope scope(&context, diagnostics);
  FailureOr<PlannedModel> plan = takePlan(*module);
  if (failed(plan))
    return alreadyPrinted(ExitCode::Internal);
  plan->signature.name = options.name;
  std::string reason;
  const llvm::MemoryBuffer *model = files.map(options.model, reason);
  plan->signature.metadata = artifactMetadata(options, *report.target, model ? model->getBuffer() : StringRef());
  report.signature = plan->signature;
  if (options.maxMemory && static_cast<uint64_t>(plan->signature.arenaBytes) > *options.maxMemory)
    return makeError(ExitCode::Limit,
                     "a run needs " + Twine(plan->signature.arenaBytes) +
                         " bytes of working memory, more than --max-memory=" + Twine(*options.maxMemory));

  if (report.target->device) {
    bool assemble = options.emit != EmitKind::Ptx && !options.emulateOnly;
    llvm::Expected<DeviceModule> device = compileDevice(*module, *report.target->device, options.optLevel, assemble,
                                                        /*generic=*/assemble && options.emit != EmitKind::Cubin);
    if (!device)
      return device.takeError();
    if (options.emulate)
      if (Error error = addEmulation(*device))
        return error;
    report.device = std::move(*device);
    noteFallbacks();
    if (options.emit == EmitKind::Ptx || options.emit == EmitKind::Cubin)
      return emitDevice();
  }

  static constexpr ArtifactKind kKinds[] = {ArtifactKind::SharedObject, ArtifactKind::Object,
                                            ArtifactKind::StaticLibrary, ArtifactKind::Executable,
                                            ArtifactKind::LlvmIr};
  ArtifactOptions artifact;
  artifact.kind = kKinds[static_cast<int>(options.emit)];
  artifact.output = outputPath(extensionOf(options.emit));
  artifact.optLevel = options.optLevel;
  artifact.maxBytes = options.maxSize;
  artifact.device = report.device ? &*report.device : nullptr;
  SmallString<256> header(artifact.output);
  llvm::sys::path::replace_extension(header, ".h");
  if (artifact.kind != ArtifactKind::LlvmIr && artifact.kind != ArtifactKind::Executable && header != artifact.output) {
    artifact.headerPath = std::string(header);
    artifact.header = generateHeader(plan->signature, artifact.kind);
  }
  if (options.plugins) {
    llvm::Expected<std::vector<std::string>> kernels = options.plugins->kernelFiles(*module, *report.target);
    if (!kernels)
      return kernels.takeError();
    artifact.libraries = std::move(*kernels);
  }
  ArtifactStats stats;
  if (Error error = emitArtifact(*module, *report.target, plan->signature, plan->weights, artifact, stats))
    return error;
  report.artifact = stats;
  return Error::success();
}

/// The module as it is before `tensor`, as a model file.
Error Compilation::emitOnnx() {
  ExportOptions exportOptions;
  exportOptions.version = OPTC_VERSION;
  exportOptions.maxBytes = options.maxSize;
  ExportStats written;
  if (Error error = writeOnnxFile(*module, options.output, exportOptions, written))
    return error;
  ArtifactStats stats;
  stats.fileBytes = written.fileBytes;
  stats.weightBytes = written.weightBytes;
  report.artifact = stats;
  return Error::success();
}

/// The code of the device alone.
Error Compilation::emitDevice() {
  if (report.device->kernels.empty())
    return inputError("no kernel of " + options.model + " runs on " + options.target + ": there is nothing to emit");
  std::string path = outputPath(extensionOf(options.emit));
  if (options.emit == EmitKind::Ptx)
    return writeTextFile(path, report.device->ptx);
  llvm::Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(llvm::ArrayRef<char>(report.device->cubin), 0))
    return error;
  return file->commit();
}

/// Make's spelling of a file name.
static std::string escapedForMake(StringRef path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\\')
      text += '\\';
    if (c == '$')
      text += '$';
    text += c;
  }
  return text;
}

Error Compilation::writeDepfile() {
  std::string text = escapedForMake(options.output) + ":";
  for (const std::string &path : files.paths())
    text += " \\\n  " + escapedForMake(path);
  for (const std::string &path : compressionFiles)
    text += " \\\n  " + escapedForMake(path);
  if (options.plugins)
    for (const Plugin &plugin : options.plugins->plugins()) {
      text += " \\\n  " + escapedForMake(plugin.file);
      for (const std::string &file : plugin.kernelFiles)
        text += " \\\n  " + escapedForMake(file);
    }
  return writeTextFile(options.depfile, text + "\n");
}

/// The IR that the failed phase got, found by compiling again up to it.
std::string Compilation::writeReproducer(const Phase &failed) {
  SmallString<128> path;
  int fd;
  if (llvm::sys::fs::createTemporaryFile("optc-reproducer", "mlir", fd, path))
    return "";
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << "// optc " OPTC_VERSION " failed in the phase '" << failed.name
     << "'. Constants are left out. The command line:\n// optc";
  for (const std::string &arg : options.commandLine)
    os << " '" << arg << "'";
  os << "\n";
  module = nullptr;
  Diagnostics silent(llvm::nulls());
  std::swap(silent, diagnostics);
  Error error = importModel();
  for (const Phase &phase : phases())
    if (!error && &phase < &failed && (options.startFrom.empty() || &phase >= findPhase(options.startFrom)))
      error = runPhase(phase);
  std::swap(silent, diagnostics);
  if (!error) {
    llvm::Expected<std::string> text = printModule(*module, nullptr);
    os << (text ? *text : "// it cannot be printed: " + llvm::toString(text.takeError()));
  }
  llvm::consumeError(std::move(error));
  os.close();
  bool bad = os.has_error();
  os.clear_error();
  return bad ? "" : std::string(path);
}

Error Compilation::compile() {
  llvm::Expected<Target> target = resolveTarget(options.target);
  if (!target)
    return target.takeError();
  report.target = std::move(*target);
  if ((options.emit == EmitKind::Ptx || options.emit == EmitKind::Cubin) && !report.target->device)
    return usageError("--emit=" + extensionOf(options.emit).drop_front() + " needs a GPU as its target: --target=" +
                      llvm::join(llvm::map_range(deviceTargets(), [](const DeviceTarget &d) { return d.name.str(); }),
                                 ", --target="));
  static constexpr EmitKind kWithImage[] = {EmitKind::SharedObject, EmitKind::Object, EmitKind::StaticLibrary,
                                            EmitKind::Executable};
  if (options.emulate && !report.target->device)
    return usageError("--emulate needs a GPU as its target: --target=sm90");
  if (options.emulate && !llvm::is_contained(kWithImage, options.emit))
    return usageError("--emulate is for artifacts that can be run: --emit=so, obj, static-lib or exe");
  const Phase *last = findPhase(options.check                    ? "tensor"
                                : !options.stopAfter.empty()     ? StringRef(options.stopAfter)
                                : options.emit == EmitKind::Mlir ? "llvm"
                                                                 : "object");
  bool isOnnx = options.emit == EmitKind::Onnx && !options.check;
  if (isOnnx)
    last = findPhase("tensor") - 1;
  const Phase *first = options.startFrom.empty() ? phases().begin() : findPhase(options.startFrom);
  bool isText = !options.check && !isOnnx && last->name != "object";
  if (options.output.empty() && !options.check)
    options.output = isText && options.emit != EmitKind::Mlir ? "-" : outputPath(extensionOf(options.emit));
  if (!options.dumpPhases.empty()) {
    SmallString<256> weights(options.dumpPhases);
    llvm::sys::path::append(weights, "weights.bin");
    dumpedWeights.emplace(std::string(weights));
  }
  for (const Phase *phase = options.startFrom.empty() ? first : first - 1; phase <= last; ++phase) {
    bool isImport = !module;
    runningPhase = isImport ? "import" : phase->name.data();
    progress.start(isImport ? "import" : phase->name, isImport ? 0 : phase - phases().begin(), phases().size());
    auto start = std::chrono::steady_clock::now();
    Error error = isImport ? importModel() : phase->name == "object" ? emit() : runPhase(*phase);
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!error && isImport && !options.check)
      error = checkOutputs();
    report.phaseMs.emplace_back(isImport ? "import" : phase->name.str(), ms);
    if (!error && phase >= first && phase->name != "object")
      error = afterPhase(*phase);
    if (error) {
      llvm::Error rest = llvm::handleErrors(std::move(error), [&](std::unique_ptr<CompileError> e) -> Error {
        if (e->code() == ExitCode::Internal) {
          progress.finish();
          diagnostics.report(Error(std::move(e)));
          std::string path = writeReproducer(*phase);
          bool hasPlugins = options.plugins && !options.plugins->empty();
          diagnostics.note("this is a defect of optc" +
                           (hasPlugins ? " or of a plugin (" + options.plugins->names() + ")" : std::string()) +
                           (path.empty() ? std::string() : "; what it was given is in " + path));
          return alreadyPrinted(ExitCode::Internal);
        }
        return Error(std::move(e));
      });
      return rest;
    }
  }
  if (dumpedWeights)
    if (Error error = dumpedWeights->commit())
      return error;
  if (isText)
    if (Error error = writeIr(options.output))
      return error;
  if (isOnnx)
    if (Error error = emitOnnx())
      return error;
  if (options.check && !options.json)
    out << options.model << ": everything in this model can be compiled\n";
  return options.depfile.empty() || options.check ? Error::success() : writeDepfile();
}

ExitCode Compilation::run() {
  ExitCode code = diagnostics.report(compile());
  runningPhase = nullptr;
  progress.finish();
  report.exitCode = static_cast<int>(code);
  report.problems = diagnostics.problems();
  if (!options.report.empty() || options.json) {
    llvm::json::Value json = report.toJson(options);
    if (options.json)
      out << llvm::formatv("{0}\n", json);
    if (!options.report.empty()) {
      ExitCode written = diagnostics.report(writeTextFile(options.report, llvm::formatv("{0:2}\n", json).str()));
      code = code == ExitCode::Success ? written : code;
    }
  }
  out.flush();
  return code;
}

ExitCode optc::compile(const Options &options, raw_ostream &out, raw_ostream &diagnostics) {
  return Compilation(options, out, diagnostics).run();
}

std::string optc::versionText() {
  return ("optc " OPTC_VERSION " (build " + buildId() +
          ")\nLLVM " LLVM_VERSION_STRING "\nONNX operators of onnx 1.23.2 (opset 28)\n")
      .str();
}

llvm::Expected<std::string> optc::pipelineText(const Options &options) {
  llvm::Expected<Target> target = resolveTarget(options.target);
  if (!target)
    return target.takeError();
  MLIRContext context(makeRegistry(options));
  Compression compression;
  compression.options = options.compression;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Phase &phase : phases()) {
    os << phase.name << ": " << phase.doc << "\n";
    if (!phase.addPasses)
      continue;
    PassManager pm(&context, ModuleOp::getOperationName());
    auto addPluginPasses = [&](PluginPosition position) -> Error {
      if (!options.plugins)
        return Error::success();
      return options.plugins->addPasses(pm, phase, position, options.passOptions).takeError();
    };
    if (Error error = addPluginPasses(PluginPosition::Before))
      return std::move(error);
    phase.addPasses(
        pm, {options.optLevel, &*target, options.name, compression.options.isActive() ? &compression : nullptr});
    if (Error error = addPluginPasses(PluginPosition::After))
      return std::move(error);
    os << "  ";
    pm.printAsTextualPipeline(os);
    os << "\n";
  }
  return text;
}
