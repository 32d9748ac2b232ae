//===- LoweringUtils.cpp - small helpers that several families share ------===//
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

std::optional<int64_t> optc::knownSize(Dim dim) { return constantOf(dim); }

bool optc::isOwnSize(Dim dim, Value result) { return dim->kind == DimKind::Leaf && dim->tensor == result; }

bool optc::isRanked(Lowering &l, Value onnxValue) {
  return isa<TensorType>(onnxValue.getType()) && l.shape(onnxValue).ranked;
}

LogicalResult optc::requireRanked(Operation *op, Lowering &l) {
  auto check = [&](Value v, StringRef what, unsigned i) -> LogicalResult {
    if (isRanked(l, v))
      return success();
    return unsupported(op, Twine(what) + " " + Twine(i) +
                               " has no known rank; give its shape in the model or with --shape");
  };
  for (auto [i, v] : llvm::enumerate(op->getOperands()))
    if (failed(check(v, "input", i)))
      return failure();
  for (auto [i, v] : llvm::enumerate(op->getResults()))
    if (!v.use_empty() && failed(check(v, "output", i)))
      return failure();
  return success();
}

FailureOr<int64_t> optc::normalizeAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  unsupported(op, "axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
  return failure();
}

void optc::checkSameSize(Lowering &l, Dim x, Dim y, const Twine &what) {
  if (x == y)
    return;
  IndexBuilder m{l.b, l.loc};
  l.check(m.eq(l.index(x), l.index(y)), what);
}

bool optc::isString(Type elem) { return isa<onnx::StringType, kernel::StringType>(elem); }

Type optc::elementType(Value onnxValue) {
  auto tensor = dyn_cast<TensorType>(onnxValue.getType());
  return tensor ? tensor.getElementType() : Type();
}

Type optc::loweredType(Lowering &l, Value onnxValue) {
  if (isRanked(l, onnxValue))
    return l.tensorType(l.elem(onnxValue), l.dims(onnxValue));
  return kernel::ValueType::get(l.b.getContext());
}

ValueRange optc::callLibrary(Lowering &l, kernel::LibraryFn fn, ValueRange operands, ArrayRef<Type> operandElems,
                             TypeRange results, ArrayRef<Type> resultElems, ArrayRef<int64_t> params) {
  SmallVector<int32_t> dtypes;
  for (ArrayRef<Type> elems : {operandElems, resultElems})
    for (Type elem : elems)
      dtypes.push_back(elem ? onnx::dataTypeOf(elem) : 0);
  return kernel::LibraryOp::create(l.b, l.loc, results, fn, operands, l.b.getDenseI64ArrayAttr(params),
                                   l.b.getDenseI32ArrayAttr(dtypes))
      .getResults();
}

Value optc::stringConstant(Lowering &l, ArrayRef<StringRef> values, ArrayRef<int64_t> shape) {
  Type i64 = l.b.getI64Type(), i8 = l.b.getI8Type(), string = onnx::StringType::get(l.b.getContext());
  SmallVector<int64_t> offsets{0};
  SmallVector<int8_t> bytes;
  for (StringRef s : values) {
    bytes.append(s.begin(), s.end());
    offsets.push_back(bytes.size());
  }
  if (bytes.empty())
    bytes.push_back(0);
  auto constant = [&](auto values, Type elem) -> Value {
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, elem);
    return arith::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, ArrayRef(values)));
  };
  return callLibrary(l, kernel::LibraryFn::string_constant, {constant(offsets, i64), constant(bytes, i8)}, {i64, i8},
                     RankedTensorType::get(shape, Lowering::storageType(string)), {string}, shape)[0];
}

int64_t optc::expectedRank(Lowering &l, Value onnxValue) { return isRanked(l, onnxValue) ? l.rank(onnxValue) : -1; }

LogicalResult optc::callAndSet(Lowering &l, kernel::LibraryFn fn, ValueRange operands, ArrayRef<int64_t> params,
                               ValueRange results) {
  SmallVector<Value> lowered;
  SmallVector<Type> operandElems;
  for (Value v : operands) {
    lowered.push_back(v ? l.get(v) : kernel::AbsentOp::create(l.b, l.loc, l.b.getNoneType()).getResult());
    operandElems.push_back(v && isa<RankedTensorType>(lowered.back().getType()) ? elementType(v) : Type());
  }
  setLibraryResults(l, fn, lowered, operandElems, params, results);
  return success();
}

void optc::setLibraryResults(Lowering &l, kernel::LibraryFn fn, ValueRange lowered, ArrayRef<Type> operandElems,
                             ArrayRef<int64_t> params, ValueRange results) {
  SmallVector<Type> types, resultElems;
  for (Value v : results) {
    bool tensor = isRanked(l, v);
    resultElems.push_back(elementType(v));
    types.push_back(tensor ? Type(RankedTensorType::get(SmallVector<int64_t>(l.rank(v), ShapedType::kDynamic),
                                                        Lowering::storageType(l.elem(v))))
                           : Type(kernel::ValueType::get(l.b.getContext())));
  }
  ValueRange made = callLibrary(l, fn, lowered, operandElems, types, resultElems, params);
  IndexBuilder m{l.b, l.loc};
  for (auto [v, value] : llvm::zip(results, made)) {
    if (isRanked(l, v))
      for (auto [axis, d] : llvm::enumerate(l.dims(v)))
        if (std::optional<int64_t> size = knownSize(d))
          l.check(m.eq(tensor::DimOp::create(l.b, l.loc, value, axis), m.cst(*size)),
                  "axis " + Twine(axis) + " of the result must have size " + Twine(*size));
    l.set(v, value);
  }
}

Value optc::convertLowered(Operation *op, Lowering &l, Value lowered, Type elem, Type type) {
  Type from = lowered.getType();
  if (from == type)
    return lowered;
  auto fromTensor = dyn_cast<RankedTensorType>(from), toTensor = dyn_cast<RankedTensorType>(type);
  if (fromTensor && toTensor) {
    if (tensor::CastOp::areCastCompatible(from, type))
      return tensor::CastOp::create(l.b, l.loc, type, lowered);
    unsupported(op, "a value has different ranks or sizes in places that need equal ones");
    return nullptr;
  }
  // Copies: the life of a value in the runtime is not that of a buffer of the host program.
  int64_t rank = toTensor ? toTensor.getRank() : -1, dtype = elem ? onnx::dataTypeOf(elem) : 0;
  Type result = type;
  if (toTensor) // The sizes are those of the value.
    result = RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), toTensor.getElementType());
  Value copy = callLibrary(l, kernel::LibraryFn::value_copy, lowered, {fromTensor ? elem : Type()}, result,
                           {toTensor ? elem : Type()}, {dtype, rank, /*must exist=*/toTensor ? 1 : 0})[0];
  if (!toTensor)
    return copy;
  IndexBuilder m{l.b, l.loc};
  for (auto [axis, size] : llvm::enumerate(toTensor.getShape()))
    if (!ShapedType::isDynamic(size))
      l.check(m.eq(tensor::DimOp::create(l.b, l.loc, copy, axis), m.cst(size)),
              "axis " + Twine(axis) + " must have size " + Twine(size));
  return copy.getType() == type ? copy : tensor::CastOp::create(l.b, l.loc, type, copy).getResult();
}

Lowering::Input optc::rawInput(Lowering &l, Value onnxValue) {
  return {l.get(onnxValue), Lowering::storageType(l.elem(onnxValue)), llvm::to_vector(l.dims(onnxValue))};
}

/// Strings are moved by the runtime: a kernel computes where each element comes from.
static Value moveStrings(Lowering &l, StringRef label, const Lowering::Input &source, ArrayRef<Dim> dims,
                         function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> from) {
  Type i64 = l.b.getI64Type();
  SmallVector<Value> sizes = l.indices(source.dims);
  Value positions = l.generate(label, i64, dims, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexBuilder m{b, loc};
    Value linear = m.cst(0);
    for (auto [size, i] : llvm::zip(sizes, from(b, loc, at)))
      linear = m.add(m.mul(linear, size), i);
    return arith::IndexCastOp::create(b, loc, i64, linear);
  });
  Value flat = l.view(source.lowered, source.elem, {l.shapes.numElements(source.dims)});
  return callLibrary(l, kernel::LibraryFn::string_gather, {flat, positions}, {source.elem, i64},
                     l.tensorType(source.elem, dims), {source.elem}, {/*axis=*/0})[0];
}

Value optc::moveElements(Lowering &l, StringRef label, const Lowering::Input &source, ArrayRef<Dim> dims,
                         function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> from) {
  if (isString(source.elem))
    return moveStrings(l, label, source, dims, from);
  return l.generate(label, source.elem, dims, [&](OpBuilder &b, Location loc, ValueRange at) {
    return l.load(b, loc, source.lowered, source.elem, from(b, loc, at));
  });
}

Value optc::sliceOf(Lowering &l, StringRef label, const Lowering::Input &source, ValueRange starts,
                    ArrayRef<Dim> dims) {
  IndexBuilder m{l.b, l.loc};
  auto from = cast<RankedTensorType>(source.lowered.getType());
  SmallVector<OpFoldResult> offsets, sizes, steps(dims.size(), l.b.getIndexAttr(1));
  // What is empty, or fails at run time, may begin at the end, where no slice can.
  bool fits = !isString(source.elem);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    Value start = starts[axis];
    int64_t extent = from.getDimSize(axis);
    std::optional<int64_t> size = knownSize(dim);
    if (!ShapedType::isDynamic(extent)) {
      std::optional<int64_t> known = getConstantIntValue(start);
      fits &= extent > 0 && size != 0 && (!size || *size <= extent) && (!known || !size || *known + *size <= extent);
      start = m.min(start, m.cst(extent - 1));
    }
    offsets.push_back(getAsOpFoldResult(start));
    sizes.push_back(size ? OpFoldResult(l.b.getIndexAttr(*size)) : OpFoldResult(l.index(dim)));
  }
  if (fits)
    return tensor::ExtractSliceOp::create(l.b, l.loc, l.tensorType(source.elem, dims), source.lowered, offsets, sizes,
                                          steps);
  return moveElements(l, label, source, dims, [&](OpBuilder &b, Location loc, ValueRange at) {
    SmallVector<Value> position;
    for (auto [start, i] : llvm::zip(starts, at))
      position.push_back(IndexBuilder{b, loc}.add(start, i));
    return position;
  });
}

Value optc::insertRaw(OpBuilder &b, Location loc, Value stored, Value dest, ValueRange at) {
  return tensor::InsertOp::create(b, loc, stored, dest, at);
}

Value optc::copyInto(OpBuilder &b, Location loc, Value source, ValueRange sizes, Value dest) {
  return Lowering::loopNest(b, loc, sizes, dest, [&](OpBuilder &b, Location loc, ValueRange ivs, ValueRange carried) {
    Value stored = tensor::ExtractOp::create(b, loc, source, ivs);
    return SmallVector<Value>{insertRaw(b, loc, stored, carried[0], ivs)};
  })[0];
}

FailureOr<PerAxis> PerAxis::get(Operation *op, Lowering &l, Value list, Value axes, int64_t rank, int64_t perAxis) {
  PerAxis result{l, 0, rank, axes, {}};
  Value counted = axes ? axes : list;
  std::optional<int64_t> count;
  if (l.rank(counted) == 1)
    count = knownSize(l.dims(counted)[0]);
  else if (l.rank(counted) == 0)
    count = 1;
  if (!count && !axes)
    count = rank * perAxis; // One entry per axis; a wrong number is caught by the check below.
  if (!count)
    return unsupported(op, "the number of axes is known only at run time; make it constant");
  result.count = axes ? *count : *count / perAxis;
  if (result.count > rank)
    return unsupported(op, Twine(result.count) + " axes are listed for rank " + Twine(rank));
  if (l.rank(list) == 1 && knownSize(l.dims(list)[0]) != result.count * perAxis) {
    if (knownSize(l.dims(list)[0]))
      return unsupported(op,
                         Twine(*knownSize(l.dims(list)[0])) + " values are given for " + Twine(result.count) + " axes");
    IndexBuilder m{l.b, l.loc};
    l.check(m.eq(l.index(l.dims(list)[0]), m.cst(result.count * perAxis)),
            "the number of values does not match the number of axes");
  }
  if (!axes) {
    result.known = llvm::to_vector(llvm::seq<int64_t>(0, result.count));
    return result;
  }
  result.known = l.constInts(axes);
  if (result.known)
    for (int64_t &axis : *result.known) {
      FailureOr<int64_t> normal = normalizeAxis(op, axis, rank);
      if (failed(normal))
        return failure();
      axis = *normal;
    }
  return result;
}

Value PerAxis::value(Value list, int64_t axis, int64_t offset, Value otherwise) const {
  Value result = otherwise;
  IndexBuilder m{l.b, l.loc};
  for (int64_t j = 0; j < count; ++j) {
    if (known && (*known)[j] != axis)
      continue;
    Value v = l.hostIndex(list, offset + j);
    if (known) {
      result = v;
      continue;
    }
    Value listed = m.fromEnd(l.hostIndex(axes, j), m.cst(rank));
    result = m.select(m.eq(listed, m.cst(axis)), v, result);
  }
  return result;
}
