//===- Reduction.cpp - Reduce*, ArgMax, ArgMin, CumSum, CumProd -----------===//
#include "optc/passes/lowering/ReduceHelpers.h"

using namespace mlir;
using namespace optc;

namespace {
/// What distinguishes the Reduce operators: fold(map(x)), then finish.
struct Reducer {
  Fold fold;
  bool real; ///< integers are computed in f64: the function behind leaves them
  Value (*map)(const ScalarOps &s, Value x);
  Value (*finish)(const ScalarOps &s, Value acc, Value count);
};

Value square(const ScalarOps &s, Value x) { return s.mul(x, x); }
Value magnitude(const ScalarOps &s, Value x) {
  if (s.isFloat())
    return math::AbsFOp::create(s.b, s.loc, x);
  return s.isUnsigned() ? x : s.max(x, s.neg(x));
}
Value root(const ScalarOps &s, Value x, Value) { return math::SqrtOp::create(s.b, s.loc, x); }
Value logarithm(const ScalarOps &s, Value x, Value) { return math::LogOp::create(s.b, s.loc, x); }
Value average(const ScalarOps &s, Value x, Value n) { return s.div(x, n); }

const Reducer reduceSum{Fold::Sum, false, nullptr, nullptr};
const Reducer reduceProd{Fold::Prod, false, nullptr, nullptr};
const Reducer reduceMax{Fold::Max, false, nullptr, nullptr};
const Reducer reduceMin{Fold::Min, false, nullptr, nullptr};
const Reducer reduceMean{Fold::Sum, false, nullptr, average};
const Reducer reduceL1{Fold::Sum, false, magnitude, nullptr};
const Reducer reduceL2{Fold::Sum, true, square, root};
const Reducer reduceSumSquare{Fold::Sum, false, square, nullptr};
const Reducer reduceLogSum{Fold::Sum, true, nullptr, logarithm};

/// Where the elements accumulate.
Type accumulator(Lowering &l, const Reducer &r, Type elem) {
  if (!isa<FloatType>(elem))
    return r.real ? Type(l.b.getF64Type()) : elem;
  return r.fold == Fold::Sum || r.fold == Fold::Prod ? sumType(l, elem) : elem;
}

/// The number of folded elements as scalar of `acc`.
Value countScalar(Lowering &l, Value count, Type acc) {
  Value n = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), count);
  return castScalar(l.b, l.loc, n, l.b.getI64Type(), acc);
}

/// The sizes of the result when the axes are known. Inference may know less of them.
SmallVector<Dim> reducedDims(Operation *op, Lowering &l, ArrayRef<int64_t> axes) {
  SmallVector<Dim> in = llvm::to_vector(l.dims(op->getOperand(0)));
  if (intAttr(op, "keepdims", 1))
    return keptDims(l, in, axes);
  SmallVector<Dim> out;
  for (auto [i, d] : llvm::enumerate(in))
    if (!llvm::is_contained(axes, int64_t(i)))
      out.push_back(d);
  return out;
}

LogicalResult reduceKnown(Operation *op, Lowering &l, const Reducer &r, ArrayRef<int64_t> axes) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Type elem = l.elem(x), acc = accumulator(l, r, elem);
  Lowering::Input in = l.input(x), folded;
  if (axes.empty()) // the steps other than the fold remain
    folded = pointwise(l, {in}, acc, acc, in.dims,
                       [&](const ScalarOps &s, ValueRange v) { return r.map ? r.map(s, v[0]) : v[0]; });
  else
    folded = foldAxes(l, op->getName().stripDialect(), in, axes, r.fold, acc,
                      [&](const ScalarOps &s, Value v) { return r.map ? r.map(s, v) : v; });
  if (r.finish || acc != elem) {
    Value count = r.finish ? countScalar(l, l.index(reducedCount(l, in.dims, axes)), acc) : Value();
    folded = pointwise(l, {folded}, acc, elem, folded.dims,
                       [&](const ScalarOps &s, ValueRange v) { return r.finish ? r.finish(s, v[0], count) : v[0]; });
  }
  l.set(result, l.view(folded.lowered, elem, reducedDims(op, l, axes)));
  return success();
}

/// log(sum(exp(x - m))) + m with m the largest element where that is finite.
LogicalResult logSumExpKnown(Operation *op, Lowering &l, ArrayRef<int64_t> axes) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Type elem = l.elem(x), inner = isa<FloatType>(elem) ? innerType(elem) : Type(l.b.getF64Type());
  Lowering::Input in = l.input(x);
  if (axes.empty()) { // log(exp(x))
    l.set(result,
          pointwise(l, {in}, inner, elem, in.dims, [](const ScalarOps &, ValueRange v) { return v[0]; }).lowered);
    return success();
  }
  auto finite = [](const ScalarOps &s, Value m) {
    Value size = math::AbsFOp::create(s.b, s.loc, m);
    return s.select(s.lt(size, s.highest()), m, s.constant(0));
  };
  Lowering::Input most = foldAxes(l, "LogSumExp.max", in, axes, Fold::Max, inner);
  Lowering::Input sum =
      sumPairs(l, "LogSumExp.sum", in, most, axes, sumType(l, inner), [&](const ScalarOps &s, Value v, Value m) {
        return Value(math::ExpOp::create(s.b, s.loc, s.sub(v, finite(s, m))));
      });
  Lowering::Input y = pointwise(l, {sum, most}, inner, elem, sum.dims, [&](const ScalarOps &s, ValueRange v) {
    return s.add(math::LogOp::create(s.b, s.loc, v[0]), finite(s, v[1]));
  });
  l.set(result, l.view(y.lowered, elem, reducedDims(op, l, axes)));
  return success();
}

//===----------------------------------------------------------------------===//
// Axes given at run time
//===----------------------------------------------------------------------===//

/// Host values that say which axes of the input are reduced.
struct RuntimeAxes {
  SmallVector<Value> reduced;  ///< i1 per input axis
  SmallVector<Value> position; ///< of each kept axis among the kept ones (meaningless for reduced ones)
};

RuntimeAxes readAxes(Lowering &l, Value axes, int64_t count, int64_t rank) {
  OpBuilder &b = l.b;
  auto cmp = [&](arith::CmpIPredicate p, Value x, Value y) { return arith::CmpIOp::create(b, l.loc, p, x, y); };
  SmallVector<Value> wrapped;
  Value zero = l.constIndex(0), size = l.constIndex(rank);
  for (int64_t j = 0; j < count; ++j) {
    Value a = l.hostIndex(axes, j);
    a = arith::SelectOp::create(b, l.loc, cmp(arith::CmpIPredicate::slt, a, zero),
                                arith::AddIOp::create(b, l.loc, a, size), a);
    l.check(cmp(arith::CmpIPredicate::ult, a, size), "an axis is out of range");
    for (Value other : wrapped)
      l.check(cmp(arith::CmpIPredicate::ne, a, other), "an axis is given twice");
    wrapped.push_back(a);
  }
  RuntimeAxes r;
  Value next = zero;
  for (int64_t d = 0; d < rank; ++d) {
    Value hit = arith::ConstantIntOp::create(b, l.loc, b.getI1Type(), 0);
    for (Value a : wrapped)
      hit = arith::OrIOp::create(b, l.loc, hit, cmp(arith::CmpIPredicate::eq, a, l.constIndex(d)));
    r.reduced.push_back(hit);
    r.position.push_back(next);
    next = arith::SelectOp::create(b, l.loc, hit, next, arith::AddIOp::create(b, l.loc, next, l.constIndex(1)));
  }
  return r;
}

/// Gives the open sizes of the result their values.
void bindSizes(Lowering &l, const RuntimeAxes &axes, ArrayRef<Dim> in, ArrayRef<Dim> out) {
  Value one = l.constIndex(1);
  bool keep = in.size() == out.size();
  for (auto [i, dim] : llvm::enumerate(out)) {
    if (dim->kind != DimKind::Leaf || l.get(dim->tensor))
      continue;
    Value size = one;
    for (auto [d, inDim] : llvm::enumerate(in)) {
      if (keep && d != i)
        continue;
      Value mine = arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::eq, axes.position[d], l.constIndex(i));
      Value keptAxis = arith::XOrIOp::create(l.b, l.loc, axes.reduced[d],
                                             arith::ConstantIntOp::create(l.b, l.loc, l.b.getI1Type(), 1));
      Value use = keep ? keptAxis : Value(arith::AndIOp::create(l.b, l.loc, mine, keptAxis));
      size = arith::SelectOp::create(l.b, l.loc, use, l.index(inDim), size);
    }
    l.bind(dim, size);
  }
}

using Step = llvm::function_ref<Value(OpBuilder &, Location, Value acc, Value x)>;

/// Folds the elements of `in` that belong to the result element `at`.
Value foldRegion(OpBuilder &b, Location loc, Lowering &l, const Lowering::Input &in, ArrayRef<Value> sizes,
                 const RuntimeAxes &axes, ValueRange at, Value init, Step step) {
  int64_t rank = in.dims.size();
  bool keep = int64_t(at.size()) == rank;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> lows, highs, steps(rank, one);
  for (int64_t d = 0; d < rank; ++d) {
    Value mine = keep ? at[d] : zero;
    if (!keep)
      for (auto [i, iv] : llvm::enumerate(at)) {
        Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, axes.position[d],
                                           arith::ConstantIndexOp::create(b, loc, i));
        mine = arith::SelectOp::create(b, loc, here, iv, mine);
      }
    lows.push_back(arith::SelectOp::create(b, loc, axes.reduced[d], zero, mine));
    highs.push_back(
        arith::SelectOp::create(b, loc, axes.reduced[d], sizes[d], arith::AddIOp::create(b, loc, mine, one)));
  }
  scf::LoopNest nest =
      scf::buildLoopNest(b, loc, lows, highs, steps, {init},
                         [&](OpBuilder &nb, Location nl, ValueRange ivs, ValueRange acc) -> scf::ValueVector {
                           return {step(nb, nl, acc[0], l.load(nb, nl, in.lowered, in.elem, ivs))};
                         });
  return nest.results.front();
}

/// Null fold: LogSumExp.
LogicalResult reduceRuntime(Operation *op, Lowering &l, const Reducer *r) {
  Value x = op->getOperand(0), axesValue = onnx::operand(op, 1), result = op->getResult(0);
  ArrayRef<Dim> axesDims = l.dims(axesValue);
  if (axesDims.size() != 1 || !axesDims[0]->isConst())
    return unsupported(
        op, "takes axes that are computed at run time, but their number must be known; give 'axes' a fixed length");
  Type elem = l.elem(x);
  Type acc = r ? accumulator(l, *r, elem) : sumType(l, isa<FloatType>(elem) ? innerType(elem) : Type(l.b.getF64Type()));
  Lowering::Input in = l.input(x);
  RuntimeAxes axes = readAxes(l, axesValue, axesDims[0]->value, in.dims.size());
  SmallVector<Dim> outDims = llvm::to_vector(l.dims(result));
  bindSizes(l, axes, in.dims, outDims);
  SmallVector<Value> sizes = l.indices(in.dims);
  Value count = l.constIndex(1);
  for (auto [d, size] : llvm::enumerate(sizes))
    count = arith::MulIOp::create(l.b, l.loc, count,
                                  arith::SelectOp::create(l.b, l.loc, axes.reduced[d], size, l.constIndex(1)));
  Value number = r && r->finish ? countScalar(l, count, acc) : Value();
  l.set(result, l.generate(op->getName().stripDialect(), elem, outDims, [&](OpBuilder &b, Location loc, ValueRange at) {
    ScalarOps s{b, loc, acc};
    auto fold = [&](Value init, llvm::function_ref<Value(const ScalarOps &, Value, Value)> step) {
      return foldRegion(b, loc, l, in, sizes, axes, at, init, [&](OpBuilder &nb, Location nl, Value a, Value v) {
        return step(ScalarOps{nb, nl, acc}, a, castScalar(nb, nl, v, elem, acc));
      });
    };
    if (!r) {
      Value most = fold(s.lowest(), [](const ScalarOps &n, Value a, Value v) { return n.max(a, v); });
      Value size = math::AbsFOp::create(b, loc, most);
      most = s.select(s.lt(size, s.highest()), most, s.constant(0));
      Value sum = fold(s.constant(0), [&](const ScalarOps &n, Value a, Value v) {
        return n.add(a, math::ExpOp::create(n.b, n.loc, n.sub(v, most)));
      });
      return castScalar(b, loc, s.add(math::LogOp::create(b, loc, sum), most), acc, elem);
    }
    Value y = fold(foldStart(s, r->fold), [&](const ScalarOps &n, Value a, Value v) {
      return foldStep(n, r->fold, a, r->map ? r->map(n, v) : v);
    });
    return castScalar(b, loc, r->finish ? r->finish(s, y, number) : y, acc, elem);
  }));
  return success();
}

/// The axes of a Reduce operator when they are known: empty means none is reduced. nullopt: known at run time only.
std::optional<SmallVector<int64_t>> knownAxes(Operation *op, Lowering &l) {
  Value axes = onnx::operand(op, 1);
  int64_t rank = l.rank(op->getOperand(0));
  SmallVector<int64_t> out;
  if (axes) {
    ArrayRef<Dim> dims = l.dims(axes);
    bool empty = dims.size() == 1 && dims[0]->isConst(0);
    std::optional<SmallVector<int64_t>> known = empty ? SmallVector<int64_t>() : l.constInts(axes);
    if (!known)
      return std::nullopt;
    for (int64_t a : *known)
      if (rank && !llvm::is_contained(out, normalAxis(a, rank)))
        out.push_back(normalAxis(a, rank));
    if (!known->empty()) {
      llvm::sort(out);
      return out;
    }
  }
  return intAttr(op, "noop_with_empty_axes", 0) ? out : axesFrom(0, rank);
}

template <const Reducer &r> LogicalResult lowerReduce(Operation *op, Lowering &l) {
  std::optional<SmallVector<int64_t>> axes = knownAxes(op, l);
  return axes ? reduceKnown(op, l, r, *axes) : reduceRuntime(op, l, &r);
}

LogicalResult lowerLogSumExp(Operation *op, Lowering &l) {
  std::optional<SmallVector<int64_t>> axes = knownAxes(op, l);
  return axes ? logSumExpKnown(op, l, *axes) : reduceRuntime(op, l, nullptr);
}

//===----------------------------------------------------------------------===//
// ArgMax, ArgMin
//===----------------------------------------------------------------------===//

template <bool largest> LogicalResult lowerArg(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Lowering::Input in = l.input(x);
  if (in.dims.empty()) {
    l.set(result, l.generate("ArgMax", l.b.getI64Type(), {}, [](OpBuilder &b, Location loc, ValueRange) -> Value {
      return arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
    }));
    return success();
  }
  int64_t axis = normalAxis(intAttr(op, "axis", 0), in.dims.size());
  if (!in.dims[axis]->isConst() || in.dims[axis]->isConst(0)) {
    Value some = arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::ne, l.index(in.dims[axis]), l.constIndex(0));
    l.check(some, "there is no largest or smallest element along an axis of size 0");
  }
  Lowering::Input r = argExtreme(l, in, axis, largest, intAttr(op, "select_last_index", 0));
  l.set(result, l.view(r.lowered, r.elem, l.dims(result)));
  return success();
}

//===----------------------------------------------------------------------===//
// CumSum, CumProd
//===----------------------------------------------------------------------===//

template <bool product> LogicalResult lowerCumulative(Operation *op, Lowering &l) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Lowering::Input in = l.input(x);
  Type elem = in.elem, acc = sumType(l, elem);
  if (in.dims.empty())
    return unsupported(op, "needs an input with at least one axis; this one is a scalar");
  // outer * size * inner elements, with the scan over the middle.
  Value outer = l.constIndex(1), size = outer, inner = outer;
  int64_t rank = in.dims.size();
  std::optional<SmallVector<int64_t>> known = l.constInts(op->getOperand(1));
  Value axis;
  if (known && !known->empty()) {
    if ((*known)[0] < -rank || (*known)[0] >= rank)
      return unsupported(op, "has axis " + Twine((*known)[0]) + ", outside [" + Twine(-rank) + ", " + Twine(rank - 1) +
                                 "]");
    axis = l.constIndex(normalAxis((*known)[0], rank));
  } else {
    axis = l.hostIndex(op->getOperand(1), 0);
    Value negative = arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::slt, axis, l.constIndex(0));
    axis = arith::SelectOp::create(l.b, l.loc, negative, arith::AddIOp::create(l.b, l.loc, axis, l.constIndex(rank)),
                                   axis);
    l.check(arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::ult, axis, l.constIndex(rank)),
            "the axis is out of range");
  }
  for (int64_t d = 0; d < rank; ++d) {
    Value n = l.index(in.dims[d]), here = l.constIndex(d), one = l.constIndex(1);
    auto times = [&](Value so, arith::CmpIPredicate p) -> Value {
      Value use = arith::CmpIOp::create(l.b, l.loc, p, here, axis);
      return arith::MulIOp::create(l.b, l.loc, so, arith::SelectOp::create(l.b, l.loc, use, n, one));
    };
    outer = times(outer, arith::CmpIPredicate::slt);
    size = times(size, arith::CmpIPredicate::eq);
    inner = times(inner, arith::CmpIPredicate::sgt);
  }
  bool exclusive = intAttr(op, "exclusive", 0), reverse = intAttr(op, "reverse", 0);
  Dim total = l.shapes.numElements(in.dims);
  Value flat = l.view(in.lowered, elem, {total});
  SmallVector<Value> r =
      l.loops(op->getName().stripDialect(), {{elem, {total}}}, [&](OpBuilder &b, Location loc, ValueRange dest) {
        return l.loopNest(
            b, loc, {outer, inner}, dest,
            [&](OpBuilder &b, Location loc, ValueRange iv, ValueRange carried) -> SmallVector<Value> {
              Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
              ScalarOps s{b, loc, acc};
              Value base = arith::AddIOp::create(
                  b, loc, arith::MulIOp::create(b, loc, arith::MulIOp::create(b, loc, iv[0], size), inner), iv[1]);
              auto loop = scf::ForOp::create(
                  b, loc, zero, size, one, ValueRange{carried[0], s.constant(product ? 1 : 0)},
                  [&](OpBuilder &nb, Location nl, Value k, ValueRange state) {
                    ScalarOps n{nb, nl, acc};
                    Value j = k;
                    if (reverse)
                      j = arith::SubIOp::create(nb, nl, arith::SubIOp::create(nb, nl, size, one), k);
                    Value at = arith::AddIOp::create(nb, nl, base, arith::MulIOp::create(nb, nl, j, inner));
                    Value v = castScalar(nb, nl, l.load(nb, nl, flat, elem, at), elem, acc);
                    Value next = product ? n.mul(state[1], v) : n.add(state[1], v);
                    Value stored =
                        Lowering::toStorage(nb, nl, castScalar(nb, nl, exclusive ? state[1] : next, acc, elem), elem);
                    Value tensor = tensor::InsertOp::create(nb, nl, stored, state[0], at);
                    scf::YieldOp::create(nb, nl, ValueRange{tensor, next});
                  });
              return {loop.getResult(0)};
            });
      });
  l.set(result, l.view(r[0], elem, l.dims(result)));
  return success();
}

const LoweringRow rows[] = {
    {"onnx.ReduceSum", ranked<lowerReduce<reduceSum>>},
    {"onnx.ReduceProd", ranked<lowerReduce<reduceProd>>},
    {"onnx.ReduceMax", ranked<lowerReduce<reduceMax>>},
    {"onnx.ReduceMin", ranked<lowerReduce<reduceMin>>},
    {"onnx.ReduceMean", ranked<lowerReduce<reduceMean>>},
    {"onnx.ReduceL1", ranked<lowerReduce<reduceL1>>},
    {"onnx.ReduceL2", ranked<lowerReduce<reduceL2>>},
    {"onnx.ReduceSumSquare", ranked<lowerReduce<reduceSumSquare>>},
    {"onnx.ReduceLogSum", ranked<lowerReduce<reduceLogSum>>},
    {"onnx.ReduceLogSumExp", ranked<lowerLogSumExp>},
    {"onnx.ArgMax", ranked<lowerArg<true>>},
    {"onnx.ArgMin", ranked<lowerArg<false>>},
    {"onnx.CumSum", ranked<lowerCumulative<false>>},
    {"onnx.CumProd", ranked<lowerCumulative<true>>},
};
} // namespace

void optc::registerReductionLowerings(LoweringTable &table) { registerRows(table, rows); }
