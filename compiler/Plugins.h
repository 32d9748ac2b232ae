//===- Plugins.h - the loaded plugins and what they add ---------------------===//
#ifndef OPTC_COMPILER_PLUGINS_H
#define OPTC_COMPILER_PLUGINS_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/CompileError.h"
#include "optc/compiler/PluginRegistrar.h"
#include <deque>
#include <map>
#include <string>
#include <vector>

struct optc_plugin_info;

namespace optc {
struct Phase;
struct Target;

/// What plugins have to be built against: a hash of the headers and of LLVM's version.
llvm::StringRef buildId();

/// A pass that a plugin added.
struct PluginPass {
  std::string name;             ///< what optc-opt knows it by
  const Phase *phase = nullptr; ///< null: it is only registered, and runs in no compilation
  PluginPosition position = PluginPosition::Before;
  PluginRegistrar::PassFactory create;
};

struct Plugin {
  std::string name, version, file;
  std::vector<PluginPass> passes;
  std::vector<std::string> dialectNames;
  mlir::DialectRegistry dialects;
  std::vector<onnx::CustomOperator> operators;
  std::vector<std::string> kernelFiles;
};

/// By the name of a pass: its options, as MLIR writes them (`a=1 b=2`).
using PassOptionTexts = std::map<std::string, std::string>;

/// The plugins of a process. MLIR's registry of passes is global, so a plugin is never unloaded.
class PluginSet {
public:
  /// Loads a plugin from a file. One that is loaded already is left alone. Errors are usage errors.
  llvm::Error load(llvm::StringRef file);
  /// Loads the files of `environment` (separated by colons; may be null), then `files`.
  llvm::Error load(llvm::ArrayRef<std::string> files, const char *environment);
  /// Checks a description and registers what the plugin has.
  llvm::Error add(const optc_plugin_info &info, llvm::StringRef file);

  const std::deque<Plugin> &plugins() const { return loaded; }
  bool empty() const { return loaded.empty(); }
  /// "a, b"
  std::string names() const;

  /// Adds the plugins' dialects.
  void registerDialects(mlir::DialectRegistry &registry) const;
  /// Adds the passes of one insertion point and returns their names.
  llvm::Expected<std::vector<std::string>> addPasses(mlir::OpPassManager &pm, const Phase &phase,
                                                     PluginPosition position, const PassOptionTexts &options) const;
  /// Adds PASS:NAME=VALUE to `options`. The error says which passes and options there are.
  llvm::Error addOption(llvm::StringRef text, PassOptionTexts &options) const;
  /// The files with the kernels that a module in the LLVM dialect calls.
  llvm::Expected<std::vector<std::string>> kernelFiles(mlir::ModuleOp module, const Target &target) const;
  /// For people: every plugin with its passes, their options and defaults.
  std::string describe() const;

private:
  std::deque<Plugin> loaded; // registrars and factories point to them
};

} // namespace optc
#endif
