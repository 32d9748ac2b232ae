//===- Control.cpp - control flow of the host program ---------------------===//
//
// scf.if, scf.for and scf.while carry addresses and run-time sizes instead of tensors.
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
  SmallVector<bool> dynamic(op.getNumResults(), true);
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
        if (auto it = buffers.find(value); it != buffers.end()) {
          llvm::append_range(roots[i], it->second.roots);
          dynamic[i] = dynamic[i] && it->second.dynamic;
        }
      }
    }
    scf::YieldOp::create(b, loc, yielded);
  }
  ValueRange rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    rest = rest.drop_front(takeCarried(result, rest, roots[i], dynamic[i]));
  return success();
}

SmallVector<std::optional<Buffer>> Planner::enterLoop(Location loc, ValueRange inits, SmallVectorImpl<Value> &out) {
  SmallVector<std::optional<Buffer>> homes;
  for (Value init : inits) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    if (!type || !type.hasStaticShape()) {
      appendCarried(loc, init, out);
      homes.emplace_back();
      continue;
    }
    Buffer home = allocate(loc, type, allDims(type, {}));
    kernel::CopyOp::create(b, loc, home.ptr, buffer(init).ptr, numBytes(loc, type, home.dims));
    out.push_back(home.ptr);
    homes.push_back(std::move(home));
  }
  return homes;
}

void Planner::yieldToLoop(Location loc, ValueRange yielded, ArrayRef<std::optional<Buffer>> homes,
                          SmallVectorImpl<Value> &out) {
  // A value that lies in the home of another one would be overwritten before it is read: move those aside first.
  SmallVector<Value> sources(yielded.size());
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    Buffer &source = buffer(value);
    sources[i] = source.ptr;
    bool inAnotherHome = false;
    for (size_t j = 0; j < homes.size(); ++j)
      for (int root : source.roots)
        inAnotherHome |= homes[j] && j != i && llvm::is_contained(homes[j]->roots, root);
    bool staysStatic = !homes[i] && !source.dynamic;
    if (inAnotherHome || staysStatic) {
      Value bytes = numBytes(loc, type, source.dims);
      Value aside =
          homes[i] ? allocate(loc, type, source.dims).ptr : kernel::AllocOp::create(b, loc, ptrType, bytes).getResult();
      kernel::CopyOp::create(b, loc, aside, sources[i], bytes);
      sources[i] = aside;
    }
  }
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      appendCarried(loc, value, out);
    } else if (homes[i]) {
      for (int root : homes[i]->roots)
        arena.touch(root, position);
      kernel::CopyOp::create(b, loc, homes[i]->ptr, sources[i], numBytes(loc, type, homes[i]->dims));
      out.push_back(homes[i]->ptr);
    } else {
      out.push_back(sources[i]);
      llvm::append_range(out, dynamicDims(type, buffer(value)));
    }
  }
}

LogicalResult Planner::convertFor(scf::ForOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  auto homes = enterLoop(loc, op.getInitArgs(), inits);
  int64_t begin = position;
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
      rest = rest.drop_front(
          takeCarried(arg, rest, homes[i] ? ArrayRef<int>(homes[i]->roots) : ArrayRef<int>(), !homes[i]));
    if (failed(convertBlock(*op.getBody())))
      return failure();
    ++position;
    SmallVector<Value> yielded;
    yieldToLoop(loc, op.getBody()->getTerminator()->getOperands(), homes, yielded);
    scf::YieldOp::create(b, loc, yielded);
  }
  arena.extendOverLoop(begin, ++position);
  ValueRange rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    rest = rest.drop_front(
        takeCarried(result, rest, homes[i] ? ArrayRef<int>(homes[i]->roots) : ArrayRef<int>(), !homes[i]));
  return success();
}

LogicalResult Planner::convertWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  auto homes = enterLoop(loc, op.getInits(), inits);
  int64_t begin = position;
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
    rest =
        rest.drop_front(takeCarried(arg, rest, homes[i] ? ArrayRef<int>(homes[i]->roots) : ArrayRef<int>(), !homes[i]));
  if (failed(convertBlock(*op.getBeforeBody())))
    return failure();
  ++position;
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  SmallVector<Value> forwarded;
  SmallVector<SmallVector<int>> roots;
  SmallVector<bool> dynamic;
  for (Value value : condition.getArgs()) {
    appendCarried(loc, value, forwarded);
    auto it = buffers.find(value);
    roots.push_back(it == buffers.end() ? SmallVector<int>() : it->second.roots);
    dynamic.push_back(it == buffers.end() || it->second.dynamic);
  }
  scf::ConditionOp::create(b, loc, scalars.lookupOrDefault(condition.getCondition()), forwarded);

  Block *after = b.createBlock(&made.getAfter(), {}, resultTypes, SmallVector<Location>(resultTypes.size(), loc));
  rest = after->getArguments();
  for (auto [i, arg] : llvm::enumerate(op.getAfterArguments()))
    rest = rest.drop_front(takeCarried(arg, rest, roots[i], dynamic[i]));
  if (failed(convertBlock(*op.getAfterBody())))
    return failure();
  ++position;
  SmallVector<Value> yielded;
  yieldToLoop(loc, op.getAfterBody()->getTerminator()->getOperands(), homes, yielded);
  scf::YieldOp::create(b, loc, yielded);
  arena.extendOverLoop(begin, ++position);
  rest = made.getResults();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    rest = rest.drop_front(takeCarried(result, rest, roots[i], dynamic[i]));
  return success();
}
