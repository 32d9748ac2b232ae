//===- Export.cpp - from the onnx dialect back to protobuf ----------------===//
#include "optc/compiler/import/Export.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/compiler/import/Tensors.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"

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
  node.set_name(onnx::nodeName(op->getLoc()));
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
