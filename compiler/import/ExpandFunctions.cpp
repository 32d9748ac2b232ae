//===- ExpandFunctions.cpp - operators as their function bodies -----------===//
//
//   %0 = "onnx.ReduceL1"(%x) {keepdims = 1}
// becomes
//   %a = "onnx.Abs"(%x)
//   %0 = "onnx.ReduceSum"(%a) {keepdims = 1}
//
//===----------------------------------------------------------------------===//
#include "optc/compiler/import/ExpandFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "optc/compiler/import/Export.h"
#include "optc/compiler/import/Importer.h"
#include "optc/dialects/onnx/Onnx.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace optc;
using namespace optc::import;
using optc_onnx::AttributeProto;
using optc_onnx::FunctionProto;
using optc_onnx::NodeProto;
using optc_onnx::TypeProto;

/// Whether every size that `general` knows, `special` knows too.
static bool refines(Type special, Type general) { return special != general && joinTypes(special, general) == general; }

LogicalResult optc::expandFunctionBody(Operation *op, std::string &reason) {
  const onnx::OpInfo *info = onnx::infoFor(op);
  if (!info || !info->hasFunctionBody) {
    reason = "has no function body";
    return failure();
  }
  // Values that the regions capture keep their identity through names, which no body uses.
  llvm::MapVector<Value, std::string> names;
  auto nameOf = [&](Value v) {
    std::string &name = names[v];
    if (name.empty())
      name = "\x01v" + std::to_string(names.size());
    return name;
  };
  NodeProto node;
  if (!exportNode(op, nameOf, node, reason))
    return failure();
  std::vector<TypeProto> types;
  SmallVector<Value> inputs;
  for (unsigned i = 0, e = onnx::numOperandPositions(op); i < e; ++i) {
    Value v = onnx::operand(op, i);
    inputs.push_back(v);
    types.push_back(v ? exportType(v.getType()) : TypeProto());
  }
  FunctionProto body;
  std::vector<AttributeProto> defaults;
  if (!functionBody(node, types, body, defaults, reason))
    return failure();
  std::map<std::string, const AttributeProto *> attributes;
  for (const AttributeProto &a : defaults)
    attributes[a.name()] = &a;
  for (const AttributeProto &a : node.attribute())
    attributes[a.name()] = &a;

  Skeleton none;
  ImportOptions options;
  ImportedFiles files;
  Problems problems;
  TensorReader reader(*op->getContext(), none, "", options.caps, files);
  Importer importer(*op->getContext(), options, reader, problems);
  OpBuilder &builder = importer.opBuilder();
  builder.setInsertionPoint(op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> outputs;
  SmallVector<std::pair<std::string, Value>> captured;
  for (auto &[value, name] : names)
    if (value.getDefiningOp() != op && !op->isAncestor(value.getParentBlock()->getParentOp()))
      captured.emplace_back(name, value);
  bool good = importer.function(body, inputs, attributes, op->getLoc(), nullptr, outputs, captured);
  for (unsigned i = 0, e = onnx::numResultPositions(op); good && i < e; ++i)
    if (Value result = onnx::result(op, i))
      good = i < outputs.size() && outputs[i] && joinTypes(outputs[i].getType(), result.getType());
  auto first = before ? std::next(before->getIterator()) : op->getBlock()->begin();
  if (!good) {
    reason = "has a function body that cannot be imported";
    if (!problems.empty())
      reason += ": " + problems.list().front();
    SmallVector<Operation *> made;
    for (auto it = first; it != op->getIterator(); ++it)
      made.push_back(&*it);
    for (Operation *m : llvm::reverse(made)) {
      m->dropAllUses();
      m->erase();
    }
    return failure();
  }
  for (unsigned i = 0, e = onnx::numResultPositions(op); i < e; ++i) {
    Value result = onnx::result(op, i);
    if (!result)
      continue;
    Value output = outputs[i];
    if (output.getType() != result.getType()) {
      // Users may rely on what is known of the shape: keep the better type where the value is ours to change.
      Operation *maker = output.getDefiningOp();
      bool ours = maker && maker->getBlock() == op->getBlock() && (!before || before->isBeforeInBlock(maker)) &&
                  !isa<onnx::ConstantOp>(maker);
      if (ours && refines(result.getType(), output.getType()))
        output.setType(result.getType());
      else
        output = onnx::createOp(builder, op->getLoc(), "Identity", {output}, {result.getType()})->getResult(0);
    }
    result.replaceAllUsesWith(output);
  }
  op->erase();
  return success();
}

namespace {

struct ExpandFunctions : PassWrapper<ExpandFunctions, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandFunctions)

  ExpandFunctions() = default;
  explicit ExpandFunctions(std::function<bool(Operation *)> keep) : keepOp(std::move(keep)) {}
  ExpandFunctions(const ExpandFunctions &other) : PassWrapper(other), keepOp(other.keepOp) {}

  StringRef getArgument() const final { return "optc-expand-functions"; }
  StringRef getDescription() const final { return "Replace ONNX operators by their function bodies"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<onnx::OnnxDialect>(); }

  void runOnOperation() final {
    llvm::StringSet<> kept;
    for (const std::string &name : keepNames)
      kept.insert(name);
    // Bodies are of simpler operators, but the standard does not promise how deep they nest.
    constexpr unsigned mostRounds = 16;
    llvm::DenseSet<Operation *> failed;
    for (unsigned round = 0; round < mostRounds; ++round) {
      SmallVector<Operation *> work;
      // Outer ops first: the bodies of the standard copy subgraphs, and copy simple ones best.
      getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        const onnx::OpInfo *info = onnx::infoFor(op);
        if (!info || !info->hasFunctionBody || kept.contains(info->mlirName) || (keepOp && keepOp(op)) ||
            failed.contains(op))
          return WalkResult::advance();
        work.push_back(op);
        return WalkResult::skip();
      });
      if (work.empty())
        return;
      for (Operation *op : work) {
        std::string reason;
        if (succeeded(expandFunctionBody(op, reason)))
          ++expanded;
        else
          failed.insert(op);
      }
    }
  }

  std::function<bool(Operation *)> keepOp;
  ListOption<std::string> keepNames{*this, "keep", llvm::cl::desc("ops that stay, like onnx.Softmax")};
  Statistic expanded{this, "num-expanded", "operators replaced by their function bodies"};
};

} // namespace

std::unique_ptr<Pass> optc::createExpandFunctionsPass(std::function<bool(Operation *)> keep) {
  return std::make_unique<ExpandFunctions>(std::move(keep));
}

void optc::registerExpandFunctionsPass() { PassRegistration<ExpandFunctions>(); }
