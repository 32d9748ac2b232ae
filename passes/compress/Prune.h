//===- Prune.h - the passes that prune --------------------------*- C++ -*-===//
#ifndef OPTC_PASSES_COMPRESS_PRUNE_H
#define OPTC_PASSES_COMPRESS_PRUNE_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace optc {
#define GEN_PASS_DECL
#include "optc/passes/compress/Prune.h.inc"
#define GEN_PASS_REGISTRATION
#include "optc/passes/compress/Prune.h.inc"
} // namespace optc

#endif
