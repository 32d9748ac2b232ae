//===- Foreign.cpp - kernels of plugins -----------------------------------===//
#include "optc/passes/plan/Planner.h"

using namespace mlir;
using namespace optc;

LogicalResult Planner::convertForeign(kernel::ForeignOp op) {
  Location loc = op.getLoc();
  // The runtime calls it through its address, as it does the kernels that optc makes.
  auto type = b.getFunctionType({ptrType}, {});
  auto function = module.lookupSymbol<func::FuncOp>(op.getSymbol());
  if (!function) {
    if (module.lookupSymbol(op.getSymbol()))
      return op.emitOpError("calls '") << op.getSymbol() << "', which is no function";
    function = func::FuncOp::create(loc, op.getSymbol(), type);
    function.setPrivate();
    module.push_back(function);
  }
  if (function.getFunctionType() != type || !function.isExternal())
    return op.emitOpError("calls '") << op.getSymbol() << "', which is a function of optc's own";
  bool onCopies = space == kernel::MemorySpace::Device; // it is code of the CPU
  SmallVector<Value> ptrs, scalarValues, bytes;
  auto pass = [&](Value tensor, const Buffer &made) {
    ptrs.push_back(made.ptr);
    scalarValues.push_back(constIndex(made.dims.size()));
    llvm::append_range(scalarValues, made.dims);
    if (onCopies)
      bytes.push_back(numBytes(loc, cast<RankedTensorType>(tensor.getType()), made.dims));
  };
  for (Value input : op.getInputs())
    pass(input, buffer(input));
  ValueRange rest = op.getResultDims();
  for (Value result : op.getResults()) {
    auto resultType = cast<RankedTensorType>(result.getType());
    SmallVector<Value> own;
    for (Value dim : rest.take_front(resultType.getNumDynamicDims()))
      own.push_back(scalars.lookupOrDefault(dim));
    rest = rest.drop_front(own.size());
    Buffer made = allocateResult(loc, result, allDims(resultType, own));
    pass(result, made);
    buffers[result] = std::move(made);
  }
  for (int64_t param : op.getParams())
    scalarValues.push_back(arith::ConstantIntOp::create(b, loc, param, 64));
  auto launch = kernel::LaunchOp::create(b, loc, FlatSymbolRefAttr::get(b.getContext(), op.getSymbol()),
                                         scalars.lookupOrDefault(op.getTiles()), ptrs, scalarValues, bytes,
                                         b.getI64IntegerAttr(0), IntegerAttr(), IntegerAttr());
  if (onCopies) {
    launch.setInputs(op.getInputs().size());
    reportFallback(op, "'" + op.getSymbol() + "' is a kernel of a plugin for the CPU, which works");
  }
  return success();
}
