//===- Groups.cpp - ops that become one dispatch --------------------------===//
#include "optc/passes/dispatch/Groups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "optc/dialects/kernel/Columns.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/kernel/Rows.h"
#include "optc/dialects/kernel/TensorTile.h"
#include "optc/dialects/kernel/Window.h"

using namespace mlir;
using namespace optc;
using dispatch::Group;

void dispatch::noteDeclined(Operation *op, StringRef reason) {
  SmallVector<Attribute> reasons;
  if (auto have = op->getAttrOfType<ArrayAttr>(kDeclined))
    reasons = llvm::to_vector(have);
  auto note = StringAttr::get(op->getContext(), reason);
  if (!llvm::is_contained(reasons, note))
    reasons.push_back(note);
  op->setAttr(kDeclined, ArrayAttr::get(op->getContext(), reasons));
}

/// Whether the op makes its result from nothing, so that a temporary of the dispatch can stand for it.
static bool startsFresh(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInits(), [](Value init) {
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      init = fill.getDpsInits()[0];
    return init.getDefiningOp<tensor::EmptyOp>() != nullptr;
  });
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Results of the group and what views make of them.
static bool readsGroup(Value value, ArrayRef<linalg::LinalgOp> group) {
  Operation *def = kernel::stripViews(value).getDefiningOp();
  return def && llvm::is_contained(group, dyn_cast<linalg::LinalgOp>(def));
}

bool dispatch::isInnerView(Operation *view, ArrayRef<linalg::LinalgOp> group) {
  return isa<kernel::ViewOp>(view) && readsGroup(view->getResult(0), group) && !view->use_empty() &&
         llvm::all_of(view->getUsers(), [&](Operation *user) {
           return llvm::is_contained(group, dyn_cast<linalg::LinalgOp>(user)) || isInnerView(user, group);
         });
}

FailureOr<SmallVector<Operation *>> dispatch::opsToMove(ArrayRef<linalg::LinalgOp> group) {
  Operation *last = group.back();
  Block *block = last->getBlock();
  SmallVector<Operation *> work(group.begin(), group.end());
  SetVector<Operation *> moved;
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      bool inGroup = here && llvm::is_contained(group, dyn_cast<linalg::LinalgOp>(here));
      if (!here || inGroup || !here->isBeforeInBlock(last) ||
          (isInnerView(here, group) && readsGroup(here->getOperand(0), group)))
        continue;
      // A dispatch computes its results and nothing else.
      if (!isMemoryEffectFree(here) && !isa<kernel::DispatchOp>(here))
        return failure();
      if (moved.insert(here))
        work.push_back(here);
    }
  for (linalg::LinalgOp op : group)
    for (Value operand : op->getOperands())
      if (!readsGroup(operand, group) && operand.getDefiningOp() && moved.contains(operand.getDefiningOp()))
        return failure();
  SmallVector<Operation *> order = moved.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

bool dispatch::takesEpilogue(linalg::GenericOp op) { return epilogueRootOf(op).has_value(); }

void dispatch::growEpilogue(Group &group, const DenseSet<Operation *> &taken, DeclineFn decline) {
  auto op = dyn_cast<linalg::GenericOp>(group.front().getOperation());
  std::optional<EpilogueRoot> root = op ? epilogueRootOf(op) : std::nullopt;
  if (!root)
    return;
  for (linalg::GenericOp last = op; last->hasOneUse();) {
    auto consumer = dyn_cast<linalg::GenericOp>(*last->user_begin());
    if (!consumer || consumer->getBlock() != op->getBlock() || taken.contains(consumer) || !startsFresh(last))
      return;
    std::string why;
    if (failed(kernel::matchEpilogue(root->nest, root->columns, consumer, last->getResult(0), root->indices, &why)))
      return decline(consumer, why);
    group.push_back(cast<linalg::LinalgOp>(consumer.getOperation()));
    last = consumer;
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Long rows that only a few threads could share: what happens element by element is better left to all of them.
static constexpr int64_t kFewRows = 4, kLongRow = 64 << 10;
/// Ops of a group: enough for any normalization with what surrounds it.
static constexpr size_t kMostOps = 24;

/// Neighbours in the graph, producers first.
static SetVector<Operation *> neighbours(const Group &group) {
  SetVector<Operation *> found;
  auto consider = [&](Operation *op) {
    if (isa_and_nonnull<linalg::GenericOp>(op) && op->getBlock() == group.front()->getBlock() &&
        !llvm::is_contained(group, cast<linalg::LinalgOp>(op)))
      found.insert(op);
  };
  for (linalg::LinalgOp op : group)
    for (Value input : op.getDpsInputs())
      consider(kernel::stripViews(input).getDefiningOp());
  SmallVector<Operation *> work(group.begin(), group.end());
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isa<kernel::ViewOp>(user))
        work.push_back(user);
      consider(user);
    }
  return found;
}

bool dispatch::readsWholeRows(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  FailureOr<kernel::RowGroup> alone = generic ? kernel::matchRows(generic) : FailureOr<kernel::RowGroup>();
  if (failed(alone))
    return false;
  const kernel::RowOp &root = alone->ops.front();
  SmallVector<unsigned> loops = root.rows;
  llvm::append_range(loops, root.columns);
  return llvm::all_of(root.inputs, [&](const kernel::RowOperand &input) {
    return !input.movesAlongColumns() || root.nest.isFlat(input.walk, loops);
  });
}

void dispatch::growRows(Group &group, const DenseSet<Operation *> &taken, DeclineFn decline) {
  auto root = dyn_cast<linalg::GenericOp>(group.front().getOperation());
  if (!root || root.getNumReductionLoops() == 0 || !startsFresh(root))
    return;
  // Vectors go along the rows that are reduced, or else along the results.
  std::string why;
  FailureOr<kernel::RowGroup> alone = kernel::matchRows(root);
  bool across = failed(alone);
  if (across && failed(kernel::matchColumns(root)))
    return;
  if (!across && alone->numRows.valueOr(kFewRows + 1) <= kFewRows && alone->numColumns.valueOr(0) >= kLongRow)
    return decline(root, "has too few rows to share its elementwise neighbours among threads");
  auto refusal = [&](Operation *op) -> StringRef {
    if (taken.contains(op))
      return "belongs to another group";
    if (!startsFresh(cast<linalg::GenericOp>(op)))
      return "starts from a tensor";
    Group trial = group;
    trial.push_back(cast<linalg::LinalgOp>(op));
    llvm::sort(trial, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    auto generics =
        llvm::map_to_vector(trial, [](linalg::LinalgOp member) { return cast<linalg::GenericOp>(*member); });
    if (across ? failed(kernel::matchColumns(generics, &why)) : failed(kernel::matchRows(generics, &why)))
      return why;
    if (failed(opsToMove(trial)))
      return "is needed by an op that the group needs, or that cannot move";
    group = std::move(trial);
    return "";
  };
  // What is refused now may join when what lies between has.
  DenseMap<Operation *, std::string> refused;
  for (bool grew = true; grew && group.size() < kMostOps;) {
    grew = false;
    for (Operation *op : neighbours(group)) {
      StringRef reason = refusal(op);
      grew |= reason.empty();
      refused[op] = reason.str();
      if (group.size() == kMostOps)
        break;
    }
  }
  for (Operation *op : neighbours(group))
    if (auto it = refused.find(op); it != refused.end() && !it->second.empty())
      decline(op, it->second);
}
