//===- Import.h - from ONNX files to the onnx dialect ----------*- C++ -*-===//
//
// The front door of the compiler. The model file is mapped, never read as a whole: payloads of tensors stay where they
// are, constants of the module point at them.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_IMPORT_IMPORT_H
#define OPTC_COMPILER_IMPORT_IMPORT_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace optc {

/// What is wrong with the input, a full sentence per entry. Everything that can be found in one run is reported.
class Problems {
public:
  void add(const llvm::Twine &sentence);
  bool empty() const { return sentences.empty(); }
  /// Problems beyond a bound are only counted.
  size_t count() const { return total; }
  llvm::ArrayRef<std::string> list() const { return sentences; }

private:
  std::vector<std::string> sentences;
  size_t total = 0;
};

/// Bounds on what a model file may contain, against files made to exhaust memory.
struct ImportCaps {
  uint64_t nodes = 2'000'000;
  /// Messages and list entries in the file, weights aside; each costs 50 to 150 bytes of memory.
  uint64_t entries = 30'000'000;
  unsigned nesting = 90;
  /// Bytes of the file outside the payloads of tensors.
  uint64_t structureBytes = 1ULL << 30;
  /// Bytes of one sparse tensor made dense, and of one converted payload.
  uint64_t convertedBytes = 1ULL << 32;
  /// Nodes after functions are inlined.
  uint64_t inlinedNodes = 2'000'000;
};

struct ImportOptions {
  /// Sizes for symbolic dimensions, by dim_param.
  std::map<std::string, int64_t> dims;
  /// Shapes of inputs, -1 where unknown.
  std::map<std::string, std::vector<int64_t>> shapes;
  ImportCaps caps;
};

/// The mapped files that constants of an imported module point into. Has to outlive the MLIRContext of the module:
/// resources of the context refer to it.
class ImportedFiles {
public:
  /// Maps the file; null and a reason on failure. A file is mapped once.
  const llvm::MemoryBuffer *map(llvm::StringRef path, std::string &reason);
  /// All mapped files, for depfiles.
  std::vector<std::string> paths() const;

private:
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> buffers;
};

/// Imports a model file. Null when there is any problem. Loads the dialects it needs.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxFile(mlir::MLIRContext &ctx, llvm::StringRef path,
                                                 const ImportOptions &options, ImportedFiles &files,
                                                 Problems &problems);

/// Imports a model from memory that outlives the context. `folder` is where external data lies, "" for none.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBuffer(mlir::MLIRContext &ctx, llvm::StringRef bytes, llvm::StringRef name,
                                                   llvm::StringRef folder, const ImportOptions &options,
                                                   ImportedFiles &files, Problems &problems);

} // namespace optc
#endif
