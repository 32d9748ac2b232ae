//===- Custom.cpp - operators of plugins become launches of their kernels -===//
#include "optc/dialects/onnx/Custom.h"
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

/// How many tiles the first result is cut into.
static FailureOr<Value> tilesOf(const onnx::CustomOperator &custom, Operation *op, Lowering &l) {
  IndexBuilder m{l.b, l.loc};
  ArrayRef<Dim> dims = l.dims(op->getResult(0));
  int64_t rank = dims.size(), cut = custom.tileDims < 0 ? rank + custom.tileDims : custom.tileDims;
  if (cut < 0 || cut > rank)
    return unsupported(op, "is of a plugin that cuts tiles from " + Twine(custom.tileDims) +
                               " dimensions, but its first output has rank " + Twine(rank));
  if (custom.tileDims == 0)
    return m.cst(1);
  Value elements = m.cst(1);
  for (Value size : l.indices(dims.take_front(cut)))
    elements = m.mul(elements, size);
  return l.b.createOrFold<arith::CeilDivUIOp>(l.loc, elements, m.cst(custom.tileSize));
}

LogicalResult optc::lowerCustom(Operation *op, const onnx::CustomOperator &custom, Lowering &l) {
  SmallVector<Value> inputs, sizes;
  SmallVector<Type> types;
  for (Value v : op->getOperands())
    inputs.push_back(l.get(v));
  for (Value v : op->getResults()) {
    if (failed(requireRanked(op, l)))
      return failure();
    for (Dim dim : l.dims(v)) {
      if (isOwnSize(dim, v))
        return unsupported(op, "is of a plugin that does not say the sizes of the output " +
                                   Twine(cast<OpResult>(v).getResultNumber()) +
                                   "; they have to follow from its inputs");
      if (!knownSize(dim))
        sizes.push_back(l.index(dim));
    }
    types.push_back(l.tensorType(l.elem(v), l.dims(v)));
  }
  FailureOr<Value> tiles = tilesOf(custom, op, l);
  if (failed(tiles))
    return failure();
  auto launch = kernel::ForeignOp::create(l.b, l.loc, types, custom.kernel, inputs, sizes, *tiles,
                                          onnx::kernelParams(custom, op));
  for (auto [result, made] : llvm::zip(op->getResults(), launch.getResults()))
    l.set(result, made);
  return success();
}
