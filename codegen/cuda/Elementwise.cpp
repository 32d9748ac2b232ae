//===- Elementwise.cpp - elementwise kernels ------------------------------===//
//
// A thread computes a vector of consecutive elements of the result. Operands that lie as the result does are read in
// one access, those that do not move along it once, all others element by element.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/codegen/common/Bodies.h"
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

  void runSquares(unsigned crossed);

private:
  void emitVector(Value first, int64_t width);
  void emitSquare(unsigned crossed, ArrayRef<cuda::DeviceBody::TileRange> ranges);
  Value offsetOf(const NestOperand &operand, ArrayRef<Value> at) {
    Value offset = index.c(0);
    for (auto [group, position] : llvm::enumerate(at))
      if (const kernel::SizeExpr &stride = flat.stride(operand, group); !stride.is(0))
        offset = index.add(offset, index.mul(position, body.size(stride)));
    return offset;
  }

  cuda::DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  cuda::ElementEmitter elements;
  const FlatNest &flat;
  int64_t lanes;
  SmallVector<Value> groupSizes, loopSizes;
  Value destination;
  SmallVector<Value> squares; ///< in shared memory, by operand; null for those that are not crossed
};
} // namespace

/// Squares have a column more than they need: neighbours in a column then lie in different banks.
static constexpr int64_t kSquare = kernel::CudaElementwiseBlocks::kSquare, kPitch = kSquare + 1;

/// The elements [first, first + width) of the result.
void ElementwiseEmitter::emitVector(Value first, int64_t width) {
  linalg::GenericOp op = flat.nest.op;
  SmallVector<Value> at = body.unflatten(first, groupSizes);
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
    Value offset = offsetOf(operand, at);
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
  body.storeVector(results, destination, offsetOf(flat.nest.result(), at));
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

void ElementwiseEmitter::emitSquare(unsigned crossed, ArrayRef<cuda::DeviceBody::TileRange> ranges) {
  linalg::GenericOp op = flat.nest.op;
  unsigned last = flat.groups.size() - 1;
  SmallVector<Value> begin = llvm::map_to_vector(ranges, [](const auto &range) { return range.begin; });
  Value x = index.rem(body.thread, index.c(kSquare)), y = index.div(body.thread, index.c(kSquare));
  int64_t rowsAtOnce = body.threads / kSquare;
  // Calls `fn` for a thread's elements with their positions: `across` counts along the crossed group.
  auto forElements = [&](bool alongCrossed, llvm::function_ref<void(ArrayRef<Value>, Value, Value)> fn) {
    for (int64_t i = 0; i < kSquare; i += rowsAtOnce) {
      Value row = index.add(y, index.c(i));
      Value across = alongCrossed ? x : row, along = alongCrossed ? row : x;
      SmallVector<Value> at(begin);
      at[crossed] = index.add(at[crossed], across);
      at[last] = index.add(at[last], along);
      auto inside = [&](unsigned group) {
        return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at[group], groupSizes[group]).getResult();
      };
      body.when(arith::AndIOp::create(b, inside(crossed), inside(last)), [&] { fn(at, across, along); });
    }
  };
  auto placeOf = [&](Value across, Value along) { return index.add(index.mul(along, index.c(kPitch)), across); };
  forElements(/*alongCrossed=*/true, [&](ArrayRef<Value> at, Value across, Value along) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (Value square = squares[input->getOperandNumber()]) {
        Value from = offsetOf(flat.nest.operands[input->getOperandNumber()], at);
        memref::StoreOp::create(b, memref::LoadOp::create(b, body.flat(input->get()), from), square,
                                placeOf(across, along));
      }
  });
  body.barrier();
  forElements(/*alongCrossed=*/false, [&](ArrayRef<Value> at, Value across, Value along) {
    SmallVector<Value> args;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value buffer = body.flat(input->get());
      if (!op.payloadUsesValueFromOperand(input))
        args.push_back(Value());
      else if (Value square = squares[input->getOperandNumber()])
        args.push_back(memref::LoadOp::create(b, square, placeOf(across, along)));
      else if (buffer)
        args.push_back(memref::LoadOp::create(b, buffer, offsetOf(flat.nest.operands[input->getOperandNumber()], at)));
      else // without contents
        args.push_back(elements.at(input->get(), {{}, along}));
    }
    args.push_back(Value()); // the destination, which no body reads
    Value result = elements.cloneBody(op, args, {})[0];
    memref::StoreOp::create(b, result, destination, offsetOf(flat.nest.result(), at));
  });
  body.barrier(); // before the next square
}

void ElementwiseEmitter::runSquares(unsigned crossed) {
  linalg::GenericOp op = flat.nest.op;
  elements.replaceScalarReads();
  destination = body.destination(op.getResult(0));
  for (ArrayRef<unsigned> group : flat.groups)
    groupSizes.push_back(body.size(flat.nest.sizeOf(group)));
  for (const NestOperand &operand : flat.nest.operands) {
    Type elem = cast<RankedTensorType>(operand.tensor.getType()).getElementType();
    bool goesThrough = flat.isCrossed(operand, crossed) && body.flat(operand.tensor) && elem.isIntOrFloat();
    squares.push_back(goesThrough ? body.shared(elem, kSquare * kPitch) : Value());
  }
  body.forTiles([&](ArrayRef<cuda::DeviceBody::TileRange> ranges) { emitSquare(crossed, ranges); });
  body.finish();
}

LogicalResult cuda::emitElementwise(DeviceBody &body, const EmitOptions &options) {
  FailureOr<kernel::CudaElementwiseBlocks> blocks = body.blocks<kernel::CudaElementwiseBlocks>();
  if (failed(blocks))
    return failure();
  std::string why;
  FailureOr<FlatNest> flat = kernel::matchFlatNest(body.func.getBody().front(), &why);
  if (failed(flat))
    return body.refuse(why);
  if (options.contract)
    codegen::allowContraction({flat->nest.op});
  if (blocks->lanes == 0) {
    std::optional<unsigned> crossed = flat->crossedGroup();
    if (!crossed || flat->asksWhere || kernel::tileGroups(body.strategy).size() != flat->groups.size() ||
        kSquare % (blocks->threads / kSquare))
      return body.refuse("squares want an operand that is transposed, and a group of tiles per group of its loops");
    ElementwiseEmitter(body, *flat, 1).runSquares(*crossed);
    return success();
  }
  if (flat->lanes(blocks->lanes) != blocks->lanes)
    return body.refuse("vectors of " + Twine(blocks->lanes) + " elements would be cut by its rows");
  ElementwiseEmitter(body, *flat, blocks->lanes).run();
  return success();
}
