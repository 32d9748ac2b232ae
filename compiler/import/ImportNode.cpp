//===- ImportNode.cpp - one node at a time --------------------------------===//
#include "optc/compiler/import/Importer.h"
#include "optc/compiler/import/Text.h"
#include "optc/dialects/onnx/Onnx.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using onnx::AttrInfo;
using onnx::AttrKind;
using onnx::OpInfo;
using optc_onnx::AttributeProto;
using optc_onnx::FunctionProto;
using optc_onnx::GraphProto;
using optc_onnx::NodeProto;
using optc_onnx::TensorProto;

/// "Node 'n' (Add, opset 13)", the beginning of every sentence about a node.
static std::string describe(const Node &node, int64_t opset, const Frame &frame) {
  std::string out = "Node ";
  if (!node.name.empty())
    out += quoted(node.name);
  else if (!node.outputs.empty())
    out += "of output " + quoted(node.outputs[0]);
  else
    out += "without name";
  out += " (";
  if (!node.domain.empty())
    out += quoted(node.domain).substr(1, quoted(node.domain).size() - 2) + ".";
  out += node.op.empty() ? "no operator" : quoted(node.op).substr(1, quoted(node.op).size() - 2);
  if (opset > 0)
    out += ", opset " + std::to_string(opset);
  out += ")";
  if (frame.function)
    out += " of function " + quoted(frame.function->name());
  return out;
}

/// Copies the node into its resolved form: references to attributes of the function are replaced, or dropped where the
/// call does not give them.
bool Importer::resolve(const NodeProto &proto, const Frame &frame, Node &node) {
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.op = proto.op_type();
  node.name = proto.name();
  node.overload = proto.overload();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  bool good = true;
  for (const AttributeProto &a : proto.attribute()) {
    const AttributeProto *value = &a;
    if (!a.ref_attr_name().empty()) {
      if (!frame.attributes) {
        problems.add(describe(node, 0, frame) + ": attribute " + quoted(a.name()) + " refers to the attribute " +
                     quoted(a.ref_attr_name()) + " of a function, but the node is not in a function.");
        good = false;
        continue;
      }
      auto bound = frame.attributes->find(a.ref_attr_name());
      if (bound == frame.attributes->end())
        continue;
      value = bound->second;
    }
    if (!node.attributes.try_emplace(a.name(), value).second) {
      problems.add(describe(node, 0, frame) + " has the attribute " + quoted(a.name()) + " twice.");
      good = false;
    }
  }
  return good;
}

void Importer::node(const NodeProto &proto, Scope &scope, const Frame &frame) {
  Node node;
  size_t before = problems.count();
  resolve(proto, frame, node);
  Location loc =
      NameLoc::get(builder.getStringAttr(!node.name.empty()                                  ? node.name
                                         : !node.outputs.empty() && !node.outputs[0].empty() ? node.outputs[0]
                                         : !node.op.empty()                                  ? node.op
                                                                                             : "node"));
  if (frame.location)
    loc = NameLoc::get(cast<NameLoc>(loc).getName(), *frame.location);

  // What depends on a node with a problem is checked, but not imported.
  auto giveUp = [&] {
    for (const std::string &output : node.outputs)
      scope.broken.insert(output);
  };
  auto function = functions.find(node.domain + '\n' + node.op + '\n' + node.overload);
  int64_t opset = 0;
  auto version = frame.opsets->find(node.domain);
  if (version != frame.opsets->end())
    opset = version->second;
  else if (auto it = modelOpsets->find(node.domain); it != modelOpsets->end())
    opset = it->second;
  std::string where = describe(node, opset, frame);
  for (const std::string &output : node.outputs)
    if (!output.empty() && scope.values.count(output))
      problems.add(where + " defines the value " + quoted(output) +
                   ", which is already defined in its graph; names have to be unique.");

  bool usesBroken = false;
  for (const std::string &input : node.inputs) {
    bool found, broken;
    if (input.empty())
      continue;
    lookup(scope, input, found, broken);
    usesBroken |= broken;
    if (!found && !broken) {
      std::vector<StringRef> visible;
      for (Scope *s = &scope; s; s = s->parent)
        for (const auto &entry : s->values)
          if (visible.size() < 10000)
            visible.push_back(entry.getKey());
      llvm::sort(visible);
      problems.add(where + " uses the value " + quoted(input) + ", which nothing defines" + didYouMean(input, visible) +
                   ".");
    }
  }
  if (function != functions.end()) {
    if (problems.count() != before || usesBroken)
      return giveUp();
    call(node, *function->second, scope, frame, loc);
    if (problems.count() != before)
      giveUp();
    return;
  }
  // Rules for old opsets write nodes of this kind; one in a file that calls itself so is checked like any other.
  bool isOurs = node.overload == newestForm && llvm::any_of(arena, [&](const AttributeProto &a) {
                  return a.has_g() && a.g().node_size() == 1 && &a.g().node(0) == &proto;
                });
  if (isOurs) {
    if (usesBroken || !create(node, scope, frame, loc, where))
      giveUp();
    return;
  }
  bool good = schemas.newest(node.domain) ? check(node, opset, where) : checkContrib(node, opset, where);
  if (!good || problems.count() != before || usesBroken)
    return giveUp();

  UpgradeQuery asked = query(scope);
  Upgrade u(node, opset, asked, arena);
  if (schemas.newest(node.domain) && !upgrade(u)) {
    problems.add(where + " cannot be imported: " + u.problem + ".");
    return giveUp();
  }
  for (const Node &n : u.before)
    if (!create(n, scope, frame, loc, where))
      return giveUp();
  if (!create(node, scope, frame, loc, where))
    return giveUp();
  for (const Node &n : u.after)
    if (!create(n, scope, frame, loc, where))
      return giveUp();
}

UpgradeQuery Importer::query(Scope &scope) {
  UpgradeQuery q;
  auto value = [this, &scope](const std::string &name) {
    bool found, broken;
    return name.empty() ? Value() : lookup(scope, name, found, broken);
  };
  q.rank = [value](const std::string &name) -> std::optional<int64_t> {
    Value v = value(name);
    auto tensor = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
    return tensor ? std::optional<int64_t>(tensor.getRank()) : std::nullopt;
  };
  q.shape = [value](const std::string &name) -> std::optional<std::vector<int64_t>> {
    Value v = value(name);
    auto tensor = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
    if (!tensor)
      return std::nullopt;
    std::vector<int64_t> shape(tensor.getShape().begin(), tensor.getShape().end());
    for (int64_t &d : shape)
      d = ShapedType::isDynamic(d) ? -1 : d;
    return shape;
  };
  q.elementType = [value](const std::string &name) {
    Value v = value(name);
    auto tensor = v ? dyn_cast<TensorType>(v.getType()) : TensorType();
    return tensor ? onnx::dataTypeOf(tensor.getElementType()) : 0;
  };
  q.constant = [value](const std::string &name) -> std::optional<std::vector<int64_t>> {
    Value v = value(name);
    return v ? constantInts(v) : std::nullopt;
  };
  q.constantFloats = [value](const std::string &name) -> std::optional<std::vector<float>> {
    Value v = value(name);
    return v ? constantFloats(v) : std::nullopt;
  };
  q.freshName = [this] { return (freshPrefix + Twine(fresh++)).str(); };
  return q;
}

std::optional<std::vector<int64_t>> optc::import::constantInts(Value value) {
  auto constant = value.getDefiningOp<onnx::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!dense || dense.getNumElements() > 4096)
    return std::nullopt;
  std::vector<int64_t> values;
  for (const APInt &v : dense.getValues<APInt>())
    values.push_back(v.getSExtValue());
  return values;
}

std::optional<std::vector<float>> optc::import::constantFloats(Value value) {
  auto constant = value.getDefiningOp<onnx::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  if (!dense || dense.getNumElements() > 4096 || !dense.getElementType().isF32())
    return std::nullopt;
  std::vector<float> values;
  for (const APFloat &v : dense.getValues<APFloat>())
    values.push_back(v.convertToFloat());
  return values;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Importer::call(const Node &node, const FunctionProto &function, Scope &scope, const Frame &frame, Location loc) {
  std::string where = describe(node, 0, frame);
  for (const Frame *f = &frame; f; f = f->caller)
    if (f->function == &function)
      return problems.add(where + " calls the function " + quoted(function.name()) +
                          ", which calls itself; ONNX does not allow recursion.");
  if (static_cast<int>(node.inputs.size()) > function.input_size() ||
      static_cast<int>(node.outputs.size()) > function.output_size())
    return problems.add(where + " has " + Twine(node.inputs.size()) + " inputs and " + Twine(node.outputs.size()) +
                        " outputs, but its function takes " + Twine(function.input_size()) + " and gives " +
                        Twine(function.output_size()) + ".");
  // Attributes: those of the call, then defaults.
  std::map<std::string, const AttributeProto *> attributes;
  std::vector<StringRef> formal;
  for (const std::string &name : function.attribute())
    formal.push_back(name);
  for (const AttributeProto &a : function.attribute_proto()) {
    formal.push_back(a.name());
    attributes[a.name()] = &a;
  }
  for (const auto &[name, value] : node.attributes) {
    if (!llvm::is_contained(formal, name))
      return problems.add(where + " has the attribute " + quoted(name) + ", which its function does not know" +
                          didYouMean(name, formal) + ".");
    attributes[name] = value;
  }
  for (const std::string &name : function.attribute())
    if (!attributes.count(name))
      return problems.add(where + " lacks the attribute " + quoted(name) + " of its function.");
  SmallVector<Value> inputs, outputs;
  for (const std::string &name : node.inputs) {
    bool found, broken;
    inputs.push_back(name.empty() ? Value() : lookup(scope, name, found, broken));
  }
  if (!this->function(function, inputs, attributes, loc, &frame, outputs))
    return;
  // Outputs that nobody asks for may be left undefined.
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty())
      continue;
    if (outputs[i])
      define(scope, name, outputs[i]);
    else
      problems.add(where + " uses the output " + quoted(function.output(i)) + " of the function " +
                   quoted(function.name()) + ", which the function does not define.");
  }
}

bool Importer::function(const FunctionProto &function, ArrayRef<Value> inputs,
                        const std::map<std::string, const AttributeProto *> &attributes, Location loc,
                        const Frame *caller, SmallVectorImpl<Value> &outputs,
                        ArrayRef<std::pair<std::string, Value>> captured) {
  size_t before = problems.count();
  std::string what = "The function " + quoted(function.name());
  Opsets &opsets = functionOpsets.emplace_back();
  opsetsOf(function.opset_import(), opsets);
  static const Opsets none;
  if (!modelOpsets)
    modelOpsets = &none;
  Frame frame;
  frame.opsets = &opsets;
  frame.attributes = &attributes;
  frame.function = &function;
  frame.caller = caller;
  frame.location = &loc;
  unsigned depth = 0;
  for (const Frame *f = caller; f; f = f->caller)
    ++depth;
  if (depth > 200) {
    problems.add(what + " is nested in more than 200 other functions.");
    return false;
  }
  Scope scope, around;
  for (const auto &[name, value] : captured)
    define(around, name, value);
  scope.parent = &around;
  for (auto [i, name] : llvm::enumerate(function.input()))
    if (!define(scope, name, i < inputs.size() ? inputs[i] : Value()))
      problems.add(what + " has two inputs called " + quoted(name) + ".");
  nodes(function.node(), scope, frame, what);
  for (const std::string &name : function.output()) {
    bool found, broken;
    outputs.push_back(lookup(scope, name, found, broken));
  }
  functionOpsets.pop_back();
  return problems.count() == before;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute Importer::attribute(const Node &node, const AttributeProto &a, AttrKind kind, const std::string &where) {
  std::string reason;
  Attribute result;
  switch (kind) {
  case AttrKind::Int:
    return builder.getI64IntegerAttr(a.i());
  case AttrKind::Float:
    return builder.getF32FloatAttr(a.f());
  case AttrKind::String:
    return builder.getStringAttr(a.s());
  case AttrKind::Ints:
    return builder.getDenseI64ArrayAttr(ArrayRef<int64_t>(a.ints().data(), a.ints_size()));
  case AttrKind::Floats:
    return builder.getDenseF32ArrayAttr(ArrayRef<float>(a.floats().data(), a.floats_size()));
  case AttrKind::Strings: {
    SmallVector<Attribute> strings;
    for (const std::string &s : a.strings())
      strings.push_back(builder.getStringAttr(s));
    return builder.getArrayAttr(strings);
  }
  case AttrKind::Tensor:
    result = reader.attribute(a.t(), reason);
    break;
  case AttrKind::SparseTensor:
    result = reader.attribute(a.sparse_tensor(), reason);
    break;
  case AttrKind::Type:
    if (Type t = type(a.tp(), reason, nullptr))
      result = TypeAttr::get(t);
    break;
  case AttrKind::Graph:
    break;
  }
  if (!result)
    problems.add(where + ": attribute " + quoted(a.name()) + " " + reason + ".");
  return result;
}

/// All spellings of Constant become `value`.
bool Importer::constant(const Node &node, Scope &scope, Location loc, const std::string &where) {
  if (node.attributes.size() != 1 || node.outputs.size() != 1) {
    problems.add(where + " has " + Twine(node.attributes.size()) +
                 " attributes; exactly one of value, sparse_value, value_int, value_ints, value_float, value_floats, "
                 "value_string and value_strings is needed.");
    return false;
  }
  const auto &[name, a] = *node.attributes.begin();
  ElementsAttr value;
  auto vector = [&](Type element, int64_t size) { return RankedTensorType::get({size}, element); };
  auto scalar = [&](Type element) { return RankedTensorType::get({}, element); };
  Type f32 = builder.getF32Type(), i64 = builder.getI64Type();
  std::string reason;
  TensorData data;
  auto bytes = [&](RankedTensorType type, const void *start, size_t size) {
    data.type = type;
    data.own(std::string(static_cast<const char *>(start), size));
    return reader.attribute(data);
  };
  if (name == "value") {
    value = reader.attribute(a->t(), reason);
  } else if (name == "sparse_value") {
    value = reader.attribute(a->sparse_tensor(), reason);
  } else if (name == "value_int") {
    int64_t i = a->i();
    value = bytes(scalar(i64), &i, sizeof(i));
  } else if (name == "value_float") {
    float f = a->f();
    value = bytes(scalar(f32), &f, sizeof(f));
  } else if (name == "value_ints") {
    value = bytes(vector(i64, a->ints_size()), a->ints().data(), a->ints_size() * sizeof(int64_t));
  } else if (name == "value_floats") {
    value = bytes(vector(f32, a->floats_size()), a->floats().data(), a->floats_size() * sizeof(float));
  } else {
    Type string = onnx::StringType::get(&ctx);
    data.type = name == "value_string" ? scalar(string) : vector(string, a->strings_size());
    data.strings.assign(a->strings().begin(), a->strings().end());
    if (name == "value_string")
      data.strings = {a->s()};
    value = reader.attribute(data);
  }
  if (!value) {
    problems.add(where + ": attribute " + quoted(name) + " " + reason + ".");
    return false;
  }
  Value result = onnx::ConstantOp::create(builder, loc, value).getOutput();
  if (node.hasOutput(0))
    define(scope, node.outputs[0], result);
  return true;
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

/// A type with the size of one axis removed; unranked where the axis is not known to exist.
static Type withoutAxis(Type type, int64_t axis) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return type;
  if (!ranked || axis < -ranked.getRank() || axis >= ranked.getRank())
    return UnrankedTensorType::get(tensor.getElementType());
  SmallVector<int64_t> shape(ranked.getShape());
  shape.erase(shape.begin() + (axis < 0 ? axis + ranked.getRank() : axis));
  return RankedTensorType::get(shape, ranked.getElementType());
}

/// The same kind of value with nothing known about its shape.
static Type withoutShape(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? UnrankedTensorType::get(tensor.getElementType()) : type;
}

/// The types of the inputs of a subgraph, as far as the operator determines them.
static SmallVector<Type> bodyInputs(const OpInfo &info, const Node &node, ArrayRef<Value> operands, Builder &builder) {
  SmallVector<Type> types;
  auto typeOf = [](Value v) { return v ? v.getType() : Type(); };
  if (info.mlirName == "onnx.Loop") {
    types.push_back(RankedTensorType::get({}, builder.getI64Type()));
    types.push_back(RankedTensorType::get({}, builder.getI1Type()));
    for (Value v : operands.drop_front(std::min<size_t>(2, operands.size())))
      types.push_back(v ? withoutShape(v.getType()) : Type());
  } else if (info.mlirName == "onnx.Scan") {
    const AttributeProto *count = node.attribute("num_scan_inputs");
    const AttributeProto *axes = node.attribute("scan_input_axes");
    int64_t scans = count ? count->i() : 0, states = static_cast<int64_t>(operands.size()) - scans;
    for (int64_t i = 0, e = operands.size(); i < e; ++i) {
      int64_t axis = axes && i >= states && i - states < axes->ints_size() ? axes->ints(i - states) : 0;
      Type type = typeOf(operands[i]);
      types.push_back(!type ? type : i < states ? withoutShape(type) : withoutAxis(type, axis));
    }
  } else if (info.mlirName == "onnx.SequenceMap") {
    for (Value v : operands) {
      auto seq = v ? dyn_cast<onnx::SeqType>(v.getType()) : onnx::SeqType();
      types.push_back(seq ? seq.getElementType() : typeOf(v));
    }
  }
  return types;
}

bool Importer::subgraph(const GraphProto &graph, const OpInfo &info, StringRef attr, ArrayRef<Value> operands,
                        const Node &node, Scope &outer, const Frame &frame, Region &region, const std::string &where) {
  size_t before = problems.count();
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  Scope scope;
  scope.parent = &outer;
  SmallVector<Type> derived = bodyInputs(info, node, operands, builder);
  bool knowsInputs = info.mlirName == "onnx.Loop" || info.mlirName == "onnx.Scan" || info.mlirName == "onnx.If" ||
                     info.mlirName == "onnx.SequenceMap";
  if (knowsInputs && static_cast<size_t>(graph.input_size()) != derived.size()) {
    problems.add(where + ": its subgraph " + quoted(attr) + " has " + Twine(graph.input_size()) +
                 " inputs where the node needs " + Twine(derived.size()) + ".");
    return false;
  }
  for (auto [i, input] : llvm::enumerate(graph.input())) {
    std::string reason;
    Type declared = type(input.type(), reason, nullptr);
    Type argument = i < derived.size() ? derived[i] : Type();
    if (!argument)
      argument = declared;
    if (!argument) {
      problems.add(where + ": input " + quoted(input.name()) + " of its subgraph " + quoted(attr) + " " + reason + ".");
      scope.broken.insert(input.name());
      continue;
    }
    if (declared && !joinTypes(argument, declared))
      problems.add(where + ": input " + quoted(input.name()) + " of its subgraph " + quoted(attr) + " is declared as " +
                   typeName(declared) + ", but gets " + typeName(argument) + ".");
    Location loc = NameLoc::get(builder.getStringAttr(input.name()));
    if (!define(scope, input.name(), block->addArgument(argument, loc)))
      problems.add(where + ": its subgraph " + quoted(attr) + " has two inputs called " + quoted(input.name()) + ".");
  }
  initializers(graph, scope, {});
  nodes(graph.node(), scope, frame, "the subgraph '" + attr + "' of " + where);
  SmallVector<Value> outputs;
  for (const auto &output : graph.output()) {
    bool found, broken;
    Value value = lookup(scope, output.name(), found, broken);
    if (!found && !broken)
      problems.add(where + ": the output " + quoted(output.name()) + " of its subgraph " + quoted(attr) +
                   " is not defined by any node.");
    if (found && !value)
      problems.add(where + ": the output " + quoted(output.name()) + " of its subgraph " + quoted(attr) +
                   " is absent.");
    if (value)
      outputs.push_back(value);
    else if (broken)
      return false;
  }
  onnx::YieldOp::create(builder, builder.getUnknownLoc(), ValueRange(outputs));
  return problems.count() == before;
}

/// A body may take an optional and yield what it holds, as in opset 16: the value stays an optional between iterations.
void Importer::wrapOptionals(ArrayRef<Value> operands, Region &body, std::vector<Type> &yields,
                             llvm::SmallDenseSet<size_t> &wrapped) {
  Operation *yield = &body.front().back();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(yield);
  for (size_t i = 2; i < operands.size() && i - 1 < yield->getNumOperands(); ++i) {
    Value yielded = yield->getOperand(i - 1);
    auto optional = operands[i] ? dyn_cast<onnx::OptType>(operands[i].getType()) : onnx::OptType();
    if (!optional || isa<onnx::OptType>(yielded.getType()))
      continue;
    Type joined = joinTypes(optional.getElementType(), yielded.getType());
    if (!joined)
      continue;
    Operation *wrap = onnx::createOp(builder, yield->getLoc(), "Optional", {yielded},
                                     {Type(onnx::OptType::get(&ctx, yielded.getType()))});
    yield->setOperand(i - 1, wrap->getResult(0));
    yields[i - 1] = wrap->getResult(0).getType();
    wrapped.insert(i - 2);
  }
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

bool Importer::create(const Node &node, Scope &scope, const Frame &frame, Location loc, const std::string &where) {
  if (node.domain.empty() && node.op == "Constant")
    return constant(node, scope, loc, where);
  const OpInfo *info = onnx::lookupOp(node.domain, node.op);
  if (!info) {
    problems.add(where + " is an operator that optc does not support.");
    return false;
  }
  size_t before = problems.count();
  SmallVector<Value> operands;
  for (const std::string &name : node.inputs) {
    bool found, broken;
    operands.push_back(name.empty() ? Value() : lookup(scope, name, found, broken));
  }
  while (!operands.empty() && !operands.back())
    operands.pop_back();
  if (!checkTypes(node, *info, operands, where))
    return false;

  SmallVector<NamedAttribute> attributes;
  SmallVector<std::unique_ptr<Region>> regions(info->numRegions());
  std::vector<std::vector<Type>> yields(info->numRegions());
  for (const auto &[name, proto] : node.attributes) {
    const AttrInfo *attr = info->attribute(name);
    if (!attr) {
      problems.add(where + " has the attribute " + quoted(name) + ", which optc does not support.");
      continue;
    }
    if (attr->kind != AttrKind::Graph) {
      if (Attribute value = attribute(node, *proto, attr->kind, where))
        attributes.emplace_back(builder.getStringAttr(name), value);
      continue;
    }
    int index = info->region(name);
    regions[index] = std::make_unique<Region>();
    if (subgraph(proto->g(), *info, name, operands, node, scope, frame, *regions[index], where))
      llvm::append_range(yields[index], regions[index]->front().back().getOperandTypes());
  }
  if (problems.count() != before)
    return false;
  // A subgraph can be broken by something outside of it.
  for (auto &region : regions)
    if (region && (region->front().empty() || !isa<onnx::YieldOp>(region->front().back())))
      return false;

  SmallVector<Type> types;
  std::string reason;
  llvm::SmallDenseSet<size_t> wrapped;
  if (info->mlirName == "onnx.Loop" && regions[0])
    wrapOptionals(operands, *regions[0], yields[0], wrapped);
  if (!resultTypes(node, *info, operands, yields, attributes, ctx, types, reason)) {
    problems.add(where + " " + reason + ".");
    return false;
  }
  Operation *op = onnx::createOp(builder, loc, *info, operands, types, attributes);
  if (!op) {
    problems.add(where + " has a number of inputs or outputs that its operator does not take.");
    return false;
  }
  for (auto [i, region] : llvm::enumerate(regions))
    if (region)
      op->getRegion(i).takeBody(*region);
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    Value value = name.empty() ? Value() : onnx::result(op, i);
    if (!value)
      continue;
    // Only a Loop gives what its body wrapped.
    auto optional = dyn_cast<onnx::OptType>(value.getType());
    if (optional && info->mlirName == "onnx.Loop" && wrapped.contains(i))
      value = onnx::createOp(builder, loc, "OptionalGetElement", {value}, {optional.getElementType()})->getResult(0);
    define(scope, name, value);
  }
  return true;
}
