//===- Channels.cpp - which channels of a model belong together -----------===//
#include "optc/passes/compress/Channels.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Weights.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace optc;

std::string optc::describeNode(Operation *op) { return onnx::describeOp(op); }

std::optional<int64_t> optc::sizeOf(Value value, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  return type.getDimSize(axis);
}

SmallVector<int64_t> KeptChannels::positions(ChannelIds ids) const {
  SmallVector<int64_t> kept;
  for (auto [i, id] : llvm::enumerate(ids))
    if (isKept(id))
      kept.push_back(i);
  return kept;
}

int64_t KeptChannels::count(ChannelIds ids) const {
  return llvm::count_if(ids, [&](int id) { return isKept(id); });
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

int ChannelGraph::add(StringRef reason) {
  parents.push_back(parents.size());
  reasons.push_back(reason.str());
  return parents.size() - 1;
}

int ChannelGraph::rootOf(int id) const {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

ChannelIds ChannelGraph::list(ArrayRef<int> ids) {
  int *copy = memory.Allocate<int>(ids.size());
  llvm::copy(ids, copy);
  return ChannelIds(copy, ids.size());
}

ChannelIds ChannelGraph::make(Operation *layer, int64_t size) {
  SmallVector<int> ids;
  for (int64_t i = 0; i < size; ++i)
    ids.push_back(add(""));
  ChannelIds made = list(ids);
  layerAxes.push_back({layer, made});
  return made;
}

ChannelIds ChannelGraph::pinned(int64_t size, const Twine &reason) {
  int id = add(reason.str());
  return list(SmallVector<int>(size, id));
}

void ChannelGraph::unite(ChannelIds a, ChannelIds b) {
  if (a.data() == b.data() && a.size() == b.size())
    return;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    int p = rootOf(x), q = rootOf(y);
    if (p == q)
      continue;
    parents[q] = p;
    if (reasons[p].empty())
      reasons[p] = std::move(reasons[q]);
    reasons[q].clear();
  }
}

void ChannelGraph::stay(ChannelIds ids, const Twine &reason) {
  std::string text = reason.str();
  for (int id : ids)
    if (std::string &present = reasons[rootOf(id)]; present.empty())
      present = text;
}

void ChannelGraph::stay(Value value, const Twine &reason) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; type && i < type.getRank(); ++i)
    stay(ids(value, i), reason);
}

bool ChannelGraph::isTraced(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; type && i < type.getRank(); ++i)
    if (!ids(value, i).empty())
      return true;
  return false;
}

void ChannelGraph::set(Value value, int64_t axis, ChannelIds ids) {
  // An axis of a size that the trace did not expect is none of these channels.
  if (ids.empty())
    return;
  if (sizeOf(value, axis) != int64_t(ids.size()))
    return stay(ids, "their number is not known behind " + value.getDefiningOp()->getName().stripDialect());
  traced[{value, axis}] = ids;
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

ChannelGraph::ChannelGraph(func::FuncOp func, ShapeTable &table) : table(table), func(func) {
  if (func.getBody().hasOneBlock())
    trace(func.front());
}

void ChannelGraph::trace(Block &block) {
  for (Operation &op : block) {
    if (isa<onnx::ConstantOp>(op))
      continue;
    // Values that a subgraph uses keep their shape.
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          stay(operand, "they are used in a subgraph of " + describeNode(&op));
        if (isLayer(inner))
          decline(inner, "it lies in a subgraph of " + describeNode(&op));
      });
    auto rule = channelRules().find(op.getName().getStringRef());
    if (rule != channelRules().end() && op.getNumRegions() == 0) {
      rule->second(&op, *this);
      continue;
    }
    bool isOutput = op.hasTrait<OpTrait::IsTerminator>();
    for (Value operand : op.getOperands())
      stay(operand, isOutput ? "they are an output of the model"
                             : Twine("they reach " + describeNode(&op) + ", which pruning does not look through"));
    if (isLayer(&op))
      decline(&op, "pruning does not take channels from " + op.getName().stripDialect());
  }
}

//===----------------------------------------------------------------------===//
// Removal
//===----------------------------------------------------------------------===//

void ChannelGraph::apply(const KeptChannels &kept) {
  // All axes of a constant at once.
  llvm::MapVector<OpOperand *, SmallVector<std::optional<SmallVector<int64_t>>>> cuts;
  for (const ChannelSlice &slice : constantSlices) {
    SmallVector<int64_t> positions = kept.positions(slice.ids);
    if (positions.size() == slice.ids.size())
      continue;
    auto &axes = cuts[slice.constant];
    axes.resize(cast<RankedTensorType>(slice.constant->get().getType()).getRank());
    axes[slice.axis] = std::move(positions);
  }
  for (auto &[operand, axes] : cuts) {
    auto constant = operand->get().getDefiningOp<onnx::ConstantOp>();
    OpBuilder b(operand->getOwner());
    auto sliced =
        onnx::ConstantOp::create(b, constant.getLoc(), sliceConstant(onnx::ConstantBytes(constant.getValue()), axes));
    operand->set(sliced.getOutput());
    if (constant->use_empty())
      constant->erase();
  }
  for (const auto &edit : edits)
    edit(kept);
  // Inference starts from nothing: the sizes that are there are the old ones.
  for (Operation &op : func.front().without_terminator())
    for (Value result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && !isa<onnx::ConstantOp>(op))
        result.setType(UnrankedTensorType::get(type.getElementType()));
}
