//===- Rows.cpp - chains of ops that share their rows ---------------------===//
#include "optc/dialects/kernel/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/SizeClasses.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc::kernel;

static LogicalResult refuse(std::string *why, const Twine &reason) {
  if (why)
    *why = reason.str();
  return failure();
}

Value optc::kernel::stripViews(Value tensor) {
  while (auto view = tensor.getDefiningOp<ViewOp>())
    tensor = view.getSource();
  return tensor;
}

int64_t optc::kernel::bodyCost(Block &body) {
  int64_t cost = 0;
  for (Operation &op : body.without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    bool divides = isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(op);
    bool cheap = !isa<math::MathDialect>(op.getDialect()) || isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(op);
    cost += divides ? 5 : cheap ? 1 : 20;
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
enum class Neutral { Zero, One, Self };
}

/// What a combining op may start from, so that several accumulators can: its neutral element, or, where taking a value
/// twice changes nothing, any.
static std::optional<Neutral> neutralOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Neutral>>(op)
      .Case<arith::AddFOp, arith::AddIOp, arith::XOrIOp>([](auto) { return Neutral::Zero; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Neutral::One; })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
            arith::AndIOp, arith::OrIOp>([](auto) { return Neutral::Self; })
      .Default([](auto) { return std::nullopt; });
}

/// Conversions that give a value back when it is converted the other way.
static bool isStorageCast(Operation &op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::BitcastOp>(op);
}

FailureOr<Combiner> optc::kernel::matchCombiner(linalg::GenericOp op, std::string *why) {
  if (op.getNumDpsInits() != 1)
    return refuse(why, "reduces to several values");
  Block &body = *op.getBody();
  Combiner c;
  // What depends on the accumulator, before and after it meets the elements.
  llvm::SmallPtrSet<Value, 8> fromAcc, fromInput, combined;
  fromAcc.insert(body.getArguments().back());
  fromInput.insert_range(body.getArguments().drop_back());
  for (Operation &inner : body.without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    auto uses = [&](const llvm::SmallPtrSetImpl<Value> &set) {
      return llvm::any_of(inner.getOperands(), [&](Value v) { return set.contains(v); });
    };
    bool acc = uses(fromAcc), input = uses(fromInput), after = uses(combined);
    if (after) {
      if (acc || input || !isStorageCast(inner))
        return refuse(why, "does more to the accumulator than combine it");
      c.post.push_back(&inner);
      combined.insert_range(inner.getResults());
    } else if (acc && input) {
      if (c.op || !neutralOf(&inner) || inner.getNumOperands() != 2)
        return refuse(why, "combines by something that cannot be regrouped");
      c.op = &inner;
      c.accOperand = fromAcc.contains(inner.getOperand(0)) ? 0 : 1;
      combined.insert_range(inner.getResults());
    } else if (acc) {
      if (!isStorageCast(inner))
        return refuse(why, "does more to the accumulator than combine it");
      c.pre.push_back(&inner);
      fromAcc.insert_range(inner.getResults());
    } else {
      fromInput.insert_range(inner.getResults());
    }
  }
  if (!c.op || !combined.contains(body.getTerminator()->getOperand(0)))
    return refuse(why, "does not combine elements with an accumulator");
  c.ordered = isa<arith::AddFOp, arith::MulFOp>(c.op);
  if (c.ordered && (!c.pre.empty() || !c.post.empty()))
    return refuse(why, "rounds its accumulator after every step");
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill)
    return refuse(why, "starts from a tensor");
  c.start = fill.getInputs()[0];
  bool fits = true;
  switch (*neutralOf(c.op)) {
  case Neutral::Zero:
    fits = matchPattern(c.start, m_AnyZeroFloat()) || matchPattern(c.start, m_Zero());
    break;
  case Neutral::One:
    fits = matchPattern(c.start, m_OneFloat()) || matchPattern(c.start, m_One());
    break;
  case Neutral::Self:
    break;
  }
  if (!fits)
    return refuse(why, "does not start at the neutral element");
  return c;
}

//===----------------------------------------------------------------------===//
// Rows and columns of one op
//===----------------------------------------------------------------------===//

namespace {
class Matcher {
public:
  Matcher(ArrayRef<linalg::GenericOp> generics, ArrayRef<RowShape> shapes, std::string *why)
      : generics(generics), shapes(shapes), why(why) {}
  FailureOr<RowGroup> match();

private:
  LogicalResult addOp(linalg::GenericOp op);
  LogicalResult splitLoops(RowOp &op);
  LogicalResult checkShape(RowOp &op);
  LogicalResult checkOperands(RowOp &op);
  LogicalResult chooseLevels();
  LogicalResult assignLevels(RowOp &op);
  bool steps(const RowOp &op, const NestOperand &walk, unsigned loop) const {
    return walk.moves(loop) && !op.nest.sizes[loop].is(1);
  }
  /// Whether the loops are one for every operand of the op.
  bool isFlat(const RowOp &op, ArrayRef<unsigned> loops) const {
    return llvm::all_of(op.nest.operands, [&](const NestOperand &operand) { return op.nest.isFlat(operand, loops); });
  }
  bool isRowMajor(const RowOp &op, const NestOperand &walk, ArrayRef<unsigned> loops) const {
    return loops.empty() || (op.nest.isFlat(walk, loops) && walk.strides[loops.back()].is(1));
  }
  bool sizesAreKnown() const { return shapes.empty(); } ///< they can be compared

  ArrayRef<linalg::GenericOp> generics;
  ArrayRef<RowShape> shapes;
  std::string *why;
  SizeClasses sizes;
  RowGroup group;
  llvm::DenseMap<Value, int> sources; ///< op by result
};
} // namespace

/// Finds which loops walk rows and which walk columns.
LogicalResult Matcher::splitLoops(RowOp &op) {
  LoopNest &nest = op.nest;
  auto isUnit = [&](unsigned loop) { return nest.sizes[loop].is(1); };
  if (op.kind == RowOp::Kind::Reduction) {
    for (AffineExpr expr : op.nest.op.getIndexingMapsArray().back().getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !isUnit(dim.getPosition()))
        op.rows.push_back(dim.getPosition());
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (isUnit(loop))
        continue;
      if (nest.isReduction(loop))
        op.columns.push_back(loop);
      else if (!llvm::is_contained(op.rows, loop))
        return refuse(why, "a parallel loop does not appear in the result");
    }
    if (sizesAreKnown() &&
        (!sizes.equal(nest.sizeOf(op.rows), group.numRows) || !sizes.equal(nest.sizeOf(op.columns), group.numColumns)))
      return refuse(why, "has other rows or columns");
    return checkShape(op);
  }
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (!isUnit(loop))
      loops.push_back(loop);
  size_t rows = 0;
  if (!sizesAreKnown()) {
    rows = std::min<size_t>(op.shape.rows, loops.size());
    op.kind = rows == loops.size() ? RowOp::Kind::Row : RowOp::Kind::Full;
  } else if (sizes.equal(nest.sizeOf(loops), group.numRows)) {
    op.kind = RowOp::Kind::Row;
    rows = loops.size();
  } else {
    op.kind = RowOp::Kind::Full;
    bool found = false;
    for (size_t n = 0; n <= loops.size() && !found; ++n) {
      ArrayRef<unsigned> all = loops;
      rows = n;
      found = sizes.equal(nest.sizeOf(all.take_front(n)), group.numRows) &&
              sizes.equal(nest.sizeOf(all.drop_front(n)), group.numColumns);
    }
    if (!found)
      return refuse(why, "has other rows or columns");
  }
  op.rows.assign(loops.begin(), loops.begin() + rows);
  op.columns.assign(loops.begin() + rows, loops.end());
  return checkShape(op);
}

/// A shape that was read from a strategy has to be one of the op's loops.
LogicalResult Matcher::checkShape(RowOp &op) {
  if (sizesAreKnown())
    return success();
  ArrayRef<unsigned> levels = op.shape.levels;
  size_t columns = 0;
  for (unsigned n : levels)
    columns += n;
  bool fits = !levels.empty() && op.shape.rows == op.rows.size() && columns == op.columns.size();
  // All levels have loops, or the last one has them all.
  if (fits && columns > 0)
    fits = llvm::all_of(levels, [](unsigned n) { return n > 0; }) || levels.back() == columns;
  return fits ? success() : refuse(why, "has other loops than its strategy names");
}

/// Values of the group are read where they are: at the op's own row and column.
LogicalResult Matcher::checkOperands(RowOp &op) {
  SmallVector<unsigned> all = op.rows;
  llvm::append_range(all, op.columns);
  const NestOperand &result = op.nest.result();
  if (!isRowMajor(op, result, op.kind == RowOp::Kind::Reduction ? op.rows : all))
    return refuse(why, "the result is not in the order of the loops");
  for (auto [i, input] : llvm::enumerate(op.nest.op.getInputs())) {
    RowOperand operand;
    operand.walk = op.nest.operands[i];
    auto it = sources.find(stripViews(input));
    if (it != sources.end()) {
      operand.source = it->second;
      bool isFull = group.ops[operand.source].kind == RowOp::Kind::Full;
      if (isFull && op.kind == RowOp::Kind::Row)
        return refuse(why, "reads rows x columns without walking the columns");
      bool stays = llvm::none_of(op.columns, [&](unsigned loop) { return operand.walk.moves(loop); });
      if (!isRowMajor(op, operand.walk, isFull ? all : op.rows) || (!isFull && !stays))
        return refuse(why, "reads a value of the group at another place than its own");
    }
    op.inputs.push_back(std::move(operand));
  }
  return success();
}

LogicalResult Matcher::addOp(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1)
    return refuse(why, "has several results");
  for (OpOperand *input : generic.getDpsInputOperands())
    if (!generic.payloadUsesValueFromOperand(input))
      return refuse(why, "has an operand that only tells sizes");
  FailureOr<LoopNest> nest = loopNestOf(generic);
  if (failed(nest))
    return refuse(why, "an access is not a sum of loops");
  RowOp op;
  op.nest = std::move(*nest);
  op.kind = RowOp::Kind::Full;
  for (const SizeExpr &size : op.nest.sizes)
    if (size.is(0))
      return refuse(why, "a size is zero");
  if (!isElementwiseBody(*generic.getBody()))
    return refuse(why, "does more than arithmetic on its elements");
  if (generic.getNumReductionLoops()) {
    op.kind = RowOp::Kind::Reduction;
    FailureOr<Combiner> combiner = matchCombiner(generic, why);
    if (failed(combiner))
      return failure();
    op.combiner = std::move(*combiner);
  } else if (generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0))) {
    return refuse(why, "changes a tensor in place");
  }
  if (!sizesAreKnown())
    op.shape = shapes[group.ops.size()];
  if (failed(splitLoops(op)) || failed(checkOperands(op)))
    return failure();
  sources[generic.getResult(0)] = group.ops.size();
  group.ops.push_back(std::move(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Levels of columns
//===----------------------------------------------------------------------===//

/// The finest levels that an op needs are those of the group.
LogicalResult Matcher::chooseLevels() {
  for (RowOp &op : group.ops) {
    SmallVector<SizeExpr> levels;
    SmallVector<unsigned> run;
    if (sizesAreKnown()) {
      for (unsigned loop : op.columns) {
        run.push_back(loop);
        if (run.size() > 1 && !isFlat(op, ArrayRef(run).take_back(2))) {
          levels.push_back(op.nest.sizeOf(ArrayRef(run).drop_back()));
          run = {loop};
        }
      }
      levels.push_back(op.nest.sizeOf(run));
    } else if (op.kind != RowOp::Kind::Row && op.shape.levels.front() > 0) {
      ArrayRef<unsigned> columns = op.columns;
      for (unsigned n : op.shape.levels) {
        levels.push_back(op.nest.sizeOf(columns.take_front(n)));
        columns = columns.drop_front(n);
      }
    }
    if (op.kind != RowOp::Kind::Row && levels.size() > group.levels.size())
      group.levels = std::move(levels);
  }
  if (group.levels.empty())
    return refuse(why, "no op walks the columns");
  return success();
}

LogicalResult Matcher::assignLevels(RowOp &op) {
  size_t numLevels = group.levels.size();
  op.shape.rows = op.rows.size();
  if (op.kind == RowOp::Kind::Row) {
    op.shape.levels.assign(numLevels, 0);
    for (RowOperand &input : op.inputs)
      input.levelStrides.assign(numLevels, SizeExpr(0));
    return success();
  }
  if (sizesAreKnown()) {
    // Consecutive loops that make up each level; or one loop that knows of none.
    op.shape.levels.clear();
    ArrayRef<unsigned> rest = op.columns;
    for (const SizeExpr &level : group.levels) {
      size_t n = 0;
      while (n < rest.size() && !sizes.equal(op.nest.sizeOf(rest.take_front(n)), level))
        ++n;
      if (!sizes.equal(op.nest.sizeOf(rest.take_front(n)), level) || n == 0)
        break;
      op.shape.levels.push_back(n);
      rest = rest.drop_front(n);
    }
    if (op.shape.levels.size() < numLevels || !rest.empty()) {
      if (!isFlat(op, op.columns))
        return refuse(why, "splits the columns in another way");
      op.shape.levels.assign(numLevels, 0);
      op.shape.levels.back() = op.columns.size();
    }
  }
  bool flat = numLevels > 1 && op.shape.levels.front() == 0;
  for (RowOperand &input : op.inputs) {
    ArrayRef<unsigned> rest = op.columns;
    if (flat) {
      input.flat = steps(op, input.walk, rest.back());
      input.levelStrides.assign(numLevels, SizeExpr(0));
      if (input.flat && !input.walk.strides[rest.back()].is(1))
        return refuse(why, "an operand is not contiguous along the columns");
      continue;
    }
    for (auto [level, n] : llvm::enumerate(op.shape.levels)) {
      ArrayRef<unsigned> run = rest.take_front(n);
      rest = rest.drop_front(n);
      if (!op.nest.isFlat(input.walk, run))
        return refuse(why, "an operand is not contiguous along the columns");
      input.levelStrides.push_back(steps(op, input.walk, run.back()) ? input.walk.strides[run.back()] : SizeExpr(0));
    }
    if (!input.levelStrides.back().is(0) && !input.levelStrides.back().is(1))
      return refuse(why, "an operand is not contiguous along the columns");
  }
  return success();
}

FailureOr<RowGroup> Matcher::match() {
  const linalg::GenericOp *root =
      llvm::find_if(generics, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  if (root == generics.end())
    return refuse(why, "has no reduction");
  if (sizesAreKnown()) {
    for (linalg::GenericOp op : generics)
      sizes.add(op);
    FailureOr<LoopNest> nest = loopNestOf(*root);
    if (failed(nest))
      return refuse(why, "an access is not a sum of loops");
    for (unsigned loop = 0; loop < nest->numLoops(); ++loop) {
      SizeExpr &extent = nest->isReduction(loop) ? group.numColumns : group.numRows;
      extent = extent * nest->sizes[loop];
    }
    if (sizes.equal(group.numColumns, SizeExpr(1)))
      return refuse(why, "a row has one element");
  }
  for (linalg::GenericOp op : generics)
    if (failed(addOp(op)))
      return failure();
  if (failed(chooseLevels()))
    return failure();
  for (RowOp &op : group.ops)
    if (failed(assignLevels(op)))
      return failure();
  return std::move(group);
}

FailureOr<RowGroup> optc::kernel::matchRows(ArrayRef<linalg::GenericOp> ops, std::string *why) {
  return Matcher(ops, {}, why).match();
}

FailureOr<RowGroup> optc::kernel::bindRows(ArrayRef<linalg::GenericOp> ops, ArrayRef<RowShape> shapes,
                                           std::string *why) {
  bool fits = ops.size() == shapes.size() && llvm::all_of(shapes, [&](const RowShape &shape) {
                return shape.levels.size() == shapes.front().levels.size();
              });
  if (!fits)
    return refuse(why, "has other ops than its strategy names");
  return Matcher(ops, shapes, why).match();
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// The number of levels, then rows and levels of every op.
static void appendShapes(ArrayRef<RowShape> shapes, SmallVectorImpl<int64_t> &array) {
  array.push_back(shapes.front().levels.size());
  for (const RowShape &shape : shapes) {
    array.push_back(shape.rows);
    llvm::append_range(array, shape.levels);
  }
}

static FailureOr<SmallVector<RowShape>> readShapes(ArrayRef<int64_t> array) {
  size_t numLevels = array.front();
  ArrayRef<int64_t> rest = array.drop_front();
  if (numLevels < 1 || rest.size() % (numLevels + 1))
    return failure();
  SmallVector<RowShape> shapes;
  for (; !rest.empty(); rest = rest.drop_front(numLevels + 1)) {
    RowShape shape;
    shape.rows = rest.front();
    llvm::append_range(shape.levels, rest.slice(1, numLevels));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

SmallVector<int64_t> RowBlocks::toArray() const {
  SmallVector<int64_t> array = {lanes, accumulators, rows};
  appendShapes(shapes, array);
  return array;
}

FailureOr<RowBlocks> RowBlocks::get(StrategyAttr strategy) {
  ArrayRef<int64_t> array = strategy.getBlocks().asArrayRef();
  if (array.size() < 4 || llvm::any_of(array, [](int64_t v) { return v < 0 || v > 1024; }))
    return failure();
  FailureOr<SmallVector<RowShape>> shapes = readShapes(array.drop_front(3));
  if (failed(shapes) || !llvm::isPowerOf2_64(array[0]) || array[1] < 1 || array[2] < 1)
    return failure();
  return RowBlocks{array[0], array[1], array[2], std::move(*shapes)};
}

SmallVector<int64_t> CudaRowBlocks::toArray() const {
  SmallVector<int64_t> array = {threads, threadsPerRow, lanes, steps};
  appendShapes(shapes, array);
  return array;
}

FailureOr<CudaRowBlocks> CudaRowBlocks::get(StrategyAttr strategy) {
  ArrayRef<int64_t> array = strategy.getBlocks().asArrayRef();
  if (array.size() < 5 || llvm::any_of(array, [](int64_t v) { return v < 0 || v > 1024; }))
    return failure();
  FailureOr<SmallVector<RowShape>> shapes = readShapes(array.drop_front(4));
  bool goodThreads = array[0] >= 32 && array[0] % 32 == 0 && (array[1] == 32 || array[1] == array[0]);
  if (failed(shapes) || !goodThreads || !llvm::isPowerOf2_64(array[2]) || array[2] > 16)
    return failure();
  return CudaRowBlocks{array[0], array[1], array[2], array[3], std::move(*shapes)};
}

bool optc::kernel::hasAlignedColumns(const RowGroup &group, int64_t lanes) {
  auto divides = [&](const SizeExpr &size) { return size.factor % lanes == 0; };
  // Levels begin at multiples of the sizes behind them.
  if (!divides(group.levels.back()))
    return false;
  for (const RowOp &op : group.ops) {
    if (op.kind == RowOp::Kind::Full && !isAligned(op.result(), lanes))
      return false;
    for (const RowOperand &input : op.inputs) {
      if (input.source >= 0 || !input.isVector())
        continue;
      if (!isAligned(input.walk.tensor, lanes))
        return false;
      bool aligned = llvm::all_of(op.rows, [&](unsigned loop) { return divides(input.walk.strides[loop]); });
      if (!input.flat)
        aligned &= llvm::all_of(ArrayRef(input.levelStrides).drop_back(), divides);
      if (!aligned)
        return false;
    }
  }
  return true;
}
