//===- Loops.cpp - kernels as plain loops ---------------------------------===//
//
// Order of the loops: the outermost is the first dimension of the
// result (tiles are cut from it), the innermost a parallel one along which the result and every input move by one
// element or stay, when there is one: that is the loop LLVM vectorises. Reductions stay innermost otherwise.
//===----------------------------------------------------------------------===//
#include "optc/codegen/common/Loops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace optc;

/// Whether an operand of this shape stays or moves by one element when loop `d` takes a step. Dimensions of size 1
/// behind the one that moves do not count.
static bool isContiguousAlong(AffineMap map, ArrayRef<int64_t> shape, unsigned d) {
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
    AffineExpr expr = map.getResult(i);
    if (!expr.isFunctionOfDim(d))
      continue;
    if (llvm::any_of(shape.drop_front(i + 1), [](int64_t size) { return size != 1; }))
      return false;
    // d, or d + something without d.
    AffineExpr without = expr - getAffineDimExpr(d, map.getContext());
    if (simplifyAffineExpr(without, map.getNumDims(), 0).isFunctionOfDim(d))
      return false;
  }
  return true;
}

/// The order in which to nest the loops of `op`.
static SmallVector<unsigned> loopOrder(linalg::GenericOp op, unsigned tiledDims) {
  SmallVector<unsigned> order;
  unsigned loops = op.getNumLoops();
  auto iterators = op.getIteratorTypesArray();
  AffineMap out = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  // The result's dimensions first, in its order.
  for (AffineExpr expr : out.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      order.push_back(dim.getPosition());
  for (unsigned d = 0; d < loops; ++d)
    if (!llvm::is_contained(order, d))
      order.push_back(d);
  bool reduces = llvm::any_of(iterators, linalg::isReductionIterator);
  if (!reduces || out.getNumResults() == 0)
    return order;
  // The last dimension of the result that has more than one element; those that tiles cut stay outside.
  ArrayRef<int64_t> outShape = cast<ShapedType>(op.getDpsInits()[0].getType()).getShape();
  unsigned position = outShape.size() - 1;
  while (position > 0 && outShape[position] == 1)
    --position;
  auto last = dyn_cast<AffineDimExpr>(out.getResult(position));
  if (!last || position < tiledDims)
    return order;
  unsigned inner = last.getPosition();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (type && !isContiguousAlong(op.getMatchingIndexingMap(&operand), type.getShape(), inner))
      return order;
  }
  llvm::erase(order, inner);
  order.push_back(inner);
  return order;
}

/// Restricts the outermost loop of every nest to the tile range of the dispatch.
static void cutTiles(func::FuncOp func, scf::ForOp loop, int64_t tile) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = func.getArguments().take_back(2)[0], last = func.getArguments().back();
  Value size = arith::ConstantIndexOp::create(b, loc, tile);
  Value begin = arith::MulIOp::create(b, loc, first, size);
  Value end = arith::MinSIOp::create(b, loc, arith::MulIOp::create(b, loc, last, size), loop.getUpperBound());
  loop.setLowerBound(begin);
  loop.setUpperBound(end);
}

/// -O3: the additions and multiplications that accumulate into `acc` may be reassociated.
static void allowReassociation(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value acc = op.getMatchingBlockArgument(&init);
    for (Operation *user : acc.getUsers())
      if (auto iface = dyn_cast<arith::ArithFastMathInterface>(user); iface && isa<arith::AddFOp, arith::MulFOp>(user))
        user->setAttr(iface.getFastMathAttrName(),
                      arith::FastMathFlagsAttr::get(op.getContext(),
                                                    arith::FastMathFlags::reassoc | arith::FastMathFlags::contract));
  }
  // A product that is added to the accumulator may be contracted with the addition.
  op.getBody()->walk([&](arith::MulFOp mul) {
    if (mul.getFastmath() == arith::FastMathFlags::none)
      mul.setFastmath(arith::FastMathFlags::contract);
  });
}

/// Static temporaries of a kernel live on its stack when they are small.
static constexpr int64_t kMaxStackBytes = 16 << 10;

static LogicalResult placeTemporaries(func::FuncOp func) {
  WalkResult walked = func.walk([&](memref::AllocOp op) -> WalkResult {
    MemRefType type = op.getType();
    int64_t bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    if (!type.hasStaticShape() || type.getNumElements() * bits / 8 > kMaxStackBytes)
      return op.emitError("kernel '") << func.getName() << "' needs a temporary of type " << type
                                      << ", which neither the stack nor a destination can hold";
    OpBuilder b(&func.getBody().front(), func.getBody().front().begin());
    Value place = memref::AllocaOp::create(b, op.getLoc(), type, b.getI64IntegerAttr(64));
    op.replaceAllUsesWith(place);
    op.erase();
    return WalkResult::advance();
  });
  func.walk([](memref::DeallocOp op) { op.erase(); });
  return failure(walked.wasInterrupted());
}

/// What a part of a buffer is taken from and put back into is one place: it is not copied to itself.
static void mergePlaces(func::FuncOp func) {
  if (!func.walk([](memref::CopyOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
}

LogicalResult codegen::lowerToLoops(func::FuncOp func, int optLevel, kernel::TileGroup tiles) {
  bufferization::OneShotBufferizationOptions options;
  options.allowReturnAllocsFromLoops = true;
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(func, options, state)))
    return func.emitError("kernel '") << func.getName() << "' does not bufferize";
  if (failed(placeTemporaries(func)))
    return failure();
  mergePlaces(func);

  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return op.emitError("kernel '") << func.getName() << "': no loop form of '" << op->getName() << "'";
      generic = *made;
    }
    if (optLevel >= 3)
      allowReassociation(generic);
    SmallVector<unsigned> order = loopOrder(generic, tiles.numDims);
    if (generic.getNumLoops() > 1) {
      FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, generic, order);
      if (succeeded(ordered))
        generic = *ordered;
    }
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, generic);
    if (failed(loops))
      return generic.emitError("kernel '") << func.getName() << "' has no loop form";
    if (tiles.numDims > 0) {
      SmallVector<scf::ForOp> cut;
      for (Operation *loop : ArrayRef(*loops).take_front(tiles.numDims))
        cut.push_back(cast<scf::ForOp>(loop));
      if (cut.size() != tiles.numDims || (cut.size() > 1 && failed(coalesceLoops(cut))))
        return generic.emitError("kernel '") << func.getName() << "' has no loops for the tiles of its strategy";
      cutTiles(func, cut.front(), tiles.tile);
    }
    rewriter.eraseOp(generic);
  }
  func.walk([](memref::CopyOp copy) {
    if (copy.getSource() == copy.getTarget())
      copy.erase();
  });
  return success();
}
