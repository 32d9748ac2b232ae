//===- WeightFile.h - constants as an ELF object, streamed ----------------===//
#ifndef OPTC_CODEGEN_OBJECT_WEIGHTFILE_H
#define OPTC_CODEGEN_OBJECT_WEIGHTFILE_H
#include "optc/codegen/Target.h"
#include "optc/codegen/object/Model.h"
#include "optc/codegen/object/OutputFile.h"

namespace optc {

/// Writes a relocatable ELF64 object with the one section `.lrodata.optc`, page-aligned, and the hidden symbol `symbol`
/// at its start. `blobs` are sorted by offset. Gaps are holes of the file; bytes go from their (mapped) place to the
/// file in chunks, so that weights of any size cost no memory.
llvm::Error writeWeightObject(OutputFile &file, const Target &target, llvm::StringRef symbol,
                              llvm::ArrayRef<WeightBlob> blobs);

} // namespace optc
#endif
