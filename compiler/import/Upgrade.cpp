//===- Upgrade.cpp - from old opsets to the newest form -------------------===//
#include "optc/compiler/import/Upgrade.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;
using namespace optc::import;
using optc_onnx::AttributeProto;
using optc_onnx::TensorProto;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int64_t Upgrade::intAttr(const std::string &name, int64_t otherwise) const {
  const AttributeProto *a = node.attribute(name);
  return a ? a->i() : otherwise;
}

float Upgrade::floatAttr(const std::string &name, float otherwise) const {
  const AttributeProto *a = node.attribute(name);
  return a ? a->f() : otherwise;
}

std::string Upgrade::stringAttr(const std::string &name, const std::string &otherwise) const {
  const AttributeProto *a = node.attribute(name);
  return a ? a->s() : otherwise;
}

std::optional<std::vector<int64_t>> Upgrade::intsAttr(const std::string &name) const {
  const AttributeProto *a = node.attribute(name);
  return a ? std::optional(std::vector<int64_t>(a->ints().begin(), a->ints().end())) : std::nullopt;
}

std::optional<std::vector<float>> Upgrade::floatsAttr(const std::string &name) const {
  const AttributeProto *a = node.attribute(name);
  return a ? std::optional(std::vector<float>(a->floats().begin(), a->floats().end())) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

AttributeProto &Upgrade::newAttribute(const std::string &name) {
  AttributeProto &a = arena.emplace_back();
  a.set_name(name);
  return a;
}

const AttributeProto *Upgrade::make(const std::string &name, int64_t value) {
  AttributeProto &a = newAttribute(name);
  a.set_type(AttributeProto::INT);
  a.set_i(value);
  return &a;
}

const AttributeProto *Upgrade::make(const std::string &name, float value) {
  AttributeProto &a = newAttribute(name);
  a.set_type(AttributeProto::FLOAT);
  a.set_f(value);
  return &a;
}

const AttributeProto *Upgrade::make(const std::string &name, const std::string &value) {
  AttributeProto &a = newAttribute(name);
  a.set_type(AttributeProto::STRING);
  a.set_s(value);
  return &a;
}

const AttributeProto *Upgrade::make(const std::string &name, ArrayRef<int64_t> value) {
  AttributeProto &a = newAttribute(name);
  a.set_type(AttributeProto::INTS);
  a.mutable_ints()->Add(value.begin(), value.end());
  return &a;
}

const AttributeProto *Upgrade::make(const std::string &name, ArrayRef<std::string> value) {
  AttributeProto &a = newAttribute(name);
  a.set_type(AttributeProto::STRINGS);
  for (const std::string &s : value)
    a.add_strings(s);
  return &a;
}

std::string Upgrade::constant(TensorProto tensor) {
  AttributeProto &a = newAttribute("value");
  a.set_type(AttributeProto::TENSOR);
  *a.mutable_t() = std::move(tensor);
  return emit("Constant", {}, {&a});
}

std::string Upgrade::ints(ArrayRef<int64_t> values) {
  TensorProto t;
  t.set_data_type(TensorProto::INT64);
  t.add_dims(values.size());
  t.mutable_int64_data()->Add(values.begin(), values.end());
  return constant(std::move(t));
}

std::string Upgrade::intScalar(int64_t value, int elementType) {
  TensorProto t;
  t.set_data_type(elementType);
  if (elementType == TensorProto::INT64)
    t.add_int64_data(value);
  else
    t.add_int32_data(value);
  return constant(std::move(t));
}

std::string Upgrade::floats(ArrayRef<float> values) {
  TensorProto t;
  t.set_data_type(TensorProto::FLOAT);
  t.add_dims(values.size());
  t.mutable_float_data()->Add(values.begin(), values.end());
  return constant(std::move(t));
}

std::string Upgrade::floatScalarLike(const std::string &like, float value) {
  int type = query.elementType(like);
  TensorProto t;
  t.set_data_type(type);
  auto bits = [&](const fltSemantics &semantics) {
    APFloat f(value);
    bool lost;
    f.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
    return f.bitcastToAPInt().getZExtValue();
  };
  switch (type) {
  case TensorProto::FLOAT16:
    t.add_int32_data(bits(APFloat::IEEEhalf()));
    break;
  case TensorProto::BFLOAT16:
    t.add_int32_data(bits(APFloat::BFloat()));
    break;
  case TensorProto::DOUBLE:
    t.add_double_data(value);
    break;
  case TensorProto::FLOAT:
    t.add_float_data(value);
    break;
  default: {
    // Not a float, or not known: convert at run time.
    TensorProto f;
    f.set_data_type(TensorProto::FLOAT);
    f.add_float_data(value);
    return emit("CastLike", {constant(std::move(f)), like});
  }
  }
  return constant(std::move(t));
}

static Node helper(const std::string &op, std::vector<std::string> inputs, std::string output,
                   const std::vector<const AttributeProto *> &attributes) {
  Node n;
  n.op = op;
  n.inputs = std::move(inputs);
  n.outputs = {std::move(output)};
  for (const AttributeProto *a : attributes)
    n.attributes[a->name()] = a;
  return n;
}

std::string Upgrade::emit(const std::string &op, std::vector<std::string> inputs,
                          std::vector<const AttributeProto *> attributes) {
  std::string output = query.freshName();
  before.push_back(helper(op, std::move(inputs), output, attributes));
  return output;
}

void Upgrade::emitAfter(const std::string &op, std::vector<std::string> inputs, std::string output,
                        std::vector<const AttributeProto *> attributes) {
  after.insert(after.begin(), helper(op, std::move(inputs), std::move(output), attributes));
}

std::string Upgrade::replaceOutput(size_t i) {
  std::string old = node.outputs[i];
  node.outputs[i] = query.freshName();
  return old;
}

void Upgrade::setInput(size_t i, std::string value) {
  if (node.inputs.size() <= i)
    node.inputs.resize(i + 1);
  node.inputs[i] = std::move(value);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

int optc::import::unchangedSince(const std::string &domain, const std::string &op) {
  int opset = 1;
  for (ArrayRef<UpgradeRule> table : {elementwiseRules(), shapeRules(), neuralRules(), traditionalRules()})
    if ((domain == "ai.onnx.ml") == (table.data() == traditionalRules().data()))
      for (const UpgradeRule &rule : table)
        if (op == rule.op)
          opset = std::max(opset, rule.version);
  return opset;
}

bool optc::import::upgrade(Upgrade &u) {
  // Gone since opset 6, without a meaning for a compiler.
  if (u.opset < 6)
    u.drop("consumed_inputs");
  // Rules may change the operator; those that are left then apply to the new one.
  int applied = 0;
  for (bool changed = true; changed && u.problem.empty();) {
    changed = false;
    const UpgradeRule *next = nullptr;
    ArrayRef<UpgradeRule> tables[] = {elementwiseRules(), shapeRules(), neuralRules(), traditionalRules()};
    bool isMl = u.node.domain == "ai.onnx.ml";
    for (ArrayRef<UpgradeRule> table : tables) {
      if (isMl != (table.data() == traditionalRules().data()))
        continue;
      for (const UpgradeRule &rule : table)
        if (u.node.op == rule.op && rule.version > std::max(u.opset, applied) &&
            (!next || rule.version < next->version))
          next = &rule;
    }
    if (next) {
      next->apply(u);
      applied = next->version;
      changed = true;
    }
  }
  return u.problem.empty();
}
