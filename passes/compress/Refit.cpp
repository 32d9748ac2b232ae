//===- Refit.cpp - layers that make up for lost inputs --------------------===//
#include "optc/passes/compress/Refit.h"
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Onnx.h"

using namespace mlir;
using namespace optc;

/// A matrix of so many rows is factored in seconds.
static constexpr int64_t kMostInputs = 1536;

static SmallVector<int64_t> intsAttr(Operation *op, StringRef name, size_t count, int64_t fallback) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return attr ? SmallVector<int64_t>(attr.asArrayRef()) : SmallVector<int64_t>(count, fallback);
}

static bool isOne(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return !attr || attr.getValue().isExactlyValue(1.0);
}

static bool isSet(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr && attr.getInt();
}

std::optional<LayerFit> LayerFit::create(Operation *layer, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = why.str();
    return std::nullopt;
  };
  StringRef name = layer->getName().getStringRef();
  Value weights = layer->getNumOperands() > 1 ? layer->getOperand(1) : Value();
  auto kept = layer->getAttrOfType<DenseI64ArrayAttr>(kRefitAttr);
  if (!onnx::isFloatConstant(weights) || !kept)
    return refuse("its weights are no constant of float32");
  auto type = cast<RankedTensorType>(weights.getType());
  ArrayRef<int64_t> shape = type.getShape();
  bool isConv = name == "onnx.Conv", isGemm = name == "onnx.Gemm", isMatMul = name == "onnx.MatMul";
  if (!isConv && !isGemm && !isMatMul)
    return refuse("only Conv, Gemm and MatMul are fitted");
  if (shape.size() < 2 || (!isConv && shape.size() != 2))
    return refuse("its weights are no matrix");
  if (isGemm && (isSet(layer, "transA") || !isOne(layer, "alpha") || !isOne(layer, "beta")))
    return refuse("its input is transposed, or it has factors");
  bool isTransposed = isMatMul || (isGemm && !isSet(layer, "transB"));
  int64_t outputs = shape[isTransposed ? 1 : 0];
  if (outputs == 0 || type.getNumElements() == 0)
    return refuse("it has no weights");
  int64_t inputs = type.getNumElements() / outputs;
  if (inputs > kMostInputs)
    return refuse("it sums over " + std::to_string(inputs) + " inputs, more than the " + std::to_string(kMostInputs) +
                  " that are fitted");
  if (!isMatMul)
    if (Value bias = onnx::operand(layer, 2))
      if (!onnx::isFloatConstant(bias) || cast<ShapedType>(bias.getType()).getNumElements() != outputs)
        return refuse("its bias is no constant of float32 with one element for each output");
  LayerFit made(layer, inputs, outputs, /*hasBias=*/!isMatMul);
  made.isTransposed = isTransposed;
  made.keptOutputs.assign(kept.asArrayRef().begin(), kept.asArrayRef().end());
  if (isConv) {
    size_t rank = shape.size() - 2;
    auto group = layer->getAttrOfType<IntegerAttr>("group");
    auto autoPad = layer->getAttrOfType<StringAttr>("auto_pad");
    if ((group && group.getInt() != 1) || (autoPad && autoPad.getValue() != "NOTSET" && autoPad.getValue() != "VALID"))
      return refuse("it has groups, or pads that follow from the input");
    bool isValid = autoPad && autoPad.getValue() == "VALID";
    made.window = Window{SmallVector<int64_t>(shape.drop_front(2)), intsAttr(layer, "strides", rank, 1),
                         intsAttr(layer, "dilations", rank, 1),
                         isValid ? SmallVector<int64_t>(2 * rank, 0) : intsAttr(layer, "pads", 2 * rank, 0)};
  }
  return made;
}

int64_t LayerFit::wantedRows() const { return std::max<int64_t>(2048, 10 * inputs); }

/// The `count`-th of about `most` of `total` positions, spread evenly and another set at each turn.
static int64_t stepFor(int64_t total, int64_t most) { return std::max<int64_t>(1, total / std::max<int64_t>(1, most)); }

static int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

bool LayerFit::addWindows(const FloatTensor &x, const FloatTensor &y, int64_t most, int64_t turn) {
  size_t rank = window->kernel.size();
  if (x.shape.size() != rank + 2 || y.shape.size() != rank + 2 || x.shape[0] != y.shape[0])
    return false;
  ArrayRef<int64_t> from = ArrayRef(x.shape).drop_front(2), to = ArrayRef(y.shape).drop_front(2);
  int64_t taps = productOf(window->kernel), channels = x.shape[1], inSize = productOf(from), outSize = productOf(to);
  if (channels * taps != inputs)
    return false;
  std::vector<float> row(inputs), result(outputs);
  int64_t total = x.shape[0] * outSize, step = stepFor(total, most);
  for (int64_t position = turn % step; position < total; position += step) {
    int64_t batch = position / outSize, place = position % outSize;
    for (int64_t tap = 0; tap < taps; ++tap) {
      // Where the tap reads, along each axis from the last.
      int64_t offset = 0, scale = 1, restPlace = place, restTap = tap;
      bool inside = true;
      for (size_t i = rank; i-- > 0;) {
        int64_t at = restPlace % to[i] * window->strides[i] - window->pads[i] +
                     restTap % window->kernel[i] * window->dilations[i];
        restPlace /= to[i];
        restTap /= window->kernel[i];
        inside &= at >= 0 && at < from[i];
        offset += at * scale;
        scale *= from[i];
      }
      for (int64_t c = 0; c < channels; ++c)
        row[c * taps + tap] = inside ? x.values[(batch * channels + c) * inSize + offset] : 0.0f;
    }
    for (int64_t o = 0; o < outputs; ++o)
      result[o] = y.values[(batch * y.shape[1] + (keptOutputs.empty() ? o : keptOutputs[o])) * outSize + place];
    fit.add(row, result);
  }
  return true;
}

bool LayerFit::addRows(const FloatTensor &x, const FloatTensor &y, int64_t most, int64_t turn) {
  if (x.shape.empty() || y.shape.empty() || x.shape.back() != inputs ||
      ArrayRef(x.shape).drop_back() != ArrayRef(y.shape).drop_back())
    return false;
  int64_t total = productOf(ArrayRef(x.shape).drop_back()), step = stepFor(total, most), width = y.shape.back();
  std::vector<float> result(outputs);
  for (int64_t at = turn % step; at < total; at += step) {
    for (int64_t o = 0; o < outputs; ++o)
      result[o] = y.values[at * width + (keptOutputs.empty() ? o : keptOutputs[o])];
    fit.add(x.values.slice(at * inputs, inputs), result);
  }
  return true;
}

bool LayerFit::add(const FloatTensor &input, const FloatTensor &output, int64_t most, int64_t turn) {
  if (input.values.size() != size_t(productOf(input.shape)) || output.values.size() != size_t(productOf(output.shape)))
    return false;
  // The outputs of the layer that it was: as many as it has, or those that it keeps.
  size_t axis = window ? 1 : output.shape.size() - 1;
  if (output.shape.size() <= axis)
    return false;
  bool fits = keptOutputs.empty() ? output.shape[axis] == outputs
                                  : int64_t(keptOutputs.size()) == outputs && keptOutputs.back() < output.shape[axis];
  if (!fits)
    return false;
  return window ? addWindows(input, output, most, turn) : addRows(input, output, most, turn);
}

bool LayerFit::apply(double ridge, double &left) {
  std::vector<float> before = *onnx::floatsOf(layer->getOperand(1));
  std::vector<double> weights(inputs * outputs), bias(outputs);
  auto placeOf = [&](int64_t o, int64_t i) { return isTransposed ? i * outputs + o : o * inputs + i; };
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      weights[o * inputs + i] = before[placeOf(o, i)];
  Value oldBias = hasBias ? onnx::operand(layer, 2) : Value();
  if (std::optional<std::vector<float>> known = onnx::floatsOf(oldBias))
    llvm::copy(*known, bias.begin());
  double first = fit.error(weights, bias);
  if (!fit.solve(ridge, weights, bias))
    return false;
  left = first > 0 ? fit.error(weights, bias) / first : 1;

  OpBuilder b(layer);
  auto constant = [&](RankedTensorType type, Location loc, llvm::function_ref<double(int64_t)> at) -> Value {
    ElementsAttr value = onnx::makeElements(type, [&](MutableArrayRef<char> bytes) {
      for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
        auto element = static_cast<float>(at(i));
        std::memcpy(bytes.data() + i * sizeof(float), &element, sizeof(float));
      }
    });
    return onnx::ConstantOp::create(b, loc, value);
  };
  Value newWeights =
      constant(cast<RankedTensorType>(layer->getOperand(1).getType()), layer->getOperand(1).getLoc(),
               [&](int64_t at) { return isTransposed ? weights[at % outputs * inputs + at / outputs] : weights[at]; });
  layer->setOperand(1, newWeights);
  if (!hasBias)
    return true;
  auto type = oldBias ? cast<RankedTensorType>(oldBias.getType()) : RankedTensorType::get({outputs}, b.getF32Type());
  Value newBias = constant(type, oldBias ? oldBias.getLoc() : layer->getLoc(), [&](int64_t at) { return bias[at]; });
  if (oldBias)
    layer->setOperand(2, newBias);
  else
    layer->insertOperands(2, newBias);
  return true;
}
