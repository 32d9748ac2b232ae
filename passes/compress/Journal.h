//===- Journal.h - what pruning did to which layer --------------*- C++ -*-===//
#ifndef OPTC_PASSES_COMPRESS_JOURNAL_H
#define OPTC_PASSES_COMPRESS_JOURNAL_H
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Twine.h"

namespace optc {

/// Entries per layer, which the driver moves from the module into the report: every layer has one, those that stayed
/// with the reason.
class PruneJournal {
public:
  /// A layer that had `before` of `what` ("channels", "weights") and has `after`.
  void pruned(mlir::Operation *layer, llvm::StringRef method, llvm::StringRef what, int64_t before, int64_t after);
  /// A layer that stays as it is. `reason` is a clause.
  void skip(mlir::Operation *layer, llvm::StringRef method, const llvm::Twine &reason);
  /// "channels:0.3": how entries call a method with a share.
  static std::string methodName(llvm::StringRef kind, double share);
  /// Appends the entries to those of the module.
  void store(mlir::ModuleOp module);

  /// The attribute of the module: an array of dictionaries.
  static constexpr llvm::StringLiteral kAttr = "optc.pruning";

private:
  void add(mlir::Operation *layer, llvm::ArrayRef<mlir::NamedAttribute> fields);
  llvm::SmallVector<mlir::Attribute> entries;
};

} // namespace optc
#endif
