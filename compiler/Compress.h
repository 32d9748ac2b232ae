//===- Compress.h - the phase `compress` ----------------------------------===//
//
// One constraint, a trusted baseline, one change at a time: the float model is what everything is compared with, and
// every decision is a line of the journal.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_COMPRESS_H
#define OPTC_COMPILER_COMPRESS_H
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/Target.h"
#include "optc/passes/compress/PruneOptions.h"
#include "optc/passes/compress/Quantize.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace optc {

class PluginSet;

enum class Precision { F32, F16, BF16, Int8, Int4 };
enum class Metric { Top1, Cosine };

/// What the command line asks for.
struct CompressionOptions {
  Precision precision = Precision::F32;
  std::vector<std::string> keepFloat; ///< names of nodes
  int64_t groupSize = 32;
  std::string calibrate; ///< with int8: activations are integers, too; with channels: layers are fitted anew
  compress::RangeMethod method{compress::RangeMethod::Mse};
  std::string methodName; ///< as the command line has it; empty: the default
  std::string golden;     ///< with metric and maxDrop
  std::optional<Metric> metric;
  std::optional<double> maxDrop;
  unsigned rollback = 0; ///< layers that may go back to float
  std::string journal;   ///< file

  PruneOptions prune;
  std::vector<std::string> pruneTexts; ///< as the command line has them

  bool isActive() const { return precision != Precision::F32 || prune.any(); }
  bool reduces() const { return precision == Precision::F16 || precision == Precision::BF16; }
  bool quantizes() const { return precision == Precision::Int8 || precision == Precision::Int4; }
  /// Whether layers are fitted to samples after their inputs lost channels.
  bool refits() const { return prune.channels > 0 && !calibrate.empty(); }
};

/// "int8", "top1": as the command line has them.
llvm::StringRef nameOf(Precision precision);
llvm::StringRef nameOf(Metric metric);

/// A compression under way, and what came of it.
struct Compression {
  CompressionOptions options;
  const Target *target = nullptr;
  int optLevel = 2;
  const PluginSet *plugins = nullptr;

  std::vector<std::string> notes;                          ///< sentences for the user
  std::vector<std::string> files;                          ///< that were read
  std::string journal;                                     ///< JSON, a line per decision
  llvm::json::Object report;                               ///< for --report
  std::optional<std::pair<ExitCode, std::string>> failure; ///< why the pass failed

  void record(llvm::json::Object decision);
};

/// Compresses a module as `graph` leaves it: runs `pruning`, which removes channels, and fits layers to samples; runs
/// `rewrites`, which need no samples, and quantizes what they leave. The guardrail compares the result with the module
/// as it came. `state` outlives the pass.
std::unique_ptr<mlir::Pass> createCompressPass(Compression &state, mlir::OpPassManager pruning,
                                               mlir::OpPassManager rewrites);

} // namespace optc
#endif
