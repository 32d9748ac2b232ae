//===- Options.h - the command line of optc-run ---------------------------===//
#ifndef OPTC_TOOLS_RUN_OPTIONS_H
#define OPTC_TOOLS_RUN_OPTIONS_H
#include "optc/runtime/files/Value.h"
#include <map>
#include <string>
#include <vector>

namespace optc::run {

/// Exit codes that scripts rely on.
enum Exit { Good = 0, BadInput = 1, BadUsage = 2, Different = 3, Environment = 4 };

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

struct Options {
  std::string artifact;
  std::vector<std::string> inputs;     // NAME=FILE or NAME=random; either side may hold '='
  std::map<std::string, int64_t> dims; // sizes of symbols for random inputs
  std::string inputsDir, outputDir, expectDir;
  Tolerance tolerance;
  bool bench = false, info = false, json = false;
  double benchSeconds = 1;
  int warmup = -1; // -1: runs for a tenth of the time
  int threads = 1;
  std::string device; // cpu, cuda or emulator; empty: the model's own
};

/// False after printing why, or the help; `code` is the exit code then. `self`: the artifact is part of the program.
bool parseOptions(int argc, char **argv, bool self, Options &options, int &code);

/// optc-run: everything but parsing. The exit code.
int runArtifact(const Options &options);

/// Empty when `got` agrees with `expected`; a sentence otherwise.
std::string compare(const std::string &output, const Value &got, const Value &expected, Tolerance tolerance);

/// Prepares a run on the device that was asked for. Good, or the exit code with its reason.
int chooseDevice(const Options &options, const optc_model_desc &desc, std::string &error);

/// Text as a JSON string with quotes.
std::string quoted(const std::string &text);

struct Times {
  std::vector<double> milliseconds;
  double loadMilliseconds = 0;
};
/// `device`: what the model runs on, when that is not the CPU.
void printTimes(Times &times, const char *device, bool json);
/// Whether an input may be left out: it is an optional, or has a default.
inline bool isOptional(const optc_io_desc &io) { return io.kind >= 2 || io.value; }
/// Signature and metadata of a model.
void printInfo(const optc_model_desc &desc, bool json);

} // namespace optc::run
#endif
