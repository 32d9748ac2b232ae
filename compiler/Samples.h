//===- Samples.h - recorded inputs of a model, for --calibrate and --golden ===//
//
// A source is a .npz file or a folder. Its arrays are named as the inputs (characters outside [A-Za-z0-9_.-] may be _).
// The first axis of an array counts samples when the array has one axis more than the input, or when the input's first
// size is 1 or unknown; where that size is N, every N rows are a sample. What has exactly the input's shape is one
// sample, and serves all when other arrays have more. A folder holds NAME.npy or input_N.pb files, or such folders in
// the order of their names, one sample each (the layout of the ONNX backend suite).
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_SAMPLES_H
#define OPTC_COMPILER_SAMPLES_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/runtime/files/Value.h"
#include "llvm/Support/Error.h"
#include <map>

namespace optc {

/// What a model takes at one position.
struct InputSpec {
  std::string name;
  int32_t kind = 0; ///< optc_io_desc.kind
  optc_dtype dtype = OPTC_UNDEFINED;
  std::vector<int64_t> dims; ///< -1: not known
  bool ranked = false, optional = false;
};

/// The inputs of @main.
std::vector<InputSpec> inputsOf(mlir::func::FuncOp main);

/// One value per input, of kind OPTC_NONE where an optional one has none.
using Sample = std::vector<run::Value>;

class SampleSet {
public:
  /// Reads the source that `flag` names. What does not match the inputs is an error that says what would.
  static llvm::Expected<SampleSet> open(llvm::StringRef flag, llvm::StringRef path, std::vector<InputSpec> inputs);

  size_t size() const { return folders.empty() ? count : folders.size(); }
  llvm::Expected<Sample> load(size_t i) const;
  /// An array of the source that is no input (labels); null when there is none of this name.
  const run::Value *extra(llvm::StringRef name) const;
  /// "--golden=DIR": for messages.
  std::string source() const { return flag + "=" + path; }
  /// All files that were read, for depfiles.
  const std::vector<std::string> &files() const { return read; }

private:
  /// The file of an input and what it holds.
  struct Array {
    run::Value value;
    int64_t samples = 1;    ///< along the first axis
    bool keepsAxis = false; ///< a sample has the first axis, too
    std::string file;
  };
  using Arrays = std::vector<Array>;

  llvm::Error readNpz();
  llvm::Error readFolder();
  llvm::Expected<Arrays> readArrays(const std::string &folder, bool isOneSample);
  llvm::Error split(const InputSpec &input, Array &array) const;
  llvm::Error check(const InputSpec &input, const run::Value &value, llvm::StringRef file) const;
  llvm::Error fault(const llvm::Twine &clause) const;
  llvm::Error finish(bool isFolder);

  std::string flag, path;
  std::vector<InputSpec> inputs;
  Arrays arrays;               ///< one per input; kind OPTC_NONE where there is none
  std::vector<Arrays> folders; ///< of a folder of folders
  std::map<std::string, run::Value> extras;
  std::vector<std::string> read;
  size_t count = 0;
};

} // namespace optc
#endif
