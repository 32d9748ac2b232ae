//===- Linker.h - the linker, in process ----------------------------------===//
#ifndef OPTC_CODEGEN_OBJECT_LINKER_H
#define OPTC_CODEGEN_OBJECT_LINKER_H
#include "optc/codegen/Target.h"
#include "llvm/ADT/ArrayRef.h"

namespace optc {

/// Links objects and archives to a shared object that exports NAME_* only and needs libc and libm only.
llvm::Error linkSharedObject(const Target &target, llvm::StringRef name, llvm::ArrayRef<std::string> files,
                             llvm::StringRef output);
/// As above, with these symbols exported instead.
llvm::Error linkSharedLibrary(const Target &target, llvm::StringRef name, llvm::ArrayRef<std::string> exports,
                              llvm::ArrayRef<std::string> files, llvm::StringRef output);
/// Merges objects into one relocatable object.
llvm::Error linkRelocatable(const Target &target, llvm::ArrayRef<std::string> files, llvm::StringRef output);

} // namespace optc
#endif
