//===- CompileError.h - an error with the exit code it leads to -----------===//
#ifndef OPTC_CODEGEN_COMPILEERROR_H
#define OPTC_CODEGEN_COMPILEERROR_H
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace optc {

/// The exit codes of optc that scripts rely on.
enum class ExitCode : int {
  Success = 0,
  Input = 1,       ///< the model is at fault
  Usage = 2,       ///< the command line is
  Limit = 3,       ///< a limit that the user set is not met
  Environment = 4, ///< a full disk, a missing file of the installation, no permission
  Internal = 70    ///< a defect of optc
};

/// A finished sentence for the user and the exit code it leads to.
class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  static char ID;
  CompileError(ExitCode code, std::string message) : exitCode(code), text(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  ExitCode code() const { return exitCode; }

private:
  ExitCode exitCode;
  std::string text;
};

inline llvm::Error makeError(ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<CompileError>(code, message.str());
}
inline llvm::Error inputError(const llvm::Twine &message) { return makeError(ExitCode::Input, message); }
inline llvm::Error usageError(const llvm::Twine &message) { return makeError(ExitCode::Usage, message); }
inline llvm::Error environmentError(const llvm::Twine &message) { return makeError(ExitCode::Environment, message); }
inline llvm::Error internalError(const llvm::Twine &message) { return makeError(ExitCode::Internal, message); }

} // namespace optc
#endif
