//===- Schemas.h - the official operator schemas ----------------*- C++ -*-===//
//
// A wall around the ONNX sources: nothing here throws.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_IMPORT_SCHEMAS_H
#define OPTC_COMPILER_IMPORT_SCHEMAS_H
#include "onnx/onnx_pb.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace optc::import {

/// An operator of one version, as far as a node is checked against it.
struct Schema {
  struct Attribute {
    std::string name;
    optc_onnx::AttributeProto_AttributeType type;
    bool required;
  };
  struct Input {
    std::string name;
    bool required;
  };
  int since = 0;
  bool deprecated = false;
  int minInputs = 0, maxInputs = 0, minOutputs = 0, maxOutputs = 0;
  std::vector<Attribute> attributes;
  std::vector<Input> inputs;

  const Attribute *attribute(const std::string &name) const {
    for (const Attribute &a : attributes)
      if (a.name == name)
        return &a;
    return nullptr;
  }
};

/// The schemas, cached. Domains are "" for ai.onnx.
class Schemas {
public:
  /// The operator as of `opset`, null when that opset has none of the name.
  const Schema *find(const std::string &domain, const std::string &op, int opset);
  /// All versions of an operator, rising; empty when there never was one of the name.
  std::vector<int> versions(const std::string &domain, const std::string &op) const;
  /// The names of a domain.
  std::vector<std::string> names(const std::string &domain) const;
  /// The newest opset of a domain, 0 for unknown domains.
  int newest(const std::string &domain) const;

private:
  std::map<std::string, std::unique_ptr<Schema>> cache;
};

/// A node as far as versions of its operator differ in what they take.
struct NodeForm {
  std::string domain, op;
  std::vector<std::string> attributes;
  /// Types by position; without a value where absent.
  std::vector<optc_onnx::TypeProto> inputs, outputs;
};

/// The oldest opset, not before `bound`, in which a node of the newest opset is one of the same form: it has the
/// attributes, with the same defaults for those that the node leaves out, and takes the types.
int oldestOpset(const NodeForm &node, int bound);

/// The body of an operator as a function of the newest opsets, for a node with these types of inputs (a type without
/// value: unknown or absent), and the default values of the operator's attributes. False with a reason when there is
/// none.
bool functionBody(const optc_onnx::NodeProto &node, const std::vector<optc_onnx::TypeProto> &inputTypes,
                  optc_onnx::FunctionProto &body, std::vector<optc_onnx::AttributeProto> &defaults,
                  std::string &reason);

} // namespace optc::import
#endif
