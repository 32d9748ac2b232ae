//===- Equalize.cpp - float layers that lose less when quantized ----------===//
#include "optc/passes/compress/Equalize.h"
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Layers.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace optc;
using namespace optc::compress;

/// A multiplication per element has to be worth it; what is free has not.
static constexpr double kWorthMul = 3, kWorthFree = 0.5;
/// A channel that calibration saw little of keeps at least this part of the largest one's range.
static constexpr float kLeastPart = 1.0f / 64;

bool compress::addChannels(MutableArrayRef<ChannelStats> stats, ArrayRef<float> values, ArrayRef<int64_t> shape,
                           int64_t axis) {
  if (axis >= int64_t(shape.size()) || shape[axis] != int64_t(stats.size()))
    return false;
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  for (size_t at = 0, channel = 0; at < values.size(); at += inner, channel = (channel + 1) % stats.size()) {
    ChannelStats &s = stats[channel];
    for (float v : values.slice(at, inner)) {
      if (!std::isfinite(v))
        return false;
      s.range.merge({v, v});
      s.squares += double(v) * v;
    }
    s.count += inner;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Weights by output and input channel
//===----------------------------------------------------------------------===//

namespace {
/// How the weights of a layer lie: [outputs][inputs of a group][taps], or [inputs][outputs].
struct WeightMap {
  int64_t outputs = 0, inputs = 0, groups = 1, taps = 1; ///< `inputs` of one group
  bool isTransposed = false;

  int64_t channels() const { return inputs * groups; }
  int64_t groupOf(int64_t output) const { return output / (outputs / groups); }
  /// Calls `f` with position, output, and input within its group.
  template <typename Fn> void forEach(Fn f) const {
    int64_t at = 0;
    if (isTransposed) {
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t o = 0; o < outputs; ++o)
          f(at++, o, i);
      return;
    }
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t t = 0; t < taps; ++t)
          f(at++, o, i);
  }
};
} // namespace

static std::optional<WeightMap> mapOf(Operation *layer) {
  auto type = cast<RankedTensorType>(layer->getOperand(1).getType());
  WeightMap map;
  if (isa<onnx::ConvOp>(layer)) {
    map.groups = intAttrOr(layer, "group", 1);
    map.outputs = type.getDimSize(0);
    map.inputs = type.getDimSize(1);
    map.taps = type.getNumElements() / (map.outputs * map.inputs);
    return map.groups > 0 && map.outputs % map.groups == 0 ? std::optional(map) : std::nullopt;
  }
  if (type.getRank() != 2 || intAttrOr(layer, "transA", 0))
    return std::nullopt;
  map.isTransposed = !intAttrOr(layer, "transB", 0);
  map.outputs = type.getDimSize(map.isTransposed ? 1 : 0);
  map.inputs = type.getDimSize(map.isTransposed ? 0 : 1);
  return map;
}

std::vector<EqualizeSite> compress::equalizeSites(func::FuncOp main) {
  llvm::MapVector<Value, EqualizeSite> sites;
  for (Operation *op : layersOf(main, /*withTables=*/false)) {
    if (!integerFault(op, main).empty())
      continue;
    Value input = op->getOperand(0);
    std::optional<WeightMap> map = mapOf(op);
    auto type = cast<RankedTensorType>(input.getType());
    int64_t axis = isa<onnx::ConvOp>(op) ? 1 : type.getRank() - 1;
    if (!map || axis < 0 || axis >= type.getRank() || map->channels() < 2)
      continue;
    EqualizeSite &site = sites[input];
    if (site.layers.empty())
      site = {input, axis, map->channels(), {}};
    if (site.axis == axis && site.channels == map->channels())
      site.layers.push_back(op);
  }
  std::vector<EqualizeSite> found;
  for (auto &[value, site] : sites)
    found.push_back(std::move(site));
  return found;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {
/// What the noise of a layer depends on.
struct LayerNoise {
  WeightMap map;
  std::vector<float> largest;  ///< |w| over taps, [outputs][inputs]
  std::vector<double> squares; ///< of the weights that read a channel
  double before = 0;           ///< without factors

  LayerNoise(Operation *layer, const WeightMap &map)
      : map(map), largest(map.outputs * map.inputs), squares(map.channels()) {
    std::vector<float> weights = *onnx::floatsOf(layer->getOperand(1));
    map.forEach([&](int64_t at, int64_t o, int64_t i) {
      float w = std::fabs(weights[at]);
      float &most = largest[o * map.inputs + i];
      most = std::max(most, w);
      squares[map.groupOf(o) * map.inputs + i] += double(w) * w;
    });
  }
  /// Steps are uniform noise of step^2 / 12, here without the 12: those of the input reach the results through the
  /// weights, those of the weights through the input.
  double of(ArrayRef<ChannelStats> stats, ArrayRef<float> factors) const {
    double low = 0, high = 0, noise = 0;
    for (auto [s, f] : llvm::zip(stats, factors)) {
      low = std::min(low, double(s.range.low) / f);
      high = std::max(high, double(s.range.high) / f);
    }
    double step = (high - low) / 255;
    for (auto [square, f] : llvm::zip(squares, factors))
      noise += square * f * f * step * step;
    std::vector<double> inputs(map.groups); // squares of what an output sums over
    for (int64_t c = 0; c < map.channels(); ++c)
      inputs[c / map.inputs] += stats[c].meanSquare() / (double(factors[c]) * factors[c]) * map.taps;
    for (int64_t o = 0; o < map.outputs; ++o) {
      const float *row = largest.data() + o * map.inputs, *f = factors.data() + map.groupOf(o) * map.inputs;
      float most = 0;
      for (int64_t i = 0; i < map.inputs; ++i)
        most = std::max(most, row[i] * f[i]);
      noise += double(most) * most / (127.0 * 127.0) * inputs[map.groupOf(o)];
    }
    return noise;
  }
};
} // namespace

/// Ranges of channels as parts of the tensor's: by the larger magnitude, or so that the ends stay where they are.
static std::vector<float> partsOf(ArrayRef<ChannelStats> stats, bool keepEnds) {
  Interval all;
  for (const ChannelStats &s : stats)
    all.merge(s.range);
  float magnitude = std::max(all.high, -all.low);
  std::vector<float> parts;
  for (const ChannelStats &s : stats) {
    float low = -s.range.low / (keepEnds ? -all.low : magnitude);
    float high = s.range.high / (keepEnds ? all.high : magnitude);
    parts.push_back(std::max({low > 0 ? low : 0, high > 0 ? high : 0, kLeastPart})); // NaN: that end is 0
  }
  return parts;
}

/// Whether the ops that make a value can take factors of its channels into constants; `scale` does so.
static bool scaleProducer(Value value, int64_t axis, ArrayRef<float> factors, bool scale);

Equalization compress::chooseFactors(const EqualizeSite &site, ArrayRef<ChannelStats> stats) {
  Equalization best;
  size_t count = stats.size();
  std::vector<float> ones(count, 1);
  std::vector<LayerNoise> layers;
  std::vector<float> weights(count);
  for (Operation *op : site.layers) {
    LayerNoise &layer = layers.emplace_back(op, *mapOf(op));
    layer.before = layer.of(stats, ones);
    if (!(layer.before > 0) || !std::isfinite(layer.before))
      return best;
    for (int64_t o = 0; o < layer.map.outputs; ++o)
      for (int64_t i = 0; i < layer.map.inputs; ++i) {
        float &most = weights[layer.map.groupOf(o) * layer.map.inputs + i];
        most = std::max(most, layer.largest[o * layer.map.inputs + i]);
      }
  }
  float heaviest = *llvm::max_element(weights);
  double least = layers.size();
  std::vector<float> found;
  for (bool keepEnds : {false, true}) {
    std::vector<float> parts = partsOf(stats, keepEnds);
    for (float share : {1.0f, 0.75f, 0.5f, 0.25f}) { // of the input; the rest evens out weights
      std::vector<float> factors;
      for (auto [part, weight] : llvm::zip(parts, weights))
        factors.push_back(std::pow(part, share) / std::pow(std::max(weight / heaviest, kLeastPart), 1 - share));
      double noise = 0;
      for (const LayerNoise &layer : layers)
        noise += layer.of(stats, factors) / layer.before;
      if (noise < least) {
        least = noise;
        found = std::move(factors);
      }
    }
  }
  if (found.empty())
    return best;
  best.isFree =
      llvm::all_of(site.value.getUsers(), [&](Operation *user) { return llvm::is_contained(site.layers, user); }) &&
      scaleProducer(site.value, site.axis, found, /*scale=*/false);
  best.decibels = 10 * std::log10(double(layers.size()) / least);
  // A multiplication behind what moves integers would make floats of them.
  Operation *def = site.value.getDefiningOp();
  if (!best.isFree && def && movesElements(def))
    return best;
  if (best.decibels >= (best.isFree ? kWorthFree : kWorthMul))
    best.factors = std::move(found);
  return best;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// A constant, of one element or one per channel along `axis` of the result it is broadcast to, times a factor per
/// channel; null when it is none. Without `b` a constant that is one comes back as it is.
static Value scaled(OpBuilder *b, Value constant, int64_t rank, int64_t axis, ArrayRef<float> factors, bool divide) {
  auto type = constant ? dyn_cast<RankedTensorType>(constant.getType()) : RankedTensorType();
  if (!type || type.getRank() > rank || !onnx::isFloatConstant(constant))
    return {};
  SmallVector<int64_t> shape(rank, 1);
  llvm::copy(type.getShape(), shape.begin() + (rank - type.getRank()));
  int64_t had = shape[axis], count = factors.size();
  if (had != 1 && had != count)
    return {};
  if (!b)
    return constant;
  std::vector<float> values = *onnx::floatsOf(constant), made;
  int64_t inner = 1;
  for (int64_t size : ArrayRef(shape).drop_front(axis + 1))
    inner *= size;
  int64_t outer = type.getNumElements() / (inner * had);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < inner; ++i) {
        float v = values[(o * had + (had == 1 ? 0 : c)) * inner + i];
        made.push_back(divide ? v / factors[c] : v * factors[c]);
      }
  shape[axis] = count;
  // No axes in front that the constant did not have.
  auto kept = ArrayRef<int64_t>(shape).take_back(std::max(type.getRank(), rank - axis));
  return onnx::makeConstant(*b, constant.getLoc(), RankedTensorType::get(kept, type.getElementType()), made);
}

/// The position of the operand that is not constant, when one of two is.
static std::optional<unsigned> dataPosition(Operation *op) {
  bool first = onnx::isFloatConstant(op->getOperand(0)), second = onnx::isFloatConstant(op->getOperand(1));
  return first == second ? std::nullopt : std::optional<unsigned>(first ? 1 : 0);
}

/// Weights and bias of a layer whose results' channels are divided by factors. False when it has others.
static bool scaleLayer(Operation *op, int64_t axis, ArrayRef<float> factors, bool scale) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto weights = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  int64_t results = isa<onnx::ConvOp>(op) ? 1 : type.getRank() - 1;
  if (axis != results || !weights || weights.getRank() < 2 || (isa<onnx::MatMulOp>(op) && weights.getRank() != 2))
    return false;
  OpBuilder b(op);
  int64_t rank = weights.getRank(), channels = layerKind(op)->channelAxis(op, rank);
  if (weights.getDimSize(channels) != int64_t(factors.size()))
    return false;
  Value bias = isa<onnx::MatMulOp>(op) ? Value() : onnx::operand(op, 2);
  auto biasType = bias ? dyn_cast<RankedTensorType>(bias.getType()) : RankedTensorType();
  if (bias && (!biasType || biasType.getRank() < 1))
    return false;
  OpBuilder *builder = scale ? &b : nullptr;
  Value newWeights = scaled(builder, op->getOperand(1), rank, channels, factors, /*divide=*/true);
  Value newBias = bias ? scaled(builder, bias, biasType.getRank(), biasType.getRank() - 1, factors, true) : Value();
  if (!newWeights || (bias && !newBias))
    return false;
  if (scale) {
    op->setOperand(1, newWeights);
    if (bias)
      op->setOperand(2, newBias);
  }
  return true;
}

static bool scaleProducer(Value value, int64_t axis, ArrayRef<float> factors, bool scale) {
  for (bool isFirst = true;; isFirst = false) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!op || !type || (!isFirst && !value.hasOneUse()) || op->getNumResults() != 1 || axis >= type.getRank())
      return false;
    if (isa<onnx::ConvOp, onnx::GemmOp, onnx::MatMulOp>(op))
      return scaleLayer(op, axis, factors, scale);
    // Positive factors go through these.
    bool isWindow = isa<onnx::MaxPoolOp, onnx::AveragePoolOp, onnx::GlobalAveragePoolOp, onnx::GlobalMaxPoolOp>(op);
    if (isa<onnx::ReluOp, onnx::LeakyReluOp, onnx::IdentityOp>(op) || (isWindow && axis == 1)) {
      value = op->getOperand(0);
      continue;
    }
    bool isSum = isa<onnx::AddOp, onnx::SubOp>(op), isProduct = isa<onnx::MulOp, onnx::DivOp>(op);
    std::optional<unsigned> data = isSum || isProduct ? dataPosition(op) : std::nullopt;
    if (!data || (isa<onnx::DivOp>(op) && *data == 1))
      return false;
    OpBuilder b(op);
    // What is broadcast along the channels cannot take a factor of its own.
    auto dataType = dyn_cast<RankedTensorType>(op->getOperand(*data).getType());
    if (!dataType || dataType.getRank() != type.getRank() ||
        (isSum && dataType.getDimSize(axis) != int64_t(factors.size())))
      return false;
    Value constant =
        scaled(scale ? &b : nullptr, op->getOperand(1 - *data), type.getRank(), axis, factors, !isa<onnx::DivOp>(op));
    if (!constant)
      return false;
    if (scale)
      op->setOperand(1 - *data, constant);
    if (isProduct)
      return true;
    value = op->getOperand(*data);
  }
}

void compress::equalize(const EqualizeSite &site, const Equalization &equalization) {
  ArrayRef<float> factors = equalization.factors;
  OpBuilder b(site.layers.front()->getContext());
  Value value = site.value;
  if (equalization.isFree) {
    scaleProducer(value, site.axis, factors, /*scale=*/true);
  } else {
    auto type = cast<RankedTensorType>(value.getType());
    b.setInsertionPointAfterValue(value);
    std::vector<float> inverse;
    for (float f : factors)
      inverse.push_back(1 / f);
    SmallVector<int64_t> shape(type.getRank() - site.axis, 1);
    shape.front() = site.channels;
    Value constant = onnx::makeConstant(b, value.getLoc(), RankedTensorType::get(shape, b.getF32Type()), inverse);
    value = onnx::createOp(b, value.getLoc(), "Mul", {value, constant}, {type})->getResult(0);
  }
  for (Operation *op : site.layers) {
    WeightMap map = *mapOf(op);
    Value old = op->getOperand(1);
    std::vector<float> weights = *onnx::floatsOf(old);
    map.forEach([&](int64_t at, int64_t o, int64_t i) { weights[at] *= factors[map.groupOf(o) * map.inputs + i]; });
    b.setInsertionPoint(op);
    op->setOperand(0, value);
    op->setOperand(1, onnx::makeConstant(b, old.getLoc(), cast<RankedTensorType>(old.getType()), weights));
  }
}

//===----------------------------------------------------------------------===//
// Shifts of the mean
//===----------------------------------------------------------------------===//

/// `bias` less the shifts, in its own shape; null when it does not have one element per channel, at the end.
static Value lessShift(OpBuilder &b, Value bias, ArrayRef<float> shift) {
  std::optional<std::vector<float>> values = onnx::floatsOf(bias);
  auto type = values ? cast<RankedTensorType>(bias.getType()) : RankedTensorType();
  if (!values || values->size() != shift.size() || type.getRank() < 1 ||
      type.getShape().back() != int64_t(shift.size()))
    return {};
  for (auto [v, s] : llvm::zip(*values, shift))
    v -= s;
  return onnx::makeConstant(b, bias.getLoc(), type, *values);
}

static void correct(Operation *op, ArrayRef<float> shift) {
  OpBuilder b(op);
  Value result = op->getResult(0);
  auto zeros = [&] {
    return onnx::makeConstant(b, op->getLoc(), RankedTensorType::get({int64_t(shift.size())}, b.getF32Type()),
                              std::vector<float>(shift.size()));
  };
  if (!isa<onnx::MatMulOp>(op)) {
    Value bias = onnx::operand(op, 2);
    auto beta = op->getAttrOfType<FloatAttr>("beta");
    if (beta && !beta.getValue().isExactlyValue(1.0))
      return;
    Value made = lessShift(b, bias ? bias : zeros(), shift);
    if (made && bias)
      op->setOperand(2, made);
    else if (made)
      op->insertOperands(2, made);
    return;
  }
  // A product has its bias behind it.
  if (Operation *user = result.hasOneUse() ? *result.getUsers().begin() : nullptr; user && isa<onnx::AddOp>(user)) {
    unsigned other = user->getOperand(0) == result ? 1 : 0;
    if (Value made = lessShift(b, user->getOperand(other), shift)) {
      user->setOperand(other, made);
      return;
    }
  }
  b.setInsertionPointAfter(op);
  Operation *sum = onnx::createOp(b, op->getLoc(), "Add", {result, lessShift(b, zeros(), shift)}, {result.getType()});
  result.replaceAllUsesExcept(sum->getResult(0), sum);
  if (std::optional<Interval> range = rangeOf(result))
    setRange(sum->getResult(0), *range);
}

void compress::correctBiases(func::FuncOp main) {
  for (Operation *op : layersOf(main, /*withTables=*/false))
    if (auto shift = op->getAttrOfType<DenseF32ArrayAttr>(kShiftAttr); shift && integerFault(op, main).empty())
      correct(op, shift);
}
