//===- RaiseBlocks.cpp - com.microsoft's weights in blocks ----------------===//
//
// MatMulNBits and GatherBlockQuantized hold packed integers with a scale, and perhaps a zero point, for every few
// neighbours: DequantizeLinear in blocks. Zero points that are no integers become a product of their own.
//===----------------------------------------------------------------------===//
#include "optc/passes/graph/Raise.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace optc;

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

/// Packed values in rows that begin with a byte, as a byte each.
static SmallVector<char> unpacked(ArrayRef<char> bytes, int64_t rows, int64_t columns, int64_t bits) {
  int64_t stride = llvm::divideCeil(columns * bits, 8), perByte = 8 / bits;
  SmallVector<char> values;
  values.reserve(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      values.push_back((uint8_t(bytes[row * stride + column / perByte]) >> (column % perByte * bits)) &
                       ((1 << bits) - 1));
  return values;
}

/// `count` values of `bits` bits in the middle of their range.
static SmallVector<char> middles(int64_t count, int64_t bits) {
  return SmallVector<char>(llvm::divideCeil(count * bits, 8), static_cast<char>(bits == 8   ? 0x80
                                                                                : bits == 4 ? 0x88
                                                                                            : 0xAA));
}

/// The elements of a constant of float32, float16 or bfloat16.
static std::optional<std::vector<float>> numbersOf(Value constant) {
  if (auto known = onnx::floatsOf(constant))
    return known;
  auto type = dyn_cast<FloatType>(Raise::elementOf(constant));
  auto bytes = quant::bytesOf(constant);
  if (!type || type.getWidth() != 16 || !bytes)
    return std::nullopt;
  std::vector<float> numbers;
  for (size_t i = 0; i + 1 < bytes->size(); i += 2) {
    uint16_t bits;
    std::memcpy(&bits, bytes->data() + i, 2);
    bool inexact;
    APFloat number(type.getFloatSemantics(), APInt(16, bits));
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    numbers.push_back(number.convertToFloat());
  }
  return numbers;
}

/// The sums of `a`'s elements, [..., k], over blocks of the last axis.
static Value sumsOfBlocks(Raise &r, Value a, int64_t rank, int64_t k, int64_t blocks, int64_t block) {
  if (k != blocks * block)
    a = r.make("Pad", {a, r.vector({0, blocks * block - k}), Value(), r.vector({-1})}, r.f32());
  SmallVector<int64_t> shape(rank - 1, 0);
  shape.append({blocks, block});
  return r.make("ReduceSum", {r.reshaped(a, shape), r.vector({-1})}, r.f32(), r.integer("keepdims", 0));
}

/// A, B, scales, zero_points, g_idx, bias: A times the transposed matrix that B holds in blocks along K.
static Raised raiseMatMulNBits(Raise &r) {
  int64_t bits = r.intAttr("bits", 4), n = r.intAttr("N", 0), k = r.intAttr("K", 0), block = r.intAttr("block_size", 0);
  auto fits = [](int64_t size) { return size > 0 && size < (int64_t(1) << 24); };
  if ((bits != 2 && bits != 4 && bits != 8) || block % 8 != 0 || !fits(block) || !fits(n) || !fits(k))
    return r.refuse("has bits " + Twine(bits) + ", block_size " + Twine(block) + ", N " + Twine(n) + " and K " +
                    Twine(k) + "; 2, 4 and 8 bits are supported, in blocks of a multiple of 8, with sizes below 2^24");
  if (r.at(4))
    return r.refuse("has g_idx; weights in blocks of neighbours are supported: quantize without reordering");
  int64_t blocks = llvm::divideCeil(k, block), rowBytes = llvm::divideCeil(blocks * bits, 8);
  auto w = quant::bytesOf(r.at(1));
  auto scales = numbersOf(r.at(2));
  Type element = r.elementOf(r.at(0)), narrow = r.b.getIntegerType(bits, /*isSigned=*/false);
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return r.refuse("has an A of another type than float32, float16 and bfloat16");
  if (!w || !scales || static_cast<int64_t>(w->size()) != n * blocks * (block * bits / 8) ||
      static_cast<int64_t>(scales->size()) != n * blocks)
    return r.refuse("needs constants B and scales of the sizes that N, K and block_size say: " +
                    Twine(n * blocks * block * bits / 8) + " bytes and " + Twine(n * blocks) + " numbers");
  // Without zero points they are in the middle.
  SmallVector<char> zeros = middles(n * blocks, bits);
  std::optional<std::vector<float>> shifts;
  if (Value given = r.at(3)) {
    auto bytes = quant::bytesOf(given);
    bool integers = r.elementOf(given).isUnsignedInteger(8);
    shifts = integers ? std::nullopt : numbersOf(given);
    if (integers && bytes && static_cast<int64_t>(bytes->size()) == n * rowBytes)
      zeros = withoutGaps(*bytes, n, blocks, bits);
    else if (!shifts || static_cast<int64_t>(shifts->size()) != n * blocks)
      return r.refuse("needs constant zero_points: " + Twine(n * rowBytes) + " bytes, or " + Twine(n * blocks) +
                      " floats");
  }
  auto constant = [&](ArrayRef<char> bytes, int64_t columns, Type element) {
    return onnx::makeConstant(r.b, r.loc, RankedTensorType::get({n, columns}, element), bytes);
  };
  Value matrix = constant(*w, blocks * block, narrow);
  matrix = r.make(
      "DequantizeLinear",
      {matrix, quant::makeFloats(r.b, r.loc, *scales, {n, blocks}), shifts ? Value() : constant(zeros, blocks, narrow)},
      r.f32(), {r.integer("axis", 1), r.integer("block_size", block)});
  if (k != blocks * block) // what fills the last block
    matrix = r.sliced(matrix, r.vector({0}), r.vector({k}), 1);
  Value a = r.cast(r.at(0), r.f32());
  Value y = r.make("MatMul", {a, r.transposed(matrix, {1, 0})}, r.f32());
  if (shifts) {
    // a (w - z) s = a w s - (sums of a's blocks) (z s)
    auto type = r.typeAt(0);
    if (!type || type.getRank() < 1)
      return r.refuse("has zero_points of floats and an A whose rank is not known; give its shape with --shape");
    std::vector<float> moved(n * blocks);
    for (int64_t row = 0; row < n; ++row)
      for (int64_t column = 0; column < blocks; ++column)
        moved[column * n + row] = (*shifts)[row * blocks + column] * (*scales)[row * blocks + column];
    Value sums = sumsOfBlocks(r, a, type.getRank(), k, blocks, block);
    y = r.minus(y, r.make("MatMul", {sums, quant::makeFloats(r.b, r.loc, moved, {blocks, n})}, r.f32()));
  }
  return r.cast(r.plus(y, r.at(5) ? r.cast(r.at(5), r.f32()) : Value()), element);
}

/// data, indices, scales, zero_points: rows of a table that has blocks along another axis.
static Raised raiseGatherBlocks(Raise &r) {
  auto data = r.typeAt(0), indices = r.typeAt(1), scales = r.typeAt(2);
  int64_t bits = r.intAttr("bits", 4), block = r.intAttr("block_size", 128);
  if (!data || !indices || !scales)
    return r.refuse("needs data, indices and scales of known rank; give the shapes of inputs with --shape");
  int64_t rank = data.getRank(), axis = r.intAttr("gather_axis", 0), along = r.intAttr("quantize_axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  along = along < 0 ? along + rank : along;
  if (axis == along || axis < 0 || along < 0 || axis >= rank || along >= rank || scales.getRank() != rank || block < 1)
    return r.refuse("has gather_axis " + Twine(axis) + ", quantize_axis " + Twine(along) + " and block_size " +
                    Twine(block) + " for data of rank " + Twine(rank) + " and scales of rank " +
                    Twine(scales.getRank()) + "; two axes of data and scales of the same rank are supported");
  Value table = r.at(0), zeros = r.at(3);
  if (data.getElementType().isUnsignedInteger(8)) {
    // Bytes hold several values along the last axis.
    auto bytes = quant::bytesOf(table);
    if ((bits != 2 && bits != 4 && bits != 8) || along != rank - 1 || !bytes || !data.hasStaticShape() ||
        !scales.hasStaticShape())
      return r.refuse("has data of bytes, bits " + Twine(bits) + " and quantize_axis " + Twine(along) +
                      "; constants with 2, 4 or 8 bits and blocks along the last axis are supported");
    Type u8 = data.getElementType();
    SmallVector<int64_t> shape(data.getShape()), zeroShape(scales.getShape());
    shape.back() *= 8 / bits;
    int64_t columns = zeroShape.back(), rows = columns ? scales.getNumElements() / columns : 0;
    SmallVector<char> middles(rows * columns, static_cast<char>(1 << (bits - 1)));
    if (zeros) {
      auto given = quant::bytesOf(zeros);
      if (!given || static_cast<int64_t>(given->size()) != rows * int64_t(llvm::divideCeil(columns * bits, 8)))
        return r.refuse("needs constant zero_points of as many values as scales has");
      middles = unpacked(*given, rows, columns, bits);
    }
    table = onnx::makeConstant(r.b, r.loc, RankedTensorType::get(shape, u8),
                               unpacked(*bytes, 1, bytes->size() * (8 / bits), bits));
    zeros = onnx::makeConstant(r.b, r.loc, RankedTensorType::get(zeroShape, u8), middles);
  }
  // Gather takes no smaller integers.
  auto asBytes = [&](Value v) {
    auto type = dyn_cast<IntegerType>(r.elementOf(v));
    return type ? r.cast(v, IntegerType::get(r.b.getContext(), 8, type.getSignedness())) : v;
  };
  auto rows = [&](Value v) { return v ? r.gathered(asBytes(v), r.at(1), axis) : v; };
  int64_t now = along > axis ? along + indices.getRank() - 1 : along;
  return r.make("DequantizeLinear", {rows(table), rows(r.at(2)), rows(zeros)}, r.elementOf(r.at(2)),
                {r.integer("axis", now), r.integer("block_size", block)});
}

void optc::registerRaisedBlocks(RaiseTable &table) {
  table["onnx.ms.MatMulNBits"] = raiseMatMulNBits;
  table["onnx.ms.GatherBlockQuantized"] = raiseGatherBlocks;
}
