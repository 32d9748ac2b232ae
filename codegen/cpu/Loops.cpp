//===- Loops.cpp - the family of plain loops ------------------------------===//
#include "optc/codegen/common/Loops.h"
#include "optc/codegen/cpu/Emitters.h"

using namespace mlir;
using namespace optc;

LogicalResult cpu::emitLoops(func::FuncOp func, const EmitOptions &options) {
  auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
  SmallVector<kernel::TileGroup> groups = strategy ? kernel::tileGroups(strategy) : SmallVector<kernel::TileGroup>();
  return codegen::lowerToLoops(func, options.optLevel, groups.empty() ? kernel::TileGroup{} : groups.front());
}
