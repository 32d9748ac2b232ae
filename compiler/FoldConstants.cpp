//===- FoldConstants.cpp - compute at compile time what is constant -------===//
//
// An op can be folded when its operator is in the table below and all its operands are constants or folded. Of the
// values that such ops compute, those that other ops use become constants; the rest is never stored.
//
// A model must not grow by that. Every constant may leave behind twice its own bytes: itself where something else uses
// it, and what is computed from it. Results of up to `freeBytes` are free.
//
//===----------------------------------------------------------------------===//
#include "optc/compiler/FoldConstants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "optc/compiler/Dialects.h"
#include "optc/compiler/Evaluate.h"
#include "optc/dialects/onnx/Elements.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace optc;

//===----------------------------------------------------------------------===//
// What can be folded
//===----------------------------------------------------------------------===//

namespace {
/// What the work of an op is proportional to.
enum class Cost { Results, Operands, Product };
} // namespace

/// Operators whose results IEEE arithmetic fixes bit for bit without libm, and that only depend on their operands.
/// DequantizeLinear is none: what is quantized stays so. Nor are operators whose result has a size that a run decides.
static const llvm::StringMap<Cost> &foldable() {
  static const llvm::StringMap<Cost> table = [] {
    llvm::StringMap<Cost> t;
    for (StringRef name : {"Abs",        "Add",
                           "And",        "BitShift",
                           "BitwiseAnd", "BitwiseNot",
                           "BitwiseOr",  "BitwiseXor",
                           "Cast",       "CastLike",
                           "Ceil",       "Clip",
                           "Concat",     "DepthToSpace",
                           "Div",        "Equal",
                           "Expand",     "EyeLike",
                           "Flatten",    "Floor",
                           "Gather",     "GatherElements",
                           "GatherND",   "Greater",
                           "Identity",   "IsInf",
                           "IsNaN",      "GreaterOrEqual",
                           "Less",       "LessOrEqual",
                           "Max",        "Min",
                           "Mod",        "Mul",
                           "Neg",        "Not",
                           "OneHot",     "Or",
                           "Pad",        "QuantizeLinear",
                           "Range",      "Reciprocal",
                           "Relu",       "Reshape",
                           "Round",      "ScatterElements",
                           "ScatterND",  "Shape",
                           "Sign",       "Size",
                           "Slice",      "SpaceToDepth",
                           "Split",      "Sqrt",
                           "Squeeze",    "Sub",
                           "Sum",        "Tile",
                           "Transpose",  "Trilu",
                           "Unsqueeze",  "Where",
                           "Xor",        "ConstantOfShape"})
      t[("onnx." + name).str()] = Cost::Results;
    for (StringRef name : {"ArgMax", "ArgMin", "CumSum", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin",
                           "ReduceProd", "ReduceSum", "ReduceSumSquare"})
      t[("onnx." + name).str()] = Cost::Operands;
    for (StringRef name : {"Gemm", "MatMul"})
      t[("onnx." + name).str()] = Cost::Product;
    return t;
  }();
  return table;
}

/// The type of a tensor of numbers whose size is known, null for other values.
static RankedTensorType numbers(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool good = tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat() &&
              onnx::dataTypeOf(tensor.getElementType()) != 0;
  // Larger ones would overflow the sums below.
  APInt count(64, 1);
  bool overflow = false;
  for (int64_t size : good ? tensor.getShape() : ArrayRef<int64_t>())
    if (count = count.umul_ov(APInt(64, size), overflow); overflow || count.getActiveBits() > 40)
      return {};
  return good ? tensor : RankedTensorType();
}

static uint64_t elementsOf(ValueRange values) {
  uint64_t sum = 0;
  for (Value value : values)
    if (RankedTensorType type = numbers(value.getType()))
      sum += type.getNumElements();
  return sum;
}

static uint64_t stepsOf(Operation *op) {
  uint64_t results = elementsOf(op->getResults());
  switch (foldable().lookup(op->getName().getStringRef())) {
  case Cost::Results:
    return results;
  case Cost::Operands:
    return results + elementsOf(op->getOperands());
  case Cost::Product: {
    // The contracted axis is the last one of the first operand, or, for a transposed matrix, no longer than all of it.
    auto lhs = numbers(op->getOperand(0).getType());
    uint64_t depth = !lhs || !lhs.getRank() ? 1 : lhs.getShape().back();
    if (auto flag = op->getAttrOfType<IntegerAttr>("transA"); flag && flag.getInt() && lhs)
      depth = lhs.getShape().front();
    return results * std::min<uint64_t>(std::max<uint64_t>(depth, 1), 1 << 20);
  }
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {
/// Which values of a module become constants.
class Selection {
public:
  Selection(ModuleOp module, const FoldBudget &budget) : budget(budget) { choose(module); }

  /// In program order.
  SmallVector<OpResult> values;
  /// Values that other ops use and that stay, with a clause that says why.
  SmallVector<std::pair<OpResult, const char *>> declined;

  bool canFold(Operation *op) const { return folds.contains(op); }

private:
  /// What a value is computed from.
  struct Cone {
    SmallVector<Operation *> ops; ///< not in the batch yet
    llvm::SmallSetVector<Operation *, 4> sources;
    uint64_t steps = 0;
  };
  void choose(ModuleOp module);
  bool isFoldable(Operation *op) const;
  std::optional<Cone> coneOf(Operation *op);
  const char *reasonAgainst(OpResult value);

  const FoldBudget &budget;
  llvm::DenseSet<Operation *> folds;
  llvm::DenseSet<Operation *> inBatch;
  llvm::DenseMap<Operation *, uint64_t> allowance; ///< bytes that may still be computed from a constant
  uint64_t bytes = 0, steps = 0, visits = 0;
};

/// Visits of ops while cones are looked at: a bound on the time for graphs made to be slow.
constexpr uint64_t kMaxVisits = 4'000'000;
} // namespace

bool Selection::isFoldable(Operation *op) const {
  if (!foldable().contains(op->getName().getStringRef()) || op->getNumRegions())
    return false;
  auto isConstant = [&](Value v) {
    Operation *def = v.getDefiningOp();
    return def && numbers(v.getType()) && (isa<onnx::ConstantOp>(def) || folds.contains(def));
  };
  return llvm::all_of(op->getOperands(), isConstant) &&
         llvm::all_of(op->getResultTypes(), [](Type t) { return bool(numbers(t)); });
}

std::optional<Selection::Cone> Selection::coneOf(Operation *root) {
  Cone cone;
  llvm::SmallPtrSet<Operation *, 16> seen{root};
  SmallVector<Operation *> work{root};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (++visits > kMaxVisits)
      return std::nullopt;
    if (isa<onnx::ConstantOp>(op)) {
      cone.sources.insert(op);
      continue;
    }
    if (!inBatch.contains(op)) {
      cone.ops.push_back(op);
      cone.steps += stepsOf(op);
    }
    for (Value operand : op->getOperands())
      if (seen.insert(operand.getDefiningOp()).second)
        work.push_back(operand.getDefiningOp());
  }
  // Other constants than resources are spread out in memory.
  for (Operation *source : cone.sources)
    if (!isa<DenseResourceElementsAttr>(cast<onnx::ConstantOp>(source).getValue()))
      cone.steps += elementsOf(source->getResults());
  return cone;
}

/// Takes the value into the batch, or says why not.
const char *Selection::reasonAgainst(OpResult value) {
  std::optional<Cone> cone = coneOf(value.getOwner());
  if (!cone || cone->steps > budget.steps - steps)
    return "it takes more steps than constant folding may";
  uint64_t size = onnx::rawBytes(numbers(value.getType()));
  if (size > budget.bytes - bytes)
    return "it has more bytes than constant folding may make";
  if (size > budget.freeBytes) {
    uint64_t allowed = budget.freeBytes;
    for (Operation *source : cone->sources) {
      uint64_t own = onnx::rawBytes(numbers(source->getResult(0).getType()));
      bool goes = llvm::all_of(source->getUsers(), [&](Operation *user) { return folds.contains(user); });
      allowed += allowance.try_emplace(source, goes ? 2 * own : own).first->second;
    }
    if (size > allowed)
      return "it is larger than what it is computed from";
    uint64_t left = size - budget.freeBytes;
    for (Operation *source : cone->sources) {
      uint64_t part = std::min(left, allowance[source]);
      allowance[source] -= part;
      left -= part;
    }
  }
  bytes += size;
  steps += cone->steps;
  inBatch.insert(cone->ops.begin(), cone->ops.end());
  values.push_back(value);
  return nullptr;
}

void Selection::choose(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    if (isFoldable(op))
      folds.insert(op);
  });
  if (folds.empty())
    return;
  // From users to what they use: whether an op stays is known before its operands are looked at.
  llvm::DenseSet<Value> needed;
  for (Operation *op : llvm::reverse(ops)) {
    bool stays = !folds.contains(op);
    if (!stays)
      for (OpResult result : op->getResults()) {
        if (!needed.contains(result))
          continue;
        if (const char *reason = reasonAgainst(result)) {
          declined.emplace_back(result, reason);
          stays = true;
        }
      }
    if (stays)
      needed.insert(op->operand_begin(), op->operand_end());
  }
  std::reverse(values.begin(), values.end());
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

namespace {
/// A module that computes some values, and the memory that they go to.
class Batch {
public:
  Batch(ArrayRef<OpResult> values, MLIRContext *context);
  llvm::Error run() { return evaluateModule(*module, inputs, outputs); }
  /// The value of result `i`, after a run.
  ElementsAttr take(unsigned i) {
    auto type = cast<RankedTensorType>(values[i].getType());
    return onnx::elementsAttr(type, ArrayRef<char>(outputs[i]).take_front(onnx::rawBytes(type)),
                              [&] { return std::move(memory[i]); });
  }

private:
  ArrayRef<OpResult> values;
  OwningOpRef<ModuleOp> module;
  SmallVector<ArrayRef<char>> inputs;
  SmallVector<AsmResourceBlob> memory;
  SmallVector<MutableArrayRef<char>> outputs;
};
} // namespace

/// The ops that compute `values`, constants included, in program order.
static SmallVector<Operation *> slice(ArrayRef<OpResult> values) {
  llvm::SetVector<Operation *> order;
  SmallVector<std::pair<Operation *, unsigned>> path;
  llvm::DenseSet<Operation *> entered;
  for (OpResult value : values) {
    if (entered.insert(value.getOwner()).second)
      path.emplace_back(value.getOwner(), 0);
    while (!path.empty()) {
      auto &[op, next] = path.back();
      if (next == op->getNumOperands()) {
        order.insert(op);
        path.pop_back();
        continue;
      }
      Operation *def = op->getOperand(next++).getDefiningOp();
      if (entered.insert(def).second)
        path.emplace_back(def, 0);
    }
  }
  return order.takeVector();
}

Batch::Batch(ArrayRef<OpResult> values, MLIRContext *context)
    : values(values), module(ModuleOp::create(UnknownLoc::get(context))) {
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto func = func::FuncOp::create(b, b.getUnknownLoc(), "main", b.getFunctionType({}, {}));
  Block *block = func.addEntryBlock();
  b.setInsertionPointToStart(block);
  IRMapping mapping;
  for (Operation *op : slice(values)) {
    // The bytes of weights stay where they are: they are arguments.
    auto constant = dyn_cast<onnx::ConstantOp>(op);
    auto resource = constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValue()) : DenseResourceElementsAttr();
    if (resource && resource.getRawHandle().getBlob()) {
      mapping.map(op->getResult(0), block->addArgument(op->getResult(0).getType(), op->getLoc()));
      inputs.push_back(resource.getRawHandle().getBlob()->getData());
      continue;
    }
    b.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (OpResult value : values) {
    results.push_back(mapping.lookup(value));
    uint64_t size = std::max<uint64_t>(onnx::rawBytes(cast<RankedTensorType>(value.getType())), 1);
    memory.push_back(HeapAsmResourceBlob::allocate(size, 64, /*dataIsMutable=*/true));
    outputs.push_back(memory.back().getMutableData());
  }
  func::ReturnOp::create(b, b.getUnknownLoc(), results);
  func.setFunctionType(b.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FoldConstants : PassWrapper<FoldConstants, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldConstants)

  FoldConstants() = default;
  FoldConstants(const FoldConstants &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "optc-fold-constants"; }
  StringRef getDescription() const final { return "Compute values that depend on constants only"; }
  /// Those of all phases, which run inside this pass.
  void getDependentDialects(DialectRegistry &registry) const final { registerDialects(registry); }

  void runOnOperation() final {
    FoldBudget budget;
    budget.bytes = maxBytes;
    budget.steps = maxSteps;
    Selection selection(getOperation(), budget);
    for (auto [value, reason] : selection.declined) {
      ++numDeclined;
      value.getOwner()->emitRemark() << onnx::describeOp(value.getOwner()) << " is not folded: " << reason;
    }
    if (selection.values.empty())
      return markAllAnalysesPreserved();
    unsigned attempts = 0;
    if (!fold(selection.values, attempts))
      return;
    // What went is dead, and what came may be the size or the condition of something else.
    OpPassManager cleanup(ModuleOp::getOperationName());
    cleanup.addNestedPass<func::FuncOp>(createSimplify());
    if (failed(runPipeline(cleanup, getOperation())))
      signalPassFailure();
  }

  /// Folds what can be of `values`; whether that is any. One that the nested compilation refuses is found by halving.
  bool fold(ArrayRef<OpResult> values, unsigned &attempts) {
    constexpr unsigned mostAttempts = 16;
    if (++attempts > mostAttempts)
      return refuse(values, "too many others were refused");
    Batch batch(values, &getContext());
    if (llvm::Error error = batch.run()) {
      std::string reason = llvm::toString(std::move(error));
      if (values.size() == 1)
        return refuse(values, reason);
      bool some = fold(values.take_front(values.size() / 2), attempts);
      return fold(values.drop_front(values.size() / 2), attempts) || some;
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      OpBuilder b(value.getOwner());
      auto constant = onnx::ConstantOp::create(b, value.getOwner()->getLoc(), batch.take(i));
      // Its other users are in batches to come, or dead.
      OpResult(value).replaceAllUsesWith(constant.getOutput());
      ++numFolded;
    }
    return true;
  }

  bool refuse(ArrayRef<OpResult> values, StringRef reason) {
    for (OpResult value : values) {
      ++numRefused;
      value.getOwner()->emitRemark() << onnx::describeOp(value.getOwner()) << " is not folded: " << reason;
    }
    return false;
  }

  Option<uint64_t> maxBytes{*this, "max-bytes", llvm::cl::desc("of all constants made"),
                            llvm::cl::init(FoldBudget().bytes)};
  Option<uint64_t> maxSteps{*this, "max-steps", llvm::cl::desc("elements computed"),
                            llvm::cl::init(FoldBudget().steps)};
  Statistic numFolded{this, "num-folded", "values that became constants"};
  Statistic numDeclined{this, "num-declined", "constant values beyond a bound"};
  Statistic numRefused{this, "num-refused", "constant values that cannot be computed at compile time"};
};
} // namespace

std::unique_ptr<Pass> optc::createFoldConstantsPass() { return std::make_unique<FoldConstants>(); }

void optc::registerFoldConstantsPass() { PassRegistration<FoldConstants>(); }
