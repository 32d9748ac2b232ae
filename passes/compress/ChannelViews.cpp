//===- ChannelViews.cpp - channels behind ops that move positions ---------===//
#include "optc/dialects/onnx/Onnx.h"
#include "optc/passes/compress/Channels.h"

using namespace mlir;
using namespace optc;

/// Of an axis that several were merged into.
static constexpr int64_t kMostPositions = 1 << 22;

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

static std::optional<SmallVector<int64_t>> constants(ChannelGraph &graph, Value value) {
  return value ? graph.table.get(value).constElements() : std::nullopt;
}

static void stayAll(Operation *op, ChannelGraph &graph, const Twine &why) {
  for (Value operand : op->getOperands())
    graph.stay(operand, "they reach " + describeNode(op) + ", " + why);
}

/// The part of a concatenation of vectors that entry `at` comes from, which is entry `at` of the part afterwards.
static OpOperand *partOf(Operation *concat, int64_t &at) {
  for (OpOperand &part : concat->getOpOperands()) {
    std::optional<int64_t> size = sizeOf(part.get(), 0);
    if (!size || at < *size)
      return size ? &part : nullptr;
    at -= *size;
  }
  return nullptr;
}

static bool isConcat(Operation *op) { return op && op->getName().getStringRef() == "onnx.Concat"; }

/// Whether entry `at` of a vector of int64 is written in a constant, which may be a part of a concatenation.
static bool isWritten(Value vector, int64_t at) {
  Operation *def = vector.getDefiningOp();
  if (isConcat(def)) {
    OpOperand *part = partOf(def, at);
    return part && isWritten(part->get(), at);
  }
  auto constant = dyn_cast_or_null<onnx::ConstantOp>(def);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.getElementType().isInteger(64) && dense.getType().getRank() == 1 && at < dense.getNumElements();
}

/// Sets an entry that `isWritten` of the vector that `use` reads; other readers keep theirs.
static void writeEntry(OpOperand &use, int64_t at, int64_t number) {
  Operation *old = use.get().getDefiningOp();
  OpBuilder b(use.getOwner());
  if (isConcat(old)) {
    Operation *copy = b.clone(*old);
    OpOperand *part = partOf(copy, at);
    writeEntry(*part, at, number);
    use.set(copy->getResult(0));
  } else {
    auto dense = cast<DenseElementsAttr>(cast<onnx::ConstantOp>(old).getValue());
    auto values = llvm::to_vector(dense.getValues<int64_t>());
    values[at] = number;
    auto changed = DenseElementsAttr::get(dense.getType(), ArrayRef<int64_t>(values));
    use.set(onnx::ConstantOp::create(b, old->getLoc(), changed).getOutput());
  }
  if (old->use_empty())
    old->erase();
}

/// Makes entry `at` of the vector that is operand `position` the number of channels that stay.
static void resizeEntry(Operation *op, ChannelGraph &graph, unsigned position, int64_t at, ChannelIds ids) {
  graph.edit([op, position, at, ids](const KeptChannels &kept) {
    if (kept.count(ids) != int64_t(ids.size()))
      writeEntry(op->getOpOperand(position), at, kept.count(ids));
  });
}

/// Replaces an op by one whose second operand, which may have been missing, are these numbers.
static void giveVector(Operation *op, ArrayRef<int64_t> numbers, ArrayRef<NamedAttribute> attributes) {
  OpBuilder b(op);
  auto type = RankedTensorType::get({int64_t(numbers.size())}, b.getI64Type());
  Value vector = onnx::ConstantOp::create(b, op->getLoc(), DenseElementsAttr::get(type, numbers));
  Operation *made = onnx::createOp(b, op->getLoc(), op->getName().stripDialect(), {op->getOperand(0), vector},
                                   llvm::to_vector(op->getResultTypes()), attributes);
  op->replaceAllUsesWith(made);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Reshape and its special cases
//===----------------------------------------------------------------------===//

namespace {
/// Axes of the input and of the result that hold the same elements.
struct Segment {
  SmallVector<int64_t> in, out;
};
} // namespace

static std::optional<int64_t> product(ArrayRef<Dim> dims, ArrayRef<int64_t> axes) {
  int64_t size = 1;
  for (int64_t axis : axes) {
    std::optional<int64_t> d = constantOf(dims[axis]);
    if (!d || llvm::MulOverflow(size, *d, size))
      return std::nullopt;
  }
  return size;
}

/// Pairs axes from both ends while their sizes are equal; what is between is cut where products are. Axes of size 1
/// are left out.
static SmallVector<Segment> segmentsOf(ArrayRef<Dim> in, ArrayRef<Dim> out) {
  auto axesOf = [](ArrayRef<Dim> dims) {
    SmallVector<int64_t> axes;
    for (auto [i, d] : llvm::enumerate(dims))
      if (!d->isConst(1))
        axes.push_back(i);
    return axes;
  };
  SmallVector<int64_t> inAxes = axesOf(in), outAxes = axesOf(out);
  ArrayRef<int64_t> a = inAxes, b = outAxes;
  SmallVector<Segment> segments;
  while (!a.empty() && !b.empty() && in[a.front()] == out[b.front()]) {
    segments.push_back({{a.front()}, {b.front()}});
    a = a.drop_front();
    b = b.drop_front();
  }
  while (!a.empty() && !b.empty() && in[a.back()] == out[b.back()]) {
    segments.push_back({{a.back()}, {b.back()}});
    a = a.drop_back();
    b = b.drop_back();
  }
  // Where a size is not known, the rest stays one segment.
  Segment open;
  while (!a.empty() || !b.empty()) {
    std::optional<int64_t> x = product(in, open.in), y = product(out, open.out);
    bool growIn = b.empty() || (!a.empty() && x && y && *x <= *y);
    (growIn ? open.in : open.out).push_back(growIn ? a.front() : b.front());
    (growIn ? a : b) = (growIn ? a : b).drop_front();
    x = product(in, open.in), y = product(out, open.out);
    if (x && x == y) {
      segments.push_back(std::move(open));
      open = {};
    }
  }
  if (!open.in.empty() || !open.out.empty())
    segments.push_back(std::move(open));
  return segments;
}

/// The channels of a segment's result: its one axis other than 1, at every position of the merged axes.
static ChannelIds mergedIds(ChannelGraph &graph, Value x, const Segment &segment) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int> merged = {-1};
  for (int64_t axis : segment.in) {
    ChannelIds ids = graph.ids(x, axis);
    SmallVector<int> next;
    for (int before : merged)
      for (int64_t i = 0; i < type.getDimSize(axis); ++i)
        next.push_back(before < 0 && !ids.empty() ? ids[i] : before);
    merged = std::move(next);
  }
  return graph.list(merged);
}

static void reshape(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), result = op->getResult(0);
  if (!graph.isTraced(x))
    return;
  const ShapeInfo &in = graph.table.get(x), &out = graph.table.get(result);
  if (!in.ranked || !out.ranked)
    return stayAll(op, graph, "whose rank is not known");
  Value shape = op->getName().getStringRef() == "onnx.Reshape" ? op->getOperand(1) : Value();
  std::optional<SmallVector<Dim>> entries = shape ? graph.table.elementsOf(shape) : std::nullopt;
  if (shape && !entries)
    return stayAll(op, graph, "whose shape is computed at run time");
  for (const Segment &segment : segmentsOf(in.dims, out.dims)) {
    auto isTraced = [&](int64_t axis) { return !graph.ids(x, axis).empty(); };
    int64_t traced = llvm::count_if(segment.in, isTraced);
    if (!traced)
      continue;
    auto refuse = [&](const Twine &why) {
      for (int64_t axis : segment.in)
        graph.stay(graph.ids(x, axis), "they reach " + describeNode(op) + ", which " + why);
    };
    std::optional<int64_t> size = product(in.dims, segment.in);
    if (traced > 1 || segment.out.size() != 1 || !size || product(out.dims, segment.out) != size) {
      refuse("splits them, or mixes them with positions whose number is not known");
      continue;
    }
    if (*size > kMostPositions) {
      refuse("has too many positions to follow");
      continue;
    }
    int64_t to = segment.out.front();
    ChannelIds ids = segment.in.size() == 1 ? graph.ids(x, segment.in.front()) : mergedIds(graph, x, segment);
    if (shape) {
      Dim entry = (*entries)[to];
      bool copies = entry->isConst(0) && segment.in.size() == 1 && segment.in.front() == to;
      if (auto zero = op->getAttrOfType<IntegerAttr>("allowzero"); zero && zero.getInt())
        copies = false;
      if (!entry->isConst(-1) && !copies) {
        if (!isWritten(shape, to)) {
          refuse("has a shape that is computed at run time");
          continue;
        }
        resizeEntry(op, graph, 1, to, ids);
      }
    }
    graph.set(result, to, ids);
  }
}

/// Without axes it drops all of size 1, which an axis of channels could become.
static void squeeze(Operation *op, ChannelGraph &graph) {
  reshape(op, graph);
  const ShapeInfo &in = graph.table.get(op->getOperand(0));
  if (!graph.isTraced(op->getOperand(0)) || onnx::operand(op, 1) || !in.ranked)
    return;
  SmallVector<int64_t> axes;
  for (auto [i, size] : llvm::enumerate(in.dims))
    if (size->isConst(1))
      axes.push_back(i);
  graph.edit([op, axes](const KeptChannels &) { giveVector(op, axes, {}); });
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void transpose(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  if (rank < 0)
    return;
  auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm");
  for (int64_t i = 0; i < rank; ++i)
    graph.set(op->getResult(0), i, graph.ids(x, perm ? perm[i] : rank - 1 - i));
}

static void concat(Operation *op, ChannelGraph &graph) {
  int64_t rank = rankOf(op->getResult(0));
  if (rank < 0 || llvm::any_of(op->getOperands(), [&](Value v) { return rankOf(v) != rank; }))
    return stayAll(op, graph, "whose rank is not known");
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  axis += axis < 0 ? rank : 0;
  for (int64_t i = 0; i < rank; ++i) {
    SmallVector<std::pair<unsigned, int64_t>> operands;
    for (unsigned n = 0; n < op->getNumOperands(); ++n)
      operands.emplace_back(n, i);
    if (i != axis)
      joinChannels(op, graph, i, operands);
  }
  auto hasIds = [&](Value v) { return !graph.ids(v, axis).empty(); };
  if (llvm::none_of(op->getOperands(), hasIds))
    return;
  SmallVector<int> all;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> size = sizeOf(operand, axis);
    if (!size)
      return stayAll(op, graph, "which joins them with others of unknown number");
    llvm::append_range(all, hasIds(operand) ? graph.ids(operand, axis) : graph.pinned(*size, "they are no layer's"));
  }
  graph.set(op->getResult(0), axis, graph.list(all));
}

static void split(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : 0;
  axis += axis < 0 ? rank : 0;
  ChannelIds ids = graph.ids(x, axis);
  SmallVector<ChannelIds> parts;
  int64_t at = 0;
  for (Value result : op->getResults()) {
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis)
        graph.set(result, i, graph.ids(x, i));
    std::optional<int64_t> size = sizeOf(result, axis);
    if (ids.empty())
      continue;
    if (!size || at + *size > int64_t(ids.size()))
      return graph.stay(x, "they reach " + describeNode(op) + ", whose parts have no known size");
    parts.push_back(ids.slice(at, *size));
    graph.keepSome(parts.back());
    graph.set(result, axis, parts.back());
    at += *size;
  }
  if (ids.empty())
    return;
  graph.edit([op, parts](const KeptChannels &kept) {
    SmallVector<int64_t> sizes;
    for (ChannelIds part : parts)
      sizes.push_back(kept.count(part));
    SmallVector<NamedAttribute> attributes;
    if (Attribute axisAttr = op->getAttr("axis"))
      attributes.push_back({StringAttr::get(op->getContext(), "axis"), axisAttr});
    giveVector(op, sizes, attributes);
  });
}

/// Axes that are averaged or summed have to stay; the others move up.
static void reduce(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  if (rank < 0 || !graph.isTraced(x))
    return;
  auto flag = [&](StringRef name, bool fallback) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() != 0 : fallback;
  };
  Value axesValue = onnx::operand(op, 1);
  std::optional<SmallVector<int64_t>> axes = constants(graph, axesValue);
  if (axesValue && !axes)
    return stayAll(op, graph, "whose axes are computed at run time");
  bool none = (!axes || axes->empty()) && flag("noop_with_empty_axes", false);
  bool everything = (!axes || axes->empty()) && !none;
  bool keep = flag("keepdims", true);
  for (int64_t i = 0, to = 0; i < rank; ++i) {
    bool reduced = everything || (axes && (llvm::is_contained(*axes, i) || llvm::is_contained(*axes, i - rank)));
    if (reduced)
      graph.stay(graph.ids(x, i), "they are added up in " + describeNode(op));
    else
      graph.set(op->getResult(0), to, graph.ids(x, i));
    to += keep || !reduced;
  }
}

/// Only sizes of positions change.
static void resize(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), scales = onnx::operand(op, 2), sizes = onnx::operand(op, 3);
  int64_t rank = rankOf(x);
  if (!graph.isTraced(x))
    return;
  auto mode = op->getAttrOfType<StringAttr>("coordinate_transformation_mode");
  if (mode && mode.getValue() == "tf_crop_and_resize")
    return stayAll(op, graph, "which crops");
  auto given = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  for (int64_t i = 0; i < rank; ++i) {
    ChannelIds ids = graph.ids(x, i);
    if (ids.empty())
      continue;
    int64_t at = i;
    if (given) {
      auto it = llvm::find_if(given.asArrayRef(), [&](int64_t a) { return a == i || a == i - rank; });
      at = it == given.asArrayRef().end() ? -1 : it - given.asArrayRef().begin();
    }
    if (sizes && at >= 0) {
      if (!isWritten(sizes, at)) {
        graph.stay(ids, "they reach " + describeNode(op) + ", whose sizes are computed at run time");
        continue;
      }
      resizeEntry(op, graph, op->getNumOperands() - 1, at, ids);
    }
    if (scales && at >= 0) {
      auto constant = scales.getDefiningOp<onnx::ConstantOp>();
      auto values = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
      if (!values || at >= values.getNumElements() || !(*(values.value_begin<APFloat>() + at)).isExactlyValue(1.0)) {
        graph.stay(ids, "they are resized in " + describeNode(op));
        continue;
      }
    }
    graph.set(op->getResult(0), i, ids);
  }
}

static void pad(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  if (!graph.isTraced(x))
    return;
  std::optional<SmallVector<int64_t>> pads = constants(graph, onnx::operand(op, 1));
  Value axesValue = onnx::operand(op, 3);
  std::optional<SmallVector<int64_t>> axes = constants(graph, axesValue);
  if (!pads || (axesValue && !axes))
    return stayAll(op, graph, "whose pads are computed at run time");
  int64_t count = pads->size() / 2;
  SmallVector<bool> padded(rank, false);
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = axes && i < int64_t(axes->size()) ? (*axes)[i] : i;
    axis += axis < 0 ? rank : 0;
    if (axis >= 0 && axis < rank && ((*pads)[i] || (*pads)[i + count]))
      padded[axis] = true;
  }
  for (int64_t i = 0; i < rank; ++i)
    if (padded[i])
      graph.stay(graph.ids(x, i), "others are put beside them in " + describeNode(op));
    else
      graph.set(op->getResult(0), i, graph.ids(x, i));
}

/// Axes that are not cut pass.
static void slice(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0), axesValue = onnx::operand(op, 3);
  int64_t rank = rankOf(x);
  if (!graph.isTraced(x))
    return;
  std::optional<SmallVector<int64_t>> axes = constants(graph, axesValue);
  std::optional<int64_t> count = sizeOf(op->getOperand(1), 0);
  if (axesValue ? !axes : !count)
    return stayAll(op, graph, "whose axes are computed at run time");
  for (int64_t i = 0; i < rank; ++i) {
    bool isCut = axes ? llvm::is_contained(*axes, i) || llvm::is_contained(*axes, i - rank) : i < *count;
    if (isCut)
      graph.stay(graph.ids(x, i), "they are cut in " + describeNode(op));
    else
      graph.set(op->getResult(0), i, graph.ids(x, i));
  }
}

/// The number of channels may become a number in the graph: unless only sizes of other axes are read.
static void shape(Operation *op, ChannelGraph &graph) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  auto bound = [&](StringRef name, int64_t fallback) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    int64_t v = attr ? attr.getInt() : fallback;
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  for (int64_t i = start; i < end; ++i) {
    if (graph.ids(x, i).empty())
      continue;
    bool isRead = llvm::any_of(op->getResult(0).getUses(), [&](OpOperand &use) {
      if (use.getOwner()->getName().getStringRef() != "onnx.Gather" || use.getOperandNumber() != 0)
        return true;
      std::optional<SmallVector<int64_t>> indices = constants(graph, use.getOwner()->getOperand(1));
      return !indices || llvm::any_of(*indices, [&](int64_t n) { return (n < 0 ? n + end - start : n) == i - start; });
    });
    if (isRead)
      graph.stay(graph.ids(x, i), "their number is read by " + describeNode(op));
  }
}

void optc::addViewRules(llvm::StringMap<ChannelRule> &rules) {
  for (StringRef name : {"Flatten", "Reshape", "Unsqueeze"})
    rules[("onnx." + name).str()] = reshape;
  rules["onnx.Squeeze"] = squeeze;
  for (StringRef name : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
    rules[("onnx." + name).str()] = reduce;
  rules["onnx.Concat"] = concat;
  rules["onnx.Pad"] = pad;
  rules["onnx.Resize"] = resize;
  rules["onnx.Shape"] = shape;
  rules["onnx.Slice"] = slice;
  rules["onnx.Split"] = split;
  rules["onnx.Transpose"] = transpose;
}
