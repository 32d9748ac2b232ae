//===- LoopNest.cpp - a structured op as loops over flat buffers ----------===//
#include "optc/dialects/kernel/LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"

using namespace mlir;
using namespace optc::kernel;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  SizeExpr product(factor * other.factor);
  if (product.factor == 0)
    return product;
  product.runtime = runtime;
  llvm::append_range(product.runtime, other.runtime);
  return product;
}

/// Equal products have equal factors in any order; there are few of them.
bool SizeExpr::operator==(const SizeExpr &other) const {
  return factor == other.factor && runtime.size() == other.runtime.size() &&
         std::is_permutation(runtime.begin(), runtime.end(), other.runtime.begin());
}

SizeExpr LoopNest::sizeOf(ArrayRef<unsigned> loops) const {
  SizeExpr size(1);
  for (unsigned loop : loops)
    size = size * sizes[loop];
  return size;
}

bool LoopNest::isFlat(const NestOperand &operand, ArrayRef<unsigned> loops) const {
  for (size_t i = 1; i < loops.size(); ++i)
    if (!(operand.strides[loops[i - 1]] == operand.strides[loops[i]] * sizes[loops[i]]) && !sizes[loops[i - 1]].is(1))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// expr = the sum of coefficient * dim over `terms`, without an offset.
static bool linearTerms(AffineExpr expr, int64_t scale, SmallVectorImpl<std::pair<unsigned, int64_t>> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms.push_back({dim.getPosition(), scale});
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return linearTerms(binary.getLHS(), scale, terms) && linearTerms(binary.getRHS(), scale, terms);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         linearTerms(binary.getLHS(), scale * factor.getValue(), terms);
}

FailureOr<NestOperand> LoopNest::access(Value tensor, AffineMap map, ArrayRef<unsigned> loopOf) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return failure();
  NestOperand operand;
  operand.tensor = tensor;
  operand.strides.assign(numLoops(), SizeExpr(0));
  SizeExpr stride(1);
  SmallVector<int64_t> stored = storedShape(tensor);
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    SmallVector<std::pair<unsigned, int64_t>> terms;
    if (!linearTerms(map.getResult(i), 1, terms))
      return failure();
    for (auto [dim, coefficient] : terms) {
      SizeExpr &have = operand.strides[loopOf[dim]];
      SizeExpr step = stride * SizeExpr(coefficient);
      if (have.is(0))
        have = step;
      else if (have.isStatic() && step.isStatic())
        have.factor += step.factor;
      else
        return failure();
    }
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(i));
    if (!ShapedType::isDynamic(stored[i]))
      stride = stride * SizeExpr(stored[i]);
    else if (dim)
      stride = stride * sizes[loopOf[dim.getPosition()]];
    else
      stride.runtime.push_back({tensor, static_cast<unsigned>(i)});
    if (stride.factor == 0) // an empty tensor: no stride matters
      stride = SizeExpr(1);
  }
  return operand;
}

FailureOr<LoopNest> optc::kernel::loopNestOf(linalg::GenericOp op) {
  LoopNest nest;
  nest.op = op;
  nest.kinds = llvm::to_vector(op.getIteratorTypesArray());
  unsigned loops = op.getNumLoops();
  SmallVector<std::optional<SizeExpr>> sizes(loops);
  auto take = [&](OpOperand &operand, bool wantStatic) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return;
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || sizes[dim.getPosition()] || type.isDynamicDim(i) == wantStatic)
        continue;
      SizeExpr size(wantStatic ? type.getDimSize(i) : 1);
      if (!wantStatic)
        size.runtime.push_back({operand.get(), static_cast<unsigned>(i)});
      sizes[dim.getPosition()] = size;
    }
  };
  // A constant wins over a symbol, and the first operand that names a size gives it; panels have other sizes.
  for (OpOperand &operand : op->getOpOperands())
    take(operand, /*wantStatic=*/true);
  for (OpOperand &operand : op->getOpOperands())
    if (!operand.get().getDefiningOp<PackedOp>())
      take(operand, /*wantStatic=*/false);
  for (auto &size : sizes) {
    if (!size)
      return failure();
    nest.sizes.push_back(*size);
  }
  SmallVector<unsigned> identity = llvm::to_vector(llvm::seq<unsigned>(0, loops));
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<NestOperand> access = nest.access(operand.get(), op.getMatchingIndexingMap(&operand), identity);
    if (failed(access))
      return failure();
    nest.operands.push_back(std::move(*access));
  }
  return nest;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The operands of a sum and of a product in a body, of floats or integers; null for other ops.
static std::pair<Value, Value> operandsOf(Operation *op, bool sum) {
  bool fits =
      sum ? isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op) : isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op);
  return fits ? std::pair(op->getOperand(0), op->getOperand(1)) : std::pair<Value, Value>();
}

/// The input that a factor is, possibly widened first; none for other values.
static std::optional<std::pair<unsigned, Contraction::Factor>> directFactor(Value factor, Block *body) {
  auto kind = Contraction::Factor::Plain;
  if (Operation *def = factor.getDefiningOp()) {
    if (isa<arith::ExtUIOp, arith::UIToFPOp>(def))
      kind = Contraction::Factor::Unsigned;
    else if (isa<arith::ExtSIOp, arith::SIToFPOp>(def))
      kind = Contraction::Factor::Signed;
    else if (isa<arith::ExtFOp>(def))
      kind = Contraction::Factor::Float;
    else
      return std::nullopt;
    factor = def->getOperand(0);
  }
  auto arg = dyn_cast<BlockArgument>(factor);
  if (!arg || arg.getOwner() != body || arg.getArgNumber() + 1 == body->getNumArguments())
    return std::nullopt;
  return std::pair(arg.getArgNumber(), kind);
}

/// Whether all ops of a body but `others` and the end compute `factor` from inputs other than the first.
static bool isComputedAside(Value factor, Block *body, size_t others) {
  SmallVector<Value> work{factor};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (arg.getOwner() == body && (arg.getArgNumber() == 0 || arg.getArgNumber() + 1 == body->getNumArguments()))
        return false;
      continue;
    }
    if (v.getDefiningOp()->getBlock() == body && seen.insert(v.getDefiningOp()).second)
      llvm::append_range(work, v.getDefiningOp()->getOperands());
  }
  return seen.size() + others + 1 == body->getOperations().size() && isElementwiseBody(*body);
}

/// acc + x * y of the two inputs, in any order, each of them possibly widened first; or of the first one and of what is
/// computed from the others. Sets how.
static bool matchMultiplyAdd(linalg::GenericOp op, Contraction &c) {
  Block *body = op.getBody();
  auto [left, right] = operandsOf(cast<linalg::YieldOp>(body->getTerminator()).getValues()[0].getDefiningOp(), true);
  Value acc = body->getArguments().back();
  if (!left || (left != acc && right != acc))
    return false;
  auto [x, y] = operandsOf((left == acc ? right : left).getDefiningOp(), false);
  if (!x)
    return false;
  auto first = directFactor(x, body), second = directFactor(y, body);
  if (op.getNumDpsInputs() == 2 && first && second && first->first != second->first) {
    if (first->first == 1)
      std::swap(first, second);
    c.aFactor = first->second;
    c.bFactor = second->second;
    size_t casts = (c.aFactor != Contraction::Factor::Plain) + (c.bFactor != Contraction::Factor::Plain);
    return body->getOperations().size() == 3 + casts;
  }
  bool isFirst = first && first->first == 0;
  if (!isFirst && !(second && second->first == 0))
    return false;
  c.aFactor = (isFirst ? first : second)->second;
  c.computedB = isFirst ? y : x;
  for (unsigned i = 2; i < op.getNumDpsInputs(); ++i)
    c.parameters.push_back(i);
  return isa<FloatType>(acc.getType()) &&
         isComputedAside(c.computedB, body, c.aFactor == Contraction::Factor::Plain ? 2 : 3);
}

static bool startsAtZero(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || matchPattern(fill.getInputs()[0], m_Zero()));
}

unsigned Contraction::contiguousRun() const {
  const NestOperand &x = operandA();
  if (k.empty() || !x.strides[k.back()].is(1))
    return 0;
  unsigned run = 1;
  while (run < k.size() && nest.isFlat(x, {k[k.size() - run - 1], k[k.size() - run]}))
    ++run;
  return run;
}

FailureOr<Contraction> optc::kernel::matchContraction(linalg::GenericOp op, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return failure();
  };
  if (op.getNumDpsInputs() < 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return refuse("not a product of two tensors");
  Type elem = cast<ShapedType>(op.getDpsInits()[0].getType()).getElementType();
  if (!elem.isF32() && !elem.isF64() && !elem.isInteger(32))
    return refuse("not f32, f64 or i32");
  Contraction c;
  if (!matchMultiplyAdd(op, c))
    return refuse("does more than multiply and add");
  if (!startsAtZero(op.getDpsInits()[0]))
    return refuse("does not start at zero");
  FailureOr<LoopNest> nest = loopNestOf(op);
  if (failed(nest))
    return refuse("an access is not a sum of loops");
  if (llvm::any_of(nest->sizes, [](const SizeExpr &size) { return size.is(0); }))
    return refuse("a size is zero");
  c.nest = std::move(*nest);
  NestOperand &out = c.nest.result();

  AffineMap outMap = op.getIndexingMapsArray().back();
  SmallVector<unsigned> order; // parallel loops in the order of the result
  for (AffineExpr expr : outMap.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return refuse("the result is not indexed by loops");
    order.push_back(dim.getPosition());
  }
  if (order.empty())
    return refuse("the result is a scalar");
  // Dimensions of size 1 belong to any run; the last other one says which operand the vectors come from.
  auto inA = [&](unsigned loop) { return c.nest.operands[c.a].moves(loop); };
  auto inB = [&](unsigned loop) { return c.nest.operands[c.b].moves(loop); };
  auto isUnit = [&](unsigned loop) { return c.nest.sizes[loop].is(1); };
  unsigned last = order.back();
  for (unsigned loop : llvm::reverse(order))
    if (!isUnit(loop)) {
      last = loop;
      break;
    }
  if (inA(last) && !inB(last)) {
    if (c.computedB)
      return refuse("the last dimension of the result is one of the factor that is not computed");
    std::swap(c.a, c.b);
    std::swap(c.aFactor, c.bFactor);
  }
  auto widthOf = [&](unsigned operand) {
    return cast<ShapedType>(c.nest.operands[operand].tensor.getType()).getElementTypeBitWidth();
  };
  for (unsigned i : c.parameters)
    for (unsigned loop = 0; loop < c.nest.numLoops(); ++loop)
      if (!isUnit(loop) && c.nest.operands[i].moves(loop) && (!inB(loop) || inA(loop) == !c.nest.isReduction(loop)))
        return refuse("a parameter of the second factor moves along other loops");
  c.isInteger = elem.isInteger();
  if (c.isInteger && (c.aFactor == Contraction::Factor::Plain || c.bFactor == Contraction::Factor::Plain ||
                      widthOf(c.a) > 16 || widthOf(c.b) > 16))
    return refuse("integers other than 8 and 16 bits");
  // Integers that the lanes of f32 hold, or floats that they do.
  auto widensToFloat = [&](Contraction::Factor factor, unsigned operand) {
    return factor == Contraction::Factor::Plain || (elem.isF32() && widthOf(operand) <= 16);
  };
  bool isFloatA = c.aFactor == Contraction::Factor::Plain || c.aFactor == Contraction::Factor::Float;
  if (!c.isInteger && (!isFloatA || !widensToFloat(c.aFactor, c.a) || !widensToFloat(c.bFactor, c.b)))
    return refuse("integers by floats, other than 8 or 16 bits of the second factor");
  if (!isUnit(last) && (!inB(last) || inA(last)))
    return refuse("the last dimension of the result is not one of a matrix");
  for (unsigned loop = 0; loop < c.nest.numLoops(); ++loop)
    if (c.nest.isReduction(loop)) {
      if (!isUnit(loop) && (!inA(loop) || !inB(loop)))
        return refuse("a reduction runs over one operand only");
      if (!isUnit(loop))
        c.k.push_back(loop);
    } else if (!llvm::is_contained(order, loop)) {
      return refuse("a parallel loop does not appear in the result");
    }
  // n: the last run of the result that only b has.
  size_t end = order.size();
  auto takeRun = [&](size_t from, bool wantB) {
    size_t begin = from;
    while (begin > 0) {
      unsigned loop = order[begin - 1];
      bool fits = isUnit(loop) || (inB(loop) == wantB && inA(loop) != wantB);
      if (!fits)
        break;
      --begin;
    }
    return begin;
  };
  size_t nBegin = takeRun(end, true);
  // m: the largest run of those that only a has.
  size_t mBegin = nBegin, mEnd = nBegin;
  int64_t mSize = 0;
  for (size_t i = nBegin; i > 0;) {
    size_t begin = takeRun(i, false);
    if (begin == i) {
      --i;
      continue;
    }
    int64_t size = 1;
    for (size_t j = begin; j < i; ++j)
      size *= std::max<int64_t>(c.nest.sizes[order[j]].valueOr(128), 1);
    if (size > mSize) {
      mBegin = begin;
      mEnd = i;
      mSize = size;
    }
    i = begin;
  }
  c.rows = {static_cast<unsigned>(mBegin), static_cast<unsigned>(mEnd - mBegin)};
  c.columns = {static_cast<unsigned>(nBegin), static_cast<unsigned>(end - nBegin)};
  for (auto [i, loop] : llvm::enumerate(order))
    if (!isUnit(loop))
      (i >= nBegin ? c.n : i >= mBegin && i < mEnd ? c.m : c.outer).push_back(loop);
  if (!c.nest.isFlat(out, c.n))
    return refuse("the columns of the result are not contiguous");
  // a is read element by element: the order of k that moves it least per step comes last.
  const NestOperand &a = c.operandA();
  llvm::stable_sort(c.k, [&](unsigned x, unsigned y) {
    return a.strides[x].valueOr(INT64_MAX / 2) > a.strides[y].valueOr(INT64_MAX / 2);
  });
  return c;
}

//===----------------------------------------------------------------------===//
// Consumers and constants
//===----------------------------------------------------------------------===//

bool optc::kernel::isElementwiseBody(Block &body, bool indices) {
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    return isa<arith::ConstantOp>(op) || (indices && isa<linalg::IndexOp>(op)) ||
           (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && OpTrait::hasElementwiseMappableTraits(&op));
  });
}

FailureOr<Epilogue> optc::kernel::matchEpilogue(const LoopNest &nest, ArrayRef<unsigned> columns, linalg::GenericOp op,
                                                Value result, bool indices, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return failure();
  };
  auto outMap = nest.op.getIndexingMapsArray().back();
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() != outMap.getNumResults())
    return refuse("has other loops than the result");
  if (!isElementwiseBody(*op.getBody(), indices))
    return refuse("does more than arithmetic on its elements");
  OpOperand *read = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == result)
      read = input;
  if (!read)
    return refuse("does not read the result");
  AffineMap readMap = op.getMatchingIndexingMap(read);
  if (!readMap.isPermutation())
    return refuse("does not read the result element by element");
  Epilogue epilogue;
  epilogue.op = op;
  epilogue.loopOf.resize(op.getNumLoops());
  for (auto [i, expr] : llvm::enumerate(readMap.getResults()))
    epilogue.loopOf[cast<AffineDimExpr>(expr).getPosition()] = cast<AffineDimExpr>(outMap.getResult(i)).getPosition();
  for (auto index : op.getBody()->getOps<linalg::IndexOp>())
    if (llvm::is_contained(columns, epilogue.loopOf[index.getDim()]))
      return refuse("asks for the position along the columns");
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isInput = op.isDpsInput(&operand);
    if ((!isInput || operand.get() == result) && map != readMap)
      return refuse("moves elements");
    FailureOr<NestOperand> access = nest.access(operand.get(), map, epilogue.loopOf);
    if (failed(access))
      return refuse("an access is not a sum of loops");
    bool stays = llvm::none_of(columns, [&](unsigned loop) { return access->moves(loop) && !nest.sizes[loop].is(1); });
    bool runs = !columns.empty() && nest.isFlat(*access, columns) && access->strides[columns.back()].is(1);
    if (!stays && !runs)
      return refuse("an operand is neither constant nor contiguous along the columns");
    epilogue.operands.push_back(std::move(*access));
  }
  return epilogue;
}

LogicalResult optc::kernel::matchEpilogues(const LoopNest &nest, ArrayRef<unsigned> columns, Block &body, bool indices,
                                           std::string *why) {
  linalg::GenericOp root = nest.op;
  Value last = root.getResult(0);
  for (auto op : body.getOps<linalg::GenericOp>()) {
    if (op == root)
      continue;
    if (failed(matchEpilogue(nest, columns, op, last, indices, why)))
      return failure();
    last = op.getResult(0);
  }
  return success();
}

FailureOr<SmallVector<int64_t>> optc::kernel::dimsOfLoops(const LoopNest &nest, const NestOperand &operand,
                                                          ArrayRef<unsigned> loops) {
  unsigned number = &operand - nest.operands.begin();
  AffineMap map = nest.op.getMatchingIndexingMap(&nest.op->getOpOperand(number));
  SmallVector<int64_t> dims;
  for (unsigned loop : loops) {
    if (!operand.moves(loop))
      continue;
    std::optional<int64_t> found;
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (found || !isa<AffineDimExpr>(expr))
        return failure();
      found = i;
    }
    if (!found)
      return failure();
    dims.push_back(*found);
  }
  return dims;
}

bool optc::kernel::lastGroupEndsRun(RankedTensorType source, PackingAttr packing) {
  int64_t size = 1;
  for (int64_t dim : packing.getK().asArrayRef().take_back(packing.getRun())) {
    if (source.isDynamicDim(dim))
      return false;
    size *= source.getDimSize(dim);
  }
  return size >= packing.getDepth();
}

bool optc::kernel::hasContiguousColumns(const Contraction &c) {
  const NestOperand &b = c.operandB();
  return !c.computedB && (c.n.empty() || (c.nest.isFlat(b, c.n) && b.strides[c.n.back()].is(1)));
}

bool optc::kernel::isPackable(const Contraction &c) {
  // Panels do not tell sizes: those of sums have to be a's, too.
  for (const NestOperand *operand : c.secondOperands())
    for (unsigned loop : c.k)
      for (const RuntimeSize &size : c.nest.sizes[loop].runtime)
        if (size.tensor == operand->tensor && failed(dimsOfLoops(c.nest, c.operandA(), loop)))
          return false;
  return llvm::all_of(c.secondOperands(), [&](const NestOperand *operand) {
    return llvm::all_of(ArrayRef<ArrayRef<unsigned>>{c.outer, c.n, c.k},
                        [&](ArrayRef<unsigned> loops) { return succeeded(dimsOfLoops(c.nest, *operand, loops)); });
  });
}
