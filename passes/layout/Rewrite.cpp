//===- Rewrite.cpp - rewrite ops for the orders of their tensors ----------===//
//
// First copies go where a user needs another order than a value has: identities by their maps, whose results have that
// order. Then maps, indices, views and types follow the orders, which turns those copies into transpositions.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

/// The scalars of dynamic sizes in the order in which dimensions are stored.
static SmallVector<Value> storedSizes(RankedTensorType type, ArrayRef<int64_t> order, ValueRange sizes) {
  SmallVector<Value> result;
  for (int64_t d : order)
    if (type.isDynamicDim(d))
      result.push_back(sizes[type.getDynamicDimIndex(d)]);
  return result;
}

namespace {
class Rewrite {
public:
  Rewrite(func::FuncOp func, Layouts &layouts) : func(func), layouts(layouts) {}

  void insertCopies(const llvm::MapVector<Operation *, Convolution> &converted);
  void rewriteOps();
  RewriteCounts removeCopies();

private:
  Value copyOf(Value v, ArrayRef<int64_t> order);
  Order wanted(OpOperand &use);
  void rewriteGeneric(linalg::GenericOp op);
  void rewriteDispatch(kernel::DispatchOp op);
  void rewriteReads(Value v, ArrayRef<int64_t> order);

  func::FuncOp func;
  Layouts &layouts;
  llvm::MapVector<Value, SmallVector<std::pair<Order, Value>>> copies;
};
} // namespace

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// `v` stored in `order`: the same copy for every user.
Value Rewrite::copyOf(Value v, ArrayRef<int64_t> order) {
  for (auto &[have, copy] : copies[v])
    if (ArrayRef(have) == order)
      return copy;
  OpBuilder b(func.getContext());
  b.setInsertionPointAfterValue(v);
  Location loc = v.getLoc();
  RankedTensorType type = typeOf(v);
  // The scalars from which the sizes of `v` come, or what it has itself where they are not known.
  SmallVector<Value> sizes;
  for (auto [d, size] : llvm::enumerate(sizesOf(v))) {
    if (!type.isDynamicDim(d))
      continue;
    if (size.isConstant())
      sizes.push_back(arith::ConstantIndexOp::create(b, loc, size.constant));
    else
      sizes.push_back(size.dim < 0 ? size.value : tensor::DimOp::create(b, loc, size.value, size.dim).getResult());
  }
  Value copy;
  if (sameMemory(type.getShape(), layouts.of(v), order)) {
    copy = kernel::ViewOp::create(b, loc, type, v, sizes);
  } else {
    Value init = tensor::EmptyOp::create(b, loc, type, sizes);
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, loc, TypeRange{type}, v, init, maps, iterators,
        [](OpBuilder &nested, Location l, ValueRange args) { linalg::YieldOp::create(nested, l, args[0]); });
    generic->setAttr("optc.label", b.getStringAttr(isIdentity(order) ? "from_channels_last" : "to_channels_last"));
    copy = generic.getResult(0);
  }
  if (!isIdentity(order))
    layouts.set(copy, llvm::to_vector(order));
  copies[v].push_back({llvm::to_vector(order), copy});
  return copy;
}

/// The order in which the user needs its operand.
Order Rewrite::wanted(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto view = dyn_cast<kernel::ViewOp>(user); view && layouts.has(view.getResult()))
    if (auto order = throughView(sizesOf(view.getResult()), sizesOf(use.get()), layouts.of(view.getResult())))
      return *order;
  if (Value result = sameDimensions(user))
    return layouts.of(result);
  if (auto generic = dyn_cast<linalg::GenericOp>(user); generic && generic.isDpsInit(&use))
    return layouts.of(generic.getTiedOpResult(&use));
  return identityOrder(typeOf(use.get()).getRank());
}

void Rewrite::insertCopies(const llvm::MapVector<Operation *, Convolution> &converted) {
  for (auto &[op, conv] : converted) {
    OpOperand &x = op->getOpOperand(0);
    if (layouts.of(x.get()) != conv.x)
      x.set(copyOf(x.get(), conv.x));
  }
  SmallVector<OpOperand *> refused;
  func.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (isa<RankedTensorType>(use.get().getType()) && !layouts.accepts(use))
        refused.push_back(&use);
  });
  for (OpOperand *use : refused)
    use->set(copyOf(use->get(), wanted(*use)));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Reads of elements and sizes of `v` by index.
void Rewrite::rewriteReads(Value v, ArrayRef<int64_t> order) {
  for (Operation *user : v.getUsers()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      extract.getIndicesMutable().assign(inOrder(SmallVector<Value>(extract.getIndices()), order));
    } else if (auto dim = dyn_cast<tensor::DimOp>(user)) {
      OpBuilder b(dim);
      int64_t stored = llvm::find(order, *dim.getConstantIndex()) - order.begin();
      dim.getIndexMutable().assign(arith::ConstantIndexOp::create(b, dim.getLoc(), stored));
    }
  }
}

/// The loops of an op so that the first result is walked in its order, reductions as the first input stores them.
static SmallVector<unsigned> loopOrder(linalg::GenericOp op, ArrayRef<AffineMap> maps) {
  llvm::SetVector<unsigned> order;
  auto iterators = op.getIteratorTypesArray();
  for (AffineExpr expr : maps[op.getNumDpsInputs()].getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      order.insert(dim.getPosition());
  for (bool reduction : {false, true}) {
    auto add = [&](unsigned loop) {
      if (linalg::isReductionIterator(iterators[loop]) == reduction)
        order.insert(loop);
    };
    for (AffineExpr expr : maps[0].getResults())
      for (unsigned loop = 0; loop < iterators.size(); ++loop)
        if (expr.isFunctionOfDim(loop))
          add(loop);
    for (unsigned loop = 0; loop < iterators.size(); ++loop)
      add(loop);
  }
  return llvm::to_vector(order);
}

void Rewrite::rewriteGeneric(linalg::GenericOp op) {
  OpBuilder b(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto permuted = [&](AffineMap map, ArrayRef<int64_t> order) {
    return AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
  };
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap &map = maps[operand.getOperandNumber()];
    if (!op.isDpsInit(&operand)) {
      if (layouts.has(operand.get()))
        map = permuted(map, layouts.of(operand.get()));
      continue;
    }
    Value result = op.getTiedOpResult(&operand), start = operand.get();
    if (!layouts.has(result))
      continue;
    Order order = layouts.of(result);
    map = permuted(map, order);
    auto fill = start.getDefiningOp<linalg::FillOp>();
    auto empty = (fill ? fill.getDpsInits()[0] : start).getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      continue; // Data, which has the order of the result.
    RankedTensorType type = typeOf(start);
    start = tensor::EmptyOp::create(b, empty.getLoc(), storedType(type, order),
                                    storedSizes(type, order, empty.getDynamicSizes()));
    if (fill)
      start = linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(), ValueRange{start}).getResult(0);
    operand.set(start);
  }

  SmallVector<unsigned> order = loopOrder(op, maps), position(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    position[from] = to;
  SmallVector<AffineExpr> loops;
  for (unsigned to : position)
    loops.push_back(b.getAffineDimExpr(to));
  for (AffineMap &map : maps)
    map = map.replaceDimsAndSymbols(loops, {}, loops.size(), 0);
  SmallVector<Attribute> iterators;
  for (unsigned from : order)
    iterators.push_back(op.getIteratorTypes()[from]);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
  op.getBody()->walk([&](linalg::IndexOp index) { index.setDim(position[index.getDim()]); });
}

/// Reorders a nest of loops around an insertion so that it walks its destination in memory order. Only when nothing
/// can tell: a perfect nest that writes each element once and reads others only.
static void followMemory(tensor::InsertOp insert) {
  SmallVector<scf::ForOp> nest;
  Operation *inner = insert;
  for (Value dest = insert.getDest(); auto loop = dyn_cast<scf::ForOp>(inner->getParentOp()); inner = loop) {
    bool perfect = loop.getNumResults() == 1 && dest == loop.getRegionIterArg(0) && dest.hasOneUse() &&
                   loop.getBody()->getTerminator()->getOperand(0) == inner->getResult(0) &&
                   inner->getResult(0).hasOneUse() && inner->getBlock() == loop.getBody() &&
                   (inner == insert || loop.getBody()->getOperations().size() == 2);
    if (!perfect)
      break;
    nest.insert(nest.begin(), loop);
    dest = loop.getInitArgs()[0];
  }
  if (nest.size() < 2)
    return;
  scf::ForOp outer = nest.front();
  auto isOutside = [&](Value v) { return outer.isDefinedOutsideOfLoop(v); };
  // The loop of each index of the destination.
  llvm::SetVector<unsigned> order;
  for (Value index : insert.getIndices()) {
    Value moving = index;
    if (auto sum = index.getDefiningOp<arith::AddIOp>(); sum && !isOutside(index)) {
      if (!isOutside(sum.getRhs()) && !isOutside(sum.getLhs()))
        return;
      moving = isOutside(sum.getRhs()) ? sum.getLhs() : sum.getRhs();
    }
    if (isOutside(moving))
      continue;
    auto loop = llvm::find_if(nest, [&](scf::ForOp f) { return f.getInductionVar() == moving; });
    if (loop == nest.end() || !order.insert(loop - nest.begin()))
      return;
  }
  if (order.size() != nest.size())
    return;
  struct Loop {
    Value low, high, step;
    SmallVector<OpOperand *> uses;
  };
  SmallVector<Loop> loops;
  for (scf::ForOp loop : nest) {
    loops.push_back({loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), {}});
    if (!isOutside(loops.back().low) || !isOutside(loops.back().high) || !isOutside(loops.back().step))
      return;
    for (OpOperand &use : loop.getInductionVar().getUses())
      loops.back().uses.push_back(&use);
  }
  for (auto [to, from] : llvm::enumerate(order)) {
    nest[to].setLowerBound(loops[from].low);
    nest[to].setUpperBound(loops[from].high);
    nest[to].setStep(loops[from].step);
    for (OpOperand *use : loops[from].uses)
      use->set(nest[to].getInductionVar());
  }
}

void Rewrite::rewriteDispatch(kernel::DispatchOp op) {
  SmallVector<Value> sizes;
  ValueRange left = op.getResultDims();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    RankedTensorType type = typeOf(result);
    Order order = layouts.of(result);
    llvm::append_range(sizes, storedSizes(type, order, left.take_front(type.getNumDynamicDims())));
    left = left.drop_front(type.getNumDynamicDims());
    if (!layouts.has(result))
      continue;
    FailureOr<llvm::SetVector<Value>> contents = contentsOf(op, i);
    assert(succeeded(contents) && "assigned only when it can be reordered");
    for (Value v : *contents) {
      rewriteReads(v, order);
      v.setType(storedType(type, order));
      if (auto insert = v.getDefiningOp<tensor::InsertOp>()) {
        insert.getIndicesMutable().assign(inOrder(SmallVector<Value>(insert.getIndices()), order));
        followMemory(insert);
      }
    }
  }
  op.getResultDimsMutable().assign(sizes);
}

static void rewriteSlice(tensor::ExtractSliceOp slice, ArrayRef<int64_t> order) {
  auto reorder = [&](const SmallVector<OpFoldResult> &mixed, MutableOperandRange dynamic, auto setStatic) {
    SmallVector<Value> values;
    SmallVector<int64_t> constants;
    dispatchIndexOpFoldResults(inOrder(mixed, order), values, constants);
    dynamic.assign(values);
    setStatic(constants);
  };
  reorder(slice.getMixedOffsets(), slice.getOffsetsMutable(),
          [&](ArrayRef<int64_t> all) { slice.setStaticOffsets(all); });
  reorder(slice.getMixedSizes(), slice.getSizesMutable(), [&](ArrayRef<int64_t> all) { slice.setStaticSizes(all); });
  reorder(slice.getMixedStrides(), slice.getStridesMutable(),
          [&](ArrayRef<int64_t> all) { slice.setStaticStrides(all); });
}

void Rewrite::rewriteOps() {
  llvm::SetVector<Operation *> ops;
  for (auto &[v, order] : layouts.all()) {
    rewriteReads(v, order);
    if (Operation *def = v.getDefiningOp())
      ops.insert(def);
    for (Operation *user : v.getUsers())
      if (isa<linalg::GenericOp>(user))
        ops.insert(user);
  }
  for (Operation *op : ops) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      rewriteGeneric(generic);
    } else if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) {
      rewriteDispatch(dispatch);
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      Order order = layouts.of(concat.getResult());
      concat.setDim(llvm::find(order, static_cast<int64_t>(concat.getDim())) - order.begin());
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      rewriteSlice(slice, layouts.of(slice.getResult()));
    } else if (auto view = dyn_cast<kernel::ViewOp>(op)) {
      RankedTensorType type = typeOf(view.getResult());
      view.getDimsMutable().assign(storedSizes(type, layouts.of(view.getResult()), view.getDims()));
    }
  }
  for (const auto &entry : layouts.all()) {
    Value v = entry.first;
    v.setType(storedType(typeOf(v), entry.second));
  }
}

RewriteCounts Rewrite::removeCopies() {
  RewriteCounts counts;
  func.walk([&](linalg::GenericOp op) {
    if (!isTransposition(op) || op->getParentOfType<kernel::DispatchOp>())
      return;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    auto label = op->getAttrOfType<StringAttr>("optc.label");
    if (maps[0] == maps[1] && op.getInputs()[0].getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getInputs()[0]);
      op.erase();
      ++counts.removed;
    } else if (label && label.getValue().ends_with("_channels_last")) {
      ++counts.transpositions;
    }
  });
  // Views under the sizes that are there already would only hide an op from its user.
  func.walk([&](kernel::ViewOp view) {
    if (view.getSource().getType() == view.getResult().getType() &&
        sizesOf(view.getSource()) == sizesOf(view.getResult())) {
      view.getResult().replaceAllUsesWith(view.getSource());
      view.erase();
    }
  });
  // What copies and rewritten starts leave unused.
  bool changed = true;
  while (changed) {
    changed = false;
    func.walk([&](Operation *op) {
      if (isa<tensor::EmptyOp, linalg::FillOp>(op) && op->use_empty()) {
        op->erase();
        changed = true;
      }
    });
  }
  return counts;
}

RewriteCounts layout::rewriteLayouts(func::FuncOp func, Layouts &layouts,
                                     const llvm::MapVector<Operation *, Convolution> &converted) {
  Rewrite rewrite(func, layouts);
  rewrite.insertCopies(converted);
  rewrite.rewriteOps();
  return rewrite.removeCopies();
}
