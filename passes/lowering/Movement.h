//===- Movement.h - parts of registerMovementLowerings --------------------===//
#ifndef OPTC_PASSES_LOWERING_MOVEMENT_H
#define OPTC_PASSES_LOWERING_MOVEMENT_H
#include "optc/passes/lowering/Lowering.h"

namespace optc {
void registerViewLowerings(LoweringTable &table);
void registerPadLowerings(LoweringTable &table);
} // namespace optc
#endif
