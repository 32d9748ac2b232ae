//===- Custom.cpp - operators that plugins add ----------------------------===//
#include "optc/dialects/onnx/Custom.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/runtime/optc.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

using namespace mlir;
using namespace optc;
using namespace optc::onnx;

namespace {
/// An operator with its entry, which points into it.
struct Entry {
  CustomOperator op;
  std::string mlirName;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<AttrInfo> attributes;
  OpInfo info;
};
struct Registry {
  std::deque<Entry> entries;
  llvm::StringMap<Entry *> byMlirName;
};
} // namespace

static Registry &registry() {
  static Registry all;
  return all;
}

static std::string mlirNameOf(StringRef domain, StringRef name) {
  return (kPluginDialect + "." + domain + "." + name).str();
}

static bool isName(StringRef text, StringRef others) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text, [&](char c) { return llvm::isAlnum(c) || c == '_' || others.contains(c); });
}

/// Why an operator cannot be added, or an empty string.
static std::string problemOf(const CustomOperator &op) {
  std::string what = "its operator '" + op.domain + "." + op.name + "' ";
  if (!isName(op.domain, ".-") || !isName(op.name, ""))
    return what + "needs a domain and a name of letters, digits and '_' (a domain also '.' and '-')";
  bool isOnnx = StringRef(op.domain).starts_with("ai.onnx") ||
                llvm::any_of(allOps(), [&](const OpInfo &info) { return info.domain == op.domain; });
  if (isOnnx)
    return what + "is of a domain whose operators optc defines; use a domain of its own";
  if (lookupCustom(op.domain, op.name))
    return what + "exists, from a plugin that was loaded before or twice in this one";
  if (op.sinceVersion < 1)
    return what + "exists since version " + std::to_string(op.sinceVersion) + "; versions begin with 1";
  if (!isName(op.kernel, "") ||
      llvm::any_of(registry().entries, [&](const Entry &e) { return e.op.kernel == op.kernel; }))
    return what + "needs the name of a C function as its kernel ('" + op.kernel + "'), which no other operator has";
  if (op.outputs.empty() || (!op.inferShapes && op.inputs.empty()))
    return what + "has no outputs, or neither inputs nor a function for its shapes";
  for (const auto *values : {&op.inputs, &op.outputs})
    for (const CustomOperator::Value &value : *values) {
      bool good = !value.types.empty() && value.typeVariable < 100 &&
                  llvm::all_of(
                      value.types,
                      [](int32_t number) { return number > 0 && number < OPTC_NUM_DTYPES && number != OPTC_STRING; });
      if (!good)
        return what + "has a value '" + value.name +
               "' whose types are no numbers of ONNX element types; strings have no kernels";
    }
  for (const CustomOperator::Attribute &a : op.attributes) {
    bool isInt = a.kind == AttrKind::Int || a.kind == AttrKind::Ints;
    bool isFloat = a.kind == AttrKind::Float || a.kind == AttrKind::Floats;
    bool isOne = a.kind == AttrKind::Int || a.kind == AttrKind::Float;
    if (!isInt && !isFloat)
      return what + "has the attribute '" + a.name + "' that is neither a number nor a list of numbers";
    if (!a.required &&
        ((isOne && (isInt ? a.ints.size() : a.floats.size()) != 1) || !(isInt ? a.floats.empty() : a.ints.empty())))
      return what + "has the attribute '" + a.name + "' with a default of another kind";
  }
  if (op.tileSize < 1)
    return what + "has tiles of " + std::to_string(op.tileSize) + " elements";
  return "";
}

std::string optc::onnx::addCustomOperator(CustomOperator op) {
  if (std::string problem = problemOf(op); !problem.empty())
    return problem;
  Entry &entry = registry().entries.emplace_back();
  entry.op = std::move(op);
  const CustomOperator &custom = entry.op;
  entry.mlirName = mlirNameOf(custom.domain, custom.name);
  auto formal = [](const std::vector<CustomOperator::Value> &values, std::vector<ValueInfo> &infos) {
    for (const CustomOperator::Value &v : values) {
      uint64_t types = 0;
      for (int32_t number : v.types)
        types |= 1ULL << number;
      infos.push_back({v.name, Arity::Single, /*homogeneous=*/true, /*minArity=*/1,
                       static_cast<int8_t>(std::max(v.typeVariable, -1)), types});
    }
  };
  formal(custom.inputs, entry.inputs);
  formal(custom.outputs, entry.outputs);
  for (const CustomOperator::Attribute &a : custom.attributes)
    entry.attributes.push_back({a.name, a.kind, a.required});
  entry.info = {custom.domain,
                custom.name,
                entry.mlirName,
                custom.sinceVersion,
                entry.inputs,
                entry.outputs,
                entry.attributes,
                /*segmentsOperands=*/false,
                /*segmentsResults=*/false,
                /*hasFunctionBody=*/false};
  registry().byMlirName[entry.mlirName] = &entry;
  return "";
}

static const Entry *find(StringRef mlirName) { return registry().byMlirName.lookup(mlirName); }

const CustomOperator *optc::onnx::customOperator(StringRef mlirName) {
  const Entry *entry = find(mlirName);
  return entry ? &entry->op : nullptr;
}

const OpInfo *optc::onnx::customInfo(StringRef mlirName) {
  const Entry *entry = find(mlirName);
  return entry ? &entry->info : nullptr;
}

const OpInfo *optc::onnx::lookupCustom(StringRef domain, StringRef name) {
  return customInfo(mlirNameOf(domain, name));
}

std::vector<const OpInfo *> optc::onnx::customInfos() {
  std::vector<const OpInfo *> all;
  for (const Entry &entry : registry().entries)
    all.push_back(&entry.info);
  return all;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What the importer ensures, for ops from files: as many operands and results as the entry names, of its types.
static LogicalResult verifyOp(Operation *op) {
  const OpInfo *info = customInfo(op->getName().getStringRef());
  auto check = [&](StringRef what, ArrayRef<ValueInfo> formal, TypeRange types) -> LogicalResult {
    if (types.size() != formal.size())
      return op->emitOpError() << "has " << types.size() << " " << what << "s where its operator has " << formal.size();
    for (auto [value, type] : llvm::zip(formal, types))
      if (!allowed(type, value.types))
        return op->emitOpError() << "has the " << what << " '" << value.name << "' of type " << type
                                 << ", which its operator does not take";
    return success();
  };
  if (failed(check("input", info->inputs, op->getOperandTypes())) ||
      failed(check("output", info->outputs, op->getResultTypes())))
    return failure();
  Builder b(op->getContext());
  for (const AttrInfo &a : info->attributes) {
    Attribute have = op->getAttr(a.name);
    bool fits = !have                        ? !a.required
                : a.kind == AttrKind::Int    ? isa<IntegerAttr>(have) && cast<IntegerAttr>(have).getType().isInteger(64)
                : a.kind == AttrKind::Float  ? isa<FloatAttr>(have) && cast<FloatAttr>(have).getType().isF32()
                : a.kind == AttrKind::Floats ? isa<DenseF32ArrayAttr>(have)
                                             : isa<DenseI64ArrayAttr>(have);
    if (!fits)
      return op->emitOpError() << "lacks the attribute '" << a.name << "', or has one of another kind";
  }
  return success();
}

void optc::onnx::registerCustomDialect(DialectRegistry &dialects) {
  std::vector<const OpInfo *> infos = customInfos();
  if (infos.empty())
    return;
  dialects.insertDynamic(kPluginDialect, [infos](MLIRContext *, DynamicDialect *dialect) {
    for (const OpInfo *info : infos)
      dialect->registerDynamicOp(DynamicOpDefinition::get(info->mlirName.drop_front(kPluginDialect.size() + 1), dialect,
                                                          verifyOp, [](Operation *) { return success(); }));
  });
}

LogicalResult optc::onnx::inferCustom(const CustomOperator &op, ShapeContext &ctx) {
  if (op.inferShapes)
    return op.inferShapes(ctx);
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    Type element = ctx.resultElement(i);
    if (failed(ctx.ranked(0) ? ctx.set(i, element, ctx.dims(0)) : ctx.setUnranked(i, element)))
      return failure();
  }
  return success();
}

SmallVector<int64_t> optc::onnx::kernelParams(const CustomOperator &custom, Operation *op) {
  SmallVector<int64_t> params;
  auto bits = [](float value) { return static_cast<int64_t>(llvm::bit_cast<uint32_t>(value)); };
  for (const CustomOperator::Attribute &a : custom.attributes) {
    Attribute have = op->getAttr(a.name);
    std::vector<int64_t> numbers = a.ints;
    for (float value : a.floats)
      numbers.push_back(bits(value));
    if (auto i = dyn_cast_or_null<IntegerAttr>(have)) {
      numbers = {i.getInt()};
    } else if (auto f = dyn_cast_or_null<FloatAttr>(have)) {
      numbers = {bits(f.getValue().convertToFloat())};
    } else if (auto ints = dyn_cast_or_null<DenseI64ArrayAttr>(have)) {
      numbers.assign(ints.asArrayRef().begin(), ints.asArrayRef().end());
    } else if (auto floats = dyn_cast_or_null<DenseF32ArrayAttr>(have)) {
      numbers.clear();
      for (float value : floats.asArrayRef())
        numbers.push_back(bits(value));
    }
    if (a.kind == AttrKind::Ints || a.kind == AttrKind::Floats)
      params.push_back(numbers.size());
    llvm::append_range(params, numbers);
  }
  return params;
}
