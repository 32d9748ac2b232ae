//===- Epilogue.cpp - consumers computed on accumulators ------------------===//
#include "optc/codegen/cpu/Epilogue.h"
#include "optc/codegen/cpu/Lanes.h"

using namespace mlir;
using namespace optc;
using namespace optc::cpu;
using kernel::NestOperand;

Value EpilogueEmitter::load(Value buffer, const NestOperand &walk, const Place &place) {
  Value *kept = place.kept(walk);
  if (kept && *kept)
    return *kept;
  Value offset = place.offset(walk), loaded;
  if (movesAlongColumns(walk)) {
    auto type = VectorType::get({place.lanes}, cast<MemRefType>(buffer.getType()).getElementType());
    loaded = loadLanes(body.b, type, buffer, offset, place.mask);
  } else {
    loaded = memref::LoadOp::create(body.b, buffer, offset);
  }
  if (kept)
    *kept = loaded;
  return loaded;
}

void EpilogueEmitter::store(Value sum, const Place &place) {
  emit(
      {sum}, place.lanes, [&](Value buffer, const NestOperand &walk) { return Values{load(buffer, walk, place)}; },
      [&](const Values &values, Value buffer, const NestOperand &walk) {
        storeLanes(body.b, values[0], buffer, place.offset(walk), place.mask);
      },
      place.position);
}
