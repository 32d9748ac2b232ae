//===- RowKernel.cpp - a group of rows in a kernel ------------------------===//
#include "optc/codegen/common/RowKernel.h"
#include "optc/codegen/common/Bodies.h"

using namespace mlir;
using namespace optc;
using namespace optc::codegen;
using kernel::RowOp;
using kernel::RowOperand;
using kernel::SizeExpr;

LogicalResult RowKernel::match(ArrayRef<kernel::RowShape> shapes, const EmitOptions &options) {
  SmallVector<linalg::GenericOp> generics = body.generics();
  std::string why;
  FailureOr<kernel::RowGroup> found = kernel::bindRows(generics, shapes, &why);
  if (failed(found))
    return body.refuse(why);
  group = std::move(*found);
  if (failed(body.bindGroup(group.ops, results)))
    return failure();
  if (options.contract)
    allowContraction(generics);
  group.numColumns = SizeExpr(1);
  for (const SizeExpr &level : group.levels) {
    levelSizes.push_back(body.size(level));
    group.numColumns = group.numColumns * level;
  }
  return success();
}

void RowKernel::planPasses(int64_t keptBytes) {
  plan = codegen::planPasses(group, [&](unsigned op) { return results[op] != nullptr; }, keptBytes);
}

void RowKernel::begin(Row &row, Value at, Value columns) {
  row.at = at;
  row.start = body.index.mul(at, columns);
  row.values.assign(group.ops.size(), Value());
  for (const RowOp &op : group.ops)
    for (const RowOperand &input : op.inputs) {
      if (input.source >= 0)
        continue;
      Value offset = row.offsets[&input] = body.offsetAlong(op.nest, input.walk, op.rows, at);
      if (!input.movesAlongColumns())
        row.scalars[&input] = memref::LoadOp::create(body.b, body.flat(input.walk.tensor), offset);
    }
}

void RowKernel::emitRowOps(Row &row, unsigned point, llvm::function_ref<void(unsigned)> store) {
  for (unsigned i : plan.rowOpsAt[point]) {
    const RowOp &op = group.ops[i];
    SmallVector<Value> args;
    for (const RowOperand &input : op.inputs)
      args.push_back(input.source >= 0 ? row.values[input.source] : row.scalars[&input]);
    row.values[i] = cloneBody(body.b, *op.nest.op.getBody(), args)[0];
    store(i);
  }
}

SmallVector<unsigned> RowKernel::reductionsOf(const RowPass &pass) const {
  SmallVector<unsigned> found;
  for (unsigned i : pass.compute)
    if (group.ops[i].kind == RowOp::Kind::Reduction)
      found.push_back(i);
  return found;
}

Value RowKernel::combine(const RowOp &op, Value x, Value y, int64_t lanes) {
  const kernel::Combiner &c = op.combiner;
  Block &block = *op.nest.op.getBody();
  auto before = [&](Value acc) {
    IRMapping map;
    map.map(block.getArguments().back(), acc);
    for (Operation *inner : c.pre)
      cloneOp(body.b, *inner, map, lanes);
    return map.lookup(c.op->getOperand(c.accOperand));
  };
  IRMapping map;
  map.map(c.op->getOperand(c.accOperand), before(x));
  map.map(c.op->getOperand(1 - c.accOperand), before(y));
  cloneOp(body.b, *c.op, map, lanes);
  for (Operation *inner : c.post)
    cloneOp(body.b, *inner, map, lanes);
  return map.lookup(block.getTerminator()->getOperand(0));
}
