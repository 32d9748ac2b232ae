//===- Quantization.cpp - reading QuantizeLinear and DequantizeLinear -----===//
#include "optc/passes/graph/Quantization.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Types.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace optc;
using namespace optc::quant;

static Type elementOf(Value v) {
  auto type = v ? dyn_cast<TensorType>(v.getType()) : TensorType();
  return type ? type.getElementType() : Type();
}

static bool isNarrow(Type type) { return type && type.isInteger() && type.getIntOrFloatBitWidth() <= 8; }

static int64_t intAttr(Operation *op, StringRef name, int64_t fallback) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : fallback;
}

static std::optional<Linear> linearOf(Operation *op, bool quantize) {
  if (!op || op->getName().getStringRef() != (quantize ? "onnx.QuantizeLinear" : "onnx.DequantizeLinear"))
    return std::nullopt;
  Linear linear{op,
                onnx::operand(op, 0),
                onnx::operand(op, 1),
                onnx::operand(op, 2),
                intAttr(op, "axis", 1),
                intAttr(op, "block_size", 0),
                elementOf(quantize ? op->getResult(0) : op->getOperand(0))};
  Type real = elementOf(quantize ? linear.x : op->getResult(0)), scale = elementOf(linear.scale);
  if (!isNarrow(linear.integers) || !real || !real.isF32() || !scale || !scale.isF32() || intAttr(op, "precision", 0))
    return std::nullopt;
  return linear;
}

std::optional<Linear> quant::dequantizeOf(Value value) { return linearOf(value.getDefiningOp(), /*quantize=*/false); }
std::optional<Linear> quant::quantizeOf(Operation *op) { return linearOf(op, /*quantize=*/true); }

/// The raw bytes of a constant's elements; those of a splat once.
static std::optional<std::pair<RankedTensorType, ArrayRef<char>>> rawOf(Value constant) {
  auto op = constant ? constant.getDefiningOp<onnx::ConstantOp>() : onnx::ConstantOp();
  if (!op)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
    return std::pair(type, dense.getRawData());
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource || !resource.getRawHandle().getBlob())
    return std::nullopt;
  return std::pair(type, resource.getRawHandle().getBlob()->getData());
}

std::optional<SmallVector<char>> quant::bytesOf(Value constant) {
  onnx::ConstantBytes bytes(constant);
  return bytes ? std::optional(SmallVector<char>(bytes.bytes())) : std::nullopt;
}

std::optional<SmallVector<int64_t>> quant::intsOf(Value constant) {
  auto raw = rawOf(constant);
  auto element = raw ? dyn_cast<IntegerType>(raw->first.getElementType()) : IntegerType();
  if (!element)
    return std::nullopt;
  SmallVector<int64_t> values;
  auto dense = dyn_cast<DenseIntElementsAttr>(constant.getDefiningOp<onnx::ConstantOp>().getValue());
  if (dense) {
    for (const APInt &v : dense.getValues<APInt>())
      values.push_back(element.isUnsigned() ? static_cast<int64_t>(v.getZExtValue()) : v.getSExtValue());
    return values;
  }
  unsigned bytes = element.getWidth() / 8;
  if (element.getWidth() % 8 || raw->second.size() != static_cast<size_t>(raw->first.getNumElements()) * bytes)
    return std::nullopt;
  for (const char *p = raw->second.begin(); p != raw->second.end(); p += bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, p, bytes);
    values.push_back(element.isUnsigned() ? static_cast<int64_t>(bits) : llvm::SignExtend64(bits, element.getWidth()));
  }
  return values;
}

std::optional<SmallVector<int64_t>> quant::zeroOf(const Linear &linear) {
  return linear.zero ? intsOf(linear.zero) : std::optional(SmallVector<int64_t>{0});
}

bool quant::isPerTensor(const Linear &linear) {
  auto type = dyn_cast<RankedTensorType>(linear.scale.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

bool quant::isExactPair(const Linear &dequantize, const Linear &quantize) {
  if (dequantize.integers != quantize.integers || !isPerTensor(dequantize) || !isPerTensor(quantize))
    return false;
  auto s = onnx::floatsOf(dequantize.scale), t = onnx::floatsOf(quantize.scale);
  auto z = zeroOf(dequantize), y = zeroOf(quantize);
  if (!s || !t || !z || !y || (*s)[0] != (*t)[0] || z->size() != 1 || *z != *y)
    return false;
  // n * s is off by half an ulp, and so is its quotient by s: far less than half a step.
  return (*s)[0] > 0 && std::isnormal((*s)[0]) && std::isfinite((*s)[0] * 256.0f);
}

namespace {
/// How an operator treats the elements of its data.
struct Mover {
  bool allOperands; ///< all operands are data; else only the first
  bool compares;    ///< results are the largest elements; else elements move
};
} // namespace

static const Mover *moverOf(Operation *op) {
  static const llvm::StringMap<Mover> table = [] {
    llvm::StringMap<Mover> t;
    for (const char *name : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather", "Tile",
                             "Expand", "DepthToSpace", "SpaceToDepth", "Identity"})
      t[(Twine("onnx.") + name).str()] = {false, false};
    t["onnx.Concat"] = {true, false};
    t["onnx.MaxPool"] = {false, true};
    return t;
  }();
  if (!op || op->getNumResults() != 1)
    return nullptr;
  auto it = table.find(op->getName().getStringRef());
  return it == table.end() ? nullptr : &it->second;
}

bool quant::movesIntegers(Operation *op) { return moverOf(op) != nullptr; }

OperandRange quant::dataOf(Operation *op) {
  return op->getOperands().take_front(moverOf(op)->allOperands ? op->getNumOperands() : 1);
}

bool quant::comparesIntegers(Operation *op) { return moverOf(op)->compares; }

TensorType quant::typeLike(Value value, Type element) {
  return cast<TensorType>(value.getType()).cloneWith(std::nullopt, element);
}

Value quant::makeFloats(OpBuilder &b, Location loc, ArrayRef<float> values, ArrayRef<int64_t> shape) {
  return onnx::makeConstant(
      b, loc, RankedTensorType::get(shape, b.getF32Type()),
      ArrayRef<char>(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)));
}

Value quant::makeOp(OpBuilder &b, Location loc, StringRef name, ArrayRef<Value> operands, Type result,
                    ArrayRef<NamedAttribute> attributes) {
  return onnx::createOp(b, loc, name, operands, {result}, attributes)->getResult(0);
}

Value quant::transposed(OpBuilder &b, Location loc, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  auto to = RankedTensorType::get({columns, rows}, type.getElementType());
  std::optional<SmallVector<char>> bytes =
      type.getElementType().isInteger() && type.getElementTypeBitWidth() == 8 ? bytesOf(matrix) : std::nullopt;
  if (!bytes)
    return makeOp(b, loc, "Transpose", {matrix}, to, b.getNamedAttr("perm", b.getDenseI64ArrayAttr({1, 0})));
  SmallVector<char> moved(bytes->size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      moved[column * rows + row] = (*bytes)[row * columns + column];
  return onnx::makeConstant(b, loc, to, moved);
}
