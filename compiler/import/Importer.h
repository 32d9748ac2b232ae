//===- Importer.h - the importer at work ------------------------*- C++ -*-===//
#ifndef OPTC_COMPILER_IMPORT_IMPORTER_H
#define OPTC_COMPILER_IMPORT_IMPORTER_H
#include "mlir/IR/Builders.h"
#include "optc/compiler/import/Node.h"
#include "optc/compiler/import/Tensors.h"
#include "optc/compiler/import/Upgrade.h"
#include "optc/compiler/import/schemas/Schemas.h"
#include "optc/dialects/onnx/OpTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace optc::import {

/// Versions by domain ("" for ai.onnx).
using Opsets = std::map<std::string, int64_t>;

/// The named values of one graph. Subgraphs see the values of the graphs around them; functions do not.
struct Scope {
  Scope *parent = nullptr;
  /// A null value: defined, but absent (an optional input of a function), or the result of a node with a problem.
  llvm::StringMap<mlir::Value> values;
  /// Values of nodes that had a problem: what uses them is checked, but not imported.
  llvm::StringSet<> broken;
};

/// Where nodes come from: the model's graph, or a function being inlined.
struct Frame {
  const Opsets *opsets = nullptr;
  /// Attributes of the call, by the function's names; null in the model's graph.
  const std::map<std::string, const optc_onnx::AttributeProto *> *attributes = nullptr;
  const optc_onnx::FunctionProto *function = nullptr;
  const Frame *caller = nullptr;
  /// Location of the call.
  mlir::Location *location = nullptr;
};

class Importer {
public:
  Importer(mlir::MLIRContext &ctx, const ImportOptions &options, TensorReader &reader, Problems &problems)
      : ctx(ctx), builder(&ctx), options(options), reader(reader), problems(problems) {}

  /// Imports the model into a module with one function main.
  mlir::OwningOpRef<mlir::ModuleOp> model(const optc_onnx::ModelProto &model, llvm::StringRef name);

  /// Imports the body of a function at the insertion point. False with problems. Its subgraphs may use the values
  /// `captured` by name, behind those of the function.
  bool function(const optc_onnx::FunctionProto &function, llvm::ArrayRef<mlir::Value> inputs,
                const std::map<std::string, const optc_onnx::AttributeProto *> &attributes, mlir::Location loc,
                const Frame *caller, llvm::SmallVectorImpl<mlir::Value> &outputs,
                llvm::ArrayRef<std::pair<std::string, mlir::Value>> captured = {});

  mlir::OpBuilder &opBuilder() { return builder; }

private:
  friend class NodeImporter;
  // Import.cpp: models and graphs.
  bool graphBody(const optc_onnx::GraphProto &graph, Scope &scope, const Frame &frame);
  bool initializers(const optc_onnx::GraphProto &graph, Scope &scope, const llvm::StringSet<> &skip);
  bool nodes(const google::protobuf::RepeatedPtrField<optc_onnx::NodeProto> &nodes, Scope &scope, const Frame &frame,
             const llvm::Twine &where);
  mlir::Type type(const optc_onnx::TypeProto &proto, std::string &reason,
                  llvm::SmallVectorImpl<mlir::Attribute> *params);
  mlir::Type inputType(const optc_onnx::ValueInfoProto &info, llvm::SmallVectorImpl<mlir::Attribute> &params);
  void opsetsOf(const google::protobuf::RepeatedPtrField<optc_onnx::OperatorSetIdProto> &imports, Opsets &opsets);
  void metadata(const optc_onnx::ModelProto &model, mlir::ModuleOp module);
  void checkOptions(const optc_onnx::GraphProto &graph);
  bool checkFunctionSizes(const optc_onnx::GraphProto &graph);

  // ImportNode.cpp: one node.
  void node(const optc_onnx::NodeProto &proto, Scope &scope, const Frame &frame);
  bool resolve(const optc_onnx::NodeProto &proto, const Frame &frame, Node &node);
  void call(const Node &node, const optc_onnx::FunctionProto &function, Scope &scope, const Frame &frame,
            mlir::Location loc);
  /// Makes the op of a node in its newest form.
  bool create(const Node &node, Scope &scope, const Frame &frame, mlir::Location loc, const std::string &where);
  bool constant(const Node &node, Scope &scope, mlir::Location loc, const std::string &where);
  mlir::Attribute attribute(const Node &node, const optc_onnx::AttributeProto &proto, onnx::AttrKind kind,
                            const std::string &where);
  bool subgraph(const optc_onnx::GraphProto &graph, const onnx::OpInfo &info, llvm::StringRef attr,
                llvm::ArrayRef<mlir::Value> operands, const Node &node, Scope &scope, const Frame &frame,
                mlir::Region &region, const std::string &where);
  /// Wraps what the body of a Loop yields for a value that is carried as an optional.
  void wrapOptionals(llvm::ArrayRef<mlir::Value> operands, mlir::Region &body, std::vector<mlir::Type> &yields,
                     llvm::SmallDenseSet<size_t> &wrapped);
  UpgradeQuery query(Scope &scope);

  // NodeChecks.cpp: is this a node of its opset?
  bool check(const Node &node, int64_t opset, const std::string &where);
  bool checkContrib(const Node &node, int64_t opset, const std::string &where);
  bool checkTypes(const Node &node, const onnx::OpInfo &info, llvm::ArrayRef<mlir::Value> operands,
                  const std::string &where);
  void unknownOperator(const Node &node, int64_t opset, const std::string &where);

  bool define(Scope &scope, llvm::StringRef name, mlir::Value value);
  /// Null when there is no such value (or an absent one); `found` tells.
  mlir::Value lookup(Scope &scope, llvm::StringRef name, bool &found, bool &broken);

  mlir::MLIRContext &ctx;
  mlir::OpBuilder builder;
  const ImportOptions &options;
  TensorReader &reader;
  Problems &problems;
  Schemas schemas;
  AttributeArena arena;
  std::map<std::string, const optc_onnx::FunctionProto *> functions;
  std::deque<Opsets> functionOpsets;
  const Opsets *modelOpsets = nullptr;
  uint64_t fresh = 0;
};

/// Types of the results of a node in its newest form, by ONNX position, null for absent ones. `yields` are the types
/// that its subgraphs end in. False with a clause when the element type of one cannot be told.
bool resultTypes(const Node &node, const onnx::OpInfo &info, llvm::ArrayRef<mlir::Value> operands,
                 llvm::ArrayRef<std::vector<mlir::Type>> yields, llvm::ArrayRef<mlir::NamedAttribute> attributes,
                 mlir::MLIRContext &ctx, llvm::SmallVectorImpl<mlir::Type> &types, std::string &reason);

/// What is common to two types: an unknown size where sizes differ, an unknown rank where ranks do. Null when the kinds
/// or element types differ.
mlir::Type joinTypes(mlir::Type a, mlir::Type b);

/// The types of a set of OpTable.h, for messages: "float, double or int64".
std::string typeNames(mlir::MLIRContext &ctx, uint64_t mask);
/// A type in ONNX's words: "tensor(float)".
std::string typeName(mlir::Type type);

/// The elements of a constant tensor of integers, up to a bound.
std::optional<std::vector<int64_t>> constantInts(mlir::Value value);
/// The elements of a constant tensor of floats, up to a bound.
std::optional<std::vector<float>> constantFloats(mlir::Value value);

/// Prefix of the names of values that the importer makes up.
inline constexpr llvm::StringLiteral freshPrefix("\x01optc.");

} // namespace optc::import
#endif
