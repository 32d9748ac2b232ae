//===- Window.cpp - reductions over sliding windows -----------------------===//
#include "optc/dialects/kernel/Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace optc::kernel;

SmallVector<unsigned> Window::taps() const {
  return llvm::map_to_vector(axes, [](const WindowAxis &axis) { return axis.tap; });
}

/// c of c * dim, or 0 for anything else.
static int64_t coefficientOf(AffineExpr expr, unsigned &dim) {
  if (auto plain = dyn_cast<AffineDimExpr>(expr)) {
    dim = plain.getPosition();
    return 1;
  }
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul)
    return 0;
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  auto plain = dyn_cast<AffineDimExpr>(product.getLHS());
  if (!factor || !plain)
    return 0;
  dim = plain.getPosition();
  return factor.getValue();
}

/// out * stride + tap * dilation with positive factors, in any order.
static std::optional<WindowAxis> axisOf(const LoopNest &nest, AffineExpr expr) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || expr.getKind() != AffineExprKind::Add)
    return std::nullopt;
  WindowAxis axis{};
  axis.stride = coefficientOf(sum.getLHS(), axis.out);
  axis.dilation = coefficientOf(sum.getRHS(), axis.tap);
  if (axis.stride < 1 || axis.dilation < 1)
    return std::nullopt;
  if (nest.isReduction(axis.out)) {
    std::swap(axis.out, axis.tap);
    std::swap(axis.stride, axis.dilation);
  }
  if (nest.isReduction(axis.out) || !nest.isReduction(axis.tap))
    return std::nullopt;
  return axis;
}

FailureOr<Window> optc::kernel::matchWindow(linalg::GenericOp op, std::string *why) {
  auto refuse = [&](StringRef reason) {
    if (why)
      *why = reason.str();
    return failure();
  };
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
    return refuse("not a reduction to one tensor");
  if (!isElementwiseBody(*op.getBody()))
    return refuse("does more than arithmetic on its elements");
  if (!op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return refuse("does not start at one value");
  FailureOr<LoopNest> nest = loopNestOf(op);
  if (failed(nest))
    return refuse("an access is not a sum of loops");
  if (llvm::any_of(nest->sizes, [](const SizeExpr &size) { return size.is(0); }))
    return refuse("a size is zero");
  Window w;
  w.nest = std::move(*nest);
  auto isUnit = [&](unsigned loop) { return w.nest.sizes[loop].is(1); };

  SmallVector<unsigned> order; // parallel loops in the order of the result
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return refuse("the result is not indexed by loops");
    order.push_back(dim.getPosition());
  }
  if (order.empty() || order.size() != op.getNumParallelLoops())
    return refuse("the loops are not those of the result and of windows");

  // The input is the operand that has windows; another one that is read is the weights.
  std::optional<unsigned> input;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(operand))
      continue; // gives the window its size
    bool slides = llvm::any_of(op.getMatchingIndexingMap(operand).getResults(),
                               [&](AffineExpr expr) { return axisOf(w.nest, expr).has_value(); });
    std::optional<unsigned> &role = slides ? input : w.weights;
    if (role)
      return refuse(slides ? "windows slide over two tensors" : "reads more than two tensors");
    role = operand->getOperandNumber();
  }
  if (!input)
    return refuse("no window slides over an input");
  w.input = *input;

  llvm::SmallDenseSet<unsigned> seen;
  for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&op->getOpOperand(w.input)).getResults())) {
    if (std::optional<WindowAxis> axis = axisOf(w.nest, expr)) {
      axis->dim = i;
      if (!seen.insert(axis->out).second || !seen.insert(axis->tap).second)
        return refuse("a loop walks two dimensions of the input");
      w.axes.push_back(*axis);
      continue;
    }
    auto plain = dyn_cast<AffineDimExpr>(expr);
    if (!plain)
      return refuse("a dimension of the input is walked by something else than a window");
    unsigned loop = plain.getPosition();
    if (!seen.insert(loop).second)
      return refuse("a loop walks two dimensions of the input");
    if (w.nest.isReduction(loop) && !isUnit(loop))
      return refuse("a reduction runs over a whole dimension of the input");
  }
  for (unsigned loop = 0; loop < w.nest.numLoops(); ++loop)
    if (w.nest.isReduction(loop) && !isUnit(loop) && !llvm::is_contained(w.taps(), loop))
      return refuse("a reduction does not move the input");

  for (unsigned tap : w.taps())
    if (!w.nest.sizes[tap].isStatic())
      return refuse("the size of the window is known at run time only");

  // Vectors along the last dimension of the result that has more than one element.
  auto last = llvm::find_if(llvm::reverse(order), [&](unsigned loop) { return !isUnit(loop); });
  w.lane = last == order.rend() ? order.back() : *last;
  if (!isUnit(w.lane) && !w.inputOperand().strides[w.lane].is(1))
    return refuse("the input is not contiguous along the last dimension of the result");
  if (!w.nest.sizes[w.lane].isStatic())
    return refuse("the size along the vectors is known at run time only");
  if (w.weights) {
    for (const WindowAxis &axis : w.axes)
      if (w.weightsOperand().moves(axis.out) && !isUnit(axis.out))
        return refuse("the second operand moves with the window's position");
  }

  // Tiles extend along the axes next to the lanes.
  SmallVector<unsigned> tiled;
  auto axisAt = [&](unsigned loop) -> std::optional<unsigned> {
    for (auto [i, axis] : llvm::enumerate(w.axes))
      if (axis.out == loop && !w.isLane(axis))
        return i;
    return std::nullopt;
  };
  bool adjacent = true;
  for (unsigned loop : llvm::reverse(order)) {
    if (loop == w.lane || isUnit(loop))
      continue;
    std::optional<unsigned> axis = axisAt(loop);
    adjacent &= axis.has_value();
    if (!adjacent || tiled.size() == 2) {
      w.outer.insert(w.outer.begin(), loop);
      continue;
    }
    tiled.push_back(*axis);
  }
  if (!tiled.empty())
    w.columns = tiled[0];
  if (tiled.size() == 2)
    w.rows = tiled[1];
  return w;
}

bool optc::kernel::hasContiguousWeights(const Window &w) {
  return !w.weights || !w.weightsOperand().moves(w.lane) || w.nest.sizes[w.lane].is(1) ||
         w.weightsOperand().strides[w.lane].is(1);
}

PackingAttr optc::kernel::packingOfWeights(const Window &w) {
  const NestOperand &weights = w.weightsOperand();
  auto type = cast<RankedTensorType>(weights.tensor.getType());
  if (!weights.tensor.getDefiningOp<arith::ConstantOp>() || !type.hasStaticShape())
    return {};
  auto outer = dimsOfLoops(w.nest, weights, w.outer), n = dimsOfLoops(w.nest, weights, w.lane),
       k = dimsOfLoops(w.nest, weights, w.taps());
  if (failed(outer) || failed(n) || failed(k))
    return {};
  Builder b(w.nest.op.getContext());
  auto packing = PackingAttr::get(b.getContext(), b.getDenseI64ArrayAttr(*outer), b.getDenseI64ArrayAttr(*n),
                                  b.getDenseI64ArrayAttr(*k), w.nest.sizes[w.lane].factor, /*depth=*/1, /*run=*/0);
  return packedType(type, packing) ? packing : PackingAttr();
}

bool optc::kernel::hasVectorWeights(const Window &w) { return hasContiguousWeights(w) || packingOfWeights(w); }
