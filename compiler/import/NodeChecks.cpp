//===- NodeChecks.cpp - is this a node of its opset? ----------------------===//
#include "optc/compiler/import/Importer.h"
#include "optc/compiler/import/Text.h"
#include "optc/dialects/onnx/Custom.h"
#include "optc/dialects/onnx/Types.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using onnx::AttrKind;
using onnx::OpInfo;
using onnx::ValueInfo;
using optc_onnx::AttributeProto;

static std::string domainName(StringRef domain) { return quoted(domain.empty() ? "ai.onnx" : domain); }

/// Says why an operator is not known, and what is near.
void Importer::unknownOperator(const Node &node, int64_t opset, const std::string &where) {
  std::vector<int> versions = schemas.versions(node.domain, node.op);
  if (!versions.empty() && versions.front() > opset) {
    problems.add(where + ": " + quoted(node.op) + " of the domain " + domainName(node.domain) + " exists since opset " +
                 Twine(versions.front()) + ", but the model uses opset " + Twine(opset) +
                 "; export it with a newer opset.");
    return;
  }
  std::vector<std::string> names = schemas.names(node.domain);
  std::vector<StringRef> near(names.begin(), names.end());
  std::string elsewhere;
  for (const OpInfo &info : onnx::allOps()) {
    if (info.domain == node.domain)
      near.push_back(info.name);
    else if (info.name == node.op)
      elsewhere = "; an operator of this name is in the domain " + domainName(info.domain);
  }
  for (const OpInfo *info : onnx::customInfos()) {
    if (info->domain == node.domain)
      near.push_back(info->name);
    else if (info->name == node.op)
      elsewhere = "; a plugin has an operator of this name in the domain " + domainName(info->domain);
  }
  bool knownDomain = !near.empty();
  for (const auto &entry : functions)
    near.push_back(entry.second->name());
  if (!knownDomain)
    problems.add(where + ": optc knows no operators of the domain " + domainName(node.domain) +
                 ", so it cannot import " + quoted(node.op) + elsewhere +
                 "; replace it, give the model a function of that name and domain, or load a plugin that has it "
                 "(--plugin).");
  else
    problems.add(where + ": " + quoted(node.op) + " is not an operator of the domain " + domainName(node.domain) +
                 didYouMean(node.op, near) + elsewhere + "; replace it, or give the model a function of that name.");
}

/// Sentences about the numbers of inputs and outputs, the same for all domains.
static void checkCounts(const Node &node, int minInputs, int maxInputs, int minOutputs, int maxOutputs,
                        const std::string &where, Problems &problems) {
  auto check = [&](const char *what, int count, int least, int most) {
    if (count >= least && count <= most)
      return;
    std::string range = least == most   ? std::to_string(least)
                        : count < least ? "at least " + std::to_string(least)
                                        : "at most " + std::to_string(most);
    problems.add(where + " has " + Twine(count) + " " + what + " where its operator takes " + range + ".");
  };
  check("inputs", node.inputs.size(), minInputs, maxInputs);
  check("outputs", node.outputs.size(), minOutputs, maxOutputs);
}

bool Importer::check(const Node &node, int64_t opset, const std::string &where) {
  size_t before = problems.count();
  if (opset < 1) {
    problems.add(where + " is of the domain " + domainName(node.domain) +
                 ", for which the model has no opset_import; add one.");
    return false;
  }
  const Schema *schema = schemas.find(node.domain, node.op, std::min<int64_t>(opset, schemas.newest(node.domain)));
  if (!schema) {
    // The dialect may know more than the schemas.
    unknownOperator(node, opset, where);
    return false;
  }
  if (schema->deprecated && !onnx::lookupOp(node.domain, node.op) && node.op != "Upsample" && node.op != "Scatter") {
    problems.add(where + " is removed from ONNX since opset " + Twine(schema->since) + "; export the model again.");
    return false;
  }
  // Deprecated operators have schemas without inputs; they mean what they meant before.
  if (schema->deprecated) {
    for (int older : llvm::reverse(schemas.versions(node.domain, node.op)))
      if (const Schema *s = schemas.find(node.domain, node.op, older); s && !s->deprecated) {
        schema = s;
        break;
      }
  }
  checkCounts(node, schema->minInputs, schema->maxInputs, schema->minOutputs, schema->maxOutputs, where, problems);
  for (auto [i, input] : llvm::enumerate(schema->inputs))
    if (input.required && i < node.inputs.size() && node.inputs[i].empty())
      problems.add(where + " lacks its input " + Twine(i) + ", " + quoted(input.name) + ".");
  std::vector<StringRef> names;
  for (const Schema::Attribute &a : schema->attributes) {
    names.push_back(a.name);
    if (a.required && !node.attribute(a.name))
      problems.add(where + " lacks the attribute " + quoted(a.name) + ", " + kindName(a.type) + ".");
  }
  for (const auto &[name, proto] : node.attributes) {
    const Schema::Attribute *a = schema->attribute(name);
    if (!a) {
      std::string later;
      for (int version : schemas.versions(node.domain, node.op))
        if (version > schema->since && later.empty())
          if (const Schema *s = schemas.find(node.domain, node.op, version); s->attribute(name))
            later = "; it exists since opset " + std::to_string(version);
      problems.add(where + " has the attribute " + quoted(name) + ", which " + node.op + " of version " +
                   Twine(schema->since) + " does not have" + didYouMean(name, names) + later + ".");
    } else if (kindOf(*proto) != a->type && !(kindOf(*proto) == AttributeProto::UNDEFINED)) {
      problems.add(where + ": attribute " + quoted(name) + " is " + kindName(kindOf(*proto)) + " where " +
                   kindName(a->type) + " is needed.");
    }
  }
  return problems.count() == before;
}

/// The kinds of OpTable.h as ONNX numbers them.
static optc_onnx::AttributeProto_AttributeType protoKind(AttrKind kind) {
  switch (kind) {
  case AttrKind::Int:
    return AttributeProto::INT;
  case AttrKind::Float:
    return AttributeProto::FLOAT;
  case AttrKind::String:
    return AttributeProto::STRING;
  case AttrKind::Ints:
    return AttributeProto::INTS;
  case AttrKind::Floats:
    return AttributeProto::FLOATS;
  case AttrKind::Strings:
    return AttributeProto::STRINGS;
  case AttrKind::Tensor:
    return AttributeProto::TENSOR;
  case AttrKind::SparseTensor:
    return AttributeProto::SPARSE_TENSOR;
  case AttrKind::Graph:
    return AttributeProto::GRAPH;
  case AttrKind::Type:
    return AttributeProto::TYPE_PROTO;
  }
  return AttributeProto::UNDEFINED;
}

bool Importer::checkContrib(const Node &node, int64_t opset, const std::string &where) {
  size_t before = problems.count();
  const OpInfo *info = onnx::lookupOp(node.domain, node.op);
  if (!info) {
    unknownOperator(node, 0, where);
    return false;
  }
  if (onnx::customOperator(info->mlirName) && opset < info->sinceVersion)
    problems.add(where + ": " + quoted(node.op) + " of the domain " + domainName(node.domain) +
                 " exists since version " + Twine(info->sinceVersion) + ", but the model imports " +
                 (opset ? "version " + std::to_string(opset) : std::string("none")) + "; correct its opset_import.");
  auto bounds = [](ArrayRef<ValueInfo> formal, int &least, int &most) {
    least = most = 0;
    for (auto [i, v] : llvm::enumerate(formal)) {
      if (v.variadic()) {
        least = std::max<int>(least, i + v.minArity);
        most = INT_MAX;
      } else {
        most = i + 1;
        if (!v.optional())
          least = i + 1;
      }
    }
  };
  int minInputs, maxInputs, minOutputs, maxOutputs;
  bounds(info->inputs, minInputs, maxInputs);
  bounds(info->outputs, minOutputs, maxOutputs);
  checkCounts(node, minInputs, maxInputs, minOutputs, maxOutputs, where, problems);
  for (auto [i, input] : llvm::enumerate(info->inputs))
    if (input.arity == onnx::Arity::Single && i < node.inputs.size() && node.inputs[i].empty())
      problems.add(where + " lacks its input " + Twine(i) + ", " + quoted(input.name) + ".");
  std::vector<StringRef> names;
  for (const onnx::AttrInfo &a : info->attributes) {
    names.push_back(a.name);
    if (a.required && !node.attribute(a.name.str()))
      problems.add(where + " lacks the attribute " + quoted(a.name) + ", " + kindName(protoKind(a.kind)) + ".");
  }
  for (const auto &[name, proto] : node.attributes) {
    const onnx::AttrInfo *a = info->attribute(name);
    if (!a)
      problems.add(where + " has the attribute " + quoted(name) + ", which optc does not support for " + node.op +
                   didYouMean(name, names) + ".");
    else if (import::kindOf(*proto) != protoKind(a->kind))
      problems.add(where + ": attribute " + quoted(name) + " is " + kindName(import::kindOf(*proto)) + " where " +
                   kindName(protoKind(a->kind)) + " is needed.");
  }
  return problems.count() == before;
}

//===----------------------------------------------------------------------===//
// Types of inputs
//===----------------------------------------------------------------------===//

std::string optc::import::typeName(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type)) {
    std::string out = "tensor(" + onnx::dataTypeName(tensor.getElementType()).str();
    if (tensor.hasRank()) {
      out += ", [";
      for (auto [i, d] : llvm::enumerate(tensor.getShape()))
        out += (i ? "," : "") + (ShapedType::isDynamic(d) ? std::string("?") : std::to_string(d));
      out += "]";
    }
    return out + ")";
  }
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return "seq(" + typeName(seq.getElementType()) + ")";
  if (auto opt = dyn_cast<onnx::OptType>(type))
    return "optional(" + typeName(opt.getElementType()) + ")";
  if (auto map = dyn_cast<onnx::MapType>(type))
    return "map(" + onnx::dataTypeName(map.getKeyType()).str() + ", " + typeName(map.getValueType()) + ")";
  return "an unknown type";
}

std::string optc::import::typeNames(MLIRContext &ctx, uint64_t mask) {
  std::vector<std::string> names;
  for (int number = 1; number < 48; ++number)
    if (mask >> number & 1)
      if (Type t = onnx::elementTypeOf(&ctx, number))
        names.push_back(onnx::dataTypeName(t).str());
  const std::pair<uint64_t, const char *> others[] = {{onnx::MaskSeq, "sequences"},
                                                      {onnx::MaskOpt, "optional tensors"},
                                                      {onnx::MaskOptSeq, "optional sequences"},
                                                      {onnx::MaskMap, "maps"},
                                                      {onnx::MaskSeqMap, "sequences of maps"}};
  for (auto [bit, name] : others)
    if (mask & bit)
      names.push_back(name);
  return listed(names);
}

/// Whether two types are equal but for shapes.
static bool sameKind(Type a, Type b) { return joinTypes(a, b) != nullptr; }

bool Importer::checkTypes(const Node &node, const OpInfo &info, ArrayRef<Value> operands, const std::string &where) {
  bool good = true;
  std::map<int, std::pair<Type, StringRef>> variables;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand)
      continue;
    size_t position = std::min(i, info.inputs.size() - 1);
    if (info.inputs.empty() || (i >= info.inputs.size() && !info.inputs.back().variadic())) {
      problems.add(where + " has more inputs than its operator takes.");
      return false;
    }
    const ValueInfo &formal = info.inputs[position];
    Type type = operand.getType();
    std::string input = "input " + std::to_string(i) + ", " + quoted(formal.name) + ",";
    if (!onnx::allowed(type, formal.types)) {
      problems.add(where + ": its " + input + " is " + typeName(type) + "; " + node.op + " takes " +
                   typeNames(ctx, formal.types) + " there.");
      good = false;
      continue;
    }
    if (formal.typeVariable < 0 || (formal.variadic() && !formal.homogeneous))
      continue;
    auto [it, isNew] = variables.try_emplace(formal.typeVariable, type, formal.name);
    if (!isNew && !sameKind(it->second.first, type)) {
      problems.add(where + ": its " + input + " is " + typeName(type) + ", but " + quoted(it->second.second) + " is " +
                   typeName(it->second.first) + "; they have to be of one type.");
      good = false;
    }
  }
  return good;
}
