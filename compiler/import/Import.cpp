//===- Import.cpp - model files, models and graphs ------------------------===//
#include "optc/compiler/import/Import.h"
#include "google/protobuf/io/coded_stream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "optc/compiler/import/Importer.h"
#include "optc/compiler/import/Text.h"
#include "optc/dialects/onnx/Onnx.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using optc_onnx::GraphProto;
using optc_onnx::ModelProto;
using optc_onnx::TensorProto;
using optc_onnx::TypeProto;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

const llvm::MemoryBuffer *ImportedFiles::map(StringRef path, std::string &reason) {
  auto &buffer = buffers[path.str()];
  if (buffer)
    return buffer.get();
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status)) {
    reason =
        error == std::errc::no_such_file_or_directory ? "does not exist" : "cannot be read (" + error.message() + ")";
  } else if (status.type() == llvm::sys::fs::file_type::directory_file) {
    reason = "is a directory";
  } else if (status.type() != llvm::sys::fs::file_type::regular_file) {
    reason = "is not a regular file";
  } else {
    auto opened = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (opened) {
      buffer = std::move(*opened);
      return buffer.get();
    }
    reason = "cannot be read (" + opened.getError().message() + ")";
  }
  buffers.erase(path.str());
  return nullptr;
}

std::vector<std::string> ImportedFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto &entry : buffers)
    paths.push_back(entry.first);
  return paths;
}

OwningOpRef<ModuleOp> optc::importOnnxFile(MLIRContext &ctx, StringRef path, const ImportOptions &options,
                                           ImportedFiles &files, Problems &problems) {
  std::string reason;
  const llvm::MemoryBuffer *buffer = files.map(path, reason);
  if (!buffer) {
    problems.add("The model file " + quoted(path) + " " + reason + "; give the path of an .onnx file.");
    return {};
  }
  StringRef folder = llvm::sys::path::parent_path(path);
  return importOnnxBuffer(ctx, buffer->getBuffer(), path, folder.empty() ? "." : folder, options, files, problems);
}

OwningOpRef<ModuleOp> optc::importOnnxBuffer(MLIRContext &ctx, StringRef bytes, StringRef name, StringRef folder,
                                             const ImportOptions &options, ImportedFiles &files, Problems &problems) {
  Skeleton skeleton;
  if (!scanModel(bytes, name, options.caps, skeleton, problems))
    return {};
  ModelProto model;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(skeleton.bytes.data()),
                                                skeleton.bytes.size());
  stream.SetTotalBytesLimit(INT32_MAX);
  stream.SetRecursionLimit(options.caps.nesting + 10);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    problems.add(quoted(name) + " is damaged: protobuf cannot parse it as an ONNX model; copy or export it again.");
    return {};
  }
  std::string().swap(skeleton.bytes);
  ctx.loadDialect<onnx::OnnxDialect, func::FuncDialect>();
  TensorReader reader(ctx, skeleton, folder, options.caps, files);
  Importer importer(ctx, options, reader, problems);
  return importer.model(model, name);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Importer::type(const TypeProto &proto, std::string &reason, SmallVectorImpl<Attribute> *params) {
  if (proto.has_tensor_type()) {
    const auto &tensor = proto.tensor_type();
    if (!tensor.has_shape()) {
      auto type = tensorType(ctx, tensor.elem_type(), {}, reason);
      return type ? Type(UnrankedTensorType::get(type.getElementType())) : Type();
    }
    SmallVector<int64_t> dims;
    for (const auto &dim : tensor.shape().dim()) {
      // Exporters write "?" for a size without a name: two of those are not one size.
      std::string param = dim.dim_param() == "?" ? std::string() : dim.dim_param();
      bool known = dim.has_dim_value() && dim.dim_value() >= 0;
      auto given = options.dims.find(param);
      if (!known && !param.empty() && given != options.dims.end()) {
        dims.push_back(given->second);
        param.clear();
      } else {
        dims.push_back(known ? dim.dim_value() : ShapedType::kDynamic);
      }
      if (params)
        params->push_back(builder.getStringAttr(known ? "" : param));
    }
    return tensorType(ctx, tensor.elem_type(), dims, reason);
  }
  if (proto.has_sequence_type() || proto.has_optional_type()) {
    bool isSequence = proto.has_sequence_type();
    Type element =
        type(isSequence ? proto.sequence_type().elem_type() : proto.optional_type().elem_type(), reason, nullptr);
    if (!element)
      return {};
    // The types check what they may hold; their message is not for users.
    auto quiet = [&] {
      reason = std::string("is ") + (isSequence ? "a sequence" : "an optional") + " of " + typeName(element) +
               ", which ONNX does not define";
      return InFlightDiagnostic();
    };
    return isSequence ? Type(onnx::SeqType::getChecked(quiet, &ctx, element))
                      : Type(onnx::OptType::getChecked(quiet, &ctx, element));
  }
  if (proto.has_map_type()) {
    Type key = onnx::elementTypeOf(&ctx, proto.map_type().key_type());
    Type value = type(proto.map_type().value_type(), reason, nullptr);
    if (!key || !value) {
      if (reason.empty())
        reason = "is a map without a type of keys";
      return {};
    }
    return onnx::MapType::getChecked(
        [&] {
          reason = "is a map with keys or values that ONNX does not define";
          return InFlightDiagnostic();
        },
        &ctx, key, value);
  }
  reason = proto.has_sparse_tensor_type() ? "is a sparse tensor, which optc supports only as initializer"
           : proto.has_opaque_type()      ? "has an opaque type, which optc does not support"
                                          : "has no type";
  return {};
}

/// The type of a graph input, with the shapes that the user gave.
Type Importer::inputType(const optc_onnx::ValueInfoProto &info, SmallVectorImpl<Attribute> &params) {
  std::string reason, what = "The input " + quoted(info.name());
  Type result = type(info.type(), reason, &params);
  if (!result) {
    problems.add(what + " of the graph " + reason + ".");
    return {};
  }
  auto given = options.shapes.find(info.name());
  if (given == options.shapes.end())
    return result;
  auto tensor = dyn_cast<TensorType>(result);
  if (!tensor) {
    problems.add(what + " is " + typeName(result) + ", so it takes no --shape.");
    return {};
  }
  SmallVector<int64_t> dims;
  for (int64_t d : given->second)
    dims.push_back(d < 0 ? ShapedType::kDynamic : d);
  if (tensor.hasRank() && tensor.getRank() != static_cast<int64_t>(dims.size())) {
    problems.add(what + " has " + Twine(tensor.getRank()) + " dimensions, but --shape gives " + Twine(dims.size()) +
                 ".");
    return {};
  }
  for (size_t i = 0; tensor.hasRank() && i < dims.size(); ++i) {
    int64_t declared = tensor.getDimSize(i);
    if (ShapedType::isDynamic(dims[i])) {
      dims[i] = declared;
    } else if (!ShapedType::isDynamic(declared) && declared != dims[i]) {
      problems.add(what + " has the fixed size " + Twine(declared) + " on axis " + Twine(i) + ", but --shape gives " +
                   Twine(dims[i]) + "; only sizes that the model leaves open can be given.");
      return {};
    } else {
      params[i] = builder.getStringAttr("");
    }
  }
  if (!tensor.hasRank())
    params.assign(dims.size(), builder.getStringAttr(""));
  RankedTensorType ranked = tensorType(ctx, onnx::dataTypeOf(tensor.getElementType()), dims, reason);
  if (!ranked)
    problems.add(what + " " + reason + ".");
  return ranked;
}

/// Every --dim and --shape has to name something.
void Importer::checkOptions(const GraphProto &graph) {
  std::vector<StringRef> inputs, params;
  std::vector<const TypeProto *> types;
  for (const auto &list : {&graph.input(), &graph.output()})
    for (const auto &info : *list) {
      if (list == &graph.input())
        inputs.push_back(info.name());
      if (info.type().has_tensor_type())
        for (const auto &dim : info.type().tensor_type().shape().dim())
          if (!dim.dim_param().empty() && !llvm::is_contained(params, dim.dim_param()))
            params.push_back(dim.dim_param());
    }
  auto known = [](ArrayRef<StringRef> names) {
    std::vector<std::string> shown;
    for (StringRef name : names.take_front(20))
      shown.push_back(quoted(name));
    return shown.empty() ? std::string("none") : listed(shown);
  };
  for (const auto &[name, size] : options.dims) {
    if (size < 0)
      problems.add("The size " + Twine(size) + " of the dimension " + quoted(name) + " is negative.");
    else if (!llvm::is_contained(params, name))
      problems.add("The model has no symbolic dimension " + quoted(name) + didYouMean(name, params) +
                   "; its symbolic dimensions: " + known(params) + ".");
  }
  for (const auto &entry : options.shapes)
    if (!llvm::is_contained(inputs, entry.first))
      problems.add("The model has no input " + quoted(entry.first) + didYouMean(entry.first, inputs) +
                   "; its inputs: " + known(inputs) + ".");
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

void Importer::opsetsOf(const google::protobuf::RepeatedPtrField<optc_onnx::OperatorSetIdProto> &imports,
                        Opsets &opsets) {
  for (const auto &import : imports) {
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    int64_t &version = opsets[domain];
    version = std::max(version, import.version());
  }
}

void Importer::metadata(const ModelProto &model, ModuleOp module) {
  auto text = [&](StringRef name, const std::string &value) {
    if (!value.empty())
      module->setAttr(name, builder.getStringAttr(value));
  };
  module->setAttr("onnx.ir_version", builder.getI64IntegerAttr(model.ir_version()));
  text("onnx.producer_name", model.producer_name());
  text("onnx.producer_version", model.producer_version());
  text("onnx.domain", model.domain());
  text("onnx.doc_string", model.doc_string());
  text("onnx.graph_name", model.graph().name());
  if (model.has_model_version())
    module->setAttr("onnx.model_version", builder.getI64IntegerAttr(model.model_version()));
  SmallVector<Attribute> pairs;
  for (const auto &entry : model.metadata_props())
    pairs.push_back(builder.getStrArrayAttr({entry.key(), entry.value()}));
  if (!pairs.empty())
    module->setAttr("onnx.metadata", builder.getArrayAttr(pairs));
  SmallVector<Attribute> imports;
  for (const auto &[domain, version] : *modelOpsets)
    imports.push_back(builder.getArrayAttr({builder.getStringAttr(domain), builder.getI64IntegerAttr(version)}));
  module->setAttr("onnx.opsets", builder.getArrayAttr(imports));
}

/// Functions that call functions can stand for any number of nodes: counts them before anything is made.
bool Importer::checkFunctionSizes(const GraphProto &graph) {
  std::map<const optc_onnx::FunctionProto *, uint64_t> sizes;
  const uint64_t most = options.caps.inlinedNodes;
  // Recursion counts as one node here; it is refused where it is called.
  std::function<uint64_t(const google::protobuf::RepeatedPtrField<optc_onnx::NodeProto> &)> count =
      [&](const auto &nodes) {
        uint64_t total = nodes.size();
        for (const auto &node : nodes) {
          for (const auto &a : node.attribute())
            total += a.has_g() ? count(a.g().node()) : 0;
          std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
          auto it = functions.find(domain + '\n' + node.op_type() + '\n' + node.overload());
          if (it != functions.end()) {
            auto [size, isNew] = sizes.try_emplace(it->second, 1);
            if (isNew)
              size->second = count(it->second->node());
            total += size->second;
          }
          if (total > most)
            return most + 1;
        }
        return total;
      };
  if (functions.empty() || count(graph.node()) <= most)
    return true;
  problems.add("The model has more than " + Twine(most) + " nodes once its functions are inlined.");
  return false;
}

OwningOpRef<ModuleOp> Importer::model(const ModelProto &model, StringRef name) {
  const GraphProto &graph = model.graph();
  Opsets opsets;
  opsetsOf(model.opset_import(), opsets);
  if (model.ir_version() > optc_onnx::IR_VERSION) {
    problems.add("The model " + quoted(name) + " has IR version " + Twine(model.ir_version()) +
                 ", but optc knows up to IR version " + Twine(static_cast<int64_t>(optc_onnx::IR_VERSION)) +
                 "; use a newer optc, or save the model with an older onnx.");
    return {};
  }
  if (opsets.empty() && (model.ir_version() >= 3 || !model.has_ir_version())) {
    problems.add("The model " + quoted(name) +
                 " has no opset_import, so the versions of its operators are unknown; export it again, or add one with "
                 "onnx.helper.make_opsetid.");
    return {};
  }
  // IR versions 1 and 2 know no opset_import; their operators are those of opset 1.
  if (opsets.empty())
    opsets[""] = 1;
  modelOpsets = &opsets;
  for (const auto &[domain, version] : opsets) {
    int newest = schemas.newest(domain);
    if (newest && version > newest)
      problems.add("The model needs opset " + Twine(version) + " of the domain " +
                   quoted(domain.empty() ? "ai.onnx" : domain) + ", but optc knows up to opset " + Twine(newest) +
                   "; convert it with onnx.version_converter or use a newer optc.");
    if (newest && version < 1)
      problems.add("The model needs opset " + Twine(version) + " of the domain " +
                   quoted(domain.empty() ? "ai.onnx" : domain) + ", but opsets start at 1.");
  }
  for (const auto &function : model.functions()) {
    std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    std::string key = domain + '\n' + function.name() + '\n' + function.overload();
    if (!functions.try_emplace(key, &function).second)
      problems.add("The model defines the function " + quoted(function.name()) + " of the domain " + quoted(domain) +
                   " twice; rename one of them.");
  }
  checkOptions(graph);
  if (!checkFunctionSizes(graph))
    return {};

  Location fileLoc = NameLoc::get(builder.getStringAttr(name));
  OwningOpRef<ModuleOp> module = ModuleOp::create(fileLoc);
  metadata(model, *module);

  // Since IR version 4 an initializer that is also an input is a default; before, every initializer was an input.
  llvm::StringMap<const TensorProto *> defaults;
  llvm::StringSet<> constants;
  for (const TensorProto &t : graph.initializer())
    (model.ir_version() >= 4 ? (void)(defaults[t.name()] = &t) : (void)constants.insert(t.name()));
  for (const auto &t : graph.sparse_initializer())
    constants.insert(t.values().name());

  Scope scope;
  Frame frame;
  frame.opsets = &opsets;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> argAttrs;
  SmallVector<std::string> names;
  llvm::StringSet<> overridable;
  for (const auto &info : graph.input()) {
    if (constants.contains(info.name()))
      continue;
    SmallVector<Attribute> params;
    Type type = inputType(info, params);
    if (info.name().empty())
      problems.add("An input of the graph has no name.");
    NamedAttrList attrs;
    attrs.set("onnx.name", builder.getStringAttr(info.name()));
    if (const TensorProto *t = defaults.lookup(info.name())) {
      overridable.insert(info.name());
      std::string reason;
      ElementsAttr value = reader.attribute(*t, reason);
      if (!value)
        problems.add("The initializer " + quoted(info.name()) + " " + reason + ".");
      else if (type && joinTypes(value.getType(), type) != type)
        problems.add("The initializer " + quoted(info.name()) + " is " + typeName(value.getType()) +
                     ", but the input of that name is " + typeName(type) + ".");
      else
        attrs.set("onnx.default", value);
      // Whatever is given instead has the default's sizes.
      if (type && attrs.get("onnx.default")) {
        type = value.getType();
        params.assign(cast<RankedTensorType>(type).getRank(), builder.getStringAttr(""));
      }
    }
    attrs.set("onnx.dim_params", builder.getArrayAttr(params));
    // Goes on after a problem, to find more of them.
    types.push_back(type ? type : Type(UnrankedTensorType::get(builder.getF32Type())));
    argAttrs.push_back(attrs.getDictionary(&ctx));
    names.push_back(info.name());
    if (!type)
      scope.broken.insert(info.name());
  }
  builder.setInsertionPointToStart(module->getBody());
  auto func = func::FuncOp::create(builder, fileLoc, "main", builder.getFunctionType(types, {}));
  Block *entry = func.addEntryBlock();
  for (auto [i, attrs] : llvm::enumerate(argAttrs))
    func.setArgAttrs(i, attrs);
  for (auto [i, argName] : llvm::enumerate(names)) {
    entry->getArgument(i).setLoc(NameLoc::get(builder.getStringAttr(argName)));
    if (!define(scope, argName, entry->getArgument(i)))
      problems.add("Two inputs of the graph are called " + quoted(argName) + "; names have to be unique.");
  }
  builder.setInsertionPointToStart(entry);
  initializers(graph, scope, overridable);
  nodes(graph.node(), scope, frame, "the graph");

  SmallVector<Value> results;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  if (graph.output().empty())
    problems.add("The graph has no outputs, so there is nothing to compute.");
  for (const auto &info : graph.output()) {
    bool found, broken;
    Value value = lookup(scope, info.name(), found, broken);
    if (!found && !broken) {
      problems.add("The output " + quoted(info.name()) + " of the graph is not defined by any node.");
      continue;
    }
    if (!value || broken)
      continue;
    NamedAttrList attrs;
    SmallVector<Attribute> params;
    std::string reason;
    attrs.set("onnx.name", builder.getStringAttr(info.name()));
    // Outputs may come without a type; a stale shape is only advice, a wrong kind of value is a mistake.
    if (info.has_type()) {
      Type declared = type(info.type(), reason, &params);
      if (!declared && info.type().value_case() != TypeProto::VALUE_NOT_SET)
        problems.add("The output " + quoted(info.name()) + " of the graph " + reason + ".");
      else if (declared && !joinTypes(declared, value.getType()))
        problems.add("The output " + quoted(info.name()) + " of the graph is declared as " + typeName(declared) +
                     ", but its value is " + typeName(value.getType()) + ".");
      else if (declared)
        attrs.set("onnx.declared_type", TypeAttr::get(declared));
    }
    attrs.set("onnx.dim_params", builder.getArrayAttr(params));
    results.push_back(value);
    resultTypes.push_back(value.getType());
    resultAttrs.push_back(attrs.getDictionary(&ctx));
  }
  if (!problems.empty())
    return {};
  func::ReturnOp::create(builder, fileLoc, results);
  func.setType(builder.getFunctionType(types, resultTypes));
  for (auto [i, attrs] : llvm::enumerate(resultAttrs))
    func.setResultAttrs(i, attrs);

  // What the table of operators cannot express is checked by the verifiers of the ops.
  ScopedDiagnosticHandler handler(&ctx, [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Error) {
      std::string where;
      if (auto loc = diag.getLocation()->findInstanceOf<NameLoc>())
        where = "Node " + quoted(loc.getName()) + ": ";
      problems.add(where + diag.str() + ".");
    }
    return success();
  });
  if (failed(verify(*module)))
    return {};
  return module;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool Importer::define(Scope &scope, StringRef name, Value value) {
  return scope.values.try_emplace(name, value).second;
}

Value Importer::lookup(Scope &scope, StringRef name, bool &found, bool &broken) {
  found = broken = false;
  for (Scope *s = &scope; s; s = s->parent) {
    auto it = s->values.find(name);
    broken = s->broken.contains(name);
    found = it != s->values.end();
    if (found)
      return it->second;
    if (broken)
      return {};
  }
  return {};
}

bool Importer::initializers(const GraphProto &graph, Scope &scope, const llvm::StringSet<> &skip) {
  bool good = true;
  auto add = [&](StringRef name, ElementsAttr value, const std::string &reason) {
    if (!value) {
      problems.add("The initializer " + quoted(name) + " " + reason + ".");
      scope.broken.insert(name);
      good = false;
      return;
    }
    Location loc = NameLoc::get(builder.getStringAttr(name.empty() ? "initializer" : name));
    if (!define(scope, name, onnx::ConstantOp::create(builder, loc, value).getOutput())) {
      problems.add("The initializer " + quoted(name) +
                   " has a name that is already taken in its graph; names have to be unique.");
      good = false;
    }
  };
  for (const TensorProto &t : graph.initializer()) {
    if (skip.contains(t.name()))
      continue;
    std::string reason;
    ElementsAttr value = reader.attribute(t, reason);
    add(t.name(), value, reason);
  }
  for (const auto &t : graph.sparse_initializer()) {
    std::string reason;
    ElementsAttr value = reader.attribute(t, reason);
    add(t.values().name(), value, reason);
  }
  return good;
}

bool Importer::nodes(const google::protobuf::RepeatedPtrField<optc_onnx::NodeProto> &list, Scope &scope,
                     const Frame &frame, const Twine &where) {
  size_t before = problems.count();
  std::vector<std::string> cycle;
  std::vector<int> order = sortedNodes(list, [&](StringRef name) { return scope.values.count(name) != 0; }, cycle);
  if (!cycle.empty()) {
    std::vector<std::string> names;
    for (const std::string &name : cycle)
      names.push_back(quoted(name));
    problems.add("The nodes " + listed(names) + " of " + where + " depend on each other in a cycle.");
    // Still look at each of them.
    for (int i = 0; i < list.size(); ++i) {
      order.push_back(i);
      for (const std::string &output : list[i].output())
        scope.broken.insert(output);
    }
  }
  for (int i : order)
    node(list[i], scope, frame);
  return problems.count() == before;
}
