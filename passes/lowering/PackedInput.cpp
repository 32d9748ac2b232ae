//===- PackedInput.cpp - constants of 4-bit integers, packed --------------===//
#include "mlir/IR/DialectResourceBlobManager.h"
#include "optc/passes/lowering/LoweringUtils.h"

using namespace mlir;
using namespace optc;

std::optional<Lowering::Input> optc::packedInput(Lowering &l, Value onnxValue) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(l.constElements(onnxValue));
  Type elem = l.elem(onnxValue), i8 = l.b.getI8Type();
  int64_t count = resource ? resource.getType().getNumElements() : 0;
  // Pairs of values share a byte.
  if (!resource || !elem.isInteger(4) || count % 2)
    return std::nullopt;
  auto bytes = DenseResourceElementsAttr::get(RankedTensorType::get({count / 2, 1}, i8), resource.getRawHandle());
  Value packed = arith::ConstantOp::create(l.b, l.loc, cast<TypedAttr>(Attribute(bytes)));
  Value shifts = arith::ConstantOp::create(
      l.b, l.loc, DenseElementsAttr::get(RankedTensorType::get({2}, i8), ArrayRef<int8_t>{4, 0}));
  Dim half = l.shapes.constant(count / 2), one = l.shapes.constant(1), two = l.shapes.constant(2);
  bool isUnsigned = elem.isUnsignedInteger();
  Value pairs = l.elementwise({{packed, i8, {half, one}}, {shifts, i8, {two}}}, i8, {half, two},
                              [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                                // The value's bits at the top, then down again with its sign.
                                Value top = arith::ShLIOp::create(b, loc, v[0], v[1]);
                                Value four = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(4));
                                return isUnsigned ? arith::ShRUIOp::create(b, loc, top, four).getResult()
                                                  : arith::ShRSIOp::create(b, loc, top, four).getResult();
                              });
  SmallVector<Dim> dims = llvm::to_vector(l.dims(onnxValue));
  return Lowering::Input{l.view(pairs, i8, dims), elem, dims};
}
