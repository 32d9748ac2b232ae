//===- Indexing.cpp - gathers and scatters --------------------------------===//
//
// Indices are data: negative ones count from the end, and those out of range are clamped, so that no data makes a
// kernel read or write out of bounds. Only an axis of size 0 cannot be clamped into; it is refused at run time.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

using Positions = SmallVector<Value>;

/// Indices into an axis that may be empty are an error unless there are none.
static void requireElements(Lowering &l, Dim axis, Value indices) {
  if (knownSize(axis) && *knownSize(axis) > 0)
    return;
  IndexBuilder m{l.b, l.loc};
  Value valid = m.lt(m.cst(0), l.index(axis));
  for (Dim d : l.dims(indices))
    valid = l.b.createOrFold<arith::OrIOp>(l.loc, valid, m.eq(l.index(d), m.cst(0)));
  if (!matchPattern(valid, m_One()))
    l.check(valid, "indices into an axis of size 0");
}

/// A tensor of indices that a body reads: `at` gives one as a valid position of an axis of `size` elements.
namespace {
struct Indices {
  Lowering &l;
  Value lowered;
  Type elem;
  Indices(Lowering &l, Value onnxValue) : l(l), lowered(l.get(onnxValue)), elem(l.elem(onnxValue)) {}
  Value at(OpBuilder &b, Location loc, ValueRange position, Value size) const {
    return l.wrapIndex(b, loc, l.load(b, loc, lowered, elem, position), elem, size);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static LogicalResult lowerGather(Operation *o, Lowering &l) {
  auto op = cast<onnx::GatherOp>(o);
  Lowering::Input in = rawInput(l, op.getData());
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), in.dims.size());
  if (failed(axis))
    return failure();
  requireElements(l, in.dims[*axis], op.getIndices());
  Indices indices(l, op.getIndices());
  int64_t width = l.rank(op.getIndices());
  Value size = l.index(in.dims[*axis]);
  l.set(op.getOutput(),
        moveElements(l, "gather", in, l.dims(op.getOutput()), [&](OpBuilder &b, Location loc, ValueRange at) {
          Positions from = llvm::to_vector(at.take_front(*axis));
          from.push_back(indices.at(b, loc, at.slice(*axis, width), size));
          llvm::append_range(from, at.drop_front(*axis + width));
          return from;
        }));
  return success();
}

static LogicalResult lowerGatherElements(Operation *o, Lowering &l) {
  auto op = cast<onnx::GatherElementsOp>(o);
  Lowering::Input in = rawInput(l, op.getData());
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), in.dims.size());
  if (failed(axis))
    return failure();
  if (l.rank(op.getIndices()) != static_cast<int64_t>(in.dims.size()))
    return unsupported(op, "indices of rank " + Twine(l.rank(op.getIndices())) + " for data of rank " +
                               Twine(in.dims.size()));
  requireElements(l, in.dims[*axis], op.getIndices());
  Indices indices(l, op.getIndices());
  SmallVector<Value> sizes = l.indices(in.dims);
  ArrayRef<Dim> dims = l.dims(op.getOutput());
  IndexBuilder m{l.b, l.loc};
  for (auto [i, d] : llvm::enumerate(in.dims))
    if (static_cast<int64_t>(i) != *axis && d != dims[i])
      l.check(m.cmp(arith::CmpIPredicate::sge, sizes[i], l.index(dims[i])),
              "indices are larger than the data on axis " + Twine(i));
  l.set(op.getOutput(), moveElements(l, "gather_elements", in, dims, [&](OpBuilder &b, Location loc, ValueRange at) {
          Positions from = llvm::to_vector(at);
          from[*axis] = indices.at(b, loc, at, sizes[*axis]);
          return from;
        }));
  return success();
}

/// The number of coordinates in a tuple of indices: the size of the last axis.
static std::optional<int64_t> tupleSize(Operation *op, Lowering &l, Value indices, int64_t rest) {
  std::optional<int64_t> size;
  if (l.rank(indices) > 0)
    size = knownSize(l.dims(indices).back());
  if (!size)
    unsupported(op, "the last axis of indices has no constant size, so the rank of the result is unknown");
  else if (*size > rest || *size < 0) {
    unsupported(op, "the last axis of indices has size " + Twine(*size) + ", more than the " + Twine(rest) +
                        " axes of the data");
    return std::nullopt;
  }
  return size;
}

static LogicalResult lowerGatherND(Operation *o, Lowering &l) {
  auto op = cast<onnx::GatherNDOp>(o);
  Lowering::Input in = rawInput(l, op.getData());
  int64_t batch = op.getBatchDims(), rank = in.dims.size(), width = l.rank(op.getIndices());
  if (batch < 0 || batch >= std::min<int64_t>(rank, width))
    return unsupported(op, "attribute batch_dims " + Twine(batch) + "; it must be less than the ranks " + Twine(rank) +
                               " and " + Twine(width));
  std::optional<int64_t> tuple = tupleSize(op, l, op.getIndices(), rank - batch);
  if (!tuple)
    return failure();
  for (int64_t i = 0; i < batch; ++i)
    checkSameSize(l, in.dims[i], l.dims(op.getIndices())[i], "data and indices differ on batch axis " + Twine(i));
  for (int64_t i = 0; i < *tuple; ++i)
    requireElements(l, in.dims[batch + i], op.getIndices());
  Indices indices(l, op.getIndices());
  SmallVector<Value> sizes = l.indices(in.dims);
  l.set(op.getOutput(),
        moveElements(l, "gather_nd", in, l.dims(op.getOutput()), [&](OpBuilder &b, Location loc, ValueRange at) {
          IndexBuilder m{b, loc};
          Positions from = llvm::to_vector(at.take_front(batch)), position = llvm::to_vector(at.take_front(width - 1));
          position.push_back(Value());
          for (int64_t i = 0; i < *tuple; ++i) {
            position.back() = m.cst(i);
            from.push_back(indices.at(b, loc, position, sizes[batch + i]));
          }
          llvm::append_range(from, at.drop_front(width - 1));
          return from;
        }));
  return success();
}

/// Z[.., i] = X[.., Y[i]].
static LogicalResult lowerArrayFeatureExtractor(Operation *o, Lowering &l) {
  auto op = cast<onnx::MLArrayFeatureExtractorOp>(o);
  Lowering::Input in = rawInput(l, op.getX());
  if (in.dims.empty() || l.rank(op.getY()) < 1 || l.rank(op.getY()) > 2)
    return unsupported(op, "X must have an axis and Y one or two");
  requireElements(l, in.dims.back(), op.getY());
  // Y may be [n] or [1, n]; X of rank 1 gives a result of shape [1, n].
  int64_t added = l.rank(op.getZ()) - static_cast<int64_t>(in.dims.size()), width = l.rank(op.getY());
  if (added < 0)
    return unsupported(op, "X of rank " + Twine(in.dims.size()));
  Indices indices(l, op.getY());
  Value size = l.index(in.dims.back());
  l.set(op.getZ(), moveElements(l, "array_feature_extractor", in, l.dims(op.getZ()),
                                [&](OpBuilder &b, Location loc, ValueRange at) {
                                  Positions position(width, IndexBuilder{b, loc}.cst(0));
                                  position.back() = at.back();
                                  Positions from = llvm::to_vector(at.drop_front(added).drop_back());
                                  from.push_back(indices.at(b, loc, position, size));
                                  return from;
                                }));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

namespace {
struct Reduction {
  StringRef name;
  Value (ScalarOps::*combine)(Value, Value) const; ///< null: the update replaces the element
};
} // namespace

static const Reduction reductions[] = {{"none", nullptr},
                                       {"add", &ScalarOps::add},
                                       {"mul", &ScalarOps::mul},
                                       {"min", &ScalarOps::min},
                                       {"max", &ScalarOps::max}};

static const Reduction *findReduction(Operation *op, StringRef name) {
  for (const Reduction &r : reductions)
    if (r.name == name)
      return &r;
  unsupported(op, "attribute reduction \"" + name + "\"; supported are none, add, mul, min and max");
  return nullptr;
}

/// result = data; then for each position of `updates` in order: result[where] = reduction(result[where], update).
static Value scatter(Lowering &l, StringRef label, Value data, Value updates, const Reduction &reduction,
                     function_ref<Positions(OpBuilder &, Location, ValueRange)> where) {
  Lowering::Input in = rawInput(l, data);
  Value lowered = l.get(updates);
  Type elem = l.elem(data);
  SmallVector<Value> dataSizes = l.indices(in.dims), updateSizes = l.indices(l.dims(updates));
  return l.loops(label, {{in.elem, in.dims}}, [&](OpBuilder &b, Location loc, ValueRange dest) {
    Value copied = copyInto(b, loc, in.lowered, dataSizes, dest[0]);
    return Lowering::loopNest(
        b, loc, updateSizes, copied, [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
          Positions to = where(b, loc, at);
          Value update = tensor::ExtractOp::create(b, loc, lowered, at);
          if (reduction.combine) {
            Value old = Lowering::toCompute(b, loc, tensor::ExtractOp::create(b, loc, carried[0], to), elem);
            Value now = Lowering::toCompute(b, loc, update, elem);
            update = Lowering::toStorage(b, loc, (ScalarOps{b, loc, elem}.*reduction.combine)(old, now), elem);
          }
          return SmallVector<Value>{insertRaw(b, loc, update, carried[0], to)};
        });
  })[0];
}

static LogicalResult refuseStrings(Operation *op, Lowering &l, Value data) {
  if (!isString(l.elem(data)))
    return success();
  return unsupported(op, "tensors of strings; supported are all numeric types and bool");
}

static LogicalResult lowerScatterElements(Operation *o, Lowering &l) {
  auto op = cast<onnx::ScatterElementsOp>(o);
  if (failed(refuseStrings(op, l, op.getData())))
    return failure();
  SmallVector<Dim> dims = llvm::to_vector(l.dims(op.getData())), counts = llvm::to_vector(l.dims(op.getUpdates()));
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), dims.size());
  const Reduction *reduction = findReduction(op, op.getReduction());
  if (failed(axis) || !reduction)
    return failure();
  if (counts.size() != dims.size() || l.rank(op.getIndices()) != static_cast<int64_t>(dims.size()))
    return unsupported(op, "indices or updates of another rank than the data");
  SmallVector<Value> sizes = l.indices(dims);
  IndexBuilder m{l.b, l.loc};
  for (auto [i, d] : llvm::enumerate(dims)) {
    checkSameSize(l, counts[i], l.dims(op.getIndices())[i], "indices and updates differ on axis " + Twine(i));
    if (static_cast<int64_t>(i) != *axis && d != counts[i])
      l.check(m.cmp(arith::CmpIPredicate::sge, sizes[i], l.index(counts[i])),
              "updates are larger than the data on axis " + Twine(i));
  }
  requireElements(l, dims[*axis], op.getIndices());
  Indices indices(l, op.getIndices());
  l.set(op.getOutput(), scatter(l, "scatter_elements", op.getData(), op.getUpdates(), *reduction,
                                [&](OpBuilder &b, Location loc, ValueRange at) {
                                  Positions to = llvm::to_vector(at);
                                  to[*axis] = indices.at(b, loc, at, sizes[*axis]);
                                  return to;
                                }));
  return success();
}

static LogicalResult lowerScatterND(Operation *o, Lowering &l) {
  auto op = cast<onnx::ScatterNDOp>(o);
  if (failed(refuseStrings(op, l, op.getData())))
    return failure();
  SmallVector<Dim> dims = llvm::to_vector(l.dims(op.getData())), counts = llvm::to_vector(l.dims(op.getUpdates())),
                   indexDims = llvm::to_vector(l.dims(op.getIndices()));
  const Reduction *reduction = findReduction(op, op.getReduction());
  std::optional<int64_t> tuple = tupleSize(op, l, op.getIndices(), dims.size());
  if (!reduction || !tuple)
    return failure();
  int64_t outer = indexDims.size() - 1;
  SmallVector<Dim> expected(indexDims.begin(), indexDims.end() - 1);
  expected.append(dims.begin() + *tuple, dims.end());
  if (expected.size() != counts.size())
    return unsupported(op, "updates of rank " + Twine(counts.size()) + "; these data and indices need " +
                               Twine(expected.size()));
  for (auto [i, d] : llvm::enumerate(expected))
    checkSameSize(l, d, counts[i], "updates have a wrong size on axis " + Twine(i));
  for (int64_t i = 0; i < *tuple; ++i)
    requireElements(l, dims[i], op.getIndices());
  Indices indices(l, op.getIndices());
  SmallVector<Value> sizes = l.indices(dims);
  l.set(op.getOutput(), scatter(l, "scatter_nd", op.getData(), op.getUpdates(), *reduction,
                                [&](OpBuilder &b, Location loc, ValueRange at) {
                                  IndexBuilder m{b, loc};
                                  Positions to, position = llvm::to_vector(at.take_front(outer));
                                  position.push_back(Value());
                                  for (int64_t i = 0; i < *tuple; ++i) {
                                    position.back() = m.cst(i);
                                    to.push_back(indices.at(b, loc, position, sizes[i]));
                                  }
                                  llvm::append_range(to, at.drop_front(outer));
                                  return to;
                                }));
  return success();
}

static LogicalResult lowerTensorScatter(Operation *o, Lowering &l) {
  auto op = cast<onnx::TensorScatterOp>(o);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(op.getPastCache())), counts = llvm::to_vector(l.dims(op.getUpdate()));
  FailureOr<int64_t> axis = normalizeAxis(op, op.getAxis(), dims.size());
  if (failed(axis))
    return failure();
  bool circular = op.getMode() == "circular";
  if (!circular && op.getMode() != "linear")
    return unsupported(op, "attribute mode \"" + op.getMode() + "\"; supported are linear and circular");
  if (counts.size() != dims.size() || *axis == 0)
    return unsupported(op, "an update of another rank than the cache, or axis 0, which is the batch");
  for (auto [i, d] : llvm::enumerate(dims))
    if (static_cast<int64_t>(i) != *axis)
      checkSameSize(l, d, counts[i], "update and cache differ on axis " + Twine(i));
  requireElements(l, dims[*axis], op.getUpdate());
  Value writes = op.getWriteIndices() ? l.get(op.getWriteIndices()) : Value();
  if (writes)
    checkSameSize(l, l.dims(op.getWriteIndices())[0], dims[0], "write_indices and cache differ in batch size");
  Type i64 = l.b.getI64Type();
  Value size = l.index(dims[*axis]);
  l.set(op.getPresentCache(),
        scatter(l, "tensor_scatter", op.getPastCache(), op.getUpdate(), reductions[0],
                [&](OpBuilder &b, Location loc, ValueRange at) {
                  IndexBuilder m{b, loc};
                  Positions to = llvm::to_vector(at);
                  if (writes) {
                    Value start = l.load(b, loc, writes, i64, at[0]);
                    to[*axis] = m.add(to[*axis], arith::IndexCastOp::create(b, loc, b.getIndexType(), start));
                  }
                  to[*axis] =
                      circular ? m.floorMod(to[*axis], size) : m.clamp(to[*axis], m.cst(0), m.sub(size, m.cst(1)));
                  return to;
                }));
  return success();
}

void optc::registerIndexingLowerings(LoweringTable &table) {
  static const std::pair<StringRef, LowerFn> lowerings[] = {
      {"onnx.Gather", ranked<lowerGather>},
      {"onnx.GatherElements", ranked<lowerGatherElements>},
      {"onnx.GatherND", ranked<lowerGatherND>},
      {"onnx.ScatterElements", ranked<lowerScatterElements>},
      {"onnx.ScatterND", ranked<lowerScatterND>},
      {"onnx.TensorScatter", ranked<lowerTensorScatter>},
      {"onnx.ml.ArrayFeatureExtractor", ranked<lowerArrayFeatureExtractor>},
  };
  for (auto [name, fn] : lowerings)
    table[name] = fn;
}
