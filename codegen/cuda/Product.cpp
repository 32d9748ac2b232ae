//===- Product.cpp - walking the operands of a product ---------------------===//
#include "optc/codegen/cuda/Product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "optc/codegen/common/Bodies.h"
#include "optc/dialects/kernel/Storage.h"
#include "optc/dialects/kernel/TensorTile.h"

using namespace mlir;
using namespace optc;
using namespace optc::cuda;
using kernel::NestOperand;

LogicalResult Product::match(Matcher matcher, bool contract) {
  SmallVector<linalg::GenericOp> generics = body.generics();
  auto root = llvm::find_if(generics, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; });
  if (root == generics.end())
    return body.refuse("it has no product");
  std::string why;
  FailureOr<kernel::Contraction> found = matcher(*root, &why);
  if (failed(found))
    return body.refuse(why);
  c = std::move(*found);
  if (c.operandB().tensor.getDefiningOp<kernel::PackedOp>())
    kernel::walkPackedColumns(c);
  for (unsigned operand : {c.a, c.b})
    if (!body.flat(c.nest.operands[operand].tensor))
      return body.refuse("an operand has no buffer");
  size_t rank = cast<RankedTensorType>(root->getResult(0).getType()).getRank();
  if (kernel::tileGroups(body.strategy).size() !=
      rank - (c.rows.count ? c.rows.count - 1 : 0) - (c.columns.count ? c.columns.count - 1 : 0))
    return body.refuse("its tiles are not those of rows and columns");
  if (contract)
    codegen::allowContraction({*root});
  return epilogue.collect(c.nest, c.n, contract);
}

void Product::enterTile(ArrayRef<DeviceBody::TileRange> ranges) {
  mBegin = nBegin = body.index.c(0);
  outer.clear();
  AffineMap map = c.nest.op.getIndexingMapsArray().back();
  for (auto [group, range] : llvm::zip(kernel::tileGroups(body.strategy), ranges)) {
    if (c.rows.count && group.firstDim == c.rows.first)
      mBegin = range.begin;
    else if (group.firstDim == c.columns.first)
      nBegin = range.begin;
    else
      outer.push_back({cast<AffineDimExpr>(map.getResult(group.firstDim)).getPosition(), range.begin});
  }
}

Value Product::outerOffset(const NestOperand &operand, Value from) {
  for (auto [loop, at] : outer)
    if (operand.moves(loop))
      from = body.index.add(from, body.index.mul(at, body.size(operand.strides[loop])));
  return from;
}

bool Product::isAligned(const NestOperand &operand, unsigned along, int64_t lanes) const {
  if (!operand.strides[along].is(1) || c.nest.sizes[along].factor % lanes || !kernel::isAligned(operand.tensor, lanes))
    return false;
  for (unsigned loop = 0; loop < c.nest.numLoops(); ++loop)
    if (loop != along && operand.strides[loop].factor % lanes)
      return false;
  return true;
}

void Product::store(ArrayRef<Value> sums, Value row, Value column) {
  epilogue.store(sums, [&](const NestOperand &operand) {
    Value offset = body.index.add(offsetAlong(operand, c.m, row), offsetAlong(operand, c.n, column));
    return body.index.add(offset, outerOffset(operand));
  });
}

void Product::storeTile(const SharedTile &tile) {
  const codegen::IndexEmitter &index = body.index;
  ImplicitLocOpBuilder &b = body.b;
  int64_t lanes = 4;
  while (lanes > 1 && !epilogue.allowsVectors(lanes))
    lanes /= 2;
  int64_t perRow = tile.columns / lanes;
  Value m = body.size(c.nest.sizeOf(c.m)), n = body.size(c.nest.sizeOf(c.n));
  auto loop = scf::ForOp::create(b, tile.thread, index.c(tile.rows * perRow), index.c(tile.threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), local = index.div(number, index.c(perRow));
  Value localColumn = index.mul(index.rem(number, index.c(perRow)), index.c(lanes));
  Value row = index.add(mBegin, index.add(tile.firstRow, local)), column = index.add(nBegin, localColumn);
  auto less = [&](Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y).getResult(); };
  body.when(arith::AndIOp::create(b, less(row, m), less(column, n)), [&] {
    Value at = index.add(index.mul(local, index.c(tile.pitch)), localColumn);
    store(body.loadVector(tile.sums, at, lanes), row, column);
  });
}
