//===- Epilogues.cpp - consumers computed on accumulators -----------------===//
#include "optc/codegen/common/Epilogues.h"
#include "optc/codegen/common/Bodies.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using kernel::NestOperand;

LogicalResult EpilogueChain::collect(const kernel::LoopNest &loops, ArrayRef<unsigned> along, bool indices) {
  nest = &loops;
  columns.assign(along.begin(), along.end());
  Value result = loops.op.getResult(0);
  for (linalg::GenericOp generic : body.generics()) {
    if (generic == loops.op)
      continue;
    std::string why;
    FailureOr<kernel::Epilogue> match = kernel::matchEpilogue(loops, columns, generic, result, indices, &why);
    if (failed(match))
      return body.refuse(why, generic);
    chain.push_back(std::move(*match));
    result = generic.getResult(0);
  }
  return success();
}

void EpilogueChain::forOperands(llvm::function_ref<void(const NestOperand &)> visit) const {
  for (const kernel::Epilogue &epilogue : chain)
    for (const NestOperand &operand : epilogue.operands)
      visit(operand);
}

void EpilogueChain::emit(Values values, int64_t lanes, Load load, Store store,
                         llvm::function_ref<Value(unsigned)> position) {
  auto storeTo = [&](Value tensor, const NestOperand &walk) {
    if (Value buffer = body.destination(tensor))
      store(values, buffer, walk);
  };
  Value result = nest->op->getResult(0);
  storeTo(result, nest->result());
  for (kernel::Epilogue &epilogue : chain) {
    SmallVector<Values> args;
    for (auto [operand, walk] : llvm::zip(epilogue.op->getOpOperands(), epilogue.operands)) {
      bool isRead = epilogue.op.isDpsInput(&operand) && epilogue.op.payloadUsesValueFromOperand(&operand);
      args.push_back(isRead && operand.get() != result ? load(body.flat(operand.get()), walk) : values);
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      Values own = llvm::map_to_vector(args, [i = i](const Values &arg) { return arg[i]; });
      value = cloneBody(body.b, *epilogue.op.getBody(), own, lanes,
                        [&](unsigned loop) { return position(epilogue.loopOf[loop]); })[0];
    }
    result = epilogue.op->getResult(0);
    storeTo(result, epilogue.operands.back());
  }
}
