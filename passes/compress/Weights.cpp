//===- Weights.cpp - the constants that compression works on --------------===//
#include "optc/passes/compress/Weights.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Layers.h"

using namespace mlir;
using namespace optc;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Copies the kept positions of the axes from `axis` on, in order.
static char *copySlice(const char *from, char *to, ArrayRef<int64_t> shape,
                       ArrayRef<std::optional<SmallVector<int64_t>>> keep, int64_t elementBytes) {
  // Axes that stay whole at the end are one run of bytes.
  int64_t last = keep.size();
  while (last && !keep[last - 1])
    elementBytes *= shape[--last];
  if (!last) {
    std::memcpy(to, from, elementBytes);
    return to + elementBytes;
  }
  int64_t below = elementBytes;
  for (int64_t i = 1; i < last; ++i)
    below *= shape[i];
  auto copy = [&](int64_t position) {
    to = copySlice(from + position * below, to, shape.take_front(last).drop_front(), keep.take_front(last).drop_front(),
                   elementBytes);
  };
  if (keep[0])
    llvm::for_each(*keep[0], copy);
  else
    llvm::for_each(llvm::seq<int64_t>(0, shape[0]), copy);
  return to;
}

ElementsAttr optc::sliceConstant(const onnx::ConstantBytes &value, ArrayRef<std::optional<SmallVector<int64_t>>> keep) {
  SmallVector<int64_t> shape(value.type().getShape());
  for (auto [size, kept] : llvm::zip_equal(shape, keep))
    if (kept)
      size = kept->size();
  auto type = RankedTensorType::get(shape, value.type().getElementType());
  return onnx::makeElements(type, [&](MutableArrayRef<char> bytes) {
    if (!bytes.empty())
      copySlice(value.bytes().data(), bytes.data(), value.type().getShape(), keep, value.elementBytes());
  });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool optc::isPrunableFloat(Type element) {
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

double optc::floatAt(const onnx::ConstantBytes &value, int64_t i) {
  const char *at = value.bytes().data() + i * value.elementBytes();
  Type element = value.type().getElementType();
  if (element.isF32()) {
    float f;
    std::memcpy(&f, at, sizeof(f));
    return f;
  }
  if (element.isF64()) {
    double d;
    std::memcpy(&d, at, sizeof(d));
    return d;
  }
  uint16_t code;
  std::memcpy(&code, at, sizeof(code));
  return APFloat(cast<FloatType>(element).getFloatSemantics(), APInt(16, code)).convertToDouble();
}

std::vector<double> optc::squaresAlong(const onnx::ConstantBytes &value, int64_t axis) {
  ArrayRef<int64_t> shape = value.type().getShape();
  int64_t inner = 1, outer = 1;
  for (int64_t i = 0; i < value.type().getRank(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  std::vector<double> sums(shape[axis]);
  int64_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (double &sum : sums)
      for (int64_t end = at + inner; at < end; ++at) {
        double v = floatAt(value, at);
        sum += v * v;
      }
  return sums;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

bool optc::isLayer(Operation *op) { return compress::layerKind(op); }

SmallVector<WeightOperand> optc::weightsOf(Operation *op) {
  SmallVector<WeightOperand> weights;
  const compress::LayerKind *kind = compress::layerKind(op);
  for (unsigned position : kind ? kind->weights : SmallVector<unsigned, 2>()) {
    Value value = onnx::operand(op, position);
    auto constant = value ? value.getDefiningOp<onnx::ConstantOp>() : onnx::ConstantOp();
    auto type = constant ? dyn_cast<RankedTensorType>(constant.getOutput().getType()) : RankedTensorType();
    if (!type || type.getRank() < 2 || !isPrunableFloat(type.getElementType()) || type.getNumElements() == 0)
      continue;
    if (int64_t axis = kind->sumAxis(op, type.getRank()); axis >= 0 && axis < type.getRank())
      weights.push_back({&op->getOpOperand(position), axis});
  }
  return weights;
}
