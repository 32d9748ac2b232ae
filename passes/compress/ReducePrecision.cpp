//===- ReducePrecision.cpp - f32 models in f16 or bf16 where it pays -------===//
//
// Products (Conv, Gemm, MatMul ...) read and write the narrow type and add up in f32. Ops that move elements or work on
// each alone follow when all they read is narrow. Everything else (normalizations, softmax, reductions, residual sums
// with something that is f32) stays f32, as do the arguments and results of the model. Micikevicius et al.: Mixed
// Precision Training (2018) finds the same division.
//
//   %1 = MatMul(%x, %w)      %x16 = Cast(%x), %1 = MatMul(%x16, %w16) : f16
//   %2 = Relu(%1)        ->  %2 = Relu(%1) : f16
//   %3 = Softmax(%2)         %2w = Cast(%2), %3 = Softmax(%2w) : f32
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Constants.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/passes/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace optc {
#define GEN_PASS_DEF_REDUCEPRECISION
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {
/// What becomes of an operator.
enum class Rule {
  Wide,    ///< computed in f32
  Product, ///< its operands are rounded to the narrow type
  Follow   ///< narrow when all of its operands are
};

struct ReducePrecision : optc::impl::ReducePrecisionBase<ReducePrecision> {
  using ReducePrecisionBase::ReducePrecisionBase;
  void runOnOperation() override;

private:
  void visit(Operation *op);
  /// Why an op cannot be narrow; empty when it can.
  std::string obstacle(Operation *op, Rule rule);
  bool fits(onnx::ConstantOp constant);
  Value narrowOf(Value value);
  Value wideOf(Value value);
  Value castAfter(Value value, Type element);
  Value narrowConstant(onnx::ConstantOp constant);
  void makeNarrow(Value result);

  FloatType narrow;
  llvm::DenseSet<Value> madeNarrow; ///< what this pass narrowed: models may have values of that type already
  DenseMap<Value, Value> narrowed, widened;
  DenseMap<Operation *, bool> inRange;
};
} // namespace

static Rule ruleFor(Operation *op) {
  static const llvm::StringMap<Rule> table = [] {
    llvm::StringMap<Rule> t;
    for (StringRef name : {"Conv", "ConvTranspose", "Gemm", "MatMul", "ms.FusedMatMul", "ms.FusedGemm"})
      t[("onnx." + name).str()] = Rule::Product;
    for (StringRef name : {"Abs",          "Add",          "AveragePool", "Clip",        "Concat",
                           "DepthToSpace", "Div",          "Elu",         "Erf",         "Expand",
                           "Flatten",      "Gather",       "Gelu",        "HardSigmoid", "HardSwish",
                           "Identity",     "LeakyRelu",    "Max",         "MaxPool",     "Min",
                           "Mul",          "Neg",          "PRelu",       "Pad",         "Relu",
                           "Reshape",      "Selu",         "Sigmoid",     "Slice",       "SpaceToDepth",
                           "Split",        "Squeeze",      "Sub",         "Tanh",        "Tile",
                           "Transpose",    "Unsqueeze",    "Where",       "Swish",       "GlobalAveragePool",
                           "ms.Gelu",      "ms.QuickGelu", "ms.BiasGelu", "ms.FastGelu"})
      t[("onnx." + name).str()] = Rule::Follow;
    return t;
  }();
  auto it = table.find(op->getName().getStringRef());
  return it == table.end() ? Rule::Wide : it->second;
}

static bool hasElement(Value value, Type element) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  return tensor && tensor.getElementType() == element;
}

static bool isF32(Value value) { return hasElement(value, Float32Type::get(value.getContext())); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether no finite element becomes infinite. An unknown one may.
bool ReducePrecision::fits(onnx::ConstantOp constant) {
  auto [it, isNew] = inRange.try_emplace(constant, true);
  if (isNew) {
    double largest = APFloat::getLargest(narrow.getFloatSemantics()).convertToDouble();
    auto floats = onnx::floatsOf(constant);
    it->second = floats && llvm::none_of(*floats, [&](float x) { return std::isfinite(x) && std::fabs(x) > largest; });
  }
  return it->second;
}

Value ReducePrecision::narrowConstant(onnx::ConstantOp constant) {
  std::vector<float> floats = *onnx::floatsOf(constant);
  std::vector<uint16_t> elements;
  for (float x : floats) {
    APFloat value(x);
    bool lossy;
    value.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
    elements.push_back(value.bitcastToAPInt().getZExtValue());
  }
  OpBuilder b(constant);
  b.setInsertionPointAfter(constant);
  auto type = cast<RankedTensorType>(constant.getOutput().getType()).clone(narrow);
  return onnx::makeConstant(b, constant.getLoc(), type, elements);
}

Value ReducePrecision::castAfter(Value value, Type element) {
  OpBuilder b(&getContext());
  b.setInsertionPointAfterValue(value);
  auto type = cast<TensorType>(value.getType()).clone(element);
  NamedAttribute to(b.getStringAttr("to"), b.getI64IntegerAttr(onnx::dataTypeOf(element)));
  return onnx::createOp(b, value.getLoc(), "Cast", value, type, to)->getResult(0);
}

Value ReducePrecision::narrowOf(Value value) {
  if (!isF32(value))
    return value;
  Value &known = narrowed[value];
  if (known)
    return known;
  if (auto constant = value.getDefiningOp<onnx::ConstantOp>())
    return known = narrowConstant(constant);
  return known = castAfter(value, narrow);
}

Value ReducePrecision::wideOf(Value value) {
  Value &known = widened[value];
  return known ? known : known = castAfter(value, Float32Type::get(&getContext()));
}

void ReducePrecision::makeNarrow(Value result) {
  result.setType(cast<TensorType>(result.getType()).clone(narrow));
  madeNarrow.insert(result);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string ReducePrecision::obstacle(Operation *op, Rule rule) {
  if (rule == Rule::Wide)
    return "its operator is computed in f32";
  if (llvm::none_of(op->getResults(), isF32))
    return "it has no f32 result";
  bool any = rule == Rule::Product;
  for (Value operand : op->getOperands()) {
    if (auto constant = operand.getDefiningOp<onnx::ConstantOp>(); constant && isF32(operand)) {
      if (!fits(constant))
        return "a constant is beyond the largest number of the narrow type";
      continue;
    }
    if (rule == Rule::Follow && isF32(operand))
      return "an operand is f32";
    any |= hasElement(operand, narrow);
  }
  return any ? "" : "no operand is narrow";
}

void ReducePrecision::visit(Operation *op) {
  Rule rule = ruleFor(op);
  std::string why = obstacle(op, rule);
  if (why.empty()) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(narrowOf(operand.get()));
    for (Value result : op->getResults())
      if (isF32(result))
        makeNarrow(result);
    ++numNarrow;
    return;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (madeNarrow.contains(operand.get()))
      operand.set(wideOf(operand.get()));
  if (rule != Rule::Wide && llvm::any_of(op->getResults(), isF32)) {
    ++numWide;
    if (report)
      op->emitRemark() << onnx::describeOp(op) << " stays f32: " << why;
  }
}

void ReducePrecision::runOnOperation() {
  MLIRContext *context = &getContext();
  narrow = llvm::StringSwitch<FloatType>(to)
               .Case("f16", Float16Type::get(context))
               .Case("bf16", BFloat16Type::get(context))
               .Default(nullptr);
  if (!narrow) {
    getOperation().emitError("optc-reduce-precision: to=") << to << ": unknown type; there are: f16, bf16";
    return signalPassFailure();
  }
  SmallVector<Operation *> ops; // in order: what an op reads is decided before it
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != getOperation() && !isa<onnx::ConstantOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    visit(op);
  // The f32 form of weights.
  for (auto [value, form] : narrowed)
    if (auto constant = value.getDefiningOp<onnx::ConstantOp>(); constant && value.use_empty())
      constant.erase();
}
