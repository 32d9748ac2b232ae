//===- optc-opt.cpp - run single passes on textual IR ---------------------===//
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/Plugins.h"
#include "llvm/Support/CommandLine.h"
#include <cstdlib>

/// The values of --plugin, in the spellings of LLVM's command lines.
static std::vector<std::string> pluginFiles(int argc, char **argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (!arg.consume_front("--plugin") && !arg.consume_front("-plugin"))
      continue;
    if (arg.consume_front("="))
      files.push_back(arg.str());
    else if (arg.empty() && i + 1 < argc)
      files.push_back(argv[++i]);
  }
  return files;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  optc::registerDialects(registry);
  optc::registerPasses();
  // Before the command line is read: a plugin's passes are options too.
  llvm::cl::list<std::string> plugin("plugin",
                                     llvm::cl::desc("loads a plugin; OPTC_PLUGINS holds more, with : between"),
                                     llvm::cl::value_desc("FILE.so"));
  optc::PluginSet plugins;
  if (llvm::Error error = plugins.load(pluginFiles(argc, argv), std::getenv("OPTC_PLUGINS"))) {
    llvm::errs() << "optc-opt: error: " << llvm::toString(std::move(error)) << "\n";
    return static_cast<int>(optc::ExitCode::Usage);
  }
  plugins.registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "optc's passes, one by one\n", registry));
}
