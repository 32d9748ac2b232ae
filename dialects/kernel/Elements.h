//===- Elements.h - results that are computed element by element -*- C++ -*-===//
#ifndef OPTC_DIALECTS_KERNEL_ELEMENTS_H
#define OPTC_DIALECTS_KERNEL_ELEMENTS_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace optc::kernel {

/// Whether every element of every tensor that the ops of a block compute follows from its position alone, so that any
/// number of threads can work on a result without waiting for each other: structured ops without side effects, whose
/// results are indexed by their parallel loops. `why` gets the reason of a refusal.
bool computesByElement(mlir::Block &block, std::string *why = nullptr);

} // namespace optc::kernel
#endif
