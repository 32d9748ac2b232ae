//===- Matmul.cpp - MatMul, Gemm, Det -------------------------------------===//
#include "optc/passes/lowering/Contraction.h"
#include "optc/passes/lowering/IntegerProduct.h"
#include "optc/passes/lowering/Scalars.h"

using namespace mlir;
using namespace optc;

using Iter = utils::IteratorType;

static LogicalResult lowerMatMul(Operation *op, Lowering &l) {
  auto matmul = cast<onnx::MatMulOp>(op);
  if (lowerDequantizedProduct(l, matmul))
    return success();
  l.set(matmul.getY(), matmulProduct(l, "matmul", l.input(matmul.getA()), l.input(matmul.getB()), l.elem(matmul.getY()),
                                     llvm::to_vector(l.dims(matmul.getY()))));
  return success();
}

/// alpha * x + beta * y in compute values. Integers with whole factors stay integers.
static Value affineSum(ScalarOps ops, Value x, double alpha, Value y, double beta) {
  auto scaled = [&](Value v, double factor) -> Value {
    if (factor == 1.0)
      return v;
    if (ops.isFloat())
      return ops.mul(v, ops.constant(factor));
    if (factor == std::trunc(factor) && std::abs(factor) < 9e15)
      return ops.mul(v, ops.constantInt(static_cast<int64_t>(factor)));
    Type f64 = ops.b.getF64Type();
    ScalarOps wide{ops.b, ops.loc, f64};
    Value product = wide.mul(castScalar(ops.b, ops.loc, v, ops.elem, f64), wide.constant(factor));
    return castScalar(ops.b, ops.loc, product, f64, ops.elem);
  };
  Value sum = scaled(x, alpha);
  return y ? ops.add(sum, scaled(y, beta)) : sum;
}

static LogicalResult lowerGemm(Operation *op, Lowering &l) {
  auto gemm = cast<onnx::GemmOp>(op);
  if (l.rank(gemm.getA()) != 2 || l.rank(gemm.getB()) != 2)
    return unsupported(op, "A and B must be matrices, but their ranks are " + Twine(l.rank(gemm.getA())) + " and " +
                               Twine(l.rank(gemm.getB())));
  Type elem = l.elem(gemm.getY()), accElem = accumulatorOf(elem);
  SmallVector<Dim> out = llvm::to_vector(l.dims(gemm.getY()));
  MLIRContext *ctx = op->getContext();
  AffineExpr m = getAffineDimExpr(0, ctx), n = getAffineDimExpr(1, ctx), k = getAffineDimExpr(2, ctx);
  auto map = [&](AffineExpr x, AffineExpr y, bool swap) {
    return swap ? AffineMap::get(3, 0, {y, x}, ctx) : AffineMap::get(3, 0, {x, y}, ctx);
  };
  SmallVector<AffineMap> maps = {map(m, k, gemm.getTransA() != 0), map(k, n, gemm.getTransB() != 0), map(m, n, false)};
  Lowering::Input a = l.input(gemm.getA()), b = l.input(gemm.getB());
  requireEqual(l, a.dims[gemm.getTransA() ? 0 : 1], b.dims[gemm.getTransB() ? 1 : 0],
               "the inner sizes of the product differ");
  Value product = l.contract("gemm", {a, b}, maps, {Iter::parallel, Iter::parallel, Iter::reduction}, accElem, out,
                             ScalarOps{l.b, l.loc, accElem}.constantInt(0), multiplyAdd(a.elem, b.elem, accElem));
  double alpha = gemm.getAlpha().convertToDouble(), beta = gemm.getBeta().convertToDouble();
  Value c = gemm.getC();
  if (beta == 0.0)
    c = nullptr;
  if (alpha == 1.0 && !c && accElem == elem) {
    l.set(gemm.getY(), product);
    return success();
  }
  SmallVector<Lowering::Input> inputs = {{product, accElem, out}};
  if (c) {
    requireBroadcast(l, l.dims(c), out, "C does not broadcast to the result");
    inputs.push_back(l.input(c));
  }
  Value y = l.elementwise(inputs, elem, out, [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
    // The product is in the accumulator's type, which has the compute type of `elem`.
    return affineSum({b, loc, accElem}, in[0], alpha, c ? in[1] : Value(), beta);
  });
  l.set(gemm.getY(), y);
  return success();
}

/// Gaussian elimination with partial pivoting on a copy, one matrix after the other.
static LogicalResult lowerDet(Operation *op, Lowering &l) {
  auto det = cast<onnx::DetOp>(op);
  Type elem = l.elem(det.getX()), work = Lowering::computeType(elem);
  SmallVector<Dim> dims = llvm::to_vector(l.dims(det.getX())), batch = llvm::to_vector(l.dims(det.getY()));
  if (dims.size() < 2)
    return unsupported(op, "the input must have rank 2 or more, but its rank is " + Twine(dims.size()));
  Value x = l.get(det.getX()), n = l.index(dims.back());
  requireEqual(l, dims.back(), dims[dims.size() - 2], "the matrices must be square");
  SmallVector<Value> batchSizes = l.indices(batch);
  Value last = n;

  auto body = [&](OpBuilder &b, Location loc, ValueRange dests) -> SmallVector<Value> {
    return Lowering::loopNest(
        b, loc, batchSizes, dests, [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
          IndexMath m{b, loc};
          FloatMath f(b, loc, work);
          Value zero = m.c(0), one = m.c(1);
          auto cell = [&](Value i, Value j) {
            SmallVector<Value> indices(at.begin(), at.end());
            indices.append({i, j});
            return indices;
          };
          Value copy = Lowering::loopNest(
              b, loc, {last, last}, {carried[1]}, [&](OpBuilder &b, Location loc, ValueRange ij, ValueRange t) {
                Value v = l.load(b, loc, x, elem, cell(ij[0], ij[1]));
                return SmallVector<Value>{tensor::InsertOp::create(b, loc, v, t[0], cell(ij[0], ij[1]))};
              })[0];
          auto eliminate = scf::ForOp::create(
              b, loc, zero, last, one, ValueRange{copy, f.constant(1)},
              [&](OpBuilder &b, Location loc, Value k, ValueRange args) {
                IndexMath m{b, loc};
                FloatMath f(b, loc, work);
                Value a = args[0];
                auto at2 = [&](OpBuilder &b, Value t, Value i, Value j) -> Value {
                  return tensor::ExtractOp::create(b, loc, t, cell(i, j));
                };
                // The row of the largest absolute value in column k.
                auto pivot = scf::ForOp::create(
                    b, loc, k, last, one, ValueRange{k, f.constant(-1)},
                    [&](OpBuilder &b, Location loc, Value i, ValueRange best) {
                      FloatMath f(b, loc, work);
                      Value v = f.abs(at2(b, a, i, k));
                      Value better = f.lt(best[1], v);
                      scf::YieldOp::create(b, loc,
                                           ValueRange{f.select(better, i, best[0]), f.select(better, v, best[1])});
                    });
                Value row = pivot.getResult(0);
                auto swapped = scf::ForOp::create(
                    b, loc, zero, last, one, ValueRange{a}, [&](OpBuilder &b, Location loc, Value j, ValueRange t) {
                      Value upper = at2(b, t[0], k, j), lower = at2(b, t[0], row, j);
                      Value next = tensor::InsertOp::create(b, loc, lower, t[0], cell(k, j));
                      next = tensor::InsertOp::create(b, loc, upper, next, cell(row, j));
                      scf::YieldOp::create(b, loc, next);
                    });
                a = swapped.getResult(0);
                Value head = at2(b, a, k, k);
                Value d = f.mul(args[1], head);
                d = f.select(m.eq(row, k), d, f.neg(d));
                Value isZero = f.eq(head, f.constant(0));
                auto rows = scf::ForOp::create(
                    b, loc, m.add(k, one), last, one, ValueRange{a},
                    [&](OpBuilder &b, Location loc, Value i, ValueRange t) {
                      FloatMath f(b, loc, work);
                      Value factor = f.select(isZero, f.constant(0), f.div(at2(b, t[0], i, k), head));
                      auto columns = scf::ForOp::create(
                          b, loc, k, last, one, t, [&](OpBuilder &b, Location loc, Value j, ValueRange t) {
                            FloatMath f(b, loc, work);
                            Value v = f.sub(at2(b, t[0], i, j), f.mul(factor, at2(b, t[0], k, j)));
                            scf::YieldOp::create(b, loc,
                                                 tensor::InsertOp::create(b, loc, v, t[0], cell(i, j)).getResult());
                          });
                      scf::YieldOp::create(b, loc, columns.getResults());
                    });
                scf::YieldOp::create(b, loc, ValueRange{rows.getResult(0), d});
              });
          Value result = Lowering::toStorage(b, loc, eliminate.getResult(1), elem);
          Value y = tensor::InsertOp::create(b, loc, result, carried[0], at);
          return SmallVector<Value>{y, eliminate.getResult(0)};
        });
  };
  l.set(det.getY(), l.loops("det", {{elem, batch}, {work, dims}}, body)[0]);
  return success();
}

static LogicalResult lowerEinsumOp(Operation *op, Lowering &l) { return lowerEinsum(op, l); }

void optc::registerMatmulLowerings(LoweringTable &table) {
  static constexpr std::pair<StringLiteral, LowerFn> kFunctions[] = {
      {"onnx.MatMul", lowerMatMul}, {"onnx.Gemm", lowerGemm}, {"onnx.Det", lowerDet}, {"onnx.Einsum", lowerEinsumOp}};
  for (auto [name, function] : kFunctions)
    table[name] = function;
}
