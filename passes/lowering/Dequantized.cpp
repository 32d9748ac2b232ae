//===- Dequantized.cpp - products with quantized weights ------------------===//
//
// x times DequantizeLinear(w): the weights stay integers in memory. Every element is dequantized where it is
// multiplied, as the operator defines it: acc += x[m, k] * ((w[k, n] - zero[k / block, n]) * scale[k / block, n]).
//===----------------------------------------------------------------------===//
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/IntegerProduct.h"
#include "optc/passes/lowering/Pointwise.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

namespace {
/// A constant matrix of integers with its scale and zero point, as DequantizeLinear has them.
struct Weights {
  onnx::DequantizeLinearOp op;
  ElementsAttr w, scale, zero; ///< zero is null when absent
  bool transposed;             ///< w is [N, K]
  int64_t k, n, block;         ///< 0: not in blocks of k
};
} // namespace

static std::optional<Weights> weightsOf(Lowering &l, Value v) {
  Weights weights{};
  if (auto transpose = v.getDefiningOp<onnx::TransposeOp>()) {
    auto perm = transpose->getAttrOfType<DenseI64ArrayAttr>("perm");
    if (l.rank(v) != 2 || (perm && perm.asArrayRef() != ArrayRef<int64_t>{1, 0}))
      return std::nullopt;
    weights.transposed = true;
    v = transpose->getOperand(0);
  }
  weights.op = v.getDefiningOp<onnx::DequantizeLinearOp>();
  if (!weights.op || !l.elem(v).isF32())
    return std::nullopt;
  Value x = onnx::operand(weights.op, 0), scale = onnx::operand(weights.op, 1), zero = onnx::operand(weights.op, 2);
  weights.w = l.constElements(x);
  weights.scale = l.constElements(scale);
  weights.zero = l.constElements(zero);
  Type elem = l.elem(x);
  if (!weights.w || !weights.scale || bool(zero) != bool(weights.zero) || !elem.isInteger() ||
      elem.getIntOrFloatBitWidth() > 8 || elem.isInteger(1) || !l.elem(scale).isF32())
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<ShapedType>(weights.w.getType()).getShape(),
                    scales = cast<ShapedType>(weights.scale.getType()).getShape();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 ||
      (weights.zero && cast<ShapedType>(weights.zero.getType()).getShape() != scales))
    return std::nullopt;
  unsigned kAxis = weights.transposed ? 1 : 0;
  weights.k = shape[kAxis];
  weights.n = shape[1 - kAxis];
  int64_t axis = intAttr(weights.op, "axis", 1), block = intAttr(weights.op, "block_size", 0);
  axis = axis < 0 ? axis + 2 : axis;
  bool scalar = cast<ShapedType>(weights.scale.getType()).getNumElements() == 1 && scales.size() < 2;
  if (scalar)
    return weights;
  if (scales.size() == 2) { // blocks
    weights.block = block;
    bool fits = block > 0 && axis == kAxis && weights.k == scales[kAxis] * block && scales[1 - kAxis] == weights.n;
    return fits ? std::optional(weights) : std::nullopt;
  }
  bool perColumn = scales.size() == 1 && axis == 1 - kAxis && scales[0] == weights.n;
  return perColumn ? std::optional(weights) : std::nullopt;
}

/// Whether an optional zero point is zero everywhere, as far as is known.
static bool isZero(ElementsAttr zero) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(zero);
  if (resource)
    return resource.getRawHandle().getBlob() &&
           llvm::all_of(resource.getRawHandle().getBlob()->getData(), [](char c) { return c == 0; });
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(zero);
  return !zero || (dense && llvm::all_of(dense.getValues<APInt>(), [](const APInt &v) { return v.isZero(); }));
}

/// The same elements in another shape.
static ElementsAttr reshaped(ElementsAttr value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, cast<ShapedType>(value.getType()).getElementType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return cast<DenseElementsAttr>(value).reshape(type);
}

bool optc::lowerDequantizedProduct(Lowering &l, onnx::MatMulOp op) {
  Value a = op.getA(), y = op.getY();
  if (l.optLevel < 1 || !l.elem(a).isF32() || l.rank(a) < 1)
    return false;
  std::optional<Weights> found = weightsOf(l, op.getB());
  if (!found)
    return false;
  Weights &w = *found;
  Dim k = l.shapes.constant(w.k);
  requireEqual(l, l.dims(a).back(), k, "the inner sizes of the product differ");
  MLIRContext *ctx = op.getContext();
  SmallVector<Iter> iterators;
  auto loop = [&](Iter kind) {
    iterators.push_back(kind);
    return getAffineDimExpr(iterators.size() - 1, ctx);
  };
  SmallVector<AffineExpr> aExprs, yExprs, kExprs;
  SmallVector<Dim> aDims(l.dims(a).drop_back());
  for (size_t i = 0; i < aDims.size(); ++i)
    aExprs.push_back(loop(Iter::parallel));
  yExprs = aExprs;
  AffineExpr n = loop(Iter::parallel);
  yExprs.push_back(n);
  SmallVector<int64_t> kShape{w.k};
  if (w.block)
    kShape = {w.k / w.block, w.block};
  for (int64_t size : kShape) {
    kExprs.push_back(loop(Iter::reduction));
    aDims.push_back(l.shapes.constant(size));
  }
  llvm::append_range(aExprs, kExprs);
  unsigned loops = iterators.size();
  auto mapOf = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, ctx); };
  Type f32 = l.b.getF32Type();
  SmallVector<Lowering::Input> inputs{{l.view(l.get(a), f32, aDims), f32, aDims}};
  SmallVector<AffineMap> maps{mapOf(aExprs)};
  // Dimensions of k, then n, or the other way round.
  auto add = [&](ElementsAttr value, Type elem, ArrayRef<AffineExpr> ofK, ArrayRef<int64_t> kSizes, bool moves) {
    SmallVector<AffineExpr> exprs(ofK);
    SmallVector<int64_t> shape(kSizes);
    if (moves) {
      exprs.insert(w.transposed ? exprs.begin() : exprs.end(), n);
      shape.insert(w.transposed ? shape.begin() : shape.end(), w.n);
    }
    SmallVector<Dim> dims;
    for (int64_t size : shape)
      dims.push_back(l.shapes.constant(size));
    inputs.push_back({l.constant(reshaped(value, shape), elem), elem, dims});
    maps.push_back(mapOf(exprs));
  };
  Type elem = l.elem(onnx::operand(w.op, 0));
  add(w.w, elem, kExprs, kShape, /*moves=*/true);
  bool moves = cast<ShapedType>(w.scale.getType()).getNumElements() != 1;
  bool ofSums = !w.block && isZero(w.zero);
  if (!ofSums) {
    auto ofK = w.block ? ArrayRef(kExprs).take_front(1) : ArrayRef<AffineExpr>();
    auto kSizes = w.block ? ArrayRef(kShape).take_front(1) : ArrayRef<int64_t>();
    add(w.scale, f32, ofK, kSizes, moves || w.block);
    if (w.zero)
      add(w.zero, elem, ofK, kSizes, moves || w.block);
  }
  maps.push_back(mapOf(yExprs));
  Type i32 = l.b.getI32Type();
  Value sum =
      l.contract("matmul", inputs, maps, iterators, f32, llvm::to_vector(l.dims(y)),
                 ScalarOps{l.b, l.loc, f32}.constant(0), [&](OpBuilder &b, Location loc, ValueRange v, Value acc) {
                   ScalarOps s{b, loc, f32}, wide{b, loc, i32};
                   if (ofSums)
                     return s.add(acc, s.mul(v[0], castScalar(b, loc, v[1], elem, f32)));
                   Value q = castScalar(b, loc, v[1], elem, i32);
                   if (w.zero)
                     q = wide.sub(q, castScalar(b, loc, v[3], elem, i32));
                   return s.add(acc, s.mul(v[0], s.mul(castScalar(b, loc, q, i32, f32), v[2])));
                 });
  if (ofSums) {
    SmallVector<Dim> dims = llvm::to_vector(l.dims(y)), scaleDims;
    if (moves)
      scaleDims.push_back(l.shapes.constant(w.n));
    SmallVector<int64_t> shape(scaleDims.size(), w.n);
    Lowering::Input scale{l.constant(reshaped(w.scale, shape), f32), f32, scaleDims};
    sum =
        l.elementwise({Lowering::Input{sum, f32, dims}, scale}, f32, dims,
                      [&](OpBuilder &b, Location loc, ValueRange v) { return ScalarOps{b, loc, f32}.mul(v[0], v[1]); });
  }
  l.set(y, sum);
  return true;
}
