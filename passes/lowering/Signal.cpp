//===- Signal.cpp - DFT, STFT, MelWeightMatrix ----------------------------===//
//
// Transforms of moderate known length are matrix products: [rows, n * c] with a table [n * c, k * r], where c and r
// number the real and imaginary parts of input and output. Others sum over the input inside each element. Both read
// their factors from one table of cos and sin of 2 pi i / length.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace optc;

/// Largest number of elements of a transform's matrix.
static constexpr int64_t kMaxMatrix = int64_t(1) << 22;

namespace {
struct Transform {
  Dim length;                ///< of the transform
  Dim in, out;               ///< sizes of the axis
  int64_t inParts, outParts; ///< 1: real only, 2: real and imaginary
  bool inverse, fromHalf;    ///< fromHalf: inverse of a one-sided spectrum into real values
  Type work;
};
} // namespace

/// cos and sin of 2 pi i / length: [length, 2].
static Value twiddles(Lowering &l, const Transform &t) {
  Value length = l.index(t.length);
  return l.generate(
      "twiddles", t.work, {t.length, constDim(l, 2)}, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        FloatMath f(b, loc, b.getF64Type());
        Value angle = f.div(f.mul(f.fromIndex(at[0]), f.constant(2 * llvm::numbers::pi)), f.fromIndex(length));
        Value value = ifElse(b, loc, IndexMath{b, loc}.eq(at[1], l.constIndex(0)), math::SinOp::create(b, loc, angle),
                             [&](OpBuilder &nested) -> Value { return math::CosOp::create(nested, loc, angle); });
        return castScalar(b, loc, value, b.getF64Type(), t.work);
      });
}

/// The factor of input n, part c in output k, part r. Everything that does not depend on the data.
static Value factorAt(OpBuilder &b, Location loc, Lowering &l, const Transform &t, Value table, Value length, Value n,
                      Value c, Value k, Value r) {
  IndexMath m{b, loc};
  FloatMath f(b, loc, t.work);
  Value turn = m.rem(m.mul(n, k), length);
  // Real from real and imaginary from imaginary: cos. Otherwise sin, negative for imaginary to real of the inverse and
  // real to imaginary of the forward transform.
  Value mixed = b.createOrFold<arith::XOrIOp>(loc, m.eq(c, m.c(0)), m.eq(r, m.c(0)));
  Value factor = tensor::ExtractOp::create(b, loc, table, ValueRange{turn, m.select(mixed, m.c(1), m.c(0))});
  Value negative = m.both(mixed, m.eq(c, m.c(t.inverse ? 1 : 0)));
  factor = f.select(negative, f.neg(factor), factor);
  if (!t.inverse)
    return factor;
  Value weight = f.div(f.constant(1), f.fromIndex(length));
  if (t.fromHalf) {
    // The other half of the spectrum is the conjugate: all but the first and the middle element count twice.
    Value twice = m.lt(m.mul(n, 2), length);
    Value ends = arith::OrIOp::create(b, loc, m.eq(n, m.c(0)), m.eq(m.mul(n, 2), length));
    Value times = f.select(ends, f.constant(1), f.select(twice, f.constant(2), f.constant(0)));
    weight = f.mul(weight, times);
  }
  return f.mul(factor, weight);
}

/// Transforms rows of `x`, a tensor [rows, in, after, inParts] of `elem`, into [rows, out, after, outParts].
static Value transform(Lowering &l, const Transform &t, Value x, Type elem, Dim rows, Dim after, Type outElem) {
  Value table = twiddles(l, t), length = l.index(t.length);
  // What lies beyond the transform's length is cut off.
  Value used = IndexMath{l.b, l.loc}.min(l.index(t.in), length);
  SmallVector<Dim> outDims = {rows, t.out, after, constDim(l, t.outParts)};
  std::optional<int64_t> in = constOf(t.in), out = constOf(t.out), len = constOf(t.length);
  if (isConst(after, 1) && in && out && len && *in <= *len && *in > 0 &&
      *in * *out * t.inParts * t.outParts <= kMaxMatrix) {
    SmallVector<Dim> matrixDims = {constDim(l, *in * t.inParts), constDim(l, *out * t.outParts)};
    Value matrix =
        l.generate("dft_matrix", t.work, matrixDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          IndexMath m{b, loc};
          return factorAt(b, loc, l, t, table, length, m.div(at[0], t.inParts), m.rem(at[0], t.inParts),
                          m.div(at[1], t.outParts), m.rem(at[1], t.outParts));
        });
    SmallVector<Dim> xDims = {rows, matrixDims[0]}, yDims = {rows, matrixDims[1]};
    Value y =
        matmulProduct(l, "dft", {l.view(x, elem, xDims), elem, xDims}, {matrix, t.work, matrixDims}, t.work, yDims);
    return l.view(convertElements(l, y, t.work, outElem, yDims), outElem, outDims);
  }
  return l.generate("dft", outElem, outDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    FloatMath f(b, loc, t.work);
    return scalarLoops(b, loc, {used, m.c(t.inParts)}, {f.constant(0)},
                       [&](OpBuilder &b, ValueRange nc, ValueRange acc) {
                         FloatMath f(b, loc, t.work);
                         Value factor = factorAt(b, loc, l, t, table, length, nc[0], nc[1], at[1], at[3]);
                         Value v = l.load(b, loc, x, elem, {at[0], nc[0], at[2], nc[1]});
                         return SmallVector<Value>{f.add(acc[0], f.mul(v, factor))};
                       })[0];
  });
}

/// Element 0 of a small integer tensor as a size.
static Dim sizeIn(Lowering &l, Value v) {
  if (std::optional<SmallVector<Dim>> elements = l.shapes.elementsOf(v); elements && !elements->empty())
    return elements->front();
  return nullptr;
}

/// DFT along an axis known at run time: the sum over the input inside each element, with cos and sin computed there.
static LogicalResult lowerDftAnyAxis(onnx::DFTOp dft, Lowering &l) {
  Lowering::Input x = l.input(dft.getInput());
  SmallVector<Dim> out = llvm::to_vector(l.dims(dft.getOutput()));
  size_t last = x.dims.size() - 1;
  std::optional<int64_t> inParts = constOf(x.dims[last]), outParts = constOf(out[last]);
  if (!inParts || *inParts < 1 || *inParts > 2 || !outParts)
    return unsupported(dft, "the last axis must have a known size of 1 (real) or 2 (complex)");
  bool inverse = dft.getInverse() != 0, onesided = dft.getOnesided() != 0, fromHalf = inverse && onesided;
  IndexMath host{l.b, l.loc};
  Value axis = l.hostIndex(dft.getAxis(), 0);
  axis = host.select(host.lt(axis, host.c(0)), host.add(axis, last + 1), axis);
  require(l, host.inside(axis, host.c(last)), "the axis is out of range");
  Value in = host.c(0);
  for (size_t i = 0; i < last; ++i)
    in = host.select(host.eq(axis, host.c(i)), l.index(x.dims[i]), in);
  Value length = dft.getDftLength() ? l.hostIndex(dft.getDftLength(), 0)
                 : fromHalf         ? host.mul(host.add(in, -1), 2)
                                    : in;
  require(l, host.le(host.c(1), length), "the length of the transform must be at least 1");
  Value outSize = onesided && !inverse ? host.add(host.div(length, 2), 1) : length;
  for (size_t i = 0; i < last; ++i)
    if (out[i]->kind == DimKind::Leaf && out[i]->tensor == dft.getOutput())
      l.bind(out[i], host.select(host.eq(axis, host.c(i)), outSize, l.index(x.dims[i])));
  Value used = host.min(in, length);
  Value y = l.generate("dft", x.elem, out, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    FloatMath f(b, loc, b.getF64Type());
    IndexMath m{b, loc};
    Value k = m.c(0), imaginary = m.eq(at[last], m.c(1));
    for (size_t i = 0; i < last; ++i)
      k = m.select(m.eq(axis, m.c(i)), at[i], k);
    Value sum = scalarLoops(b, loc, {used}, {f.constant(0)}, [&](OpBuilder &b, ValueRange n, ValueRange acc) {
      FloatMath f(b, loc, b.getF64Type());
      IndexMath m{b, loc};
      SmallVector<Value> source(at.begin(), at.end());
      for (size_t i = 0; i < last; ++i)
        source[i] = m.select(m.eq(axis, m.c(i)), n[0], at[i]);
      auto part = [&](int64_t c) -> Value {
        if (c >= *inParts)
          return f.constant(0);
        source[last] = m.c(c);
        return castScalar(b, loc, l.load(b, loc, x.lowered, x.elem, source), x.elem, f.elem);
      };
      Value turn = f.div(f.mul(f.fromIndex(m.rem(m.mul(n[0], k), length)), f.constant(2 * llvm::numbers::pi)),
                         f.fromIndex(length));
      Value cosine = math::CosOp::create(b, loc, turn), sine = math::SinOp::create(b, loc, turn);
      if (!inverse)
        sine = f.neg(sine);
      Value re = part(0), im = part(1);
      Value real = f.sub(f.mul(re, cosine), f.mul(im, sine)), imag = f.add(f.mul(re, sine), f.mul(im, cosine));
      Value term = f.select(imaginary, imag, real);
      if (fromHalf) {
        Value ends = arith::OrIOp::create(b, loc, m.eq(n[0], m.c(0)), m.eq(m.mul(n[0], 2), length));
        Value twice = f.select(m.lt(m.mul(n[0], 2), length), f.constant(2), f.constant(0));
        term = f.mul(term, f.select(ends, f.constant(1), twice));
      }
      return SmallVector<Value>{f.add(acc[0], term)};
    })[0];
    if (inverse)
      sum = f.div(sum, f.fromIndex(length));
    return castScalar(b, loc, sum, f.elem, x.elem);
  });
  l.set(dft.getOutput(), y);
  return success();
}

static LogicalResult lowerDft(Operation *op, Lowering &l) {
  auto dft = cast<onnx::DFTOp>(op);
  Lowering::Input x = l.input(dft.getInput());
  SmallVector<Dim> out = llvm::to_vector(l.dims(dft.getOutput()));
  int64_t rank = x.dims.size(), axis = -2;
  if (dft.getAxis()) {
    std::optional<SmallVector<int64_t>> known = l.constInts(dft.getAxis());
    if (!known || known->size() != 1)
      return rank < 2 ? LogicalResult(unsupported(op, "needs an input of rank 2 or more")) : lowerDftAnyAxis(dft, l);
    axis = known->front();
  }
  int64_t at = axis < 0 ? axis + rank : axis;
  if (rank < 2 || at < 0 || at >= rank - 1)
    return unsupported(op, "has axis " + Twine(axis) + ", but the input has rank " + Twine(rank) +
                               " and its last axis holds the parts");
  std::optional<int64_t> inParts = constOf(x.dims.back()), outParts = constOf(out.back());
  if (!inParts || *inParts < 1 || *inParts > 2 || !outParts || *outParts < 1 || *outParts > 2)
    return unsupported(op, "the last axis must have a known size of 1 (real) or 2 (complex)");
  Transform t;
  t.inverse = dft.getInverse() != 0;
  t.fromHalf = t.inverse && dft.getOnesided() != 0;
  t.in = x.dims[at];
  t.out = out[at];
  t.inParts = *inParts;
  t.outParts = *outParts;
  t.work = accumulatorOf(x.elem);
  t.length = t.fromHalf ? scaleDim(l, addDim(l, t.in, -1), 2) : t.in;
  if (dft.getDftLength() && !(t.length = sizeIn(l, dft.getDftLength())))
    return unsupported(op, "has a 'dft_length' that is not a scalar");
  require(l, IndexMath{l.b, l.loc}.le(l.constIndex(1), l.index(t.length)),
          "the length of the transform must be at least 1");
  Dim rows = productOf(l, ArrayRef(x.dims).take_front(at)),
      after = productOf(l, ArrayRef(x.dims).slice(at + 1, rank - 2 - at));
  Value flat = l.view(x.lowered, x.elem, {rows, t.in, after, x.dims.back()});
  Value y = transform(l, t, flat, x.elem, rows, after, x.elem);
  l.set(dft.getOutput(), l.view(y, x.elem, out));
  return success();
}

static LogicalResult lowerStft(Operation *op, Lowering &l) {
  auto stft = cast<onnx::STFTOp>(op);
  Lowering::Input signal = l.input(stft.getSignal());
  SmallVector<Dim> out = llvm::to_vector(l.dims(stft.getOutput()));
  if (signal.dims.size() == 2) // [batch, samples] stands for real samples
    signal.dims.push_back(constDim(l, 1));
  std::optional<int64_t> parts = signal.dims.size() == 3 ? constOf(signal.dims.back()) : std::nullopt;
  if (!parts || *parts < 1 || *parts > 2 || out.size() != 4)
    return unsupported(op, "signal must be [batch, samples, 1 or 2] with a known last size");
  signal.lowered = l.view(signal.lowered, signal.elem, signal.dims);
  Transform t;
  t.inverse = t.fromHalf = false;
  t.inParts = *parts;
  t.outParts = 2;
  t.work = accumulatorOf(signal.elem);
  t.length = stft.getFrameLength() ? sizeIn(l, stft.getFrameLength())
             : stft.getWindow()    ? l.dims(stft.getWindow())[0]
                                   : signal.dims[1];
  if (!t.length)
    return unsupported(op, "has a 'frame_length' that is not a scalar");
  t.in = t.length;
  t.out = out[2];
  Value step = l.hostIndex(stft.getFrameStep(), 0), samples = l.index(signal.dims[1]);
  IndexMath host{l.b, l.loc};
  require(l, host.both(host.lt(host.c(0), step), host.le(host.c(1), l.index(t.length))),
          "frame_step and frame_length must be at least 1");
  Value window = l.get(stft.getWindow()), windowSize = window ? l.index(l.dims(stft.getWindow())[0]) : Value();
  Type windowElem = window ? l.elem(stft.getWindow()) : Type();
  // Windowed frames, zero where the signal or the window ends.
  SmallVector<Dim> frameDims = {signal.dims[0], out[1], t.length, signal.dims[2]};
  Value frames = l.generate("stft_frames", t.work, frameDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    FloatMath f(b, loc, t.work);
    Value from = m.add(m.mul(at[1], step), at[2]);
    Value inside = m.inside(from, samples);
    if (window)
      inside = m.both(inside, m.inside(at[2], windowSize));
    return ifElse(b, loc, inside, f.constant(0), [&](OpBuilder &nested) -> Value {
      Value v = l.load(nested, loc, signal.lowered, signal.elem, {at[0], from, at[3]});
      if (!window)
        return v;
      Value w = l.load(nested, loc, window, windowElem, {at[2]});
      if (Lowering::computeType(windowElem) != t.work)
        w = castScalar(nested, loc, w, windowElem, t.work);
      return FloatMath(nested, loc, t.work).mul(v, w);
    });
  });
  Dim rows = mulDims(l, signal.dims[0], out[1]), one = constDim(l, 1);
  Value y =
      transform(l, t, l.view(frames, t.work, {rows, t.length, one, signal.dims[2]}), t.work, rows, one, signal.elem);
  l.set(stft.getOutput(), l.view(y, signal.elem, out));
  return success();
}

static LogicalResult lowerMelWeightMatrix(Operation *op, Lowering &l) {
  auto mel = cast<onnx::MelWeightMatrixOp>(op);
  Type f64 = l.b.getF64Type(), elem = l.elem(mel.getOutput());
  FloatMath host(l.b, l.loc, f64);
  Value bins = l.hostIndex(mel.getNumMelBins(), 0), length = l.hostIndex(mel.getDftLength(), 0),
        rate = l.hostIndex(mel.getSampleRate(), 0);
  IndexMath hostIndex{l.b, l.loc};
  require(l, hostIndex.lt(hostIndex.c(0), rate), "sample_rate must be positive");
  auto melOf = [&](Value edge) {
    Value hertz = castScalar(l.b, l.loc, l.hostScalar(edge), l.elem(edge), f64);
    Value log = math::Log1pOp::create(l.b, l.loc, host.div(hertz, host.constant(700)));
    return host.div(host.mul(log, host.constant(2595)), host.constant(llvm::numbers::ln10));
  };
  Value low = melOf(mel.getLowerEdgeHertz()), high = melOf(mel.getUpperEdgeHertz());
  Value step = host.div(host.sub(high, low), host.fromIndex(hostIndex.add(bins, 2)));
  Value y = l.generate(
      "melweightmatrix", elem, l.dims(mel.getOutput()), [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        FloatMath f(b, loc, f64);
        IndexMath m{b, loc};
        // The spectrogram bin (a whole number) of a mel bin.
        auto edge = [&](Value i) {
          Value position =
              f.mul(f.div(f.add(f.mul(f.fromIndex(i), step), low), f.constant(2595)), f.constant(llvm::numbers::ln10));
          Value hertz = f.mul(f.constant(700), math::ExpM1Op::create(b, loc, position));
          return f.floor(f.div(f.mul(f.fromIndex(m.add(length, 1)), hertz), f.fromIndex(rate)));
        };
        Value lower = edge(at[1]), center = edge(m.add(at[1], 1)), upper = edge(m.add(at[1], 2)),
              j = f.fromIndex(at[0]);
        Value zero = f.constant(0), one = f.constant(1);
        Value rise = f.sub(center, lower), fall = f.sub(upper, center);
        Value rising = f.select(m.both(f.le(lower, j), f.le(j, center)), f.div(f.sub(j, lower), rise), zero);
        Value v = f.select(f.eq(rise, zero), f.select(f.eq(j, center), one, zero), rising);
        Value isFalling = m.both(f.lt(zero, fall), m.both(f.le(center, j), f.lt(j, upper)));
        v = f.select(isFalling, f.div(f.sub(upper, j), fall), v);
        return castScalar(b, loc, v, f64, elem);
      });
  l.set(mel.getOutput(), y);
  return success();
}

void optc::registerSignalLowerings(LoweringTable &table) {
  static constexpr std::pair<StringLiteral, LowerFn> kFunctions[] = {
      {"onnx.DFT", lowerDft}, {"onnx.STFT", lowerStft}, {"onnx.MelWeightMatrix", lowerMelWeightMatrix}};
  for (auto [name, function] : kFunctions)
    table[name] = function;
}
