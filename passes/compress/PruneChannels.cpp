//===- PruneChannels.cpp - remove channels that matter least --------------===//
//
//   %1 = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
//   %2 = "onnx.Conv"(%1, %v) : (tensor<1x16x8x8xf32>, tensor<9x16x1x1xf32>) -> tensor<1x9x8x8xf32>
// becomes, with ratio 0.25,
//   %1 = "onnx.Conv"(%x, %w') : (tensor<1x3x8x8xf32>, tensor<12x3x3x3xf32>) -> tensor<1x12x8x8xf32>
//   %2 = "onnx.Conv"(%1, %v') : (tensor<1x12x8x8xf32>, tensor<9x12x1x1xf32>) -> tensor<1x9x8x8xf32>
//
// Channels.h finds which channels go together. Those of one block (the same layers make them) compete: a channel's
// score is the sum of squares of all weights that make it and read it, each weight relative to its mean over the block.
//
//===----------------------------------------------------------------------===//
#include "optc/passes/compress/PruneChannels.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Channels.h"
#include "optc/passes/compress/Journal.h"
#include "optc/passes/compress/Prune.h"
#include "optc/passes/compress/Refit.h"
#include "optc/passes/compress/Weights.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_PRUNECHANNELS
#include "optc/passes/compress/Prune.h.inc"
} // namespace optc

using namespace optc;

/// Vectors of 16 floats are the longest that targets have; kernels compute whole ones, and panels of weights are
/// multiples of them. Where few channels stay, a smaller power of two meets their number within an eighth.
static int64_t automaticMultiple(double wanted) {
  return llvm::bit_floor(static_cast<uint64_t>(std::clamp(wanted / 4, 1.0, 16.0)));
}

int64_t optc::channelsToKeep(int64_t channels, double ratio, int64_t multiple) {
  double wanted = channels * (1 - ratio);
  if (multiple <= 0)
    multiple = automaticMultiple(wanted);
  int64_t kept = std::llround(wanted / multiple) * multiple;
  return std::clamp<int64_t>(kept, std::min(multiple, channels), channels);
}

namespace {
/// The channels that go, by root.
class Choice : public KeptChannels {
public:
  Choice(const ChannelGraph &graph, double ratio, int64_t multiple);
  bool isKept(int id) const override { return !removed[graph.rootOf(id)]; }

private:
  std::vector<double> scores() const;

  const ChannelGraph &graph;
  std::vector<bool> removed;
};
} // namespace

std::vector<double> Choice::scores() const {
  std::vector<double> scores(graph.numIds());
  for (const ChannelSlice &slice : graph.slices()) {
    auto constant = slice.constant->get().getDefiningOp<onnx::ConstantOp>();
    if (!slice.weighs || !isPrunableFloat(cast<RankedTensorType>(constant.getOutput().getType()).getElementType()))
      continue;
    std::vector<double> squares = squaresAlong(onnx::ConstantBytes(constant.getValue()), slice.axis);
    // A slice is a prefix of an axis when its groups share it.
    double mean = 0;
    for (double s : squares)
      mean += s / squares.size();
    if (mean > 0 && std::isfinite(mean))
      for (auto [id, s] : llvm::zip(slice.ids, squares))
        scores[graph.rootOf(id)] += s / mean;
  }
  return scores;
}

Choice::Choice(const ChannelGraph &graph, double ratio, int64_t multiple)
    : graph(graph), removed(graph.numIds(), false) {
  // The layers that make a channel.
  std::vector<SmallVector<int, 2>> makers(graph.numIds());
  for (auto [i, axis] : llvm::enumerate(graph.axes()))
    for (int id : axis.ids)
      if (auto &own = makers[graph.rootOf(id)]; own.empty() || own.back() != int(i))
        own.push_back(i);
  std::map<std::vector<int>, SmallVector<int>> blocks;
  for (int id = 0; id < graph.numIds(); ++id)
    if (graph.rootOf(id) == id && !makers[id].empty())
      blocks[std::vector<int>(makers[id].begin(), makers[id].end())].push_back(id);
  // How many channels a part has left, and the parts of a channel.
  SmallVector<int64_t> left;
  std::vector<SmallVector<int, 1>> partsOf(graph.numIds());
  for (auto [i, part] : llvm::enumerate(graph.parts())) {
    left.push_back(0);
    for (int id : part)
      if (auto &own = partsOf[graph.rootOf(id)]; own.empty() || own.back() != int(i)) {
        own.push_back(i);
        ++left.back();
      }
  }
  auto isLastOfPart = [&](int root) { return llvm::any_of(partsOf[root], [&](int i) { return left[i] == 1; }); };
  std::vector<double> score = scores();
  for (auto &[layers, roots] : blocks) {
    int64_t all = roots.size(), leaving = all - channelsToKeep(all, ratio, multiple);
    // Where some have to stay, the others do not go in their place.
    int64_t free = llvm::count_if(roots, [&](int root) { return graph.reasonToStay(root).empty(); });
    if (free < all)
      leaving = std::min<int64_t>(leaving, std::llround(free * ratio));
    llvm::sort(roots, [&](int a, int b) { return std::pair(score[a], a) < std::pair(score[b], b); });
    for (int root : roots) {
      if (leaving == 0)
        break;
      if (!graph.reasonToStay(root).empty() || isLastOfPart(root))
        continue;
      removed[root] = true;
      for (int i : partsOf[root])
        --left[i];
      --leaving;
    }
  }
}

/// Says on layers that lose inputs which of their outputs are left.
static void markInputs(const ChannelGraph &graph, const Choice &choice) {
  llvm::DenseMap<Operation *, ChannelIds> made;
  for (const ChannelAxis &axis : graph.axes())
    made[axis.layer] = axis.ids;
  for (const ChannelInput &input : graph.inputs()) {
    ChannelIds outputs = made.lookup(input.layer);
    if (choice.count(input.ids) == int64_t(input.ids.size()))
      continue;
    SmallVector<int64_t> kept = choice.positions(outputs);
    if (kept.size() == outputs.size())
      kept.clear();
    input.layer->setAttr(kRefitAttr, DenseI64ArrayAttr::get(input.layer->getContext(), kept));
  }
}

LogicalResult optc::pruneChannels(func::FuncOp func, double ratio, int64_t multiple, bool mark, PruneJournal &journal) {
  ShapeTable table;
  if (failed(inferShapes(func, table)))
    return failure();
  ChannelGraph graph(func, table);
  Choice choice(graph, ratio, multiple);
  std::string method = PruneJournal::methodName("channels", ratio);
  for (const ChannelAxis &axis : graph.axes()) {
    int64_t before = axis.ids.size(), after = choice.count(axis.ids);
    if (after < before) {
      journal.pruned(axis.layer, method, "channels", before, after);
      continue;
    }
    StringRef reason;
    for (int id : axis.ids)
      if (reason.empty())
        reason = graph.reasonToStay(id);
    journal.skip(axis.layer, method,
                 reason.empty() ? "of its " + std::to_string(before) + " channels none goes at this share"
                                : ("its channels stay: " + reason).str());
  }
  for (const auto &[layer, reason] : graph.declined())
    journal.skip(layer, method, reason);
  if (mark)
    markInputs(graph, choice);
  graph.apply(choice);
  ShapeTable fresh;
  return inferShapes(func, fresh);
}

namespace {
struct PruneChannels : optc::impl::PruneChannelsBase<PruneChannels> {
  using PruneChannelsBase::PruneChannelsBase;

  void runOnOperation() override {
    if (!(ratio >= 0 && ratio < 1) || multiple < 0) {
      getOperation()->emitError() << "optc-prune-channels: ratio lies in [0, 1), and multiple is no negative number";
      return signalPassFailure();
    }
    PruneJournal journal;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && failed(pruneChannels(func, ratio, multiple, mark, journal)))
        return signalPassFailure();
    journal.store(getOperation());
  }
};
} // namespace
