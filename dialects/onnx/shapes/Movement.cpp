//===- Movement.cpp - shapes of operators that move elements ---------------===//
#include "optc/dialects/onnx/RankDemand.h"
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// Sets result 0: the elements of input 0 in the same order.
static LogicalResult setSame(ShapeContext &ctx, Type element, ArrayRef<Dim> dims) {
  return ctx.setRowMajor(0, element, dims, ctx.rowMajor(0));
}

/// The elements of a row-major tensor of constant sizes at the positions that `at` gives for those of the result.
static std::optional<SmallVector<Dim>>
gather(const std::optional<SmallVector<Dim>> &from, ArrayRef<Dim> fromDims, ArrayRef<Dim> dims,
       llvm::function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> at) {
  if (!from || llvm::any_of(dims, [](Dim d) { return !d->isConst() || d->value > maxTrackedElements; }))
    return std::nullopt;
  SmallVector<Dim> result;
  SmallVector<int64_t> index(dims.size(), 0), source(fromDims.size(), 0);
  if (llvm::any_of(dims, [](Dim d) { return d->value == 0; }))
    return result;
  while (int64_t(result.size()) <= maxTrackedElements) {
    at(index, source);
    int64_t flat = 0;
    for (auto [i, d] : llvm::zip(source, fromDims)) {
      if (i < 0 || i >= d->value)
        return std::nullopt;
      flat = flat * d->value + i;
    }
    if (flat >= int64_t(from->size()))
      return std::nullopt;
    result.push_back((*from)[flat]);
    // The next index, the last axis fastest.
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]->value)
      index[--axis] = 0;
    if (axis == 0)
      return result;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reshape, Flatten, Squeeze, Unsqueeze
//===----------------------------------------------------------------------===//

/// What the entries of the shape operand say, before -1 is resolved.
static LogicalResult inferReshape(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto target = ctx.elements(1);
  if (failed(ctx.expectRank(1, 1)))
    return failure();
  if (!target) {
    if (ctx.ranked(1) && ctx.rank(1) == 1 && ctx.dims(1)[0]->isConst())
      return ctx.setRank(0, element, ctx.dims(1)[0]->value);
    return ctx.setUnranked(0, element);
  }
  bool ranked = ctx.ranked(0), allowZero = ctx.intAttr("allowzero", 0);
  SmallVector<Dim> in = ranked ? ctx.dims(0) : SmallVector<Dim>();
  // An entry computed from data may be 0 or -1 at run time: then only constants among the others are sure.
  bool runtime = llvm::any_of(*target, [](Dim d) { return !d->isConst() && !DimTable::isNonNegative(d); });
  SmallVector<Dim> dims;
  SmallVector<bool> copied(in.size(), false);
  Dim product = ctx.constant(1);
  std::optional<size_t> rest;
  for (auto [i, d] : llvm::enumerate(*target)) {
    if (d->isConst() && d->value < -1)
      return ctx.error("the shape " + ctx.str(*target) + " has an entry below -1");
    if (d->isConst(-1)) {
      if (rest)
        return ctx.error("the shape " + ctx.str(*target) + " has more than one -1");
      rest = i;
      dims.push_back(ctx.hasResult(0) ? ctx.leaf(0, i) : d);
      continue;
    }
    if (d->isConst(0) && !allowZero) {
      if (ranked && i >= in.size())
        return ctx.error("entry " + Twine(i) + " of the shape " + ctx.str(*target) +
                         " is 0 and copies a size that the input of shape " + ctx.str(in) + " does not have");
      dims.push_back(ranked ? in[i] : ctx.leaf(0, i));
      if (ranked)
        copied[i] = true;
      continue;
    }
    bool sure = d->isConst() || DimTable::isNonNegative(d);
    dims.push_back(sure ? d : ctx.leaf(0, i));
    product = ctx.table.mul(product, d);
  }
  if (allowZero && rest && product->isConst(0))
    return ctx.error("the shape " + ctx.str(*target) + " has 0 and -1, with allowzero = 1");
  if (!ranked || runtime)
    return ctx.set(0, element, dims);
  // Sizes that are copied cancel out, so that -1 has a value even when one of them is 0.
  Dim remaining = ctx.constant(1);
  for (auto [d, c] : llvm::zip(in, copied))
    if (!c)
      remaining = ctx.table.mul(remaining, d);
  auto mismatch = [&] {
    return ctx.error("cannot reshape " + ctx.str(in) + " to " + ctx.str(*target) + ": the numbers of elements differ");
  };
  if (rest) {
    if (product->isConst(0)) {
      if (!remaining->isConst(0))
        return mismatch();
      return ctx.error("the shape " + ctx.str(*target) + " leaves -1 undefined for an input of shape " + ctx.str(in));
    }
    if (product->isConst() && remaining->isConst() && remaining->value % product->value)
      return mismatch();
    dims[*rest] = ctx.table.floorDiv(remaining, product);
  } else {
    Dim difference = ctx.table.sub(remaining, product);
    if (difference->isConst() && difference->value != 0)
      return mismatch();
  }
  return setSame(ctx, element, dims);
}

static LogicalResult inferFlatten(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setRank(0, element, 2);
  int64_t axis = ctx.intAttr("axis", 1), rank = ctx.rank(0);
  if (axis < -rank || axis > rank)
    return ctx.error("axis " + Twine(axis) + " is outside [-" + Twine(rank) + ", " + Twine(rank) + "] for the shape " +
                     ctx.str(ctx.dims(0)));
  if (axis < 0)
    axis += rank;
  ArrayRef<Dim> dims = ctx.dims(0);
  return ctx.set(0, element,
                 {ctx.table.numElements(dims.take_front(axis)), ctx.table.numElements(dims.drop_front(axis))});
}

static LogicalResult inferSqueeze(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> in = ctx.dims(0), dims;
  if (!ctx.has(1)) {
    // The rank depends on the sizes. When the users need all axes that may stay, none of them has size 1.
    bool open = llvm::any_of(in, [](Dim d) { return !d->isConst(); });
    int64_t most = llvm::count_if(in, [](Dim d) { return !d->isConst(1); });
    if (open && (!ctx.hasResult(0) || demandedRanks(ctx.result(0), ctx.table).least != most))
      return ctx.setUnranked(0, element);
    llvm::copy_if(in, std::back_inserter(dims), [](Dim d) { return !d->isConst(1); });
    return setSame(ctx, element, dims);
  }
  auto given = ctx.constElements(1);
  if (!given) {
    auto count = ctx.elements(1);
    if (!count || count->size() > in.size())
      return ctx.setUnranked(0, element);
    return ctx.setRank(0, element, in.size() - count->size());
  }
  auto axes = ctx.axes(*given, in.size());
  if (failed(axes))
    return failure();
  for (auto [i, d] : llvm::enumerate(in)) {
    if (!llvm::is_contained(*axes, int64_t(i)))
      dims.push_back(d);
    else if (d->isConst() && !d->isConst(1))
      return ctx.error("cannot squeeze axis " + Twine(i) + " of " + ctx.str(in) + ": its size is not 1");
  }
  return setSame(ctx, element, dims);
}

static LogicalResult inferUnsqueeze(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto count = ctx.elements(1);
  if (!ctx.ranked(0) || !count)
    return ctx.setUnranked(0, element);
  int64_t rank = ctx.rank(0) + count->size();
  auto given = ctx.constElements(1);
  if (!given)
    return ctx.setRank(0, element, rank);
  auto axes = ctx.axes(*given, rank);
  if (failed(axes))
    return failure();
  SmallVector<Dim> dims = ctx.dims(0);
  for (int64_t a : *axes)
    dims.insert(dims.begin() + a, ctx.constant(1));
  return setSame(ctx, element, dims);
}

//===----------------------------------------------------------------------===//
// Transpose, Expand, Tile, Pad
//===----------------------------------------------------------------------===//

static LogicalResult inferTranspose(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto perm = ctx.intsAttr("perm");
  if (!ctx.ranked(0))
    return perm ? ctx.setRank(0, element, perm->size()) : ctx.setUnranked(0, element);
  int64_t rank = ctx.rank(0);
  if (!perm)
    perm = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (int64_t(perm->size()) != rank)
    return ctx.error("perm has " + Twine(perm->size()) + " entries for the shape " + ctx.str(ctx.dims(0)));
  if (failed(ctx.axes(*perm, rank)))
    return failure();
  SmallVector<Dim> dims;
  for (int64_t &p : *perm) {
    p = p < 0 ? p + rank : p;
    dims.push_back(ctx.dims(0)[p]);
  }
  return ctx.setRowMajor(
      0, element, dims,
      gather(ctx.rowMajor(0), ctx.dims(0), dims, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
        for (auto [i, p] : llvm::zip(index, *perm))
          from[p] = i;
      }));
}

static LogicalResult inferExpand(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  auto shape = ctx.elements(1);
  if (!ctx.ranked(0) || !shape)
    return ctx.setUnranked(0, element);
  for (Dim d : *shape)
    if (d->isConst() && d->value < 0)
      return ctx.error("the shape " + ctx.str(*shape) + " has a negative entry");
  auto dims = ctx.broadcast(ctx.dims(0), *shape);
  if (failed(dims))
    return failure();
  std::optional<SmallVector<Dim>> elements;
  if (auto &in = ctx.in(0).elements; in && dims->size() <= 1 && (dims->empty() || (*dims)[0]->isConst())) {
    int64_t count = dims->empty() ? 1 : (*dims)[0]->value;
    if (in->size() == 1 && count <= maxTrackedElements)
      elements = SmallVector<Dim>(count, in->front());
    else if (int64_t(in->size()) == count)
      elements = in;
  }
  return ctx.set(0, element, *dims, std::move(elements));
}

static LogicalResult inferTile(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (failed(ctx.expectRank(1, 1)))
    return failure();
  auto repeats = ctx.ranked(0) ? ctx.elements(1, ctx.rank(0)) : ctx.elements(1);
  if (!ctx.ranked(0))
    return repeats ? ctx.setRank(0, element, repeats->size()) : ctx.setUnranked(0, element);
  if (!repeats)
    return ctx.setRank(0, element, ctx.rank(0));
  SmallVector<Dim> in = ctx.dims(0), dims;
  if (repeats->size() != in.size())
    return ctx.error("repeats " + ctx.str(*repeats) + " do not fit the shape " + ctx.str(in));
  for (auto [d, r] : llvm::zip(in, *repeats))
    dims.push_back(ctx.table.mul(d, r));
  return ctx.set(0, element, dims);
}

static LogicalResult inferPad(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  int64_t rank = dims.size();
  auto pads = ctx.elements(1);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (ctx.has(3)) {
    auto given = ctx.constElements(3);
    if (!given)
      return ctx.setRank(0, element, rank);
    axes.clear();
    for (int64_t a : *given) {
      auto axis = ctx.axis(a, rank, "axes: axis");
      if (failed(axis))
        return failure();
      axes.push_back(*axis);
    }
  }
  if (!pads) {
    for (int64_t a : axes)
      if (ctx.hasResult(0))
        dims[a] = ctx.leaf(0, a);
    return ctx.set(0, element, dims);
  }
  if (pads->size() != 2 * axes.size())
    return ctx.error("pads " + ctx.str(*pads) + " must have two entries for each of " + Twine(axes.size()) + " axes");
  for (auto [i, a] : llvm::enumerate(axes))
    dims[a] = ctx.table.add(ctx.table.add(dims[a], (*pads)[i]), (*pads)[i + axes.size()]);
  return ctx.set(0, element, dims);
}

//===----------------------------------------------------------------------===//
// Concat, Split
//===----------------------------------------------------------------------===//

LogicalResult optc::inferConcat(ShapeContext &ctx, ArrayRef<unsigned> inputs, Type element) {
  auto axisAttr = ctx.intAttr("axis", 0);
  std::optional<SmallVector<Dim>> dims;
  int64_t axis = 0;
  bool known = true;
  for (unsigned i : inputs) {
    if (!ctx.ranked(i)) {
      known = false;
      continue;
    }
    ArrayRef<Dim> in = ctx.dims(i);
    if (!dims) {
      auto a = ctx.axis(axisAttr, in.size());
      if (failed(a))
        return failure();
      axis = *a;
      dims = SmallVector<Dim>(in);
      continue;
    }
    if (in.size() != dims->size())
      return ctx.error("cannot concatenate " + ctx.str(*dims) + " and " + ctx.str(in) + ": the ranks differ");
    for (int64_t k = 0, e = in.size(); k < e; ++k) {
      if (k == axis)
        (*dims)[k] = ctx.table.add((*dims)[k], in[k]);
      else if (ShapeContext::differ((*dims)[k], in[k]))
        return ctx.error("cannot concatenate " + ctx.str(ctx.dims(inputs.front())) + " and " + ctx.str(in) +
                         " along axis " + Twine(axis));
      else if (in[k]->isConst())
        (*dims)[k] = in[k];
    }
  }
  if (!dims)
    return ctx.setUnranked(0, element);
  if (!known && ctx.hasResult(0))
    (*dims)[axis] = ctx.leaf(0, axis);
  // Elements are followed when one input at least is tracked.
  SmallVector<Dim> elements;
  bool tracked = known && dims->size() == 1;
  tracked = tracked && llvm::any_of(inputs, [&](unsigned i) { return ctx.in(i).elements.has_value(); });
  for (unsigned i : inputs) {
    auto next = tracked ? ctx.elements(i) : std::nullopt;
    tracked = next && elements.size() + next->size() <= size_t(maxTrackedElements);
    if (tracked)
      elements.append(*next);
  }
  return ctx.set(0, element, *dims, tracked ? std::optional(elements) : std::nullopt);
}

static LogicalResult inferConcatOp(ShapeContext &ctx) {
  return inferConcat(ctx, llvm::to_vector(llvm::seq(0u, ctx.op->getNumOperands())), ctx.resultElement(0));
}

static LogicalResult inferSplit(ShapeContext &ctx) {
  unsigned count = ctx.op->getNumResults();
  Type element = ctx.resultElement(0);
  auto unranked = [&] {
    for (unsigned i = 0; i < count; ++i)
      if (failed(ctx.setUnranked(i, element)))
        return failure();
    return success();
  };
  if (!ctx.ranked(0))
    return unranked();
  SmallVector<Dim> dims = ctx.dims(0);
  auto axis = ctx.axis(ctx.intAttr("axis", 0), dims.size());
  if (failed(axis))
    return failure();
  Dim whole = dims[*axis];
  std::optional<SmallVector<Dim>> sizes;
  if (ctx.has(1)) {
    if (failed(ctx.expectRank(1, 1)))
      return failure();
    sizes = ctx.elements(1, count);
  } else {
    int64_t n = ctx.intAttr("num_outputs", count);
    if (n != count)
      return ctx.error("num_outputs = " + Twine(n) + " and " + Twine(count) + " outputs");
    // Every part but the last has the size ceil(whole / n).
    Dim chunk = ctx.table.ceilDiv(whole, n);
    sizes.emplace();
    for (int64_t i = 0; i < n; ++i) {
      Dim left = ctx.table.sub(whole, ctx.table.mul(chunk, i));
      sizes->push_back(i + 1 < n && !whole->isConst() ? chunk
                                                      : ctx.table.min(chunk, ctx.table.max(left, ctx.constant(0))));
    }
  }
  if (sizes && sizes->size() != count)
    return ctx.error("split " + ctx.str(*sizes) + " has " + Twine(sizes->size()) + " entries for " + Twine(count) +
                     " outputs");
  if (sizes) {
    Dim sum = ctx.constant(0);
    for (Dim d : *sizes)
      sum = ctx.table.add(sum, d);
    if (ShapeContext::differ(sum, whole))
      return ctx.error("split " + ctx.str(*sizes) + " does not add up to the size of axis " + Twine(*axis) + " of " +
                       ctx.str(dims));
  }
  std::optional<SmallVector<Dim>> all = ctx.in(0).elements;
  size_t start = 0;
  for (unsigned i = 0; i < count; ++i) {
    dims[*axis] = sizes ? (*sizes)[i] : ctx.leaf(i, *axis);
    std::optional<SmallVector<Dim>> elements;
    if (all && dims[*axis]->isConst() && dims[*axis]->value >= 0 && start + dims[*axis]->value <= all->size()) {
      elements = SmallVector<Dim>(ArrayRef(*all).slice(start, dims[*axis]->value));
      start += dims[*axis]->value;
    } else {
      all.reset();
    }
    if (failed(ctx.set(i, element, dims, std::move(elements))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// A start or end made non-negative and clamped; null when its sign is not known. `low` is where negative values stop.
static Dim normalise(ShapeContext &ctx, Dim v, Dim size, int64_t low) {
  if (v->isConst() && v->value < 0) {
    // Far below any size: INT64_MIN stands for "from the start".
    if (v->value < -(int64_t(1) << 40))
      return ctx.constant(low);
    return ctx.table.max(ctx.table.add(size, v), ctx.constant(low));
  }
  if (!DimTable::isNonNegative(v))
    return nullptr;
  return v;
}

static Dim sliceSize(ShapeContext &ctx, Dim size, Dim start, Dim end, int64_t step) {
  ShapeTable &t = ctx.table;
  Dim zero = ctx.constant(0);
  if (step > 0) {
    Dim s = normalise(ctx, start, size, 0), e = normalise(ctx, end, size, 0);
    if (!s || !e)
      return nullptr;
    if (e->isConst() && e->value >= (int64_t(1) << 31) - 1)
      e = size; // no tensor has so many elements along an axis that this cuts
    bool toEnd = e == size;
    bool fromEnd = start->isConst() && start->value < 0;
    if (!end->isConst() || end->value >= 0)
      e = t.min(e, size);
    if (toEnd && fromEnd && start->value >= -(int64_t(1) << 40))
      return t.ceilDiv(t.min(size, ctx.constant(-start->value)), step); // the last k
    if (!toEnd && !fromEnd)
      s = t.min(s, size);
    return t.ceilDiv(t.max(t.sub(e, s), zero), step);
  }
  Dim last = t.sub(size, 1);
  Dim s = normalise(ctx, start, size, -1), e = normalise(ctx, end, size, -1);
  if (!s || !e)
    return nullptr;
  s = t.min(s, last);
  e = t.min(e, last);
  return t.ceilDiv(t.max(t.sub(s, e), zero), ctx.table.sub(zero, ctx.constant(step)));
}

/// The first position that a slice takes of `size` elements.
static int64_t firstOfSlice(int64_t start, int64_t step, int64_t size) {
  if (start < 0)
    start = std::max<int64_t>(start + size, step > 0 ? 0 : -1);
  return std::min(start, step > 0 ? size : size - 1);
}

static LogicalResult inferSlice(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  int64_t rank = dims.size();
  auto starts = ctx.elements(1), ends = ctx.elements(2);
  std::optional<SmallVector<int64_t>> axes = ctx.constElements(3), steps = ctx.constElements(4);
  if (!starts || !ends || (ctx.has(3) && !axes))
    return ctx.setRank(0, element, rank);
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  if (starts->size() != ends->size() || starts->size() != axes->size() || (steps && steps->size() != axes->size()))
    return ctx.error("starts " + ctx.str(*starts) + ", ends " + ctx.str(*ends) + " and the " + Twine(axes->size()) +
                     " axes differ in number");
  std::optional<SmallVector<Dim>> elements = ctx.rowMajor(0);
  SmallVector<int64_t> first(rank, 0), stride(rank, 1);
  for (auto [i, a] : llvm::enumerate(*axes)) {
    auto axis = ctx.axis(a, rank, "axes: axis");
    if (failed(axis))
      return failure();
    if (ctx.has(4) && steps && (*steps)[i] == 0)
      return ctx.error("a step is 0");
    int64_t step = steps ? (*steps)[i] : 1;
    // No larger step makes a difference, and sums with this one do not overflow.
    step = std::clamp(step, -(int64_t(1) << 60), int64_t(1) << 60);
    Dim start = (*starts)[i], end = (*ends)[i];
    Dim size = ctx.has(4) && !steps ? nullptr : sliceSize(ctx, dims[*axis], start, end, step);
    if (elements && size && size->isConst() && start->isConst()) {
      first[*axis] = firstOfSlice(start->value, step, dims[*axis]->value);
      stride[*axis] = step;
    } else {
      elements.reset();
    }
    dims[*axis] = size ? size : ctx.hasResult(0) ? ctx.leaf(0, *axis) : dims[*axis];
  }
  return ctx.setRowMajor(
      0, element, dims,
      gather(elements, ctx.dims(0), dims, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
        for (auto [axis, i] : llvm::enumerate(index))
          from[axis] = first[axis] + i * stride[axis];
      }));
}

//===----------------------------------------------------------------------===//
// Blocks and images
//===----------------------------------------------------------------------===//

/// Blocks of positions that become channels, or the other way around: `sizes` gives the result's for those of an input
/// of rank 4.
static LogicalResult inferDepth(ShapeContext &ctx,
                                llvm::function_ref<FailureOr<SmallVector<Dim>>(ArrayRef<Dim> d, int64_t block)> sizes) {
  if (failed(ctx.expectRank(0, 4)))
    return failure();
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setRank(0, element, 4);
  int64_t block = ctx.intAttr("blocksize", 0);
  if (block < 1 || block > (1 << 20))
    return ctx.error("blocksize = " + Twine(block) + " must be at least 1");
  FailureOr<SmallVector<Dim>> made = sizes(ctx.dims(0), block);
  return failed(made) ? failure() : ctx.set(0, element, *made);
}

static LogicalResult inferDepthToSpace(ShapeContext &ctx) {
  return inferDepth(ctx, [&](ArrayRef<Dim> d, int64_t block) -> FailureOr<SmallVector<Dim>> {
    if (d[1]->isConst() && d[1]->value % (block * block))
      return ctx.error("the channels of " + ctx.str(d) + " are no multiple of blocksize² = " + Twine(block * block));
    return SmallVector<Dim>{d[0], ctx.table.floorDiv(d[1], block * block), ctx.table.mul(d[2], block),
                            ctx.table.mul(d[3], block)};
  });
}

static LogicalResult inferSpaceToDepth(ShapeContext &ctx) {
  return inferDepth(ctx, [&](ArrayRef<Dim> d, int64_t block) -> FailureOr<SmallVector<Dim>> {
    for (int64_t axis : {2, 3})
      if (d[axis]->isConst() && d[axis]->value % block)
        return ctx.error("axis " + Twine(axis) + " of " + ctx.str(d) +
                         " is no multiple of blocksize = " + Twine(block));
    return SmallVector<Dim>{d[0], ctx.table.mul(d[1], block * block), ctx.table.floorDiv(d[2], block),
                            ctx.table.floorDiv(d[3], block)};
  });
}

static LogicalResult inferCenterCropPad(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  auto shape = ctx.elements(1);
  auto given = ctx.intsAttr("axes");
  SmallVector<int64_t> axes = given ? *given : llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  if (shape && shape->size() != axes.size())
    return ctx.error("shape " + ctx.str(*shape) + " has not one entry for each of " + Twine(axes.size()) + " axes");
  for (auto [i, a] : llvm::enumerate(axes)) {
    auto axis = ctx.axis(a, dims.size(), "axes: axis");
    if (failed(axis))
      return failure();
    dims[*axis] = shape ? (*shape)[i] : ctx.leaf(0, *axis);
  }
  return ctx.set(0, element, dims);
}

/// image: [N, C, image_shape...] of [N, C * product(block_shape), L]
static LogicalResult inferCol2Im(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (failed(ctx.expectRank(0, 3)))
    return failure();
  auto image = ctx.elements(1), block = ctx.elements(2);
  if (!image)
    return ctx.setUnranked(0, element);
  if (!ctx.ranked(0) || !block)
    return ctx.setRank(0, element, image->size() + 2);
  Dim product = ctx.table.numElements(*block), channels = ctx.dims(0)[1];
  if (product->isConst() && product->value <= 0)
    return ctx.error("block_shape " + ctx.str(*block) + " must be positive");
  if (product->isConst() && channels->isConst() && channels->value % product->value)
    return ctx.error("axis 1 of " + ctx.str(ctx.dims(0)) + " is no multiple of the block's size");
  SmallVector<Dim> dims = {ctx.dims(0)[0], ctx.table.floorDiv(channels, product)};
  dims.append(*image);
  return ctx.set(0, element, dims);
}

void optc::registerMovementShapes(ShapeFnTable &t) {
  add(t, {"Reshape"}, inferReshape);
  add(t, {"Flatten"}, inferFlatten);
  add(t, {"Squeeze"}, inferSqueeze);
  add(t, {"Unsqueeze"}, inferUnsqueeze);
  add(t, {"Transpose"}, inferTranspose);
  add(t, {"Expand"}, inferExpand);
  add(t, {"Tile"}, inferTile);
  add(t, {"Pad"}, inferPad);
  add(t, {"Concat"}, inferConcatOp);
  add(t, {"Split"}, inferSplit);
  add(t, {"Slice"}, inferSlice);
  add(t, {"DepthToSpace"}, inferDepthToSpace);
  add(t, {"SpaceToDepth"}, inferSpaceToDepth);
  add(t, {"CenterCropPad"}, inferCenterCropPad);
  add(t, {"Col2Im"}, inferCol2Im);
}
