//===- RaiseLstm.cpp - com.microsoft's DynamicQuantizeLSTM ----------------===//
//
// What ONNX Runtime computes: the inputs of all steps are quantized together and multiplied by W; in a Scan over time,
// the state of the whole batch is quantized anew and multiplied by R. Both are exact products of integers.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Activations.h"
#include "optc/passes/graph/Raise.h"

using namespace mlir;
using namespace optc;

namespace {
enum In { X, W, R, B, Lens, InitialH, InitialC, P, WScale, WZero, RScale, RZero };

/// Functions that ai.onnx has under another name than its recurrent operators.
Value activate(Raise &r, const onnx::Activation &f, Value x) {
  static const llvm::StringMap<StringRef> operators = {
      {"relu", "Relu"},           {"tanh", "Tanh"},         {"sigmoid", "Sigmoid"},
      {"leakyrelu", "LeakyRelu"}, {"elu", "Elu"},           {"thresholdedrelu", "ThresholdedRelu"},
      {"softsign", "Softsign"},   {"softplus", "Softplus"}, {"hardsigmoid", "HardSigmoid"},
  };
  Value alpha = f.parameters > 0 ? r.number(f.alpha) : Value(), beta = f.parameters > 1 ? r.number(f.beta) : Value();
  if (f.name == "affine")
    return r.plus(r.times(x, alpha), beta);
  if (f.name == "scaledtanh")
    return r.times(r.make("Tanh", {r.times(x, beta)}, r.f32()), alpha);
  SmallVector<NamedAttribute> attributes;
  if (f.parameters > 0)
    attributes.push_back(r.real("alpha", f.alpha));
  if (f.parameters > 1)
    attributes.push_back(r.real("beta", f.beta));
  return r.make(operators.lookup(f.name), {x}, r.f32(), attributes);
}

/// One op on its way.
struct Lstm {
  Raise &r;
  int64_t directions, hidden;
  SmallVector<onnx::Activation> functions; ///< three per direction
  Value lens, active;                      ///< [batch]; [time, batch, 1]: whether a sequence has that step

  /// The part of one direction.
  Value part(Value v, int64_t direction) {
    return !v ? v : directions == 1 ? r.squeezed(v, {0}) : r.gathered(v, r.scalar(direction), 0);
  }
  Value reversed(Value v) {
    return r.make("ReverseSequence", {v, lens}, r.elementOf(v),
                  {r.integer("batch_axis", 1), r.integer("time_axis", 0)});
  }
  std::array<Value, 3> quantizedInput();
  SmallVector<Value> gates(Value sums, Value c, Value bias, Value peephole, int64_t direction);
  std::array<Value, 3> run(int64_t direction, bool backward, std::array<Value, 3> input);
};
} // namespace

/// X as bytes. Steps that no sequence has are not looked at.
std::array<Value, 3> Lstm::quantizedInput() {
  Value x = r.at(X);
  if (!lens)
    return r.quantizedDynamically(x);
  Value steps = r.below(r.sizeOf(x, 0));
  Value ends = r.unsqueezed(lens, {0});
  active = r.make("Less", {r.unsqueezed(steps, {1}), ends}, r.boolean());
  active = r.unsqueezed(active, {2});
  Value longest = r.make("ReduceMax", {lens}, r.i64(), r.integer("keepdims", 0));
  Value some = r.unsqueezed(r.make("Less", {steps, longest}, r.boolean()), {1, 2});
  return r.quantizedDynamically(r.make("Where", {some, x, r.number(0)}, r.f32()));
}

/// The next h and c from X W + h R.
SmallVector<Value> Lstm::gates(Value sums, Value c, Value bias, Value peephole, int64_t direction) {
  if (!peephole)
    sums = r.plus(sums, bias);
  SmallVector<Value> gate = r.split(sums, -1, 4), biases, peepholes; // input, output, forget, cell
  if (peephole) {
    peepholes = r.split(peephole, 0, 3);
    if (bias)
      biases = r.split(bias, 0, 4);
  }
  auto clip = r.op->getAttrOfType<FloatAttr>("clip");
  auto apply = [&](int64_t which, int64_t function, Value cell) {
    Value v = gate[which];
    if (peephole && cell)
      v = r.plus(v, r.times(peepholes[which], cell));
    if (peephole && bias)
      v = r.plus(v, biases[which]);
    if (clip) {
      float bound = clip.getValueAsDouble();
      v = r.make("Clip", {v, r.number(-bound), r.number(bound)}, r.f32());
    }
    return activate(r, functions[3 * direction + function], v);
  };
  Value input = apply(0, 0, c);
  Value forget = r.intAttr("input_forget", 0) ? r.minus(r.number(1), input) : apply(2, 0, c);
  Value next = r.plus(r.times(forget, c), r.times(input, apply(3, 1, Value())));
  Value output = apply(1, 0, next);
  return {r.times(output, activate(r, functions[3 * direction + 2], next)), next};
}

/// The last h, the last c and h of all steps, [time, batch, hidden].
std::array<Value, 3> Lstm::run(int64_t direction, bool backward, std::array<Value, 3> input) {
  Value w = part(r.at(W), direction), recurrent = part(r.at(R), direction), wZero = part(r.at(WZero), direction),
        rZero = part(r.at(RZero), direction), rScale = part(r.at(RScale), direction), bias;
  Value sums = r.product(input[0], w, input[2], wZero, r.times(input[1], part(r.at(WScale), direction)));
  if (backward && lens)
    sums = reversed(sums);
  if (Value both = part(r.at(B), direction)) {
    SmallVector<Value> halves = r.split(both, 0, 2);
    bias = r.plus(halves[0], halves[1]);
  }
  Value peephole = part(r.at(P), direction);
  SmallVector<Value> operands;
  for (In initial : {InitialH, InitialC})
    operands.push_back(part(r.at(initial), direction));
  for (Value &state : operands)
    if (!state)
      state = r.zeros(r.joined({r.sizeOf(r.at(X), 1), r.vector({hidden})}, 0), r.f32());
  operands.push_back(sums);
  if (lens)
    operands.push_back(active);

  int64_t scanned = lens ? 2 : 1, backwards = backward && !lens;
  Type f32 = r.unranked(r.f32());
  Operation *scan = onnx::createOp(r.b, r.loc, "Scan", operands, {f32, f32, f32},
                                   {r.integer("num_scan_inputs", scanned),
                                    r.ints("scan_input_directions", SmallVector<int64_t>(scanned, backwards)),
                                    r.ints("scan_output_directions", {backwards})});
  OpBuilder::InsertionGuard guard(r.b);
  Block *body = &scan->getRegion(0).emplaceBlock();
  for (Value operand : operands)
    body->addArgument(r.unranked(r.elementOf(operand)), r.loc);
  r.b.setInsertionPointToEnd(body);
  Value h = body->getArgument(0), c = body->getArgument(1);
  auto [integers, scale, zero] = r.quantizedDynamically(h);
  Value product = r.product(integers, recurrent, zero, rZero, r.times(scale, rScale));
  SmallVector<Value> next = gates(r.plus(product, body->getArgument(2)), c, bias, peephole, direction);
  next.push_back(next[0]);
  if (lens) {
    Value has = body->getArgument(3);
    next[0] = r.make("Where", {has, next[0], h}, r.f32());
    next[1] = r.make("Where", {has, next[1], c}, r.f32());
    next[2] = r.make("Where", {has, next[2], r.number(0)}, r.f32());
  }
  onnx::YieldOp::create(r.b, r.loc, ValueRange(next));
  r.b.setInsertionPointAfter(scan);
  Value all = scan->getResult(2);
  return {scan->getResult(0), scan->getResult(1), backward && lens ? reversed(all) : all};
}

static Raised raiseLstm(Raise &r) {
  auto direction = r.op->getAttrOfType<StringAttr>("direction");
  bool backward = direction && direction.getValue() == "reverse";
  int64_t directions = direction && direction.getValue() == "bidirectional" ? 2 : 1;
  auto type = r.typeAt(R);
  if (!type || type.isDynamicDim(1) || type.getDimSize(2) != 4 * type.getDimSize(1))
    return r.refuse("needs a recurrent weight R whose sizes are known: [directions, hidden, 4 * hidden]");
  std::string reason;
  auto functions = onnx::activationsOf(r.op, {"sigmoid", "tanh", "tanh"}, directions, reason);
  if (!functions)
    return r.refuse(reason);
  Lstm lstm{r, directions, type.getDimSize(1), *functions, Value(), Value()};
  if (Value lens = r.at(Lens))
    lstm.lens = r.cast(lens, r.i64());
  std::array<Value, 3> input = lstm.quantizedInput();
  SmallVector<Value> all, h, c;
  for (int64_t d = 0; d < directions; ++d) {
    auto [lastH, lastC, every] = lstm.run(d, backward || d == 1, input);
    all.push_back(r.unsqueezed(every, {1}));
    h.push_back(r.unsqueezed(lastH, {0}));
    c.push_back(r.unsqueezed(lastC, {0}));
  }
  return {r.joined(all, 1), r.joined(h, 0), r.joined(c, 0)};
}

void optc::registerRaisedLstm(RaiseTable &table) { table["onnx.ms.DynamicQuantizeLSTM"] = raiseLstm; }
