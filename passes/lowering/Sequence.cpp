//===- Sequence.cpp - sequences and optionals -----------------------------===//
//
// They live in the runtime: every operator is one call. What comes out as a tensor has the sizes that the runtime says;
// those that inference takes for constants are checked.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

/// Calls the runtime for `op`: operands and results as in ONNX.
static LogicalResult lowerCall(Operation *op, Lowering &l, kernel::LibraryFn fn, ArrayRef<int64_t> params) {
  SmallVector<Value> operands, results;
  for (unsigned i = 0, e = onnx::numOperandPositions(op); i < e; ++i)
    operands.push_back(onnx::operand(op, i));
  for (Value result : op->getResults())
    results.push_back(result);
  return callAndSet(l, fn, operands, params, results);
}

static int64_t intAttr(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

static LogicalResult lowerSequenceEmpty(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_empty, {intAttr(op, "dtype", 1)});
}
static LogicalResult lowerSequenceConstruct(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_construct, {});
}
static LogicalResult lowerSequenceInsert(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_insert, {});
}
static LogicalResult lowerSequenceErase(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_erase, {});
}
static LogicalResult lowerSequenceLength(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_length, {});
}
static LogicalResult lowerSequenceAt(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::sequence_at, {expectedRank(l, op->getResult(0))});
}
static LogicalResult lowerConcatFromSequence(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::concat_from_sequence,
                   {intAttr(op, "axis", 0), intAttr(op, "new_axis", 0), expectedRank(l, op->getResult(0))});
}
static LogicalResult lowerSplitToSequence(Operation *op, Lowering &l) {
  return lowerCall(op, l, kernel::LibraryFn::split_to_sequence, {intAttr(op, "axis", 0), intAttr(op, "keepdims", 1)});
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult lowerOptional(Operation *o, Lowering &l) {
  auto op = cast<onnx::OptionalOp>(o);
  return callAndSet(l, kernel::LibraryFn::value_copy, {op.getInput()}, {0, -1, /*must exist=*/0}, {op.getOutput()});
}

static LogicalResult lowerOptionalGetElement(Operation *o, Lowering &l) {
  auto op = cast<onnx::OptionalGetElementOp>(o);
  if (!isa<onnx::OptType>(op.getInput().getType())) {
    l.set(op.getOutput(), l.get(op.getInput()));
    return success();
  }
  Type elem = elementType(op.getOutput());
  return callAndSet(l, kernel::LibraryFn::value_copy, {op.getInput()},
                    {elem ? onnx::dataTypeOf(elem) : 0, expectedRank(l, op.getOutput()), /*must exist=*/1},
                    {op.getOutput()});
}

static LogicalResult lowerOptionalHasElement(Operation *o, Lowering &l) {
  auto op = cast<onnx::OptionalHasElementOp>(o);
  Value input = op.getInput();
  if (input && isa<onnx::OptType>(input.getType()))
    return callAndSet(l, kernel::LibraryFn::value_exists, {input}, {}, {op.getOutput()});
  auto type = RankedTensorType::get({}, l.b.getI8Type());
  auto value = DenseElementsAttr::get(type, l.b.getI8IntegerAttr(input ? 1 : 0));
  l.set(op.getOutput(), arith::ConstantOp::create(l.b, l.loc, value));
  return success();
}

void optc::registerSequenceLowerings(LoweringTable &table) {
  static const std::pair<StringRef, LowerFn> lowerings[] = {
      {"onnx.SequenceEmpty", lowerSequenceEmpty},
      {"onnx.SequenceConstruct", lowerSequenceConstruct},
      {"onnx.SequenceInsert", lowerSequenceInsert},
      {"onnx.SequenceErase", lowerSequenceErase},
      {"onnx.SequenceAt", lowerSequenceAt},
      {"onnx.SequenceLength", lowerSequenceLength},
      {"onnx.ConcatFromSequence", lowerConcatFromSequence},
      {"onnx.SplitToSequence", lowerSplitToSequence},
      {"onnx.Optional", lowerOptional},
      {"onnx.OptionalGetElement", lowerOptionalGetElement},
      {"onnx.OptionalHasElement", lowerOptionalHasElement},
  };
  for (auto [name, fn] : lowerings)
    table[name] = fn;
}
