//===- Recurrent.cpp - RNN, GRU, LSTM -------------------------------------===//
//
// The products of all inputs with W are one contraction before the loop over time. One kernel then walks directions,
// batch and time; per step it adds the product of the state with R (transposed first, so that the inner loop runs over
// gates that lie side by side), applies the activations and writes the new state.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Activations.h"
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
struct Emitter {
  StringLiteral name; ///< as in onnx::Activation
  Value (*emit)(FloatMath f, Value x, Value alpha, Value beta);
};

Value sigmoid(FloatMath f, Value x) {
  return f.div(f.constant(1), f.add(f.constant(1), math::ExpOp::create(f.b, f.loc, f.neg(x))));
}
Value whenPositive(FloatMath f, Value x, Value positive, Value other) {
  // NaN takes the first branch, which keeps it.
  return f.select(f.lt(x, f.constant(0)), other, positive);
}

const Emitter kEmitters[] = {
    {"relu", [](FloatMath f, Value x, Value, Value) { return f.max(x, f.constant(0)); }},
    {"tanh", [](FloatMath f, Value x, Value, Value) -> Value { return math::TanhOp::create(f.b, f.loc, x); }},
    {"sigmoid", [](FloatMath f, Value x, Value, Value) { return sigmoid(f, x); }},
    {"affine", [](FloatMath f, Value x, Value alpha, Value beta) { return f.add(f.mul(alpha, x), beta); }},
    {"leakyrelu", [](FloatMath f, Value x, Value alpha, Value) { return whenPositive(f, x, x, f.mul(alpha, x)); }},
    {"thresholdedrelu",
     [](FloatMath f, Value x, Value alpha, Value) { return f.select(f.lt(alpha, x), x, f.constant(0)); }},
    {"scaledtanh", [](FloatMath f, Value x, Value alpha,
                      Value beta) { return f.mul(alpha, math::TanhOp::create(f.b, f.loc, f.mul(beta, x))); }},
    {"hardsigmoid",
     [](FloatMath f, Value x, Value alpha, Value beta) {
       return f.max(f.constant(0), f.min(f.constant(1), f.add(f.mul(alpha, x), beta)));
     }},
    {"elu", [](FloatMath f, Value x, Value alpha,
               Value) { return whenPositive(f, x, x, f.mul(alpha, math::ExpM1Op::create(f.b, f.loc, x))); }},
    {"softsign", [](FloatMath f, Value x, Value, Value) { return f.div(x, f.add(f.constant(1), f.abs(x))); }},
    {"softplus",
     [](FloatMath f, Value x, Value, Value) -> Value {
       // max(x, 0) + log1p(exp(-|x|)) does not overflow.
       return f.add(f.max(x, f.constant(0)),
                    math::Log1pOp::create(f.b, f.loc, math::ExpOp::create(f.b, f.loc, f.neg(f.abs(x)))));
     }},
};

struct Activation {
  const Emitter *emitter;
  double alpha, beta;
  Value operator()(FloatMath f, Value x) const { return emitter->emit(f, x, f.constant(alpha), f.constant(beta)); }
};

/// What the three operators share.
struct Cell {
  Operation *op;
  Lowering &l;
  Value x, w, r, bias, lens, initialH, initialC, peephole; ///< onnx values, null when absent
  Value y, yh, yc;
  int64_t gates; ///< per hidden element: 1, 3 or 4
  int64_t directions = 1;
  bool backward = false; ///< the only direction runs backwards
  bool batchFirst = false;
  std::optional<double> clip = std::nullopt;
  SmallVector<Activation> activations = {}; ///< per direction, one after the other
  int64_t perDirection = 1;
  Type elem = {}, work = {};
  Dim time = nullptr, batch = nullptr, hidden = nullptr;

  Value clipped(FloatMath f, Value v) const {
    return clip ? f.min(f.max(v, f.constant(-*clip)), f.constant(*clip)) : v;
  }
  Value activate(FloatMath f, int64_t direction, int64_t which, Value v) const {
    return activations[direction * perDirection + which](f, clipped(f, v));
  }
};
} // namespace

static LogicalResult readActivations(Cell &cell, ArrayRef<StringLiteral> defaults) {
  cell.perDirection = defaults.size();
  std::string reason;
  auto found = onnx::activationsOf(cell.op, defaults, cell.directions, reason);
  if (!found)
    return unsupported(cell.op, reason);
  for (const onnx::Activation &a : *found) {
    const Emitter *emitter = llvm::find_if(kEmitters, [&](const Emitter &e) { return e.name == a.name; });
    cell.activations.push_back({emitter, a.alpha, a.beta});
  }
  return success();
}

/// Reads the attributes and checks the sizes that all three operators have.
static LogicalResult prepare(Cell &cell, ArrayRef<StringLiteral> defaultActivations) {
  Operation *op = cell.op;
  Lowering &l = cell.l;
  if (l.rank(cell.x) != 3 || l.rank(cell.w) != 3 || l.rank(cell.r) != 3)
    return unsupported(op, "X, W and R must have rank 3, but they have " + Twine(l.rank(cell.x)) + ", " +
                               Twine(l.rank(cell.w)) + " and " + Twine(l.rank(cell.r)));
  StringRef direction =
      op->getAttrOfType<StringAttr>("direction") ? op->getAttrOfType<StringAttr>("direction").getValue() : "forward";
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return unsupported(op, "attribute 'direction' is '" + direction +
                               "'; forward, reverse and bidirectional are supported");
  cell.directions = direction == "bidirectional" ? 2 : 1;
  cell.backward = direction == "reverse";
  auto layout = op->getAttrOfType<IntegerAttr>("layout");
  cell.batchFirst = layout && layout.getInt() != 0;
  if (auto clip = op->getAttrOfType<FloatAttr>("clip"))
    cell.clip = clip.getValueAsDouble();
  if (failed(readActivations(cell, defaultActivations)))
    return failure();
  cell.elem = l.elem(cell.x);
  cell.work = accumulatorOf(cell.elem);
  cell.time = l.dims(cell.x)[cell.batchFirst ? 1 : 0];
  cell.batch = l.dims(cell.x)[cell.batchFirst ? 0 : 1];
  cell.hidden = l.dims(cell.r)[2];
  Dim directions = constDim(l, cell.directions), gateRows = scaleDim(l, cell.hidden, cell.gates),
      input = l.dims(cell.x)[2];
  SmallVector<Dim> state = {directions, cell.batch, cell.hidden};
  if (cell.batchFirst)
    state = {cell.batch, directions, cell.hidden};
  struct Expected {
    Value value;
    StringRef name;
    SmallVector<Dim> dims;
  };
  for (const Expected &e : {Expected{cell.w, "W", {directions, gateRows, input}},
                            Expected{cell.r, "R", {directions, gateRows, cell.hidden}},
                            Expected{cell.bias, "B", {directions, scaleDim(l, gateRows, 2)}},
                            Expected{cell.lens, "sequence_lens", {cell.batch}},
                            Expected{cell.initialH, "initial_h", state}, Expected{cell.initialC, "initial_c", state},
                            Expected{cell.peephole, "P", {directions, scaleDim(l, cell.hidden, 3)}}}) {
    if (!e.value)
      continue;
    if (l.rank(e.value) != static_cast<int64_t>(e.dims.size()))
      return unsupported(op, "has an input '" + e.name + "' of rank " + Twine(l.rank(e.value)) + "; rank " +
                                 Twine(e.dims.size()) + " is needed");
    for (auto [have, want] : llvm::zip(l.dims(e.value), e.dims))
      requireEqual(l, have, want, "the sizes of input '" + e.name + "' do not fit");
  }
  return success();
}

/// X W + biases of the gates: [directions, time, batch, gates * hidden] in the working type. With `splitLast`, the
/// recurrent bias of the last gate is left out.
static Value inputProducts(const Cell &cell, bool splitLast) {
  Lowering &l = cell.l;
  MLIRContext *ctx = cell.op->getContext();
  AffineExpr d, t, b, g, i;
  bindDims(ctx, d, t, b, g, i);
  SmallVector<AffineMap> maps = {cell.batchFirst ? AffineMap::get(5, 0, {b, t, i}, ctx)
                                                 : AffineMap::get(5, 0, {t, b, i}, ctx),
                                 AffineMap::get(5, 0, {d, g, i}, ctx), AffineMap::get(5, 0, {d, t, b, g}, ctx)};
  SmallVector<Dim> dims = {constDim(l, cell.directions), cell.time, cell.batch, scaleDim(l, cell.hidden, cell.gates)};
  Value product =
      l.contract("recurrent_input", {l.input(cell.x), l.input(cell.w)}, maps,
                 {Iter::parallel, Iter::parallel, Iter::parallel, Iter::parallel, Iter::reduction}, cell.work, dims,
                 ScalarOps{l.b, l.loc, cell.work}.constant(0), multiplyAdd(cell.elem, cell.elem, cell.work));
  if (!cell.bias)
    return product;
  Value bias = l.get(cell.bias), rows = l.index(dims[3]), split = l.index(scaleDim(l, cell.hidden, cell.gates - 1));
  SmallVector<Dim> sumDims = {dims[0], dims[3]}, column = {dims[0], constDim(l, 1), constDim(l, 1), dims[3]};
  Value sums =
      l.generate("recurrent_bias", cell.work, sumDims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath m{b, loc};
        FloatMath f(b, loc, cell.work);
        Value recurrent = l.load(b, loc, bias, cell.elem, {at[0], m.add(at[1], rows)});
        if (splitLast)
          recurrent = f.select(m.lt(at[1], split), recurrent, f.constant(0));
        return f.add(l.load(b, loc, bias, cell.elem, at), recurrent);
      });
  return l.elementwise(
      {Lowering::Input{product, cell.work, dims}, Lowering::Input{l.view(sums, cell.work, column), cell.work, column}},
      cell.work, dims,
      [&](OpBuilder &b, Location loc, ValueRange in) { return ScalarOps{b, loc, cell.work}.add(in[0], in[1]); });
}

/// R as [directions, hidden, gates * hidden] in the working type.
static Value transposedR(const Cell &cell) {
  Lowering &l = cell.l;
  Value r = l.get(cell.r);
  return l.generate(
      "recurrent_transpose", cell.work,
      {constDim(l, cell.directions), cell.hidden, scaleDim(l, cell.hidden, cell.gates)},
      [&](OpBuilder &b, Location loc, ValueRange at) { return l.load(b, loc, r, cell.elem, {at[0], at[2], at[1]}); });
}

/// Emits one step. `state` holds the tensors [h, c (LSTM only), gates, extra (GRU only)] and comes back updated; `at`
/// makes the indices of hidden element j in the state of this direction and batch row.
using StepFn = llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, int64_t direction, SmallVector<Value> state,
                                                     llvm::function_ref<SmallVector<Value>(Value j)> at)>;

/// gates[j + first] += sum over k of vector(k) * r[direction, k, j + first] for j in [0, count).
static Value accumulate(OpBuilder &b, Location loc, const Cell &cell, Value gates, Value r, Value direction,
                        Value hidden, Value first, Value count, Value toFirst,
                        llvm::function_ref<Value(OpBuilder &, Value k)> vector) {
  return Lowering::loopNest(b, loc, {hidden}, {gates}, [&](OpBuilder &b, Location loc, ValueRange k, ValueRange t) {
    Value v = vector(b, k[0]);
    return Lowering::loopNest(b, loc, {count}, t, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
      IndexMath m{b, loc};
      FloatMath f(b, loc, cell.work);
      Value to = m.add(j[0], toFirst);
      Value factor = tensor::ExtractOp::create(b, loc, r, ValueRange{direction, k[0], m.add(j[0], first)});
      Value sum = f.add(tensor::ExtractOp::create(b, loc, t[0], to), f.mul(v, factor));
      return SmallVector<Value>{tensor::InsertOp::create(b, loc, sum, t[0], to)};
    });
  })[0];
}

/// The loops over direction, batch and time around `step`; sets the results. `scratch` are the sizes of the tensors
/// after the states.
static void runCell(const Cell &cell, Value products, ArrayRef<SmallVector<Dim>> scratch, StepFn step) {
  Lowering &l = cell.l;
  Dim directions = constDim(l, cell.directions);
  SmallVector<Dim> stateDims = {directions, cell.batch, cell.hidden},
                   yDims = {cell.time, directions, cell.batch, cell.hidden};
  if (cell.batchFirst)
    yDims = {cell.batch, cell.time, directions, cell.hidden};
  bool hasC = cell.gates == 4;
  SmallVector<Lowering::Result> results = {{cell.work, stateDims}};
  if (hasC)
    results.push_back({cell.work, stateDims});
  size_t states = results.size();
  for (const SmallVector<Dim> &dims : scratch)
    results.push_back({cell.work, dims});
  size_t yAt = results.size();
  if (cell.y)
    results.push_back({cell.elem, yDims});
  Value hidden = l.index(cell.hidden), batch = l.index(cell.batch), time = l.index(cell.time),
        rows = l.index(scaleDim(l, cell.hidden, cell.gates));
  Value lens = l.get(cell.lens), initial[2] = {l.get(cell.initialH), l.get(cell.initialC)};
  Type lensElem = cell.lens ? l.elem(cell.lens) : Type();

  SmallVector<Value> done =
      l.loops("recurrent", results, [&](OpBuilder &b, Location loc, ValueRange dests) -> SmallVector<Value> {
        SmallVector<Value> tensors(dests);
        for (int64_t direction = 0; direction < cell.directions; ++direction) {
          bool backward = cell.backward || direction == 1;
          tensors = Lowering::loopNest(
              b, loc, {batch}, tensors, [&](OpBuilder &b, Location loc, ValueRange ivs, ValueRange carried) {
                IndexMath m{b, loc};
                Value d = m.c(direction), row = ivs[0];
                SmallVector<Value> t(carried);
                auto at = [&](Value j) { return SmallVector<Value>{d, row, j}; };
                for (size_t s = 0; s < states; ++s)
                  t[s] = Lowering::loopNest(
                      b, loc, {hidden}, {t[s]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange state) {
                        Value v = ScalarOps{b, loc, cell.work}.constant(0);
                        if (initial[s])
                          v = l.load(b, loc, initial[s], cell.elem,
                                     cell.batchFirst ? ValueRange{row, d, j[0]} : ValueRange{d, row, j[0]});
                        return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, state[0], at(j[0]))};
                      })[0];
                Value steps = time;
                if (lens) {
                  Value len = arith::IndexCastOp::create(b, loc, b.getIndexType(), l.load(b, loc, lens, lensElem, row));
                  steps = m.max(m.min(len, time), m.c(0));
                }
                auto yIndex = [&](Value step, Value j) {
                  return cell.batchFirst ? SmallVector<Value>{row, step, d, j} : SmallVector<Value>{step, d, row, j};
                };
                t = Lowering::loopNest(
                    b, loc, {steps}, t, [&](OpBuilder &b, Location loc, ValueRange iv, ValueRange carried) {
                      IndexMath m{b, loc};
                      SmallVector<Value> t(carried);
                      Value now = backward ? m.sub(m.add(steps, -1), iv[0]) : iv[0];
                      t[states] = Lowering::loopNest(
                          b, loc, {rows}, {t[states]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange gates) {
                            Value v = tensor::ExtractOp::create(b, loc, products, ValueRange{d, now, row, j[0]});
                            return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, gates[0], j)};
                          })[0];
                      SmallVector<Value> next =
                          step(b, loc, direction, SmallVector<Value>(t.begin(), t.begin() + yAt), at);
                      llvm::copy(next, t.begin());
                      if (cell.y)
                        t[yAt] = Lowering::loopNest(
                            b, loc, {hidden}, {t[yAt]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange y) {
                              Value v = Lowering::toStorage(b, loc, tensor::ExtractOp::create(b, loc, t[0], at(j[0])),
                                                            cell.elem);
                              return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, y[0], yIndex(now, j[0]))};
                            })[0];
                      return t;
                    });
                // Steps after a sequence's end give zeros.
                if (cell.y && lens)
                  t[yAt] = Lowering::loopNest(
                      b, loc, {m.sub(time, steps), hidden}, {t[yAt]},
                      [&](OpBuilder &b, Location loc, ValueRange j, ValueRange y) {
                        Value zero = Lowering::toStorage(b, loc, ScalarOps{b, loc, cell.elem}.constant(0), cell.elem);
                        return SmallVector<Value>{tensor::InsertOp::create(
                            b, loc, zero, y[0], yIndex(IndexMath{b, loc}.add(steps, j[0]), j[1]))};
                      })[0];
                return t;
              });
        }
        return tensors;
      });

  auto setState = [&](Value result, Value state) {
    if (!result)
      return;
    if (!cell.batchFirst) {
      l.set(result, convertElements(l, state, cell.work, cell.elem, stateDims));
      return;
    }
    l.set(result, l.generate("recurrent_state", cell.elem, {cell.batch, directions, cell.hidden},
                             [&](OpBuilder &b, Location loc, ValueRange at) {
                               return l.load(b, loc, state, cell.work, {at[1], at[0], at[2]});
                             }));
  };
  if (cell.y)
    l.set(cell.y, done[yAt]);
  setState(cell.yh, done[0]);
  if (hasC)
    setState(cell.yc, done[1]);
}

/// One element of a 1-D tensor of the working type.
static Value element(OpBuilder &b, Location loc, Value tensor, Value at) {
  return tensor::ExtractOp::create(b, loc, tensor, at);
}

static LogicalResult lowerRnn(Operation *op, Lowering &l) {
  auto rnn = cast<onnx::RNNOp>(op);
  Cell cell{op, l,  rnn.getX(), rnn.getW(),  rnn.getR(), rnn.getB(), rnn.getSequenceLens(), rnn.getInitialH(),
            {}, {}, rnn.getY(), rnn.getYH(), {},         1};
  if (failed(prepare(cell, {"Tanh"})))
    return failure();
  Value products = inputProducts(cell, false), r = transposedR(cell), hidden = l.index(cell.hidden);
  runCell(cell, products, {{cell.hidden}},
          [&](OpBuilder &b, Location loc, int64_t direction, SmallVector<Value> s, auto at) {
            IndexMath m{b, loc};
            Value zero = m.c(0), d = m.c(direction);
            s[1] =
                accumulate(b, loc, cell, s[1], r, d, hidden, zero, hidden, zero, [&](OpBuilder &b, Value k) -> Value {
                  return tensor::ExtractOp::create(b, loc, s[0], at(k));
                });
            s[0] = Lowering::loopNest(
                b, loc, {hidden}, {s[0]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
                  Value v = cell.activate(FloatMath(b, loc, cell.work), direction, 0, element(b, loc, s[1], j[0]));
                  return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], at(j[0]))};
                })[0];
            return s;
          });
  return success();
}

static LogicalResult lowerGru(Operation *op, Lowering &l) {
  auto gru = cast<onnx::GRUOp>(op);
  Cell cell{op, l,  gru.getX(), gru.getW(),  gru.getR(), gru.getB(), gru.getSequenceLens(), gru.getInitialH(),
            {}, {}, gru.getY(), gru.getYH(), {},         3};
  if (failed(prepare(cell, {"Sigmoid", "Tanh"})))
    return failure();
  bool resetAfter = gru.getLinearBeforeReset() != 0;
  Value products = inputProducts(cell, resetAfter), r = transposedR(cell), hidden = l.index(cell.hidden);
  Value twice = l.index(scaleDim(l, cell.hidden, 2)), biasAt = l.index(scaleDim(l, cell.hidden, 5)),
        bias = l.get(cell.bias);
  // s: h, gates (update, reset, candidate), extra: reset * h, or h R + its bias
  runCell(
      cell, products, {{scaleDim(l, cell.hidden, 3)}, {cell.hidden}},
      [&](OpBuilder &b, Location loc, int64_t direction, SmallVector<Value> s, auto at) {
        IndexMath m{b, loc};
        Value zero = m.c(0), d = m.c(direction);
        auto state = [&](OpBuilder &b, Value k) -> Value { return tensor::ExtractOp::create(b, loc, s[0], at(k)); };
        s[1] = accumulate(b, loc, cell, s[1], r, d, hidden, zero, twice, zero, state);
        s[1] = Lowering::loopNest(b, loc, {twice}, {s[1]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
          Value v = cell.activate(FloatMath(b, loc, cell.work), direction, 0, element(b, loc, t[0], j[0]));
          return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], j)};
        })[0];
        auto reset = [&](OpBuilder &b, Value j) { return element(b, loc, s[1], IndexMath{b, loc}.add(j, hidden)); };
        if (resetAfter) {
          s[2] =
              Lowering::loopNest(b, loc, {hidden}, {s[2]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
                Value v = bias ? l.load(b, loc, bias, cell.elem, {d, IndexMath{b, loc}.add(j[0], biasAt)})
                               : FloatMath(b, loc, cell.work).constant(0);
                return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], j)};
              })[0];
          s[2] = accumulate(b, loc, cell, s[2], r, d, hidden, twice, hidden, zero, state);
        } else {
          s[2] =
              Lowering::loopNest(b, loc, {hidden}, {s[2]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
                Value v = FloatMath(b, loc, cell.work).mul(reset(b, j[0]), state(b, j[0]));
                return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], j)};
              })[0];
          s[1] = accumulate(b, loc, cell, s[1], r, d, hidden, twice, hidden, twice,
                            [&](OpBuilder &b, Value k) { return element(b, loc, s[2], k); });
        }
        s[0] =
            Lowering::loopNest(b, loc, {hidden}, {s[0]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
              FloatMath f(b, loc, cell.work);
              Value candidate = element(b, loc, s[1], IndexMath{b, loc}.add(j[0], twice)),
                    update = element(b, loc, s[1], j[0]);
              if (resetAfter)
                candidate = f.add(candidate, f.mul(reset(b, j[0]), element(b, loc, s[2], j[0])));
              candidate = cell.activate(f, direction, 1, candidate);
              Value old = tensor::ExtractOp::create(b, loc, t[0], at(j[0]));
              Value v = f.add(f.mul(f.sub(f.constant(1), update), candidate), f.mul(update, old));
              return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], at(j[0]))};
            })[0];
        return s;
      });
  return success();
}

static LogicalResult lowerLstm(Operation *op, Lowering &l) {
  auto lstm = cast<onnx::LSTMOp>(op);
  Cell cell{op,
            l,
            lstm.getX(),
            lstm.getW(),
            lstm.getR(),
            lstm.getB(),
            lstm.getSequenceLens(),
            lstm.getInitialH(),
            lstm.getInitialC(),
            lstm.getP(),
            lstm.getY(),
            lstm.getYH(),
            lstm.getYC(),
            4};
  if (failed(prepare(cell, {"Sigmoid", "Tanh", "Tanh"})))
    return failure();
  bool coupled = lstm.getInputForget() != 0;
  Value products = inputProducts(cell, false), r = transposedR(cell), hidden = l.index(cell.hidden),
        p = l.get(cell.peephole);
  Dim rowsDim = scaleDim(l, cell.hidden, 4);
  Value rows = l.index(rowsDim), twice = l.index(scaleDim(l, cell.hidden, 2)),
        thrice = l.index(scaleDim(l, cell.hidden, 3));
  // s: h, c, gates (input, output, forget, cell)
  runCell(cell, products, {{rowsDim}},
          [&](OpBuilder &b, Location loc, int64_t direction, SmallVector<Value> s, auto at) {
            IndexMath m{b, loc};
            Value zero = m.c(0), d = m.c(direction);
            s[2] = accumulate(b, loc, cell, s[2], r, d, hidden, zero, rows, zero, [&](OpBuilder &b, Value k) -> Value {
              return tensor::ExtractOp::create(b, loc, s[0], at(k));
            });
            SmallVector<Value> next = Lowering::loopNest(
                b, loc, {hidden}, {s[0], s[1]}, [&](OpBuilder &b, Location loc, ValueRange j, ValueRange t) {
                  IndexMath m{b, loc};
                  FloatMath f(b, loc, cell.work);
                  Value old = tensor::ExtractOp::create(b, loc, t[1], at(j[0]));
                  auto gate = [&](Value first, Value peepholeFirst, Value c) {
                    Value v = element(b, loc, s[2], m.add(j[0], first));
                    return p && peepholeFirst
                               ? f.add(v, f.mul(l.load(b, loc, p, cell.elem, {d, m.add(j[0], peepholeFirst)}), c))
                               : v;
                  };
                  Value input = cell.activate(f, direction, 0, gate(zero, zero, old));
                  Value forget =
                      coupled ? f.sub(f.constant(1), input) : cell.activate(f, direction, 0, gate(twice, twice, old));
                  Value candidate = cell.activate(f, direction, 1, gate(thrice, {}, {}));
                  Value c = f.add(f.mul(forget, old), f.mul(input, candidate));
                  Value output = cell.activate(f, direction, 0, gate(hidden, hidden, c));
                  Value h = f.mul(output, cell.activate(f, direction, 2, c));
                  return SmallVector<Value>{tensor::InsertOp::create(b, loc, h, t[0], at(j[0])),
                                            tensor::InsertOp::create(b, loc, c, t[1], at(j[0]))};
                });
            s[0] = next[0];
            s[1] = next[1];
            return s;
          });
  return success();
}

void optc::registerRecurrentLowerings(LoweringTable &table) {
  static constexpr std::pair<StringLiteral, LowerFn> kFunctions[] = {
      {"onnx.RNN", lowerRnn}, {"onnx.GRU", lowerGru}, {"onnx.LSTM", lowerLstm}};
  for (auto [name, function] : kFunctions)
    table[name] = function;
}
