//===- OpTable.cpp - what the ONNX schemas say about each op ---------------===//
#include "optc/dialects/onnx/OpTable.h"
#include "mlir/IR/OpDefinition.h"
#include "optc/dialects/onnx/Custom.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace optc::onnx;

#include "optc/dialects/onnx/OpTable.inc"

unsigned OpInfo::numRegions() const {
  return llvm::count_if(attributes, [](const AttrInfo &a) { return a.kind == AttrKind::Graph; });
}

const AttrInfo *OpInfo::attribute(StringRef name) const {
  const AttrInfo *it = llvm::find_if(attributes, [&](const AttrInfo &a) { return a.name == name; });
  return it == attributes.end() ? nullptr : it;
}

int OpInfo::region(StringRef name) const {
  int index = 0;
  for (const AttrInfo &a : attributes) {
    if (a.kind != AttrKind::Graph)
      continue;
    if (a.name == name)
      return index;
    ++index;
  }
  return -1;
}

ArrayRef<OpInfo> optc::onnx::allOps() { return ::allOps; }

static const llvm::StringMap<const OpInfo *> &byMlirName() {
  static const auto map = [] {
    llvm::StringMap<const OpInfo *> m;
    for (const OpInfo &info : ::allOps)
      m[info.mlirName] = &info;
    return m;
  }();
  return map;
}

const OpInfo *optc::onnx::infoFor(StringRef mlirName) {
  const OpInfo *info = byMlirName().lookup(mlirName);
  return info ? info : customInfo(mlirName);
}

const OpInfo *optc::onnx::infoFor(Operation *op) { return infoFor(op->getName().getStringRef()); }

const OpInfo *optc::onnx::lookupOp(StringRef domain, StringRef name) {
  static const auto map = [] {
    llvm::StringMap<const OpInfo *> m;
    for (const OpInfo &info : ::allOps)
      m[(info.domain + "\n" + info.name).str()] = &info;
    return m;
  }();
  if (domain == "ai.onnx")
    domain = "";
  const OpInfo *info = map.lookup((domain + "\n" + name).str());
  return info ? info : lookupCustom(domain, name);
}

/// Drops nulls from `values` into `kept` and counts the values of each formal one into `segments`.
template <typename T>
static bool segment(ArrayRef<ValueInfo> formal, ArrayRef<T> values, SmallVectorImpl<T> &kept,
                    SmallVectorImpl<int32_t> &segments) {
  size_t next = 0;
  for (const ValueInfo &f : formal) {
    int32_t count = 0;
    size_t end = f.variadic() ? values.size() : std::min(next + 1, values.size());
    for (; next < end; ++next) {
      if (!values[next])
        continue;
      kept.push_back(values[next]);
      ++count;
    }
    if (f.arity == Arity::Single && count != 1)
      return false;
    segments.push_back(count);
  }
  return next == values.size();
}

LogicalResult optc::onnx::fillState(OperationState &state, ArrayRef<Type> resultTypes, ArrayRef<Value> operands,
                                    ArrayRef<NamedAttribute> attributes) {
  const OpInfo *info = infoFor(state.name.getStringRef());
  if (!info)
    return failure();
  SmallVector<Value> keptOperands;
  SmallVector<Type> keptTypes;
  SmallVector<int32_t> operandSegments, resultSegments;
  bool fits = segment(info->inputs, operands, keptOperands, operandSegments);
  fits &= segment(info->outputs, resultTypes, keptTypes, resultSegments);
  state.addOperands(keptOperands);
  state.addTypes(keptTypes);
  state.addAttributes(attributes);
  Builder builder(state.getContext());
  if (info->segmentsOperands)
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(operandSegments));
  if (info->segmentsResults)
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(resultSegments));
  for (unsigned i = 0, e = info->numRegions(); i < e; ++i)
    state.addRegion();
  return success(fits);
}

Operation *optc::onnx::createOp(OpBuilder &builder, Location loc, const OpInfo &info, ArrayRef<Value> operands,
                                ArrayRef<Type> resultTypes, ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc, info.mlirName);
  if (failed(fillState(state, resultTypes, operands, attributes)))
    return nullptr;
  return builder.create(state);
}

Operation *optc::onnx::createOp(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Value> operands,
                                ArrayRef<Type> resultTypes, ArrayRef<NamedAttribute> attributes) {
  const OpInfo *info = lookupOp("", name);
  return info ? createOp(builder, loc, *info, operands, resultTypes, attributes) : nullptr;
}

/// The position of an absent value that others follow, where no segments say so: the only optional one; else -1.
static int gap(ArrayRef<ValueInfo> formal, unsigned count) {
  const ValueInfo *optional = llvm::find_if(formal, [](const ValueInfo &v) { return v.optional(); });
  bool isGap = optional != formal.end() && count + 1 == formal.size() && !formal.back().variadic();
  return isGap ? optional - formal.begin() : -1;
}

/// The index among the present values of position `i`, -1 when absent. `count` is the number of present values.
static int present(ArrayRef<ValueInfo> formal, Attribute segmentAttr, unsigned count, unsigned i) {
  auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(segmentAttr);
  if (segments && segments.size() == static_cast<int64_t>(formal.size())) {
    unsigned start = 0;
    for (auto [f, size] : llvm::zip(formal, segments.asArrayRef())) {
      if (f.variadic()) {
        // The only variadic group is the last one.
        return i < static_cast<unsigned>(size) ? start + i : -1;
      }
      if (i == 0)
        return size ? start : -1;
      start += size;
      --i;
    }
    return -1;
  }
  if (int missing = gap(formal, count); missing >= 0 && static_cast<int>(i) >= missing)
    return static_cast<int>(i) == missing || i > count ? -1 : static_cast<int>(i) - 1;
  return i < count ? static_cast<int>(i) : -1;
}

static unsigned positions(ArrayRef<ValueInfo> formal, Attribute segmentAttr, unsigned count) {
  auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(segmentAttr);
  if (!segments || segments.size() != static_cast<int64_t>(formal.size())) {
    int missing = gap(formal, count); // positions behind it count
    return missing >= 0 && missing < static_cast<int>(count) ? count + 1 : count;
  }
  unsigned position = 0, last = 0;
  for (auto [f, size] : llvm::zip(formal, segments.asArrayRef())) {
    unsigned width = f.variadic() ? size : 1;
    if (size)
      last = position + width;
    position += width;
  }
  return last;
}

Value optc::onnx::operand(Operation *op, unsigned i) {
  const OpInfo *info = infoFor(op);
  int index =
      present(info ? info->inputs : ArrayRef<ValueInfo>(), op->getAttr("operandSegmentSizes"), op->getNumOperands(), i);
  return index < 0 ? Value() : op->getOperand(index);
}

Value optc::onnx::result(Operation *op, unsigned i) {
  const OpInfo *info = infoFor(op);
  int index =
      present(info ? info->outputs : ArrayRef<ValueInfo>(), op->getAttr("resultSegmentSizes"), op->getNumResults(), i);
  return index < 0 ? Value() : op->getResult(index);
}

unsigned optc::onnx::numOperandPositions(Operation *op) {
  const OpInfo *info = infoFor(op);
  return positions(info ? info->inputs : ArrayRef<ValueInfo>(), op->getAttr("operandSegmentSizes"),
                   op->getNumOperands());
}

unsigned optc::onnx::numResultPositions(Operation *op) {
  const OpInfo *info = infoFor(op);
  return positions(info ? info->outputs : ArrayRef<ValueInfo>(), op->getAttr("resultSegmentSizes"),
                   op->getNumResults());
}
