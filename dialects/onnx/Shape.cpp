//===- Shape.cpp - shape inference with symbolic sizes ---------------------===//
#include "optc/dialects/onnx/Shape.h"
#include "optc/dialects/onnx/Custom.h"
#include "optc/dialects/onnx/RankDemand.h"
#include "optc/dialects/onnx/Types.h"
#include "optc/dialects/onnx/shapes/Shapes.h"

using namespace mlir;
using namespace optc;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Expressions deeper than this are refused: no real model comes near, and walks over them recurse.
static constexpr unsigned maxDepth = 2000;
static constexpr int64_t maxRank = 1024;

//===----------------------------------------------------------------------===//
// ShapeTable
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> ShapeInfo::constElements() const {
  if (!elements)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Dim d : *elements) {
    if (!d->isConst())
      return std::nullopt;
    values.push_back(d->value);
  }
  return values;
}

ShapeInfo ShapeTable::fromType(Value value, Type type) {
  ShapeInfo info;
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor) {
    info.type = type;
    return info;
  }
  info.elementType = tensor.getElementType();
  info.ranked = tensor.hasRank();
  if (!info.ranked)
    return info;
  for (auto [axis, size] : llvm::enumerate(tensor.getShape()))
    info.dims.push_back(ShapedType::isDynamic(size) ? leaf(value, axis) : constant(size));
  return info;
}

Type ShapeTable::typeOf(const ShapeInfo &info) {
  if (!info.elementType)
    return info.type;
  if (!info.ranked)
    return UnrankedTensorType::get(info.elementType);
  SmallVector<int64_t> shape;
  for (Dim d : info.dims)
    shape.push_back(d->isConst() ? d->value : ShapedType::kDynamic);
  return RankedTensorType::get(shape, info.elementType);
}

/// Arguments with the same dim_param share a leaf.
void ShapeTable::bindArguments(func::FuncOp func) {
  llvm::StringMap<Dim> symbols;
  for (BlockArgument arg : func.getArguments()) {
    ShapeInfo info = fromType(arg, arg.getType());
    auto params = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "onnx.dim_params");
    for (auto [axis, dim] : llvm::enumerate(info.dims)) {
      auto name = params && axis < params.size() ? dyn_cast<StringAttr>(params[axis]) : StringAttr();
      if (dim->isConst() || !name || name.empty())
        continue;
      auto [it, inserted] = symbols.try_emplace(name.getValue(), dim);
      if (inserted)
        nameLeaf(dim, name.getValue());
      dim = it->second;
    }
    set(arg, std::move(info));
  }
}

const ShapeInfo &ShapeTable::get(Value value) {
  auto it = infos.find(value);
  if (it != infos.end())
    return *it->second;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast_or_null<func::FuncOp>(arg.getOwner()->getParentOp());
    if (func && !func.isExternal() && arg.getOwner() == &func.front()) {
      bindArguments(func);
      return *infos.find(value)->second;
    }
  }
  set(value, fromType(value, value.getType()));
  return *infos.find(value)->second;
}

std::optional<SmallVector<Dim>> ShapeTable::gridOf(Value value) const {
  auto it = grids.find(value);
  return it == grids.end() ? std::nullopt : std::optional(it->second);
}

void ShapeTable::set(Value value, ShapeInfo info) {
  grids.erase(value);
  auto &slot = infos[value];
  if (slot)
    *slot = std::move(info);
  else
    slot = std::make_unique<ShapeInfo>(std::move(info));
}

std::optional<SmallVector<Dim>> ShapeTable::elementsOf(Value value) {
  const ShapeInfo &info = get(value);
  if (info.elements)
    return info.elements;
  if (!info.elementType || !info.elementType.isIntOrIndex() || !info.ranked || info.rank() > 1)
    return std::nullopt;
  if (info.rank() == 1 && (!info.dims[0]->isConst() || info.dims[0]->value > maxTrackedElements))
    return std::nullopt;
  SmallVector<Dim> result;
  for (int64_t i = 0, e = info.rank() ? info.dims[0]->value : 1; i < e; ++i)
    result.push_back(element(value, i));
  return result;
}

Dim ShapeTable::numElements(ArrayRef<Dim> dims) {
  Dim n = constant(1);
  for (Dim d : dims)
    n = mul(n, d);
  return n;
}

std::string ShapeTable::str(ArrayRef<Dim> dims) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleave(dims, os, [&](Dim d) { print(os, d); }, ", ");
  os << ']';
  return text;
}

std::string ShapeTable::str(const ShapeInfo &info) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!info.elementType)
    os << info.type;
  else
    os << onnx::dataTypeName(info.elementType) << (info.ranked ? str(info.dims) : "[*]");
  if (info.elements)
    os << " = " << str(*info.elements);
  return text;
}

//===----------------------------------------------------------------------===//
// ShapeContext
//===----------------------------------------------------------------------===//

std::string optc::nodeName(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name;
}

LogicalResult ShapeContext::error(const Twine &message) const {
  InFlightDiagnostic diagnostic = emitError(op->getLoc());
  std::string name = nodeName(op);
  if (!name.empty())
    diagnostic << "node '" << name << "', ";
  diagnostic << "operator " << info->name;
  if (!info->domain.empty())
    diagnostic << " of " << info->domain;
  diagnostic << ": " << message;
  return failure();
}

std::optional<SmallVector<Dim>> ShapeContext::elements(unsigned i) const {
  return has(i) ? table.elementsOf(operand(i)) : std::nullopt;
}

std::optional<SmallVector<Dim>> ShapeContext::elements(unsigned i, int64_t count) const {
  if (auto known = elements(i))
    return known;
  bool openLength = ranked(i) && rank(i) == 1 && !dims(i)[0]->isConst() && elementType(i).isIntOrIndex();
  if (!openLength || count > maxTrackedElements)
    return std::nullopt;
  SmallVector<Dim> result;
  for (int64_t k = 0; k < count; ++k)
    result.push_back(table.element(operand(i), k));
  return result;
}

std::optional<SmallVector<int64_t>> ShapeContext::constElements(unsigned i) const {
  return has(i) ? in(i).constElements() : std::nullopt;
}

/// The number of elements, when the sizes are constants and it is small enough to follow them.
static std::optional<int64_t> trackedCount(ArrayRef<Dim> dims) {
  int64_t count = 1;
  for (Dim d : dims) {
    if (!d->isConst() || d->value > maxTrackedElements || count * d->value > maxTrackedElements)
      return std::nullopt;
    count *= d->value;
  }
  return count;
}

std::optional<SmallVector<Dim>> ShapeContext::rowMajor(unsigned i) const {
  if (!ranked(i) || !trackedCount(dims(i)))
    return std::nullopt;
  return rank(i) <= 1 ? in(i).elements : table.gridOf(operand(i));
}

std::optional<SmallVector<double>> ShapeContext::constFloats(unsigned i) const {
  return has(i) ? constantFloatsOf(table, operand(i)) : std::nullopt;
}

int64_t ShapeContext::intAttr(StringRef name, int64_t fallback) const {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : fallback;
}

StringRef ShapeContext::strAttr(StringRef name, StringRef fallback) const {
  auto attr = op->getAttrOfType<StringAttr>(name);
  return attr ? attr.getValue() : fallback;
}

std::optional<SmallVector<int64_t>> ShapeContext::intsAttr(StringRef name) const {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return attr ? std::optional(SmallVector<int64_t>(attr.asArrayRef())) : std::nullopt;
}

Type ShapeContext::resultElement(unsigned i) const {
  auto formal = [](ArrayRef<onnx::ValueInfo> values, unsigned i) -> const onnx::ValueInfo * {
    if (i < values.size())
      return &values[i];
    return !values.empty() && values.back().variadic() ? &values.back() : nullptr;
  };
  const onnx::ValueInfo *value = formal(info->outputs, i);
  if (value && value->typeVariable >= 0)
    for (unsigned k = 0, e = onnx::numOperandPositions(op); k < e; ++k) {
      const onnx::ValueInfo *input = formal(info->inputs, k);
      if (input && input->typeVariable == value->typeVariable && has(k) && elementType(k))
        return elementType(k);
    }
  if (value && llvm::isPowerOf2_64(value->types))
    if (Type only = onnx::elementTypeOf(op->getContext(), llvm::Log2_64(value->types)))
      return only;
  auto tensor = hasResult(i) ? dyn_cast<TensorType>(result(i).getType()) : TensorType();
  return tensor ? tensor.getElementType() : Type();
}

LogicalResult ShapeContext::setInfo(unsigned i, const ShapeInfo &value) {
  Value target = result(i);
  if (!target)
    return success();
  if (!value.elementType && !value.type)
    return error("the element type of output " + Twine(i) + " is not known");
  for (Dim d : value.dims) {
    if (d->isConst() && d->value < 0)
      return error("output " + Twine(i) + " would have the shape " + str(value.dims) + ", with a negative size");
    if (d->depth > maxDepth)
      return error("the size expressions of output " + Twine(i) + " nest too deep");
  }
  ShapeInfo copy = value;
  if (copy.elements)
    for (Dim d : *copy.elements)
      if (d->depth > maxDepth)
        copy.elements.reset();
  target.setType(ShapeTable::typeOf(copy));
  table.set(target, std::move(copy));
  return success();
}

LogicalResult ShapeContext::set(unsigned i, Type elementType, ArrayRef<Dim> dims,
                                std::optional<SmallVector<Dim>> elements) {
  ShapeInfo info;
  info.elementType = elementType;
  info.ranked = true;
  info.dims.assign(dims.begin(), dims.end());
  if (elements && info.rank() <= 1 && int64_t(elements->size()) <= maxTrackedElements)
    info.elements = std::move(elements);
  return setInfo(i, info);
}

LogicalResult ShapeContext::setRowMajor(unsigned i, Type elementType, ArrayRef<Dim> dims,
                                        std::optional<SmallVector<Dim>> elements) {
  if (elements && trackedCount(dims) != int64_t(elements->size()))
    elements.reset();
  if (dims.size() <= 1)
    return set(i, elementType, dims, std::move(elements));
  if (failed(set(i, elementType, dims)))
    return failure();
  if (elements && hasResult(i))
    table.setGrid(result(i), std::move(*elements));
  return success();
}

LogicalResult ShapeContext::setRank(unsigned i, Type elementType, int64_t rank) {
  if (rank > maxRank)
    return error("output " + Twine(i) + " would have rank " + Twine(rank) + "; at most " + Twine(maxRank) +
                 " is supported");
  if (!hasResult(i))
    return success();
  SmallVector<Dim> dims;
  for (int64_t axis = 0; axis < rank; ++axis)
    dims.push_back(leaf(i, axis));
  return set(i, elementType, dims);
}

LogicalResult ShapeContext::setUnranked(unsigned i, Type elementType) {
  ShapeInfo info;
  info.elementType = elementType;
  return setInfo(i, info);
}

LogicalResult ShapeContext::setDemanded(unsigned i, Type elementType) {
  auto rank = hasResult(i) ? demandedRank(result(i), table) : std::nullopt;
  return rank ? setRank(i, elementType, *rank) : setUnranked(i, elementType);
}

LogicalResult ShapeContext::setType(unsigned i, Type type) {
  if (!hasResult(i))
    return success();
  return setInfo(i, table.fromType(result(i), type));
}

SmallVector<Dim> ShapeContext::constants(ArrayRef<int64_t> values) const {
  SmallVector<Dim> dims;
  for (int64_t v : values)
    dims.push_back(constant(v));
  return dims;
}

FailureOr<int64_t> ShapeContext::axis(int64_t value, int64_t rank, StringRef what) const {
  if (value < -rank || value >= rank)
    return error(what + " " + Twine(value) + " is outside [" + Twine(-rank) + ", " + Twine(rank) +
                 ") for a tensor of rank " + Twine(rank));
  return value < 0 ? value + rank : value;
}

FailureOr<SmallVector<int64_t>> ShapeContext::axes(ArrayRef<int64_t> values, int64_t rank) const {
  SmallVector<int64_t> result;
  for (int64_t v : values) {
    FailureOr<int64_t> a = axis(v, rank, "axes: axis");
    if (failed(a))
      return failure();
    result.push_back(*a);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return error("an axis occurs twice in axes");
  return result;
}

FailureOr<SmallVector<Dim>> ShapeContext::broadcast(ArrayRef<Dim> a, ArrayRef<Dim> b) const {
  size_t rank = std::max(a.size(), b.size());
  SmallVector<Dim> result(rank);
  for (size_t i = 0; i < rank; ++i) {
    Dim x = i + a.size() < rank ? constant(1) : a[i + a.size() - rank];
    Dim y = i + b.size() < rank ? constant(1) : b[i + b.size() - rank];
    result[i] = table.broadcast(x, y);
    if (!result[i])
      return error("cannot broadcast " + str(a) + " with " + str(b));
  }
  return result;
}

LogicalResult ShapeContext::expectRank(unsigned i, int64_t expected) const {
  if (ranked(i) && rank(i) != expected)
    return error("input " + Twine(i) + " (" + info->inputs[std::min<size_t>(i, info->inputs.size() - 1)].name +
                 ") has the shape " + str(dims(i)) + " and must have rank " + Twine(expected));
  return success();
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

const ShapeFnTable &optc::shapeFunctions() {
  static const ShapeFnTable table = [] {
    ShapeFnTable t;
    registerElementwiseShapes(t);
    registerReductionShapes(t);
    registerMovementShapes(t);
    registerIndexingShapes(t);
    registerMatmulShapes(t);
    registerConvShapes(t);
    registerNormShapes(t);
    registerCreationShapes(t);
    registerQuantShapes(t);
    registerRecurrentShapes(t);
    registerControlShapes(t);
    registerSequenceShapes(t);
    registerSignalShapes(t);
    registerMLShapes(t);
    registerContribShapes(t);
    return t;
  }();
  return table;
}

/// What holds for an operator without a shape function: element types from the schema, ranks unknown.
static LogicalResult inferUnknown(ShapeContext &ctx) {
  for (unsigned i = 0, e = onnx::numResultPositions(ctx.op); i < e; ++i) {
    if (!ctx.hasResult(i))
      continue;
    Type element = ctx.resultElement(i);
    if (failed(element ? ctx.setUnranked(i, element) : ctx.setType(i, ctx.result(i).getType())))
      return failure();
  }
  return success();
}

LogicalResult optc::inferOp(Operation *op, ShapeTable &table) {
  ShapeContext ctx(op, table);
  if (!ctx.info)
    return success();
  StringRef name = op->getName().getStringRef();
  if (const onnx::CustomOperator *custom = onnx::customOperator(name))
    return onnx::inferCustom(*custom, ctx);
  auto it = shapeFunctions().find(name);
  if (it == shapeFunctions().end())
    return inferUnknown(ctx);
  return it->second(ctx);
}

LogicalResult optc::inferBlock(Block &block, ShapeTable &table) {
  for (Operation &op : block)
    if (failed(inferOp(&op, table)))
      return failure();
  return success();
}

LogicalResult optc::inferShapes(func::FuncOp func, ShapeTable &table) {
  if (func.isExternal())
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitError("shape inference works on functions of one block");
  Block &body = func.front();
  if (failed(inferBlock(body, table)))
    return failure();
  auto ret = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!ret)
    return success();
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), ret.getOperandTypes()));
  return success();
}
