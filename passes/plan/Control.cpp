//===- Control.cpp - control flow of the host program ---------------------===//
//
// scf.if, scf.for and scf.while carry addresses and run-time sizes instead of tensors. A tensor of static size that a
// loop carries lives in one buffer, its home, that every iteration's result is copied into; a run-time value in one
// descriptor, its slot. Other tensors are where their iteration made them: at its end the memory of the iteration goes,
// and what is carried moves down to where the memory in use on entry ended.
//===----------------------------------------------------------------------===//
#include "optc/passes/plan/Planner.h"

using namespace mlir;
using namespace optc;

LogicalResult Planner::convertIf(scf::IfOp op) {
  Location loc = op.getLoc();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    appendCarriedTypes(type, types);
  auto made = scf::IfOp::create(b, loc, types, scalars.lookupOrDefault(op.getCondition()), /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  SmallVector<SmallVector<int>> roots(op.getNumResults());
  for (auto [region, target] :
       {std::pair(&op.getThenRegion(), made.thenBlock()), std::pair(&op.getElseRegion(), made.elseBlock())}) {
    if (!target->empty())
      target->back().erase();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(target);
    SmallVector<Value> yielded;
    if (!region->empty()) {
      if (failed(convertBlock(region->front())))
        return failure();
      ++position;
      for (auto [i, value] : llvm::enumerate(region->front().getTerminator()->getOperands())) {
        appendCarried(loc, value, yielded);
        if (auto it = buffers.find(value); it != buffers.end())
          llvm::append_range(roots[i], it->second.roots);
      }
    }
    scf::YieldOp::create(b, loc, yielded);
  }
  ValueRange rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    rest = rest.drop_front(takeCarried(result, rest, roots[i]));
  return success();
}

CarriedByLoop Planner::enterLoop(Location loc, ValueRange inits, SmallVectorImpl<Value> &out) {
  CarriedByLoop loop;
  loop.homes.resize(inits.size());
  loop.slots.resize(inits.size());
  for (auto [i, init] : llvm::enumerate(inits)) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    if (type && type.hasStaticShape()) {
      Buffer home = allocate(loc, type, allDims(type, {}));
      kernel::CopyOp::create(b, loc, home.ptr, buffer(init).ptr, numBytes(loc, type, home.dims));
      out.push_back(home.ptr);
      loop.homes[i] = std::move(home);
    } else if (isa<kernel::ValueType>(init.getType())) {
      loop.slots[i] = emptyDescriptor(loc);
      kernel::CopyDescriptorOp::create(b, loc, loop.slots[i], descriptors.lookup(init));
      out.push_back(loop.slots[i]);
    } else {
      appendCarried(loc, init, out);
      if (type)
        llvm::append_range(loop.roots, buffer(init).roots);
    }
  }
  loop.mark = kernel::MarkOp::create(b, loc, b.getIndexType());
  loop.begin = position;
  return loop;
}

void Planner::yieldDescriptors(Location loc, ValueRange yielded, const CarriedByLoop &loop) {
  // Through copies, since what is yielded may be the slot of another value.
  SmallVector<std::pair<Value, Value>> copies; // slot, copy
  for (auto [value, slot] : llvm::zip(yielded, loop.slots))
    if (slot) {
      Value copy = emptyDescriptor(loc);
      kernel::CopyDescriptorOp::create(b, loc, copy, descriptors.lookup(value));
      copies.push_back({slot, copy});
    }
  for (auto [slot, copy] : copies)
    kernel::CopyDescriptorOp::create(b, loc, slot, copy);
}

/// Whether a region takes memory from the stack of the run.
static bool takesRunMemory(Operation *loop) {
  return loop
      ->walk([](Operation *op) {
        return isa<kernel::AllocOp, kernel::CallLibraryOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void Planner::yieldToLoop(Location loc, ValueRange yielded, CarriedByLoop &loop, Operation *made,
                          SmallVectorImpl<Value> &out) {
  // A value that lies in the home of another one would be overwritten before it is read, and the next iteration writes
  // the buffers of this one: move those aside first.
  SmallVector<Value> sources(yielded.size());
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    Buffer source = buffer(value);
    sources[i] = source.ptr;
    bool isOverwritten = false;
    for (int root : source.roots) {
      for (size_t j = 0; j < loop.homes.size(); ++j)
        isOverwritten |= loop.homes[j] && j != i && llvm::is_contained(loop.homes[j]->roots, root);
      isOverwritten |= !loop.homes[i] && arena.madeAt(root) > loop.begin && arena.isStatic(root);
      if (!loop.homes[i] && arena.madeAt(root) <= loop.begin)
        loop.roots.push_back(root);
    }
    if (isOverwritten) {
      Buffer aside = allocate(loc, type, source.dims);
      kernel::CopyOp::create(b, loc, aside.ptr, sources[i], numBytes(loc, type, source.dims));
      sources[i] = aside.ptr;
    }
  }
  yieldDescriptors(loc, yielded, loop);

  SmallVector<Value> kept, keptBytes, slots;
  SmallVector<size_t> keptAt; // in `out`
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (loop.slots[i]) {
      slots.push_back(loop.slots[i]);
      out.push_back(loop.slots[i]);
    } else if (!type) {
      appendCarried(loc, value, out);
    } else if (loop.homes[i]) {
      for (int root : loop.homes[i]->roots)
        arena.touch(root, position);
      kernel::CopyOp::create(b, loc, loop.homes[i]->ptr, sources[i], numBytes(loc, type, loop.homes[i]->dims));
      out.push_back(loop.homes[i]->ptr);
    } else {
      kept.push_back(sources[i]);
      keptBytes.push_back(numBytes(loc, type, buffer(value).dims));
      keptAt.push_back(out.size());
      out.push_back(sources[i]);
      llvm::append_range(out, dynamicDims(type, buffer(value)));
    }
  }
  if (!takesRunMemory(made)) {
    loop.mark.getDefiningOp()->erase();
    return;
  }
  auto release =
      kernel::ReleaseOp::create(b, loc, SmallVector<Type>(kept.size(), ptrType), loop.mark, kept, keptBytes, slots);
  for (auto [at, moved] : llvm::zip(keptAt, release.getMoved()))
    out[at] = moved;
}

LogicalResult Planner::convertFor(scf::ForOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  CarriedByLoop loop = enterLoop(loc, op.getInitArgs(), inits);
  auto made =
      scf::ForOp::create(b, loc, scalars.lookupOrDefault(op.getLowerBound()),
                         scalars.lookupOrDefault(op.getUpperBound()), scalars.lookupOrDefault(op.getStep()), inits);
  Block *target = made.getBody();
  if (!target->empty())
    target->back().erase();
  scalars.map(op.getInductionVar(), made.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(target);
    ValueRange rest = made.getRegionIterArgs();
    for (auto [i, arg] : llvm::enumerate(op.getRegionIterArgs()))
      rest = rest.drop_front(takeCarried(arg, rest, loop.rootsOf(i)));
    if (failed(convertBlock(*op.getBody())))
      return failure();
    ++position;
    SmallVector<Value> yielded;
    yieldToLoop(loc, op.getBody()->getTerminator()->getOperands(), loop, made, yielded);
    scf::YieldOp::create(b, loc, yielded);
  }
  arena.extendOverLoop(loop.begin, ++position);
  ValueRange rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    rest = rest.drop_front(takeCarried(result, rest, loop.rootsOf(i)));
  return success();
}

LogicalResult Planner::convertWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  CarriedByLoop loop = enterLoop(loc, op.getInits(), inits);
  SmallVector<Type> resultTypes;
  for (Type type : op.getResultTypes())
    appendCarriedTypes(type, resultTypes);
  auto made = scf::WhileOp::create(b, loc, resultTypes, inits);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> initTypes;
  for (Value init : inits)
    initTypes.push_back(init.getType());
  Block *before = b.createBlock(&made.getBefore(), {}, initTypes, SmallVector<Location>(initTypes.size(), loc));
  ValueRange rest = before->getArguments();
  for (auto [i, arg] : llvm::enumerate(op.getBeforeArguments()))
    rest = rest.drop_front(takeCarried(arg, rest, loop.rootsOf(i)));
  if (failed(convertBlock(*op.getBeforeBody())))
    return failure();
  ++position;
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  SmallVector<Value> forwarded;
  SmallVector<SmallVector<int>> roots;
  for (Value value : condition.getArgs()) {
    appendCarried(loc, value, forwarded);
    auto it = buffers.find(value);
    roots.push_back(it == buffers.end() ? SmallVector<int>() : it->second.roots);
  }
  scf::ConditionOp::create(b, loc, scalars.lookupOrDefault(condition.getCondition()), forwarded);

  Block *after = b.createBlock(&made.getAfter(), {}, resultTypes, SmallVector<Location>(resultTypes.size(), loc));
  rest = after->getArguments();
  for (auto [i, arg] : llvm::enumerate(op.getAfterArguments()))
    rest = rest.drop_front(takeCarried(arg, rest, roots[i]));
  if (failed(convertBlock(*op.getAfterBody())))
    return failure();
  ++position;
  SmallVector<Value> yielded;
  yieldToLoop(loc, op.getAfterBody()->getTerminator()->getOperands(), loop, made, yielded);
  scf::YieldOp::create(b, loc, yielded);
  arena.extendOverLoop(loop.begin, ++position);
  b.setInsertionPointAfter(made);
  rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && !type.hasStaticShape())
      llvm::append_range(roots[i], loop.roots); // whatever the last iteration passed on
    rest = rest.drop_front(takeCarried(result, rest, roots[i]));
  }
  return success();
}
