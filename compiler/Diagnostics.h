//===- Diagnostics.h - problems, as lines for people and scripts ----------===//
#ifndef OPTC_COMPILER_DIAGNOSTICS_H
#define OPTC_COMPILER_DIAGNOSTICS_H
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "optc/codegen/CompileError.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace optc {

/// Prints `optc: error: ...` lines, each problem once, and keeps them for the report.
class Diagnostics {
public:
  explicit Diagnostics(llvm::raw_ostream &os) : os(&os) {}
  void error(llvm::StringRef sentence) { print("error", sentence); }
  void warning(llvm::StringRef sentence) { print("warning", sentence); }
  void note(llvm::StringRef sentence) { print("note", sentence); }
  /// Prints every CompileError in `error` and returns the exit code of the first.
  ExitCode report(llvm::Error error);
  llvm::ArrayRef<std::string> problems() const { return errors; }

private:
  void print(llvm::StringRef kind, llvm::StringRef sentence);
  llvm::raw_ostream *os;
  llvm::StringSet<> seen;
  std::vector<std::string> errors;
};

/// The name of the ONNX node (or the place in a .mlir file) that a location stands for; may be empty.
std::string nodeName(mlir::Location location);

/// While it lives, errors of passes go to a Diagnostics.
class DiagnosticScope {
public:
  DiagnosticScope(mlir::MLIRContext *context, Diagnostics &diagnostics);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace optc
#endif
