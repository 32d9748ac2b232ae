//===- Schemas.cpp - the official operator schemas ------------------------===//
#include "optc/compiler/import/schemas/Schemas.h"
#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/function.h"
#include "onnx/defs/schema.h"
#include <algorithm>
#include <climits>

using namespace optc::import;
using namespace optc_onnx;

const Schema *Schemas::find(const std::string &domain, const std::string &op, int opset) {
  const OpSchema *schema = OpSchemaRegistry::Schema(op, opset, domain);
  if (!schema)
    return nullptr;
  auto &entry = cache[domain + '\n' + op + '\n' + std::to_string(schema->since_version())];
  if (entry)
    return entry.get();
  entry = std::make_unique<Schema>();
  entry->since = schema->since_version();
  entry->deprecated = schema->deprecated();
  entry->minInputs = schema->min_input();
  entry->maxInputs = schema->max_input();
  entry->minOutputs = schema->min_output();
  entry->maxOutputs = schema->max_output();
  for (const auto &[name, attribute] : schema->attributes())
    entry->attributes.push_back({name, attribute.type, attribute.required});
  for (const auto &input : schema->inputs())
    entry->inputs.push_back({input.GetName(), input.GetOption() == OpSchema::Single});
  return entry.get();
}

std::vector<int> Schemas::versions(const std::string &domain, const std::string &op) const {
  std::vector<int> versions;
  for (int opset = newest(domain); opset > 0;) {
    const OpSchema *schema = OpSchemaRegistry::Schema(op, opset, domain);
    if (!schema)
      break;
    versions.push_back(schema->since_version());
    opset = schema->since_version() - 1;
  }
  std::reverse(versions.begin(), versions.end());
  return versions;
}

std::vector<std::string> Schemas::names(const std::string &domain) const {
  std::vector<std::string> names;
  for (const OpSchema &schema : OpSchemaRegistry::get_all_schemas())
    if (schema.domain() == domain)
      names.push_back(schema.Name());
  return names;
}

int Schemas::newest(const std::string &domain) const {
  const auto &map = OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto it = map.find(domain);
  return it == map.end() ? 0 : it->second.second;
}

/// Whether values of these types fit the formal ones.
static bool takes(const std::vector<OpSchema::FormalParameter> &formal, const std::vector<TypeProto> &types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (formal.empty() || (i >= formal.size() && formal.back().GetOption() != OpSchema::Variadic))
      return false;
    const OpSchema::FormalParameter &parameter = formal[std::min(i, formal.size() - 1)];
    if (types[i].value_case() == TypeProto::VALUE_NOT_SET) {
      if (parameter.GetOption() == OpSchema::Single)
        return false;
      continue;
    }
    if (!parameter.GetTypes().count(Utils::DataTypeUtils::ToType(types[i])))
      return false;
  }
  for (size_t i = types.size(); i < formal.size(); ++i)
    if (formal[i].GetOption() == OpSchema::Single)
      return false;
  return true;
}

/// Whether a node of `newest` means the same as one of `old`.
static bool hasForm(const OpSchema &old, const OpSchema &newest, const NodeForm &node) {
  const auto &now = newest.attributes();
  for (const auto &[name, attribute] : old.attributes()) {
    bool given = std::count(node.attributes.begin(), node.attributes.end(), name);
    auto same = now.find(name);
    if (same == now.end() || same->second.type != attribute.type || (attribute.required && !given))
      return false;
    if (!given && same->second.default_value.SerializeAsString() != attribute.default_value.SerializeAsString())
      return false;
  }
  for (const std::string &name : node.attributes)
    if (!old.attributes().count(name))
      return false;
  return !old.deprecated() && takes(old.inputs(), node.inputs) && takes(old.outputs(), node.outputs);
}

int optc::import::oldestOpset(const NodeForm &node, int bound) {
  try {
    const OpSchema *newest = OpSchemaRegistry::Schema(node.op, node.domain);
    int opset = newest ? newest->since_version() : 1;
    while (opset > bound) {
      const OpSchema *old = OpSchemaRegistry::Schema(node.op, opset - 1, node.domain);
      if (!old || !hasForm(*old, *newest, node))
        break;
      opset = std::max(bound, int(old->since_version()));
    }
    return opset;
  } catch (...) { // a type that ONNX does not name
    return std::max(1, Schemas().newest(node.domain));
  }
}

bool optc::import::functionBody(const NodeProto &node, const std::vector<TypeProto> &inputTypes, FunctionProto &body,
                                std::vector<AttributeProto> &defaults, std::string &reason) {
  try {
    const OpSchema *schema = OpSchemaRegistry::Schema(node.op_type(), node.domain());
    if (!schema || !(schema->HasFunction() || schema->HasContextDependentFunction())) {
      reason = "has no function body";
      return false;
    }
    const auto &map = OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    int newest = map.at("").second;
    for (const auto &[name, attribute] : schema->attributes())
      if (attribute.default_value.type() != AttributeProto::UNDEFINED) {
        defaults.push_back(attribute.default_value);
        defaults.back().set_name(name);
      }
    if (schema->HasContextDependentFunction()) {
      FunctionBodyBuildContextImpl context(node, inputTypes);
      // Bodies are registered per opset they are written against; take the newest that builds.
      int opset = schema->HasContextDependentFunctionWithOpsetVersion(newest) ? newest : -1;
      for (int version = newest; opset < 0 && version > 0; --version)
        if (schema->HasContextDependentFunctionWithOpsetVersion(version))
          opset = version;
      if (opset > 0 && schema->BuildContextDependentFunction(context, body, opset)) {
        // Bodies of other domains may leave out the opset of the operators they use.
        for (const auto &import : body.opset_import())
          if (import.domain().empty())
            return true;
        body.add_opset_import()->set_version(newest);
        return true;
      }
    }
    if (schema->HasFunction()) {
      if (const FunctionProto *function = schema->GetFunction(newest)) {
        body = *function;
        return true;
      }
    }
    reason = "has no function body for its types and attributes";
  } catch (const std::exception &error) {
    reason = std::string("has no function body here: ") + error.what();
  } catch (...) {
    reason = "has no function body here";
  }
  return false;
}
