//===- Control.cpp - If, Loop and Scan ------------------------------------===//
//
// They become scf.if, scf.for and scf.while of the host program, with tensors as results:
//   Loop without a condition, Scan -> scf.for
//   Loop with a condition          -> scf.while that carries the iteration and the condition
// What a body yields per iteration goes into a list of the runtime, which is stacked after the loop.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/RankDemand.h"
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

namespace {
/// One trip through a loop body: the iteration and the carried values in, the next carried values out; `condition` is
/// set to whether to go on when the loop asks for it.
using BodyFn = function_ref<FailureOr<SmallVector<Value>>(Value iteration, Value conditionIn, ValueRange carried,
                                                          Value *condition)>;
} // namespace

/// A loop of `trips` iterations (null: no limit) while `condition` (null: always) holds. Returns the carried values.
static FailureOr<SmallVector<Value>> emitLoop(Lowering &l, Value trips, Value condition, ValueRange inits,
                                              BodyFn body) {
  Location loc = l.loc;
  OpBuilder &b = l.b;
  OpBuilder::InsertionGuard guard(b);
  Value zero = l.constIndex(0), one = l.constIndex(1);
  if (trips && !condition) {
    auto loop = scf::ForOp::create(b, loc, zero, trips, one, inits);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    Lowering::Scope scope(l);
    b.setInsertionPointToEnd(loop.getBody());
    FailureOr<SmallVector<Value>> next = body(loop.getInductionVar(), Value(), loop.getRegionIterArgs(), nullptr);
    if (failed(next))
      return failure();
    scf::YieldOp::create(b, loc, *next);
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  Type index = b.getIndexType();
  SmallVector<Value> start{zero, condition ? condition : arith::ConstantIntOp::create(b, loc, 1, 1).getResult()};
  llvm::append_range(start, inits);
  SmallVector<Type> types{index, b.getI1Type()};
  llvm::append_range(types, inits.getTypes());
  auto loop = scf::WhileOp::create(b, loc, types, start);
  SmallVector<Location> locs(types.size(), loc);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value goOn = before->getArgument(1);
  if (trips) {
    Value left = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), trips);
    goOn = arith::AndIOp::create(b, loc, goOn, left);
  }
  scf::ConditionOp::create(b, loc, goOn, before->getArguments());

  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Lowering::Scope scope(l);
  Value holds;
  FailureOr<SmallVector<Value>> next =
      body(after->getArgument(0), after->getArgument(1), after->getArguments().drop_front(2), &holds);
  if (failed(next))
    return failure();
  SmallVector<Value> yielded{arith::AddIOp::create(b, loc, after->getArgument(0), one), holds};
  llvm::append_range(yielded, *next);
  scf::YieldOp::create(b, loc, yielded);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
}

/// Lowers a body; its yielded values.
static FailureOr<SmallVector<Value>> lowerBody(Lowering &l, Block &block) {
  Location loc = l.loc;
  FailureOr<SmallVector<Value>> out = l.lowerBlock(block);
  l.loc = loc;
  return out;
}

/// Hands a lowered value over as `onnxValue`, in the form that its shape asks for.
static LogicalResult setAs(Operation *op, Lowering &l, Value onnxValue, Value lowered) {
  Value converted = convertLowered(op, l, lowered, elementType(onnxValue), loweredType(l, onnxValue));
  if (!converted)
    return failure();
  l.set(onnxValue, converted);
  return success();
}

/// One-element tensor for a scalar that the body of a loop gets.
static Value scalarTensor(Lowering &l, Value onnxArg, Value scalar) {
  int64_t rank = isRanked(l, onnxArg) ? l.rank(onnxArg) : 0;
  auto type = RankedTensorType::get(SmallVector<int64_t>(rank, 1), scalar.getType());
  return tensor::FromElementsOp::create(l.b, l.loc, type, scalar);
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// What a branch yields as `type`, the lowered type of the result. Inference may have chosen a rank for the result that
/// the branch does not have (alignRanks in shapes/Control.cpp).
static Value yieldedAs(Operation *op, Lowering &l, Value yielded, Value result, Type type) {
  Value lowered = l.get(yielded);
  auto from = dyn_cast<RankedTensorType>(lowered.getType()), to = dyn_cast<RankedTensorType>(type);
  if (from && to && from.getRank() != to.getRank()) {
    if (from.getRank() < to.getRank() && onlyBroadcast(result, to.getRank(), l.shapes)) {
      SmallVector<Dim> dims(to.getRank() - from.getRank(), l.shapes.constant(1));
      llvm::append_range(dims, l.dims(yielded));
      lowered = l.view(lowered, l.elem(yielded), dims);
    } else {
      l.check(arith::ConstantIntOp::create(l.b, l.loc, 0, 1),
              "the branch gives a tensor of rank " + Twine(from.getRank()) + ", the nodes that use it need rank " +
                  Twine(to.getRank()));
      lowered = convertLowered(op, l, lowered, elementType(yielded), kernel::ValueType::get(l.b.getContext()));
    }
  }
  return convertLowered(op, l, lowered, elementType(result), type);
}

static LogicalResult lowerIf(Operation *o, Lowering &l) {
  auto op = cast<onnx::IfOp>(o);
  Region *branches[] = {&op.getThenBranch(), &op.getElseBranch()};
  if (auto known = l.constInts(op.getCond()); known && !known->empty()) {
    FailureOr<SmallVector<Value>> out = lowerBody(l, branches[(*known)[0] ? 0 : 1]->front());
    if (failed(out))
      return failure();
    for (auto [result, value] : llvm::zip(op.getResults(), *out))
      if (failed(setAs(op, l, result, value)))
        return failure();
    return success();
  }
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(loweredType(l, result));
  auto choice =
      scf::IfOp::create(l.b, l.loc, types, l.hostScalar(op.getCond()), /*addThenBlock=*/true, /*addElseBlock=*/true);
  Block *targets[] = {choice.thenBlock(), choice.elseBlock()};
  for (auto [branch, target] : llvm::zip(branches, targets)) {
    OpBuilder::InsertionGuard guard(l.b);
    Lowering::Scope scope(l);
    if (!target->empty())
      target->back().erase();
    l.b.setInsertionPointToEnd(target);
    if (failed(lowerBody(l, branch->front())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [value, result, type] :
         llvm::zip(branch->front().getTerminator()->getOperands(), op.getResults(), types)) {
      yielded.push_back(yieldedAs(op, l, value, result, type));
      if (!yielded.back())
        return failure();
    }
    scf::YieldOp::create(l.b, l.loc, yielded);
  }
  for (auto [result, value] : llvm::zip(op.getResults(), choice.getResults()))
    l.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// What a body yields per iteration
//===----------------------------------------------------------------------===//

/// An empty list for one scan output.
static Value newList(Lowering &l) {
  return callLibrary(l, kernel::LibraryFn::list_new, {}, {}, kernel::ValueType::get(l.b.getContext()), {Type()}, {})[0];
}

static Value append(Lowering &l, Value list, Value element, Type elem) {
  return callLibrary(l, kernel::LibraryFn::list_append, {list, element}, {Type(), elem}, list.getType(), {Type()},
                     {})[0];
}

/// The elements of a list on a new first axis. Without elements the sizes of the other axes are those known now, else
/// 0.
static Value stack(Lowering &l, Value list, Type elem, ArrayRef<Dim> dims) {
  SmallVector<int64_t> params;
  for (Dim d : dims.drop_front())
    params.push_back(knownSize(d).value_or(0));
  return callLibrary(l, kernel::LibraryFn::list_stack, list, {Type()}, l.tensorType(elem, dims), {elem}, params)[0];
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Whether a bool is the constant true.
static bool isTrue(Lowering &l, Value onnxValue) {
  auto known = l.constInts(onnxValue);
  return known && !known->empty() && (*known)[0];
}

static LogicalResult lowerLoop(Operation *o, Lowering &l) {
  auto op = cast<onnx::LoopOp>(o);
  Block &body = op.getBody().front();
  auto yield = cast<onnx::YieldOp>(body.getTerminator());
  size_t carried = op.getVInitial().size();
  if (body.getNumArguments() != carried + 2 || yield->getNumOperands() < carried + 1 ||
      op.getNumResults() + 1 != yield->getNumOperands())
    return unsupported(op, "the body takes " + Twine(body.getNumArguments()) + " and yields " +
                               Twine(yield->getNumOperands()) + " values, which does not fit the loop");
  Value conditionArg = body.getArgument(1), conditionOut = yield->getOperand(0);
  bool starts = !op.getCond() || isTrue(l, op.getCond());
  bool always = starts && (conditionOut == conditionArg || isTrue(l, conditionOut));
  Value trips = op.getM() ? l.hostIndex(op.getM(), 0) : Value();
  Value condition;
  if (!always)
    condition = op.getCond() ? l.hostScalar(op.getCond()) : arith::ConstantIntOp::create(l.b, l.loc, 1, 1).getResult();
  if (always && !trips)
    return unsupported(op, "neither a trip count nor a condition ends the loop");

  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (auto [init, arg] : llvm::zip(op.getVInitial(), body.getArguments().drop_front(2))) {
    types.push_back(loweredType(l, arg));
    inits.push_back(convertLowered(op, l, l.get(init), elementType(arg), types.back()));
    if (!inits.back())
      return failure();
  }
  ValueRange scanned = yield->getOperands().drop_front(carried + 1);
  for (size_t i = 0; i < scanned.size(); ++i)
    inits.push_back(newList(l));

  auto trip = [&](Value iteration, Value conditionIn, ValueRange args, Value *goOn) -> FailureOr<SmallVector<Value>> {
    Value number = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), iteration);
    l.set(body.getArgument(0), scalarTensor(l, body.getArgument(0), number));
    Value holds = conditionIn ? arith::ExtUIOp::create(l.b, l.loc, l.b.getI8Type(), conditionIn).getResult()
                              : arith::ConstantIntOp::create(l.b, l.loc, 1, 8).getResult();
    l.set(conditionArg, scalarTensor(l, conditionArg, holds));
    for (auto [arg, value] : llvm::zip(body.getArguments().drop_front(2), args))
      l.set(arg, value);
    FailureOr<SmallVector<Value>> out = lowerBody(l, body);
    if (failed(out))
      return failure();
    SmallVector<Value> next;
    for (size_t i = 0; i < carried; ++i) {
      next.push_back(convertLowered(op, l, (*out)[i + 1], elementType(body.getArgument(i + 2)), types[i]));
      if (!next.back())
        return failure();
    }
    for (auto [i, value] : llvm::enumerate(scanned))
      next.push_back(append(l, args[carried + i], (*out)[carried + 1 + i], elementType(value)));
    if (goOn)
      *goOn = l.hostScalar(conditionOut);
    return next;
  };
  FailureOr<SmallVector<Value>> results = emitLoop(l, trips, condition, inits, trip);
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (i < carried) {
      if (failed(setAs(op, l, result, (*results)[i])))
        return failure();
    } else if (!result.use_empty()) {
      if (!isRanked(l, result))
        return unsupported(op, "scan output " + Twine(i - carried) + " has no known rank");
      l.set(result, stack(l, (*results)[i], l.elem(result), l.dims(result)));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Value `i` of an optional attribute with one entry per scan input or output.
static int64_t entry(std::optional<ArrayRef<int64_t>> list, size_t i) {
  return list && i < list->size() ? (*list)[i] : 0;
}

static LogicalResult lowerScan(Operation *o, Lowering &l) {
  auto op = cast<onnx::ScanOp>(o);
  if (failed(requireRanked(op, l)))
    return failure();
  Block &body = op.getBody().front();
  auto yield = cast<onnx::YieldOp>(body.getTerminator());
  ValueRange operands = op.getInitialStateAndScanInputs();
  int64_t numInputs = op.getNumScanInputs();
  if (numInputs < 1 || numInputs > static_cast<int64_t>(operands.size()) || body.getNumArguments() != operands.size() ||
      yield->getNumOperands() != op.getNumResults() ||
      op.getNumResults() + static_cast<size_t>(numInputs) < operands.size())
    return unsupported(op, "attribute num_scan_inputs " + Twine(numInputs) + " does not fit the " +
                               Twine(operands.size()) + " inputs and the body");
  size_t states = operands.size() - numInputs;
  ValueRange inputs = operands.drop_front(states), stateResults = op.getResults().take_front(states);

  SmallVector<int64_t> axes;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    FailureOr<int64_t> axis = normalizeAxis(op, entry(op.getScanInputAxes(), i), l.rank(input));
    if (failed(axis))
      return failure();
    axes.push_back(*axis);
    checkSameSize(l, l.dims(input)[*axis], l.dims(inputs[0])[axes[0]],
                  "the scan inputs of Scan have different lengths");
  }
  Dim length = l.dims(inputs[0])[axes[0]];
  Value trips = l.index(length), last = IndexBuilder{l.b, l.loc}.sub(trips, l.constIndex(1));

  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (auto [init, arg] : llvm::zip(operands.take_front(states), body.getArguments())) {
    types.push_back(loweredType(l, arg));
    inits.push_back(convertLowered(op, l, l.get(init), elementType(arg), types.back()));
    if (!inits.back())
      return failure();
  }
  size_t outputs = op.getNumResults() - states;
  for (size_t i = 0; i < outputs; ++i)
    inits.push_back(newList(l));

  auto trip = [&](Value iteration, Value, ValueRange args, Value *) -> FailureOr<SmallVector<Value>> {
    for (auto [arg, value] : llvm::zip(body.getArguments().take_front(states), args))
      l.set(arg, value);
    for (auto [i, input] : llvm::enumerate(inputs)) {
      Value arg = body.getArgument(states + i), t = iteration;
      int64_t axis = axes[i];
      if (entry(op.getScanInputDirections(), i))
        t = arith::SubIOp::create(l.b, l.loc, last, iteration);
      SmallVector<Dim> dims = llvm::to_vector(l.dims(input));
      dims.erase(dims.begin() + axis);
      Value slice = moveElements(l, "scan_slice", rawInput(l, input), dims, [&](OpBuilder &, Location, ValueRange at) {
        SmallVector<Value> from = llvm::to_vector(at);
        from.insert(from.begin() + axis, t);
        return from;
      });
      if (failed(setAs(op, l, arg, slice)))
        return failure();
    }
    FailureOr<SmallVector<Value>> out = lowerBody(l, body);
    if (failed(out))
      return failure();
    SmallVector<Value> next;
    for (size_t i = 0; i < states; ++i) {
      next.push_back(convertLowered(op, l, (*out)[i], elementType(body.getArgument(i)), types[i]));
      if (!next.back())
        return failure();
    }
    for (size_t i = 0; i < outputs; ++i)
      next.push_back(append(l, args[states + i], (*out)[states + i], elementType(yield->getOperand(states + i))));
    return next;
  };
  FailureOr<SmallVector<Value>> results = emitLoop(l, trips, Value(), inits, trip);
  if (failed(results))
    return failure();

  for (auto [result, value] : llvm::zip(stateResults, *results))
    if (failed(setAs(op, l, result, value)))
      return failure();
  for (size_t i = 0; i < outputs; ++i) {
    Value result = op.getResult(states + i);
    if (result.use_empty())
      continue;
    FailureOr<int64_t> axis = normalizeAxis(op, entry(op.getScanOutputAxes(), i), l.rank(result));
    if (failed(axis))
      return failure();
    bool reverse = entry(op.getScanOutputDirections(), i);
    SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
    std::rotate(dims.begin(), dims.begin() + *axis, dims.begin() + *axis + 1);
    Value stacked = stack(l, (*results)[states + i], l.elem(result), dims);
    if (*axis == 0 && !reverse) {
      l.set(result, stacked);
      continue;
    }
    Type raw = Lowering::storageType(l.elem(result));
    l.set(result, moveElements(l, "scan_output", {stacked, raw, dims}, l.dims(result),
                               [&](OpBuilder &b, Location loc, ValueRange at) {
                                 SmallVector<Value> from = llvm::to_vector(at);
                                 std::rotate(from.begin(), from.begin() + *axis, from.begin() + *axis + 1);
                                 if (reverse)
                                   from[0] = IndexBuilder{b, loc}.sub(last, from[0]);
                                 return from;
                               }));
  }
  return success();
}

void optc::registerControlLowerings(LoweringTable &table) {
  table["onnx.If"] = lowerIf;
  table["onnx.Loop"] = lowerLoop;
  table["onnx.Scan"] = lowerScan;
}
