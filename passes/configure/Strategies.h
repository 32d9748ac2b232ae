//===- Strategies.h - the families' conditions and sizes --------*- C++ -*-===//
#ifndef OPTC_PASSES_CONFIGURE_STRATEGIES_H
#define OPTC_PASSES_CONFIGURE_STRATEGIES_H
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"
#include "optc/passes/Passes.h"

namespace optc::configure {

/// What the sizes of a strategy follow from.
struct Machine {
  int64_t vectorBits, vectorRegisters, l2Bytes;
};

/// A strategy of one family, or null when the dispatch does not meet its conditions; the reason is added to `declined`.
using ChooseFn = kernel::StrategyAttr (*)(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);

kernel::StrategyAttr chooseGemm(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseRows(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseColumns(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);
kernel::StrategyAttr chooseLoops(kernel::DispatchOp dispatch, const Machine &machine, std::string &declined);

kernel::StrategyAttr makeStrategy(mlir::MLIRContext *context, llvm::StringRef family, llvm::ArrayRef<int64_t> groups,
                                  llvm::ArrayRef<int64_t> tiles, llvm::ArrayRef<int64_t> blocks,
                                  llvm::StringRef reason);

/// Bits of the widest type that the ops compute with, which decides how many elements a vector holds.
int64_t widestBits(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

} // namespace optc::configure
#endif
