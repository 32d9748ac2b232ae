//===- ChannelsLast.cpp - channels-last order around convolutions ---------===//
//
// From each convolution the order spreads through ops that do not care: elementwise ops, windows, gathers, reductions,
// views, concatenations. What one convolution reaches is a component. It is converted when the multiply-adds of its
// convolutions are worth the elements that transpositions at its boundary move.
//===----------------------------------------------------------------------===//
#include "optc/passes/layout/Layout.h"

using namespace mlir;
using namespace optc;
using namespace optc::layout;

/// An input with so few channels is read in the model's order: a vector of channels would be mostly empty.
static constexpr int64_t kFewChannels = 4;

namespace {
class Spread {
public:
  Spread(Layouts &layouts, llvm::DenseSet<Operation *> &visited) : layouts(layouts), visited(visited) {}

  /// Assigns orders to everything that `op` reaches.
  void from(linalg::GenericOp op, const Convolution &conv) {
    seed(op, conv);
    for (unsigned i = 0; i < values.size(); ++i)
      spread(values[i]);
  }

  llvm::MapVector<Operation *, Convolution> convolutions;
  SmallVector<Value> values; ///< assigned, in order

private:
  void seed(linalg::GenericOp op, const Convolution &conv) {
    if (!visited.insert(op).second)
      return;
    convolutions.insert({op, conv});
    layouts.assign(op.getResult(0), conv.y, values);
    layouts.assign(op.getInputs()[0], conv.x, values);
  }
  /// Assigns an order that something else has to another value; a failure costs nothing here.
  void offer(Value v, ArrayRef<int64_t> order) {
    if (isa<RankedTensorType>(v.getType()))
      layouts.assign(v, order, values);
  }
  /// Whether the order of `v` is another one in memory than its own.
  bool moves(Value v) {
    Order order = layouts.of(v);
    return !sameMemory(cast<RankedTensorType>(v.getType()).getShape(), order, identityOrder(order.size()));
  }

  void spread(Value v) {
    if (Operation *def = v.getDefiningOp())
      reach(def, v);
    for (OpOperand &use : llvm::make_early_inc_range(v.getUses())) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExtractOp>(user)) {
        if (auto generic = user->getParentOfType<linalg::GenericOp>())
          user = generic;
        else if (auto dispatch = user->getParentOfType<kernel::DispatchOp>())
          user = dispatch;
      }
      reach(user, v);
    }
  }

  /// Offers the order of `v`, an operand or result of `op`, to its other ones.
  void reach(Operation *op, Value v) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (std::optional<Convolution> conv = matchConvolution(generic)) {
        if (v == generic.getInputs()[0] || v.getDefiningOp() == op)
          seed(generic, *conv);
        return;
      }
      reachGeneric(generic, v);
    } else if (auto view = dyn_cast<kernel::ViewOp>(op)) {
      if (v == view.getSource())
        if (auto order = throughView(sizesOf(v), sizesOf(view.getResult()), layouts.of(v)))
          offer(view.getResult(), *order);
    } else if (Value result = sameDimensions(op)) {
      if (v != result)
        offer(result, layouts.of(v));
      if (isa<tensor::ConcatOp>(op))
        for (Value part : op->getOperands())
          offer(part, layouts.of(v));
    } else if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) {
      reachDispatch(dispatch, v);
    }
  }

  void reachGeneric(linalg::GenericOp op, Value v) {
    std::optional<Order> dims = loopsOf(op, v);
    if (!dims)
      return;
    Order order = layouts.of(v), loops;
    for (int64_t d : order)
      if ((*dims)[d] >= 0 && !llvm::is_contained(loops, (*dims)[d]))
        loops.push_back((*dims)[d]);
    auto iterators = op.getIteratorTypesArray();
    auto ranges = op.getStaticLoopRanges();
    bool covers = true, reduces = op.getNumReductionLoops() != 0;
    for (auto [loop, size] : llvm::enumerate(ranges))
      covers &= size == 1 || linalg::isReductionIterator(iterators[loop]) || llvm::is_contained(loops, loop);
    SmallVector<Value> others;
    others.append(op->result_begin(), op->result_end());
    llvm::append_range(others, op->getOperands());
    op.getBody()->walk([&](tensor::ExtractOp extract) { others.push_back(extract.getTensor()); });
    for (Value other : others) {
      auto type = dyn_cast<RankedTensorType>(other.getType());
      if (!type || other == v || layouts.has(other))
        continue;
      bool sameRank = type.getRank() == static_cast<int64_t>(order.size());
      if (!covers) {
        // The positions are computed from several loops, as by DepthToSpace: dimensions of the same place correspond.
        if (sameRank && !reduces && moves(v))
          offer(other, order);
        continue;
      }
      std::optional<Order> otherDims = loopsOf(op, other);
      if (!otherDims)
        continue;
      // The same order when it agrees, so that dimensions of size 1 are at the same places.
      SmallVector<int64_t> here;
      if (sameRank)
        for (int64_t d : order)
          if ((*otherDims)[d] >= 0)
            here.push_back((*otherDims)[d]);
      auto position = [&](int64_t loop) { return llvm::find(loops, loop) - loops.begin(); };
      if (sameRank && llvm::is_sorted(here, [&](int64_t a, int64_t b) { return position(a) < position(b); }))
        offer(other, order);
      else
        offer(other, orderByLoops(*otherDims, loops));
    }
  }

  void reachDispatch(kernel::DispatchOp dispatch, Value v) {
    llvm::SetVector<Value> read;
    dispatch.getBody().walk([&](tensor::ExtractOp extract) {
      if (!dispatch.getBody().isAncestor(extract.getTensor().getParentRegion()))
        read.insert(extract.getTensor());
    });
    Order order = layouts.of(v);
    for (auto [i, result] : llvm::enumerate(dispatch.getResults())) {
      if (result == v) {
        for (Value source : read)
          if (copiesByDimension(dispatch, i, source))
            offer(source, order);
      } else if (copiesByDimension(dispatch, i, v)) {
        offer(result, order);
      }
    }
  }

  Layouts &layouts;
  llvm::DenseSet<Operation *> &visited;
};
} // namespace

/// Elements that transpositions move when the component is stored as assigned.
static double movedElements(const Layouts &layouts, const Spread &component) {
  double moved = 0;
  for (Value v : component.values) {
    Order own = identityOrder(layouts.of(v).size());
    if (sameMemory(cast<RankedTensorType>(v.getType()).getShape(), layouts.of(v), own))
      continue;
    if (llvm::any_of(v.getUses(), [&](OpOperand &use) { return !layouts.accepts(use); }))
      moved += elementsOf(v);
  }
  for (auto &[op, conv] : component.convolutions) {
    Value x = op->getOperand(0);
    if (!sameMemory(cast<RankedTensorType>(x.getType()).getShape(), layouts.of(x), conv.x) &&
        (ShapedType::isDynamic(conv.channels) || conv.channels > kFewChannels))
      moved += elementsOf(x);
  }
  return moved;
}

SmallVector<Component> layout::assignChannelsLast(func::FuncOp func, Layouts &layouts, double worth,
                                                  llvm::MapVector<Operation *, Convolution> &converted) {
  SmallVector<Component> components;
  llvm::DenseSet<Operation *> visited;
  func.walk([&](linalg::GenericOp op) {
    if (visited.contains(op) || op->getParentOfType<kernel::DispatchOp>())
      return;
    std::optional<Convolution> conv = matchConvolution(op);
    if (!conv)
      return;
    Spread spread(layouts, visited);
    spread.from(op, *conv);
    Component component{op.getLoc()};
    component.convolutions = spread.convolutions.size();
    for (auto &[member, c] : spread.convolutions)
      component.multiplyAdds += c.multiplyAdds;
    component.moved = movedElements(layouts, spread);
    component.accepted = component.multiplyAdds >= worth * component.moved;
    components.push_back(component);
    if (!component.accepted) {
      for (Value v : spread.values)
        layouts.erase(v);
      return;
    }
    for (auto &[member, c] : spread.convolutions) {
      // Few channels are not worth a transposition.
      if (!ShapedType::isDynamic(c.channels) && c.channels <= kFewChannels)
        c.x = layouts.of(member->getOperand(0));
      converted.insert({member, c});
    }
  });
  return components;
}
