//===- Driver.h - one compilation, from options to an artifact ------------===//
#ifndef OPTC_COMPILER_DRIVER_H
#define OPTC_COMPILER_DRIVER_H
#include "optc/codegen/CompileError.h"
#include "optc/compiler/Options.h"
#include "llvm/Support/raw_ostream.h"

namespace optc {

/// Compiles. Problems and progress go to `diagnostics`, requested text and --json to `out`. Never throws, exits or
/// keeps state: may be called again.
ExitCode compile(const Options &options, llvm::raw_ostream &out, llvm::raw_ostream &diagnostics);
/// Versions of optc, LLVM and ONNX in one line each.
std::string versionText();
/// The phases and passes that the options select.
llvm::Expected<std::string> pipelineText(const Options &options);

/// What a crash handler can say: the phase that is running, or null.
const char *currentPhase();

} // namespace optc
#endif
