//===- Elementwise.cpp - shapes of elementwise operators -------------------===//
//
// The elements of small integer tensors are followed through arithmetic, when at least one operand is tracked: data
// that merely happens to be small is not.
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;

/// One element of the result from those of the operands; null when nothing is known.
using ElementFn = Dim (*)(ShapeContext &, Dim, Dim);

static bool isTracked(Type type) { return type && (type.isInteger(1) || type.isInteger(32) || type.isInteger(64)); }

/// Whether `d` is exact in the type: a constant fits, an expression over sizes is taken to fit; anything computed from
/// data is, except in 64 bits, not known to.
static bool fits(Dim d, Type type) {
  if (d->isConst())
    return type.isInteger(64) || (type.isInteger(32) ? llvm::isInt<32>(d->value) : d->value == 0 || d->value == 1);
  return type.isInteger(64) || (type.isInteger(32) && !d->dataDependent);
}

/// Applies `fn` over broadcast elements of the operands.
static std::optional<SmallVector<Dim>> mapElements(ShapeContext &ctx, ArrayRef<unsigned> inputs, ArrayRef<Dim> dims,
                                                   Type element, llvm::function_ref<Dim(ArrayRef<Dim>)> fn) {
  if (dims.size() > 1 || !isTracked(element) || !ctx.hasResult(0))
    return std::nullopt;
  bool tracked = false;
  SmallVector<SmallVector<Dim>> operands;
  for (unsigned i : inputs) {
    auto elements = ctx.elements(i);
    if (!elements || !isTracked(ctx.elementType(i)))
      return std::nullopt;
    tracked |= ctx.in(i).elements.has_value();
    operands.push_back(std::move(*elements));
  }
  if (!tracked || (dims.size() == 1 && !dims[0]->isConst()))
    return std::nullopt;
  int64_t count = dims.empty() ? 1 : dims[0]->value;
  if (count > maxTrackedElements)
    return std::nullopt;
  SmallVector<Dim> result;
  bool known = count == 0;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Dim> args;
    for (ArrayRef<Dim> elements : operands) {
      if (elements.empty() || (elements.size() != 1 && i >= int64_t(elements.size())))
        return std::nullopt;
      args.push_back(elements[elements.size() == 1 ? 0 : i]);
    }
    Dim value = fn(args);
    if (value && !fits(value, element))
      value = nullptr;
    known |= value != nullptr;
    result.push_back(value ? value : ctx.table.element(ctx.result(0), i));
  }
  return known ? std::optional(result) : std::nullopt;
}

static FailureOr<std::optional<SmallVector<Dim>>> broadcastDims(ShapeContext &ctx, ArrayRef<unsigned> inputs) {
  SmallVector<Dim> dims;
  for (unsigned i : inputs) {
    if (!ctx.ranked(i))
      return std::optional<SmallVector<Dim>>();
    FailureOr<SmallVector<Dim>> next = ctx.broadcast(dims, ctx.dims(i));
    if (failed(next))
      return failure();
    dims = std::move(*next);
  }
  return std::optional(dims);
}

LogicalResult optc::inferBroadcast(ShapeContext &ctx, ArrayRef<unsigned> inputs, Type element) {
  auto dims = broadcastDims(ctx, inputs);
  if (failed(dims))
    return failure();
  return *dims ? ctx.set(0, element, **dims) : ctx.setUnranked(0, element);
}

//===----------------------------------------------------------------------===//
// Arithmetic on elements
//===----------------------------------------------------------------------===//

static Dim addElements(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.add(a, b); }
static Dim subElements(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.sub(a, b); }
static Dim mulElements(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.mul(a, b); }
static Dim minElements(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.min(a, b); }
static Dim maxElements(ShapeContext &ctx, Dim a, Dim b) { return ctx.table.max(a, b); }

static Dim divElements(ShapeContext &ctx, Dim a, Dim b) {
  if (a->isConst() && b->isConst()) {
    if (b->value == 0 || (b->value == -1 && a->value == std::numeric_limits<int64_t>::min()))
      return nullptr;
    return ctx.constant(a->value / b->value);
  }
  // Truncation and flooring agree on non-negative values. A divisor that may be 0 stays a run-time matter.
  bool positive = b->isConst() && b->value > 0;
  return positive && DimTable::isNonNegative(a) ? ctx.table.floorDiv(a, b) : nullptr;
}

static Dim modElements(ShapeContext &ctx, Dim a, Dim b) {
  if (!b->isConst() || b->value <= 0)
    return nullptr;
  if (ctx.intAttr("fmod", 0) && !DimTable::isNonNegative(a))
    return a->isConst() ? ctx.constant(a->value % b->value) : nullptr;
  return ctx.table.mod(a, b);
}

static Dim powElements(ShapeContext &ctx, Dim a, Dim b) {
  if (!b->isConst() || b->value < 0 || b->value > 62)
    return nullptr;
  Dim result = ctx.constant(1);
  for (int64_t i = 0; i < b->value; ++i)
    result = ctx.table.mul(result, a);
  return result;
}

/// a - b when it is a constant.
static std::optional<int64_t> difference(ShapeContext &ctx, Dim a, Dim b) { return constantOf(ctx.table.sub(a, b)); }

static Dim truth(ShapeContext &ctx, bool value) { return ctx.constant(value); }

static Dim equalElements(ShapeContext &ctx, Dim a, Dim b) {
  if (auto d = difference(ctx, a, b))
    return truth(ctx, *d == 0);
  // A size never equals a negative number.
  if ((b->isConst() && b->value < 0 && DimTable::isNonNegative(a)) ||
      (a->isConst() && a->value < 0 && DimTable::isNonNegative(b)))
    return truth(ctx, false);
  return nullptr;
}

/// Whether a < b.
static Dim lessElements(ShapeContext &ctx, Dim a, Dim b) {
  if (auto d = difference(ctx, a, b))
    return truth(ctx, *d < 0);
  if (DimTable::isNonNegative(ctx.table.sub(a, b)))
    return truth(ctx, false);
  if (DimTable::isNonNegative(ctx.table.sub(ctx.table.sub(b, a), 1)))
    return truth(ctx, true);
  return nullptr;
}
static Dim negate(ShapeContext &ctx, Dim d) { return d && d->isConst() ? truth(ctx, !d->value) : nullptr; }
static Dim greaterElements(ShapeContext &ctx, Dim a, Dim b) { return lessElements(ctx, b, a); }
static Dim lessEqualElements(ShapeContext &ctx, Dim a, Dim b) { return negate(ctx, lessElements(ctx, b, a)); }
static Dim greaterEqualElements(ShapeContext &ctx, Dim a, Dim b) { return negate(ctx, lessElements(ctx, a, b)); }

static Dim andElements(ShapeContext &ctx, Dim a, Dim b) {
  if (a->isConst(0) || b->isConst(0))
    return truth(ctx, false);
  return a->isConst(1) ? b : b->isConst(1) ? a : nullptr;
}
static Dim orElements(ShapeContext &ctx, Dim a, Dim b) {
  if (a->isConst(1) || b->isConst(1))
    return truth(ctx, true);
  return a->isConst(0) ? b : b->isConst(0) ? a : nullptr;
}
static Dim xorElements(ShapeContext &ctx, Dim a, Dim b) {
  return a->isConst() && b->isConst() ? truth(ctx, a->value != b->value) : nullptr;
}

/// Comparisons see their operands' elements in the operands' type, which must be tracked as well.
template <ElementFn Fn> static LogicalResult binary(ShapeContext &ctx) {
  auto dims = broadcastDims(ctx, {0, 1});
  if (failed(dims))
    return failure();
  Type element = ctx.resultElement(0);
  if (!*dims)
    return ctx.setUnranked(0, element);
  std::optional<SmallVector<Dim>> elements;
  if constexpr (Fn != nullptr)
    elements = mapElements(ctx, {0, 1}, **dims, element, [&](ArrayRef<Dim> x) { return Fn(ctx, x[0], x[1]); });
  return ctx.set(0, element, **dims, std::move(elements));
}

template <ElementFn Fn> static LogicalResult variadic(ShapeContext &ctx) {
  unsigned count = ctx.op->getNumOperands();
  if (count == 0)
    return ctx.error("needs at least one input");
  SmallVector<unsigned> inputs = llvm::to_vector(llvm::seq(0u, count));
  auto dims = broadcastDims(ctx, inputs);
  if (failed(dims))
    return failure();
  Type element = ctx.resultElement(0);
  if (!*dims)
    return ctx.setUnranked(0, element);
  std::optional<SmallVector<Dim>> elements;
  if constexpr (Fn != nullptr)
    elements = mapElements(ctx, inputs, **dims, element, [&](ArrayRef<Dim> x) {
      Dim result = x[0];
      for (Dim next : x.drop_front())
        result = Fn(ctx, result, next);
      return result;
    });
  return ctx.set(0, element, **dims, std::move(elements));
}

template <ElementFn Fn> static LogicalResult unary(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  return ctx.set(0, element, dims,
                 mapElements(ctx, {0}, dims, element, [&](ArrayRef<Dim> x) { return Fn(ctx, x[0], x[0]); }));
}
static Dim negElement(ShapeContext &ctx, Dim a, Dim) { return ctx.table.sub(ctx.constant(0), a); }
static Dim notElement(ShapeContext &ctx, Dim a, Dim) { return negate(ctx, a); }
static Dim reluElement(ShapeContext &ctx, Dim a, Dim) { return ctx.table.max(a, ctx.constant(0)); }
static Dim absElement(ShapeContext &ctx, Dim a, Dim) {
  return DimTable::isNonNegative(a) ? a : a->isConst() ? negElement(ctx, a, a) : nullptr;
}

static LogicalResult inferIdentity(ShapeContext &ctx) { return ctx.setInfo(0, ctx.in(0)); }

static LogicalResult inferWhere(ShapeContext &ctx) {
  auto dims = broadcastDims(ctx, {0, 1, 2});
  if (failed(dims))
    return failure();
  Type element = ctx.resultElement(0);
  if (!*dims)
    return ctx.setUnranked(0, element);
  auto elements = mapElements(ctx, {0, 1, 2}, **dims, element, [&](ArrayRef<Dim> x) -> Dim {
    if (x[0]->isConst())
      return x[0]->value ? x[1] : x[2];
    return x[1] == x[2] ? x[1] : nullptr;
  });
  return ctx.set(0, element, **dims, std::move(elements));
}

static LogicalResult inferClip(ShapeContext &ctx) {
  Type element = ctx.resultElement(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, element);
  SmallVector<Dim> dims = ctx.dims(0);
  SmallVector<unsigned> inputs = {0};
  for (unsigned i : {1u, 2u})
    if (ctx.has(i))
      inputs.push_back(i);
  return ctx.set(0, element, dims, mapElements(ctx, inputs, dims, element, [&](ArrayRef<Dim> x) {
                   Dim value = x[0];
                   unsigned next = 1;
                   if (ctx.has(1))
                     value = ctx.table.max(value, x[next++]);
                   return ctx.has(2) ? ctx.table.min(value, x[next]) : value;
                 }));
}

/// The shape of input 0, along whose axis the operator works.
template <int64_t fallback> static LogicalResult sameWithAxis(ShapeContext &ctx) {
  // A scalar counts as a vector of one element.
  if (ctx.ranked(0) && failed(ctx.axis(ctx.intAttr("axis", fallback), std::max<int64_t>(ctx.rank(0), 1))))
    return failure();
  return sameAsFirst(ctx);
}

static LogicalResult inferReverseSequence(ShapeContext &ctx) {
  if (ctx.ranked(0) && (failed(ctx.axis(ctx.intAttr("batch_axis", 1), ctx.rank(0), "batch_axis")) ||
                        failed(ctx.axis(ctx.intAttr("time_axis", 0), ctx.rank(0), "time_axis"))))
    return failure();
  return sameAsFirst(ctx);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static LogicalResult convert(ShapeContext &ctx, Type to) {
  if (!to)
    return ctx.setUnranked(0);
  if (!ctx.ranked(0))
    return ctx.setUnranked(0, to);
  SmallVector<Dim> dims = ctx.dims(0);
  // A size computed in floating point comes back: the conversion truncates.
  if (isa_and_nonnull<FloatType>(ctx.elementType(0)) && (to.isInteger(32) || to.isInteger(64)) && dims.size() <= 1) {
    auto floats = ctx.constFloats(0);
    if (floats && llvm::all_of(*floats, [](double v) { return v > -2147483648.0 && v < 2147483648.0; })) {
      SmallVector<Dim> elements;
      for (double v : *floats)
        elements.push_back(ctx.constant(int64_t(v)));
      return ctx.set(0, to, dims, std::move(elements));
    }
  }
  bool toBool = to.isInteger(1);
  auto elements = mapElements(ctx, {0}, dims, to, [&](ArrayRef<Dim> x) -> Dim {
    if (!toBool)
      return x[0];
    return x[0]->isConst() ? ctx.constant(x[0]->value != 0) : nullptr;
  });
  return ctx.set(0, to, dims, std::move(elements));
}

static LogicalResult inferCast(ShapeContext &ctx) {
  int64_t to = ctx.intAttr("to", 0);
  Type type = onnx::elementTypeOf(ctx.op->getContext(), to);
  return type ? convert(ctx, type) : ctx.error("attribute to = " + Twine(to) + " is not an ONNX data type");
}

static LogicalResult inferBitCast(ShapeContext &ctx) {
  int64_t to = ctx.intAttr("to", 0);
  Type type = onnx::elementTypeOf(ctx.op->getContext(), to);
  if (!type)
    return ctx.error("attribute to = " + Twine(to) + " is not an ONNX data type");
  return ctx.ranked(0) ? ctx.set(0, type, ctx.dims(0)) : ctx.setUnranked(0, type);
}

static LogicalResult inferCastLike(ShapeContext &ctx) { return convert(ctx, ctx.elementType(1)); }

void optc::registerElementwiseShapes(ShapeFnTable &t) {
  add(t, {"Acos",          "Acosh",
          "Asin",          "Asinh",
          "Atan",          "Atanh",
          "BitwiseNot",    "Ceil",
          "Celu",          "Cos",
          "Cosh",          "Elu",
          "Erf",           "Exp",
          "Floor",         "Gelu",
          "HardSigmoid",   "HardSwish",
          "IsInf",         "IsNaN",
          "LeakyRelu",     "Log",
          "Mish",          "Reciprocal",
          "Round",         "Selu",
          "Shrink",        "Sigmoid",
          "Sign",          "Sin",
          "Sinh",          "Softplus",
          "Softsign",      "Sqrt",
          "Swish",         "Tan",
          "Tanh",          "ThresholdedRelu",
          "Dropout",       "CumSum",
          "CumProd",       "Trilu",
          "RegexFullMatch"},
      sameAsFirst);
  add(t, {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "RMSNormalization"}, sameWithAxis<-1>);
  add(t, {"TensorScatter"}, sameWithAxis<-2>);
  add(t, {"ReverseSequence"}, inferReverseSequence);
  add(t, {"Neg"}, unary<negElement>);
  add(t, {"Abs"}, unary<absElement>);
  add(t, {"Not"}, unary<notElement>);
  add(t, {"Relu"}, unary<reluElement>);
  add(t, {"Add"}, binary<addElements>);
  add(t, {"Sub"}, binary<subElements>);
  add(t, {"Mul"}, binary<mulElements>);
  add(t, {"Div"}, binary<divElements>);
  add(t, {"Mod"}, binary<modElements>);
  add(t, {"Pow"}, binary<powElements>);
  add(t, {"Equal"}, binary<equalElements>);
  add(t, {"Less"}, binary<lessElements>);
  add(t, {"LessOrEqual"}, binary<lessEqualElements>);
  add(t, {"Greater"}, binary<greaterElements>);
  add(t, {"GreaterOrEqual"}, binary<greaterEqualElements>);
  add(t, {"And"}, binary<andElements>);
  add(t, {"Or"}, binary<orElements>);
  add(t, {"Xor"}, binary<xorElements>);
  add(t, {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "PRelu", "StringConcat", "SwiGLU"}, binary<nullptr>);
  add(t, {"Min"}, variadic<minElements>);
  add(t, {"Max"}, variadic<maxElements>);
  add(t, {"Sum"}, variadic<addElements>);
  add(t, {"Mean"}, variadic<nullptr>);
  add(t, {"Identity"}, inferIdentity);
  add(t, {"Where"}, inferWhere);
  add(t, {"Clip"}, inferClip);
  add(t, {"Cast"}, inferCast);
  add(t, {"BitCast"}, inferBitCast);
  add(t, {"CastLike"}, inferCastLike);
}
