//===- Elementwise.cpp - elementwise kernels ------------------------------===//
//
// A thread computes a vector of consecutive elements of the result. Operands that lie as the result does are read in
// one access, those that do not move along it once, all others element by element.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/codegen/cpu/VectorBody.h"
#include "optc/codegen/cuda/Elements.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/dialects/kernel/Elements.h"

using namespace mlir;
using namespace optc;
using kernel::FlatNest;
using kernel::NestOperand;

namespace {
class ElementwiseEmitter {
public:
  ElementwiseEmitter(cuda::DeviceBody &body, const FlatNest &flat, int64_t lanes)
      : body(body), b(body.b), index(body.index), elements(body), flat(flat), lanes(lanes) {}
  void run();

private:
  void emitVector(Value first, int64_t width);

  cuda::DeviceBody &body;
  ImplicitLocOpBuilder &b;
  cpu::IndexEmitter index;
  cuda::ElementEmitter elements;
  const FlatNest &flat;
  int64_t lanes;
  SmallVector<Value> groupSizes, loopSizes;
  Value destination;
};
} // namespace

/// The elements [first, first + width) of the result.
void ElementwiseEmitter::emitVector(Value first, int64_t width) {
  linalg::GenericOp op = flat.nest.op;
  SmallVector<Value> at = body.unflatten(first, groupSizes);
  auto offsetOf = [&](const NestOperand &operand) {
    Value offset = index.c(0);
    for (auto [group, position] : llvm::enumerate(at))
      if (const kernel::SizeExpr &stride = flat.stride(operand, group); !stride.is(0))
        offset = index.add(offset, index.mul(position, body.size(stride)));
    return offset;
  };
  SmallVector<SmallVector<Value>> args; // by operand and lane
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<Value> &values = args.emplace_back();
    const NestOperand &operand = flat.nest.operands[input->getOperandNumber()];
    Value buffer = body.flat(input->get());
    if (!op.payloadUsesValueFromOperand(input)) {
      values.assign(width, Value());
      continue;
    }
    if (!buffer) { // without contents
      values.assign(width, elements.at(input->get(), {{}, first}));
      continue;
    }
    Value offset = offsetOf(operand);
    if (flat.stays(operand)) {
      values.assign(width, memref::LoadOp::create(b, buffer, offset));
    } else if (flat.isVector(operand, width)) {
      values = body.loadVector(buffer, offset, width);
    } else {
      Value step = body.size(flat.stride(operand, flat.groups.size() - 1));
      for (int64_t lane = 0; lane < width; ++lane)
        values.push_back(memref::LoadOp::create(b, buffer, index.add(offset, index.mul(step, index.c(lane)))));
    }
  }
  SmallVector<Value> ivs(op.getNumLoops());
  if (flat.asksWhere)
    ivs = body.unflatten(first, loopSizes);
  Value &along = ivs[flat.groups.back().back()];
  Value start = along;
  SmallVector<Value> results;
  for (int64_t lane = 0; lane < width; ++lane) {
    SmallVector<Value> scalars;
    for (ArrayRef<Value> values : args)
      scalars.push_back(values[lane]);
    scalars.push_back(Value()); // the destination, which no body reads
    if (flat.asksWhere)
      along = index.add(start, index.c(lane));
    results.push_back(elements.cloneBody(op, scalars, ivs)[0]);
  }
  body.storeVector(results, destination, first);
}

void ElementwiseEmitter::run() {
  linalg::GenericOp op = flat.nest.op;
  elements.replaceScalarReads();
  destination = body.destination(op.getResult(0));
  for (ArrayRef<unsigned> group : flat.groups)
    groupSizes.push_back(body.size(flat.nest.sizeOf(group)));
  for (const kernel::SizeExpr &size : flat.nest.sizes)
    loopSizes.push_back(body.size(size));
  Value count = body.product(groupSizes);
  std::optional<int64_t> known = getConstantIntValue(count);
  body.forElements(count, lanes, [&](Value first) {
    if (lanes == 1 || (known && *known % lanes == 0))
      return emitVector(first, lanes);
    Value end = index.add(first, index.c(lanes));
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end, count);
    auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitVector(first, lanes);
    b.setInsertionPointToStart(branch.elseBlock());
    auto rest = scf::ForOp::create(b, first, count, index.c(1));
    b.setInsertionPointToStart(rest.getBody());
    emitVector(rest.getInductionVar(), 1);
  });
  body.finish();
}

LogicalResult cuda::emitElementwise(DeviceBody &body, const EmitOptions &options) {
  auto refuse = [&](StringRef why) {
    return body.func.emitError("the cuda-elementwise family cannot emit kernel '")
           << body.func.getName() << "': " << why;
  };
  FailureOr<kernel::CudaElementwiseBlocks> blocks = kernel::CudaElementwiseBlocks::get(body.strategy);
  if (failed(blocks))
    return refuse("its strategy has blocks of another family");
  std::string why;
  FailureOr<FlatNest> flat = kernel::matchFlatNest(body.func.getBody().front(), &why);
  if (failed(flat))
    return refuse(why);
  if (flat->lanes(blocks->lanes) != blocks->lanes)
    return refuse("vectors of " + std::to_string(blocks->lanes) + " elements would be cut by its rows");
  if (options.contract)
    cpu::allowContraction({flat->nest.op});
  ElementwiseEmitter(body, *flat, blocks->lanes).run();
  return success();
}
