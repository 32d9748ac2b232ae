//===- IntegerProduct.cpp - exact products of quantized tensors -----------===//
//
// At -O0 as they are defined: zero points are subtracted in i16, sums are kept in i32. From -O1 on, tensors of 8 bits
// are multiplied as they are, for which there are kernels, and the zero points go into what is added to the sums:
//
//   sum (a - za) * (b - zb) = sum a * b - za * sum b - zb * (sum a - K * za)
//
// in i32, whose wrapping keeps the result exact. Sums of constants are computed here.
//===----------------------------------------------------------------------===//
#include "optc/passes/lowering/IntegerProduct.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;
using Input = Lowering::Input;

Input optc::viewAs(Lowering &l, const Input &in, ArrayRef<Dim> dims) {
  return {l.view(in.lowered, in.elem, dims), in.elem, llvm::to_vector(dims)};
}

Input optc::perAxis(Lowering &l, Value parameter, ArrayRef<Dim> data, int64_t axis) {
  static constexpr llvm::StringLiteral kSize = "a scale, zero point or bias has not one element per index of its axis";
  Input in = l.input(parameter);
  if (in.dims.size() > 1) {
    requireBroadcast(l, in.dims, data, kSize);
    return in;
  }
  if (in.dims.empty() || in.dims[0]->isConst(1))
    return viewAs(l, in, {});
  SmallVector<Dim> dims(data.size(), l.shapes.constant(1));
  if (data.empty()) {
    requireEqual(l, in.dims[0], l.shapes.constant(1), kSize);
  } else {
    requireBroadcast(l, in.dims[0], data[axis], kSize); // of size 1 in a run it serves all
    dims[axis] = in.dims[0];
  }
  return viewAs(l, in, dims);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// A factor of a product, and its zero point.
struct Factor {
  Input in;
  ElementsAttr constant; ///< the elements, when they are known
  Value zeroValue;       ///< onnx value, null when absent
  Input zero;            ///< beside the data, when there is a zero point
  int64_t shift = 0;     ///< what was subtracted from the elements, and has to be from the zero point
};
} // namespace

static bool isByte(Type type) { return type.isInteger() && type.getIntOrFloatBitWidth() == 8; }

/// The bytes of a constant of 8-bit elements.
static SmallVector<char> bytesOf(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  ArrayRef<char> raw;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      raw = blob->getData();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    raw = dense.getRawData();
    if (dense.isSplat() && !raw.empty())
      return SmallVector<char>(type.getNumElements(), raw[0]);
  }
  return SmallVector<char>(raw);
}

/// The values of a constant zero point, of bytes of any number.
static std::optional<SmallVector<int64_t>> knownZeros(Lowering &l, Value zero) {
  ElementsAttr constant = l.constElements(zero);
  if (!constant || !isByte(l.elem(zero)))
    return l.constInts(zero);
  bool isUnsigned = l.elem(zero).isUnsignedInteger();
  SmallVector<int64_t> values;
  for (char c : bytesOf(constant))
    values.push_back(isUnsigned ? static_cast<int64_t>(static_cast<uint8_t>(c)) : static_cast<int8_t>(c));
  return values;
}

/// Whether all values of an optional zero point are known to be `value`.
static bool isKnown(Lowering &l, Value zero, int64_t value) {
  if (!zero)
    return value == 0;
  std::optional<SmallVector<int64_t>> known = knownZeros(l, zero);
  return known && llvm::all_of(*known, [&](int64_t v) { return v == value; });
}

static bool hasZeroPoint(Lowering &l, const Factor &f) { return !isKnown(l, f.zeroValue, f.shift); }

/// A constant of elements that are not in the model.
template <typename T> static ElementsAttr constantOf(RankedTensorType type, ArrayRef<T> values) {
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  return onnx::elementsAttr(type, bytes,
                            [&] { return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignof(int64_t)); });
}

static Factor factorOf(Lowering &l, Value value, Value zero, Input zeroBeside) {
  return {l.input(value), l.constElements(value), zero, std::move(zeroBeside), 0};
}

/// Unsigned constants as signed ones, 128 less: kernels multiply unsigned by signed bytes.
static void makeSigned(Lowering &l, Factor &f) {
  if (!f.constant || !f.in.elem.isUnsignedInteger() || isKnown(l, f.zeroValue, 0))
    return;
  SmallVector<char> bytes = bytesOf(f.constant);
  auto shape = cast<ShapedType>(f.constant.getType());
  if (static_cast<int64_t>(bytes.size()) != shape.getNumElements())
    return;
  for (char &c : bytes)
    c = static_cast<char>(static_cast<uint8_t>(c) ^ 0x80);
  f.in.elem = l.b.getI8Type();
  f.constant = constantOf<char>(RankedTensorType::get(shape.getShape(), f.in.elem), bytes);
  f.in.lowered = l.constant(f.constant, f.in.elem);
  f.shift = 128;
}

/// The zero point of a factor in i32.
static Value zeroPoint(OpBuilder &b, Location loc, const Factor &f, Value zero) {
  ScalarOps s{b, loc, b.getI32Type()};
  Value z = castScalar(b, loc, zero, f.zero.elem, s.elem);
  return f.shift ? s.sub(z, s.constantInt(f.shift)) : z;
}

/// The sums of the elements of a factor over some axes, of size 1 then, in i32. Multiplied by `times` where the
/// elements are known.
static Input sumOver(Lowering &l, const Factor &f, ArrayRef<int64_t> axes, std::optional<int64_t> times) {
  Type i32 = l.b.getI32Type();
  SmallVector<char> bytes = f.constant ? bytesOf(f.constant) : SmallVector<char>();
  auto type = f.constant ? dyn_cast<RankedTensorType>(f.constant.getType()) : RankedTensorType();
  if (!type || static_cast<int64_t>(bytes.size()) != type.getNumElements() || bytes.empty()) {
    Input sum = foldAxes(l, "sum", f.in, axes, Fold::Sum, i32);
    if (!times)
      return sum;
    return pointwise(l, {sum}, i32, i32, sum.dims,
                     [&](const ScalarOps &s, ValueRange v) { return s.mul(v[0], s.constantInt(*times)); });
  }
  // Strides of the result: 0 along the axes that are summed.
  SmallVector<int64_t> shape(type.getShape()), strides(type.getRank()), at(type.getRank());
  int64_t count = 1;
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    if (llvm::is_contained(axes, d)) {
      shape[d] = 1;
      continue;
    }
    strides[d] = count;
    count *= shape[d];
  }
  SmallVector<uint32_t> sums(count);
  int64_t to = 0;
  bool isUnsigned = f.in.elem.isUnsignedInteger();
  for (char c : bytes) {
    sums[to] += isUnsigned ? static_cast<uint32_t>(static_cast<uint8_t>(c))
                           : static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(c)));
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      to += strides[d];
      if (++at[d] < type.getDimSize(d))
        break;
      to -= strides[d] * at[d];
      at[d] = 0;
    }
  }
  if (times)
    for (uint32_t &sum : sums)
      sum *= static_cast<uint32_t>(*times);
  SmallVector<Dim> dims;
  for (int64_t size : shape)
    dims.push_back(l.shapes.constant(size));
  return {l.constant(constantOf<uint32_t>(RankedTensorType::get(shape, i32), sums), i32), i32, dims};
}

/// The one value of a zero point that is known, as far as the elements of its factor go.
static std::optional<int64_t> scalarZero(Lowering &l, const Factor &f) {
  std::optional<SmallVector<int64_t>> known = f.zeroValue ? knownZeros(l, f.zeroValue) : std::nullopt;
  return known && known->size() == 1 ? std::optional(known->front() - f.shift) : std::nullopt;
}

/// x - zero as i16 (exact for 8-bit types); x itself where nothing is subtracted; f32 for float8.
static Input centered(Lowering &l, const Factor &f) {
  bool isFloat = isa<FloatType>(f.in.elem);
  if (!hasZeroPoint(l, f) && !isFloat)
    return f.in;
  Type to = isFloat ? Type(l.b.getF32Type()) : l.b.getI16Type();
  SmallVector<Input> in = {f.in};
  if (f.zeroValue)
    in.push_back(f.zero);
  return pointwise(l, in, to, to, f.in.dims,
                   [](const ScalarOps &s, ValueRange v) { return v.size() > 1 ? s.sub(v[0], v[1]) : v[0]; });
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// A scale or zero point of matrix rows (axis -2) or columns (axis -1): a scalar, one value per row or column, or of
/// full rank.
static Input ofMatrix(Lowering &l, Value parameter, ArrayRef<Dim> matrix, bool rows) {
  if (!parameter)
    return {};
  int64_t rank = matrix.size();
  if (rows && rank < 2) { // a vector on the left is one row
    Input in = l.input(parameter);
    return in.dims.size() == 1 ? viewAs(l, in, {}) : in;
  }
  if (!rows && l.rank(parameter) == 1 && rank < 2)
    return perAxis(l, parameter, {}, 0);
  return perAxis(l, parameter, matrix, rank - (rows ? 2 : 1));
}

Input optc::matmulInteger(Lowering &l, StringRef label, Value aValue, Value bValue, Value aZero, Value bZero,
                          ArrayRef<Dim> dims) {
  Factor a = factorOf(l, aValue, aZero, ofMatrix(l, aZero, l.dims(aValue), true));
  Factor b = factorOf(l, bValue, bZero, ofMatrix(l, bZero, l.dims(bValue), false));
  Type i32 = l.b.getI32Type();
  int64_t aRank = a.in.dims.size(), bRank = b.in.dims.size();
  if (l.optLevel < 1 || !isByte(a.in.elem) || !isByte(b.in.elem) || aRank < 2 || bRank < 2) {
    Input left = centered(l, a), right = centered(l, b);
    Type acc = isa<FloatType>(left.elem) || isa<FloatType>(right.elem) ? Type(l.b.getF32Type()) : i32;
    return {matmulProduct(l, label, left, right, acc, llvm::to_vector(dims)), acc, llvm::to_vector(dims)};
  }
  makeSigned(l, b);
  Input sum{matmulProduct(l, label, a.in, b.in, i32, llvm::to_vector(dims)), i32, llvm::to_vector(dims)};
  if (hasZeroPoint(l, a)) {
    std::optional<int64_t> known = b.constant ? scalarZero(l, a) : std::nullopt;
    SmallVector<Input> in = {sum, sumOver(l, b, {bRank - 2}, known)};
    if (!known)
      in.push_back(a.zero);
    sum.lowered = l.elementwise(in, i32, dims, [&](OpBuilder &builder, Location loc, ValueRange v) {
      ScalarOps s{builder, loc, i32};
      return s.sub(v[0], known ? v[1] : s.mul(v[1], zeroPoint(builder, loc, a, v[2])));
    });
  }
  if (hasZeroPoint(l, b)) {
    Value size = arith::IndexCastOp::create(l.b, l.loc, i32, l.index(a.in.dims.back()));
    SmallVector<Input> in = {sum, sumOver(l, a, {aRank - 1}, std::nullopt), b.zero};
    if (hasZeroPoint(l, a))
      in.push_back(a.zero);
    sum.lowered = l.elementwise(in, i32, dims, [&](OpBuilder &builder, Location loc, ValueRange v) {
      ScalarOps s{builder, loc, i32};
      Value row = v.size() > 3 ? s.sub(v[1], s.mul(size, zeroPoint(builder, loc, a, v[3]))) : v[1];
      return s.sub(v[0], s.mul(row, zeroPoint(builder, loc, b, v[2])));
    });
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

FailureOr<Input> optc::convolveInteger(Operation *op, Lowering &l, Value x, Value w, Value xZero, Value wZero,
                                       ArrayRef<Dim> out) {
  ArrayRef<Dim> xDims = l.dims(x), wDims = l.dims(w);
  int64_t rank = xDims.size(), group = intAttr(op, "group", 1);
  if (rank < 3 || int64_t(wDims.size()) != rank)
    return unsupported(op, "needs inputs of one rank from 3 on, but they have " + Twine(rank) + " and " +
                               Twine(wDims.size())),
           failure();
  for (Dim d : {xDims[1], wDims[0]})
    if (group < 1 || (d->isConst() && d->value % group))
      return unsupported(op, "has group " + Twine(group) + ", which must divide the numbers of channels and filters"),
             failure();
  FailureOr<Window> window = windowOf(op, l, xDims.drop_front(2), wDims.drop_front(2), out.drop_front(2));
  if (failed(window))
    return failure();
  Value channels = arith::MulIOp::create(l.b, l.loc, l.index(wDims[1]), l.constIndex(group));
  l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::eq, channels, l.index(xDims[1])),
          "the channels of the input are not those of the weights times group");
  Type i32 = l.b.getI32Type();
  Factor data = factorOf(l, x, xZero, xZero ? perAxis(l, xZero, {}, 0) : Input());
  Factor weights = factorOf(l, w, wZero, wZero ? perAxis(l, wZero, wDims, 0) : Input());
  auto sumsOf = [&](Input a, const Input &b) {
    return Input{convolve(l, *window, a, b, group, i32, multiplyAdd(a.elem, b.elem, i32)), i32, llvm::to_vector(out)};
  };
  bool bytes = l.optLevel >= 1 && isByte(data.in.elem) && isByte(weights.in.elem);
  if (bytes)
    makeSigned(l, weights);
  if (!bytes || hasZeroPoint(l, weights)) {
    // Zero points of weights would take sums over windows.
    Input a = padded(l, *window, centered(l, data), [](ScalarOps s) { return s.constantInt(0); });
    if (weights.shift) // as it was
      weights = factorOf(l, w, wZero, weights.zero);
    return sumsOf(a, centered(l, weights));
  }
  std::optional<int64_t> known = xZero ? scalarZero(l, data) : std::optional<int64_t>(0);
  Input a = padded(l, *window, data.in, [&](ScalarOps s) {
    return known ? s.constantInt(*known) : l.load(s.b, s.loc, data.zero.lowered, data.zero.elem, {});
  });
  Input sum = sumsOf(a, weights.in);
  if (known == 0)
    return sum;
  Input ofWeights = sumOver(l, weights, axesFrom(1, rank), weights.constant ? known : std::nullopt);
  ofWeights = viewAs(l, ofWeights, [&] { // [M, 1...] beside [N, M, out...]
    SmallVector<Dim> dims(rank - 1, l.shapes.constant(1));
    dims[0] = wDims[0];
    return dims;
  }());
  bool folded = weights.constant && known;
  SmallVector<Input> in = {sum, ofWeights};
  if (!folded)
    in.push_back(data.zero);
  sum.lowered = l.elementwise(in, i32, out, [&](OpBuilder &builder, Location loc, ValueRange v) {
    ScalarOps s{builder, loc, i32};
    return s.sub(v[0], folded ? v[1] : s.mul(v[1], zeroPoint(builder, loc, data, v[2])));
  });
  return sum;
}
