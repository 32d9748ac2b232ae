//===- AffineGrid.cpp - AffineGrid ----------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/DimMath.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

/// grid[n, spatial..., i] = the sum over j of theta[n, i, j] * (x, y(, z), 1)[j] for positions in [-1, 1]. Its function
/// body computes the same through a dozen operators whose shapes depend on `size`.
static LogicalResult lowerAffineGrid(Operation *op, Lowering &l) {
  auto affine = cast<onnx::AffineGridOp>(op);
  Lowering::Input theta = l.input(affine.getTheta());
  SmallVector<Dim> out = llvm::to_vector(l.dims(affine.getGrid()));
  if (theta.dims.size() != 3 || (out.size() != 4 && out.size() != 5))
    return unsupported(op, "needs a theta of rank 3 and a size of 4 or 5 elements");
  size_t rank = out.size() - 2;
  // Sizes that inference left to the values of `size`: N, C, spatial...
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i]->kind == DimKind::Leaf && out[i]->tensor == affine.getGrid())
      l.bind(out[i], i + 1 == out.size() ? l.constIndex(rank) : l.hostIndex(affine.getSize(), i == 0 ? 0 : i + 1));
  requireEqual(l, theta.dims[0], out[0], "theta and size have different batch sizes");
  requireEqual(l, theta.dims[1], constDim(l, rank), "theta has another number of rows than size has spatial axes");
  requireEqual(l, theta.dims[2], constDim(l, rank + 1),
               "theta has another number of columns than size has spatial axes");
  bool alignCorners = affine.getAlignCorners() != 0;
  SmallVector<Value> sizes = l.indices(ArrayRef(out).slice(1, rank));
  Type elem = theta.elem, work = accumulatorOf(elem);
  Value y = l.generate("affinegrid", elem, out, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
    IndexMath m{b, loc};
    FloatMath f(b, loc, work);
    Value row = at.back();
    auto factor = [&](size_t j) { return l.load(b, loc, theta.lowered, elem, {at[0], row, m.c(j)}); };
    Value sum;
    for (size_t j = 0; j < rank; ++j) {
      // x comes first and belongs to the last spatial axis.
      size_t axis = rank - 1 - j;
      Value p = f.fromIndex(at[1 + axis]), size = f.fromIndex(sizes[axis]), two = f.constant(2), one = f.constant(1);
      Value position = alignCorners ? f.sub(f.div(f.mul(two, p), f.max(f.sub(size, one), one)), one)
                                    : f.sub(f.div(f.add(f.mul(two, p), one), size), one);
      Value term = f.mul(factor(j), position);
      sum = sum ? f.add(sum, term) : term;
    }
    return f.add(sum, factor(rank));
  });
  l.set(affine.getGrid(), y);
  return success();
}

void optc::registerAffineGridLowering(LoweringTable &table) { table["onnx.AffineGrid"] = lowerAffineGrid; }
