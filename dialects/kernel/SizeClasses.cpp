//===- SizeClasses.cpp - which sizes are equal ----------------------------===//
#include "optc/dialects/kernel/SizeClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/dialects/kernel/Kernel.h"

using namespace mlir;
using namespace optc::kernel;

unsigned SizeClasses::leader(unsigned id) {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void SizeClasses::multiplySymbol(Product &product, Name name) {
  auto [it, isNew] = ids.try_emplace(name, parents.size());
  if (isNew) {
    parents.push_back(it->second);
    constants.emplace_back();
  }
  unsigned id = leader(it->second);
  if (constants[id])
    product.factor *= *constants[id];
  else
    product.classes.push_back(id);
}

void SizeClasses::multiply(Product &product, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    product.factor *= *constant;
    return;
  }
  if (auto mul = value.getDefiningOp<arith::MulIOp>()) {
    multiply(product, mul.getLhs());
    multiply(product, mul.getRhs());
    return;
  }
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> at = dim.getConstantIndex();
        at && *at >= 0 && *at < cast<ShapedType>(dim.getSource().getType()).getRank()) {
      multiply(product, dim.getSource(), *at);
      return;
    }
  multiplySymbol(product, {value, 0});
}

/// The dispatch whose result this is, or whose destination for one.
static std::pair<DispatchOp, unsigned> resultOrDestination(Value tensor) {
  if (auto dispatch = tensor.getDefiningOp<DispatchOp>())
    return {dispatch, cast<OpResult>(tensor).getResultNumber()};
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    if (auto dispatch = dyn_cast<DispatchOp>(argument.getOwner()->getParentOp()))
      return {dispatch, argument.getArgNumber()};
  return {};
}

void SizeClasses::multiply(Product &product, Value tensor, unsigned dim) {
  while (true) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim)) {
      product.factor *= type.getDimSize(dim);
      return;
    }
    unsigned position = type.getDynamicDimIndex(dim);
    if (auto view = tensor.getDefiningOp<ViewOp>())
      return multiply(product, view.getDims()[position]);
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      return multiply(product, empty.getDynamicSizes()[position]);
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
        slice && slice.getSourceType().getRank() == type.getRank())
      return multiply(product, slice.getSizes()[position]);
    if (auto [dispatch, number] = resultOrDestination(tensor); dispatch) {
      for (Value result : dispatch.getResults().take_front(number))
        position += cast<RankedTensorType>(result.getType()).getNumDynamicDims();
      return multiply(product, dispatch.getResultDims()[position]);
    }
    if (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
      tensor = op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()];
    else if (auto cast = tensor.getDefiningOp<tensor::CastOp>())
      tensor = cast.getSource();
    else
      return multiplySymbol(product, {tensor, dim});
  }
}

SizeClasses::Product SizeClasses::canonical(const SizeExpr &expr) {
  Product product;
  product.factor = expr.factor;
  for (const RuntimeSize &size : expr.runtime)
    multiply(product, size.tensor, size.dim);
  llvm::sort(product.classes);
  if (product.factor == 0)
    product.classes.clear();
  return product;
}

void SizeClasses::add(linalg::GenericOp op) {
  SmallVector<std::optional<SizeExpr>> known(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      SizeExpr size(type.isDynamicDim(i) ? 1 : type.getDimSize(i));
      if (type.isDynamicDim(i))
        size.runtime.push_back({operand.get(), static_cast<unsigned>(i)});
      std::optional<SizeExpr> &first = known[loop.getPosition()];
      if (!first) {
        first = size;
        continue;
      }
      // One symbol is another, or a constant; products stay what they are.
      Product a = canonical(*first), b = canonical(size);
      if (a == b)
        continue;
      if (a.classes.empty())
        std::swap(a, b);
      if (a.factor != 1 || a.classes.size() != 1)
        continue;
      if (b.classes.empty())
        constants[a.classes.front()] = b.factor;
      else if (b.factor == 1 && b.classes.size() == 1)
        parents[a.classes.front()] = b.classes.front();
    }
  }
}
