//===- Upgrade.h - from old opsets to the newest form -----------*- C++ -*-===//
//
// A table of rules, one per operator and version in which its form changed. Rules rewrite a node step by step to the
// newest form; what they compute at compile time becomes Constant nodes beside it.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_COMPILER_IMPORT_UPGRADE_H
#define OPTC_COMPILER_IMPORT_UPGRADE_H
#include "optc/compiler/import/Node.h"
#include <functional>
#include <optional>

namespace optc::import {

/// What a rule may ask about the values of its node.
struct UpgradeQuery {
  /// The rank of a value, when known.
  std::function<std::optional<int64_t>(const std::string &value)> rank;
  /// The shape of a value, -1 for unknown sizes, when the rank is known.
  std::function<std::optional<std::vector<int64_t>>(const std::string &value)> shape;
  /// The ONNX number of the element type of a value, 0 when unknown.
  std::function<int(const std::string &value)> elementType;
  /// The elements of a constant value of type int64 or int32.
  std::function<std::optional<std::vector<int64_t>>(const std::string &value)> constant;
  /// The elements of a constant value of type float.
  std::function<std::optional<std::vector<float>>(const std::string &value)> constantFloats;
  /// A name for a new value.
  std::function<std::string()> freshName;
};

/// Overload of nodes that the rules write into subgraphs: they are in the newest form already.
inline constexpr const char *newestForm = "\x01newest";

/// A node being upgraded, with the nodes that come before and after it.
class Upgrade {
public:
  Upgrade(Node &node, int opset, const UpgradeQuery &query, AttributeArena &arena)
      : node(node), opset(opset), query(query), arena(arena) {}

  Node &node;
  /// The opset that the node is written against.
  const int opset;
  const UpgradeQuery &query;
  /// Nodes in the newest form.
  std::vector<Node> before, after;
  /// Set when the node cannot be mapped: a clause that follows "cannot be imported: ".
  std::string problem;

  // Reading attributes of the node; values of the wrong kind were refused before.
  int64_t intAttr(const std::string &name, int64_t otherwise) const;
  float floatAttr(const std::string &name, float otherwise) const;
  std::string stringAttr(const std::string &name, const std::string &otherwise) const;
  std::optional<std::vector<int64_t>> intsAttr(const std::string &name) const;
  std::optional<std::vector<float>> floatsAttr(const std::string &name) const;
  bool has(const std::string &name) const { return node.attributes.count(name); }

  void drop(const std::string &name) { node.attributes.erase(name); }
  void set(const std::string &name, int64_t value) { node.attributes[name] = make(name, value); }
  void set(const std::string &name, float value) { node.attributes[name] = make(name, value); }
  void set(const std::string &name, const std::string &value) { node.attributes[name] = make(name, value); }
  void set(const std::string &name, llvm::ArrayRef<int64_t> value) { node.attributes[name] = make(name, value); }

  const optc_onnx::AttributeProto *make(const std::string &name, int64_t value);
  const optc_onnx::AttributeProto *make(const std::string &name, float value);
  const optc_onnx::AttributeProto *make(const std::string &name, const std::string &value);
  const optc_onnx::AttributeProto *make(const std::string &name, llvm::ArrayRef<int64_t> value);
  const optc_onnx::AttributeProto *make(const std::string &name, llvm::ArrayRef<std::string> value);
  optc_onnx::AttributeProto &newAttribute(const std::string &name);

  /// New values, defined before the node.
  std::string ints(llvm::ArrayRef<int64_t> values);
  std::string intScalar(int64_t value, int elementType = 7);
  std::string floats(llvm::ArrayRef<float> values);
  /// A scalar of the element type of a value of the node.
  std::string floatScalarLike(const std::string &like, float value);
  std::string constant(optc_onnx::TensorProto tensor);
  /// A node of ai.onnx before (or after) this one; its only output.
  std::string emit(const std::string &op, std::vector<std::string> inputs,
                   std::vector<const optc_onnx::AttributeProto *> attributes = {});
  void emitAfter(const std::string &op, std::vector<std::string> inputs, std::string output,
                 std::vector<const optc_onnx::AttributeProto *> attributes = {});
  /// Renames an output of the node, for a node after it that defines the old name.
  std::string replaceOutput(size_t i);
  void setInput(size_t i, std::string value);

private:
  AttributeArena &arena;
};

/// Brings a node of ai.onnx or ai.onnx.ml of this opset to its newest form. False with `problem` set when it cannot be.
bool upgrade(Upgrade &u);

/// The oldest opset whose nodes of this operator have the newest meaning: no rule applies to them.
int unchangedSince(const std::string &domain, const std::string &op);

/// A rule of the table. It applies to nodes of opsets below `version`.
struct UpgradeRule {
  const char *op;
  int version;
  void (*apply)(Upgrade &);
};
/// The tables, sorted by version for each operator.
llvm::ArrayRef<UpgradeRule> elementwiseRules();
llvm::ArrayRef<UpgradeRule> shapeRules();
llvm::ArrayRef<UpgradeRule> neuralRules();
llvm::ArrayRef<UpgradeRule> traditionalRules();

} // namespace optc::import
#endif
