//===- Window.cpp - depthwise convolutions and pooling --------------------===//
//
// A thread computes a vector of channels at a few neighbouring positions, which share the elements that their windows
// have in common:
//
//   acc[c] = start
//   for every element x of the input under the windows, in order:
//     acc[c] = body(x, weights[tap], acc[c])      for every c whose window has x as a tap
//   result[c] = epilogue(acc[c], ...)
//
// Neighbouring threads have neighbouring channels, then positions. A border that memory does not hold (kernel.padded)
// is a test per element. The order of taps per result is that of the plain loops.
//===----------------------------------------------------------------------===//
#include "optc/dialects/kernel/Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/codegen/cuda/Emitters.h"
#include "optc/codegen/cuda/Epilogue.h"
#include "optc/dialects/kernel/Storage.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::NestOperand;
using kernel::WindowAxis;

/// Taps of a window that are written out; the axes in front of those are loops.
static constexpr int64_t kMostTaps = 49;

namespace {
class WindowEmitter {
public:
  WindowEmitter(DeviceBody &body, const EmitOptions &options)
      : body(body), b(body.b), index(body.index), options(options), epilogue(body) {}
  LogicalResult run();

private:
  /// A window of the thread that has the element at hand.
  struct Use {
    int64_t column;
    Value tap; ///< along the axis of the columns
  };

  LogicalResult analyze();
  void emitPositions(Value item);
  SmallVector<Value> visit(size_t axis, Value offset, Value inside, ArrayRef<Use> uses, SmallVector<Value> acc);
  SmallVector<Value> step(size_t axis, Value at, Value offset, Value inside, ArrayRef<Use> uses,
                          SmallVector<Value> acc);
  SmallVector<Value> load(const NestOperand &operand, Value buffer, Value offset, int64_t lanesAtOnce);
  SmallVector<Value> loadInput(Value offset, Value inside);
  SmallVector<Value> loadWeights(const Use &use);
  /// The most elements along the lanes that an access of a tensor can have, whose other dimensions are so far apart.
  int64_t lanesOf(Value tensor, ArrayRef<int64_t> distances) const;
  void store(ArrayRef<Value> acc);

  int64_t tapCount(const WindowAxis &axis) const { return w.nest.sizes[axis.tap].factor; }
  bool isColumns(size_t axis) const { return w.columns && axis == *w.columns; }

  DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
  const EmitOptions &options;
  Epilogue epilogue;
  kernel::CudaWindowBlocks blocks = {};
  kernel::Window w;
  kernel::PaddedOp padded;
  kernel::PackedOp packed;
  Value source, inputBuffer, weightsBuffer, start;
  SmallVector<Value> inputStrides; ///< per dimension
  SmallVector<unsigned> order;     ///< parallel loops in the order of the result
  int64_t inputLanes = 1, weightLanes = 1;
  size_t looped = 0; ///< axes that are loops

  // Of the item at hand.
  llvm::DenseMap<unsigned, Value> position; ///< by parallel loop: the first one
  SmallVector<Value> taps;                  ///< by axis
};
} // namespace

int64_t WindowEmitter::lanesOf(Value tensor, ArrayRef<int64_t> distances) const {
  int64_t bytes = cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth() / 8, lanes = blocks.lanes;
  auto fits = [&] {
    return lanes * bytes <= 16 && kernel::isAligned(tensor, lanes) &&
           llvm::all_of(distances, [&](int64_t distance) { return distance % lanes == 0; });
  };
  while (lanes > 1 && !fits())
    lanes /= 2;
  return lanes;
}

LogicalResult WindowEmitter::analyze() {
  FailureOr<kernel::CudaWindowBlocks> read = body.blocks<kernel::CudaWindowBlocks>();
  if (failed(read))
    return failure();
  blocks = *read;
  SmallVector<linalg::GenericOp> generics = body.generics();
  if (generics.empty())
    return body.refuse("it has no window");
  linalg::GenericOp root = generics.front();
  std::string why;
  FailureOr<kernel::Window> match = kernel::matchWindow(root, &why);
  if (failed(match))
    return body.refuse(why);
  w = std::move(*match);
  if (w.nest.sizes[w.lane].factor % blocks.lanes)
    return body.refuse("its channels are no multiple of the vectors'");
  if (blocks.columns > 1 && (!w.columns || w.nest.sizes[w.axes[*w.columns].out].factor % blocks.columns))
    return body.refuse("its positions are no multiple of those of a thread");
  if (failed(epilogue.collect(w.nest, w.lane, options.contract, /*indices=*/true)))
    return failure();
  source = w.inputOperand().tensor;
  padded = source.getDefiningOp<kernel::PaddedOp>();
  if (padded)
    source = padded.getSource();
  inputBuffer = body.flat(source);
  if (!inputBuffer)
    return body.refuse("its input has no buffer");
  Value stride = index.c(1);
  SmallVector<int64_t> stored = kernel::storedShape(source), distances; // without factors that only a run knows
  AffineMap map = root.getMatchingIndexingMap(&root->getOpOperand(w.input));
  int64_t distance = 1;
  inputStrides.resize(stored.size());
  for (unsigned d = stored.size(); d-- > 0;) {
    inputStrides[d] = stride;
    if (map.getResult(d) != getAffineDimExpr(w.lane, root.getContext()))
      distances.push_back(distance);
    stride = index.mul(stride, body.storedDim(source, d));
    distance *= ShapedType::isDynamic(stored[d]) ? 1 : stored[d];
  }
  inputLanes = lanesOf(source, distances);
  if (w.weights) {
    packed = w.weightsOperand().tensor.getDefiningOp<kernel::PackedOp>();
    weightsBuffer = body.flat(w.weightsOperand().tensor);
    if (!weightsBuffer)
      return body.refuse("its weights have no buffer");
    const NestOperand &weights = w.weightsOperand();
    SmallVector<int64_t> apart;
    for (auto [loop, walked] : llvm::enumerate(weights.strides))
      if (loop != w.lane && !packed)
        apart.push_back(walked.factor);
    weightLanes = packed || weights.strides[w.lane].is(1) ? lanesOf(weights.tensor, apart) : 1;
  }
  start = root.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  for (AffineExpr expr : root.getIndexingMapsArray().back().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  int64_t written = 1;
  looped = w.axes.size();
  while (looped > 0 && written * tapCount(w.axes[looped - 1]) <= kMostTaps)
    written *= tapCount(w.axes[--looped]);
  if (w.columns && *w.columns < looped && blocks.columns > 1)
    return body.refuse("it has too many taps for several positions at once");
  if (options.contract)
    codegen::allowContraction({root});
  return success();
}

SmallVector<Value> WindowEmitter::load(const NestOperand &operand, Value buffer, Value offset, int64_t lanesAtOnce) {
  SmallVector<Value> values;
  Value step = operand.strides[w.lane].is(1) ? Value() : body.size(operand.strides[w.lane]);
  for (int64_t lane = 0; lane < blocks.lanes; lane += lanesAtOnce) {
    Value away = step ? index.mul(step, index.c(lane)) : index.c(lane);
    llvm::append_range(values, body.loadVector(buffer, index.add(offset, away), lanesAtOnce));
  }
  return values;
}

SmallVector<Value> WindowEmitter::loadInput(Value offset, Value inside) {
  if (!inside)
    return load(w.inputOperand(), inputBuffer, offset, inputLanes);
  SmallVector<Type> types(blocks.lanes, cast<MemRefType>(inputBuffer.getType()).getElementType());
  auto branch = scf::IfOp::create(b, types, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, load(w.inputOperand(), inputBuffer, offset, inputLanes));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, SmallVector<Value>(blocks.lanes, padded.getFill()));
  return branch.getResults();
}

SmallVector<Value> WindowEmitter::loadWeights(const Use &use) {
  const NestOperand &weights = w.weightsOperand();
  Value offset = index.c(0);
  auto tapAt = [&](size_t axis) { return isColumns(axis) ? use.tap : taps[axis]; };
  if (packed) { // [outer..., 1, taps..., lanes]
    for (unsigned loop : w.outer)
      if (weights.moves(loop))
        offset = index.add(index.mul(offset, body.size(w.nest.sizes[loop])), position[loop]);
    for (auto [i, axis] : llvm::enumerate(w.axes))
      if (weights.moves(axis.tap))
        offset = index.add(index.mul(offset, index.c(tapCount(axis))), tapAt(i));
    offset = index.mul(offset, index.c(w.nest.sizes[w.lane].factor));
    offset = index.add(offset, position[w.lane]);
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < blocks.lanes; lane += weightLanes)
      llvm::append_range(values, body.loadVector(weightsBuffer, index.add(offset, index.c(lane)), weightLanes));
    return values;
  }
  for (unsigned loop : w.outer)
    if (weights.moves(loop))
      offset = index.add(offset, index.mul(position[loop], body.size(weights.strides[loop])));
  for (auto [i, axis] : llvm::enumerate(w.axes))
    if (weights.moves(axis.tap))
      offset = index.add(offset, index.mul(tapAt(i), body.size(weights.strides[axis.tap])));
  if (!weights.moves(w.lane))
    return SmallVector<Value>(blocks.lanes, memref::LoadOp::create(b, weightsBuffer, offset));
  offset = index.add(offset, index.mul(position[w.lane], body.size(weights.strides[w.lane])));
  return load(weights, weightsBuffer, offset, weightLanes);
}

/// The elements at `at` steps of an axis' dilation behind the first window, for `uses`.
SmallVector<Value> WindowEmitter::step(size_t axis, Value at, Value offset, Value inside, ArrayRef<Use> uses,
                                       SmallVector<Value> acc) {
  const WindowAxis &a = w.axes[axis];
  Value place = index.add(index.mul(position[a.out], index.c(a.stride)), at);
  if (padded) {
    place = index.sub(place, padded.getLow()[a.dim]);
    // What lies in front is a large number without a sign.
    Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, padded.getSizes()[a.dim]);
    inside = inside ? arith::AndIOp::create(b, inside, here).getResult() : here;
  }
  offset = index.add(offset, index.mul(place, inputStrides[a.dim]));
  return visit(axis + 1, offset, inside, uses, std::move(acc));
}

SmallVector<Value> WindowEmitter::visit(size_t axis, Value offset, Value inside, ArrayRef<Use> uses,
                                        SmallVector<Value> acc) {
  if (axis == w.axes.size()) {
    SmallVector<Value> x = loadInput(offset, inside);
    for (const Use &use : uses) {
      SmallVector<Value> weights = w.weights ? loadWeights(use) : SmallVector<Value>();
      for (int64_t lane = 0; lane < blocks.lanes; ++lane) {
        Value &sum = acc[use.column * blocks.lanes + lane];
        SmallVector<Value> args(w.nest.op->getNumOperands(), x[lane]); // those that only have a size are not read
        args.back() = sum;
        if (w.weights)
          args[*w.weights] = weights[lane];
        sum = codegen::cloneBody(b, *w.nest.op.getBody(), args)[0];
      }
    }
    return acc;
  }
  const WindowAxis &a = w.axes[axis];
  if (axis < looped) {
    auto loop = scf::ForOp::create(b, index.c(0), index.c(tapCount(a)), index.c(1), acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    taps[axis] = loop.getInductionVar();
    Use one{0, loop.getInductionVar()};
    SmallVector<Value> next =
        step(axis, index.mul(loop.getInductionVar(), index.c(a.dilation)), offset, inside,
             isColumns(axis) ? ArrayRef<Use>(one) : uses, SmallVector<Value>(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, next);
    return loop.getResults();
  }
  if (!isColumns(axis)) {
    for (int64_t tap = 0; tap < tapCount(a); ++tap) {
      taps[axis] = index.c(tap);
      acc = step(axis, index.c(tap * a.dilation), offset, inside, uses, std::move(acc));
    }
    return acc;
  }
  int64_t reach = (blocks.columns - 1) * a.stride + (tapCount(a) - 1) * a.dilation;
  for (int64_t at = 0; at <= reach; ++at) {
    SmallVector<Use> own;
    for (int64_t column = 0; column < blocks.columns; ++column) {
      int64_t away = at - column * a.stride, tap = away / a.dilation;
      if (away >= 0 && away % a.dilation == 0 && tap < tapCount(a))
        own.push_back({column, index.c(tap)});
    }
    if (!own.empty())
      acc = step(axis, index.c(at), offset, inside, own, std::move(acc));
  }
  return acc;
}

void WindowEmitter::store(ArrayRef<Value> acc) {
  int64_t lanes = blocks.lanes;
  while (lanes > 1 && !epilogue.allowsVectors(lanes))
    lanes /= 2;
  for (int64_t column = 0; column < blocks.columns; ++column)
    for (int64_t lane = 0; lane < blocks.lanes; lane += lanes) {
      auto positionOf = [&](unsigned loop) {
        bool along = w.columns && loop == w.axes[*w.columns].out;
        return index.add(position[loop], index.c(along ? column : loop == w.lane ? lane : 0));
      };
      epilogue.store(
          acc.slice(column * blocks.lanes + lane, lanes),
          [&](const NestOperand &operand) {
            Value offset = index.c(0);
            for (unsigned loop : order)
              if (operand.moves(loop))
                offset = index.add(offset, index.mul(positionOf(loop), body.size(operand.strides[loop])));
            return offset;
          },
          positionOf);
    }
}

void WindowEmitter::emitPositions(Value item) {
  SmallVector<Value> counts;
  SmallVector<int64_t> steps;
  for (unsigned loop : order) {
    bool along = w.columns && loop == w.axes[*w.columns].out;
    steps.push_back(loop == w.lane ? blocks.lanes : along ? blocks.columns : 1);
    counts.push_back(index.div(body.size(w.nest.sizes[loop]), index.c(steps.back())));
  }
  for (auto [loop, at, stepSize] : llvm::zip(order, body.unflatten(item, counts), steps))
    position[loop] = index.mul(at, index.c(stepSize));
  // What does not depend on the axes: the other dimensions of the input, and the lanes.
  Value offset = index.c(0);
  AffineMap map = w.nest.op.getMatchingIndexingMap(&w.nest.op->getOpOperand(w.input));
  for (auto [d, expr] : llvm::enumerate(map.getResults()))
    if (auto plain = dyn_cast<AffineDimExpr>(expr); plain && position.contains(plain.getPosition()))
      offset = index.add(offset, index.mul(position[plain.getPosition()], inputStrides[d]));
  taps.assign(w.axes.size(), index.c(0));
  SmallVector<Use> uses = {{0, index.c(0)}};
  store(visit(0, offset, Value(), uses, SmallVector<Value>(blocks.lanes * blocks.columns, start)));
}

LogicalResult WindowEmitter::run() {
  if (failed(analyze()))
    return failure();
  SmallVector<Value> counts;
  for (unsigned loop : order)
    counts.push_back(body.size(w.nest.sizes[loop]));
  Value items = index.div(body.product(counts), index.c(blocks.lanes * blocks.columns));
  body.forElements(items, 1, [&](Value item) { emitPositions(item); });
  body.finish();
  return failure(body.broken);
}

LogicalResult cuda::emitWindow(DeviceBody &body, const EmitOptions &options) {
  return WindowEmitter(body, options).run();
}
