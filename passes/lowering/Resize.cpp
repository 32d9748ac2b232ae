//===- Resize.cpp - Resize ------------------------------------------------===//
//
// A table per resized axis holds where each output index lies in the input, computed in double. Nearest modes gather
// once through all tables; linear and cubic modes resize one axis after the other, which is exact because their kernels
// separate.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

namespace {
/// One axis that changes.
struct ResizedAxis {
  int64_t axis;
  Dim in, out;
  Value inSize, outSize;  ///< index, on the host
  Value scale;            ///< f64, on the host
  Value roiStart, roiEnd; ///< f64, on the host; only for tf_crop_and_resize
  Value coordinates;      ///< f64[out]: the position in the input
};

struct ResizeOptions {
  StringRef transform, mode, nearest;
  bool antialias, excludeOutside, extrapolates;
  double cubicA, extrapolation;
};

/// A name from a list, or an error that names the list.
LogicalResult oneOf(Operation *op, StringRef attribute, StringRef value, ArrayRef<StringRef> allowed) {
  if (llvm::is_contained(allowed, value))
    return success();
  return unsupported(op,
                     "attribute '" + attribute + "' is '" + value + "'; supported are " + llvm::join(allowed, ", "));
}
} // namespace

/// Element `i` of a float tensor as f64 on the host; a constant when it is known.
static Value hostDouble(Lowering &l, Value tensor, int64_t i) {
  Type f64 = l.b.getF64Type();
  FloatMath f(l.b, l.loc, f64);
  if (auto dense = dyn_cast_or_null<DenseFPElementsAttr>(l.constElements(tensor));
      dense && i < dense.getNumElements()) {
    APFloat value = dense.getValues<APFloat>()[i];
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return f.constant(value.convertToDouble());
  }
  Value v = l.load(l.b, l.loc, l.get(tensor), l.elem(tensor), {l.constIndex(i)});
  return castScalar(l.b, l.loc, v, l.elem(tensor), f64);
}

static bool isConstantOne(Value v) {
  FloatAttr attr;
  return matchPattern(v, m_Constant(&attr)) && attr.getValueAsDouble() == 1.0;
}

/// Whether an optional 1-D input is there and not empty.
static bool given(Lowering &l, Value v) { return v && !(l.rank(v) == 1 && isConst(l.dims(v)[0], 0)); }

/// Largest size that is computed from a scale.
static constexpr int64_t kSizeLimit = int64_t(1) << 40;

/// Whether shape inference left a size of `result` to the lowering.
static bool isOwnLeaf(Dim dim, Value result) { return dim->kind == DimKind::Leaf && dim->tensor == result; }

static FailureOr<SmallVector<ResizedAxis>> resizedAxes(onnx::ResizeOp op, Lowering &l, const ResizeOptions &o) {
  SmallVector<Dim> in = llvm::to_vector(l.dims(op.getX())), out = llvm::to_vector(l.dims(op.getY()));
  int64_t rank = in.size();
  SmallVector<int64_t> axes;
  if (auto attr = op.getAxes()) {
    for (int64_t a : *attr) {
      int64_t axis = a < 0 ? a + rank : a;
      if (axis < 0 || axis >= rank || llvm::is_contained(axes, axis))
        return unsupported(op, "attribute 'axes' has the value " + Twine(a) + ", but the input has rank " +
                                   Twine(rank) + " and axes must differ"),
               failure();
      axes.push_back(axis);
    }
  } else {
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  bool hasScales = given(l, op.getScales()), hasSizes = given(l, op.getSizes());
  if (hasScales == hasSizes && !axes.empty())
    return unsupported(op, "needs exactly one of 'scales' and 'sizes'"), failure();
  if (o.extrapolates && !given(l, op.getRoi()))
    return unsupported(op, "needs the input 'roi' for the coordinate transformation mode tf_crop_and_resize"),
           failure();
  for (Value v : {hasScales ? op.getScales() : Value(), hasSizes ? op.getSizes() : Value()})
    if (v)
      require(l, IndexMath{l.b, l.loc}.eq(l.index(l.dims(v)[0]), l.constIndex(axes.size())),
              "scales or sizes have another length than axes");

  FloatMath f(l.b, l.loc, l.b.getF64Type());
  StringRef policy = op.getKeepAspectRatioPolicy();
  SmallVector<ResizedAxis> result;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    ResizedAxis r{axis, in[axis], out[axis], l.index(in[axis]), {}, {}, {}, {}, {}};
    if (hasScales)
      r.scale = hostDouble(l, op.getScales(), i);
    else
      r.scale = f.div(f.fromIndex(l.hostIndex(op.getSizes(), i)), f.fromIndex(r.inSize));
    // Sizes that follow from data: floor(in * scale) as float, or the element of sizes.
    if (isOwnLeaf(r.out, op.getY()) && hasScales) {
      FloatMath single(l.b, l.loc, l.b.getF32Type());
      Value product =
          single.mul(single.fromIndex(r.inSize), castScalar(l.b, l.loc, r.scale, l.b.getF64Type(), l.b.getF32Type()));
      l.bind(r.out, single.toIndex(single.floor(product), l.constIndex(0), l.constIndex(kSizeLimit)));
    } else if (isOwnLeaf(r.out, op.getY()) && policy == "stretch") {
      l.bind(r.out, IndexMath{l.b, l.loc}.max(l.hostIndex(op.getSizes(), i), l.constIndex(0)));
    }
    if (o.extrapolates) {
      r.roiStart = hostDouble(l, op.getRoi(), i);
      r.roiEnd = hostDouble(l, op.getRoi(), axes.size() + i);
    }
    result.push_back(r);
  }
  if (hasSizes && policy != "stretch" && !result.empty()) {
    Value scale = result.front().scale;
    for (const ResizedAxis &r : ArrayRef(result).drop_front())
      scale = policy == "not_larger" ? f.min(scale, r.scale) : f.max(scale, r.scale);
    for (ResizedAxis &r : result) {
      r.scale = scale;
      if (isOwnLeaf(r.out, op.getY()))
        l.bind(r.out, f.toIndex(f.floor(f.add(f.mul(scale, f.fromIndex(r.inSize)), f.constant(0.5))), l.constIndex(0),
                                l.constIndex(kSizeLimit)));
    }
  }
  for (ResizedAxis &r : result)
    r.outSize = l.index(r.out);
  // Axes that stay as they are need no work.
  llvm::erase_if(result, [&](const ResizedAxis &r) {
    bool sameScale = hasScales ? isConstantOne(r.scale) : policy == "stretch";
    return !o.extrapolates && r.in == r.out && sameScale;
  });
  for (const ResizedAxis &r : result) {
    IndexMath m{l.b, l.loc};
    require(l, arith::OrIOp::create(l.b, l.loc, m.lt(m.c(0), r.inSize), m.eq(r.outSize, m.c(0))),
            "an axis without elements cannot be resized");
  }
  return result;
}

/// Where output index `y` of the axis lies in the input.
static Value coordinate(OpBuilder &b, Location loc, const ResizedAxis &r, StringRef transform, Value index) {
  FloatMath f(b, loc, b.getF64Type());
  auto c = [&](double v) { return f.constant(v); };
  Value y = f.fromIndex(index), in = f.fromIndex(r.inSize), last = f.sub(in, c(1));
  Value width = f.mul(r.scale, in), isOne = f.eq(width, c(1));
  Value halfPixel = f.sub(f.div(f.add(y, c(0.5)), r.scale), c(0.5));
  if (transform == "align_corners")
    return f.select(isOne, c(0), f.div(f.mul(y, last), f.sub(width, c(1))));
  if (transform == "asymmetric")
    return f.div(y, r.scale);
  if (transform == "tf_half_pixel_for_nn") // opset 11 has it
    return f.div(f.add(y, c(0.5)), r.scale);
  if (transform == "pytorch_half_pixel")
    return f.select(IndexMath{b, loc}.eq(r.outSize, IndexMath{b, loc}.c(1)), c(0), halfPixel);
  if (transform == "half_pixel_symmetric") {
    Value adjustment = f.div(f.fromIndex(r.outSize), width);
    return f.add(f.mul(f.div(in, c(2)), f.sub(c(1), adjustment)), halfPixel);
  }
  if (transform == "tf_crop_and_resize") {
    Value length = f.sub(r.roiEnd, r.roiStart);
    Value one = f.div(f.mul(length, last), c(2));
    Value more = f.div(f.mul(f.mul(y, length), last), f.sub(width, c(1)));
    return f.add(f.select(isOne, one, more), f.mul(r.roiStart, last));
  }
  return halfPixel;
}

/// x < 0 or x > in - 1
static Value isOutside(FloatMath f, Value x, Value inSize) {
  return arith::OrIOp::create(f.b, f.loc, f.lt(x, f.constant(0)), f.lt(f.sub(f.fromIndex(inSize), f.constant(1)), x));
}

static Value resizeNearest(Lowering &l, Lowering::Input x, ArrayRef<ResizedAxis> axes, const ResizeOptions &o,
                           ArrayRef<Dim> outDims) {
  SmallVector<Value> tables;
  Type i64 = l.b.getI64Type();
  for (const ResizedAxis &r : axes)
    tables.push_back(
        l.generate("resize_indices", i64, {r.out}, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          FloatMath f(b, loc, b.getF64Type());
          IndexMath m{b, loc};
          Value p = coordinate(b, loc, r, o.transform, at[0]);
          Value rounded = o.nearest == "floor"               ? f.floor(p)
                          : o.nearest == "ceil"              ? f.ceil(p)
                          : o.nearest == "round_prefer_ceil" ? f.floor(f.add(p, f.constant(0.5)))
                                                             : f.ceil(f.sub(p, f.constant(0.5)));
          Value index = f.toIndex(rounded, m.c(0), m.add(r.inSize, -1));
          if (o.extrapolates)
            index = m.select(isOutside(f, p, r.inSize), m.c(-1), index);
          return arith::IndexCastOp::create(b, loc, i64, index);
        }));
  return l.generate("resize_nearest", x.elem, outDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    SmallVector<Value> source(at.begin(), at.end());
    Value outside;
    for (auto [r, table] : llvm::zip(axes, tables)) {
      Value index =
          arith::IndexCastOp::create(b, loc, b.getIndexType(), tensor::ExtractOp::create(b, loc, table, at[r.axis]));
      if (o.extrapolates) {
        Value here = m.lt(index, m.c(0));
        outside = outside ? arith::OrIOp::create(b, loc, outside, here).getResult() : here;
        index = m.max(index, m.c(0));
      }
      source[r.axis] = index;
    }
    Value v = l.load(b, loc, x.lowered, x.elem, source);
    if (!outside)
      return v;
    ScalarOps ops{b, loc, x.elem};
    return ops.select(outside, ops.constant(o.extrapolation), v);
  });
}

/// The interpolation kernel at distance `t`: the tent, or the cubic convolution with parameter A.
static Value kernelAt(FloatMath f, const ResizeOptions &o, Value t) {
  auto c = [&](double v) { return f.constant(v); };
  Value d = f.abs(t);
  if (o.mode == "linear")
    return f.max(f.sub(c(1), d), c(0));
  double a = o.cubicA;
  // |t| <= 1: ((A + 2) t - (A + 3)) t^2 + 1;  |t| < 2: ((t - 5) t + 8) A t - 4 A
  Value inner = f.add(f.mul(f.mul(f.sub(f.mul(c(a + 2), d), c(a + 3)), d), d), c(1));
  Value outer = f.sub(f.mul(f.add(f.mul(f.sub(f.mul(c(a), d), c(5 * a)), d), c(8 * a)), d), c(4 * a));
  return f.select(f.le(d, c(1)), inner, f.select(f.lt(d, c(2)), outer, c(0)));
}

namespace {
/// The taps of one output index: the first input index (not clamped) and the place between the two middle taps.
struct Taps {
  Value first; ///< index
  Value q;     ///< index: the input index left of the position
  Value ratio; ///< f64 in (0, 1]
};
} // namespace

/// `start` counts from the index left of `x`.
static Taps tapsAt(FloatMath f, Value x, Value start) {
  IndexMath m{f.b, f.loc};
  Value q = f.sub(f.ceil(x), f.constant(1));
  Value index = f.toIndex(q, -kCoordinateLimit, kCoordinateLimit);
  return {m.add(index, start), index, f.sub(x, q)};
}

/// The weight of the tap at input index `at`.
static Value weightAt(FloatMath f, const ResizeOptions &o, const ResizedAxis &r, const Taps &taps, Value shrink,
                      Value at) {
  IndexMath m{f.b, f.loc};
  Value distance = f.sub(f.fromIndex(m.sub(at, taps.q)), taps.ratio);
  Value w = kernelAt(f, o, shrink ? f.mul(distance, shrink) : distance);
  return o.excludeOutside ? f.select(m.inside(at, r.inSize), w, f.constant(0)) : w;
}

/// The value in the working type as an element of `elem`: integers are rounded to even and saturate.
static Value finishElement(OpBuilder &b, Location loc, Value v, Type work, Type elem) {
  if (isa<FloatType>(elem))
    return Lowering::computeType(elem) == work ? v : castScalar(b, loc, v, work, elem);
  FloatMath f(b, loc, work);
  v = f.roundEven(v);
  ScalarOps ops{b, loc, elem};
  Value low = castScalar(b, loc, ops.lowest(), elem, work), high = castScalar(b, loc, ops.highest(), elem, work);
  Value clamped = f.select(f.lt(v, low), low, f.select(f.lt(high, v), high, v));
  return castScalar(b, loc, clamped, work, elem);
}

/// Resizes one axis. The result's elements are of `outElem`; sums are kept in `work`.
static Lowering::Input resizeAxis(Lowering &l, Lowering::Input x, const ResizedAxis &r, const ResizeOptions &o,
                                  Type work, Type outElem) {
  SmallVector<Dim> dims = x.dims;
  dims[r.axis] = r.out;
  Type f64 = l.b.getF64Type(), i64 = l.b.getI64Type();
  int64_t support = o.mode == "linear" ? 1 : 2, count = 2 * support;
  auto loadAs = [&](OpBuilder &b, Location loc, ValueRange at) {
    Value v = l.load(b, loc, x.lowered, x.elem, at);
    return Lowering::computeType(x.elem) == work ? v : castScalar(b, loc, v, x.elem, work);
  };
  auto extrapolated = [&](OpBuilder &b, Location loc, Value v, Value position) -> Value {
    if (!o.extrapolates)
      return v;
    FloatMath f(b, loc, f64);
    return f.select(isOutside(f, l.load(b, loc, r.coordinates, f64, position), r.inSize),
                    FloatMath(b, loc, work).constant(o.extrapolation), v);
  };
  auto store = [&](OpBuilder &b, Location loc, Value v) {
    return outElem == work ? v : finishElement(b, loc, v, work, outElem);
  };

  if (!o.antialias) {
    Value first = l.generate("resize_first", i64, {r.out}, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
      FloatMath f(b, loc, f64);
      Taps taps = tapsAt(f, l.load(b, loc, r.coordinates, f64, at), IndexMath{b, loc}.c(1 - support));
      return arith::IndexCastOp::create(b, loc, i64, taps.first);
    });
    SmallVector<Dim> weightDims = {r.out, constDim(l, count)};
    Value weights =
        l.generate("resize_weights", work, weightDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          FloatMath f(b, loc, f64);
          IndexMath m{b, loc};
          Taps taps = tapsAt(f, l.load(b, loc, r.coordinates, f64, at[0]), m.c(1 - support));
          Value w = weightAt(f, o, r, taps, {}, m.add(taps.first, at[1]));
          if (o.excludeOutside) {
            Value total = f.constant(0);
            for (int64_t t = 0; t < count; ++t)
              total = f.add(total, weightAt(f, o, r, taps, {}, m.add(taps.first, t)));
            w = f.div(w, f.select(f.eq(total, f.constant(0)), f.constant(1), total));
          }
          return castScalar(b, loc, w, f64, work);
        });
    Value y =
        l.generate("resize_" + o.mode.str(), outElem, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          IndexMath m{b, loc};
          FloatMath f(b, loc, work);
          Value start = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                   tensor::ExtractOp::create(b, loc, first, at[r.axis]));
          SmallVector<Value> source(at.begin(), at.end());
          Value sum;
          for (int64_t t = 0; t < count; ++t) {
            source[r.axis] = m.clamp(m.add(start, t), r.inSize);
            Value term = f.mul(loadAs(b, loc, source), l.load(b, loc, weights, work, {at[r.axis], m.c(t)}));
            sum = sum ? f.add(sum, term) : term;
          }
          return store(b, loc, extrapolated(b, loc, sum, at[r.axis]));
        });
    return {y, outElem, dims};
  }

  // The kernel widens when the axis shrinks: shrink = min(scale, 1), from floor(-support / shrink) + 1 on, symmetric.
  FloatMath host(l.b, l.loc, f64);
  IndexMath hostIndex{l.b, l.loc};
  Value shrink = host.min(r.scale, host.constant(1));
  Value start = hostIndex.add(
      host.toIndex(host.floor(host.div(host.constant(-static_cast<double>(support)), shrink)), -kCoordinateLimit, -1),
      1);
  Value taps = hostIndex.sub(hostIndex.c(2), hostIndex.mul(start, 2));
  Value y = l.generate("resize_antialias", outElem, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    FloatMath f(b, loc, f64);
    Taps place = tapsAt(f, l.load(b, loc, r.coordinates, f64, at[r.axis]), start);
    SmallVector<Value> sums =
        scalarLoops(b, loc, {taps}, {f.constant(0), f.constant(0)}, [&](OpBuilder &b, ValueRange t, ValueRange sums) {
          FloatMath f(b, loc, f64);
          IndexMath m{b, loc};
          Value index = m.add(place.first, t[0]);
          Value w = weightAt(f, o, r, place, shrink, index);
          SmallVector<Value> source(at.begin(), at.end());
          source[r.axis] = m.clamp(index, r.inSize);
          Value v = castScalar(b, loc, loadAs(b, loc, source), work, f64);
          return SmallVector<Value>{f.add(sums[0], w), f.add(sums[1], f.mul(w, v))};
        });
    Value total = f.select(f.eq(sums[0], f.constant(0)), f.constant(1), sums[0]);
    Value v = castScalar(b, loc, f.div(sums[1], total), f64, work);
    return store(b, loc, extrapolated(b, loc, v, at[r.axis]));
  });
  return {y, outElem, dims};
}

static LogicalResult lowerResize(Operation *op, Lowering &l) {
  auto resize = cast<onnx::ResizeOp>(op);
  ResizeOptions o{resize.getCoordinateTransformationMode(),
                  resize.getMode(),
                  resize.getNearestMode(),
                  resize.getAntialias() != 0,
                  resize.getExcludeOutside() != 0,
                  false,
                  resize.getCubicCoeffA().convertToDouble(),
                  resize.getExtrapolationValue().convertToDouble()};
  if (failed(oneOf(op, "mode", o.mode, {"nearest", "linear", "cubic"})) ||
      failed(oneOf(op, "nearest_mode", o.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) ||
      failed(oneOf(op, "keep_aspect_ratio_policy", resize.getKeepAspectRatioPolicy(),
                   {"stretch", "not_larger", "not_smaller"})) ||
      failed(oneOf(op, "coordinate_transformation_mode", o.transform,
                   {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                    "tf_crop_and_resize", "tf_half_pixel_for_nn"})))
    return failure();
  o.extrapolates = o.transform == "tf_crop_and_resize";
  Lowering::Input x = l.input(resize.getX());
  Type elem = x.elem;
  if (!isa<FloatType, IntegerType>(elem))
    return unsupported(op, "has the element type " + onnx::dataTypeName(elem) + "; numbers and bool are supported");
  FailureOr<SmallVector<ResizedAxis>> axes = resizedAxes(resize, l, o);
  if (failed(axes))
    return failure();
  SmallVector<Dim> out = llvm::to_vector(l.dims(resize.getY()));
  if (axes->empty()) {
    l.set(resize.getY(), x.lowered);
    return success();
  }
  if (o.mode == "nearest") {
    l.set(resize.getY(), resizeNearest(l, x, *axes, o, out));
    return success();
  }
  bool wide = elem.isF64() || (isa<IntegerType>(elem) && elem.getIntOrFloatBitWidth() >= 32);
  Type work = wide ? Type(l.b.getF64Type()) : Type(l.b.getF32Type()), f64 = l.b.getF64Type();
  for (ResizedAxis &r : *axes) {
    r.coordinates = l.generate("resize_coordinates", f64, {r.out}, [&](OpBuilder &b, Location loc, ValueRange at) {
      return coordinate(b, loc, r, o.transform, at[0]);
    });
    x = resizeAxis(l, x, r, o, work, &r == &axes->back() ? elem : work);
  }
  l.set(resize.getY(), x.lowered);
  return success();
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

namespace {
struct GridOptions {
  StringRef mode, padding;
  bool alignCorners;
};
} // namespace

/// Reflects x at the borders until it lies within.
static Value reflect(FloatMath f, Value x, Value low, Value high) {
  Value range = f.sub(high, low), below = f.lt(x, low);
  Value distance = f.select(below, f.sub(low, x), f.sub(x, high));
  Value times = f.floor(f.div(distance, range)), rest = f.sub(distance, f.mul(times, range));
  Value even = f.eq(f.sub(times, f.mul(f.floor(f.mul(times, f.constant(0.5))), f.constant(2))), f.constant(0));
  Value fromLow = f.add(low, rest), fromHigh = f.sub(high, rest);
  // From below: an even count of reflections ends at the low side; from above at the high side.
  Value sameSide = f.select(below, fromLow, fromHigh), otherSide = f.select(below, fromHigh, fromLow);
  Value reflected = f.select(even, sameSide, otherSide);
  reflected = f.select(f.lt(f.constant(0), range), reflected, low);
  Value outside = arith::OrIOp::create(f.b, f.loc, below, f.lt(high, x));
  return f.select(outside, reflected, x);
}

static LogicalResult lowerGridSample(Operation *op, Lowering &l) {
  auto sample = cast<onnx::GridSampleOp>(op);
  GridOptions o{sample.getMode(), sample.getPaddingMode(), sample.getAlignCorners() != 0};
  if (failed(oneOf(op, "mode", o.mode, {"linear", "nearest", "cubic"})) ||
      failed(oneOf(op, "padding_mode", o.padding, {"zeros", "border", "reflection"})))
    return failure();
  Lowering::Input x = l.input(sample.getX()), grid = l.input(sample.getGrid());
  size_t rank = x.dims.size() < 3 ? 0 : x.dims.size() - 2;
  if (rank == 0 || grid.dims.size() != x.dims.size() || rank > 4)
    return unsupported(op, "X and grid must have equal ranks from 3 to 6, but they have " + Twine(x.dims.size()) +
                               " and " + Twine(grid.dims.size()));
  if (!isa<FloatType, IntegerType>(x.elem))
    return unsupported(op, "has the element type " + onnx::dataTypeName(x.elem) + "; numbers and bool are supported");
  SmallVector<Dim> out = llvm::to_vector(l.dims(sample.getY()));
  SmallVector<Value> sizes = l.indices(ArrayRef(x.dims).drop_front(2));
  IndexMath host{l.b, l.loc};
  require(l, host.eq(l.index(grid.dims.back()), host.c(rank)),
          "the last axis of grid must have as many elements as X has spatial axes");
  require(l, host.eq(l.index(grid.dims[0]), l.index(x.dims[0])), "X and grid have different batch sizes");
  if (o.padding != "zeros")
    for (Value size : sizes)
      require(l, host.lt(host.c(0), size), "a spatial axis without elements has no border");
  bool wide = x.elem.isF64() || grid.elem.isF64() || (isa<IntegerType>(x.elem) && x.elem.getIntOrFloatBitWidth() >= 32);
  Type work = wide ? Type(l.b.getF64Type()) : Type(l.b.getF32Type());

  Value y = l.generate("gridsample", x.elem, out, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    FloatMath f(b, loc, work);
    SmallVector<Value> gridAt = {at[0]};
    llvm::append_range(gridAt, at.drop_front(2));
    gridAt.push_back({});
    SmallVector<Value> position(rank), low(rank), high(rank);
    for (size_t i = 0; i < rank; ++i) {
      gridAt.back() = m.c(rank - 1 - i); // grid holds x, y, z: the last axis first
      Value n = l.load(b, loc, grid.lowered, grid.elem, gridAt);
      if (Lowering::computeType(grid.elem) != work)
        n = castScalar(b, loc, n, grid.elem, work);
      Value size = f.fromIndex(sizes[i]), one = f.constant(1), half = f.constant(0.5);
      Value p = o.alignCorners ? f.mul(f.mul(f.add(n, one), half), f.sub(size, one))
                               : f.mul(f.sub(f.mul(f.add(n, one), size), one), half);
      if (o.mode == "nearest")
        p = f.roundEven(p);
      low[i] = f.constant(o.alignCorners ? 0.0 : -0.5);
      high[i] = f.sub(size, f.constant(o.alignCorners ? 1.0 : 0.5));
      if (o.padding == "border") {
        // Positions between the border and the outermost pixel stay: pixels are clamped below.
        p = f.select(f.lt(p, low[i]), f.constant(0), f.select(f.lt(high[i], p), f.sub(size, one), p));
      } else if (o.padding == "reflection") {
        p = reflect(f, p, low[i], high[i]);
      }
      position[i] = p;
    }
    // The pixel at whole indices, with the padding's rule for those outside.
    auto pixel = [&](ArrayRef<Value> indices) -> Value {
      SmallVector<Value> source = {at[0], at[1]};
      Value inside;
      for (size_t i = 0; i < rank; ++i) {
        Value index = indices[i];
        if (o.padding == "zeros")
          inside = m.both(inside, m.inside(index, sizes[i]));
        else if (o.padding == "border")
          index = m.clamp(index, sizes[i]);
        else
          index = f.toIndex(reflect(f, f.fromIndex(index), low[i], high[i]), m.c(0), m.add(sizes[i], -1));
        source.push_back(index);
      }
      auto read = [&](OpBuilder &nested) {
        Value v = l.load(nested, loc, x.lowered, x.elem, source);
        return o.mode == "nearest" || Lowering::computeType(x.elem) == work ? v
                                                                            : castScalar(nested, loc, v, x.elem, work);
      };
      if (!inside)
        return read(b);
      Value zero = o.mode == "nearest" ? ScalarOps{b, loc, x.elem}.constant(0) : f.constant(0);
      return ifElse(b, loc, inside, zero, read);
    };
    if (o.mode == "nearest") {
      SmallVector<Value> indices;
      for (size_t i = 0; i < rank; ++i)
        indices.push_back(f.toIndex(position[i], -kCoordinateLimit, kCoordinateLimit));
      return pixel(indices);
    }
    ResizeOptions kernel{"", o.mode, "", false, false, false, -0.75, 0};
    int64_t support = o.mode == "linear" ? 1 : 2, count = 2 * support, total = 1;
    SmallVector<SmallVector<Value>> weights(rank), indices(rank);
    for (size_t i = 0; i < rank; ++i) {
      Value floor = f.floor(position[i]);
      Value first = m.add(f.toIndex(floor, -kCoordinateLimit, kCoordinateLimit), 1 - support);
      Value fraction = f.sub(position[i], floor);
      for (int64_t t = 0; t < count; ++t) {
        indices[i].push_back(m.add(first, t));
        weights[i].push_back(kernelAt(f, kernel, f.sub(f.constant(static_cast<double>(t + 1 - support)), fraction)));
      }
      total *= count;
    }
    Value sum = f.constant(0);
    for (int64_t tap = 0; tap < total; ++tap) {
      SmallVector<Value> chosen(rank);
      Value weight;
      int64_t rest = tap;
      for (size_t i = rank; i-- > 0; rest /= count) {
        chosen[i] = indices[i][rest % count];
        weight = weight ? f.mul(weight, weights[i][rest % count]) : weights[i][rest % count];
      }
      sum = f.add(sum, f.mul(weight, pixel(chosen)));
    }
    return finishElement(b, loc, sum, work, x.elem);
  });
  l.set(sample.getY(), y);
  return success();
}

void optc::registerResizeLowerings(LoweringTable &table) {
  table["onnx.Resize"] = lowerResize;
  table["onnx.GridSample"] = lowerGridSample;
  registerAffineGridLowering(table);
  registerSignalLowerings(table);
}
