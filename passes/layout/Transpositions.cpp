//===- Transpositions.cpp - transpositions of the model become maps -------===//
//
// A transposition is free when its result is stored as its input is and its users read it through their maps, or when
// the op before it stores its result in the order that the transposition makes.
//===----------------------------------------------------------------------===//
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

/// Largest rank that is worth the trouble.
static constexpr int64_t kMaxRank = 6;

static ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

/// Whether the same dimension is innermost in memory in both orders.
static bool sameInnermost(ArrayRef<int64_t> shape, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto innermost = [&](ArrayRef<int64_t> order) {
    for (int64_t d : llvm::reverse(order))
      if (shape[d] != 1)
        return d;
    return int64_t(-1);
  };
  return innermost(a) == innermost(b);
}

/// A product: two inputs that share a reduction, and loops that only one of them has. Its emitters pack operands,
/// whatever their order.
static bool isProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool shares = false, left = false, right = false;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inLeft = maps[0].isFunctionOfDim(loop), inRight = maps[1].isFunctionOfDim(loop);
    shares |= linalg::isReductionIterator(iterator) && inLeft && inRight;
    left |= inLeft && !inRight;
    right |= inRight && !inLeft;
  }
  return shares && left && right;
}

/// Whether every user can read `v` from memory in `order` without reading it in steps.
static bool isReadable(const Layouts &layouts, Value v, ArrayRef<int64_t> order) {
  bool contiguous = sameInnermost(shapeOf(v), order, layouts.of(v));
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
      if (generic.isDpsInit(&use) || !(contiguous || isProduct(generic)))
        return false;
      continue;
    }
    if (isa<tensor::ExtractOp>(user) && user->getParentOfType<linalg::GenericOp>()) {
      if (!contiguous)
        return false;
      continue;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user); slice && sameDimensions(slice)) {
      if (layouts.has(slice.getResult()) || !isReadable(layouts, slice.getResult(), order))
        return false;
      continue;
    }
    auto view = dyn_cast<kernel::ViewOp>(user);
    if (!view || layouts.has(view.getResult()))
      return false;
    std::optional<Order> result = throughView(sizesOf(v), sizesOf(view.getResult()), order);
    if (!result || !isReadable(layouts, view.getResult(), *result))
      return false;
  }
  return true;
}

/// Stores what `isReadable` found readable.
static void store(Layouts &layouts, Value v, ArrayRef<int64_t> order) {
  if (!isIdentity(order))
    layouts.set(v, llvm::to_vector(order));
  for (Operation *user : v.getUsers())
    if (auto view = dyn_cast<kernel::ViewOp>(user))
      store(layouts, view.getResult(), *throughView(sizesOf(v), sizesOf(view.getResult()), order));
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      store(layouts, slice.getResult(), order);
}

/// Whether `v`, which has no other user, can be computed into memory in `order`.
static bool isWritable(const Layouts &layouts, Value v, ArrayRef<int64_t> order) {
  if (layouts.has(v) || !v.hasOneUse() || !sameInnermost(shapeOf(v), order, layouts.of(v)))
    return false;
  if (auto generic = v.getDefiningOp<linalg::GenericOp>())
    return !generic->getParentOfType<kernel::DispatchOp>() && generic.getNumResults() == 1 && !isTransposition(generic);
  if (auto view = v.getDefiningOp<kernel::ViewOp>()) {
    std::optional<Order> source = throughView(sizesOf(v), sizesOf(view.getSource()), order);
    return source && isWritable(layouts, view.getSource(), *source);
  }
  return false;
}

unsigned layout::absorbTranspositions(func::FuncOp func, Layouts &layouts) {
  unsigned absorbed = 0;
  func.walk([&](linalg::GenericOp op) {
    if (!isTransposition(op) || op->getParentOfType<kernel::DispatchOp>())
      return;
    Value x = op.getInputs()[0], y = op.getResult(0);
    if (layouts.has(y) || cast<RankedTensorType>(y.getType()).getRank() > kMaxRank)
      return;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    auto loopOf = [](AffineMap map, int64_t d) { return cast<AffineDimExpr>(map.getResult(d)).getPosition(); };
    auto dimOf = [](AffineMap map, unsigned loop) -> int64_t {
      return *map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    };
    // y stored as x is: the dimensions of y in the order of x in memory.
    Order stored;
    for (int64_t d : layouts.of(x))
      stored.push_back(dimOf(maps[1], loopOf(maps[0], d)));
    if (isIdentity(stored))
      return;
    if (isReadable(layouts, y, stored)) {
      store(layouts, y, stored);
      ++absorbed;
      return;
    }
    // x computed as y is wanted.
    Order written;
    for (int64_t d = 0, rank = stored.size(); d < rank; ++d)
      written.push_back(dimOf(maps[0], loopOf(maps[1], d)));
    SmallVector<Value> assigned;
    if (isWritable(layouts, x, written) && layouts.assign(x, written, assigned))
      ++absorbed;
  });
  return absorbed;
}
