//===- RuntimeSymbols.h - what code that runs inside the compiler may call -===//
#ifndef OPTC_COMPILER_RUNTIMESYMBOLS_H
#define OPTC_COMPILER_RUNTIMESYMBOLS_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace optc {

struct RuntimeSymbol {
  llvm::StringLiteral name;
  void *address;
};

/// The services of the runtime, moves of memory, and the conversions that Builtins.cpp of the runtime defines. There is
/// no libm among them, and no irregular operator.
llvm::ArrayRef<RuntimeSymbol> runtimeSymbols();

} // namespace optc
#endif
