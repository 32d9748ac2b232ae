//===- IrFile.h - modules as text, with their constants beside them -------===//
#ifndef OPTC_COMPILER_IRFILE_H
#define OPTC_COMPILER_IRFILE_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "optc/codegen/object/OutputFile.h"
#include "optc/compiler/import/Import.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace optc {

/// A file of constants that several modules share. Equal bytes are stored once.
class WeightStore {
public:
  /// Nothing is written before the first constant.
  explicit WeightStore(std::string path) : path(std::move(path)) {}
  /// Byte offset of a constant.
  llvm::Expected<uint64_t> add(llvm::ArrayRef<char> bytes);
  llvm::Error commit();
  llvm::StringRef file() const { return path; }

private:
  std::string path;
  std::optional<OutputFile> output;
  llvm::StringMap<uint64_t> byHash;
  llvm::DenseMap<std::pair<const char *, uint64_t>, uint64_t> byAddress;
};

/// The text of a module in which resources are keys; the module's attributes `optc.weights_file` and `optc.weights` say
/// where in `store` their bytes are. Without a store the bytes are left out.
llvm::Expected<std::string> printModule(mlir::ModuleOp module, WeightStore *store);

/// Reads what printModule wrote (or any module); constants stay mapped. Errors of the parser go to the diagnostic
/// handler.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(mlir::MLIRContext &context, llvm::StringRef path, ImportedFiles &files,
                                              Problems &problems);

} // namespace optc
#endif
