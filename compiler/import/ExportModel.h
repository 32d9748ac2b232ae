//===- ExportModel.h - modules as ONNX files --------------------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_EXPORTMODEL_H
#define OPTC_COMPILER_IMPORT_EXPORTMODEL_H
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace optc {

struct ExportOptions {
  /// Of optc, for the model's producer.
  std::string version;
  /// Larger models keep their weights in a second file, PATH.data: protobuf reads 2 GiB at most.
  uint64_t mostModelBytes = INT32_MAX;
  /// A limit on both files together.
  std::optional<uint64_t> maxBytes;
};

struct ExportStats {
  uint64_t fileBytes = 0;   ///< of all files
  uint64_t weightBytes = 0; ///< of constants that were streamed
};

/// The name of the second file of a model.
std::string externalDataPath(llvm::StringRef path);

/// Writes a module of the onnx dialect as a model file, each domain at the oldest opset in which all of its nodes mean
/// the same. Weights go from where they are to the file, without a copy of the whole. The module is
/// left with constants hoisted out of subgraphs, and Identity ops where ONNX cannot name a value twice.
llvm::Error writeOnnxFile(mlir::ModuleOp module, llvm::StringRef path, const ExportOptions &options,
                          ExportStats &stats);

} // namespace optc
#endif
