//===- Lowering.cpp - helpers of operator lowerings: values and sizes -----===//
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/passes/lowering/LoweringUtils.h"
#include "optc/passes/lowering/StorageConstant.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace optc;

InFlightDiagnostic optc::unsupported(Operation *op, const Twine &what) {
  return op->emitError() << onnx::describeOp(op) << " " << what;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Lowering::get(Value onnxValue) const { return onnxValue ? values.lookup(onnxValue) : Value(); }

void Lowering::set(Value onnxResult, Value lowered) {
  if (!onnxResult || !lowered)
    return;
  // Sizes that inference knows and the lowering does not, or the other way round.
  if (auto have = dyn_cast<RankedTensorType>(lowered.getType())) {
    const ShapeInfo &info = shape(onnxResult);
    if (info.ranked && info.dims.size() == static_cast<size_t>(have.getRank())) {
      RankedTensorType want = tensorType(info.elementType, info.dims);
      if (want != have && want.getElementType() == have.getElementType())
        lowered = tensor::CastOp::create(b, loc, want, lowered);
    }
  }
  values[onnxResult] = lowered;
}

const ShapeInfo &Lowering::shape(Value onnxValue) const { return shapes.get(onnxValue); }
ArrayRef<Dim> Lowering::dims(Value onnxValue) const { return shapes.get(onnxValue).dims; }
int64_t Lowering::rank(Value onnxValue) const { return shapes.get(onnxValue).dims.size(); }
Type Lowering::elem(Value onnxValue) const { return shapes.get(onnxValue).elementType; }

std::optional<SmallVector<int64_t>> Lowering::constInts(Value onnxValue) const {
  if (!onnxValue)
    return std::nullopt;
  const ShapeInfo &info = shape(onnxValue);
  SmallVector<int64_t> out;
  if (info.elements) {
    for (Dim element : *info.elements) {
      if (!element || !element->isConst())
        return std::nullopt;
      out.push_back(element->value);
    }
    return out;
  }
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(constElements(onnxValue))) {
    for (APInt v : dense.getValues<APInt>())
      out.push_back(v.getBitWidth() == 1 || info.elementType.isUnsignedInteger()
                        ? static_cast<int64_t>(v.getZExtValue())
                        : v.getSExtValue());
    return out;
  }
  return std::nullopt;
}

ElementsAttr Lowering::constElements(Value onnxValue) const {
  if (!onnxValue)
    return {};
  if (auto constant = onnxValue.getDefiningOp<onnx::ConstantOp>())
    return constant.getValue();
  return {};
}

//===----------------------------------------------------------------------===//
// Sizes on the host
//===----------------------------------------------------------------------===//

Value Lowering::constIndex(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }

Value Lowering::index(Dim dim) {
  if (dim->isConst())
    return constIndex(dim->value);
  for (auto &scope : llvm::reverse(scopes))
    if (auto it = scope.find(dim); it != scope.end())
      return it->second;
  Value made = materialize(dim);
  scopes.back()[dim] = made;
  return made;
}

Value Lowering::materialize(Dim dim) {
  // A size of a value that is not there yet: the operator's lowering should have bound it.
  if (dim->tensor && !isa_and_nonnull<RankedTensorType>(get(dim->tensor) ? get(dim->tensor).getType() : Type())) {
    if (!missingSize)
      emitError(loc) << "the size of axis " << dim->value
                     << " depends on data in a way that is not supported here; give the model's shapes as constants";
    missingSize = true;
    return constIndex(0);
  }
  auto lhs = [&] { return index(dim->lhs); };
  auto rhs = [&] { return index(dim->rhs); };
  switch (dim->kind) {
  case DimKind::Const:
    return constIndex(dim->value);
  case DimKind::Leaf: {
    Value tensor = get(dim->tensor);
    return tensor::DimOp::create(b, loc, tensor, constIndex(dim->value));
  }
  case DimKind::Element:
    return readIndex(dim->tensor, dim->value);
  case DimKind::Add: {
    Value x = lhs();
    return arith::AddIOp::create(b, loc, x, rhs());
  }
  case DimKind::Sub: {
    Value x = lhs();
    return arith::SubIOp::create(b, loc, x, rhs());
  }
  case DimKind::Mul: {
    Value x = lhs();
    return arith::MulIOp::create(b, loc, x, rhs());
  }
  case DimKind::FloorDiv:
  case DimKind::CeilDiv:
  case DimKind::Mod: {
    Value x = lhs(), y = rhs();
    // A divisor of zero has no size to give: 0 keeps the host program from trapping, checks elsewhere report the cause.
    Value zero = constIndex(0), bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
    Value safe = arith::SelectOp::create(b, loc, bad, constIndex(1), y);
    Value q;
    if (dim->kind == DimKind::FloorDiv)
      q = arith::FloorDivSIOp::create(b, loc, x, safe);
    else if (dim->kind == DimKind::CeilDiv)
      q = arith::CeilDivSIOp::create(b, loc, x, safe);
    else {
      Value r = arith::RemSIOp::create(b, loc, x, safe);
      Value different =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, loc, r, safe), zero);
      Value nonzero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, r, zero);
      q = arith::SelectOp::create(b, loc, arith::AndIOp::create(b, loc, different, nonzero),
                                  arith::AddIOp::create(b, loc, r, safe), r);
    }
    return arith::SelectOp::create(b, loc, bad, zero, q);
  }
  case DimKind::Min: {
    Value x = lhs();
    return arith::MinSIOp::create(b, loc, x, rhs());
  }
  case DimKind::Max: {
    Value x = lhs();
    return arith::MaxSIOp::create(b, loc, x, rhs());
  }
  case DimKind::Broadcast: {
    Value x = lhs(), y = rhs(), one = constIndex(1);
    Value xIsOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, one);
    Value yIsOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, one);
    Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
    check(arith::OrIOp::create(b, loc, same, arith::OrIOp::create(b, loc, xIsOne, yIsOne)), "sizes do not broadcast");
    return arith::SelectOp::create(b, loc, xIsOne, y, x);
  }
  }
  return constIndex(0);
}

SmallVector<Value> Lowering::indices(ArrayRef<Dim> dims) {
  SmallVector<Value> out;
  for (Dim dim : dims)
    out.push_back(index(dim));
  return out;
}

Value Lowering::hostIndex(Value onnxValue, int64_t i) {
  const ShapeInfo &info = shape(onnxValue);
  if (info.elements)
    return index((*info.elements)[i]);
  return readIndex(onnxValue, i);
}

Value Lowering::readElement(Value onnxValue, int64_t i) {
  Value tensor = get(onnxValue);
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> at(type.getRank(), constIndex(0));
  if (!at.empty())
    at.back() = constIndex(i);
  for (auto [axis, position] : llvm::enumerate(at)) {
    int64_t needed = axis + 1 == at.size() ? i + 1 : 1;
    if (!type.isDynamicDim(axis) && type.getDimSize(axis) >= needed)
      continue;
    Value size = tensor::DimOp::create(b, loc, tensor, axis);
    check(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, size, position),
          "an input has too few elements: " + Twine(needed) + " are read");
  }
  return tensor::ExtractOp::create(b, loc, tensor, at);
}

Value Lowering::readIndex(Value onnxValue, int64_t i) {
  Value v = readElement(onnxValue, i);
  Type element = elem(onnxValue);
  if (element.isUnsignedInteger() || element.isInteger(1))
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), v);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
}

Value Lowering::hostScalar(Value onnxValue) { return toCompute(b, loc, readElement(onnxValue, 0), elem(onnxValue)); }

void Lowering::check(Value condition, const Twine &message) {
  std::string name = onnx::nodeName(loc);
  kernel::CheckOp::create(b, loc, condition,
                          b.getStringAttr(name.empty() ? message.str() : "node '" + name + "': " + message.str()));
}

//===----------------------------------------------------------------------===//
// Types and scalars
//===----------------------------------------------------------------------===//

RankedTensorType Lowering::tensorType(Type elem, ArrayRef<Dim> dims) const {
  SmallVector<int64_t> sizes;
  for (Dim dim : dims)
    sizes.push_back(dim->isConst() ? dim->value : ShapedType::kDynamic);
  return RankedTensorType::get(sizes, storageType(elem));
}

Value Lowering::empty(Type elem, ArrayRef<Dim> dims) {
  SmallVector<Value> dynamic;
  for (Dim dim : dims)
    if (!dim->isConst())
      dynamic.push_back(index(dim));
  return tensor::EmptyOp::create(b, loc, tensorType(elem, dims), dynamic);
}

Value Lowering::load(OpBuilder &b, Location loc, Value lowered, Type elem, ValueRange at) {
  return toCompute(b, loc, tensor::ExtractOp::create(b, loc, lowered, at), elem);
}

Value Lowering::wrapIndex(OpBuilder &b, Location loc, Value v, Type elem, Value size) {
  Value i = elem.isUnsignedInteger() ? arith::IndexCastUIOp::create(b, loc, b.getIndexType(), v).getResult()
                                     : arith::IndexCastOp::create(b, loc, b.getIndexType(), v).getResult();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, zero);
  i = arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, i, size), i);
  i = arith::MinSIOp::create(b, loc, i, arith::SubIOp::create(b, loc, size, one));
  return arith::MaxSIOp::create(b, loc, i, zero);
}

//===----------------------------------------------------------------------===//
// Constants, subgraphs
//===----------------------------------------------------------------------===//

TypedAttr optc::storageConstant(ElementsAttr value, Type elem) {
  auto type = RankedTensorType::get(cast<ShapedType>(value.getType()).getShape(), Lowering::storageType(elem));
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(value)) // The bytes stay where they are; only their type changes.
    return DenseResourceElementsAttr::get(
        elem.getIntOrFloatBitWidth() < 8 && !elem.isInteger(1) ? cast<ShapedType>(value.getType()) : type,
        resource.getRawHandle());
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return {};
  Type stored = type.getElementType();
  if (dense.getElementType() == stored)
    return dense;
  unsigned width = stored.getIntOrFloatBitWidth();
  if (isa<IntegerType>(dense.getElementType())) {
    bool zeroExtend = elem.isUnsignedInteger() || elem.isInteger(1);
    return cast<TypedAttr>(Attribute(cast<DenseIntElementsAttr>(dense).mapValues(
        stored, [&](const APInt &v) { return zeroExtend ? v.zextOrTrunc(width) : v.sextOrTrunc(width); })));
  }
  return cast<TypedAttr>(Attribute(cast<DenseFPElementsAttr>(dense).mapValues(
      stored, [&](const APFloat &v) { return v.bitcastToAPInt().zextOrTrunc(width); })));
}

Value Lowering::constant(ElementsAttr value, Type elem) {
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value))
    return stringConstant(*this, SmallVector<StringRef>(strings.getValues<StringRef>()), strings.getType().getShape());
  TypedAttr typed = storageConstant(value, elem);
  if (!typed)
    return {};
  auto type = RankedTensorType::get(cast<ShapedType>(value.getType()).getShape(), storageType(elem));
  if (typed.getType() != type) // a packed resource: give the op its storage type all the same
    return kernel::PackedConstantOp::create(b, loc, type, cast<ElementsAttr>(typed));
  return arith::ConstantOp::create(b, loc, typed);
}

/// Whether an op handles tensors of unknown rank, which are descriptors of the runtime. The other lowerings count on
/// ranks.
static bool takesUnranked(Operation *op) {
  static const llvm::StringSet<> names = {"onnx.Identity",
                                          "onnx.CastLike",
                                          "onnx.If",
                                          "onnx.Loop",
                                          "onnx.Scan",
                                          "onnx.SequenceEmpty",
                                          "onnx.SequenceConstruct",
                                          "onnx.SequenceInsert",
                                          "onnx.SequenceErase",
                                          "onnx.SequenceAt",
                                          "onnx.SequenceLength",
                                          "onnx.ConcatFromSequence",
                                          "onnx.SplitToSequence",
                                          "onnx.Optional",
                                          "onnx.OptionalGetElement",
                                          "onnx.OptionalHasElement",
                                          "onnx.NonZero",
                                          "onnx.RandomNormalLike",
                                          "onnx.RandomUniformLike",
                                          "onnx.Bernoulli"};
  return names.contains(op->getName().getStringRef());
}

/// Refuses an op that has to know the rank of a tensor and does not.
static LogicalResult checkRanks(Operation *op, Lowering &l) {
  auto isOpen = [&](Value v) { return isa<TensorType>(v.getType()) && !l.shape(v).ranked; };
  if (takesUnranked(op))
    return success();
  if (llvm::any_of(op->getOperands(), isOpen) ||
      llvm::any_of(op->getResults(), [&](Value v) { return !v.use_empty() && isOpen(v); }))
    return requireRanked(op, l);
  return success();
}

namespace {
/// From -O2 on, a value may stay f32 inside a fused group: what an op rounds for its result only may be taken back by
/// the op that widens it again (MLIR folds the pair when both allow contraction). Roundings that a model asks for stay.
struct RoundingListener : OpBuilder::Listener {
  bool asksForRounding = false;

  static bool asks(Operation *op) {
    return isa<onnx::CastOp, onnx::CastLikeOp, onnx::BitCastOp, onnx::QuantizeLinearOp, onnx::DequantizeLinearOp,
               onnx::DynamicQuantizeLinearOp>(op);
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    auto between = [](Value narrow, Value wide) {
      return narrow.getType().isFloat() && narrow.getType().getIntOrFloatBitWidth() == 16 && wide.getType().isF32();
    };
    if (auto widened = dyn_cast<arith::ExtFOp>(op); widened && between(widened.getIn(), widened))
      widened.setFastmath(arith::FastMathFlags::contract);
    auto rounded = dyn_cast<arith::TruncFOp>(op);
    if (rounded && !asksForRounding && between(rounded, rounded.getIn()))
      rounded.setFastmath(arith::FastMathFlags::contract);
  }
};
} // namespace

FailureOr<SmallVector<Value>> Lowering::lowerBlock(Block &block) {
  RoundingListener listener;
  OpBuilder::Listener *outerListener = b.getListener();
  if (optLevel >= 2)
    b.setListener(&listener);
  const LoweringTable &table = loweringTable();
  bool failedAny = false;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    Location outer = loc;
    loc = op.getLoc();
    listener.asksForRounding = RoundingListener::asks(&op);
    bool known = llvm::all_of(op.getOperands(), [&](Value v) { return values.count(v); });
    // Results whose elements are all known as sizes need no kernel: the host computes them. Some may be known by
    // nothing but the result.
    auto isKnown = [&](Value v) {
      const ShapeInfo &info = shapes.get(v);
      return info.elements && isa<IntegerType>(info.elementType) &&
             llvm::none_of(*info.elements, [&](Dim d) { return d->kind == DimKind::Element && d->tensor == v; });
    };
    bool allElements = op.getNumResults() > 0 && !isa<onnx::ConstantOp>(op) && llvm::all_of(op.getResults(), isKnown);
    if (!known) {
      failedAny = true; // an operand's producer was refused: one message is enough
    } else if (allElements) {
      for (Value result : op.getResults())
        set(result, fromElements(result));
    } else {
      auto it = table.find(op.getName().getStringRef());
      if (const onnx::CustomOperator *custom = onnx::customOperator(op.getName().getStringRef())) {
        failedAny |= failed(checkRanks(&op, *this)) || failed(lowerCustom(&op, *custom, *this));
      } else if (it == table.end()) {
        const onnx::OpInfo *info = onnx::infoFor(&op);
        unsupported(&op, info && info->hasFunctionBody
                             ? "is supported only where the sizes that its definition needs as constants are known "
                               "(channels, for instance); give them in the model, or with --shape or --dim"
                             : "is not supported: it has neither a lowering nor a function body of simpler operators; "
                               "export the model without it, or remove the node");
        failedAny = true;
      } else if (failed(checkRanks(&op, *this)) || failed(it->second(&op, *this))) {
        failedAny = true;
      }
    }
    failedAny |= missingSize;
    loc = outer;
  }
  b.setListener(outerListener);
  if (failedAny)
    return failure();
  SmallVector<Value> out;
  for (Value v : block.getTerminator()->getOperands())
    out.push_back(get(v));
  return out;
}

Value Lowering::fromElements(Value onnxValue) {
  const ShapeInfo &info = shape(onnxValue);
  RankedTensorType type = tensorType(info.elementType, info.dims);
  Type stored = type.getElementType();
  if (std::optional<SmallVector<int64_t>> known = constInts(onnxValue)) {
    SmallVector<APInt> bits;
    for (int64_t v : *known)
      bits.push_back(APInt(stored.getIntOrFloatBitWidth(), v, /*isSigned=*/true, /*implicitTrunc=*/true));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
  }
  SmallVector<Value> elements;
  for (Dim dim : *info.elements)
    elements.push_back(arith::IndexCastOp::create(b, loc, stored, index(dim)));
  return tensor::FromElementsOp::create(b, loc, type, elements);
}
