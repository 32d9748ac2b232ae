//===- ExportModel.cpp - modules as ONNX files ----------------------------===//
//
// The model without its weights is a ModelProto, as small as its graph. A weight is a TensorProto without elements and
// the bytes that it has in memory; both are written one after the other, as the wire format would have them:
//
//   ir_version, opset_import, ...   serialized by protobuf
//   graph, of known length:
//     nodes, inputs, outputs, ...   serialized by protobuf
//     initializer { dims, data_type, name, raw_data }   once per weight, raw_data from the mapped file
//
// A model that protobuf could not read keeps the weights in a second file, and their places in the first.
//
//===----------------------------------------------------------------------===//
#include "optc/compiler/import/ExportModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/codegen/CompileError.h"
#include "optc/codegen/object/OutputFile.h"
#include "optc/compiler/import/Export.h"
#include "optc/compiler/import/Importer.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using llvm::Error;
using onnx::OpInfo;
using optc_onnx::GraphProto;
using optc_onnx::ModelProto;
using optc_onnx::TensorProto;
using optc_onnx::TypeProto;
using optc_onnx::ValueInfoProto;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// Hands out names of which no two are equal.
class UniqueNames {
public:
  std::string make(StringRef wanted) {
    if (wanted.empty())
      wanted = "v";
    std::string name = wanted.str();
    // Where a name was taken before, counting goes on.
    for (unsigned &count = counts[wanted]; !taken.insert(name).second;)
      name = (wanted + "_" + Twine(++count)).str();
    return name;
  }

private:
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> counts;
};
} // namespace

/// The name that a value had, or one after the node that makes it.
static std::string wantedName(Value value) {
  std::string name = onnx::nodeName(value.getLoc());
  // Names that the importer made up.
  StringRef text = name;
  if (text.consume_front(freshPrefix) || text.consume_front("\x01"))
    name = ("v" + text).str();
  auto result = dyn_cast<OpResult>(value);
  if (result && name.empty())
    name = result.getOwner()->getName().stripDialect().str();
  if (result && result.getOwner()->getNumResults() > 1)
    name += "_" + std::to_string(result.getResultNumber());
  return name;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {
/// A constant whose bytes are not in the protobuf.
struct Weight {
  TensorProto tensor; ///< without elements
  ArrayRef<char> bytes;
};

/// Makes the protobuf of a module.
class ModelExporter {
public:
  explicit ModelExporter(ModuleOp module) : module(module) {}

  /// False with a clause that says why the module is no model.
  bool run(const ExportOptions &options, std::string &reason);

  ModelProto model;
  std::vector<Weight> weights;

private:
  void prepare(Block &block);
  void nameOutputs(func::FuncOp func);
  bool initializer(ElementsAttr value, const std::string &name, std::string &reason);
  bool graph(func::FuncOp func, std::string &reason);
  void header(func::FuncOp func, const ExportOptions &options);
  std::string nameOf(Value value);

  ModuleOp module;
  llvm::DenseMap<Value, std::string> names;
  /// Equal weights are written once.
  llvm::DenseMap<Attribute, std::string> byValue;
  SmallVector<std::string> outputs;
  UniqueNames unique;
};
} // namespace

std::string ModelExporter::nameOf(Value value) {
  auto it = names.find(value);
  if (it != names.end())
    return it->second;
  return names[value] = unique.make(wantedName(value));
}

/// An Identity of `value` in front of `before`.
static Value identity(Value value, Operation *before) {
  OpBuilder b(before);
  return onnx::createOp(b, value.getLoc(), "Identity", {value}, {value.getType()})->getResult(0);
}

/// A subgraph can only give values that its own nodes make, each under one name.
static void ownOutputs(Block &body) {
  llvm::SmallDenseSet<Value> seen;
  Operation *yield = body.getTerminator();
  for (OpOperand &output : yield->getOpOperands()) {
    Operation *maker = output.get().getDefiningOp();
    if (!maker || maker->getBlock() != &body || !seen.insert(output.get()).second)
      output.set(identity(output.get(), yield));
  }
}

/// Brings the module into a form that ONNX can express.
void ModelExporter::prepare(Block &main) {
  SmallVector<Operation *> hoisted;
  for (Operation &op : main)
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        if (auto constant = dyn_cast<onnx::ConstantOp>(inner);
            constant && isa<DenseResourceElementsAttr>(constant.getValue()))
          hoisted.push_back(inner);
        else if (isa<onnx::YieldOp>(inner))
          ownOutputs(*inner->getBlock());
      });
  for (Operation *op : hoisted)
    op->moveBefore(&main, main.begin());
}

/// Gives the values that the function returns the names of its results.
void ModelExporter::nameOutputs(func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  for (OpOperand &output : end->getOpOperands()) {
    unsigned i = output.getOperandNumber();
    auto attr = func.getResultAttrOfType<StringAttr>(i, "onnx.name");
    std::string wanted = attr ? attr.str() : "output" + std::to_string(i);
    auto known = names.find(output.get());
    // An input that is an output at the same time.
    if (known != names.end() && known->second == wanted && !llvm::is_contained(outputs, wanted)) {
      outputs.push_back(wanted);
      continue;
    }
    if (known != names.end())
      output.set(identity(output.get(), end));
    outputs.push_back(names[output.get()] = unique.make(wanted));
  }
}

bool ModelExporter::initializer(ElementsAttr value, const std::string &name, std::string &reason) {
  auto fail = [&](StringRef why) {
    reason = ("has the constant '" + name + "', which " + why).str();
    return false;
  };
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource) {
    TensorProto &tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    return exportTensor(value, tensor) || fail("has elements that ONNX does not know");
  }
  auto type = dyn_cast<RankedTensorType>(resource.getType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob || !type || blob->getData().size() != onnx::rawBytes(type))
    return fail("has no bytes, or not as many as its type needs");
  Weight weight;
  weight.tensor.set_name(name);
  weight.tensor.set_data_type(onnx::dataTypeOf(type.getElementType()));
  for (int64_t size : type.getShape())
    weight.tensor.add_dims(size);
  weight.bytes = blob->getData();
  weights.push_back(std::move(weight));
  return true;
}

/// Declares an input or output of the graph, with the names of its symbolic sizes.
static void declare(StringRef name, Type type, ArrayAttr params, ValueInfoProto &info) {
  info.set_name(name.str());
  *info.mutable_type() = exportType(type);
  if (!params || !info.type().has_tensor_type() || !info.type().tensor_type().has_shape())
    return;
  auto &shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size() && i < static_cast<int>(params.size()); ++i)
    if (auto param = dyn_cast<StringAttr>(params[i]); param && !param.empty() && !shape.dim(i).has_dim_value())
      shape.mutable_dim(i)->set_dim_param(param.str());
}

bool ModelExporter::graph(func::FuncOp func, std::string &reason) {
  Block &block = func.getBody().front();
  GraphProto &graph = *model.mutable_graph();
  for (BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto attr = func.getArgAttrOfType<StringAttr>(i, "onnx.name");
    names[argument] = unique.make(attr ? attr.str() : "input" + std::to_string(i));
    declare(names[argument], argument.getType(), func.getArgAttrOfType<ArrayAttr>(i, "onnx.dim_params"),
            *graph.add_input());
    auto value = dyn_cast_or_null<ElementsAttr>(func.getArgAttr(i, "onnx.default"));
    if (value && !initializer(value, names[argument], reason))
      return false;
  }
  prepare(block);
  nameOutputs(func);
  for (Operation &op : block.without_terminator()) {
    auto constant = dyn_cast<onnx::ConstantOp>(op);
    if (!constant) {
      if (!exportNode(&op, [&](Value v) { return nameOf(v); }, *graph.add_node(), reason))
        return false;
      continue;
    }
    // One that is an output has its name already.
    if (!names.count(constant.getOutput())) {
      auto [same, isNew] = byValue.try_emplace(constant.getValue());
      if (isNew)
        same->second = nameOf(constant.getOutput());
      else
        names[constant.getOutput()] = same->second;
      if (!isNew)
        continue;
    }
    if (!initializer(constant.getValue(), names[constant.getOutput()], reason))
      return false;
  }
  Operation *end = block.getTerminator();
  for (auto [i, name] : llvm::enumerate(outputs)) {
    Type type = end->getOperand(i).getType();
    // What the model says of a rank that is not known here, readers may rely on.
    auto declared = func.getResultAttrOfType<TypeAttr>(i, "onnx.declared_type");
    if (declared && isa<UnrankedTensorType>(type) && isa<RankedTensorType>(declared.getValue()))
      type = declared.getValue();
    declare(name, type, func.getResultAttrOfType<ArrayAttr>(i, "onnx.dim_params"), *graph.add_output());
  }
  return true;
}

/// No two nodes may have one name.
static void nameNodes(GraphProto &graph, UniqueNames &unique) {
  for (auto &node : *graph.mutable_node()) {
    if (!node.name().empty())
      node.set_name(unique.make(node.name()));
    for (auto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        nameNodes(*attribute.mutable_g(), unique);
  }
}

/// The IR version in which an opset of ai.onnx came out.
static int64_t irVersionOf(int64_t opset) {
  static constexpr std::pair<int, int> kFirstOpsets[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11},
                                                         {21, 10}, {19, 9},  {15, 8}};
  for (auto [first, version] : kFirstOpsets)
    if (opset >= first)
      return version;
  return 8;
}

/// Older opsets of ai.onnx are of little use.
static constexpr int64_t kOldestOpset = 17;

/// What decides from which opset on an op is the node that it becomes.
static NodeForm formOf(Operation *op) {
  const OpInfo *info = onnx::infoFor(op);
  NodeForm form;
  form.domain = info->domain.str();
  form.op = info->name.str();
  for (const onnx::AttrInfo &attr : info->attributes)
    if (attr.kind == onnx::AttrKind::Graph ? !op->getRegion(info->region(attr.name)).empty() : op->hasAttr(attr.name))
      form.attributes.push_back(attr.name.str());
  for (unsigned i = 0, e = onnx::numOperandPositions(op); i < e; ++i) {
    Value value = onnx::operand(op, i);
    form.inputs.push_back(value ? exportType(value.getType()) : TypeProto());
  }
  for (unsigned i = 0, e = onnx::numResultPositions(op); i < e; ++i) {
    Value value = onnx::result(op, i);
    form.outputs.push_back(value ? exportType(value.getType()) : TypeProto());
  }
  return form;
}

void ModelExporter::header(func::FuncOp func, const ExportOptions &options) {
  auto text = [&](StringRef name) {
    auto attr = module->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  // An old opset is read by more programs than the newest, which some know and do not implement.
  std::map<std::string, int64_t> opsets;
  const Schemas schemas;
  func.walk([&](Operation *op) {
    bool isInitializer = isa<onnx::ConstantOp>(op) && op->getBlock() == &func.front();
    if (!onnx::infoFor(op) || isInitializer)
      return;
    NodeForm form = formOf(op);
    int64_t &opset = opsets.try_emplace(form.domain, form.domain.empty() ? kOldestOpset : 1).first->second;
    // Operators without a schema are those of com.microsoft and of plugins.
    bool hasSchema = schemas.newest(form.domain) != 0;
    opset = std::max<int64_t>(opset, hasSchema ? oldestOpset(form, unchangedSince(form.domain, form.op))
                                               : onnx::infoFor(op)->sinceVersion);
  });
  for (const auto &[domain, opset] : opsets) {
    auto &import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(opset);
  }
  auto ir = opsets.find("");
  model.set_ir_version(irVersionOf(ir == opsets.end() ? 0 : ir->second));
  model.set_producer_name("optc");
  model.set_producer_version(options.version);
  model.set_domain(text("onnx.domain"));
  model.set_doc_string(text("onnx.doc_string"));
  if (auto version = module->getAttrOfType<IntegerAttr>("onnx.model_version"))
    model.set_model_version(version.getInt());
  model.mutable_graph()->set_name(text("onnx.graph_name").empty() ? "main" : text("onnx.graph_name"));
  auto metadata = module->getAttrOfType<ArrayAttr>("onnx.metadata");
  for (Attribute pair : metadata ? metadata.getValue() : ArrayRef<Attribute>()) {
    auto entry = dyn_cast<ArrayAttr>(pair);
    if (!entry || entry.size() != 2 || !isa<StringAttr>(entry[0]) || !isa<StringAttr>(entry[1]))
      continue;
    auto &property = *model.add_metadata_props();
    property.set_key(cast<StringAttr>(entry[0]).str());
    property.set_value(cast<StringAttr>(entry[1]).str());
  }
}

bool ModelExporter::run(const ExportOptions &options, std::string &reason) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func || !llvm::hasSingleElement(func.getBody())) {
    reason = "has no function main of one block";
    return false;
  }
  if (!graph(func, reason))
    return false;
  UniqueNames nodeNames;
  nameNodes(*model.mutable_graph(), nodeNames);
  header(func, options);
  return true;
}

//===----------------------------------------------------------------------===//
// The files
//===----------------------------------------------------------------------===//

/// Fields of onnx.proto that are written by hand.
static constexpr int kModelGraph = 7, kGraphInitializer = 5, kTensorRawData = 9;
/// Where weights begin in a file of their own: ONNX recommends pages, which can be mapped.
static constexpr uint64_t kPage = 4096;

/// Tag and length of a field of bytes.
static std::string fieldStart(int field, uint64_t length) {
  constexpr unsigned bytesType = 2;
  uint8_t buffer[10];
  std::string text(1, static_cast<char>(field << 3 | bytesType)); // fields up to 15 have a tag of one byte
  return text.append(reinterpret_cast<char *>(buffer), llvm::encodeULEB128(length, buffer));
}

/// An initializer up to its bytes.
static std::string initializerStart(const Weight &weight) {
  std::string tensor = weight.tensor.SerializeAsString();
  tensor += fieldStart(kTensorRawData, weight.bytes.size());
  return fieldStart(kGraphInitializer, tensor.size() + weight.bytes.size()) + tensor;
}

/// Moves weights into the list of external data of `location`; what is smaller than a page stays. The size of the file.
static uint64_t moveToExternal(std::vector<Weight> &weights, std::vector<Weight> &external, StringRef location) {
  uint64_t end = 0;
  std::vector<Weight> stay;
  for (Weight &weight : weights) {
    if (weight.bytes.size() < kPage) {
      stay.push_back(std::move(weight));
      continue;
    }
    uint64_t offset = llvm::alignTo(end, kPage);
    end = offset + weight.bytes.size();
    weight.tensor.set_data_location(TensorProto::EXTERNAL);
    for (const auto &[key, value] : {std::pair<const char *, std::string>("location", location.str()),
                                     {"offset", std::to_string(offset)},
                                     {"length", std::to_string(weight.bytes.size())}}) {
      auto &entry = *weight.tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    external.push_back(std::move(weight));
  }
  weights = std::move(stay);
  return end;
}

std::string optc::externalDataPath(StringRef path) { return (path + ".data").str(); }

Error optc::writeOnnxFile(ModuleOp module, StringRef path, const ExportOptions &options, ExportStats &stats) {
  ModelExporter exporter(module);
  std::string reason;
  if (!exporter.run(options, reason))
    return inputError("--emit=onnx: the module " + reason);
  GraphProto graph;
  graph.Swap(exporter.model.mutable_graph());
  exporter.model.clear_graph();

  stats = {};
  for (const Weight &weight : exporter.weights)
    stats.weightBytes += weight.bytes.size();
  uint64_t dataBytes = 0;
  std::vector<Weight> external;
  if (exporter.model.ByteSizeLong() + graph.ByteSizeLong() + stats.weightBytes + 64 * exporter.weights.size() >
      options.mostModelBytes) {
    dataBytes = moveToExternal(exporter.weights, external, llvm::sys::path::filename(externalDataPath(path)));
    for (const Weight &weight : external)
      *graph.add_initializer() = weight.tensor;
  }

  std::vector<std::string> starts;
  uint64_t graphBytes = graph.ByteSizeLong();
  for (const Weight &weight : exporter.weights) {
    starts.push_back(initializerStart(weight));
    graphBytes += starts.back().size() + weight.bytes.size();
  }
  uint64_t modelBytes = exporter.model.ByteSizeLong() + graphBytes + 11;
  if (modelBytes > options.mostModelBytes)
    return inputError("--emit=onnx: the model needs " + Twine(modelBytes) +
                      " bytes without its weights, more than protobuf reads (" + Twine(options.mostModelBytes) + ")");
  std::string head = exporter.model.SerializeAsString() + fieldStart(kModelGraph, graphBytes);
  stats.fileBytes = head.size() + graphBytes + dataBytes;
  if (options.maxBytes && stats.fileBytes > *options.maxBytes)
    return makeError(ExitCode::Limit, "the model has " + Twine(stats.fileBytes) +
                                          " bytes, more than --max-size=" + Twine(*options.maxBytes));

  llvm::Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->append(head + graph.SerializeAsString()))
    return error;
  for (auto [start, weight] : llvm::zip_equal(starts, exporter.weights)) {
    if (Error error = file->append(start))
      return error;
    if (Error error = file->append(StringRef(weight.bytes.data(), weight.bytes.size())))
      return error;
  }
  if (!external.empty()) {
    llvm::Expected<OutputFile> data = OutputFile::create(externalDataPath(path));
    if (!data)
      return data.takeError();
    for (const Weight &weight : external)
      if (Error error = data->write(weight.bytes, llvm::alignTo(data->size(), kPage)))
        return error;
    // First: a model without its weights must not appear.
    if (Error error = data->commit())
      return error;
  }
  return file->commit();
}
