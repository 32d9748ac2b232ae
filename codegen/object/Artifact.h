//===- Artifact.h - from code and constants to files ----------------------===//
#ifndef OPTC_CODEGEN_OBJECT_ARTIFACT_H
#define OPTC_CODEGEN_OBJECT_ARTIFACT_H
#include "mlir/IR/BuiltinOps.h"
#include "optc/codegen/Target.h"
#include "optc/codegen/cuda/DeviceModule.h"
#include "optc/codegen/object/Model.h"
#include <optional>

namespace optc {

/// What --emit= makes from the final module.
enum class ArtifactKind { SharedObject, Object, StaticLibrary, Executable, LlvmIr };

struct ArtifactOptions {
  ArtifactKind kind = ArtifactKind::SharedObject;
  std::string output; ///< "-" for text on standard output
  int optLevel = 2;
  std::optional<uint64_t> maxBytes;     ///< of the file
  const DeviceModule *device = nullptr; ///< code of the device; null: none
  std::vector<std::string> libraries;   ///< objects and archives with code that the model calls: kernels of plugins
  std::string headerPath, header;       ///< a text that replaces this file together with the artifact; no path: none
};

/// Milliseconds and sizes for the report.
struct ArtifactStats {
  double translateMs = 0, codegenMs = 0, weightsMs = 0, linkMs = 0;
  uint64_t codeBytes = 0, weightBytes = 0, fileBytes = 0;
};

/// Emits a module in the LLVM dialect with its constants. The bytes depend on nothing but the arguments (not on the
/// place or name of the output). No file is left behind on an error.
llvm::Error emitArtifact(mlir::ModuleOp module, const Target &target, const ModelSignature &signature,
                         llvm::ArrayRef<WeightBlob> weights, const ArtifactOptions &options, ArtifactStats &stats);

/// Whether an object or an archive holds code for the target's machine. Fails when it is neither.
llvm::Expected<bool> isForTarget(llvm::StringRef file, const Target &target);

/// The C99 header of a model: typed entry, shapes, element types and sizes as constants.
std::string generateHeader(const ModelSignature &signature, ArtifactKind kind);

/// A file of the installation beside liboptc.so (lib/ of a build tree) or in lib/optc/. Empty when there is none.
std::string findInstalledFile(llvm::StringRef name);

} // namespace optc
#endif
