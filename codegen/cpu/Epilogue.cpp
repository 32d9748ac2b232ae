//===- Epilogue.cpp - consumers computed on accumulators ------------------===//
#include "optc/codegen/cpu/Epilogue.h"
#include "optc/codegen/cpu/VectorBody.h"

using namespace mlir;
using namespace optc;
using namespace optc::cpu;
using kernel::NestOperand;

LogicalResult EpilogueEmitter::collect(const kernel::LoopNest &loops, ArrayRef<unsigned> along, bool indices) {
  nest = &loops;
  columns.assign(along.begin(), along.end());
  Value result = loops.op.getResult(0);
  for (linalg::LinalgOp op : body.ops()) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || generic == loops.op)
      continue; // the fill that the root starts from
    std::string why;
    FailureOr<kernel::Epilogue> match = kernel::matchEpilogue(loops, columns, generic, result, indices, &why);
    if (failed(match))
      return generic.emitError("the ") << body.strategy.getFamily().getValue() << " family cannot emit kernel '"
                                       << body.func.getName() << "': " << why;
    epilogues.push_back(std::move(*match));
    result = generic.getResult(0);
  }
  return success();
}

void EpilogueEmitter::forOperands(llvm::function_ref<void(const NestOperand &)> visit) const {
  for (const kernel::Epilogue &epilogue : epilogues)
    for (const NestOperand &operand : epilogue.operands)
      visit(operand);
}

Value EpilogueEmitter::load(OpOperand &operand, const NestOperand &walk, const Place &place) {
  Value *kept = place.kept(walk);
  if (kept && *kept)
    return *kept;
  Value buffer = body.flat(operand.get()), offset = place.offset(walk), loaded;
  if (llvm::none_of(columns, [&](unsigned loop) { return walk.moves(loop); })) {
    loaded = memref::LoadOp::create(b, buffer, offset);
  } else {
    auto type = VectorType::get({place.lanes}, cast<MemRefType>(buffer.getType()).getElementType());
    loaded = loadLanes(b, type, buffer, offset, place.mask);
  }
  if (kept)
    *kept = loaded;
  return loaded;
}

void EpilogueEmitter::store(Value value, const Place &place) {
  auto storeTo = [&](Value tensor, const NestOperand &walk) {
    if (Value buffer = body.destination(tensor))
      storeLanes(b, value, buffer, place.offset(walk), place.mask);
  };
  Value result = nest->op->getResult(0);
  storeTo(result, nest->result());
  for (kernel::Epilogue &epilogue : epilogues) {
    SmallVector<Value> args;
    for (auto [operand, walk] : llvm::zip(epilogue.op->getOpOperands(), epilogue.operands)) {
      bool isRead = epilogue.op.isDpsInput(&operand) && epilogue.op.payloadUsesValueFromOperand(&operand);
      args.push_back(isRead && operand.get() != result ? load(operand, walk, place) : value);
    }
    value = cloneOnVectors(b, *epilogue.op.getBody(), args, place.lanes,
                           [&](unsigned loop) { return place.position(epilogue.loopOf[loop]); })[0];
    result = epilogue.op->getResult(0);
    storeTo(result, epilogue.operands.back());
  }
}
