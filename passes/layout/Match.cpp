//===- Match.cpp - what layouts need to know of an op ---------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

double layout::elementsOf(Value tensor) {
  double count = 1;
  for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
    count *= ShapedType::isDynamic(size) ? kNominalSize : size;
  return count;
}

/// The only loop without reduction in an expression.
static std::optional<unsigned> parallelLoopIn(AffineExpr expr, ArrayRef<utils::IteratorType> iterators) {
  std::optional<unsigned> loop;
  for (auto [d, iterator] : llvm::enumerate(iterators)) {
    if (linalg::isReductionIterator(iterator) || !expr.isFunctionOfDim(d))
      continue;
    if (loop)
      return std::nullopt;
    loop = d;
  }
  return loop;
}

std::optional<Convolution> layout::matchConvolution(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  auto iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap x = maps[0], w = maps[1], y = maps[2];
  if (x.getNumResults() < 3 || !y.isProjectedPermutation() || y.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;

  // Dimensions of x by kind, and the loops of positions and groups for the result.
  std::optional<unsigned> batch;
  Order positions, groups, channels;
  SmallVector<unsigned> positionLoops, groupLoops;
  for (auto [d, expr] : llvm::enumerate(x.getResults())) {
    auto plain = dyn_cast<AffineDimExpr>(expr);
    if (plain && linalg::isReductionIterator(iterators[plain.getPosition()])) {
      if (!w.isFunctionOfDim(plain.getPosition()))
        return std::nullopt;
      channels.push_back(d);
      continue;
    }
    std::optional<unsigned> loop = parallelLoopIn(expr, iterators);
    if (!loop)
      return std::nullopt;
    if (plain && w.isFunctionOfDim(*loop)) {
      groups.push_back(d);
      groupLoops.push_back(*loop);
    } else if (w.isFunctionOfDim(*loop)) {
      return std::nullopt;
    } else if (plain && d == 0) {
      batch = loop;
    } else {
      positions.push_back(d);
      positionLoops.push_back(*loop);
    }
  }
  if (!batch || positions.empty() || (channels.empty() && groups.empty()))
    return std::nullopt;

  Convolution conv;
  conv.x = {0};
  llvm::append_range(conv.x, positions);
  llvm::append_range(conv.x, groups);
  llvm::append_range(conv.x, channels);
  if (isIdentity(conv.x))
    return std::nullopt; // a matrix product

  Order yBatch, yPositions, yGroups, filters;
  for (auto [d, expr] : llvm::enumerate(y.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool inWeights = w.isFunctionOfDim(loop);
    Order &kind = llvm::is_contained(groupLoops, loop)      ? yGroups
                  : llvm::is_contained(positionLoops, loop) ? yPositions
                  : inWeights                               ? filters
                                                            : yBatch;
    kind.push_back(d);
  }
  if (yBatch.size() != 1 || yPositions.size() != positions.size() || (filters.empty() && groups.empty()))
    return std::nullopt;
  for (const Order &kind : {yBatch, yPositions, yGroups, filters})
    llvm::append_range(conv.y, kind);
  ArrayRef<int64_t> xShape = cast<RankedTensorType>(op.getInputs()[0].getType()).getShape();
  conv.channels = 1;
  for (const Order &kind : {groups, channels})
    for (int64_t d : kind)
      conv.channels = ShapedType::isDynamic(xShape[d]) || ShapedType::isDynamic(conv.channels)
                          ? ShapedType::kDynamic
                          : conv.channels * xShape[d];
  conv.multiplyAdds = 1;
  for (int64_t size : op.getStaticLoopRanges())
    conv.multiplyAdds *= ShapedType::isDynamic(size) ? kNominalSize : size;
  return conv;
}

//===----------------------------------------------------------------------===//
// Which loop walks which dimension
//===----------------------------------------------------------------------===//

namespace {
/// The loops of an op that a scalar in its body depends on.
class Dependences {
public:
  explicit Dependences(linalg::GenericOp op) : op(op) {}

  llvm::SmallSetVector<int64_t, 4> of(Value v) {
    llvm::SmallSetVector<int64_t, 4> loops;
    seen.clear();
    collect(v, loops);
    return loops;
  }

private:
  void collect(Value v, llvm::SmallSetVector<int64_t, 4> &loops) {
    if (!op.getRegion().isAncestor(v.getParentRegion()) || !seen.insert(v).second)
      return;
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (arg.getOwner() == op.getBody()) {
        AffineMap map = op.getMatchingIndexingMap(op.getMatchingOpOperand(arg));
        for (unsigned d = 0; d < map.getNumDims(); ++d)
          if (map.isFunctionOfDim(d))
            loops.insert(d);
        return;
      }
      // A loop's variable: what its bounds and starts depend on.
      for (Value operand : arg.getOwner()->getParentOp()->getOperands())
        collect(operand, loops);
      return;
    }
    Operation *def = v.getDefiningOp();
    if (auto index = dyn_cast<linalg::IndexOp>(def)) {
      loops.insert(index.getDim());
      return;
    }
    def->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        collect(operand, loops);
    });
  }

  linalg::GenericOp op;
  llvm::DenseSet<Value> seen;
};
} // namespace

static Order loopsOfMap(linalg::GenericOp op, AffineMap map) {
  auto iterators = op.getIteratorTypesArray();
  Order loops;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(dim.getPosition());
    else
      loops.push_back(parallelLoopIn(expr, iterators).value_or(-1));
  }
  return loops;
}

std::optional<Order> layout::loopsOf(linalg::GenericOp op, Value tensor) {
  if (tensor.getDefiningOp() == op)
    return loopsOfMap(op, op.getIndexingMapMatchingResult(cast<OpResult>(tensor)));
  tensor::ExtractOp extract;
  for (OpOperand &use : tensor.getUses()) {
    if (use.getOwner() == op)
      return loopsOfMap(op, op.getMatchingIndexingMap(&use));
    if (auto read = dyn_cast<tensor::ExtractOp>(use.getOwner());
        read && op.getRegion().isAncestor(read->getParentRegion()))
      extract = read;
  }
  if (!extract)
    return std::nullopt;
  Dependences dependences(op);
  Order loops;
  for (Value index : extract.getIndices()) {
    auto behind = dependences.of(index);
    loops.push_back(behind.size() == 1 ? behind[0] : -1);
  }
  return loops;
}

Value layout::sameDimensions(Operation *op) {
  if (!isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op))
    return Value();
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return from && to && from.getRank() == to.getRank() ? op->getResult(0) : Value();
}

bool layout::isTransposition(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || op.getNumReductionLoops() != 0)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return maps[0].isPermutation() && maps[1].isPermutation() && yield.getOperand(0) == op.getBody()->getArgument(0) &&
         getElementTypeOrSelf(op.getInputs()[0]) == getElementTypeOrSelf(op.getResult(0));
}

//===----------------------------------------------------------------------===//
// Dispatches of sequential loops
//===----------------------------------------------------------------------===//

FailureOr<llvm::SetVector<Value>> layout::contentsOf(kernel::DispatchOp dispatch, unsigned index) {
  Block &body = dispatch.getBody().front();
  llvm::SetVector<Value> contents;
  contents.insert(body.getArgument(index));
  for (unsigned i = 0; i < contents.size(); ++i) {
    Value v = contents[i];
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExtractOp>(user))
        continue;
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        if (!dim.getConstantIndex())
          return failure();
        continue;
      }
      if (auto insert = dyn_cast<tensor::InsertOp>(user)) {
        contents.insert(insert.getResult());
        continue;
      }
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        contents.insert(loop.getTiedLoopRegionIterArg(&use));
        contents.insert(loop.getTiedLoopResult(&use));
        continue;
      }
      if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp())) {
        contents.insert(user->getParentOp()->getResult(use.getOperandNumber()));
        continue;
      }
      if (isa<kernel::YieldOp>(user) && use.getOperandNumber() == index)
        continue;
      return failure();
    }
  }
  // Nothing else may flow into these places.
  auto yields = [&](Operation *terminator, unsigned i) { return contents.contains(terminator->getOperand(i)); };
  if (!yields(body.getTerminator(), index))
    return failure();
  for (Value v : contents) {
    auto result = dyn_cast<OpResult>(v);
    if (!result)
      continue;
    unsigned i = result.getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner());
        loop && (!contents.contains(loop.getInitArgs()[i]) || !yields(loop.getBody()->getTerminator(), i)))
      return failure();
    if (auto branch = dyn_cast<scf::IfOp>(result.getOwner());
        branch && (!yields(branch.thenYield(), i) || !yields(branch.elseYield(), i)))
      return failure();
  }
  return contents;
}

bool layout::isReorderable(kernel::DispatchOp dispatch, unsigned index) {
  return succeeded(contentsOf(dispatch, index));
}

bool layout::copiesByDimension(kernel::DispatchOp dispatch, unsigned index, Value tensor) {
  FailureOr<llvm::SetVector<Value>> contents = contentsOf(dispatch, index);
  if (failed(contents))
    return false;
  for (Value place : *contents) {
    auto insert = place.getDefiningOp<tensor::InsertOp>();
    auto read = insert ? insert.getScalar().getDefiningOp<tensor::ExtractOp>() : nullptr;
    if (!read || read.getTensor() != tensor || read.getIndices().size() != insert.getIndices().size())
      continue;
    bool same = llvm::all_of(llvm::zip(read.getIndices(), insert.getIndices()), [](auto pair) {
      auto [from, to] = pair;
      Operation *sum = to.getDefiningOp();
      return from == to || (sum && llvm::is_contained(sum->getOperands(), from));
    });
    if (same)
      return true;
  }
  return false;
}
