//===- InPlace.cpp - results that take the memory of an operand -----------===//
//
// Once the walk has seen every use, the kernels are made. Where the buffer of an operand is used for the last time at a
// dispatch, the result may be computed over it: the memory could be given to a buffer made right after the dispatch in
// any case, so all that is left to prove is that the kernel itself reads an element before it writes it.
//===----------------------------------------------------------------------===//
#include "optc/passes/plan/Planner.h"

using namespace mlir;
using namespace optc;

/// Takes an operand away from a launch: its buffer and its run-time sizes.
static void dropInput(PendingLaunch &pending, Value input) {
  unsigned buffer = 0, size = 0;
  auto numSizes = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumDynamicDims(); };
  for (Value other : pending.captures.inputs) {
    if (other == input)
      break;
    ++buffer;
    size += numSizes(other);
  }
  pending.launch.getBuffersMutable().erase(buffer);
  if (unsigned count = numSizes(input))
    pending.launch.getScalarsMutable().erase(size, count);
}

Value Planner::findInPlace(const PendingLaunch &pending) {
  kernel::DispatchOp dispatch = pending.dispatch;
  kernel::LaunchOp launch = pending.launch;
  if (dispatch.getNumResults() != 1 || launch.getInputs()) // copies are either read or written
    return Value();
  const Buffer &result = buffers.at(dispatch.getResult(0));
  auto type = cast<RankedTensorType>(dispatch.getResultTypes()[0]);
  if (result.roots.size() != 1 || result.isPart) // computed straight into an output, or into a part of a buffer
    return Value();
  for (Value input : pending.captures.inputs) {
    // A buffer of the plan, whole, and nothing else: not an input, a constant, what a loop carries or an If chose.
    const Buffer &operand = buffers.at(input);
    if (operand.roots.size() != 1 || operand.isPart || !arena.isAt(operand.roots[0], operand.ptr))
      continue;
    int root = operand.roots[0];
    auto isRead = [&](Value other) {
      return other != input &&
             llvm::any_of(buffers.at(other).roots, [&](int read) { return arena.isShared(read, root); });
    };
    if (arena.isStatic(root) == arena.isStatic(result.roots[0]) && arena.endsAt(root, pending.position) &&
        canComputeInPlace(dispatch, input) && dynamicDims(type, operand) == dynamicDims(type, result) &&
        llvm::none_of(pending.captures.inputs, isRead))
      return input;
  }
  return Value();
}

void Planner::makeKernels() {
  for (PendingLaunch &pending : launches) {
    Value inPlace = findInPlace(pending);
    if (inPlace) {
      arena.share(buffers.at(pending.dispatch.getResult(0)).roots[0], buffers.at(inPlace).roots[0]);
      dropInput(pending, inPlace);
      ++numInPlace;
    }
    FlatSymbolRefAttr symbol = outliner.outline(pending.dispatch, pending.captures, inPlace);
    pending.launch.setKernelAttr(symbol);
    if (auto index = module.lookupSymbol(symbol.getValue())->getAttrOfType<IntegerAttr>("kernel.device_index"))
      pending.launch.setDeviceAttr(index);
  }
}
