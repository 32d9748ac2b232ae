//===- optc.cpp - the compiler's command line -----------------------------===//
#include "optc/compiler/Driver.h"
#include "optc/compiler/Guards.h"

using namespace optc;

static int fail(llvm::Error error) {
  ExitCode code = ExitCode::Internal;
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &e) {
        code = e.code();
        llvm::errs() << "optc: error: " << e.message() << "\n";
      },
      [](const llvm::ErrorInfoBase &e) { llvm::errs() << "optc: error: " << e.message() << "\n"; });
  return static_cast<int>(code);
}

static int run(int argc, char **argv) {
  llvm::Expected<Options> options = parseOptions(llvm::ArrayRef<const char *>(argv + 1, argc > 1 ? argc - 1 : 0));
  if (!options)
    return fail(options.takeError());
  if (options->help || options->version) {
    llvm::outs() << (options->help ? helpText() : versionText());
    return 0;
  }
  if (options->listPlugins) {
    llvm::outs() << options->plugins->describe();
    return 0;
  }
  if (options->printPipeline) {
    llvm::Expected<std::string> text = pipelineText(*options);
    if (!text)
      return fail(text.takeError());
    llvm::outs() << *text;
    return 0;
  }
  if (options->timeout)
    startTimeout(*options->timeout);
  return static_cast<int>(compile(*options, llvm::outs(), llvm::errs()));
}

int main(int argc, char **argv) {
  installCrashGuards(argc, argv);
  int code = run(argc, argv);
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return code;
  std::string reason = llvm::outs().error().message();
  llvm::outs().clear_error();
  return fail(environmentError("cannot write standard output: " + reason));
}
