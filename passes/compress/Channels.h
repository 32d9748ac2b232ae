//===- Channels.h - which channels of a model belong together ---*- C++ -*-===//
//
// Every layer (a convolution or product with constant weights) makes an axis of channels. A trace through the graph
// gives each position of every axis that they reach a number: the channel that it holds. Where ops need positions of
// two axes to go together (the sides of an addition, a depthwise convolution and its input), their numbers become one.
// What is left are sets of channels that can each be removed from the whole graph at once, together with the slices of
// constants that belong to them; or that stay, with a reason (outputs of the model, ops that mix channels).
//
// The idea is that of DepGraph (Fang et al., "DepGraph: Towards Any Structural Pruning", CVPR 2023), per position of
// an axis instead of per layer, so that concatenations, groups and flattened positions need no rules of their own.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_CHANNELS_H
#define OPTC_PASSES_COMPRESS_CHANNELS_H
#include "optc/dialects/onnx/Shape.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <string>

namespace optc {

/// The channel at every position of an axis; empty: an axis that no layer made.
using ChannelIds = llvm::ArrayRef<int>;

/// An axis of a constant whose positions belong to channels.
struct ChannelSlice {
  mlir::OpOperand *constant;
  int64_t axis;
  ChannelIds ids;
  /// Whether its size says how much a channel matters: weights do, biases and statistics do not.
  bool weighs;
};

/// The axis of channels that a layer makes.
struct ChannelAxis {
  mlir::Operation *layer;
  ChannelIds ids;
};

/// A layer whose input loses channels, for those that fit it anew.
struct ChannelInput {
  mlir::Operation *layer;
  unsigned weight; ///< operand
  int64_t axis;    ///< of the weight, which the ids belong to
  ChannelIds ids;
};

/// Which channels stay.
class KeptChannels {
public:
  virtual ~KeptChannels() = default;
  virtual bool isKept(int id) const = 0;
  /// The positions that stay.
  llvm::SmallVector<int64_t> positions(ChannelIds ids) const;
  int64_t count(ChannelIds ids) const;
};

/// The channels of a function. Types are inferred; nothing is changed before `apply`.
class ChannelGraph {
public:
  ChannelGraph(mlir::func::FuncOp func, ShapeTable &table);

  /// One number for all channels that live and die together.
  int rootOf(int id) const;
  /// Why a channel stays; empty when it may go.
  llvm::StringRef reasonToStay(int id) const { return reasons[rootOf(id)]; }
  int numIds() const { return parents.size(); }
  llvm::ArrayRef<ChannelAxis> axes() const { return layerAxes; }
  llvm::ArrayRef<ChannelSlice> slices() const { return constantSlices; }
  llvm::ArrayRef<ChannelInput> inputs() const { return layerInputs; }
  /// Sets of channels that must not all go.
  llvm::ArrayRef<ChannelIds> parts() const { return wholeParts; }
  /// Layers that make no channels of their own, with a clause that says why.
  llvm::ArrayRef<std::pair<mlir::Operation *, std::string>> declined() const { return declinedLayers; }

  /// Removes all other channels: slices constants, adapts attributes and shapes. Types of results are unknown after it.
  void apply(const KeptChannels &kept);

  // ---- for the rules of operators (ChannelRules.h) ----
  ShapeTable &table;
  ChannelIds ids(mlir::Value value, int64_t axis) const { return traced.lookup({value, axis}); }
  bool isTraced(mlir::Value value) const;
  void set(mlir::Value value, int64_t axis, ChannelIds ids);
  /// A list that lives as long as the graph.
  ChannelIds list(llvm::ArrayRef<int> ids);
  /// New channels of a layer.
  ChannelIds make(mlir::Operation *layer, int64_t size);
  /// Channels that are no layer's and stay.
  ChannelIds pinned(int64_t size, const llvm::Twine &reason);
  void unite(ChannelIds a, ChannelIds b);
  void stay(ChannelIds ids, const llvm::Twine &reason);
  /// All channels of a value.
  void stay(mlir::Value value, const llvm::Twine &reason);
  void slice(mlir::OpOperand &constant, int64_t axis, ChannelIds ids, bool weighs) {
    constantSlices.push_back({&constant, axis, ids, weighs});
  }
  void input(mlir::Operation *layer, unsigned weight, int64_t axis, ChannelIds ids) {
    layerInputs.push_back({layer, weight, axis, ids});
  }
  void decline(mlir::Operation *layer, const llvm::Twine &why) { declinedLayers.emplace_back(layer, why.str()); }
  /// Some of these have to stay: a part of an axis that is a tensor of its own.
  void keepSome(ChannelIds ids) {
    if (!ids.empty())
      wholeParts.push_back(ids);
  }
  /// A change of an op that removing channels needs.
  void edit(std::function<void(const KeptChannels &)> change) { edits.push_back(std::move(change)); }

private:
  void trace(mlir::Block &block);
  int add(llvm::StringRef reason);

  mlir::func::FuncOp func;
  llvm::BumpPtrAllocator memory;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, ChannelIds> traced;
  mutable std::vector<int> parents;
  std::vector<std::string> reasons; ///< of roots
  llvm::SmallVector<ChannelAxis> layerAxes;
  llvm::SmallVector<ChannelSlice> constantSlices;
  llvm::SmallVector<ChannelInput> layerInputs;
  llvm::SmallVector<ChannelIds> wholeParts;
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> declinedLayers;
  llvm::SmallVector<std::function<void(const KeptChannels &)>> edits;
};

/// Traces one op: sets the channels of its results. Ops without a rule let no channel go.
using ChannelRule = void (*)(mlir::Operation *op, ChannelGraph &graph);
const llvm::StringMap<ChannelRule> &channelRules();
/// Those of ops that move positions and keep elements (ChannelViews.cpp).
void addViewRules(llvm::StringMap<ChannelRule> &rules);

/// All axes that `op`'s operand 0 has go to result 0, which has the same rank.
void passChannels(mlir::Operation *op, ChannelGraph &graph);
/// Axis `axis` of result 0 from that of operands: positions go together. Constants are sliced, sizes of 1 broadcast.
void joinChannels(mlir::Operation *op, ChannelGraph &graph, int64_t axis,
                  llvm::ArrayRef<std::pair<unsigned, int64_t>> operands);
/// "node 'x' (Op)".
std::string describeNode(mlir::Operation *op);
/// The size of an axis when it is known.
std::optional<int64_t> sizeOf(mlir::Value value, int64_t axis);

} // namespace optc
#endif
