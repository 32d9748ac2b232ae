//===- UpgradeNeural.cpp - rules for layers -------------------------------===//
#include "optc/compiler/import/Upgrade.h"

using namespace optc::import;

namespace {

/// The normalisation with statistics per activation, which opsets up to 8 had, in elementwise operators: the statistics
/// broadcast over the batch.
void batchNormPerActivation(Upgrade &u) {
  if (u.intAttr("spatial", 1) != 0) {
    u.drop("spatial");
    return;
  }
  std::vector<std::string> in = u.node.inputs;
  std::string epsilon = u.floatScalarLike(in[0], u.floatAttr("epsilon", 1e-5f));
  std::string deviation = u.emit("Sqrt", {u.emit("Add", {in[4], epsilon})});
  std::string normal = u.emit("Div", {u.emit("Sub", {in[0], in[3]}), deviation});
  u.node.op = "Add";
  u.node.inputs = {u.emit("Mul", {normal, in[1]}), in[2]};
  u.node.attributes.clear();
  if (u.node.outputs.size() > 1)
    u.problem = "it trains with spatial=0, which has no newer form; export the model for inference";
}

/// More than one output meant training.
void batchNormOutputs(Upgrade &u) {
  u.drop("is_test");
  // The rule before may have replaced it.
  if (u.node.op != "BatchNormalization")
    return;
  for (size_t i = 1; i < u.node.outputs.size(); ++i)
    if (u.node.hasOutput(i)) {
      u.problem = "it has the outputs of training (" + std::to_string(u.node.outputs.size()) +
                  "), whose meaning changed in opset 14; export the model for inference";
      return;
    }
  u.node.outputs.resize(1);
}

void isTest(Upgrade &u) { u.drop("is_test"); }

/// C was broadcast only with the attribute; now always.
void gemmBroadcast(Upgrade &u) { u.drop("broadcast"); }

void integerPower(Upgrade &u) {
  float p = u.floatAttr("p", 2);
  if (p != static_cast<int64_t>(p)) {
    u.problem = "its attribute 'p' is no integer, which newer opsets need";
    return;
  }
  u.set("p", static_cast<int64_t>(p));
  if (u.node.op == "LpPool" && !u.has("kernel_shape"))
    u.problem = "it lacks the attribute 'kernel_shape'";
}

/// Y was only filled with output_sequence; an output that nobody names is not computed anyway.
void recurrentSequence(Upgrade &u) {
  u.drop("output_sequence");
  if (u.stringAttr("direction", "forward") == "foward")
    u.set("direction", "forward");
}

/// Scale and bias were per group; now per channel.
void groupNormChannels(Upgrade &u) {
  int64_t groups = u.intAttr("num_groups", 1);
  auto shape = u.query.shape(u.node.inputs[0]);
  int64_t channels = shape && shape->size() > 1 ? (*shape)[1] : -1;
  if (groups <= 0 || (channels >= 0 && channels % groups != 0)) {
    u.problem = "its num_groups does not divide its channels";
    return;
  }
  std::string target;
  if (channels >= 0) {
    target = u.ints({groups, channels / groups});
  } else {
    std::string count = u.emit("Shape", {u.node.inputs[0]}, {u.make("start", int64_t(1)), u.make("end", int64_t(2))});
    std::string perGroup = u.emit("Div", {count, u.ints({groups})});
    target = u.emit("Concat", {u.ints({groups}), perGroup}, {u.make("axis", int64_t(0))});
  }
  for (size_t i : {1, 2}) {
    std::string column = u.emit("Unsqueeze", {u.node.inputs[i], u.ints({1})});
    u.setInput(i, u.emit("Reshape", {u.emit("Expand", {column, target}), u.ints({-1})}));
  }
}

void roiAlignPositions(Upgrade &u) { u.set("coordinate_transformation_mode", "output_half_pixel"); }

void gridSampleModes(Upgrade &u) {
  std::string mode = u.stringAttr("mode", "bilinear");
  if (mode.size() > 2 && mode.compare(0, 2, "bi") == 0)
    u.set("mode", mode.substr(2));
}

const UpgradeRule rules[] = {
    {"BatchNormalization", 7, isTest},
    {"BatchNormalization", 9, batchNormPerActivation},
    {"BatchNormalization", 14, batchNormOutputs},
    {"Gemm", 7, gemmBroadcast},
    {"GlobalLpPool", 2, integerPower},
    {"LpPool", 2, integerPower},
    {"GRU", 7, recurrentSequence},
    {"LSTM", 7, recurrentSequence},
    {"RNN", 7, recurrentSequence},
    {"GroupNormalization", 21, groupNormChannels},
    {"RoiAlign", 16, roiAlignPositions},
    {"GridSample", 20, gridSampleModes},
};

//===----------------------------------------------------------------------===//
// ai.onnx.ml
//===----------------------------------------------------------------------===//

/// Version 1 numbered its classes: strings to indices and back.
void labelEncoderKeys(Upgrade &u) {
  const optc_onnx::AttributeProto *classes = u.node.attribute("classes_strings");
  std::vector<std::string> strings;
  std::vector<int64_t> numbers;
  for (int i = 0; classes && i < classes->strings_size(); ++i) {
    strings.push_back(classes->strings(i));
    numbers.push_back(i);
  }
  u.drop("classes_strings");
  bool fromStrings = u.query.elementType(u.node.inputs[0]) == optc_onnx::TensorProto::STRING;
  u.node.attributes[fromStrings ? "keys_strings" : "values_strings"] =
      u.make(fromStrings ? "keys_strings" : "values_strings", llvm::ArrayRef<std::string>(strings));
  u.set(fromStrings ? "values_int64s" : "keys_int64s", numbers);
}

const UpgradeRule mlRules[] = {
    {"LabelEncoder", 2, labelEncoderKeys},
};

} // namespace

llvm::ArrayRef<UpgradeRule> optc::import::neuralRules() { return rules; }
llvm::ArrayRef<UpgradeRule> optc::import::traditionalRules() { return mlRules; }
