//===- RaiseQuantized.cpp - com.microsoft's quantized operators -----------===//
//
// QLinearX(x, scale, zero, ..., yScale, yZero) is QuantizeLinear(X(DequantizeLinear(x, scale, zero), ...), yScale,
// yZero). MatMulIntegerToFloat and DynamicQuantizeMatMul are exact products of integers, scaled.
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/passes/Passes.h"
#include "optc/passes/graph/Quantization.h"
#include "llvm/ADT/StringMap.h"

namespace optc {
#define GEN_PASS_DEF_RAISEQUANTIZED
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {
/// Builds what an operator stands for.
class Raise {
public:
  explicit Raise(Operation *op) : op(op), b(op), loc(op->getLoc()) {}

  Operation *op;
  OpBuilder b;
  Location loc;

  Value at(unsigned i) const { return onnx::operand(op, i); }
  Type elementOf(Value v) const { return getElementTypeOrSelf(v.getType()); }
  Type unranked(Type element) const { return UnrankedTensorType::get(element); }
  Value make(StringRef name, ArrayRef<Value> operands, Type element, ArrayRef<NamedAttribute> attributes = {}) {
    return quant::makeOp(b, loc, name, operands, unranked(element), attributes);
  }
  NamedAttribute ints(StringRef name, ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  NamedAttribute integer(StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); }
  /// The attributes of the op with these names.
  SmallVector<NamedAttribute> kept(ArrayRef<StringRef> names) {
    SmallVector<NamedAttribute> all;
    for (StringRef name : names)
      if (Attribute value = op->getAttr(name))
        all.push_back(b.getNamedAttr(name, value));
    return all;
  }
  int64_t intAttr(StringRef name, int64_t fallback) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : fallback;
  }

  /// The numbers behind operand `i`, whose scale and zero point follow it.
  Value dequantized(unsigned i) { return make("DequantizeLinear", {at(i), at(i + 1), at(i + 2)}, b.getF32Type()); }
  /// `real` as elements of the op's result.
  Value quantized(Value real, Value scale, Value zero) {
    Type element = elementOf(op->getResult(0));
    SmallVector<NamedAttribute> attributes;
    if (!zero)
      attributes.push_back(integer("output_dtype", onnx::dataTypeOf(element)));
    return make("QuantizeLinear", {real, scale, zero}, element, attributes);
  }
  Value asFloat(Value v) { return make("Cast", {v}, b.getF32Type(), integer("to", onnx::dataTypeOf(b.getF32Type()))); }
  Value times(Value x, Value y) { return make("Mul", {x, y}, b.getF32Type()); }
  Value plus(Value x, Value y) { return y ? make("Add", {x, y}, elementOf(x)) : x; }
  Value transposed(Value v, ArrayRef<int64_t> perm) { return make("Transpose", {v}, elementOf(v), ints("perm", perm)); }
};
} // namespace

/// Gives the value of result 0; null leaves the op to its lowering, which refuses it.
using RaiseFn = Value (*)(Raise &);

template <char const *Name> static Value raiseBinary(Raise &r) {
  Value y = r.make(Name, {r.dequantized(0), r.dequantized(3)}, r.b.getF32Type());
  return r.quantized(y, r.at(6), r.at(7));
}

static Value raiseSigmoid(Raise &r) {
  return r.quantized(r.make("Sigmoid", {r.dequantized(0)}, r.b.getF32Type()), r.at(3), r.at(4));
}

static Value raiseLeakyRelu(Raise &r) {
  return r.quantized(r.make("LeakyRelu", {r.dequantized(0)}, r.b.getF32Type(), r.kept({"alpha"})), r.at(3), r.at(4));
}

/// Pooling, with channels last moved in front.
static Value raisePool(Raise &r, StringRef name, ArrayRef<NamedAttribute> attributes) {
  Value x = r.dequantized(0);
  auto type = dyn_cast<RankedTensorType>(r.at(0).getType());
  bool last = r.intAttr("channels_last", 0);
  if (last && (!type || type.getRank() < 3))
    return Value();
  SmallVector<int64_t> toFirst, toLast;
  if (last) {
    int64_t rank = type.getRank();
    toFirst = {0, rank - 1};
    toLast = {0};
    for (int64_t i = 1; i + 1 < rank; ++i) {
      toFirst.push_back(i);
      toLast.push_back(i + 1);
    }
    toLast.push_back(1);
    x = r.transposed(x, toFirst);
  }
  Value y = r.make(name, {x}, r.b.getF32Type(), attributes);
  return r.quantized(last ? r.transposed(y, toLast) : y, r.at(3), r.at(4));
}

static Value raiseGlobalAveragePool(Raise &r) { return raisePool(r, "GlobalAveragePool", {}); }

static Value raiseAveragePool(Raise &r) {
  return raisePool(r, "AveragePool",
                   r.kept({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
}

/// Y_scale, Y_zero_point, then triples.
static Value raiseConcat(Raise &r) {
  SmallVector<Value> parts;
  for (unsigned i = 2, e = onnx::numOperandPositions(r.op); i + 2 < e; i += 3)
    parts.push_back(r.dequantized(i));
  return r.quantized(r.make("Concat", parts, r.b.getF32Type(), r.kept({"axis"})), r.at(0), r.at(1));
}

/// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
static Value raiseMatMulIntegerToFloat(Raise &r) {
  if (!r.elementOf(r.op->getResult(0)).isF32())
    return Value();
  Value sum = r.make("MatMulInteger", {r.at(0), r.at(1), r.at(4), r.at(5)}, r.b.getI32Type());
  return r.plus(r.times(r.asFloat(sum), r.times(r.at(2), r.at(3))), r.at(6));
}

/// A, B, b_scale, b_zero_point, bias
static Value raiseDynamicQuantizeMatMul(Raise &r) {
  Type f32 = r.b.getF32Type(), u8 = r.b.getIntegerType(8, /*isSigned=*/false);
  Operation *a = onnx::createOp(r.b, r.loc, "DynamicQuantizeLinear", {r.at(0)},
                                {r.unranked(u8), RankedTensorType::get({}, f32), RankedTensorType::get({}, u8)});
  Value sum = r.make("MatMulInteger", {a->getResult(0), r.at(1), a->getResult(2), r.at(3)}, r.b.getI32Type());
  return r.plus(r.times(r.asFloat(sum), r.times(a->getResult(1), r.at(2))), r.at(4));
}

/// Packed values of `bits` bits in rows that begin with a byte, as rows without gaps.
static SmallVector<char> withoutGaps(ArrayRef<char> bytes, int64_t rows, int64_t columns, int64_t bits) {
  int64_t stride = llvm::divideCeil(columns * bits, 8), perByte = 8 / bits;
  SmallVector<char> packed(llvm::divideCeil(rows * columns * bits, 8));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      uint8_t byte = bytes[row * stride + column / perByte];
      int value = (byte >> (column % perByte * bits)) & ((1 << bits) - 1);
      int64_t to = row * columns + column;
      packed[to / perByte] |= static_cast<char>(value << (to % perByte * bits));
    }
  return packed;
}

/// A, B, scales, zero_points, g_idx, bias: A times the transposed matrix that B holds in blocks along K.
static Value raiseMatMulNBits(Raise &r) {
  int64_t bits = r.intAttr("bits", 4), n = r.intAttr("N", 0), k = r.intAttr("K", 0), block = r.intAttr("block_size", 0);
  if ((bits != 2 && bits != 4 && bits != 8) || n < 1 || k < 1 || block < 8 || r.at(4))
    return Value();
  int64_t blocks = llvm::divideCeil(k, block), rowBytes = llvm::divideCeil(blocks * bits, 8);
  auto w = quant::bytesOf(r.at(1)), scales = quant::bytesOf(r.at(2));
  Type f32 = r.b.getF32Type(), narrow = r.b.getIntegerType(bits, /*isSigned=*/false);
  if (!w || !scales || !r.elementOf(r.at(0)).isF32() ||
      static_cast<int64_t>(w->size()) != llvm::divideCeilSigned(n * blocks * block * bits, 8) ||
      static_cast<int64_t>(scales->size()) != n * blocks * 4)
    return Value();
  // Without zero points they are in the middle.
  SmallVector<char> zeros(llvm::divideCeil(n * blocks * bits, 8), static_cast<char>(bits == 8   ? 0x80
                                                                                    : bits == 4 ? 0x88
                                                                                                : 0xAA));
  if (r.at(3)) {
    auto given = quant::bytesOf(r.at(3));
    if (!given || !r.elementOf(r.at(3)).isUnsignedInteger(8) || static_cast<int64_t>(given->size()) != n * rowBytes)
      return Value();
    zeros = withoutGaps(*given, n, blocks, bits);
  }
  auto constant = [&](ArrayRef<char> bytes, int64_t columns, Type element) {
    return onnx::makeConstant(r.b, r.loc, RankedTensorType::get({n, columns}, element), bytes);
  };
  Value matrix = constant(*w, blocks * block, narrow);
  matrix = r.make("DequantizeLinear", {matrix, constant(*scales, blocks, f32), constant(zeros, blocks, narrow)}, f32,
                  {r.integer("axis", 1), r.integer("block_size", block)});
  if (k != blocks * block) { // what fills the last block
    auto vector = [&](int64_t value) {
      auto type = RankedTensorType::get({1}, r.b.getI64Type());
      return onnx::ConstantOp::create(r.b, r.loc, DenseElementsAttr::get(type, value)).getResult();
    };
    matrix = r.make("Slice", {matrix, vector(0), vector(k), vector(1)}, f32);
  }
  Value y = r.make("MatMul", {r.at(0), r.transposed(matrix, {1, 0})}, f32);
  return r.plus(y, r.at(5));
}

static constexpr char kAdd[] = "Add", kMul[] = "Mul";

static const llvm::StringMap<RaiseFn> &raises() {
  static const llvm::StringMap<RaiseFn> table = {
      {"onnx.ms.QLinearAdd", raiseBinary<kAdd>},
      {"onnx.ms.QLinearMul", raiseBinary<kMul>},
      {"onnx.ms.QLinearSigmoid", raiseSigmoid},
      {"onnx.ms.QLinearLeakyRelu", raiseLeakyRelu},
      {"onnx.ms.QLinearGlobalAveragePool", raiseGlobalAveragePool},
      {"onnx.ms.QLinearAveragePool", raiseAveragePool},
      {"onnx.ms.QLinearConcat", raiseConcat},
      {"onnx.ms.MatMulIntegerToFloat", raiseMatMulIntegerToFloat},
      {"onnx.ms.DynamicQuantizeMatMul", raiseDynamicQuantizeMatMul},
      {"onnx.ms.MatMulNBits", raiseMatMulNBits},
  };
  return table;
}

namespace {
struct RaiseQuantized : optc::impl::RaiseQuantizedBase<RaiseQuantized> {
  using RaiseQuantizedBase::RaiseQuantizedBase;

  void runOnOperation() override {
    SmallVector<std::pair<Operation *, RaiseFn>> work;
    getOperation()->walk([&](Operation *op) {
      if (auto it = raises().find(op->getName().getStringRef()); it != raises().end())
        work.emplace_back(op, it->second);
    });
    for (auto [op, raise] : work) {
      Raise r(op);
      Value y = raise(r);
      if (!y)
        continue;
      // What the op's type knows of the shape holds for the value.
      if (op->getResult(0).getType() != y.getType())
        y.setType(op->getResult(0).getType());
      op->getResult(0).replaceAllUsesWith(y);
      op->erase();
      ++raised;
    }
  }
};
} // namespace
