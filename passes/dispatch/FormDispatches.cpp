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
#include "optc/dialects/kernel/Window.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_FORMDISPATCHES
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

/// The name of an op in reports: the label that the lowering left, else (fused ops have none) the node it is from.
static std::string labelOf(Operation *op) {
  if (auto label = op->getAttrOfType<StringAttr>("optc.label"))
    return label.getValue().str();
  std::string node = onnx::nodeName(op->getLoc());
  return node.empty() ? op->getName().stripDialect().str() : node;
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

/// Root and elementwise consumers, each the only user of the one before.
using Group = SmallVector<linalg::LinalgOp>;

/// The loops of a product or a window, whose emitters compute consumers on their accumulators.
struct EpilogueRoot {
  kernel::LoopNest nest;
  SmallVector<unsigned> columns; ///< loops that vectors run along
  bool indices;                  ///< consumers may ask for their position
};

/// None for other ops, and for what those emitters cannot take: there, an inner result has no place.
static std::optional<EpilogueRoot> epilogueRootOf(linalg::GenericOp op) {
  if (auto product = kernel::matchContraction(op); succeeded(product)) {
    if (kernel::hasContiguousColumns(*product) || kernel::isPackable(*product))
      return EpilogueRoot{product->nest, product->n, /*indices=*/false};
    return std::nullopt;
  }
  if (auto window = kernel::matchWindow(op); succeeded(window) && kernel::hasVectorWeights(*window))
    return EpilogueRoot{window->nest, {window->lane}, /*indices=*/true};
  return std::nullopt;
}

/// Whether the op starts from (a fill of) nothing, so that a temporary can take the place of its destination.
static bool startsEmpty(Operation *op) {
  Value init = cast<linalg::LinalgOp>(op).getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getDpsInits()[0];
  return init.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// The consumers that the root computes on its accumulators; an op that reads two roots goes with the first.
static void growEpilogue(Group &group, const DenseSet<Operation *> &taken) {
  auto op = dyn_cast<linalg::GenericOp>(group.front().getOperation());
  std::optional<EpilogueRoot> root = op ? epilogueRootOf(op) : std::nullopt;
  if (!root)
    return;
  for (Operation *last = op; last->hasOneUse();) {
    auto consumer = dyn_cast<linalg::GenericOp>(*last->user_begin());
    if (!consumer || taken.contains(consumer) || consumer->getBlock() != op->getBlock() || !startsEmpty(last) ||
        failed(kernel::matchEpilogue(root->nest, root->columns, consumer, last->getResult(0), root->indices)))
      return;
    group.push_back(cast<linalg::LinalgOp>(consumer.getOperation()));
    last = consumer;
  }
}

static void formDispatch(const Group &group) {
  linalg::LinalgOp last = group.back();
  OpBuilder b(last);
  Location loc = last.getLoc();
  SmallVector<Value> dims;
  for (Value init : last.getDpsInits())
    llvm::append_range(dims, dynamicDimsOf(b, loc, init));
  std::string label = labelOf(group.front());
  for (linalg::LinalgOp op : ArrayRef(group).drop_front())
    label += "_" + labelOf(op);
  if (group.size() > 1)
    loc = b.getFusedLoc(llvm::map_to_vector(group, [](linalg::LinalgOp op) { return op.getLoc(); }));
  auto dispatch = kernel::DispatchOp::create(b, loc, label, last->getResultTypes(), dims);
  Block &body = dispatch.getBody().front();
  b.setInsertionPointToEnd(&body);
  IRMapping inner; // results of the group's ops
  for (linalg::LinalgOp op : group) {
    // What an op starts from: the last one from the destinations, the others from temporaries.
    IRMapping starts;
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      auto fill = init.getDefiningOp<linalg::FillOp>();
      Value from = fill ? fill.getDpsInits()[0] : init;
      Value dest = op == last                              ? Value(body.getArgument(i))
                   : from.getDefiningOp<tensor::EmptyOp>() ? b.clone(*from.getDefiningOp())->getResult(0)
                                                           : Value();
      assert(dest && "an inner op of a group starts from an empty tensor");
      if (fill)
        dest = linalg::FillOp::create(b, op.getLoc(), fill.getInputs(), ValueRange{dest}).getResult(0);
      else if (!init.getDefiningOp<tensor::EmptyOp>())
        dest = linalg::CopyOp::create(b, op.getLoc(), ValueRange{init}, ValueRange{dest}).getResult(0);
      // Only as the init: the same tensor may be read as an input, too.
      starts.map(init, dest);
    }
    Operation *copy = b.clone(*op);
    for (OpOperand &operand : copy->getOpOperands()) {
      if (cast<linalg::LinalgOp>(copy).isDpsInit(&operand)) {
        operand.set(starts.lookup(operand.get()));
        continue;
      }
      operand.set(inner.lookupOrDefault(operand.get()));
      // A tensor without contents gives loops their sizes: it needs no memory outside.
      if (auto empty = operand.get().getDefiningOp<tensor::EmptyOp>(); empty && empty->getBlock() != &body) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(copy);
        operand.set(b.clone(*empty)->getResult(0));
      }
    }
    copy->removeAttr("optc.label");
    inner.map(op->getResults(), copy->getResults());
  }
  SmallVector<Value> results;
  for (Value result : last->getResults())
    results.push_back(inner.lookup(result));
  kernel::YieldOp::create(b, loc, results);
  last->replaceAllUsesWith(dispatch);
  for (linalg::LinalgOp op : llvm::reverse(group))
    op->erase();
}

namespace {
struct FormDispatches : public optc::impl::FormDispatchesBase<FormDispatches> {
  using FormDispatchesBase::FormDispatchesBase;
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
    // Products take their consumers before those become roots of their own.
    SmallVector<Group> groups;
    DenseSet<Operation *> taken;
    for (linalg::LinalgOp root : roots) {
      if (taken.contains(root))
        continue;
      Group group{root};
      if (optLevel >= 1)
        growEpilogue(group, taken);
      epilogues += group.size() - 1;
      for (linalg::LinalgOp op : group)
        taken.insert(op);
      groups.push_back(std::move(group));
    }
    // Users before producers, so that a fill which all users pulled in is dead when its turn comes.
    for (const Group &group : llvm::reverse(groups)) {
      linalg::LinalgOp last = group.back();
      if (last->use_empty())
        for (linalg::LinalgOp op : llvm::reverse(group))
          op->erase();
      else
        formDispatch(group);
    }
    getOperation()->walk([](tensor::EmptyOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
