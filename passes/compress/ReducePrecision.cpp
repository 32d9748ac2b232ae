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
#include "optc/passes/compress/Layers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

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

class Reducer {
public:
  Reducer(func::FuncOp main, FloatType narrow) : main(main), context(main.getContext()), narrow(narrow) {}
  compress::LayerOutcomes run();

private:
  void visit(Operation *op);
  /// Why an op cannot be narrow; empty when it can.
  std::string obstacle(Operation *op, Rule rule);
  std::string rangeFault(onnx::ConstantOp constant);
  Value narrowOf(Value value);
  Value wideOf(Value value);
  Value castAfter(Value value, Type element);
  Value narrowConstant(onnx::ConstantOp constant);
  void makeNarrow(Value result);

  func::FuncOp main;
  MLIRContext *context;
  FloatType narrow;
  compress::LayerOutcomes outcomes;
  llvm::DenseSet<Value> madeNarrow; ///< what this pass narrowed: models may have values of that type already
  DenseMap<Value, Value> narrowed, widened;
  DenseMap<Operation *, std::string> faults; ///< of constants
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

/// Why a constant keeps what reads it in f32: a finite element would become infinite, or may. Empty when it does not.
std::string Reducer::rangeFault(onnx::ConstantOp constant) {
  auto [it, isNew] = faults.try_emplace(constant);
  if (!isNew)
    return it->second;
  std::optional<std::vector<float>> floats = onnx::floatsOf(constant.getOutput());
  if (!floats)
    return it->second = "the values of a constant that it reads are not known: its bytes are missing";
  double largest = APFloat::getLargest(narrow.getFloatSemantics()).convertToDouble();
  for (float x : *floats)
    if (std::isfinite(x) && std::fabs(x) > largest) {
      llvm::raw_string_ostream(it->second)
          << llvm::format("a constant that it reads holds %g, beyond %g, the largest number of ", x, largest)
          << onnx::dataTypeName(narrow);
      return it->second;
    }
  return "";
}

Value Reducer::narrowConstant(onnx::ConstantOp constant) {
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

Value Reducer::castAfter(Value value, Type element) {
  OpBuilder b(context);
  b.setInsertionPointAfterValue(value);
  auto type = cast<TensorType>(value.getType()).clone(element);
  NamedAttribute to(b.getStringAttr("to"), b.getI64IntegerAttr(onnx::dataTypeOf(element)));
  return onnx::createOp(b, value.getLoc(), "Cast", value, type, to)->getResult(0);
}

Value Reducer::narrowOf(Value value) {
  if (!isF32(value))
    return value;
  Value &known = narrowed[value];
  if (known)
    return known;
  if (auto constant = value.getDefiningOp<onnx::ConstantOp>())
    return known = narrowConstant(constant);
  return known = castAfter(value, narrow);
}

Value Reducer::wideOf(Value value) {
  Value &known = widened[value];
  return known ? known : known = castAfter(value, Float32Type::get(context));
}

void Reducer::makeNarrow(Value result) {
  result.setType(cast<TensorType>(result.getType()).clone(narrow));
  madeNarrow.insert(result);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string Reducer::obstacle(Operation *op, Rule rule) {
  if (rule == Rule::Wide)
    return "its operator is computed in float32";
  bool any = rule == Rule::Product;
  for (Value operand : op->getOperands()) {
    if (auto constant = operand.getDefiningOp<onnx::ConstantOp>(); constant && isF32(operand)) {
      if (std::string fault = rangeFault(constant); !fault.empty())
        return fault;
      continue;
    }
    if (rule == Rule::Follow && isF32(operand))
      return "it reads a value that is float32";
    any |= hasElement(operand, narrow);
  }
  return any ? "" : "it reads no value of the narrow type";
}

void Reducer::visit(Operation *op) {
  Rule rule = ruleFor(op);
  bool isFloat = llvm::any_of(op->getResults(), isF32);
  std::string why = isFloat ? obstacle(op, rule) : "";
  compress::LayerOutcome outcome = compress::outcomeOf(op);
  outcome.isLayer = rule == Rule::Product;
  if (isFloat && why.empty()) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(narrowOf(operand.get()));
    for (Value result : op->getResults())
      if (isF32(result))
        makeNarrow(result);
    outcome.form = onnx::dataTypeName(narrow).str();
    outcome.bytes /= 2;
    outcomes.push_back(std::move(outcome));
    return;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (madeNarrow.contains(operand.get()))
      operand.set(wideOf(operand.get()));
  // What computes nothing and what a body holds have entries of their own.
  if (!isFloat || op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() > 0)
    return;
  outcome.form = "float";
  outcome.reason = std::move(why);
  outcomes.push_back(std::move(outcome));
}

compress::LayerOutcomes Reducer::run() {
  SmallVector<Operation *> ops; // in order: what an op reads is decided before it
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != main && !isa<onnx::ConstantOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    visit(op);
  // The f32 form of weights.
  for (auto [value, form] : narrowed)
    if (auto constant = value.getDefiningOp<onnx::ConstantOp>(); constant && value.use_empty())
      constant.erase();
  return std::move(outcomes);
}

compress::LayerOutcomes compress::reducePrecision(func::FuncOp main, FloatType narrow) {
  return Reducer(main, narrow).run();
}

namespace {
struct ReducePrecision : optc::impl::ReducePrecisionBase<ReducePrecision> {
  using ReducePrecisionBase::ReducePrecisionBase;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto narrow = llvm::StringSwitch<FloatType>(to)
                      .Case("f16", Float16Type::get(context))
                      .Case("bf16", BFloat16Type::get(context))
                      .Default(nullptr);
    if (!narrow) {
      getOperation().emitError("optc-reduce-precision: to=") << to << ": unknown type; there are: f16, bf16";
      return signalPassFailure();
    }
    for (const compress::LayerOutcome &outcome : compress::reducePrecision(getOperation(), narrow)) {
      ++(outcome.isFloat() ? numWide : numNarrow);
      if (report && outcome.isFloat())
        getOperation().emitRemark() << outcome.op << " '" << outcome.node << "' stays float32: " << outcome.reason;
    }
  }
};
} // namespace
