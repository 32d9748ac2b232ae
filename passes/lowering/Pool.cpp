//===- Pool.cpp - MaxPool, AveragePool, LpPool, Global*Pool, MaxUnpool ----===//
//
// A window is a reduction over the padded input; one of very many taps is a loop inside each element.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

/// Largest window that is a reduction: an operand of that size, which is never read, tells it.
static constexpr int64_t kMaxTaps = 1 << 13;

namespace {
/// How the elements of a window become one value.
struct Fold {
  Type elem, accElem;
  std::function<Value(ScalarOps)> init;                                    ///< also what the padding holds
  std::function<Value(OpBuilder &, Location, Value acc, Value x)> combine; ///< x is a compute scalar of `elem`
};

struct PoolShape {
  Window window;
  SmallVector<int64_t> kernel;
  Lowering::Input x;
  SmallVector<Dim> out;
};
} // namespace

static FailureOr<PoolShape> poolShape(Operation *op, Lowering &l, Value x, Value y) {
  auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  PoolShape shape;
  shape.x = l.input(x);
  shape.out = llvm::to_vector(l.dims(y));
  if (shape.x.dims.size() < 3)
    return unsupported(op, "the input must have rank 3 or more, but its rank is " + Twine(shape.x.dims.size())),
           failure();
  SmallVector<Dim> kernelDims;
  for (int64_t k : kernel.asArrayRef()) {
    if (k < 1 || k > (int64_t(1) << 31))
      return unsupported(op, "attribute 'kernel_shape' has the value " + Twine(k) + "; values from 1 are supported"),
             failure();
    shape.kernel.push_back(k);
    kernelDims.push_back(constDim(l, k));
  }
  FailureOr<Window> window =
      windowOf(op, l, ArrayRef(shape.x.dims).drop_front(2), kernelDims, ArrayRef(shape.out).drop_front(2));
  if (failed(window))
    return failure();
  shape.window = *window;
  return shape;
}

/// Folds every window as a reduction over the padded input, which holds them all.
static Value foldReduction(Lowering &l, StringRef label, const PoolShape &p, const Fold &fold) {
  const Window &w = p.window;
  Lowering::Input x = padded(l, w, p.x, fold.init);
  // Nothing else tells how far the taps' loops go.
  Type size = l.b.getI8Type();
  SmallVector<Dim> taps = llvm::map_to_vector(p.kernel, [&](int64_t k) { return constDim(l, k); });
  Lowering::Input window{l.empty(size, taps), size, taps};

  MLIRContext *ctx = l.b.getContext();
  unsigned parallel = 2 + w.rank(), loops = parallel + w.rank();
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, ctx); };
  SmallVector<AffineExpr> xExprs = {dim(0), dim(1)}, windowExprs, outExprs = {dim(0), dim(1)};
  for (unsigned i = 0; i < w.rank(); ++i) {
    xExprs.push_back(dim(2 + i) * w.strides[i] + dim(parallel + i) * w.dilations[i]);
    windowExprs.push_back(dim(parallel + i));
    outExprs.push_back(dim(2 + i));
  }
  SmallVector<AffineMap> maps = {AffineMap::get(loops, 0, xExprs, ctx), AffineMap::get(loops, 0, windowExprs, ctx),
                                 AffineMap::get(loops, 0, outExprs, ctx)};
  SmallVector<Iter> iterators(parallel, Iter::parallel);
  iterators.resize(loops, Iter::reduction);
  return l.contract(
      label, {x, window}, maps, iterators, fold.accElem, p.out, fold.init({l.b, l.loc, fold.accElem}),
      [&](OpBuilder &b, Location loc, ValueRange in, Value acc) { return fold.combine(b, loc, acc, in[0]); });
}

/// Calls `visit` for every tap of a window that lies in the input, carrying scalars.
static SmallVector<Value>
overWindow(OpBuilder &b, Location loc, const Window &w, ArrayRef<int64_t> kernel, ArrayRef<Value> sizes, ValueRange at,
           ValueRange init,
           llvm::function_ref<SmallVector<Value>(OpBuilder &, ArrayRef<Value> source, ValueRange carried)> visit) {
  IndexMath m{b, loc};
  SmallVector<Value> counts;
  for (int64_t k : kernel)
    counts.push_back(m.c(k));
  return scalarLoops(b, loc, counts, init, [&](OpBuilder &b, ValueRange k, ValueRange carried) {
    IndexMath m{b, loc};
    SmallVector<Value> source = {at[0], at[1]};
    Value inside;
    for (size_t i = 0; i < w.rank(); ++i) {
      source.push_back(m.sub(m.add(m.mul(at[2 + i], w.strides[i]), m.mul(k[i], w.dilations[i])), w.padBegin[i]));
      inside = m.both(inside, m.inside(source.back(), sizes[i]));
    }
    auto chosen = scf::IfOp::create(
        b, loc, inside,
        [&](OpBuilder &nested, Location) { scf::YieldOp::create(nested, loc, visit(nested, source, carried)); },
        [&](OpBuilder &nested, Location) { scf::YieldOp::create(nested, loc, carried); });
    return SmallVector<Value>(chosen.getResults());
  });
}

static Value foldWindows(Lowering &l, StringRef label, const PoolShape &p, const Fold &fold) {
  int64_t taps = 1;
  for (int64_t k : p.kernel)
    taps = std::min<int64_t>(taps * k, kMaxTaps + 1);
  if (taps <= kMaxTaps)
    return foldReduction(l, label, p, fold);
  SmallVector<Value> sizes = l.indices(p.window.in);
  return l.generate(label, fold.accElem, p.out, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    return overWindow(b, loc, p.window, p.kernel, sizes, at, {fold.init({b, loc, fold.accElem})},
                      [&](OpBuilder &b, ArrayRef<Value> source, ValueRange acc) {
                        return SmallVector<Value>{
                            fold.combine(b, loc, acc[0], l.load(b, loc, p.x.lowered, p.x.elem, source))};
                      })[0];
  });
}

static Fold maximum(Type elem) {
  // The element first: machines test that operand for NaN, once for all windows that share it.
  return {elem, elem, [](ScalarOps s) { return s.lowest(); },
          [elem](OpBuilder &b, Location loc, Value acc, Value x) { return ScalarOps{b, loc, elem}.max(x, acc); }};
}

static Fold sum(Type elem, std::function<Value(OpBuilder &, Location, Value)> map = nullptr) {
  Type accElem = accumulatorOf(elem);
  return {elem, accElem, [](ScalarOps s) { return s.constant(0); },
          [=](OpBuilder &b, Location loc, Value acc, Value x) {
            return ScalarOps{b, loc, accElem}.add(acc, map ? map(b, loc, x) : x);
          }};
}

/// |x|^p for a whole p from 1.
static Value absPower(OpBuilder &b, Location loc, Value x, int64_t p) {
  FloatMath f(b, loc, x.getType());
  Value a = f.abs(x);
  if (p > 4)
    return math::PowFOp::create(b, loc, a, f.constant(p));
  Value result = a;
  for (int64_t i = 1; i < p; ++i)
    result = f.mul(result, a);
  return result;
}
static Value root(OpBuilder &b, Location loc, Value x, int64_t p) {
  if (p == 1)
    return x;
  if (p == 2)
    return math::SqrtOp::create(b, loc, x);
  FloatMath f(b, loc, x.getType());
  return math::PowFOp::create(b, loc, x, f.constant(1.0 / p));
}

/// out[i] = body(x[i], i) for a tensor of `accElem`.
static Value finish(Lowering &l, Value x, Type accElem, Type elem, ArrayRef<Dim> dims,
                    llvm::function_ref<Value(OpBuilder &, Location, Value x)> body) {
  return l.elementwise(Lowering::Input{x, accElem, llvm::to_vector(dims)}, elem, dims,
                       [&](OpBuilder &b, Location loc, ValueRange in) { return body(b, loc, in[0]); });
}

static LogicalResult lowerMaxPool(Operation *op, Lowering &l) {
  auto pool = cast<onnx::MaxPoolOp>(op);
  FailureOr<PoolShape> shape = poolShape(op, l, pool.getX(), pool.getY());
  if (failed(shape))
    return failure();
  Type elem = shape->x.elem;
  l.set(pool.getY(), foldWindows(l, "maxpool", *shape, maximum(elem)));
  if (!pool.getIndices())
    return success();
  // The position of the first largest element, counted over the whole input; -1 for windows that lie in the padding.
  SmallVector<Value> sizes = l.indices(shape->window.in);
  Value channels = l.index(shape->x.dims[1]);
  bool columnMajor = pool.getStorageOrder() != 0;
  Value indices = l.generate("maxpool_indices", l.elem(pool.getIndices()), shape->out,
                             [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                               IndexMath m{b, loc};
                               ScalarOps ops{b, loc, elem};
                               Value best =
                                   overWindow(b, loc, shape->window, shape->kernel, sizes, at, {ops.lowest(), m.c(-1)},
                                              [&](OpBuilder &b, ArrayRef<Value> source, ValueRange carried) {
                                                IndexMath m{b, loc};
                                                ScalarOps ops{b, loc, elem};
                                                Value v = l.load(b, loc, shape->x.lowered, elem, source);
                                                Value position = m.c(0);
                                                size_t rank = sizes.size();
                                                for (size_t n = 0; n < rank; ++n) {
                                                  size_t i = columnMajor ? rank - 1 - n : n;
                                                  position = m.add(m.mul(position, sizes[i]), source[2 + i]);
                                                }
                                                Value better = ops.lt(carried[0], v);
                                                better = arith::OrIOp::create(b, loc, better, m.lt(carried[1], m.c(0)));
                                                return SmallVector<Value>{ops.select(better, v, carried[0]),
                                                                          m.select(better, position, carried[1])};
                                              })[1];
                               Value plane = m.add(m.mul(at[0], channels), at[1]);
                               for (Value size : sizes)
                                 plane = m.mul(plane, size);
                               Value index = m.select(m.lt(best, m.c(0)), best, m.add(plane, best));
                               return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
                             });
  l.set(pool.getIndices(), indices);
  return success();
}

static LogicalResult lowerAveragePool(Operation *op, Lowering &l) {
  auto pool = cast<onnx::AveragePoolOp>(op);
  FailureOr<PoolShape> shape = poolShape(op, l, pool.getX(), pool.getY());
  if (failed(shape))
    return failure();
  const Window &w = shape->window;
  Fold fold = sum(shape->x.elem);
  Value total = foldWindows(l, "averagepool", *shape, fold);
  bool includePad = pool.getCountIncludePad() != 0;
  SmallVector<Value> starts, ends;
  for (size_t i = 0; i < w.rank(); ++i) {
    // Counted are the taps within the input, or within the input and its explicit padding.
    starts.push_back(includePad ? l.constIndex(0) : w.padBegin[i]);
    ends.push_back(includePad ? w.padTotalEnd[i] : IndexMath{l.b, l.loc}.add(w.padBegin[i], l.index(w.in[i])));
  }
  int64_t taps = 1;
  for (int64_t k : shape->kernel)
    taps *= k;
  bool always = !w.needsPad;
  Type work = Lowering::computeType(fold.accElem);
  // The divisor of each output element: a product of one count per axis, computed where the element is.
  MLIRContext *ctx = op->getContext();
  SmallVector<AffineMap> maps(2, AffineMap::getMultiDimIdentityMap(shape->out.size(), ctx));
  Value y =
      l.contract("averagepool_scale", {Lowering::Input{total, fold.accElem, shape->out}}, maps,
                 SmallVector<Iter>(shape->out.size(), Iter::parallel), shape->x.elem, shape->out, nullptr,
                 [&](OpBuilder &b, Location loc, ValueRange in, Value) -> Value {
                   FloatMath f(b, loc, work);
                   if (always)
                     return f.div(in[0], f.constant(static_cast<double>(taps)));
                   IndexMath m{b, loc};
                   Value count;
                   for (size_t i = 0; i < w.rank(); ++i) {
                     // Taps k with start <= o * stride + k * dilation < end.
                     Value o = m.mul(linalg::IndexOp::create(b, loc, 2 + i), w.strides[i]);
                     auto below = [&](Value limit) { // number of taps before `limit`
                       Value room = m.max(m.sub(limit, o), m.c(0));
                       return m.min(m.div(m.add(room, w.dilations[i] - 1), w.dilations[i]), m.c(shape->kernel[i]));
                     };
                     Value n = m.sub(below(ends[i]), below(starts[i]));
                     count = count ? m.mul(count, n) : n;
                   }
                   return f.div(in[0], f.fromIndex(count));
                 });
  l.set(pool.getY(), y);
  return success();
}

static LogicalResult lowerLpPool(Operation *op, Lowering &l) {
  auto pool = cast<onnx::LpPoolOp>(op);
  int64_t p = pool.getP();
  if (p < 1)
    return unsupported(op, "attribute 'p' is " + Twine(p) + "; values from 1 are supported");
  FailureOr<PoolShape> shape = poolShape(op, l, pool.getX(), pool.getY());
  if (failed(shape))
    return failure();
  Fold fold = sum(shape->x.elem, [p](OpBuilder &b, Location loc, Value x) { return absPower(b, loc, x, p); });
  Value total = foldWindows(l, "lppool", *shape, fold);
  l.set(pool.getY(), finish(l, total, fold.accElem, shape->x.elem, shape->out,
                            [&](OpBuilder &b, Location loc, Value x) { return root(b, loc, x, p); }));
  return success();
}

//===----------------------------------------------------------------------===//
// Global pooling
//===----------------------------------------------------------------------===//

static LogicalResult lowerGlobalPool(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), y = op->getResult(0);
  Lowering::Input in = l.input(x);
  if (in.dims.size() < 2)
    return unsupported(op, "the input must have rank 2 or more, but its rank is " + Twine(in.dims.size()));
  int64_t p = 0;
  if (auto lp = dyn_cast<onnx::GlobalLpPoolOp>(op)) {
    p = lp.getP();
    if (p < 1)
      return unsupported(op, "attribute 'p' is " + Twine(p) + "; values from 1 are supported");
  }
  bool isMax = isa<onnx::GlobalMaxPoolOp>(op);
  Fold fold = isMax ? maximum(in.elem)
                    : sum(in.elem, p ? [p](OpBuilder &b, Location loc, Value v) { return absPower(b, loc, v, p); }
                                     : std::function<Value(OpBuilder &, Location, Value)>());
  SmallVector<Dim> planes = {in.dims[0], in.dims[1]};
  Dim count = productOf(l, ArrayRef(in.dims).drop_front(2));
  Lowering::Input flat{
      l.view(in.lowered, in.elem, {in.dims[0], in.dims[1], count}), in.elem, {in.dims[0], in.dims[1], count}};
  Value total = l.reduce(
      "globalpool", flat, {2}, fold.accElem, fold.init({l.b, l.loc, fold.accElem}),
      [](OpBuilder &, Location, Value v) { return v; },
      [&](OpBuilder &b, Location loc, Value acc, Value v) { return fold.combine(b, loc, acc, v); });
  Value size = l.index(count);
  Value result =
      isMax ? total : finish(l, total, fold.accElem, in.elem, planes, [&](OpBuilder &b, Location loc, Value v) {
        FloatMath f(b, loc, v.getType());
        return p ? root(b, loc, v, p) : f.div(v, f.fromIndex(size));
      });
  l.set(y, l.view(result, in.elem, l.dims(y)));
  return success();
}

//===----------------------------------------------------------------------===//
// MaxUnpool
//===----------------------------------------------------------------------===//

/// Scatters elements to the positions that MaxPool reported. With output_shape, positions still count in the inferred
/// shape.
static LogicalResult lowerMaxUnpool(Operation *op, Lowering &l) {
  auto pool = cast<onnx::MaxUnpoolOp>(op);
  Lowering::Input x = l.input(pool.getX());
  SmallVector<Dim> out = llvm::to_vector(l.dims(pool.getOutput()));
  ArrayRef<int64_t> kernel = pool.getKernelShape();
  size_t rank = kernel.size();
  if (x.dims.size() != rank + 2 || out.size() != rank + 2)
    return unsupported(op, "attribute 'kernel_shape' has " + Twine(rank) + " values, but the input has rank " +
                               Twine(x.dims.size()));
  if (pool.getOutputShape() && isRanked(l, pool.getOutputShape()))
    checkSameSize(l, l.dims(pool.getOutputShape())[0], constDim(l, out.size()),
                  "output_shape must have " + Twine(out.size()) + " elements");
  SmallVector<Dim> ones(rank, constDim(l, 1));
  FailureOr<Window> window = windowOf(op, l, ones, ones, ones); // for its checks of strides and pads
  if (failed(window))
    return failure();
  auto pads = pool.getPads();
  SmallVector<Dim> inferred = {x.dims[0], x.dims[1]};
  for (size_t i = 0; i < rank; ++i) {
    int64_t pad = pads && !pads->empty() ? (*pads)[i] + (*pads)[rank + i] : 0;
    inferred.push_back(addDim(l, scaleDim(l, addDim(l, x.dims[2 + i], -1), window->strides[i]), kernel[i] - pad));
  }
  SmallVector<Value> sizes = l.indices(x.dims), outSizes = l.indices(out), from = l.indices(inferred);
  Value indices = l.get(pool.getI());
  Type elem = x.elem;
  Value y =
      l.loops("maxunpool", {{elem, out}}, [&](OpBuilder &b, Location loc, ValueRange dests) -> SmallVector<Value> {
        SmallVector<Value> cleared =
            Lowering::loopNest(b, loc, outSizes, dests, [&](OpBuilder &b, Location loc, ValueRange at, ValueRange t) {
              Value zero = Lowering::toStorage(b, loc, ScalarOps{b, loc, elem}.constant(0), elem);
              return SmallVector<Value>{tensor::InsertOp::create(b, loc, zero, t[0], at)};
            });
        return Lowering::loopNest(b, loc, sizes, cleared, [&](OpBuilder &b, Location loc, ValueRange at, ValueRange t) {
          IndexMath m{b, loc};
          Value flat =
              arith::IndexCastOp::create(b, loc, b.getIndexType(), tensor::ExtractOp::create(b, loc, indices, at));
          SmallVector<Value> to(out.size());
          Value inside = m.le(m.c(0), flat), rest = flat;
          for (size_t i = out.size(); i-- > 0;) {
            to[i] = i ? m.rem(rest, from[i]) : rest;
            rest = m.div(rest, from[i]);
            inside = m.both(inside, m.inside(to[i], outSizes[i]));
          }
          Value v = tensor::ExtractOp::create(b, loc, x.lowered, at);
          auto stored = scf::IfOp::create(
              b, loc, inside,
              [&](OpBuilder &nested, Location) {
                scf::YieldOp::create(nested, loc, tensor::InsertOp::create(nested, loc, v, t[0], to).getResult());
              },
              [&](OpBuilder &nested, Location) { scf::YieldOp::create(nested, loc, t[0]); });
          return SmallVector<Value>{stored.getResult(0)};
        });
      })[0];
  l.set(pool.getOutput(), y);
  return success();
}

void optc::registerPoolLowerings(LoweringTable &table) {
  static constexpr std::pair<StringLiteral, LowerFn> kFunctions[] = {
      {"onnx.MaxPool", lowerMaxPool},
      {"onnx.AveragePool", lowerAveragePool},
      {"onnx.LpPool", lowerLpPool},
      {"onnx.GlobalMaxPool", lowerGlobalPool},
      {"onnx.GlobalAveragePool", lowerGlobalPool},
      {"onnx.GlobalLpPool", lowerGlobalPool},
      {"onnx.MaxUnpool", lowerMaxUnpool},
  };
  for (auto [name, function] : kFunctions)
    table[name] = function;
  registerRoiLowerings(table);
}
