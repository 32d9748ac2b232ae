//===- FormDispatches.cpp - put every structured op into a dispatch -------===//
//
// Before:                                   After:
//   %e = tensor.empty(%n) : tensor<?xf32>     %r = kernel.dispatch "relu" [%n] -> tensor<?xf32> {
//   %r = linalg.generic ins(%x) outs(%e)      ^bb0(%dest: tensor<?xf32>):
//                                               %0 = linalg.generic ins(%x) outs(%dest)
//                                               kernel.yield %0 }
//
// A linalg.fill that initialises the op moves along, and an initial value that is real data is copied first.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_FORMDISPATCHES
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

/// The op that made the root's name in reports: the op kind unless the lowering left a label.
static StringRef labelOf(Operation *op) {
  if (auto label = op->getAttrOfType<StringAttr>("optc.label"))
    return label.getValue();
  return op->getName().stripDialect();
}

/// Sizes of the dynamic dimensions of `init`, which is (a fill of) a tensor.empty or any other value.
static SmallVector<Value> dynamicDimsOf(OpBuilder &b, Location loc, Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getDpsInits()[0];
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return llvm::to_vector(empty.getDynamicSizes());
  SmallVector<Value> dims;
  auto type = cast<RankedTensorType>(init.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      dims.push_back(tensor::DimOp::create(b, loc, init, i));
  return dims;
}

static void formDispatch(linalg::LinalgOp root) {
  OpBuilder b(root);
  Location loc = root.getLoc();
  SmallVector<Value> dims;
  for (Value init : root.getDpsInits())
    llvm::append_range(dims, dynamicDimsOf(b, loc, init));
  auto dispatch = kernel::DispatchOp::create(b, loc, labelOf(root), root->getResultTypes(), dims);
  Block &body = dispatch.getBody().front();
  b.setInsertionPointToEnd(&body);
  IRMapping map;
  for (auto [init, dest] : llvm::zip(root.getDpsInits(), body.getArguments())) {
    Value start = dest;
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      start = linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange{dest}).getResult(0);
    else if (!init.getDefiningOp<tensor::EmptyOp>())
      start = linalg::CopyOp::create(b, loc, ValueRange{init}, ValueRange{dest}).getResult(0);
    // Only as the init: the same tensor may be read as an input, too.
    map.map(init, start);
  }
  Operation *copy = b.clone(*root);
  for (OpOperand &operand : copy->getOpOperands())
    if (cast<linalg::LinalgOp>(copy).isDpsInit(&operand))
      operand.set(map.lookup(operand.get()));
  copy->removeAttr("optc.label");
  kernel::YieldOp::create(b, loc, copy->getResults());
  root->replaceAllUsesWith(dispatch);
  root->erase();
}

namespace {
struct FormDispatches : public optc::impl::FormDispatchesBase<FormDispatches> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> roots;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<kernel::DispatchOp>(op))
        return WalkResult::skip();
      // A fill is pulled into its users; one that is itself a result is a root.
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        roots.push_back(linalgOp);
      return WalkResult::advance();
    });
    // Users before producers, so that a fill which all users pulled in is dead when its turn comes.
    for (linalg::LinalgOp root : llvm::reverse(roots)) {
      if (root->use_empty())
        root->erase();
      else
        formDispatch(root);
    }
    getOperation()->walk([](tensor::EmptyOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
