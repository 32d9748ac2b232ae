//===- Layouts.cpp - which values are stored in which order ---------------===//
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

Order Layouts::of(Value v) const {
  auto it = orders.find(v);
  return it == orders.end() ? identityOrder(cast<RankedTensorType>(v.getType()).getRank()) : it->second;
}

bool Layouts::assign(Value v, ArrayRef<int64_t> order, SmallVectorImpl<Value> &assigned) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(v.getType()).getShape();
  if (shape.size() != order.size())
    return false;
  if (auto it = orders.find(v); it != orders.end())
    return sameMemory(shape, it->second, order);
  if (isIdentity(order))
    return true;
  Operation *def = v.getDefiningOp();
  if (!def || def->getParentOfType<kernel::DispatchOp>())
    return false;

  if (auto generic = dyn_cast<linalg::GenericOp>(def)) {
    if (!generic.getIndexingMapMatchingResult(cast<OpResult>(v)).isProjectedPermutation())
      return false;
  } else if (isa<tensor::ConcatOp>(def)) {
    // Its operands follow, or are copied.
  } else if (auto dispatch = dyn_cast<kernel::DispatchOp>(def)) {
    if (!isReorderable(dispatch, cast<OpResult>(v).getResultNumber()))
      return false;
  } else if (isa<kernel::ViewOp, tensor::CastOp, tensor::ExtractSliceOp>(def)) {
    // The source has to be stored so that the result is without moving anything.
    Value source = def->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(source.getType());
    if (!type)
      return false;
    std::optional<Order> from(Order(order.begin(), order.end()));
    if (isa<kernel::ViewOp>(def))
      from = throughView(sizesOf(v), sizesOf(source), order);
    if (!from)
      return false;
    bool moves = !sameMemory(type.getShape(), *from, of(source));
    if ((moves || !isa<kernel::ViewOp>(def)) && !assign(source, *from, assigned))
      return false;
  } else {
    return false;
  }
  orders[v] = llvm::to_vector(order);
  assigned.push_back(v);
  return true;
}

bool Layouts::accepts(OpOperand &use) const {
  Value v = use.get();
  Operation *user = use.getOwner();
  if (isa<tensor::ExtractOp>(user))
    return true;
  if (auto dim = dyn_cast<tensor::DimOp>(user))
    return !has(v) || dim.getConstantIndex();
  if (auto view = dyn_cast<kernel::ViewOp>(user)) {
    if (!has(v) && !has(view.getResult()))
      return true;
    std::optional<Order> result = throughView(sizesOf(v), sizesOf(view.getResult()), of(v));
    return result && sameMemory(view.getResult().getType().getShape(), *result, of(view.getResult()));
  }
  if (Value result = sameDimensions(user))
    return of(v) == of(result);
  if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
    if (!generic.isDpsInit(&use))
      return true;
    // Contents of a start that nothing computed can have any order.
    Value start = v;
    if (auto fill = start.getDefiningOp<linalg::FillOp>())
      start = fill.getDpsInits()[0];
    return start.getDefiningOp<tensor::EmptyOp>() || of(v) == of(generic.getTiedOpResult(&use));
  }
  return !has(v);
}
