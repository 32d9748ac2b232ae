//===- Contraction.cpp - products and windows shared by lowerings ---------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

Type optc::accumulatorOf(Type elem) {
  auto narrow = dyn_cast<FloatType>(elem);
  return narrow && narrow.getWidth() < 32 ? Float32Type::get(elem.getContext()) : elem;
}

void optc::require(Lowering &l, Value condition, const Twine &message) {
  if (getConstantIntValue(condition).value_or(0) == 0)
    l.check(condition, message);
}

void optc::requireEqual(Lowering &l, Dim x, Dim y, const Twine &message) {
  if (x != y)
    require(l, IndexMath{l.b, l.loc}.eq(l.index(x), l.index(y)), message);
}

void optc::requireBroadcast(Lowering &l, ArrayRef<Dim> dims, ArrayRef<Dim> out, const Twine &message) {
  IndexMath m{l.b, l.loc};
  for (auto [x, y] : llvm::zip(llvm::reverse(dims), llvm::reverse(out))) {
    if (x == y || isConst(x, 1))
      continue;
    Value size = l.index(x);
    require(l, l.b.createOrFold<arith::OrIOp>(l.loc, m.eq(size, m.c(1)), m.eq(size, l.index(y))), message);
  }
}

ContractBody optc::multiplyAdd(Type aElem, Type bElem, Type accElem) {
  return [=](OpBuilder &b, Location loc, ValueRange in, Value acc) -> Value {
    auto widened = [&](Value v, Type elem) {
      return Lowering::computeType(elem) == Lowering::computeType(accElem) ? v : castScalar(b, loc, v, elem, accElem);
    };
    ScalarOps ops{b, loc, accElem};
    Value product = ops.mul(widened(in[0], aElem), widened(in[1], bElem));
    return acc ? ops.add(acc, product) : product;
  };
}

Value optc::convertElements(Lowering &l, Value lowered, Type from, Type to, ArrayRef<Dim> dims) {
  if (from == to)
    return lowered;
  return l.elementwise(
      Lowering::Input{lowered, from, llvm::to_vector(dims)}, to, dims, [&](OpBuilder &b, Location loc, ValueRange in) {
        return Lowering::computeType(from) == Lowering::computeType(to) ? in[0] : castScalar(b, loc, in[0], from, to);
      });
}

namespace {
/// The batch axes of one operand of a matrix product against those of the result.
struct Batch {
  Lowering::Input input;
  SmallVector<int64_t> axes; ///< axis of the result's batch for each batch axis of the input
};
} // namespace

/// Drops batch axes of size 1 and expands those that may be 1 at run time, so that each left is an axis of the result.
static Batch alignBatch(Lowering &l, Lowering::Input in, size_t matrixAxes, ArrayRef<Dim> batch) {
  size_t count = in.dims.size() - matrixAxes;
  bool expand = false, drop = false;
  for (size_t i = 0; i < count; ++i) {
    Dim dim = in.dims[i];
    if (isConst(dim, 1))
      drop = true;
    else if (dim != batch[batch.size() - count + i] && !constOf(dim))
      expand = true;
  }
  if (expand) {
    requireBroadcast(l, ArrayRef(in.dims).take_front(count), batch, "the batch axes do not broadcast");
    SmallVector<Dim> full(batch.begin(), batch.end());
    llvm::append_range(full, ArrayRef(in.dims).take_back(matrixAxes));
    in.lowered = l.elementwise(in, in.elem, full, [](OpBuilder &, Location, ValueRange v) { return v[0]; });
    in.dims = full;
    count = batch.size();
    drop = llvm::any_of(batch, [](Dim d) { return isConst(d, 1); });
  }
  Batch result{in, {}};
  SmallVector<Dim> kept;
  for (size_t i = 0; i < in.dims.size(); ++i) {
    if (i < count && isConst(in.dims[i], 1))
      continue;
    kept.push_back(in.dims[i]);
    if (i < count)
      result.axes.push_back(batch.size() - count + i);
  }
  if (drop)
    result.input = {l.view(in.lowered, in.elem, kept), in.elem, kept};
  return result;
}

Value optc::matmulProduct(Lowering &l, StringRef label, Lowering::Input a, Lowering::Input b, Type outElem,
                          SmallVector<Dim> outDims) {
  Type accElem = accumulatorOf(outElem);
  requireEqual(l, a.dims.back(), b.dims[b.dims.size() - (b.dims.size() > 1 ? 2 : 1)],
               "the inner sizes of the product differ");
  size_t aMatrix = std::min<size_t>(a.dims.size(), 2), bMatrix = std::min<size_t>(b.dims.size(), 2);
  bool hasM = aMatrix == 2, hasN = bMatrix == 2;
  SmallVector<Dim> batch(outDims.begin(), outDims.end() - (hasM + hasN));
  Batch left = alignBatch(l, a, aMatrix, batch), right = alignBatch(l, b, bMatrix, batch);

  MLIRContext *ctx = l.b.getContext();
  unsigned loops = batch.size() + hasM + hasN + 1;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, ctx); };
  unsigned mLoop = batch.size(), nLoop = mLoop + hasM, kLoop = loops - 1;
  SmallVector<AffineExpr> aExprs, bExprs, outExprs;
  for (int64_t axis : left.axes)
    aExprs.push_back(dim(axis));
  for (int64_t axis : right.axes)
    bExprs.push_back(dim(axis));
  if (hasM)
    aExprs.push_back(dim(mLoop));
  aExprs.push_back(dim(kLoop));
  bExprs.push_back(dim(kLoop));
  if (hasN)
    bExprs.push_back(dim(nLoop));
  for (unsigned i = 0; i < kLoop; ++i)
    outExprs.push_back(dim(i));
  SmallVector<AffineMap> maps = {AffineMap::get(loops, 0, aExprs, ctx), AffineMap::get(loops, 0, bExprs, ctx),
                                 AffineMap::get(loops, 0, outExprs, ctx)};
  SmallVector<Iter> iterators(kLoop, Iter::parallel);
  iterators.push_back(Iter::reduction);
  Value product = l.contract(label, {left.input, right.input}, maps, iterators, accElem, outDims,
                             ScalarOps{l.b, l.loc, accElem}.constantInt(0), multiplyAdd(a.elem, b.elem, accElem));
  return convertElements(l, product, accElem, outElem, outDims);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The ints of an attribute, `fallback` for each axis when absent. Fails when the count is wrong or a value is below
/// `least`.
static FailureOr<SmallVector<int64_t>> intsOf(Operation *op, StringRef name, size_t count, int64_t fallback,
                                              int64_t least) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attr || attr.empty())
    return SmallVector<int64_t>(count, fallback);
  if (attr.size() != static_cast<int64_t>(count))
    return unsupported(op, "attribute '" + name + "' has " + Twine(attr.size()) + " values, but the input needs " +
                               Twine(count)),
           failure();
  for (int64_t v : attr.asArrayRef())
    if (v < least || v > (int64_t(1) << 40))
      return unsupported(op, "attribute '" + name + "' has the value " + Twine(v) + "; values from " + Twine(least) +
                                 " are supported"),
             failure();
  return llvm::to_vector(attr.asArrayRef());
}

FailureOr<Window> optc::windowOf(Operation *op, Lowering &l, ArrayRef<Dim> in, ArrayRef<Dim> kernel,
                                 ArrayRef<Dim> out) {
  size_t rank = in.size();
  Window w;
  w.in.assign(in.begin(), in.end());
  w.kernel.assign(kernel.begin(), kernel.end());
  w.out.assign(out.begin(), out.end());
  if (kernel.size() != rank || out.size() != rank)
    return unsupported(op,
                       "the input has " + Twine(rank) + " spatial axes, but the window has " + Twine(kernel.size())),
           failure();
  FailureOr<SmallVector<int64_t>> strides = intsOf(op, "strides", rank, 1, 1),
                                  dilations = intsOf(op, "dilations", rank, 1, 1),
                                  pads = intsOf(op, "pads", 2 * rank, 0, -(int64_t(1) << 31));
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  w.strides = *strides;
  w.dilations = *dilations;
  StringRef autoPad = "NOTSET";
  if (auto attr = op->getAttrOfType<StringAttr>("auto_pad"); attr && !attr.empty())
    autoPad = attr.getValue();
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID")
    return unsupported(op, "attribute 'auto_pad' is '" + autoPad +
                               "'; NOTSET, SAME_UPPER, SAME_LOWER and VALID are supported"),
           failure();
  auto ceilAttr = op->getAttrOfType<IntegerAttr>("ceil_mode");
  bool ceil = ceilAttr && ceilAttr.getInt() != 0;

  IndexMath m{l.b, l.loc};
  for (size_t i = 0; i < rank; ++i) {
    // What the windows cover: (out - 1) * stride + (kernel - 1) * dilation + 1.
    Dim span = addDims(l, scaleDim(l, addDim(l, kernel[i], -1), w.dilations[i]), constDim(l, 1));
    Dim covered = addDims(l, scaleDim(l, addDim(l, out[i], -1), w.strides[i]), span);
    Value inSize = l.index(in[i]);
    if (same) {
      Value total = m.max(m.sub(l.index(covered), inSize), m.c(0)), half = m.div(total, 2);
      Value begin = autoPad == "SAME_UPPER" ? half : m.sub(total, half);
      w.padBegin.push_back(begin);
      w.padTotalEnd.push_back(m.add(inSize, total));
      w.padded.push_back(maxDim(l, in[i], covered));
      std::optional<int64_t> known = getConstantIntValue(total);
      w.needsPad |= !known || *known != 0;
      continue;
    }
    int64_t begin = autoPad == "VALID" ? 0 : (*pads)[i], end = autoPad == "VALID" ? 0 : (*pads)[rank + i];
    w.padBegin.push_back(m.c(begin));
    w.padTotalEnd.push_back(m.add(inSize, begin + end));
    Dim explicitSize = addDim(l, in[i], begin + end);
    std::optional<int64_t> coveredSize = constOf(covered), size = constOf(explicitSize);
    bool fits = !ceil || (coveredSize && size && *coveredSize <= *size);
    w.padded.push_back(fits ? explicitSize : maxDim(l, explicitSize, covered));
    w.needsPad |= begin != 0 || end != 0 || !fits;
  }
  return w;
}

Lowering::Input optc::padded(Lowering &l, const Window &w, Lowering::Input x,
                             llvm::function_ref<Value(ScalarOps)> fill) {
  if (!w.needsPad)
    return x;
  SmallVector<Dim> dims = {x.dims[0], x.dims[1]};
  llvm::append_range(dims, w.padded);
  SmallVector<Value> sizes = l.indices(w.in);
  Value result = l.generate("pad", x.elem, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    SmallVector<Value> source = {at[0], at[1]};
    Value inside;
    for (size_t i = 0; i < w.rank(); ++i) {
      source.push_back(m.sub(at[2 + i], w.padBegin[i]));
      inside = m.both(inside, m.inside(source.back(), sizes[i]));
    }
    return ifElse(b, loc, inside, fill(ScalarOps{b, loc, x.elem}),
                  [&](OpBuilder &nested) { return l.load(nested, loc, x.lowered, x.elem, source); });
  });
  return {result, x.elem, dims};
}

Value optc::convolve(Lowering &l, const Window &w, Lowering::Input x, Lowering::Input weights, int64_t group,
                     Type accElem, const ContractBody &body) {
  size_t rank = w.rank();
  requireEqual(l, x.dims[1], scaleDim(l, weights.dims[1], group), "the channels of X are not those of W times group");
  Dim channels = weights.dims[1], filters = divideDim(l, weights.dims[0], group);
  SmallVector<Dim> spatial(x.dims.begin() + 2, x.dims.end());
  bool pointwise = llvm::all_of(w.kernel, [](Dim d) { return isConst(d, 1); }) &&
                   llvm::all_of(w.strides, [](int64_t s) { return s == 1; }) && ArrayRef(spatial) == ArrayRef(w.out);

  // Loops: n, (group), (filter), out..., (channel), kernel...; a depthwise one lacks channels or filters of its own.
  bool grouped = group != 1, hasFilter = !grouped || !isConst(filters, 1);
  bool hasChannel = !grouped || pointwise || !isConst(channels, 1);
  MLIRContext *ctx = l.b.getContext();
  SmallVector<Iter> iterators;
  auto loop = [&](Iter kind) {
    iterators.push_back(kind);
    return getAffineDimExpr(iterators.size() - 1, ctx);
  };
  SmallVector<Dim> xDims, wDims, outDims;
  SmallVector<AffineExpr> xExprs, wExprs, outExprs;
  struct Side {
    SmallVectorImpl<Dim> &dims;
    SmallVectorImpl<AffineExpr> &exprs;
  } xSide{xDims, xExprs}, wSide{wDims, wExprs}, outSide{outDims, outExprs};
  auto add = [](std::initializer_list<Side> sides, Dim dim, AffineExpr expr) {
    for (const Side &side : sides) {
      side.dims.push_back(dim);
      side.exprs.push_back(expr);
    }
  };
  add({xSide, outSide}, x.dims[0], loop(Iter::parallel));
  if (grouped)
    add({xSide, wSide, outSide}, constDim(l, group), loop(Iter::parallel));
  if (hasFilter)
    add({wSide, outSide}, filters, loop(Iter::parallel));
  SmallVector<AffineExpr> at;
  for (size_t i = 0; i < rank; ++i) {
    at.push_back(loop(Iter::parallel));
    add({outSide}, w.out[i], at[i]);
  }
  if (hasChannel)
    add({xSide, wSide}, channels, loop(Iter::reduction));
  for (size_t i = 0; i < rank; ++i) {
    if (pointwise) {
      add({xSide}, spatial[i], at[i]);
      continue;
    }
    AffineExpr k = loop(Iter::reduction);
    add({xSide}, spatial[i], at[i] * w.strides[i] + k * w.dilations[i]);
    add({wSide}, w.kernel[i], k);
  }
  unsigned loops = iterators.size();
  SmallVector<AffineMap> maps = {AffineMap::get(loops, 0, xExprs, ctx), AffineMap::get(loops, 0, wExprs, ctx),
                                 AffineMap::get(loops, 0, outExprs, ctx)};
  auto viewed = [&](Value v, Type elem, ArrayRef<Dim> have, ArrayRef<Dim> want) {
    return have == want ? v : l.view(v, elem, want);
  };
  SmallVector<Lowering::Input> inputs = {
      {viewed(x.lowered, x.elem, x.dims, xDims), x.elem, xDims},
      {viewed(weights.lowered, weights.elem, weights.dims, wDims), weights.elem, wDims}};
  Value sum = l.contract(pointwise ? "conv1x1" : "conv", inputs, maps, iterators, accElem, outDims,
                         ScalarOps{l.b, l.loc, accElem}.constantInt(0), body);
  SmallVector<Dim> result = {x.dims[0], weights.dims[0]};
  llvm::append_range(result, w.out);
  return viewed(sum, accElem, outDims, result);
}
