//===- Padding.cpp - tensors with a border --------------------------------===//
#include "optc/dialects/kernel/Padding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace optc::kernel;

namespace {
class Matcher {
public:
  explicit Matcher(linalg::GenericOp op) : op(op) {}

  std::optional<Padding> run() {
    if (op.getNumDpsInputs() != 0 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
        !op.getIndexingMapsArray()[0].isIdentity())
      return std::nullopt;
    auto yielded = dyn_cast<OpResult>(op.getBody()->getTerminator()->getOperand(0));
    auto branch = yielded ? dyn_cast<scf::IfOp>(yielded.getOwner()) : nullptr;
    if (!branch || !branch.elseBlock() || branch->getBlock() != op.getBody())
      return std::nullopt;
    auto result = [&](scf::YieldOp yield) { return yield.getOperand(yielded.getResultNumber()); };
    auto read = result(branch.thenYield()).getDefiningOp<tensor::ExtractOp>();
    if (!matchPattern(result(branch.elseYield()), m_Constant(&padding.fill)) || !read ||
        read->getBlock() != branch.thenBlock() || read.getIndices().size() != op.getNumLoops() ||
        !isOutside(read.getTensor()))
      return std::nullopt;
    padding.source = read.getTensor();
    indices = llvm::to_vector(read.getIndices());
    padding.low.resize(indices.size());
    padding.sizes.resize(indices.size());
    for (unsigned d = 0; d < indices.size(); ++d)
      if (!matchIndex(d))
        return std::nullopt;
    if (!matchCondition(branch.getCondition()))
      return std::nullopt;
    for (auto [low, size] : llvm::zip(padding.low, padding.sizes))
      if (!size && !isConstantIntValue(low, 0))
        return std::nullopt;
    return padding;
  }

private:
  bool isOutside(Value v) { return !op.getRegion().isAncestor(v.getParentRegion()); }

  /// A constant as attribute, or a value from outside; null for others.
  OpFoldResult outer(Value v) {
    OpFoldResult folded = getAsOpFoldResult(v);
    return isa<Attribute>(folded) || isOutside(v) ? folded : OpFoldResult();
  }

  /// Dimension `d` of the source is read at the loop, or at the loop minus a border.
  bool matchIndex(unsigned d) {
    Builder b(op.getContext());
    auto isLoop = [&](Value v) {
      auto index = v.getDefiningOp<linalg::IndexOp>();
      return index && index.getDim() == d;
    };
    Value v = indices[d];
    // The index of a dimension of one element is folded to 0.
    bool isUnit = cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(d) == 1;
    if (isLoop(v) || (isUnit && isConstantIntValue(v, 0))) {
      padding.low[d] = b.getIndexAttr(0);
    } else if (auto sub = v.getDefiningOp<arith::SubIOp>(); sub && isLoop(sub.getLhs())) {
      padding.low[d] = outer(sub.getRhs());
    } else if (auto add = v.getDefiningOp<arith::AddIOp>(); add && isLoop(add.getLhs())) {
      if (std::optional<int64_t> shift = getConstantIntValue(add.getRhs()))
        padding.low[d] = b.getIndexAttr(-*shift);
    }
    return bool(padding.low[d]);
  }

  /// A conjunction of index < size, unsigned, for indices of the source.
  bool matchCondition(Value condition) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return matchCondition(both.getLhs()) && matchCondition(both.getRhs());
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult)
      return false;
    auto index = llvm::find(indices, compare.getLhs());
    if (index == indices.end())
      return false;
    OpFoldResult &size = padding.sizes[index - indices.begin()];
    if (size)
      return false;
    size = outer(compare.getRhs());
    return bool(size);
  }

  linalg::GenericOp op;
  Padding padding;
  SmallVector<Value> indices;
};
} // namespace

std::optional<Padding> optc::kernel::matchPadding(linalg::GenericOp op) { return Matcher(op).run(); }
