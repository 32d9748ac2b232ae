//===- UpgradeShapes.cpp - rules for reductions and data movement ---------===//
#include "optc/compiler/import/Upgrade.h"
#include "llvm/ADT/STLExtras.h"

using namespace optc::import;
using optc_onnx::AttributeProto;
using optc_onnx::GraphProto;
using optc_onnx::NodeProto;
using optc_onnx::TensorProto;

namespace {

/// A rule that is not tied to a version of the operator.
constexpr int always = 1000;

/// An attribute of integers became the input at a position.
template <int Position> void intsToInput(Upgrade &u, const char *attr) {
  auto values = u.intsAttr(attr);
  u.drop(attr);
  if (values)
    u.setInput(Position, u.ints(*values));
}

void axesToInput(Upgrade &u) {
  // No axes at all meant all of them, which an absent input means too.
  if (auto axes = u.intsAttr("axes"); axes && axes->empty())
    u.drop("axes");
  intsToInput<1>(u, "axes");
}

void padRenamed(Upgrade &u) {
  if (auto pads = u.intsAttr("paddings"))
    u.set("pads", *pads);
  u.drop("paddings");
}

void padToInputs(Upgrade &u) {
  float value = u.floatAttr("value", 0);
  intsToInput<1>(u, "pads");
  u.drop("value");
  if (value != 0 && u.stringAttr("mode", "constant") == "constant")
    u.setInput(2, u.floatScalarLike(u.node.inputs[0], value));
}

void sliceToInputs(Upgrade &u) {
  intsToInput<1>(u, "starts");
  intsToInput<2>(u, "ends");
  intsToInput<3>(u, "axes");
}

/// Opset 1 took the sizes as attribute or as input; both forms still exist, at other versions.
void splitAxis(Upgrade &u) {
  if (!u.has("axis"))
    u.set("axis", int64_t(0));
}

void splitToInput(Upgrade &u) { intsToInput<1>(u, "split"); }

void splitCount(Upgrade &u) {
  if (!u.node.hasInput(1) && !u.has("num_outputs"))
    u.set("num_outputs", static_cast<int64_t>(u.node.outputs.size()));
}

void topK(Upgrade &u) {
  int64_t k = u.intAttr("k", 1);
  u.drop("k");
  u.setInput(1, u.ints({k}));
}

void reshapeToInput(Upgrade &u) {
  if (!u.has("shape"))
    u.problem = "it lacks its attribute 'shape'";
  intsToInput<1>(u, "shape");
}

void concatAxis(Upgrade &u) {
  if (!u.has("axis"))
    u.set("axis", int64_t(1));
}

/// Opset 1 repeated one axis.
void tileOneAxis(Upgrade &u) {
  auto rank = u.query.rank(u.node.inputs[0]);
  // They have the type of the data, so they are floats as a rule.
  auto numbers = [&](const std::string &value) {
    auto ints = u.query.constant(value);
    auto floats = u.query.constantFloats(value);
    if (!floats || floats->size() != 1 || !((*floats)[0] >= 0 && (*floats)[0] < 1e9f))
      return ints;
    return std::optional(std::vector<int64_t>{static_cast<int64_t>((*floats)[0])});
  };
  auto count = numbers(u.node.inputs[1]), axis = numbers(u.node.inputs[2]);
  if (!rank || !count || !axis || count->size() != 1 || axis->size() != 1 || (*axis)[0] < 0 || (*axis)[0] >= *rank) {
    u.problem = "in opset 1 its tiles and axis have to be constants and its input of known rank; export the model with "
                "opset 6 or newer";
    return;
  }
  std::vector<int64_t> repeats(*rank, 1);
  repeats[(*axis)[0]] = (*count)[0];
  u.node.inputs = {u.node.inputs[0], u.ints(repeats)};
}

/// Before opset 13, Softmax and its kin worked on the input flattened to two dimensions at `axis`.
void flattening(Upgrade &u) {
  int64_t axis = u.intAttr("axis", 1);
  u.set("axis", int64_t(-1));
  auto rank = u.query.rank(u.node.inputs[0]);
  if (rank && *rank > 0 && (axis == *rank - 1 || axis == -1))
    return;
  std::string x = u.node.inputs[0];
  u.setInput(0, u.emit("Flatten", {x}, {u.make("axis", axis)}));
  std::string shape = u.emit("Shape", {x});
  if (!u.node.hasOutput(0))
    return;
  std::string y = u.replaceOutput(0);
  // Sizes of zero have to stay: they do not mean "as the input".
  u.emitAfter("Reshape", {u.node.outputs[0], shape}, y, {u.make("allowzero", int64_t(1))});
}

void scatterRenamed(Upgrade &u) { u.node.op = "ScatterElements"; }

/// The axis became an input; its default changed from 1 to -2.
void dftAxis(Upgrade &u) {
  int64_t axis = u.intAttr("axis", 1);
  u.drop("axis");
  u.setInput(2, u.intScalar(axis));
}

//===----------------------------------------------------------------------===//
// Resize and Upsample
//===----------------------------------------------------------------------===//

void upsampleScales(Upgrade &u) {
  float values[] = {1, 1, u.floatAttr("height_scale", 1), u.floatAttr("width_scale", 1)};
  u.drop("height_scale");
  u.drop("width_scale");
  AttributeProto &a = u.newAttribute("scales");
  a.set_type(AttributeProto::FLOATS);
  a.mutable_floats()->Add(std::begin(values), std::end(values));
  u.node.attributes["scales"] = &a;
  if (u.stringAttr("mode", "nearest") == "bilinear")
    u.set("mode", "linear");
}

void upsampleToInput(Upgrade &u) {
  auto scales = u.floatsAttr("scales");
  u.drop("scales");
  if (!scales)
    return;
  u.setInput(1, u.floats(*scales));
}

/// Positions of Upsample and of Resize before opset 11 are x / scale. The nearest element was the one below when
/// growing, and the one above when shrinking.
void asymmetric(Upgrade &u, const std::string &scales) {
  u.set("coordinate_transformation_mode", "asymmetric");
  if (u.stringAttr("mode", "nearest") != "nearest")
    return;
  bool grows = false, shrinks = false;
  if (auto values = u.query.constantFloats(scales))
    for (float v : *values) {
      grows |= v > 1;
      shrinks |= v < 1;
    }
  if (grows && shrinks) {
    u.problem = "it both grows and shrinks with mode 'nearest', which rounds in two ways before opset 11; export the "
                "model with opset 11 or newer";
    return;
  }
  u.set("nearest_mode", shrinks ? "ceil" : "floor");
}

void upsampleToResize(Upgrade &u) {
  u.node.op = "Resize";
  std::string scales = u.node.inputs[1];
  asymmetric(u, scales);
  if (u.stringAttr("mode", "nearest") == "bilinear")
    u.set("mode", "linear");
  u.node.inputs = {u.node.inputs[0], "", scales};
}

void resizeScales(Upgrade &u) {
  std::string scales = u.node.inputs[1];
  asymmetric(u, scales);
  u.node.inputs = {u.node.inputs[0], "", scales};
}

/// Exporters pass empty tensors for what is absent.
void resizeAbsent(Upgrade &u) {
  for (size_t i = 1; i < u.node.inputs.size(); ++i)
    if (auto shape = u.query.shape(u.node.inputs[i]); shape && shape->size() == 1 && shape->front() == 0)
      u.node.inputs[i] = "";
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// In opset 8, Scan had a batch axis in front of everything: now a Scan over the batch around a Scan over the sequence.
void scanBatch(Upgrade &u) {
  if (u.node.hasInput(0)) {
    u.problem = "sequence_lens of opset 8 has no newer form; export the model with opset 9 or newer";
    return;
  }
  const AttributeProto *body = u.node.attribute("body");
  auto directions = u.intsAttr("directions");
  int64_t scans = u.intAttr("num_scan_inputs", 0);
  if (u.node.inputs.size() <= 1)
    return;
  u.node.inputs.erase(u.node.inputs.begin());
  AttributeProto &outer = u.newAttribute("body");
  outer.set_type(AttributeProto::GRAPH);
  GraphProto &graph = *outer.mutable_g();
  NodeProto &inner = *graph.add_node();
  inner.set_op_type("Scan");
  inner.set_name(u.node.name);
  inner.set_overload(newestForm);
  for (size_t i = 0; i < u.node.inputs.size(); ++i) {
    std::string name = u.query.freshName();
    graph.add_input()->set_name(name);
    inner.add_input(name);
  }
  for (int i = 0, e = body->g().output_size(); i < e; ++i) {
    std::string name = u.query.freshName();
    graph.add_output()->set_name(name);
    inner.add_output(name);
  }
  *inner.add_attribute() = *body;
  *inner.add_attribute() = *u.make("num_scan_inputs", scans);
  if (directions)
    *inner.add_attribute() = *u.make("scan_input_directions", *directions);
  u.drop("directions");
  u.node.attributes["body"] = &outer;
  u.set("num_scan_inputs", static_cast<int64_t>(u.node.inputs.size()));
}

const UpgradeRule rules[] = {
    {"Squeeze", 13, axesToInput},
    {"Unsqueeze", 13, [](Upgrade &u) { intsToInput<1>(u, "axes"); }},
    {"ReduceSum", 13, axesToInput},
    {"ReduceL1", 18, axesToInput},
    {"ReduceL2", 18, axesToInput},
    {"ReduceLogSum", 18, axesToInput},
    {"ReduceLogSumExp", 18, axesToInput},
    {"ReduceMax", 18, axesToInput},
    {"ReduceMean", 18, axesToInput},
    {"ReduceMin", 18, axesToInput},
    {"ReduceProd", 18, axesToInput},
    {"ReduceSumSquare", 18, axesToInput},
    {"Pad", 2, padRenamed},
    {"Pad", 11, padToInputs},
    {"Slice", 10, sliceToInputs},
    {"Split", 2, splitAxis},
    {"Split", 13, splitToInput},
    {"Split", 18, splitCount},
    {"TopK", 10, topK},
    {"Reshape", 5, reshapeToInput},
    {"Concat", 4, concatAxis},
    {"Tile", 6, tileOneAxis},
    {"Softmax", 13, flattening},
    {"LogSoftmax", 13, flattening},
    {"Hardmax", 13, flattening},
    {"Scatter", always, scatterRenamed},
    {"DFT", 20, dftAxis},
    {"Upsample", 7, upsampleScales},
    {"Upsample", 9, upsampleToInput},
    {"Upsample", always, upsampleToResize},
    {"Resize", 11, resizeScales},
    {"Resize", always, resizeAbsent},
    {"Scan", 9, scanBatch},
};

} // namespace

llvm::ArrayRef<UpgradeRule> optc::import::shapeRules() { return rules; }
