//===- Text.h - words for messages about models -----------------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_TEXT_H
#define OPTC_COMPILER_IMPORT_TEXT_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace optc::import {

/// A name in single quotes, with control characters escaped and long ones cut: names come from files.
std::string quoted(llvm::StringRef name);

/// " (did you mean 'x'?)" for the candidate that is nearest to `name`, or "" when none is near.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// "a, b and c"
std::string listed(llvm::ArrayRef<std::string> items);

} // namespace optc::import
#endif
