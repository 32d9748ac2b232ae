//===- Export.cpp - from the onnx dialect back to protobuf ----------------===//
#include "optc/compiler/import/Export.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/compiler/import/Tensors.h"
#include "optc/compiler/import/schemas/Schemas.h"
#include "optc/dialects/onnx/Onnx.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mlir;
using namespace optc;
using namespace optc::import;
using onnx::AttrInfo;
using onnx::AttrKind;
using onnx::OpInfo;
using optc_onnx::AttributeProto;
using optc_onnx::GraphProto;
using optc_onnx::NodeProto;
using optc_onnx::TensorProto;
using optc_onnx::TypeProto;

TypeProto optc::import::exportType(Type type) {
  TypeProto proto;
  if (auto tensor = dyn_cast<TensorType>(type)) {
    auto &t = *proto.mutable_tensor_type();
    t.set_elem_type(onnx::dataTypeOf(tensor.getElementType()));
    if (!tensor.hasRank())
      return proto;
    auto &shape = *t.mutable_shape();
    for (int64_t d : tensor.getShape()) {
      auto &dim = *shape.add_dim();
      if (!ShapedType::isDynamic(d))
        dim.set_dim_value(d);
    }
  } else if (auto seq = dyn_cast<onnx::SeqType>(type)) {
    *proto.mutable_sequence_type()->mutable_elem_type() = exportType(seq.getElementType());
  } else if (auto opt = dyn_cast<onnx::OptType>(type)) {
    *proto.mutable_optional_type()->mutable_elem_type() = exportType(opt.getElementType());
  } else if (auto map = dyn_cast<onnx::MapType>(type)) {
    proto.mutable_map_type()->set_key_type(onnx::dataTypeOf(map.getKeyType()));
    *proto.mutable_map_type()->mutable_value_type() = exportType(map.getValueType());
  }
  return proto;
}

bool optc::import::exportTensor(ElementsAttr value, TensorProto &tensor) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return false;
  int dataType = onnx::dataTypeOf(type.getElementType());
  tensor.set_data_type(dataType);
  for (int64_t d : type.getShape())
    tensor.add_dims(d);
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value)) {
    for (StringRef s : strings.getValues<StringRef>())
      tensor.add_string_data(s.str());
    return true;
  }
  std::string &bytes = *tensor.mutable_raw_data();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return false;
    bytes.assign(blob->getData().data(), blob->getData().size());
    return true;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || dataType == 0)
    return false;
  int64_t count = type.getNumElements();
  bytes.assign(packedBytes(dataType, count), '\0');
  if (count == 0)
    return true;
  if (dataType == TensorProto::BOOL) {
    for (auto [i, b] : llvm::enumerate(dense.getValues<bool>()))
      bytes[i] = b;
    return true;
  }
  // A splat holds one element.
  ArrayRef<char> raw = dense.getRawData();
  if (packedBytes(dataType, 8) % 8 == 0) {
    size_t width = packedBytes(dataType, 1);
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(raw.data() + (dense.isSplat() ? 0 : i * width), width, bytes.data() + i * width);
    return true;
  }
  unsigned bits = packedBytes(dataType, 8);
  for (int64_t i = 0; i < count; ++i) {
    unsigned code = static_cast<uint8_t>(raw[dense.isSplat() ? 0 : i]) & ((1u << bits) - 1);
    uint64_t bit = i * bits;
    bytes[bit / 8] |= code << (bit % 8);
    if (bit % 8 + bits > 8)
      bytes[bit / 8 + 1] |= code >> (8 - bit % 8);
  }
  return true;
}

static bool exportGraph(Region &region, NameOf nameOf, GraphProto &graph, std::string &reason) {
  Block &block = region.front();
  graph.set_name("body");
  for (BlockArgument argument : block.getArguments()) {
    auto &input = *graph.add_input();
    input.set_name(nameOf(argument));
    *input.mutable_type() = exportType(argument.getType());
  }
  for (Operation &op : block.without_terminator())
    if (!exportNode(&op, nameOf, *graph.add_node(), reason))
      return false;
  for (Value value : block.back().getOperands()) {
    auto &output = *graph.add_output();
    output.set_name(nameOf(value));
    *output.mutable_type() = exportType(value.getType());
  }
  return true;
}

static bool exportAttribute(Attribute value, AttrKind kind, AttributeProto &a) {
  switch (kind) {
  case AttrKind::Int:
    a.set_type(AttributeProto::INT);
    a.set_i(cast<IntegerAttr>(value).getInt());
    return true;
  case AttrKind::Float:
    a.set_type(AttributeProto::FLOAT);
    a.set_f(cast<FloatAttr>(value).getValueAsDouble());
    return true;
  case AttrKind::String:
    a.set_type(AttributeProto::STRING);
    a.set_s(cast<StringAttr>(value).getValue().str());
    return true;
  case AttrKind::Ints:
    a.set_type(AttributeProto::INTS);
    for (int64_t i : cast<DenseI64ArrayAttr>(value).asArrayRef())
      a.add_ints(i);
    return true;
  case AttrKind::Floats:
    a.set_type(AttributeProto::FLOATS);
    for (float f : cast<DenseF32ArrayAttr>(value).asArrayRef())
      a.add_floats(f);
    return true;
  case AttrKind::Strings:
    a.set_type(AttributeProto::STRINGS);
    for (Attribute s : cast<ArrayAttr>(value))
      a.add_strings(cast<StringAttr>(s).getValue().str());
    return true;
  case AttrKind::Type:
    a.set_type(AttributeProto::TYPE_PROTO);
    *a.mutable_tp() = exportType(cast<TypeAttr>(value).getValue());
    return true;
  case AttrKind::Tensor:
  case AttrKind::SparseTensor:
    a.set_type(AttributeProto::TENSOR);
    return exportTensor(cast<ElementsAttr>(value), *a.mutable_t());
  case AttrKind::Graph:
    break;
  }
  return false;
}

bool optc::import::exportNode(Operation *op, NameOf nameOf, NodeProto &node, std::string &reason) {
  const OpInfo *info = onnx::infoFor(op);
  if (!info) {
    reason = ("holds the op " + op->getName().getStringRef() + ", which is not of ONNX").str();
    return false;
  }
  node.set_op_type(info->name.str());
  node.set_domain(info->domain.str());
  if (auto loc = op->getLoc()->findInstanceOf<NameLoc>())
    node.set_name(loc.getName().str());
  for (unsigned i = 0, e = onnx::numOperandPositions(op); i < e; ++i) {
    Value v = onnx::operand(op, i);
    node.add_input(v ? nameOf(v) : "");
  }
  for (unsigned i = 0, e = onnx::numResultPositions(op); i < e; ++i) {
    Value v = onnx::result(op, i);
    node.add_output(v ? nameOf(v) : "");
  }
  if (auto constant = dyn_cast<onnx::ConstantOp>(op)) {
    AttributeProto &a = *node.add_attribute();
    a.set_name("value");
    a.set_type(AttributeProto::TENSOR);
    if (exportTensor(constant.getValue(), *a.mutable_t()))
      return true;
    reason = "holds a constant without data";
    return false;
  }
  for (const AttrInfo &attr : info->attributes) {
    if (attr.kind == AttrKind::Graph) {
      Region &region = op->getRegion(info->region(attr.name));
      if (region.empty())
        continue;
      AttributeProto &a = *node.add_attribute();
      a.set_name(attr.name.str());
      a.set_type(AttributeProto::GRAPH);
      if (!exportGraph(region, nameOf, *a.mutable_g(), reason))
        return false;
      continue;
    }
    Attribute value = op->getAttr(attr.name);
    if (!value)
      continue;
    AttributeProto &a = *node.add_attribute();
    a.set_name(attr.name.str());
    if (!exportAttribute(value, attr.kind, a)) {
      reason = ("has the attribute '" + attr.name + "', which cannot be written to ONNX").str();
      return false;
    }
  }
  return true;
}

/// Declares an input or output of the graph, with the names of its symbolic sizes.
static void exportValueInfo(StringRef name, Type type, ArrayAttr params, optc_onnx::ValueInfoProto &info) {
  info.set_name(name.str());
  *info.mutable_type() = exportType(type);
  auto &tensor = *info.mutable_type();
  if (!params || !tensor.has_tensor_type() || !tensor.tensor_type().has_shape())
    return;
  auto &shape = *tensor.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size() && i < static_cast<int>(params.size()); ++i)
    if (auto param = dyn_cast<StringAttr>(params[i]); param && !param.empty() && !shape.dim(i).has_dim_value())
      shape.mutable_dim(i)->set_dim_param(param.str());
}

bool optc::import::exportModel(ModuleOp module, optc_onnx::ModelProto &model, std::string &reason) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func || !llvm::hasSingleElement(func.getBody())) {
    reason = "has no function main of one block";
    return false;
  }
  Block &block = func.getBody().front();
  Operation *end = block.getTerminator();
  GraphProto &graph = *model.mutable_graph();
  auto text = [&](StringRef name) {
    auto attr = module->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  graph.set_name(text("onnx.graph_name").empty() ? "main" : text("onnx.graph_name"));
  llvm::DenseMap<Value, std::string> names;
  llvm::StringSet<> taken;
  auto nameAttr = [&](Attribute attr, const std::string &otherwise) {
    auto name = dyn_cast_or_null<StringAttr>(attr);
    std::string result = name ? name.str() : otherwise;
    taken.insert(result);
    return result;
  };
  for (BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = nameAttr(func.getArgAttr(i, "onnx.name"), "input" + std::to_string(i));
    names[argument] = name;
    exportValueInfo(name, argument.getType(), dyn_cast_or_null<ArrayAttr>(func.getArgAttr(i, "onnx.dim_params")),
                    *graph.add_input());
    if (auto value = dyn_cast_or_null<ElementsAttr>(func.getArgAttr(i, "onnx.default"))) {
      TensorProto &t = *graph.add_initializer();
      t.set_name(name);
      if (!exportTensor(value, t)) {
        reason = "has an input whose default cannot be written";
        return false;
      }
    }
  }
  SmallVector<std::string> outputs;
  for (unsigned i = 0, e = end->getNumOperands(); i < e; ++i)
    outputs.push_back(nameAttr(func.getResultAttr(i, "onnx.name"), "output" + std::to_string(i)));
  unsigned next = 0;
  auto nameOf = [&](Value v) {
    std::string &name = names[v];
    while (name.empty()) {
      std::string fresh = "v" + std::to_string(next++);
      if (taken.insert(fresh).second)
        name = fresh;
    }
    return name;
  };
  for (Operation &op : block.without_terminator())
    if (!exportNode(&op, nameOf, *graph.add_node(), reason))
      return false;
  // A value may be an output twice, or an input at the same time.
  for (unsigned i = 0, e = end->getNumOperands(); i < e; ++i) {
    Value v = end->getOperand(i);
    NodeProto &identity = *graph.add_node();
    identity.set_op_type("Identity");
    identity.add_input(nameOf(v));
    identity.add_output(outputs[i]);
    exportValueInfo(outputs[i], v.getType(), dyn_cast_or_null<ArrayAttr>(func.getResultAttr(i, "onnx.dim_params")),
                    *graph.add_output());
  }
  Schemas schemas;
  std::set<std::string> domains = {""};
  func.walk([&](Operation *op) {
    if (const OpInfo *info = onnx::infoFor(op))
      domains.insert(info->domain.str());
  });
  for (const std::string &domain : domains) {
    auto &import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(std::max(schemas.newest(domain), 1));
  }
  model.set_ir_version(optc_onnx::IR_VERSION);
  model.set_producer_name("optc");
  model.set_domain(text("onnx.domain"));
  model.set_doc_string(text("onnx.doc_string"));
  if (auto metadata = module->getAttrOfType<ArrayAttr>("onnx.metadata"))
    for (Attribute pair : metadata)
      if (auto entry = dyn_cast<ArrayAttr>(pair);
          entry && entry.size() == 2 && isa<StringAttr>(entry[0]) && isa<StringAttr>(entry[1])) {
        auto &prop = *model.add_metadata_props();
        prop.set_key(cast<StringAttr>(entry[0]).str());
        prop.set_value(cast<StringAttr>(entry[1]).str());
      }
  return true;
}
