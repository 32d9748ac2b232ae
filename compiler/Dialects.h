//===- Dialects.h - the dialects and passes of optc, in one place ---------===//
#ifndef OPTC_COMPILER_DIALECTS_H
#define OPTC_COMPILER_DIALECTS_H
#include "mlir/IR/DialectRegistry.h"

namespace optc {

/// Every dialect that a module may contain between the importer and LLVM, with the interfaces the passes need.
void registerDialects(mlir::DialectRegistry &registry);
/// Makes optc's passes and the general ones known by name.
void registerPasses();

} // namespace optc
#endif
