//===- Options.h - the options of one compilation -------------------------===//
#ifndef OPTC_COMPILER_OPTIONS_H
#define OPTC_COMPILER_OPTIONS_H
#include "optc/compiler/Compress.h"
#include "optc/compiler/Plugins.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace optc {

/// What --emit= takes.
enum class EmitKind { SharedObject, Object, StaticLibrary, Executable, LlvmIr, Mlir, Onnx, Ptx, Cubin };
enum class ProgressKind { Auto, Plain, None };

/// A value, handed down; there is no other state that a compilation depends on.
struct Options {
  std::string model;  ///< .onnx, or .mlir
  std::string output; ///< empty: NAME with the extension of the kind, in the working folder; "-": standard output
  std::string name;   ///< a C identifier; empty: from the model's file name
  int optLevel = 2;
  std::string target = "native";
  EmitKind emit = EmitKind::SharedObject;
  bool emulate = false, emulateOnly = false;          ///< an image for the emulator; no code for the device
  std::map<std::string, int64_t> dims;                ///< of --dim
  std::map<std::string, std::vector<int64_t>> shapes; ///< of --shape; -1: unknown
  std::string stopAfter, startFrom;                   ///< names of phases
  std::string dumpPhases;                             ///< folder
  std::string report, depfile;
  std::optional<uint64_t> maxMemory, maxSize; ///< bytes
  std::optional<double> timeout;              ///< seconds
  CompressionOptions compression;
  ProgressKind progress = ProgressKind::Auto;
  std::shared_ptr<const PluginSet> plugins; ///< never null after parseOptions
  PassOptionTexts passOptions;              ///< of --plugin-option
  bool printPipeline = false, listPlugins = false, verifyEachPhase = false, check = false, json = false;
  bool version = false, help = false;
  std::vector<std::string> commandLine; ///< for reproducers
};

/// Reads a command line (without the program's name). Loads the plugins of --plugin and OPTC_PLUGINS first: what other
/// options take depends on them. Errors are usage errors that say what is possible.
llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> args);
/// The text of --help.
std::string helpText();
/// File extension, with the dot.
llvm::StringRef extensionOf(EmitKind kind);
/// A C identifier from any text.
std::string identifierFrom(llvm::StringRef text);

} // namespace optc
#endif
