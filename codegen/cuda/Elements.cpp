//===- Elements.cpp - one element of a tensor, computed by one thread -----===//
#include "optc/codegen/cuda/Elements.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;

/// Sums of at most this many steps are written out.
static constexpr int64_t kUnrolledSteps = 32;

/// A tensor of the same sizes that tells them.
static Value sizesOf(Value tensor) {
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = insert.getDest();
  return tensor;
}

Value ElementEmitter::flatOf(Value tensor, Point &point) {
  if (!point.flat)
    point.flat = body.flatten(point.indices, body.dims(sizesOf(tensor)));
  return point.flat;
}

ValueRange ElementEmitter::indicesOf(Value tensor, Point &point) {
  if (point.indices.empty() && point.flat)
    point.indices = body.unflatten(point.flat, body.dims(sizesOf(tensor)));
  return point.indices;
}

Value ElementEmitter::emptyElement(Type type) {
  if (auto complexType = dyn_cast<ComplexType>(type)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(complexType.getElementType()));
    return complex::CreateOp::create(b, complexType, zero, zero);
  }
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

/// A value that was computed at the same position, where it dominates.
Value *ElementEmitter::find(Value tensor, const Point &point) {
  for (Known &entry : known[tensor]) {
    bool same =
        entry.flat && point.flat ? entry.flat == point.flat : !point.indices.empty() && entry.indices == point.indices;
    Operation *def = entry.value.getDefiningOp();
    Block *block = def ? def->getBlock() : entry.value.getParentBlock();
    for (Block *here = b.getInsertionBlock(); same && here; here = here->getParentOp()->getBlock())
      if (here == block)
        return &entry.value;
  }
  return nullptr;
}

Value ElementEmitter::at(Value tensor, Point point) {
  if (Value *value = find(tensor, point))
    return *value;
  Value value;
  Operation *def = tensor.getDefiningOp();
  if (Value buffer = body.flat(tensor)) {
    Value offset = kernel::isContiguous(tensor) ? flatOf(tensor, point)
                                                : body.flatten(indicesOf(tensor, point), body.storedDims(tensor));
    value = memref::LoadOp::create(b, buffer, offset);
  } else if (auto view = dyn_cast_if_present<kernel::ViewOp>(def)) {
    value = at(view.getSource(), {{}, flatOf(tensor, point)});
  } else if (auto retyped = dyn_cast_if_present<tensor::CastOp>(def)) {
    value = at(retyped.getSource(), point);
  } else if (auto fill = dyn_cast_if_present<linalg::FillOp>(def)) {
    value = fill.getInputs()[0];
  } else if (auto copy = dyn_cast_if_present<linalg::CopyOp>(def)) {
    value = at(copy.getInputs()[0], point);
  } else if (auto insert = dyn_cast_if_present<tensor::InsertSliceOp>(def)) {
    value = select(insert, point);
  } else if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(def)) {
    Point from;
    for (auto [at, offset] : llvm::zip(indicesOf(tensor, point), slice.getMixedOffsets()))
      from.indices.push_back(index.add(at, getValueOrCreateConstantIndexOp(b, b.getLoc(), offset)));
    value = at(slice.getSource(), std::move(from));
  } else if (auto generic = dyn_cast_if_present<linalg::GenericOp>(def)) {
    value = compute(generic, cast<OpResult>(tensor).getResultNumber(), point);
  } else {
    // A tensor without contents; or, in a hand-written module, one without a buffer.
    if (!isa_and_present<tensor::EmptyOp>(def)) {
      body.func.emitError("kernel '") << body.func.getName()
                                      << "' reads a tensor that has no buffer: " << tensor.getType();
      body.broken = true;
    }
    return emptyElement(cast<RankedTensorType>(tensor.getType()).getElementType());
  }
  known[tensor].push_back({point.indices, point.flat, value});
  return value;
}

Value ElementEmitter::select(tensor::InsertSliceOp op, Point &point) {
  Value inside;
  Point from;
  for (auto [d, at] : llvm::enumerate(indicesOf(op.getResult(), point))) {
    OpFoldResult offset = op.getMixedOffsets()[d], size = op.getMixedSizes()[d];
    Value begin = getValueOrCreateConstantIndexOp(b, b.getLoc(), offset);
    Value own = index.sub(at, begin);
    from.indices.push_back(own);
    bool whole = isConstantIntValue(offset, 0) && getConstantIntValue(size) == op.getDestType().getDimSize(d);
    if (whole)
      continue;
    // What lies in front is a large number without a sign.
    Value here =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, own, getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
    inside = inside ? arith::AndIOp::create(b, inside, here).getResult() : here;
  }
  if (!inside)
    return at(op.getSource(), std::move(from));
  auto branch = scf::IfOp::create(b, TypeRange(op.getDestType().getElementType()), inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, at(op.getSource(), std::move(from)));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, at(op.getDest(), point));
  return branch.getResult(0);
}

Value ElementEmitter::loopSize(linalg::GenericOp op, unsigned loop) {
  Value size;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext())) {
        auto type = cast<RankedTensorType>(operand.get().getType());
        if (!type.isDynamicDim(d))
          return index.c(type.getDimSize(d));
        if (!size)
          size = body.dim(operand.get(), d);
      }
  return size ? size : index.c(0); // linalg's verifier wants every loop to be a dimension
}

Value ElementEmitter::compute(linalg::GenericOp op, unsigned result, Point &point) {
  unsigned loops = op.getNumLoops(), inputs = op.getNumDpsInputs();
  ValueRange indices = indicesOf(op.getResult(result), point);
  SmallVector<Value> ivs(loops);
  AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [d, expr] : llvm::enumerate(outMap.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      ivs[dim.getPosition()] = indices[d];
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  auto depends = [&](AffineMap map) {
    return llvm::any_of(reductions, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  };
  auto load = [&](OpOperand &operand) -> Value {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // The same element of a tensor of the same shape keeps its number.
    bool same = map == outMap && map.isIdentity() && reductions.empty();
    Point from{{}, same ? point.flat : Value()};
    for (AffineExpr expr : map.getResults())
      from.indices.push_back(affine::expandAffineExpr(b, b.getLoc(), expr, ivs, {}));
    return at(operand.get(), std::move(from));
  };
  SmallVector<Value> args(inputs);
  for (OpOperand *operand : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(operand) && !depends(op.getMatchingIndexingMap(operand)))
      args[operand->getOperandNumber()] = load(*operand);
  SmallVector<Value> acc;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead = op.payloadUsesValueFromOperand(&init);
    acc.push_back(isRead ? load(init) : emptyElement(cast<ShapedType>(init.get().getType()).getElementType()));
  }
  auto step = [&](ValueRange carried) {
    SmallVector<Value> all(args);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value &arg = all[operand->getOperandNumber()];
      if (!arg)
        arg = op.payloadUsesValueFromOperand(operand)
                  ? load(*operand)
                  : emptyElement(cast<ShapedType>(operand->get().getType()).getElementType());
    }
    llvm::append_range(all, carried);
    return cloneBody(op, all, ivs);
  };
  // Nested loops over the reductions, the accumulators carried.
  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t depth, ValueRange carried) {
    if (depth == reductions.size())
      return step(carried);
    Value size = loopSize(op, reductions[depth]);
    auto loop = scf::ForOp::create(b, index.c(0), size, index.c(1), carried);
    if (std::optional<int64_t> steps = getConstantIntValue(size); steps && *steps <= kUnrolledSteps) {
      auto full = LLVM::LoopUnrollAttr::get(b.getContext(), /*disable=*/b.getBoolAttr(false), {}, {},
                                            /*full=*/b.getBoolAttr(true), {}, {}, {});
      loop->setAttr("llvm.loop_annotation",
                    LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, full, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                                  {}, ArrayRef<LLVM::AccessGroupAttr>()));
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ivs[reductions[depth]] = loop.getInductionVar();
    SmallVector<Value> inner = nest(depth + 1, loop.getRegionIterArgs());
    scf::YieldOp::create(b, inner);
    return SmallVector<Value>(loop.getResults());
  };
  return nest(0, acc)[result];
}

Value ElementEmitter::replacementOf(Operation *op, const IRMapping &map, ValueRange ivs) {
  if (auto position = dyn_cast<linalg::IndexOp>(op))
    return ivs[position.getDim()];
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Point point;
    for (Value i : extract.getIndices())
      point.indices.push_back(map.lookupOrDefault(i));
    if (point.indices.empty())
      point.flat = index.c(0);
    return at(map.lookupOrDefault(extract.getTensor()), std::move(point));
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (std::optional<int64_t> axis = dim.getConstantIndex())
      return body.dim(dim.getSource(), *axis);
  return Value();
}

SmallVector<Value> ElementEmitter::cloneBody(linalg::GenericOp generic, ValueRange args, ValueRange ivs) {
  Block &block = *generic.getBody();
  IRMapping map;
  map.map(block.getArguments(), args);
  for (Operation &op : block.without_terminator()) {
    if (Value value = replacementOf(&op, map, ivs)) {
      map.map(op.getResult(0), value);
      continue;
    }
    Operation *copy = b.clone(op, map);
    if (copy->getNumRegions() == 0)
      continue;
    SmallVector<Operation *> inner;
    copy->walk([&](Operation *nested) {
      if (isa<linalg::IndexOp, tensor::ExtractOp, tensor::DimOp>(nested))
        inner.push_back(nested);
    });
    for (Operation *nested : inner) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(nested);
      if (Value value = replacementOf(nested, {}, ivs)) {
        nested->getResult(0).replaceAllUsesWith(value);
        nested->erase();
      }
    }
  }
  SmallVector<Value> out;
  for (Value v : block.getTerminator()->getOperands())
    out.push_back(map.lookupOrDefault(v));
  return out;
}

void ElementEmitter::replaceScalarReads() {
  SmallVector<Operation *> reads;
  for (Operation &op : body.func.getBody().front())
    if (isa<tensor::ExtractOp, tensor::DimOp>(op))
      reads.push_back(&op);
  for (Operation *op : reads) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    if (Value value = replacementOf(op, {}, {})) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}
