//===- Structured.cpp - helpers of operator lowerings: structured ops -----===//
#include "optc/passes/lowering/Lowering.h"

using namespace mlir;
using namespace optc;

/// Leaves the name under which reports and symbols know the op.
static void label(Operation *op, StringRef text) { op->setAttr("optc.label", StringAttr::get(op->getContext(), text)); }

/// "Relu" for onnx.Relu, from the op being lowered when it is known.
static std::string defaultLabel(Location loc) {
  std::string name = onnx::nodeName(loc);
  return name.empty() ? "elementwise" : name;
}

Lowering::Input Lowering::input(Value onnxValue) const {
  return {get(onnxValue), elem(onnxValue), llvm::to_vector(dims(onnxValue))};
}

Value Lowering::elementwise(ValueRange onnxInputs, Type outElem, ArrayRef<Dim> outDims, ScalarBody body) {
  SmallVector<Input> inputs;
  for (Value v : onnxInputs)
    inputs.push_back(input(v));
  return elementwise(inputs, outElem, outDims, body);
}

Value Lowering::elementwise(ArrayRef<Input> inputs, Type outElem, ArrayRef<Dim> outDims, ScalarBody body) {
  MLIRContext *context = b.getContext();
  unsigned outRank = outDims.size();
  // An input whose broadcasting is decided at run time is read by index: 0 where its size is 1.
  struct Access {
    bool byMap = true;
    SmallVector<Value> sizes; ///< run-time sizes where broadcasting is not known, null elsewhere
  };
  SmallVector<Access> accesses(inputs.size());
  SmallVector<Value> mapped;
  SmallVector<AffineMap> maps;
  for (auto [input, access] : llvm::zip(inputs, accesses)) {
    unsigned offset = outRank - input.dims.size();
    SmallVector<AffineExpr> exprs;
    for (auto [i, dim] : llvm::enumerate(input.dims)) {
      Dim out = outDims[offset + i];
      bool isOne = dim->isConst() && dim->value == 1, same = dim == out;
      exprs.push_back(isOne && !same ? getAffineConstantExpr(0, context) : getAffineDimExpr(offset + i, context));
      access.sizes.push_back(isOne || same ? Value() : index(dim));
      // A constant size other than 1 is the size of the result.
      if (dim->isConst() && dim->value != 1)
        access.sizes.back() = Value();
      access.byMap &= !access.sizes.back();
    }
    if (access.byMap) {
      mapped.push_back(input.lowered);
      maps.push_back(AffineMap::get(outRank, 0, exprs, context));
    }
  }
  Value init = empty(outElem, outDims);
  maps.push_back(AffineMap::getMultiDimIdentityMap(outRank, context));
  SmallVector<utils::IteratorType> iterators(outRank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{init.getType()}, mapped, ValueRange{init}, maps, iterators,
      [&](OpBuilder &nb, Location l, ValueRange args) {
        SmallVector<Value> scalars;
        unsigned next = 0;
        for (auto [input, access] : llvm::zip(inputs, accesses)) {
          if (access.byMap) {
            scalars.push_back(toCompute(nb, l, args[next++], input.elem));
            continue;
          }
          SmallVector<Value> at;
          unsigned offset = outRank - input.dims.size();
          Value zero = arith::ConstantIndexOp::create(nb, l, 0), one = arith::ConstantIndexOp::create(nb, l, 1);
          for (auto [i, dim] : llvm::enumerate(input.dims)) {
            if (dim->isConst() && dim->value == 1) {
              at.push_back(zero);
              continue;
            }
            Value iv = linalg::IndexOp::create(nb, l, offset + i);
            if (Value size = access.sizes[i])
              iv = arith::SelectOp::create(nb, l, arith::CmpIOp::create(nb, l, arith::CmpIPredicate::eq, size, one),
                                           zero, iv);
            at.push_back(iv);
          }
          scalars.push_back(load(nb, l, input.lowered, input.elem, at));
        }
        Value out = body(nb, l, scalars);
        linalg::YieldOp::create(nb, l, toStorage(nb, l, out, outElem));
      });
  label(generic, defaultLabel(loc));
  return generic.getResult(0);
}

Value Lowering::generate(StringRef name, Type outElem, ArrayRef<Dim> outDims, IndexBody body) {
  Value init = empty(outElem, outDims);
  SmallVector<AffineMap> maps{AffineMap::getMultiDimIdentityMap(outDims.size(), b.getContext())};
  SmallVector<utils::IteratorType> iterators(outDims.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(b, loc, TypeRange{init.getType()}, ValueRange{}, ValueRange{init}, maps, iterators,
                                [&](OpBuilder &nb, Location l, ValueRange) {
                                  SmallVector<Value> ivs;
                                  for (unsigned i = 0; i < outDims.size(); ++i)
                                    ivs.push_back(linalg::IndexOp::create(nb, l, i));
                                  linalg::YieldOp::create(nb, l, toStorage(nb, l, body(nb, l, ivs), outElem));
                                });
  label(generic, name);
  return generic.getResult(0);
}

Value Lowering::contract(StringRef name, ArrayRef<Input> inputs, ArrayRef<AffineMap> maps,
                         ArrayRef<utils::IteratorType> iterators, Type outElem, ArrayRef<Dim> outDims, Value init,
                         llvm::function_ref<Value(OpBuilder &, Location, ValueRange, Value)> body) {
  SmallVector<Value> operands;
  for (const Input &input : inputs)
    operands.push_back(input.lowered);
  Value start = empty(outElem, outDims);
  if (init)
    start =
        linalg::FillOp::create(b, loc, ValueRange{toStorage(b, loc, init, outElem)}, ValueRange{start}).getResult(0);
  auto generic = linalg::GenericOp::create(b, loc, TypeRange{start.getType()}, operands, ValueRange{start}, maps,
                                           iterators, [&](OpBuilder &nb, Location l, ValueRange args) {
                                             SmallVector<Value> scalars;
                                             for (auto [input, arg] : llvm::zip(inputs, args))
                                               scalars.push_back(toCompute(nb, l, arg, input.elem));
                                             Value out = body(nb, l, scalars, toCompute(nb, l, args.back(), outElem));
                                             linalg::YieldOp::create(nb, l, toStorage(nb, l, out, outElem));
                                           });
  label(generic, name);
  if (note)
    generic->setAttr("kernel.declined", b.getArrayAttr({note}));
  return generic.getResult(0);
}

Value Lowering::reduce(StringRef name, const Input &in, ArrayRef<int64_t> axes, Type accElem, Value init,
                       llvm::function_ref<Value(OpBuilder &, Location, Value)> map,
                       llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> combine) {
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> kept;
  SmallVector<Dim> outDims;
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, dim] : llvm::enumerate(in.dims)) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(i));
    iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (reduced)
      continue;
    kept.push_back(getAffineDimExpr(i, context));
    outDims.push_back(dim);
  }
  unsigned rank = in.dims.size();
  SmallVector<AffineMap> maps{AffineMap::getMultiDimIdentityMap(rank, context), AffineMap::get(rank, 0, kept, context)};
  return contract(
      name, {in}, maps, iterators, accElem, outDims, init,
      [&](OpBuilder &nb, Location l, ValueRange args, Value acc) { return combine(nb, l, acc, map(nb, l, args[0])); });
}

Value Lowering::view(Value lowered, Type elem, ArrayRef<Dim> dims) {
  SmallVector<Value> dynamic;
  for (Dim dim : dims)
    if (!dim->isConst())
      dynamic.push_back(index(dim));
  RankedTensorType type = tensorType(elem, dims);
  if (type == lowered.getType() && type.hasStaticShape())
    return lowered;
  return kernel::ViewOp::create(b, loc, type, lowered, dynamic);
}

SmallVector<Value> Lowering::loops(StringRef name, ArrayRef<Result> results, LoopBody body) {
  SmallVector<Type> types;
  SmallVector<Value> dynamic;
  for (const Result &result : results) {
    types.push_back(tensorType(result.elem, result.dims));
    for (Dim dim : result.dims)
      if (!dim->isConst())
        dynamic.push_back(index(dim));
  }
  auto dispatch = kernel::DispatchOp::create(b, loc, name, types, dynamic);
  OpBuilder::InsertionGuard guard(b);
  Block &block = dispatch.getBody().front();
  b.setInsertionPointToEnd(&block);
  Scope scope(*this);
  SmallVector<Value> finished = body(b, loc, block.getArguments());
  kernel::YieldOp::create(b, loc, finished);
  return SmallVector<Value>(dispatch.getResults());
}

SmallVector<Value>
Lowering::loopNest(OpBuilder &b, Location loc, ValueRange sizes, ValueRange init,
                   llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange, ValueRange)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lows(sizes.size(), zero), steps(sizes.size(), one);
  scf::LoopNest nest =
      scf::buildLoopNest(b, loc, lows, sizes, steps, init,
                         [&](OpBuilder &nb, Location l, ValueRange ivs, ValueRange carried) -> scf::ValueVector {
                           SmallVector<Value> out = body(nb, l, ivs, carried);
                           return scf::ValueVector(out.begin(), out.end());
                         });
  return SmallVector<Value>(nest.results.begin(), nest.results.end());
}

SmallVector<Value> Lowering::library(kernel::LibraryFn fn, ValueRange onnxOperands, ArrayRef<int64_t> params,
                                     ValueRange onnxResults) {
  SmallVector<Value> operands;
  SmallVector<int32_t> dtypes;
  auto dtypeOf = [&](Value v) { return v && isa<TensorType>(v.getType()) ? onnx::dataTypeOf(elem(v)) : 0; };
  for (Value v : onnxOperands) {
    operands.push_back(v ? get(v) : kernel::AbsentOp::create(b, loc, b.getNoneType()).getResult());
    dtypes.push_back(dtypeOf(v));
  }
  SmallVector<Type> types;
  for (Value v : onnxResults) {
    dtypes.push_back(dtypeOf(v));
    const ShapeInfo &info = shape(v);
    if (info.ranked && isa<TensorType>(v.getType()))
      types.push_back(tensorType(info.elementType, info.dims));
    else
      types.push_back(kernel::ValueType::get(b.getContext()));
  }
  auto op = kernel::LibraryOp::create(b, loc, types, fn, operands, params, dtypes);
  return SmallVector<Value>(op.getResults());
}
