//===- ReduceHelpers.cpp - reductions over known axes ---------------------===//
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

Type optc::innerType(Type elem) {
  MLIRContext *ctx = elem.getContext();
  return elem.isF64() ? elem : Type(Float32Type::get(ctx));
}

Type optc::sumType(const Lowering &l, Type elem) {
  if (!isa<FloatType>(elem))
    return elem;
  return l.optLevel < 2 ? Type(Float64Type::get(elem.getContext())) : innerType(elem);
}

SmallVector<Dim> optc::keptDims(Lowering &l, ArrayRef<Dim> dims, ArrayRef<int64_t> axes) {
  SmallVector<Dim> out(dims);
  for (int64_t a : axes)
    out[a] = l.shapes.constant(1);
  return out;
}

Dim optc::reducedCount(Lowering &l, ArrayRef<Dim> dims, ArrayRef<int64_t> axes) {
  Dim n = l.shapes.constant(1);
  for (int64_t a : axes)
    n = l.shapes.mul(n, dims[a]);
  return n;
}

Value optc::sizeAsFloat(Lowering &l, Dim dim, Type elem) {
  Value n = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), l.index(dim));
  return arith::SIToFPOp::create(l.b, l.loc, elem, n);
}

int64_t optc::normalAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  return std::max<int64_t>(0, std::min(axis, rank - 1));
}

SmallVector<int64_t> optc::axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(std::min(first, rank), rank));
}

Value optc::foldStep(const ScalarOps &s, Fold fold, Value acc, Value x) {
  switch (fold) {
  case Fold::Sum:
    return s.add(acc, x);
  case Fold::Prod:
    return s.mul(acc, x);
  case Fold::Max:
    return s.max(acc, x);
  case Fold::Min:
    return s.min(acc, x);
  }
  return acc;
}

Value optc::foldStart(const ScalarOps &s, Fold fold) {
  if (fold == Fold::Max)
    return s.lowest();
  return fold == Fold::Min ? s.highest() : s.constant(fold == Fold::Prod ? 1 : 0);
}

Lowering::Input optc::foldAxes(Lowering &l, StringRef label, const Lowering::Input &in, ArrayRef<int64_t> axes,
                               Fold fold, Type acc, MapFn map) {
  Value init = foldStart(ScalarOps{l.b, l.loc, acc}, fold);
  Value r = l.reduce(
      label, in, axes, acc, init,
      [&](OpBuilder &b, Location loc, Value x) {
        ScalarOps s{b, loc, acc};
        x = castScalar(b, loc, x, in.elem, acc);
        return map ? map(s, x) : x;
      },
      [&](OpBuilder &b, Location loc, Value a, Value x) { return foldStep(ScalarOps{b, loc, acc}, fold, a, x); });
  SmallVector<Dim> dims = keptDims(l, in.dims, axes);
  return {l.view(r, acc, dims), acc, dims};
}

Lowering::Input optc::sumPairs(Lowering &l, StringRef label, const Lowering::Input &in, const Lowering::Input &other,
                               ArrayRef<int64_t> axes, Type acc, PairFn map) {
  MLIRContext *ctx = l.b.getContext();
  unsigned rank = in.dims.size();
  SmallVector<AffineExpr> kept;
  SmallVector<Dim> outDims;
  SmallVector<utils::IteratorType> iterators;
  for (unsigned i = 0; i < rank; ++i) {
    bool reduced = llvm::is_contained(axes, int64_t(i));
    iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (reduced)
      continue;
    kept.push_back(getAffineDimExpr(i, ctx));
    outDims.push_back(in.dims[i]);
  }
  AffineMap keptMap = AffineMap::get(rank, 0, kept, ctx);
  SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(rank, ctx), keptMap, keptMap};
  Lowering::Input flat{l.view(other.lowered, other.elem, outDims), other.elem, outDims};
  Value init = ScalarOps{l.b, l.loc, acc}.constant(0);
  Value r = l.contract(
      label, {in, flat}, maps, iterators, acc, outDims, init, [&](OpBuilder &b, Location loc, ValueRange v, Value a) {
        ScalarOps s{b, loc, acc};
        return s.add(a, map(s, castScalar(b, loc, v[0], in.elem, acc), castScalar(b, loc, v[1], other.elem, acc)));
      });
  SmallVector<Dim> dims = keptDims(l, in.dims, axes);
  return {l.view(r, acc, dims), acc, dims};
}

Lowering::Input optc::pointwise(Lowering &l, ArrayRef<Lowering::Input> in, Type elem, Type outElem, ArrayRef<Dim> dims,
                                BodyFn body) {
  Value r = l.elementwise(in, outElem, dims, [&](OpBuilder &b, Location loc, ValueRange v) {
    SmallVector<Value> args;
    for (auto [x, i] : llvm::zip(v, in))
      args.push_back(castScalar(b, loc, x, i.elem, elem));
    return castScalar(b, loc, body(ScalarOps{b, loc, elem}, args), elem, outElem);
  });
  return {r, outElem, llvm::to_vector(dims)};
}

Lowering::Input optc::argExtreme(Lowering &l, const Lowering::Input &in, int64_t axis, bool largest, bool last) {
  SmallVector<Dim> dims = keptDims(l, in.dims, {axis});
  Type i64 = l.b.getI64Type();
  Value size = l.index(in.dims[axis]);
  Value r = l.generate(largest ? "ArgMax" : "ArgMin", i64, dims, [&](OpBuilder &b, Location loc, ValueRange at) {
    SmallVector<Value> where(at);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    where[axis] = zero;
    Value first = l.load(b, loc, in.lowered, in.elem, where);
    auto loop = scf::ForOp::create(
        b, loc, one, size, one, ValueRange{first, zero}, [&](OpBuilder &nb, Location nl, Value i, ValueRange acc) {
          ScalarOps s{nb, nl, in.elem};
          where[axis] = i;
          Value x = l.load(nb, nl, in.lowered, in.elem, where), best = acc[0];
          Value a = largest ? best : x, c = largest ? x : best;
          Value better = last ? s.le(a, c) : s.lt(a, c);
          if (s.isFloat()) {
            auto unordered = [&](Value v) { return arith::CmpFOp::create(nb, nl, arith::CmpFPredicate::UNO, v, v); };
            Value nan = unordered(x);
            if (!last) { // the first NaN stays
              Value ordered = arith::CmpFOp::create(nb, nl, arith::CmpFPredicate::ORD, best, best);
              nan = arith::AndIOp::create(nb, nl, nan, ordered);
            }
            better = arith::OrIOp::create(nb, nl, better, nan);
          }
          scf::YieldOp::create(nb, nl, ValueRange{s.select(better, x, best), s.select(better, i, acc[1])});
        });
    return Value(arith::IndexCastOp::create(b, loc, i64, loop.getResult(1)));
  });
  return {r, i64, dims};
}
