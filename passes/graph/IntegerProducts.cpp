//===- IntegerProducts.cpp - products of dequantized tensors on integers --===//
//
// Conv, MatMul and Gemm of dequantized factors, QLinearConv and QLinearMatMul take one form:
//
//   sum = ConvInteger(x, w, xZero, wZero) + bias        exact, i32
//   y = Cast(sum) * (xScale * wScale)                   or, with a QuantizeLinear behind:
//   y = QuantizeLinear(Cast(sum) * (xScale * wScale / yScale), 1, yZero)
//
// which is what ONNX Runtime computes, rounding once. Kernels compute all of it on their accumulators.
//===----------------------------------------------------------------------===//
#include "optc/passes/Passes.h"
#include "optc/passes/graph/Quantization.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace optc {
#define GEN_PASS_DEF_INTEGERPRODUCTS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;
using quant::Linear;

namespace {
enum class Kind { Conv, MatMul, Gemm };

/// A product of two quantized tensors.
struct Product {
  Operation *op;
  Kind kind;
  Value a, b, aScale, bScale, aZero, bZero;
  Value bias = nullptr;                    ///< i32 in units of the sums, or null
  Value floatBias = nullptr;               ///< f32, or null
  Value yScale = nullptr, yZero = nullptr; ///< of the QuantizeLinear behind, or null
  Operation *relu = nullptr;               ///< between
  Value result = nullptr;                  ///< what the new value stands for
  float alpha = 1;
};

/// Sums of so many products of 8-bit integers are exact in 32 bits, with room for a bias of half the range.
constexpr int64_t kMostProducts = (int64_t(1) << 30) / (255 * 255);
constexpr int64_t kLargestBias = int64_t(1) << 30;

struct IntegerProducts : optc::impl::IntegerProductsBase<IntegerProducts> {
  using IntegerProductsBase::IntegerProductsBase;
  void runOnOperation() override;

private:
  void stay(Operation *op, const Twine &reason);
  void visit(Operation *op, Kind kind);
  void keepWeights(Operation *op, Kind kind, const Linear &weights);
  void takeQuantized(Product &p);
  void takeBias(Product &p, Value bias);
  void qlinear(Operation *op);
  void rewrite(Product &p);
};
} // namespace

static int64_t intAttr(Operation *op, StringRef name, int64_t fallback) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : fallback;
}
static float floatAttr(Operation *op, StringRef name, float fallback) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return attr ? static_cast<float>(attr.getValueAsDouble()) : fallback;
}

static RankedTensorType rankedType(Value v) { return v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType(); }

static bool isByte(Type type) { return type.isInteger() && type.getIntOrFloatBitWidth() == 8; }

static bool isScalar(Value v) {
  auto type = rankedType(v);
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// The axis of b's output channels, and how many products make a sum: -1 when only a run knows.
static std::pair<int64_t, int64_t> channelsOf(Operation *op, Kind kind, RankedTensorType b) {
  int64_t rank = b.getRank(), axis = kind == Kind::Conv     ? 0
                                     : kind == Kind::MatMul ? rank - 1
                                                            : !intAttr(op, "transB", 0);
  if (kind != Kind::Conv) {
    int64_t k = rank < 2 ? 0 : kind == Kind::MatMul ? rank - 2 : !axis;
    return {axis, b.isDynamicDim(k) ? -1 : b.getDimSize(k)};
  }
  int64_t count = 1;
  for (int64_t size : b.getShape().drop_front())
    count = ShapedType::isDynamic(size) || count < 0 ? -1 : count * size;
  return {axis, count};
}

/// Why scale and zero point of b cannot be applied to sums; empty when they can.
static std::string reasonAgainstWeights(const Linear &b, int64_t axis) {
  auto type = rankedType(b.x);
  if (!type)
    return "the rank of the second factor is not known";
  if (b.block && !quant::isPerTensor(b))
    return "the weights have a scale per block";
  if (type.getRank() < 2 && !quant::isPerTensor(b))
    return "the second factor is a vector with more than one scale";
  int64_t given = b.axis < 0 ? b.axis + type.getRank() : b.axis;
  if (!quant::isPerTensor(b) && given != axis)
    return "the weights have a scale per index of axis " + std::to_string(given) + ", which the sums run along; axis " +
           std::to_string(axis) + " is supported";
  return "";
}

void IntegerProducts::stay(Operation *op, const Twine &reason) {
  ++stayed;
  std::string text = ("stayed float: " + reason).str();
  if (report)
    op->emitRemark() << text;
  op->setAttr("optc.note", StringAttr::get(op->getContext(), text));
}

//===----------------------------------------------------------------------===//
// What surrounds a product
//===----------------------------------------------------------------------===//

/// The value that QuantizeLinear gives for `x`.
static int64_t quantized(float x, float scale, int64_t zero, Type integers) {
  bool isUnsigned = integers.isUnsignedInteger();
  double low = isUnsigned ? 0 : -128, high = isUnsigned ? 255 : 127;
  return static_cast<int64_t>(std::clamp(std::nearbyint(double(x / scale)) + zero, low, high));
}

/// Bounds of a Relu or of a Clip with constant bounds.
static std::optional<std::pair<float, float>> boundsOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "onnx.Relu")
    return std::pair(0.0f, INFINITY);
  if (name != "onnx.Clip")
    return std::nullopt;
  float bounds[] = {-INFINITY, INFINITY};
  for (unsigned i : {0, 1})
    if (Value v = onnx::operand(op, i + 1)) {
      auto known = onnx::floatsOf(v);
      if (!known || known->size() != 1)
        return std::nullopt;
      bounds[i] = (*known)[0];
    }
  return std::pair(bounds[0], bounds[1]);
}

/// Takes a QuantizeLinear behind the product, possibly behind an activation, when nothing else reads what is between.
void IntegerProducts::takeQuantized(Product &p) {
  if (p.floatBias || !onnx::floatsOf(p.aScale) || !onnx::floatsOf(p.bScale) || !p.result.hasOneUse())
    return;
  Operation *user = *p.result.user_begin(), *activation = nullptr;
  auto bounds = boundsOf(user);
  if (bounds && user->getOperand(0) == p.result && user->getResult(0).hasOneUse()) {
    activation = user;
    user = *user->getResult(0).user_begin();
  }
  std::optional<Linear> q = quant::quantizeOf(user);
  if (!q || !isByte(q->integers) || !quant::isPerTensor(*q))
    return;
  auto scale = onnx::floatsOf(q->scale);
  auto zero = quant::zeroOf(*q);
  if (!scale || !zero || zero->size() != 1 || !((*scale)[0] > 0) || !std::isnormal((*scale)[0]))
    return;
  if (activation) {
    // Saturation does what the bounds do, where those are the ends of the range.
    int64_t low = q->integers.isUnsignedInteger() ? 0 : -128, high = q->integers.isUnsignedInteger() ? 255 : 127;
    bool isImplied = quantized(bounds->first, (*scale)[0], (*zero)[0], q->integers) == low &&
                     quantized(bounds->second, (*scale)[0], (*zero)[0], q->integers) == high;
    if (!isImplied && activation->getName().getStringRef() != "onnx.Relu")
      return;
    p.relu = isImplied ? nullptr : activation;
  }
  p.yScale = q->scale;
  p.yZero = q->zero;
  p.result = user->getResult(0);
}

/// The i32 values of a bias in units of aScale * bScale, or else its floats.
void IntegerProducts::takeBias(Product &p, Value bias) {
  Operation *def = bias.getDefiningOp();
  p.floatBias = bias;
  if (!def || def->getName().getStringRef() != "onnx.DequantizeLinear")
    return;
  Value values = onnx::operand(def, 0), zero = onnx::operand(def, 2);
  auto type = rankedType(values);
  auto have = onnx::floatsOf(onnx::operand(def, 1)), a = onnx::floatsOf(p.aScale), b = onnx::floatsOf(p.bScale);
  auto zeros = zero ? quant::intsOf(zero) : std::optional(SmallVector<int64_t>{0});
  auto ints = quant::intsOf(values);
  if (!type || !type.getElementType().isInteger(32) || !have || !a || a->size() != 1 || !b || !zeros || !ints ||
      llvm::any_of(*zeros, [](int64_t z) { return z != 0; }) ||
      llvm::any_of(*ints, [](int64_t v) { return std::abs(v) > kLargestBias; }))
    return;
  // Equal up to the rounding of the scales themselves.
  size_t count = std::max(have->size(), b->size());
  for (size_t i = 0; i < count; ++i) {
    float want = (*a)[0] * (*b)[b->size() == 1 ? 0 : i] * p.alpha, is = (*have)[have->size() == 1 ? 0 : i];
    if ((have->size() != 1 && have->size() != count) || (b->size() != 1 && b->size() != count) ||
        !(std::abs(want - is) <= want * 0x1p-21f))
      return;
  }
  p.bias = values;
  p.floatBias = nullptr;
  return;
}

//===----------------------------------------------------------------------===//
// The new form
//===----------------------------------------------------------------------===//

/// `v` with an axis of its own for the channels of the result: [C] beside [N, C, positions...].
static Value besideChannels(OpBuilder &b, Location loc, Value v, Kind kind, int64_t rank) {
  auto type = rankedType(v);
  if (kind != Kind::Conv || !type || type.getRank() != 1 || type.getDimSize(0) == 1)
    return v;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1)), shape(rank - 1, 1);
  shape[0] = type.getDimSize(0);
  auto axesType = RankedTensorType::get({static_cast<int64_t>(axes.size())}, b.getI64Type());
  Value axesValue = onnx::ConstantOp::create(b, loc, DenseElementsAttr::get(axesType, ArrayRef<int64_t>(axes)));
  return quant::makeOp(b, loc, "Unsqueeze", {v, axesValue}, RankedTensorType::get(shape, type.getElementType()));
}

/// What the sums are multiplied by: a constant where all scales are.
static Value scaleOfSums(OpBuilder &b, const Product &p, int64_t rank) {
  Location loc = p.op->getLoc();
  auto x = onnx::floatsOf(p.aScale), w = onnx::floatsOf(p.bScale);
  auto y = p.yScale ? onnx::floatsOf(p.yScale) : std::optional(std::vector<float>{1});
  if (x && w && y && x->size() == 1 && y->size() == 1) {
    SmallVector<float> values;
    for (float scale : *w) {
      float product = (*x)[0] * scale;
      if (p.alpha != 1)
        product *= p.alpha;
      values.push_back(p.yScale ? product / (*y)[0] : product);
    }
    SmallVector<int64_t> shape;
    if (values.size() > 1 && p.kind == Kind::Conv)
      shape.assign(rank - 1, 1);
    if (values.size() > 1)
      shape.resize(std::max<size_t>(shape.size(), 1));
    if (!shape.empty())
      shape[0] = values.size();
    return quant::makeFloats(b, loc, values, shape);
  }
  Type f32 = b.getF32Type();
  Value left = besideChannels(b, loc, p.aScale, p.kind, rank), right = besideChannels(b, loc, p.bScale, p.kind, rank);
  auto larger = isScalar(left) ? right : left;
  return quant::makeOp(b, loc, "Mul", {left, right}, quant::typeLike(larger, f32));
}

void IntegerProducts::rewrite(Product &p) {
  OpBuilder b(p.result.getDefiningOp()); // where the parameters of a QuantizeLinear are there, too
  Location loc = p.op->getLoc();
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value old = p.op->getResult(0);
  Type sumType = quant::typeLike(old, i32), realType = quant::typeLike(old, f32);
  auto shaped = rankedType(old);
  int64_t rank = shaped ? shaped.getRank() : 0;
  Value sum;
  if (p.kind == Kind::Conv) {
    SmallVector<NamedAttribute> attributes;
    for (StringRef name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"})
      if (Attribute value = p.op->getAttr(name))
        attributes.push_back(b.getNamedAttr(name, value));
    sum = quant::makeOp(b, loc, "ConvInteger", {p.a, p.b, p.aZero, p.bZero}, sumType, attributes);
  } else {
    bool gemm = p.kind == Kind::Gemm;
    Value left = gemm && intAttr(p.op, "transA", 0) ? quant::transposed(b, loc, p.a) : p.a;
    Value right = gemm && intAttr(p.op, "transB", 0) ? quant::transposed(b, loc, p.b) : p.b;
    sum = quant::makeOp(b, loc, "MatMulInteger", {left, right, p.aZero, p.bZero}, sumType);
  }
  if (p.bias)
    sum = quant::makeOp(b, loc, "Add", {sum, besideChannels(b, loc, p.bias, p.kind, rank)}, sumType);
  NamedAttribute toFloat = b.getNamedAttr("to", b.getI64IntegerAttr(onnx::dataTypeOf(f32)));
  Value y = quant::makeOp(b, loc, "Cast", {sum}, realType, toFloat);
  y = quant::makeOp(b, loc, "Mul", {y, scaleOfSums(b, p, rank)}, realType);
  if (p.floatBias)
    y = quant::makeOp(b, loc, "Add", {y, besideChannels(b, loc, p.floatBias, p.kind, rank)}, realType);
  if (p.relu)
    y = quant::makeOp(b, p.relu->getLoc(), "Relu", {y}, realType);
  if (p.yScale) {
    NamedAttribute dtype =
        b.getNamedAttr("output_dtype", b.getI64IntegerAttr(onnx::dataTypeOf(getElementTypeOrSelf(p.result.getType()))));
    SmallVector<NamedAttribute> attributes;
    if (!p.yZero)
      attributes.push_back(dtype);
    Value one = quant::makeFloats(b, loc, {1.0f}, {});
    y = quant::makeOp(b, p.result.getLoc(), "QuantizeLinear", {y, one, p.yZero}, p.result.getType(), attributes);
  }
  p.result.replaceAllUsesWith(y);
  ++integer;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Products with weights of integers, which the lowering dequantizes where they are multiplied
/// (passes/lowering/Dequantized.cpp).
void IntegerProducts::keepWeights(Operation *op, Kind kind, const Linear &weights) {
  auto type = rankedType(weights.x);
  if (!weights.x.getDefiningOp<onnx::ConstantOp>() || kind == Kind::Conv || !type || type.getRank() != 2)
    return stay(op, kind == Kind::Conv ? "only the weights are quantized; convolutions need both factors to be"
                                       : "only the second factor is quantized, and not a constant matrix");
  bool transpose = kind == Kind::Gemm && intAttr(op, "transB", 0);
  int64_t axis = transpose ? 0 : 1, given = weights.axis < 0 ? weights.axis + 2 : weights.axis;
  bool blocks = weights.block && !quant::isPerTensor(weights);
  if (!quant::isPerTensor(weights) &&
      (blocks ? type.getDimSize(1 - axis) % weights.block != 0 || given == axis : given != axis))
    return stay(op, blocks ? "the blocks of the weights do not divide the axis that sums run along"
                           : "the weights have a scale per index of the axis that sums run along");
  if (!onnx::floatsOf(weights.scale) || !quant::zeroOf(weights))
    return stay(op, "scale and zero point of the weights are not constants");
  if (kind == Kind::Gemm && (floatAttr(op, "alpha", 1) != 1 || intAttr(op, "transA", 0)))
    return stay(op, "alpha is not 1, or the first factor is transposed");
  ++weightOnly;
  if (kind == Kind::MatMul)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value w = op->getOperand(1), old = op->getResult(0);
  if (transpose)
    w = quant::transposed(b, loc, w);
  Value y = quant::makeOp(b, loc, "MatMul", {op->getOperand(0), w}, old.getType());
  if (Value c = onnx::operand(op, 2)) {
    if (float beta = floatAttr(op, "beta", 1); beta != 1)
      c = quant::makeOp(b, loc, "Mul", {c, quant::makeFloats(b, loc, {beta}, {})}, c.getType());
    y = quant::makeOp(b, loc, "Add", {y, c}, old.getType());
  }
  old.replaceAllUsesWith(y);
}

/// The second factor behind a transposition of the last two axes of a matrix.
static std::optional<Linear> behindTranspose(Value v) {
  auto transpose = v.getDefiningOp<onnx::TransposeOp>();
  auto type = rankedType(v);
  return transpose && type && type.getRank() == 2 ? quant::dequantizeOf(transpose->getOperand(0)) : std::nullopt;
}

void IntegerProducts::visit(Operation *op, Kind kind) {
  std::optional<Linear> a = quant::dequantizeOf(op->getOperand(0)), b = quant::dequantizeOf(op->getOperand(1));
  auto result = dyn_cast<TensorType>(op->getResult(0).getType());
  // MatMulNBits comes as such, and is read so.
  if (!a && !b && kind == Kind::MatMul && behindTranspose(op->getOperand(1))) {
    ++weightOnly;
    return;
  }
  if ((!a && !b) || !result || !result.getElementType().isF32())
    return;
  if (!a)
    return keepWeights(op, kind, *b);
  if (!b)
    return stay(op, "only the first factor is quantized");
  auto bType = rankedType(b->x);
  if (!isByte(a->integers) || !isByte(b->integers))
    return stay(op, "the factors are not 8-bit integers");
  if (!quant::isPerTensor(*a))
    return stay(op, "the first factor has more than one scale");
  if (!bType || !result.hasRank() || bType.getRank() < 1)
    return stay(op, "the rank of the second factor is not known");
  auto [axis, count] = channelsOf(op, kind, bType);
  if (std::string reason = reasonAgainstWeights(*b, axis); !reason.empty())
    return stay(op, reason);
  if (count < 0 || count > kMostProducts)
    return stay(op, count < 0 ? Twine("how many products a sum has is not known before the run")
                              : "a sum of " + Twine(count) + " products may exceed 32 bits");
  if (kind == Kind::Conv) {
    auto zero = quant::zeroOf(*b);
    int64_t none = b->integers.isUnsignedInteger() && b->x.getDefiningOp<onnx::ConstantOp>() ? 128 : 0;
    if (!zero || !(llvm::all_of(*zero, [](int64_t z) { return z == 0; }) ||
                   llvm::all_of(*zero, [&](int64_t z) { return z == none; })))
      return stay(op, "the weights of a convolution have a zero point");
  }
  Product p{op, kind, a->x, b->x, a->scale, b->scale, a->zero, b->zero};
  p.result = op->getResult(0);
  Value bias = kind == Kind::MatMul ? Value() : onnx::operand(op, 2);
  if (kind == Kind::Gemm) {
    p.alpha = floatAttr(op, "alpha", 1);
    if (bias && floatAttr(op, "beta", 1) != 1)
      return stay(op, "attribute 'beta' is not 1");
    if (p.alpha != 1 && (!onnx::floatsOf(p.aScale) || !onnx::floatsOf(p.bScale)))
      return stay(op, "attribute 'alpha' is not 1 and the scales are not known before the run");
  }
  if (bias)
    takeBias(p, bias);
  takeQuantized(p);
  rewrite(p);
}

/// QLinearConv and QLinearMatMul, where what scales the sums is known; else they are lowered as they are.
void IntegerProducts::qlinear(Operation *op) {
  bool conv = op->getName().getStringRef() == "onnx.QLinearConv";
  auto at = [&](unsigned i) { return onnx::operand(op, i); };
  Product p{op, conv ? Kind::Conv : Kind::MatMul, at(0), at(3), at(1), at(4), at(2), at(5)};
  p.result = op->getResult(0);
  p.bias = conv ? at(8) : Value();
  p.yScale = at(6);
  p.yZero = at(7);
  auto bScale = rankedType(p.bScale), b = rankedType(p.b), result = rankedType(p.result);
  for (Value v : {p.aScale, p.bScale, p.yScale})
    if (!onnx::floatsOf(v))
      return;
  bool plain = b && bScale && result && isByte(b.getElementType()) && isByte(getElementTypeOrSelf(p.a.getType())) &&
               isScalar(p.aScale) && isScalar(p.yScale) && bScale.getRank() <= 1 &&
               (conv || (b.getRank() >= 2 && result.getRank() >= 2));
  if (!plain)
    return;
  rewrite(p);
}

void IntegerProducts::runOnOperation() {
  quant::makeActivationsUnsigned(getOperation());
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    StringRef name = op->getName().getStringRef();
    if (name == "onnx.QLinearConv" || name == "onnx.QLinearMatMul") {
      qlinear(op);
      continue;
    }
    auto kind = llvm::StringSwitch<std::optional<Kind>>(name)
                    .Case("onnx.Conv", Kind::Conv)
                    .Case("onnx.MatMul", Kind::MatMul)
                    .Case("onnx.Gemm", Kind::Gemm)
                    .Default(std::nullopt);
    if (kind)
      visit(op, *kind);
  }
  // What nothing reads any more, users before what they use.
  for (Operation *op : llvm::reverse(ops))
    if (onnx::infoFor(op) && op->use_empty() && op->getNumResults() && !op->getNumRegions() && isPure(op))
      op->erase();
}
