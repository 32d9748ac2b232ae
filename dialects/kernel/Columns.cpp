//===- Columns.cpp - reductions whose elements lie across rows ------------===//
#include "optc/dialects/kernel/Columns.h"
#include "optc/dialects/kernel/SizeClasses.h"

using namespace mlir;
using namespace optc::kernel;

/// Vectors of fewer elements than this do not pay.
static constexpr int64_t kLeastColumns = 4;

namespace {
class Matcher {
public:
  Matcher(ArrayRef<linalg::GenericOp> generics, std::optional<ArrayRef<int64_t>> columnLoops, std::string *why)
      : generics(generics), columnLoops(columnLoops), why(why) {}
  FailureOr<ColumnGroup> match();

private:
  LogicalResult refuse(const Twine &reason) {
    if (why)
      *why = reason.str();
    return failure();
  }
  LogicalResult addOp(linalg::GenericOp generic);
  LogicalResult splitResult(ColumnOp &op, ArrayRef<unsigned> loops);
  /// The result's loops that are one loop for every operand, along which each stays or moves by one element.
  size_t longestRun(const ColumnOp &op, ArrayRef<unsigned> loops) const;
  bool fits(const ColumnOp &op, ArrayRef<unsigned> run) const;

  ArrayRef<linalg::GenericOp> generics;
  std::optional<ArrayRef<int64_t>> columnLoops; ///< known when sizes can no longer be compared
  std::string *why;
  SizeClasses sizes;
  ColumnGroup group;
  SizeExpr numResults;
  llvm::DenseMap<Value, int> sources; ///< op by result
};
} // namespace

bool Matcher::fits(const ColumnOp &op, ArrayRef<unsigned> run) const {
  return llvm::all_of(op.nest.operands, [&](const NestOperand &operand) {
    const SizeExpr &step = operand.strides[run.back()];
    return op.nest.isFlat(operand, run) && (step.is(0) || step.is(1));
  });
}

size_t Matcher::longestRun(const ColumnOp &op, ArrayRef<unsigned> loops) const {
  size_t n = 0;
  while (n < loops.size() && fits(op, loops.take_back(n + 1)))
    ++n;
  return n;
}

/// The root chooses the columns; the others have to have the same.
LogicalResult Matcher::splitResult(ColumnOp &op, ArrayRef<unsigned> loops) {
  size_t n = 0;
  if (columnLoops) {
    n = (*columnLoops)[group.ops.size()];
    if (n > loops.size() || n == 0)
      return refuse("has other loops than its strategy names");
  } else if (!sizes.equal(op.nest.sizeOf(loops), numResults)) {
    return refuse("has a result of another size");
  } else if (group.ops.empty()) {
    n = longestRun(op, loops);
  } else {
    while (n < loops.size() && !sizes.equal(op.nest.sizeOf(loops.take_back(n)), group.numColumns))
      ++n;
    if (!sizes.equal(op.nest.sizeOf(loops.take_back(n)), group.numColumns))
      return refuse("has other columns");
  }
  if (n == 0 || !fits(op, loops.take_back(n)))
    return refuse("an operand is neither contiguous nor constant along the last axis of the result");
  if (!columnLoops && op.nest.sizeOf(loops.take_back(n)).valueOr(kLeastColumns) < kLeastColumns)
    return refuse("the last axis of the result has few elements");
  op.outer.assign(loops.begin(), loops.end() - n);
  op.columns.assign(loops.end() - n, loops.end());
  if (group.ops.empty())
    group.numColumns = op.nest.sizeOf(op.columns);
  return success();
}

LogicalResult Matcher::addOp(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1)
    return refuse("has several results");
  for (OpOperand *input : generic.getDpsInputOperands())
    if (!generic.payloadUsesValueFromOperand(input))
      return refuse("has an operand that only tells sizes");
  FailureOr<LoopNest> nest = loopNestOf(generic);
  if (failed(nest))
    return refuse("an access is not a sum of loops");
  if (llvm::any_of(nest->sizes, [](const SizeExpr &size) { return size.is(0); }))
    return refuse("a size is zero");
  if (!isElementwiseBody(*generic.getBody()))
    return refuse("does more than arithmetic on its elements");
  ColumnOp op;
  op.nest = std::move(*nest);
  op.reduces = generic.getNumReductionLoops() > 0;
  if (op.reduces) {
    auto fill = generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!fill)
      return refuse("starts from a tensor");
    op.start = fill.getInputs()[0];
  } else if (generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0))) {
    return refuse("changes a tensor in place");
  }
  auto isUnit = [&](unsigned loop) { return op.nest.sizes[loop].is(1); };
  SmallVector<unsigned> loops;
  for (AffineExpr expr : generic.getIndexingMapsArray().back().getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !isUnit(dim.getPosition()))
      loops.push_back(dim.getPosition());
  for (unsigned loop = 0; loop < op.nest.numLoops(); ++loop)
    if (op.nest.isReduction(loop) && !isUnit(loop))
      op.k.push_back(loop);
    else if (!isUnit(loop) && !llvm::is_contained(loops, loop))
      return refuse("a parallel loop does not appear in the result");
  auto isRowMajor = [&](const NestOperand &walk) {
    return loops.empty() || (op.nest.isFlat(walk, loops) && walk.strides[loops.back()].is(1));
  };
  if (!isRowMajor(op.nest.result()))
    return refuse("the result is not in the order of the loops");
  if (failed(splitResult(op, loops)))
    return failure();
  for (auto [i, input] : llvm::enumerate(generic.getInputs())) {
    ColumnOperand operand;
    operand.walk = op.nest.operands[i];
    auto it = sources.find(stripViews(input));
    if (it != sources.end()) {
      operand.source = it->second;
      bool moves = llvm::any_of(op.k, [&](unsigned loop) { return operand.walk.moves(loop); });
      if (moves || !isRowMajor(operand.walk))
        return refuse("reads a value of the group at another place than its own");
    }
    operand.isVector = operand.walk.moves(op.columns.back());
    op.inputs.push_back(std::move(operand));
  }
  sources[generic.getResult(0)] = group.ops.size();
  group.ops.push_back(std::move(op));
  return success();
}

FailureOr<ColumnGroup> Matcher::match() {
  if (columnLoops && columnLoops->size() != generics.size())
    return refuse("has other ops than its strategy names");
  const linalg::GenericOp *root =
      llvm::find_if(generics, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  if (root == generics.end())
    return refuse("has no reduction");
  if (!columnLoops) {
    for (linalg::GenericOp op : generics)
      sizes.add(op);
    FailureOr<LoopNest> nest = loopNestOf(*root);
    if (failed(nest))
      return refuse("an access is not a sum of loops");
    for (unsigned loop = 0; loop < nest->numLoops(); ++loop)
      if (!nest->isReduction(loop))
        numResults = numResults * nest->sizes[loop];
  }
  for (linalg::GenericOp op : generics)
    if (failed(addOp(op)))
      return failure();
  return std::move(group);
}

FailureOr<ColumnGroup> optc::kernel::matchColumns(ArrayRef<linalg::GenericOp> ops, std::string *why) {
  return Matcher(ops, std::nullopt, why).match();
}

FailureOr<ColumnGroup> optc::kernel::bindColumns(ArrayRef<linalg::GenericOp> ops, ArrayRef<int64_t> columnLoops,
                                                 std::string *why) {
  return Matcher(ops, columnLoops, why).match();
}

SmallVector<int64_t> ColumnBlocks::toArray() const {
  SmallVector<int64_t> array = {lanes, vectors};
  llvm::append_range(array, columnLoops);
  return array;
}

FailureOr<ColumnBlocks> ColumnBlocks::get(StrategyAttr strategy) {
  ArrayRef<int64_t> array = strategy.getBlocks().asArrayRef();
  if (array.size() < 2 || llvm::any_of(array, [](int64_t v) { return v < 1 || v > 1024; }))
    return failure();
  return ColumnBlocks{array[0], array[1], SmallVector<int64_t>(array.drop_front(2))};
}
