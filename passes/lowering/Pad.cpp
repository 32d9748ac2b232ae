//===- Pad.cpp - Pad in all its modes -------------------------------------===//
//
// Negative pads cut first; what is left of an axis ("kept") is then padded. So reflections mirror at the kept edges.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/Movement.h"

using namespace mlir;
using namespace optc;

namespace {
/// Position in the kept part for the position `i`, which may be outside of it, of `size` >= 1 elements.
using PadMode = Value (*)(const IndexBuilder &m, Value i, Value size);
} // namespace

static Value reflect(const IndexBuilder &m, Value i, Value size) {
  Value last = m.sub(size, m.cst(1));
  Value period = m.max(m.mul(last, m.cst(2)), m.cst(1));
  Value phase = m.floorMod(i, period);
  return m.min(phase, m.sub(m.mul(last, m.cst(2)), phase));
}
static Value edge(const IndexBuilder &m, Value i, Value size) { return m.clamp(i, m.cst(0), m.sub(size, m.cst(1))); }
static Value wrap(const IndexBuilder &m, Value i, Value size) { return m.floorMod(i, size); }

static const std::pair<StringRef, PadMode> padModes[] = {
    {"constant", nullptr}, {"reflect", reflect}, {"edge", edge}, {"wrap", wrap}};

static LogicalResult lowerPad(Operation *o, Lowering &l) {
  auto op = cast<onnx::PadOp>(o);
  const auto *mode = llvm::find_if(padModes, [&](auto &m) { return m.first == op.getMode(); });
  if (mode == std::end(padModes))
    return unsupported(op, "attribute mode \"" + op.getMode() + "\"; supported are constant, reflect, edge and wrap");
  Value result = op.getResult();
  Lowering::Input in = l.input(op.getData());
  if (isString(in.elem))
    return unsupported(op, "tensors of strings");
  int64_t rank = in.dims.size();
  FailureOr<PerAxis> per = PerAxis::get(op, l, op.getPads(), op.getAxes(), rank, 2);
  if (failed(per))
    return failure();

  // Per axis: where the kept part starts, how many elements it has, and how many elements of padding precede it.
  IndexBuilder m{l.b, l.loc};
  Value zero = m.cst(0);
  SmallVector<Value> starts(rank), kept(rank), before(rank);
  bool emptyPossible = false;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value first = per->value(op.getPads(), axis, 0, zero), last = per->value(op.getPads(), axis, per->count, zero);
    Value cutFirst = m.max(m.sub(zero, first), zero), cutLast = m.max(m.sub(zero, last), zero);
    starts[axis] = cutFirst;
    kept[axis] = m.max(m.sub(m.sub(l.index(in.dims[axis]), cutFirst), cutLast), zero);
    before[axis] = m.max(first, zero);
    emptyPossible |= !matchPattern(kept[axis], m_NonZero());
    Dim size = l.dims(result)[axis];
    if (isOwnSize(size, result))
      l.bind(size, m.add(l.index(in.dims[axis]), m.add(first, last)));
    if (!knownSize(size))
      l.check(m.ge(l.index(size), zero), "the pads of axis " + Twine(axis) + " remove more elements than there are");
    if (mode->second && emptyPossible)
      l.check(m.lt(zero, m.max(kept[axis], m.sub(m.cst(1), l.index(size)))),
              "mode " + op.getMode() + " cannot pad axis " + Twine(axis) + ", which is empty");
  }
  Value fill = l.get(op.getConstantValue());
  SmallVector<Value> fillAt;
  if (fill) {
    for (Dim d : l.dims(op.getConstantValue()))
      if (knownSize(d) == 0)
        fill = nullptr;
    fillAt.assign(l.rank(op.getConstantValue()), zero);
  }

  auto body = [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexBuilder m{b, loc};
    SmallVector<Value> from(rank), clamped(rank);
    Value inside;
    for (int64_t axis = 0; axis < rank; ++axis) {
      bool untouched = matchPattern(before[axis], m_Zero()) && matchPattern(starts[axis], m_Zero()) &&
                       in.dims[axis] == l.dims(result)[axis];
      if (untouched) {
        from[axis] = clamped[axis] = at[axis];
        continue;
      }
      Value i = m.sub(at[axis], before[axis]);
      if (mode->second) {
        from[axis] = m.add(starts[axis], mode->second(m, i, kept[axis]));
        continue;
      }
      from[axis] = m.add(starts[axis], i);
      clamped[axis] = m.add(starts[axis], edge(m, i, kept[axis]));
      Value here = m.all(m.ge(i, m.cst(0)), m.lt(i, kept[axis]));
      inside = inside ? m.all(inside, here) : here;
    }
    if (!inside)
      return l.load(b, loc, in.lowered, in.elem, from);
    auto padding = [&](OpBuilder &b) -> Value {
      return fill ? l.load(b, loc, fill, in.elem, fillAt) : ScalarOps{b, loc, in.elem}.constant(0);
    };
    if (!emptyPossible)
      return arith::SelectOp::create(b, loc, inside, l.load(b, loc, in.lowered, in.elem, clamped), padding(b));
    // An empty input has no element that could be read in vain.
    auto choice = scf::IfOp::create(
        b, loc, inside,
        [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, l.load(b, loc, in.lowered, in.elem, from)); },
        [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, padding(b)); });
    return choice.getResult(0);
  };
  l.set(result, l.generate("pad", in.elem, l.dims(result), body));
  return success();
}

void optc::registerPadLowerings(LoweringTable &table) { table["onnx.Pad"] = ranked<lowerPad>; }
