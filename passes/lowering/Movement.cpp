//===- Movement.cpp - transpose, concat, split, slice, tile, expand, ... --===//
//
// Every operator here is a map from positions of the result to positions of the input. Blocks of a tensor and
// concatenations stay what they are (tensor.extract_slice, tensor.concat): `dispatch` decides whether they move
// anything.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Movement.h"
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

using Positions = SmallVector<Value>;

/// Whether a permutation keeps the order of all axes that are not of size 1.
static bool keepsOrder(ArrayRef<int64_t> perm, ArrayRef<Dim> dims) {
  int64_t last = -1;
  for (int64_t axis : perm) {
    if (knownSize(dims[axis]) == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

static LogicalResult lowerTranspose(Operation *o, Lowering &l) {
  auto op = cast<onnx::TransposeOp>(o);
  Value data = op.getData(), result = op.getResult();
  int64_t rank = l.rank(data);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (op.getPerm())
    perm.assign(op.getPerm()->begin(), op.getPerm()->end());
  for (int64_t &axis : perm) {
    FailureOr<int64_t> normal = normalizeAxis(op, axis, rank);
    if (failed(normal))
      return failure();
    axis = *normal;
  }
  SmallVector<int64_t> sorted = perm;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return unsupported(op, "attribute perm is not a permutation of the axes of the input");
  Lowering::Input in = rawInput(l, data);
  if (keepsOrder(perm, in.dims)) {
    l.set(result, l.view(in.lowered, l.elem(data), l.dims(result)));
    return success();
  }
  if (isString(in.elem)) {
    l.set(result, moveElements(l, "transpose", in, l.dims(result), [&](OpBuilder &, Location, ValueRange at) {
            Positions from(rank);
            for (auto [i, axis] : llvm::enumerate(perm))
              from[axis] = at[i];
            return from;
          }));
    return success();
  }
  AffineMap to = AffineMap::getMultiDimIdentityMap(rank, l.b.getContext());
  AffineMap from = inversePermutation(AffineMap::getPermutationMap(perm, l.b.getContext()));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  l.set(result, l.contract("transpose", in, {from, to}, iterators, in.elem, l.dims(result), Value(),
                           [](OpBuilder &, Location, ValueRange x, Value) { return x[0]; }));
  return success();
}

static LogicalResult lowerConcat(Operation *o, Lowering &l) {
  auto op = cast<onnx::ConcatOp>(o);
  Value result = op.getResult();
  SmallVector<Dim> dims = llvm::to_vector(l.dims(result));
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), dims.size());
  if (failed(axis))
    return failure();
  SmallVector<Value> used; // what is empty adds nothing
  for (Value v : op.getInputs())
    if (knownSize(l.dims(v)[*axis]) != 0 || isString(l.elem(v)))
      used.push_back(v);
  if (used.empty())
    used.push_back(op.getInputs()[0]);
  if (used.size() == 1) {
    l.set(result, l.get(used[0]));
    return success();
  }
  SmallVector<Lowering::Input> inputs;
  for (Value v : used) {
    inputs.push_back(rawInput(l, v));
    for (auto [i, d] : llvm::enumerate(inputs.back().dims))
      if (static_cast<int64_t>(i) != *axis)
        checkSameSize(l, d, dims[i], "the inputs of Concat differ on axis " + Twine(i));
  }
  Type elem = inputs[0].elem;
  if (isString(elem)) {
    SmallVector<Value> operands = llvm::to_vector(op->getOperands());
    l.set(result, l.library(kernel::LibraryFn::list_concat, operands, {*axis, 0}, {result})[0]);
    return success();
  }
  RankedTensorType type = l.tensorType(elem, dims);
  SmallVector<Value> operands;
  for (auto [i, in] : llvm::enumerate(inputs)) {
    auto from = cast<RankedTensorType>(in.lowered.getType());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != *axis && !from.isDynamicDim(d) && !type.isDynamicDim(d) && from.getDimSize(d) != type.getDimSize(d))
        return unsupported(op, "input " + Twine(i) + " of size " + Twine(from.getDimSize(d)) + " on axis " + Twine(d) +
                                   " where others have " + Twine(type.getDimSize(d)));
    operands.push_back(in.lowered);
  }
  l.set(result, tensor::ConcatOp::create(l.b, l.loc, type, *axis, operands));
  return success();
}

static LogicalResult lowerSplit(Operation *o, Lowering &l) {
  auto op = cast<onnx::SplitOp>(o);
  Lowering::Input in = rawInput(l, op.getInput());
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), in.dims.size());
  if (failed(axis))
    return failure();
  if (op.getSplit())
    checkSameSize(l, l.dims(op.getSplit())[0], l.shapes.constant(op.getNumResults()),
                  "split must have " + Twine(op.getNumResults()) + " elements, one per output");
  IndexBuilder m{l.b, l.loc};
  Value offset = m.cst(0), valid;
  SmallVector<Value> offsets;
  for (Value result : op.getResults()) {
    offsets.push_back(offset);
    Dim size = l.dims(result)[*axis];
    offset = m.add(offset, l.index(size));
    if (!knownSize(size)) {
      Value positive = m.ge(l.index(size), m.cst(0));
      valid = valid ? m.all(valid, positive) : positive;
    }
  }
  Value fits = m.eq(offset, l.index(in.dims[*axis]));
  if (!matchPattern(fits, m_One()))
    l.check(valid ? m.all(valid, fits) : fits, "the sizes of the parts do not add up to the size of the axis");
  for (auto [result, start] : llvm::zip(op.getResults(), offsets)) {
    if (result.use_empty())
      continue;
    SmallVector<Value> starts(in.dims.size(), m.cst(0));
    starts[*axis] = start;
    l.set(result, sliceOf(l, "split", in, starts, l.dims(result)));
  }
  return success();
}

static LogicalResult lowerSlice(Operation *o, Lowering &l) {
  auto op = cast<onnx::SliceOp>(o);
  Value result = op.getResult();
  Lowering::Input in = rawInput(l, op.getData());
  int64_t rank = in.dims.size();
  FailureOr<PerAxis> per = PerAxis::get(op, l, op.getStarts(), op.getAxes(), rank);
  if (failed(per))
    return failure();
  IndexBuilder m{l.b, l.loc};
  Value zero = m.cst(0), one = m.cst(1);
  SmallVector<Value> starts(rank), steps(rank);
  bool whole = true;
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool listed = !per->known || llvm::is_contained(*per->known, axis);
    starts[axis] = zero;
    steps[axis] = one;
    if (!listed)
      continue;
    Value size = l.index(in.dims[axis]);
    if (op.getSteps()) {
      steps[axis] = per->value(op.getSteps(), axis, 0, one);
      Value valid = m.cmp(arith::CmpIPredicate::ne, steps[axis], zero);
      if (matchPattern(valid, m_Zero()))
        return unsupported(op, "a step of 0");
      if (!matchPattern(valid, m_NonZero()))
        l.check(valid, "a step of Slice is 0");
    }
    Value start = m.fromEnd(per->value(op.getStarts(), axis, 0, zero), size);
    Value forward = m.clamp(start, zero, size);
    Value backward = m.clamp(start, zero, m.max(m.sub(size, one), zero));
    Value reversed = m.lt(steps[axis], zero);
    starts[axis] = m.select(reversed, backward, forward);
    if (isOwnSize(l.dims(result)[axis], result)) {
      // Inference has no expression for the size: |end - start| over |step|, rounded up, at least 0.
      Value end = m.fromEnd(per->value(op.getEnds(), axis, 0, size), size);
      end = m.select(reversed, m.clamp(end, m.cst(-1), m.sub(size, one)), m.clamp(end, zero, size));
      Value distance = m.select(reversed, m.sub(starts[axis], end), m.sub(end, starts[axis]));
      Value stride = m.max(m.select(reversed, m.sub(zero, steps[axis]), steps[axis]), one);
      distance = m.max(distance, zero);
      // As (distance - 1) / stride + 1: the stride may be the largest integer.
      Value count = m.add(m.div(m.max(m.sub(distance, one), zero), stride), one);
      l.bind(l.dims(result)[axis], m.select(m.eq(distance, zero), zero, count));
    }
    whole &= l.dims(result)[axis] == in.dims[axis] && matchPattern(steps[axis], m_One());
  }
  if (whole) { // Every axis is kept from its start to its end.
    l.set(result, in.lowered);
    return success();
  }
  if (llvm::all_of(steps, [](Value step) { return matchPattern(step, m_One()); })) {
    l.set(result, sliceOf(l, "slice", in, starts, l.dims(result)));
    return success();
  }
  l.set(result, moveElements(l, "slice", in, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Positions from(rank);
          for (int64_t axis = 0; axis < rank; ++axis) {
            Value step = steps[axis];
            from[axis] = m.add(starts[axis], matchPattern(step, m_One()) ? at[axis] : m.mul(at[axis], step));
          }
          return from;
        }));
  return success();
}

static LogicalResult lowerTile(Operation *o, Lowering &l) {
  auto op = cast<onnx::TileOp>(o);
  Value result = op.getResult();
  Lowering::Input in = rawInput(l, op.getInput());
  checkSameSize(l, l.dims(op.getRepeats())[0], l.shapes.constant(in.dims.size()),
                "repeats must have " + Twine(in.dims.size()) + " elements, one per axis of the input");
  SmallVector<Value> sizes = l.indices(in.dims);
  l.set(result, moveElements(l, "tile", in, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Positions from;
          for (auto [axis, i] : llvm::enumerate(at)) {
            if (knownSize(in.dims[axis]) == 1)
              from.push_back(m.cst(0));
            else if (in.dims[axis] == l.dims(result)[axis])
              from.push_back(i);
            else
              from.push_back(m.rem(i, sizes[axis]));
          }
          return from;
        }));
  return success();
}

static LogicalResult lowerExpand(Operation *o, Lowering &l) {
  auto op = cast<onnx::ExpandOp>(o);
  Value result = op.getResult();
  Lowering::Input in = rawInput(l, op.getInput());
  if (in.dims == l.dims(result)) {
    l.set(result, in.lowered);
    return success();
  }
  if (!isString(in.elem)) {
    l.set(result, l.elementwise(in, in.elem, l.dims(result), [](OpBuilder &, Location, ValueRange x) { return x[0]; }));
    return success();
  }
  int64_t added = l.rank(result) - in.dims.size();
  SmallVector<Value> sizes = l.indices(in.dims);
  l.set(result, moveElements(l, "expand", in, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Positions from;
          for (auto [axis, size] : llvm::enumerate(sizes))
            from.push_back(m.select(m.eq(size, m.cst(1)), m.cst(0), at[added + axis]));
          return from;
        }));
  return success();
}

/// What DepthToSpace and SpaceToDepth are told, and how the mode orders channel and place in the block.
struct DepthBlock {
  int64_t size;
  bool blockFirst;
};

template <typename Op> static FailureOr<DepthBlock> depthBlockOf(Op op, int64_t rank) {
  static constexpr std::pair<StringLiteral, bool> kModes[] = {{"DCR", true}, {"CRD", false}};
  auto mode = llvm::find_if(kModes, [&](const auto &known) { return known.first == op.getMode(); });
  if (mode == std::end(kModes))
    return unsupported(op, "attribute mode \"" + op.getMode() + "\"; supported are DCR and CRD");
  int64_t size = op.getBlocksize();
  if (size < 1 || size > INT32_MAX || rank != 4)
    return unsupported(op, "attribute blocksize " + Twine(size) + " on rank " + Twine(rank) +
                               "; it must be positive, the input of rank 4");
  return DepthBlock{size, mode->second};
}

static LogicalResult lowerDepthToSpace(Operation *o, Lowering &l) {
  auto op = cast<onnx::DepthToSpaceOp>(o);
  Lowering::Input in = rawInput(l, op.getInput());
  FailureOr<DepthBlock> block = depthBlockOf(op, in.dims.size());
  if (failed(block))
    return failure();
  Value channels = l.index(l.dims(op.getResult())[1]);
  l.set(op.getResult(),
        moveElements(l, "depth_to_space", in, l.dims(op.getResult()), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Value size = m.cst(block->size);
          Value cell = m.add(m.mul(m.rem(at[2], size), size), m.rem(at[3], size));
          Value channel = block->blockFirst ? m.add(m.mul(cell, channels), at[1])
                                            : m.add(m.mul(at[1], m.cst(block->size * block->size)), cell);
          return Positions{at[0], channel, m.div(at[2], size), m.div(at[3], size)};
        }));
  return success();
}

static LogicalResult lowerSpaceToDepth(Operation *o, Lowering &l) {
  auto op = cast<onnx::SpaceToDepthOp>(o);
  Lowering::Input in = rawInput(l, op.getInput());
  FailureOr<DepthBlock> block = depthBlockOf(op, in.dims.size());
  if (failed(block))
    return failure();
  Value channels = l.index(in.dims[1]);
  l.set(op.getResult(),
        moveElements(l, "space_to_depth", in, l.dims(op.getResult()), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Value size = m.cst(block->size), cells = m.cst(block->size * block->size);
          Value cell = block->blockFirst ? m.div(at[1], channels) : m.rem(at[1], cells);
          Value channel = block->blockFirst ? m.rem(at[1], channels) : m.div(at[1], cells);
          return Positions{at[0], channel, m.add(m.mul(at[2], size), m.div(cell, size)),
                           m.add(m.mul(at[3], size), m.rem(cell, size))};
        }));
  return success();
}

static LogicalResult lowerTrilu(Operation *o, Lowering &l) {
  auto op = cast<onnx::TriluOp>(o);
  Value result = op.getResult();
  Lowering::Input in = rawInput(l, op.getInput());
  if (isString(in.elem))
    return unsupported(op, "tensors of strings");
  if (in.dims.size() < 2)
    return unsupported(op, "an input of rank " + Twine(in.dims.size()) + "; it must be at least 2");
  Value k = op.getK() ? l.hostIndex(op.getK(), 0) : l.constIndex(0);
  Type elem = l.elem(op.getInput());
  l.set(result, l.generate("trilu", elem, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexBuilder m{b, loc};
    Value diagonal = m.sub(at[at.size() - 1], at[at.size() - 2]);
    Value keep = m.cmp(op.getUpper() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle, diagonal, k);
    Value x = l.load(b, loc, in.lowered, elem, at);
    return ScalarOps{b, loc, elem}.select(keep, x, ScalarOps{b, loc, elem}.constant(0));
  }));
  return success();
}

static LogicalResult lowerReverseSequence(Operation *o, Lowering &l) {
  auto op = cast<onnx::ReverseSequenceOp>(o);
  Value result = op.getResult();
  Lowering::Input in = rawInput(l, op.getInput());
  FailureOr<int64_t> batch = normalizeAxis(op, op.getBatchAxis(), in.dims.size());
  FailureOr<int64_t> time = normalizeAxis(op, op.getTimeAxis(), in.dims.size());
  if (failed(batch) || failed(time))
    return failure();
  if (*batch == *time || l.rank(op.getSequenceLens()) != 1)
    return unsupported(op, "batch_axis equal to time_axis, or sequence_lens of rank other than 1");
  checkSameSize(l, l.dims(op.getSequenceLens())[0], in.dims[*batch],
                "sequence_lens has another size than the batch axis");
  Value lengths = l.get(op.getSequenceLens()), size = l.index(in.dims[*time]);
  Type i64 = l.b.getI64Type();
  l.set(result, moveElements(l, "reverse_sequence", in, l.dims(result), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Value length = arith::IndexCastOp::create(b, loc, b.getIndexType(), l.load(b, loc, lengths, i64, at[*batch]));
          length = m.clamp(length, m.cst(0), size);
          Positions from = llvm::to_vector(at);
          Value t = at[*time];
          from[*time] = m.select(m.lt(t, length), m.sub(m.sub(length, m.cst(1)), t), t);
          return from;
        }));
  return success();
}

void optc::registerMovementLowerings(LoweringTable &table) {
  static const std::pair<StringRef, LowerFn> lowerings[] = {
      {"onnx.Transpose", ranked<lowerTranspose>},
      {"onnx.Concat", ranked<lowerConcat>},
      {"onnx.Split", ranked<lowerSplit>},
      {"onnx.Slice", ranked<lowerSlice>},
      {"onnx.Tile", ranked<lowerTile>},
      {"onnx.Expand", ranked<lowerExpand>},
      {"onnx.DepthToSpace", ranked<lowerDepthToSpace>},
      {"onnx.SpaceToDepth", ranked<lowerSpaceToDepth>},
      {"onnx.Trilu", ranked<lowerTrilu>},
      {"onnx.ReverseSequence", ranked<lowerReverseSequence>},
  };
  for (auto [name, fn] : lowerings)
    table[name] = fn;
  registerViewLowerings(table);
  registerPadLowerings(table);
}
