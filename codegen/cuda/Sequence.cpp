//===- Sequence.cpp - loops that write element after element --------------===//
//
// Scatters, scans, recurrences, concatenations: plain loops on buffers, as the CPU has them. Loops whose iterations
// touch different elements are shared by the threads; what lies around them goes in order, each thread computing the
// same scalars, and one of them storing what is stored outside of such loops:
//
//   for t: (in order)                                   for t:
//     for i, j: h[t, i, j] = ...       becomes            for n = thread; n < I * J; n += threads: h[t, n / J, n % J] =
//     ... c = h[t, 0, 0] ...                                  barrier
//                                                         c = h[t, 0, 0] ...
//
// One block does all of it, unless nothing has to wait: then the loops are for all blocks.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "optc/codegen/common/Loops.h"
#include "optc/codegen/cuda/Emitters.h"

using namespace mlir;
using namespace optc;

namespace {
/// Loops around each other, whose iterations are independent.
struct Nest {
  SmallVector<scf::ForOp> loops;
  SetVector<Value> written, read; ///< buffers
};

class Distributor {
public:
  explicit Distributor(cuda::DeviceBody &body) : body(body), b(body.b), index(body.index) {}
  void run(Block &block, Block::iterator from);

private:
  bool isIndependent(scf::ForOp nest, Value iv) const;
  Nest nestOf(scf::ForOp loop) const;
  bool waitsForNothing(Block &block, Block::iterator from) const;
  void distribute(Nest nest, Value first, Value step);
  void inOrder(Block &block, Block::iterator from);
  void barrierBefore(Operation *op) {
    b.setInsertionPoint(op);
    body.barrier();
  }
  void barrierAfter(Operation *op) {
    b.setInsertionPointAfter(op);
    body.barrier();
  }

  cuda::DeviceBody &body;
  ImplicitLocOpBuilder &b;
  codegen::IndexEmitter index;
};
} // namespace

/// The buffer behind casts.
static Value bufferOf(Value memref) {
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  return memref;
}

static bool writes(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<memref::StoreOp, memref::CopyOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// iv, or iv and something that `nest` does not change: null and the latter. Fails on everything else.
static FailureOr<Value> shiftOf(Value position, Value iv, scf::ForOp nest) {
  if (position == iv)
    return Value();
  auto sum = position.getDefiningOp<arith::AddIOp>();
  if (!sum || (sum.getLhs() != iv && sum.getRhs() != iv))
    return failure();
  Value shift = sum.getLhs() == iv ? sum.getRhs() : sum.getLhs();
  if (shift == iv || !nest.isDefinedOutsideOfLoop(shift))
    return failure();
  return shift;
}

/// Whether iterations of one loop of a nest touch different elements of every buffer that the nest writes: all accesses
/// have its index, moved by the same distance, in the same dimension.
bool Distributor::isIndependent(scf::ForOp nest, Value iv) const {
  llvm::MapVector<Value, SmallVector<SmallVector<Value>>> accesses;
  SetVector<Value> written;
  bool known = true;
  nest.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      written.insert(bufferOf(store.getMemRef()));
      accesses[bufferOf(store.getMemRef())].push_back(llvm::to_vector(store.getIndices()));
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      accesses[bufferOf(load.getMemRef())].push_back(llvm::to_vector(load.getIndices()));
    } else if (!isMemoryEffectFree(op) && op->getNumRegions() == 0) {
      known = false; // copies, allocations
    }
  });
  // Only whole buffers are known not to be parts of each other.
  for (auto &[buffer, all] : accesses)
    known &= isa_and_present<kernel::BindOp, UnrealizedConversionCastOp>(buffer.getDefiningOp());
  if (!known)
    return false;
  return llvm::all_of(written, [&](Value buffer) {
    int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
    for (int64_t d = 0; d < rank; ++d) {
      std::optional<Value> shift;
      bool same = llvm::all_of(accesses[buffer], [&](ArrayRef<Value> indices) {
        FailureOr<Value> here = shiftOf(indices[d], iv, nest);
        if (failed(here) || (shift && *shift != *here))
          return false;
        shift = *here;
        return true;
      });
      if (same)
        return true;
    }
    return false;
  });
}

/// The loops around each other, from `loop` inwards, that threads can share.
Nest Distributor::nestOf(scf::ForOp loop) const {
  Nest nest;
  for (scf::ForOp at = loop; at;) {
    bool bounded = nest.loops.empty() || llvm::all_of(ValueRange{at.getLowerBound(), at.getUpperBound(), at.getStep()},
                                                      [&](Value v) { return loop.isDefinedOutsideOfLoop(v); });
    if (at.getNumResults() || !bounded || !isIndependent(loop, at.getInductionVar()))
      break;
    nest.loops.push_back(at);
    // The next one is all that this loop does, but for scalars.
    scf::ForOp inner;
    bool alone = true;
    for (Operation &op : at.getBody()->without_terminator()) {
      if (auto next = dyn_cast<scf::ForOp>(op); next && !inner)
        inner = next;
      else
        alone &= isPure(&op);
    }
    at = alone ? inner : scf::ForOp();
  }
  loop.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      nest.written.insert(bufferOf(store.getMemRef()));
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      nest.read.insert(bufferOf(load.getMemRef()));
  });
  return nest;
}

/// The part of a dimension that a nest stores to: one loop's range, moved by a constant. None when it is another one.
static std::optional<std::pair<int64_t, int64_t>> storedRange(const Nest &nest, Value buffer, int64_t dim) {
  std::optional<std::pair<int64_t, int64_t>> range;
  bool known = true;
  nest.loops.front()->walk([&](memref::StoreOp store) {
    if (bufferOf(store.getMemRef()) != buffer)
      return;
    bool found = false;
    for (scf::ForOp loop : nest.loops) {
      FailureOr<Value> shift = shiftOf(store.getIndices()[dim], loop.getInductionVar(), nest.loops.front());
      std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound()),
                             high = getConstantIntValue(loop.getUpperBound()), by = 0;
      if (succeeded(shift) && *shift)
        by = getConstantIntValue(*shift);
      if (failed(shift) || !low || !high || !by)
        continue;
      std::pair<int64_t, int64_t> here(*low + *by, *high + *by);
      found = !range || *range == here;
      range = here;
    }
    known &= found;
  });
  return known ? range : std::nullopt;
}

/// Whether two nests that both store to a buffer store to different parts of it.
static bool areDisjoint(const Nest &x, const Nest &y, Value buffer) {
  for (int64_t d = 0, rank = cast<MemRefType>(buffer.getType()).getRank(); d < rank; ++d) {
    auto here = storedRange(x, buffer, d), there = storedRange(y, buffer, d);
    if (here && there && (here->second <= there->first || there->second <= here->first))
      return true;
  }
  return false;
}

/// Whether the block is independent nests, none of which touches what another one writes.
bool Distributor::waitsForNothing(Block &block, Block::iterator from) const {
  SmallVector<Nest> nests;
  for (Operation &op : llvm::make_range(from, block.getTerminator()->getIterator())) {
    if (isPure(&op))
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    Nest nest = loop ? nestOf(loop) : Nest();
    if (nest.loops.empty())
      return false;
    auto reads = [](const Nest &one, const Nest &other) {
      return llvm::any_of(one.read, [&](Value buffer) { return other.written.contains(buffer); });
    };
    for (const Nest &other : nests) {
      if (reads(nest, other) || reads(other, nest))
        return false;
      for (Value buffer : nest.written)
        if (other.written.contains(buffer) && !areDisjoint(nest, other, buffer))
          return false;
    }
    nests.push_back(std::move(nest));
  }
  return true;
}

/// One loop over all iterations of a nest, `step` apart from `first` on.
void Distributor::distribute(Nest nest, Value first, Value step) {
  scf::ForOp outer = nest.loops.front(), inner = nest.loops.back();
  b.setInsertionPoint(outer);
  SmallVector<Value> counts;
  for (scf::ForOp loop : nest.loops) {
    Value span = index.sub(loop.getUpperBound(), loop.getLowerBound());
    Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, span, index.c(0));
    span = arith::SelectOp::create(b, none, index.c(0), span);
    counts.push_back(index.div(index.add(span, index.sub(loop.getStep(), index.c(1))), loop.getStep()));
  }
  auto all = scf::ForOp::create(b, first, body.product(counts), step);
  b.setInsertionPointToStart(all.getBody());
  SmallVector<Value> numbers = body.unflatten(all.getInductionVar(), counts);
  Operation *end = all.getBody()->getTerminator();
  for (auto [loop, number] : llvm::zip(nest.loops, numbers)) {
    b.setInsertionPoint(end);
    Value iv = index.add(loop.getLowerBound(), index.mul(number, loop.getStep()));
    loop.getInductionVar().replaceAllUsesWith(iv);
    for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      if (loop == inner || !isa<scf::ForOp>(op))
        op.moveBefore(end);
  }
  outer.erase();
}

/// All threads of the block go through it together.
void Distributor::inOrder(Block &block, Block::iterator from) {
  SmallVector<Operation *> ops = llvm::map_to_vector(llvm::make_range(from, block.getTerminator()->getIterator()),
                                                     [](Operation &op) { return &op; });
  for (Operation *op : ops) {
    if (!writes(op))
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    Nest nest = loop ? nestOf(loop) : Nest();
    if (!nest.loops.empty()) {
      barrierAfter(op);
      barrierBefore(op);
      distribute(nest, body.thread, index.c(body.threads));
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          inOrder(inner, inner.begin());
    } else {
      barrierBefore(op);
      barrierAfter(op);
      b.setInsertionPoint(op);
      Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.thread, index.c(0));
      auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
      op->moveBefore(branch.thenBlock()->getTerminator());
    }
  }
}

void Distributor::run(Block &block, Block::iterator from) {
  if (waitsForNothing(block, from)) {
    b.setInsertionPoint(&block, from);
    Value first = index.add(index.mul(body.block, index.c(body.threads)), body.thread);
    Value step = index.mul(body.tiles.step, index.c(body.threads));
    for (Operation &op : llvm::make_early_inc_range(llvm::make_range(from, block.getTerminator()->getIterator())))
      if (auto loop = dyn_cast<scf::ForOp>(op))
        distribute(nestOf(loop), first, step);
    return;
  }
  b.setInsertionPoint(&block, from);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.block, index.c(0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->begin(), block.getOperations(), from, block.getTerminator()->getIterator());
  inOrder(*then, then->begin());
}

/// Temporaries that threads share move to shared memory.
static LogicalResult placeTemporaries(cuda::DeviceBody &body) {
  SmallVector<memref::AllocaOp> places;
  body.func.walk([&](memref::AllocaOp op) { places.push_back(op); });
  for (memref::AllocaOp op : places) {
    MemRefType type = op.getType();
    Type elem = type.getElementType().isIndex() ? Type(body.b.getI64Type()) : type.getElementType();
    if (!elem.isIntOrFloat() || elem != type.getElementType())
      return op.emitError("kernel '") << body.func.getName() << "' needs a temporary of type " << type
                                      << ", which shared memory cannot hold";
    // The same place, in the shape of the temporary.
    Value flat = body.shared(elem, type.getNumElements());
    flat.setType(MemRefType::get(type.getShape(), elem, MemRefLayoutAttrInterface(), body.b.getI64IntegerAttr(3)));
    op.replaceAllUsesWith(flat);
    op.erase();
  }
  return success();
}

LogicalResult cuda::emitSequence(DeviceBody &body, const EmitOptions &options) {
  if (failed(codegen::lowerToLoops(body.func, options.optLevel, kernel::TileGroup{})))
    return failure();
  // Loops that carry a buffer carry nothing.
  MLIRContext *context = body.func.getContext();
  RewritePatternSet patterns(context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  scf::IfOp::getCanonicalizationPatterns(patterns, context);
  scf::WhileOp::getCanonicalizationPatterns(patterns, context);
  memref::CastOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(body.func, std::move(patterns))))
    return failure();
  body.func.walk([](memref::CopyOp copy) {
    if (bufferOf(copy.getSource()) == bufferOf(copy.getTarget()))
      copy.erase();
  });
  body.bindThread(); // nothing used it so far
  if (failed(placeTemporaries(body)))
    return failure();
  Block &entry = body.func.getBody().front();
  auto from = llvm::find_if(entry, [](Operation &op) { return !isPure(&op); });
  Distributor(body).run(entry, from);
  body.note();
  return success();
}
