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
#include "optc/passes/dispatch/Groups.h"
#include "llvm/ADT/StringSet.h"

namespace optc {
#define GEN_PASS_DEF_FORMDISPATCHES
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;
using dispatch::Group, dispatch::kDeclined;

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

/// The view chain behind `operand` that starts from a value of the group, cloned into its dispatch.
static void cloneViews(OpBuilder &b, Value operand, IRMapping &inner) {
  auto view = operand.getDefiningOp<kernel::ViewOp>();
  if (!view || inner.contains(operand))
    return;
  cloneViews(b, view.getSource(), inner);
  if (inner.contains(view.getSource()))
    b.clone(*view, inner);
}

static void formDispatch(const Group &group) {
  linalg::LinalgOp last = group.back();
  // What the group's values are for, other than the group: its results.
  SmallVector<Value> results;
  for (linalg::LinalgOp op : group)
    for (Value value : op->getResults())
      if (llvm::any_of(value.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(group, dyn_cast<linalg::LinalgOp>(user)) && !dispatch::isInnerView(user, group);
          }))
        results.push_back(value);
  if (results.empty()) {
    for (linalg::LinalgOp op : llvm::reverse(group))
      op->erase();
    return;
  }
  FailureOr<SmallVector<Operation *>> moved = dispatch::opsToMove(group);
  assert(succeeded(moved) && "groups are grown so that they can be formed");
  Operation *after = last;
  for (Operation *op : *moved) {
    op->moveAfter(after);
    after = op;
  }
  OpBuilder b(last);
  Location loc = last.getLoc();
  SmallVector<Value> dims;
  DenseMap<Value, unsigned> numbers;
  for (Value value : results) {
    auto result = cast<OpResult>(value);
    Value init = cast<linalg::LinalgOp>(result.getOwner()).getDpsInits()[result.getResultNumber()];
    llvm::append_range(dims, dynamicDimsOf(b, loc, init));
    numbers[value] = numbers.size();
  }
  std::string label;
  llvm::StringSet<> named;
  for (linalg::LinalgOp op : group)
    if (named.insert(labelOf(op)).second)
      label += (label.empty() ? "" : "_") + labelOf(op);
  if (group.size() > 1)
    loc = b.getFusedLoc(llvm::map_to_vector(group, [](linalg::LinalgOp op) { return op.getLoc(); }));
  auto dispatch = kernel::DispatchOp::create(b, loc, label, TypeRange(ValueRange(results)), dims);
  SmallVector<Attribute> declined;
  for (linalg::LinalgOp op : group)
    if (auto reasons = op->getAttrOfType<ArrayAttr>(kDeclined))
      llvm::append_range(declined, reasons);
  if (!declined.empty())
    dispatch->setAttr(kDeclined, b.getArrayAttr(declined));
  Block &body = dispatch.getBody().front();
  b.setInsertionPointToEnd(&body);
  IRMapping inner; // results of the group's ops
  for (linalg::LinalgOp op : group) {
    // What an op starts from: destinations where there are, else temporaries.
    IRMapping starts;
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      auto fill = init.getDefiningOp<linalg::FillOp>();
      Value from = fill ? fill.getDpsInits()[0] : init;
      auto number = numbers.find(op->getResult(i));
      Value dest = number != numbers.end()                 ? Value(body.getArgument(number->second))
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
    for (Value operand : op->getOperands())
      cloneViews(b, operand, inner);
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
    copy->removeAttr(kDeclined);
    inner.map(op->getResults(), copy->getResults());
  }
  kernel::YieldOp::create(b, loc, llvm::map_to_vector(results, [&](Value v) { return inner.lookup(v); }));
  for (auto [value, result] : llvm::zip(results, dispatch.getResults()))
    value.replaceAllUsesWith(result);
  SetVector<Operation *> dead;
  for (linalg::LinalgOp op : group)
    for (Value operand : op->getOperands())
      while (auto view = operand.getDefiningOp<kernel::ViewOp>()) {
        dead.insert(view);
        operand = view.getSource();
      }
  for (linalg::LinalgOp op : llvm::reverse(group))
    op->dropAllReferences();
  for (bool any = true; any;) {
    any = false;
    dead.remove_if([&](Operation *view) {
      if (!view->use_empty())
        return false;
      view->erase();
      return any = true;
    });
  }
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
    DenseSet<Operation *> taken;
    auto decline = [&](Operation *op, StringRef reason) {
      ++declined;
      if (report)
        op->emitRemark("does not join a group: ") << reason;
      dispatch::noteDeclined(op, reason);
    };
    // Products take their consumers first.
    DenseMap<Operation *, Group> products;
    for (linalg::LinalgOp root : roots) {
      auto generic = dyn_cast<linalg::GenericOp>(*root);
      if (optLevel < 1 || !generic || taken.contains(root) || !dispatch::takesEpilogue(generic))
        continue;
      Group &group = products[root];
      group = {root};
      dispatch::growEpilogue(group, taken, decline);
      epilogues += group.size() - 1;
      taken.insert_range(group);
    }
    // A group of rows may have several results: it is formed before the next one grows, which then sees it as one op.
    // Where a sum of products is not a root for products, its consumers may well be the rows of another reduction.
    SmallVector<linalg::LinalgOp> reductions = roots;
    std::stable_partition(reductions.begin(), reductions.end(), dispatch::readsWholeRows);
    for (linalg::LinalgOp root : reductions) {
      if (optLevel < 1 || taken.contains(root))
        continue;
      Group group = {root};
      dispatch::growRows(group, taken, decline);
      if (group.size() == 1)
        continue;
      rowOps += group.size();
      taken.insert_range(group);
      formDispatch(group);
    }
    // Users before producers, so that a fill which all users pulled in is dead when its turn comes.
    for (linalg::LinalgOp root : llvm::reverse(roots)) {
      auto product = products.find(root);
      if (product == products.end() && taken.contains(root))
        continue;
      formDispatch(product == products.end() ? Group{root} : product->second);
    }
    getOperation()->walk([](tensor::EmptyOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
