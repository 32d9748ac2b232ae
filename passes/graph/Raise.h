//===- Raise.h - operators as compositions of others ------------*- C++ -*-===//
#ifndef OPTC_PASSES_GRAPH_RAISE_H
#define OPTC_PASSES_GRAPH_RAISE_H
#include "optc/passes/graph/Quantization.h"
#include "llvm/ADT/StringMap.h"

namespace optc {

/// What the results of an op are replaced by, by position; nothing when it was refused.
struct Raised : llvm::SmallVector<mlir::Value, 3> {
  Raised() = default;
  Raised(mlir::Value first) { push_back(first); }
  Raised(std::initializer_list<mlir::Value> values) : SmallVector(values) {}
};

/// Builds, in front of an op, what it stands for.
class Raise {
public:
  explicit Raise(mlir::Operation *op) : op(op), b(op), loc(op->getLoc()) {}

  mlir::Operation *op;
  mlir::OpBuilder b;
  mlir::Location loc;
  std::string reason; ///< why nothing was built

  /// Says what of the op is not supported, and what is.
  Raised refuse(const llvm::Twine &why) {
    reason = why.str();
    return {};
  }

  // The op.
  mlir::Value at(unsigned i) const { return onnx::operand(op, i); }
  bool wants(unsigned result) const { return onnx::result(op, result) != nullptr; }
  mlir::RankedTensorType typeAt(unsigned i) const { return ranked(at(i)); }
  int64_t intAttr(llvm::StringRef name, int64_t fallback) const {
    auto attr = op->getAttrOfType<mlir::IntegerAttr>(name);
    return attr ? attr.getInt() : fallback;
  }
  double floatAttr(llvm::StringRef name, double fallback) const {
    auto attr = op->getAttrOfType<mlir::FloatAttr>(name);
    return attr ? attr.getValueAsDouble() : fallback;
  }
  /// The attributes of the op with these names.
  llvm::SmallVector<mlir::NamedAttribute> kept(llvm::ArrayRef<llvm::StringRef> names);

  // Types.
  static mlir::RankedTensorType ranked(mlir::Value v) {
    return v ? llvm::dyn_cast<mlir::RankedTensorType>(v.getType()) : mlir::RankedTensorType();
  }
  static mlir::Type elementOf(mlir::Value v) { return mlir::getElementTypeOrSelf(v.getType()); }
  static mlir::Type unranked(mlir::Type element) { return mlir::UnrankedTensorType::get(element); }
  mlir::Type f32() { return b.getF32Type(); }
  mlir::Type i64() { return b.getI64Type(); }
  mlir::Type boolean() { return b.getI1Type(); }

  // Attributes and constants.
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute real(llvm::StringRef name, double value) {
    return b.getNamedAttr(name, b.getF32FloatAttr(value));
  }
  mlir::Value number(float value) { return quant::makeFloats(b, loc, {value}, {}); }
  /// Integers of 64 bits.
  mlir::Value scalar(int64_t value);
  mlir::Value vector(llvm::ArrayRef<int64_t> values);

  // Operators, with results of unknown shape.
  mlir::Value make(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands, mlir::Type element,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return quant::makeOp(b, loc, name, operands, unranked(element), attributes);
  }
  mlir::Value cast(mlir::Value v, mlir::Type element);
  mlir::Value asFloat(mlir::Value v) { return cast(v, f32()); }
  mlir::Value times(mlir::Value x, mlir::Value y) { return make("Mul", {x, y}, elementOf(x)); }
  /// x + y, or x where y is absent.
  mlir::Value plus(mlir::Value x, mlir::Value y) { return y ? make("Add", {x, y}, elementOf(x)) : x; }
  mlir::Value minus(mlir::Value x, mlir::Value y) { return make("Sub", {x, y}, elementOf(x)); }
  mlir::Value transposed(mlir::Value v, llvm::ArrayRef<int64_t> perm) {
    return make("Transpose", {v}, elementOf(v), ints("perm", perm));
  }
  /// 0 keeps a size.
  mlir::Value reshaped(mlir::Value v, llvm::ArrayRef<int64_t> shape) {
    return make("Reshape", {v, vector(shape)}, elementOf(v));
  }
  mlir::Value unsqueezed(mlir::Value v, llvm::ArrayRef<int64_t> axes) {
    return make("Unsqueeze", {v, vector(axes)}, elementOf(v));
  }
  mlir::Value squeezed(mlir::Value v, llvm::ArrayRef<int64_t> axes) {
    return make("Squeeze", {v, vector(axes)}, elementOf(v));
  }
  mlir::Value joined(llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : make("Concat", parts, elementOf(parts[0]), integer("axis", axis));
  }
  mlir::Value gathered(mlir::Value v, mlir::Value indices, int64_t axis) {
    return make("Gather", {v, indices}, elementOf(v), integer("axis", axis));
  }
  /// Elements [from, to) of an axis; the ends are vectors of one integer.
  mlir::Value sliced(mlir::Value v, mlir::Value from, mlir::Value to, int64_t axis) {
    return make("Slice", {v, from, to, vector(axis)}, elementOf(v));
  }
  /// Equal parts along an axis, or parts of these sizes.
  llvm::SmallVector<mlir::Value> split(mlir::Value v, int64_t axis, int64_t parts);
  llvm::SmallVector<mlir::Value> split(mlir::Value v, int64_t axis, llvm::ArrayRef<int64_t> sizes);
  /// The size of an axis, as a vector of one integer, and the integers below it.
  mlir::Value sizeOf(mlir::Value v, int64_t axis);
  mlir::Value below(mlir::Value size);
  /// Zeros of a shape that is a vector of integers.
  mlir::Value zeros(mlir::Value shape, mlir::Type element);

  // Quantization.
  /// The numbers behind operand `i`, whose scale and zero point follow it.
  mlir::Value dequantized(unsigned i) { return dequantized(at(i), at(i + 1), at(i + 2)); }
  mlir::Value dequantized(mlir::Value integers, mlir::Value scale, mlir::Value zero) {
    return make("DequantizeLinear", {integers, scale, zero}, f32());
  }
  /// `real` as elements of the op's result.
  mlir::Value quantized(mlir::Value real, mlir::Value scale, mlir::Value zero);
  /// The exact product of integers, times a scale.
  mlir::Value product(mlir::Value a, mlir::Value b, mlir::Value aZero, mlir::Value bZero, mlir::Value scale) {
    return times(asFloat(make("MatMulInteger", {a, b, aZero, bZero}, this->b.getI32Type())), scale);
  }
  /// DynamicQuantizeLinear: integers, scale and zero point.
  std::array<mlir::Value, 3> quantizedDynamically(mlir::Value real);
};

/// Gives what the results of an op stand for, or refuses it.
using RaiseFn = Raised (*)(Raise &);
using RaiseTable = llvm::StringMap<RaiseFn>;

void registerRaisedAttention(RaiseTable &table);
void registerRaisedBlocks(RaiseTable &table);
void registerRaisedLstm(RaiseTable &table);

} // namespace optc
#endif
