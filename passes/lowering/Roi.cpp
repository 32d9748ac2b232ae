//===- Roi.cpp - MaxRoiPool, RoiAlign -------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

static LogicalResult checkRoi(Operation *op, Lowering &l, Value x, Value rois, int64_t columns) {
  if (l.rank(x) != 4 || l.rank(rois) != 2)
    return unsupported(op, "X must have rank 4 and rois rank 2, but they have " + Twine(l.rank(x)) + " and " +
                               Twine(l.rank(rois)));
  IndexMath m{l.b, l.loc};
  require(l, m.eq(l.index(l.dims(rois)[1]), m.c(columns)), "rois must have " + Twine(columns) + " columns");
  return success();
}

static LogicalResult lowerMaxRoiPool(Operation *op, Lowering &l) {
  auto pool = cast<onnx::MaxRoiPoolOp>(op);
  if (failed(checkRoi(op, l, pool.getX(), pool.getRois(), 5)))
    return failure();
  Lowering::Input x = l.input(pool.getX());
  Type elem = x.elem, work = accumulatorOf(elem);
  Value rois = l.get(pool.getRois());
  SmallVector<Value> sizes = l.indices(x.dims);
  ArrayRef<int64_t> pooled = pool.getPooledShape();
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return unsupported(op, "attribute 'pooled_shape' must have two values from 1");
  double scale = pool.getSpatialScale().convertToDouble();
  Value y =
      l.generate("maxroipool", elem, l.dims(pool.getY()), [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath m{b, loc};
        FloatMath f(b, loc, work);
        auto column = [&](int64_t i) { return l.load(b, loc, rois, elem, {at[0], m.c(i)}); };
        Value batch = f.toIndex(column(0), m.c(0), m.max(m.add(sizes[0], -1), m.c(0)));
        // Corners in whole pixels, both included.
        auto corner = [&](int64_t i) {
          return f.toIndex(math::RoundOp::create(b, loc, f.mul(column(i), f.constant(scale))), -kCoordinateLimit,
                           kCoordinateLimit);
        };
        SmallVector<Value> begin(2), end(2);
        for (int axis = 0; axis < 2; ++axis) {
          Value start = corner(axis == 0 ? 2 : 1), stop = corner(axis == 0 ? 4 : 3);
          Value length = m.max(m.add(m.sub(stop, start), 1), m.c(1));
          Value bin = f.div(f.fromIndex(length), f.constant(static_cast<double>(pooled[axis])));
          Value p = at[2 + axis];
          auto bound = [&](Value v) {
            return m.max(m.min(m.add(f.toIndex(v, -kCoordinateLimit, kCoordinateLimit), start), sizes[2 + axis]),
                         m.c(0));
          };
          begin[axis] = bound(f.floor(f.mul(f.fromIndex(p), bin)));
          end[axis] = bound(f.ceil(f.mul(f.fromIndex(m.add(p, 1)), bin)));
        }
        SmallVector<Value> counts = {m.sub(end[0], begin[0]), m.sub(end[1], begin[1])};
        ScalarOps ops{b, loc, elem};
        Value best = scalarLoops(b, loc, counts, {ops.lowest()}, [&](OpBuilder &b, ValueRange k, ValueRange acc) {
          IndexMath m{b, loc};
          Value v = l.load(b, loc, x.lowered, elem, {batch, at[1], m.add(begin[0], k[0]), m.add(begin[1], k[1])});
          return SmallVector<Value>{ScalarOps{b, loc, elem}.max(acc[0], v)};
        })[0];
        Value empty = arith::OrIOp::create(b, loc, m.le(counts[0], m.c(0)), m.le(counts[1], m.c(0)));
        // A batch without images has nothing to read; its loops would not be empty.
        return ops.select(empty, ops.constant(0), best);
      });
  require(l, IndexMath{l.b, l.loc}.lt(l.constIndex(0), sizes[0]), "X has no images");
  l.set(pool.getY(), y);
  return success();
}

static LogicalResult lowerRoiAlign(Operation *op, Lowering &l) {
  auto align = cast<onnx::RoiAlignOp>(op);
  if (failed(checkRoi(op, l, align.getX(), align.getRois(), 4)))
    return failure();
  StringRef mode = align.getMode(), transform = align.getCoordinateTransformationMode();
  if (mode != "avg" && mode != "max")
    return unsupported(op, "attribute 'mode' is '" + mode + "'; avg and max are supported");
  if (transform != "half_pixel" && transform != "output_half_pixel")
    return unsupported(op, "attribute 'coordinate_transformation_mode' is '" + transform +
                               "'; half_pixel and output_half_pixel are supported");
  bool halfPixel = transform == "half_pixel", average = mode == "avg";
  Lowering::Input x = l.input(align.getX());
  Type elem = x.elem, work = accumulatorOf(elem), indexElem = l.elem(align.getBatchIndices());
  Value rois = l.get(align.getRois()), batches = l.get(align.getBatchIndices());
  SmallVector<Value> sizes = l.indices(x.dims);
  IndexMath host{l.b, l.loc};
  require(l, host.eq(l.index(l.dims(align.getRois())[0]), l.index(l.dims(align.getBatchIndices())[0])),
          "rois and batch_indices have different lengths");
  for (Value size : sizes)
    require(l, host.lt(host.c(0), size), "X has no elements");
  double scale = align.getSpatialScale().convertToDouble();
  int64_t sampling = std::clamp<int64_t>(align.getSamplingRatio(), 0, kCoordinateLimit);
  int64_t pooled[] = {static_cast<int64_t>(align.getOutputHeight()), static_cast<int64_t>(align.getOutputWidth())};

  Value y = l.generate("roialign", elem, l.dims(align.getY()), [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    FloatMath f(b, loc, work);
    Value batch = l.wrapIndex(b, loc, l.load(b, loc, batches, indexElem, {at[0]}), indexElem, sizes[0]);
    SmallVector<Value> start(2), bin(2), grid(2);
    for (int axis = 0; axis < 2; ++axis) {
      auto corner = [&](int64_t i) {
        return f.sub(f.mul(l.load(b, loc, rois, elem, {at[0], m.c(i)}), f.constant(scale)),
                     f.constant(halfPixel ? 0.5 : 0.0));
      };
      start[axis] = corner(axis == 0 ? 1 : 0);
      Value length = f.sub(corner(axis == 0 ? 3 : 2), start[axis]);
      if (!halfPixel)
        length = f.max(length, f.constant(1));
      bin[axis] = f.div(length, f.constant(static_cast<double>(pooled[axis])));
      grid[axis] = sampling > 0 ? m.c(sampling) : f.toIndex(f.ceil(bin[axis]), 0, kCoordinateLimit);
    }
    Value first = f.constant(average ? 0 : -std::numeric_limits<double>::infinity());
    Value folded = scalarLoops(b, loc, grid, {first}, [&](OpBuilder &b, ValueRange k, ValueRange acc) {
      IndexMath m{b, loc};
      FloatMath f(b, loc, work);
      SmallVector<Value> low(2), high(2), fraction(2);
      Value outside;
      for (int axis = 0; axis < 2; ++axis) {
        Value p = f.add(f.add(start[axis], f.mul(f.fromIndex(at[2 + axis]), bin[axis])),
                        f.div(f.mul(f.add(f.fromIndex(k[axis]), f.constant(0.5)), bin[axis]), f.fromIndex(grid[axis])));
        Value beyond = arith::OrIOp::create(b, loc, f.lt(p, f.constant(-1)), f.lt(f.fromIndex(sizes[2 + axis]), p));
        outside = outside ? arith::OrIOp::create(b, loc, outside, beyond).getResult() : beyond;
        p = f.select(f.lt(f.constant(0), p), p, f.constant(0));
        Value last = m.add(sizes[2 + axis], -1);
        low[axis] = f.toIndex(p, m.c(0), last);
        high[axis] = m.min(m.add(low[axis], 1), last);
        fraction[axis] = f.select(m.le(last, low[axis]), f.constant(0), f.sub(p, f.fromIndex(low[axis])));
      }
      auto corner = [&](bool lowerRow, bool rightColumn) {
        Value wy = lowerRow ? fraction[0] : f.sub(f.constant(1), fraction[0]);
        Value wx = rightColumn ? fraction[1] : f.sub(f.constant(1), fraction[1]);
        Value v = l.load(b, loc, x.lowered, elem,
                         {batch, at[1], lowerRow ? high[0] : low[0], rightColumn ? high[1] : low[1]});
        return f.mul(f.mul(wy, wx), v);
      };
      Value c00 = corner(false, false), c01 = corner(false, true), c10 = corner(true, false), c11 = corner(true, true);
      Value value = average ? f.add(f.add(f.add(c00, c01), c10), c11) : f.max(f.max(f.max(c00, c01), c10), c11);
      value = f.select(outside, f.constant(0), value);
      return SmallVector<Value>{average ? f.add(acc[0], value) : f.max(acc[0], value)};
    })[0];
    Value count = m.mul(grid[0], grid[1]);
    if (average)
      return f.div(folded, f.fromIndex(m.max(count, m.c(1))));
    return f.select(m.le(count, m.c(0)), f.constant(0), folded);
  });
  l.set(align.getY(), y);
  return success();
}

void optc::registerRoiLowerings(LoweringTable &table) {
  table["onnx.MaxRoiPool"] = lowerMaxRoiPool;
  table["onnx.RoiAlign"] = lowerRoiAlign;
}
