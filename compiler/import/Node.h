//===- Node.h - a node on its way into the dialect --------------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_NODE_H
#define OPTC_COMPILER_IMPORT_NODE_H
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace optc::import {

/// Owns attributes that are made up during the import.
using AttributeArena = std::deque<optc_onnx::AttributeProto>;

/// A NodeProto whose attributes are resolved (references to attributes of a function replaced) and can be exchanged
/// without copying subgraphs and tensors.
struct Node {
  std::string domain; ///< "" for ai.onnx
  std::string op;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, const optc_onnx::AttributeProto *> attributes;

  const optc_onnx::AttributeProto *attribute(const std::string &attr) const {
    auto it = attributes.find(attr);
    return it == attributes.end() ? nullptr : it->second;
  }
  bool hasInput(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool hasOutput(size_t i) const { return i < outputs.size() && !outputs[i].empty(); }
};

/// The kind of an attribute; files of old IR versions do not state it.
optc_onnx::AttributeProto_AttributeType kindOf(const optc_onnx::AttributeProto &attr);
/// "an integer", "a list of floats"...
const char *kindName(optc_onnx::AttributeProto_AttributeType kind);

/// All values that the nodes of `graph` use but do not define, its subgraphs included.
void freeNames(const optc_onnx::GraphProto &graph, std::vector<std::string> &names);

/// An order of the nodes in which values are defined before they are used, the given order where it is one. Empty with
/// the names of a cycle when there is none. Values for which `isDefined` holds come from elsewhere.
std::vector<int> sortedNodes(const google::protobuf::RepeatedPtrField<optc_onnx::NodeProto> &nodes,
                             llvm::function_ref<bool(llvm::StringRef)> isDefined, std::vector<std::string> &cycle);

} // namespace optc::import
#endif
