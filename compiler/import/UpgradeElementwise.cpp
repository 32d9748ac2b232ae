//===- UpgradeElementwise.cpp - rules for elementwise operators -----------===//
#include "optc/compiler/import/Upgrade.h"

using namespace optc::import;
using optc_onnx::TensorProto;

namespace {

/// Before opset 7, B was broadcast only with `broadcast`, and its axes could be aligned to A's from `axis` on. Newer
/// broadcasting aligns the last axes: axes of size 1 are appended to B.
void alignedBroadcast(Upgrade &u) {
  int64_t broadcast = u.intAttr("broadcast", 0);
  bool hasAxis = u.has("axis");
  int64_t axis = u.intAttr("axis", 0);
  u.drop("broadcast");
  u.drop("axis");
  if (!broadcast || !hasAxis)
    return;
  auto rankA = u.query.rank(u.node.inputs[0]), rankB = u.query.rank(u.node.inputs[1]);
  if (!rankA || !rankB) {
    u.problem = "its attribute 'axis' aligns values of unknown rank; export the model with opset 7 or newer";
    return;
  }
  if (axis < 0)
    axis += *rankA;
  int64_t missing = *rankA - axis - *rankB;
  if (missing < 0 || axis < 0) {
    u.problem = "its attribute 'axis' does not fit the ranks " + std::to_string(*rankA) + " and " +
                std::to_string(*rankB) + " of its inputs";
    return;
  }
  if (missing == 0)
    return;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i)
    axes.push_back(*rankB + i);
  u.setInput(1, u.emit("Unsqueeze", {u.node.inputs[1], u.ints(axes)}));
}

/// Before opset 7, the slope of PRelu had one element or one per channel. Newer slopes broadcast to the last axes.
void channelSlope(Upgrade &u) {
  auto x = u.query.rank(u.node.inputs[0]);
  auto slope = u.query.shape(u.node.inputs[1]);
  if (slope && (slope->empty() || (slope->size() == 1 && slope->front() == 1)))
    return;
  if (!x || !slope) {
    u.problem = "its slope is meant per channel, but the rank of its input is unknown; export the model with opset 7 "
                "or newer";
    return;
  }
  if (slope->size() != 1 || *x <= 2)
    return;
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < *x - 1; ++i)
    axes.push_back(i);
  u.setInput(1, u.emit("Unsqueeze", {u.node.inputs[1], u.ints(axes)}));
}

/// Before opset 6, types were named by strings.
void namedType(Upgrade &u) {
  std::string name = u.stringAttr("to", "");
  for (char &c : name)
    c = toupper(c);
  TensorProto::DataType type;
  if (!TensorProto::DataType_Parse(name, &type) || type == TensorProto::UNDEFINED) {
    u.problem = "its attribute 'to' names no type of ONNX";
    return;
  }
  u.set("to", static_cast<int64_t>(type));
}

/// Bounds as attributes; an absent one did not bound in opset 1, and was the largest float in opset 6, which bounds
/// infinities.
void clipBounds(Upgrade &u) {
  const char *names[] = {"min", "max"};
  std::vector<std::string> inputs = {u.node.inputs[0]};
  for (int i = 0; i < 2; ++i) {
    float otherwise = i ? 3.402823466e+38f : -3.402823466e+38f;
    bool bounds = u.has(names[i]) || u.opset >= 6;
    float value = u.floatAttr(names[i], otherwise);
    // The largest float is beyond the range of half precision, where it is infinite: no bound.
    int type = u.query.elementType(u.node.inputs[0]);
    if (bounds && type == TensorProto::FLOAT16 && (value > 65504.f || value < -65504.f))
      bounds = value > 65504.f ? i == 0 : i == 1;
    inputs.push_back(bounds ? u.floatScalarLike(u.node.inputs[0], value) : "");
    u.drop(names[i]);
  }
  u.node.inputs = inputs;
}

/// Until opset 5 the constants of Selu were rounded in the fifth digit.
void seluConstants(Upgrade &u) {
  if (!u.has("alpha"))
    u.set("alpha", 1.6732f);
  if (!u.has("gamma"))
    u.set("gamma", 1.0507f);
}

/// The ratio moved to an input; a Dropout outside of training is the identity, with a mask of ones.
void dropoutInference(Upgrade &u) {
  bool training = u.opset < 7 && u.has("is_test") && u.intAttr("is_test", 0) == 0;
  float ratio = u.floatAttr("ratio", 0.5f);
  // is_test defaults to 0 in the text of opsets 1 and 6, but exporters of that age left it out for inference, and
  // every engine reads it so.
  u.drop("is_test");
  u.drop("ratio");
  if (training) {
    u.setInput(1, u.floatScalarLike(u.node.inputs[0], ratio));
    TensorProto t;
    t.set_data_type(TensorProto::BOOL);
    t.add_int32_data(1);
    u.setInput(2, u.constant(t));
  }
  // Before opset 10, the mask had the type of the data.
  if (u.opset < 10 && u.node.hasOutput(1)) {
    std::string mask = u.replaceOutput(1);
    u.emitAfter("CastLike", {u.node.outputs[1], u.node.inputs[0]}, mask);
  }
}

const UpgradeRule rules[] = {
    {"Add", 7, alignedBroadcast},   {"Sub", 7, alignedBroadcast},
    {"Mul", 7, alignedBroadcast},   {"Div", 7, alignedBroadcast},
    {"Pow", 7, alignedBroadcast},   {"And", 7, alignedBroadcast},
    {"Or", 7, alignedBroadcast},    {"Xor", 7, alignedBroadcast},
    {"Equal", 7, alignedBroadcast}, {"Greater", 7, alignedBroadcast},
    {"Less", 7, alignedBroadcast},  {"PRelu", 7, channelSlope},
    {"Cast", 6, namedType},         {"Clip", 11, clipBounds},
    {"Selu", 6, seluConstants},     {"Dropout", 12, dropoutInference},
};

} // namespace

llvm::ArrayRef<UpgradeRule> optc::import::elementwiseRules() { return rules; }
