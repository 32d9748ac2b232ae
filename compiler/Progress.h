//===- Progress.h - what a long compilation is doing ----------------------===//
#ifndef OPTC_COMPILER_PROGRESS_H
#define OPTC_COMPILER_PROGRESS_H
#include "optc/compiler/Options.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace optc {

/// `plain`: a line per phase. `auto`: on a terminal, one line that is rewritten, once a second has passed.
class Progress {
public:
  Progress(ProgressKind kind, llvm::raw_ostream &os) : kind(kind), os(os), begin(std::chrono::steady_clock::now()) {}
  void start(llvm::StringRef phase, size_t index, size_t count) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (kind == ProgressKind::Plain)
      os << llvm::formatv("optc: [{0}/{1}] {2} ({3:f1} s)\n", index + 1, count, phase, seconds);
    else if (kind == ProgressKind::Auto && os.is_displayed() && seconds > 1) {
      os << llvm::formatv("\r\x1b[Koptc: [{0}/{1}] {2} ({3:f1} s)", index + 1, count, phase, seconds);
      shown = true;
    }
    os.flush();
  }
  /// Clears the line.
  void finish() {
    if (shown)
      os << "\r\x1b[K";
    os.flush();
    shown = false;
  }

private:
  ProgressKind kind;
  llvm::raw_ostream &os;
  std::chrono::steady_clock::time_point begin;
  bool shown = false;
};

} // namespace optc
#endif
