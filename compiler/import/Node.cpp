//===- Node.cpp - attributes, free names and order of nodes ---------------===//
#include "optc/compiler/import/Node.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace llvm;
using namespace optc::import;
using optc_onnx::AttributeProto;
using optc_onnx::GraphProto;
using optc_onnx::NodeProto;

optc_onnx::AttributeProto_AttributeType optc::import::kindOf(const AttributeProto &a) {
  if (a.type() != AttributeProto::UNDEFINED)
    return a.type();
  const std::pair<bool, optc_onnx::AttributeProto_AttributeType> present[] = {
      {a.has_f(), AttributeProto::FLOAT},
      {a.has_i(), AttributeProto::INT},
      {a.has_s(), AttributeProto::STRING},
      {a.has_t(), AttributeProto::TENSOR},
      {a.has_g(), AttributeProto::GRAPH},
      {a.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR},
      {a.has_tp(), AttributeProto::TYPE_PROTO},
      {a.floats_size() != 0, AttributeProto::FLOATS},
      {a.ints_size() != 0, AttributeProto::INTS},
      {a.strings_size() != 0, AttributeProto::STRINGS},
      {a.tensors_size() != 0, AttributeProto::TENSORS},
      {a.graphs_size() != 0, AttributeProto::GRAPHS},
  };
  for (auto [is, kind] : present)
    if (is)
      return kind;
  return AttributeProto::UNDEFINED;
}

const char *optc::import::kindName(optc_onnx::AttributeProto_AttributeType kind) {
  static constexpr std::pair<int, const char *> names[] = {
      {AttributeProto::FLOAT, "a float"},
      {AttributeProto::INT, "an integer"},
      {AttributeProto::STRING, "a string"},
      {AttributeProto::TENSOR, "a tensor"},
      {AttributeProto::GRAPH, "a graph"},
      {AttributeProto::SPARSE_TENSOR, "a sparse tensor"},
      {AttributeProto::TYPE_PROTO, "a type"},
      {AttributeProto::FLOATS, "a list of floats"},
      {AttributeProto::INTS, "a list of integers"},
      {AttributeProto::STRINGS, "a list of strings"},
      {AttributeProto::TENSORS, "a list of tensors"},
      {AttributeProto::GRAPHS, "a list of graphs"},
      {AttributeProto::SPARSE_TENSORS, "a list of sparse tensors"},
      {AttributeProto::TYPE_PROTOS, "a list of types"},
  };
  for (auto [k, name] : names)
    if (k == kind)
      return name;
  return "of no type";
}

namespace {
template <typename Visit> void forEachGraph(const NodeProto &node, Visit visit) {
  for (const AttributeProto &a : node.attribute()) {
    if (a.has_g())
      visit(a.g());
    for (const GraphProto &g : a.graphs())
      visit(g);
  }
}
} // namespace

void optc::import::freeNames(const GraphProto &graph, std::vector<std::string> &names) {
  StringSet<> own;
  for (const auto &v : graph.input())
    own.insert(v.name());
  for (const auto &t : graph.initializer())
    own.insert(t.name());
  for (const auto &t : graph.sparse_initializer())
    own.insert(t.values().name());
  for (const NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      own.insert(output);
  auto use = [&](const std::string &name) {
    if (!name.empty() && !own.contains(name))
      names.push_back(name);
  };
  for (const NodeProto &node : graph.node()) {
    for (const std::string &input : node.input())
      use(input);
    forEachGraph(node, [&](const GraphProto &inner) {
      std::vector<std::string> innerNames;
      freeNames(inner, innerNames);
      for (const std::string &name : innerNames)
        use(name);
    });
  }
  for (const auto &v : graph.output())
    use(v.name());
}

std::vector<int> optc::import::sortedNodes(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                                           function_ref<bool(StringRef)> isDefined, std::vector<std::string> &cycle) {
  const int count = nodes.size();
  StringMap<int> producer;
  for (int i = 0; i < count; ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty() && !isDefined(output))
        producer.try_emplace(output, i);
  // before[i]: the nodes whose values node i uses.
  std::vector<std::vector<int>> before(count), after(count);
  std::vector<int> missing(count);
  bool sorted = true;
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> uses(nodes[i].input().begin(), nodes[i].input().end());
    forEachGraph(nodes[i], [&](const GraphProto &g) { freeNames(g, uses); });
    for (const std::string &name : uses) {
      auto it = producer.find(name);
      if (it == producer.end())
        continue;
      before[i].push_back(it->second);
      after[it->second].push_back(i);
      ++missing[i];
      sorted &= it->second < i;
    }
  }
  std::vector<int> order;
  if (sorted) {
    for (int i = 0; i < count; ++i)
      order.push_back(i);
    return order;
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < count; ++i)
    if (!missing[i])
      ready.push(i);
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int next : after[i])
      if (--missing[next] == 0)
        ready.push(next);
  }
  if (static_cast<int>(order.size()) == count)
    return order;
  // Every node that is left waits for another one that is left: walking back must close a cycle.
  int at = 0;
  while (!missing[at])
    ++at;
  std::vector<int> seen(count, -1), path;
  while (seen[at] < 0) {
    seen[at] = path.size();
    path.push_back(at);
    at = *llvm::find_if(before[at], [&](int b) { return missing[b] > 0; });
  }
  for (size_t i = seen[at]; i < path.size() && cycle.size() < 8; ++i) {
    const NodeProto &node = nodes[path[i]];
    cycle.push_back(!node.name().empty() ? node.name() : node.output_size() ? node.output(0) : node.op_type());
  }
  return {};
}
