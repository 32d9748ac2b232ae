//===- Scalars.h - index and float arithmetic for lowerings ---------------===//
//
// Small builders used on the host and inside bodies. Index arithmetic folds constants, so that code written for sizes
// known at run time costs nothing when they are known at compile time.
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_LOWERING_SCALARS_H
#define OPTC_PASSES_LOWERING_SCALARS_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "optc/passes/lowering/Lowering.h"

namespace optc {

// Apart from the IndexMath of LoweringUtils.h, whose division differs.
inline namespace scalars {

/// Arithmetic on values of type index.
struct IndexMath {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value c(int64_t v) const { return mlir::arith::ConstantIndexOp::create(b, loc, v); }
  mlir::Value add(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::AddIOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::SubIOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::MulIOp>(x, y); }
  mlir::Value add(mlir::Value x, int64_t y) const { return y == 0 ? x : add(x, c(y)); }
  mlir::Value mul(mlir::Value x, int64_t y) const { return y == 1 ? x : mul(x, c(y)); }
  /// Rounds towards zero; the divisor is a positive constant.
  mlir::Value div(mlir::Value x, int64_t y) const { return y == 1 ? x : fold<mlir::arith::DivSIOp>(x, c(y)); }
  mlir::Value rem(mlir::Value x, int64_t y) const { return y == 1 ? c(0) : fold<mlir::arith::RemSIOp>(x, c(y)); }
  /// Rounds towards zero; a divisor below 1 counts as 1.
  mlir::Value div(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::DivSIOp>(x, max(y, c(1))); }
  mlir::Value rem(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::RemSIOp>(x, max(y, c(1))); }
  mlir::Value min(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::MinSIOp>(x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) const { return fold<mlir::arith::MaxSIOp>(x, y); }
  mlir::Value cmp(mlir::arith::CmpIPredicate p, mlir::Value x, mlir::Value y) const {
    return b.createOrFold<mlir::arith::CmpIOp>(loc, p, x, y);
  }
  mlir::Value lt(mlir::Value x, mlir::Value y) const { return cmp(mlir::arith::CmpIPredicate::slt, x, y); }
  mlir::Value le(mlir::Value x, mlir::Value y) const { return cmp(mlir::arith::CmpIPredicate::sle, x, y); }
  mlir::Value eq(mlir::Value x, mlir::Value y) const { return cmp(mlir::arith::CmpIPredicate::eq, x, y); }
  /// 0 <= x < size
  mlir::Value inside(mlir::Value x, mlir::Value size) const { return cmp(mlir::arith::CmpIPredicate::ult, x, size); }
  mlir::Value both(mlir::Value x, mlir::Value y) const { return x ? fold<mlir::arith::AndIOp>(x, y) : y; }
  mlir::Value select(mlir::Value cond, mlir::Value x, mlir::Value y) const {
    return b.createOrFold<mlir::arith::SelectOp>(loc, cond, x, y);
  }
  /// x into [0, size); 0 for an empty range.
  mlir::Value clamp(mlir::Value x, mlir::Value size) const { return max(min(x, add(size, -1)), c(0)); }
  mlir::Value toFloat(mlir::Value x, mlir::Type type) const {
    return mlir::arith::SIToFPOp::create(b, loc, type, mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), x));
  }

private:
  template <typename Op> mlir::Value fold(mlir::Value x, mlir::Value y) const { return b.createOrFold<Op>(loc, x, y); }
};

/// Float arithmetic beyond ScalarOps, on f32 or f64.
struct FloatMath : ScalarOps {
  FloatMath(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type) : ScalarOps{b, loc, type} {}

  mlir::Value floor(mlir::Value x) const { return mlir::math::FloorOp::create(b, loc, x); }
  mlir::Value ceil(mlir::Value x) const { return mlir::math::CeilOp::create(b, loc, x); }
  mlir::Value roundEven(mlir::Value x) const { return mlir::math::RoundEvenOp::create(b, loc, x); }
  mlir::Value abs(mlir::Value x) const { return mlir::math::AbsFOp::create(b, loc, x); }
  mlir::Value fromIndex(mlir::Value x) const { return IndexMath{b, loc}.toFloat(x, elem); }
  /// Truncates towards zero into [lo, hi]; NaN gives lo. Never poison.
  mlir::Value toIndex(mlir::Value x, mlir::Value lo, mlir::Value hi) const {
    mlir::Value l = fromIndex(lo), h = fromIndex(hi);
    x = select(lt(l, x), x, l);
    x = select(lt(x, h), x, h);
    mlir::Value i = mlir::arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
    IndexMath m{b, loc};
    return m.max(m.min(mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), i), hi), lo);
  }
  mlir::Value toIndex(mlir::Value x, int64_t lo, int64_t hi) const {
    IndexMath m{b, loc};
    return toIndex(x, m.c(lo), m.c(hi));
  }
};

/// The bounds that coordinates are clamped to before they become integers: exact in f32.
inline constexpr int64_t kCoordinateLimit = 1 << 24;

/// `then()` when the condition holds, else `otherwise`; a branch, so that `then` may load.
inline mlir::Value ifElse(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition, mlir::Value otherwise,
                          llvm::function_ref<mlir::Value(mlir::OpBuilder &)> then) {
  auto op = mlir::scf::IfOp::create(
      b, loc, condition,
      [&](mlir::OpBuilder &nested, mlir::Location) { mlir::scf::YieldOp::create(nested, loc, then(nested)); },
      [&](mlir::OpBuilder &nested, mlir::Location) { mlir::scf::YieldOp::create(nested, loc, otherwise); });
  return op.getResult(0);
}

/// Nested loops over [0, sizes) that carry scalars.
inline llvm::SmallVector<mlir::Value>
scalarLoops(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> sizes, mlir::ValueRange init,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange ivs,
                                                              mlir::ValueRange carried)>
                body) {
  IndexMath m{b, loc};
  mlir::Value zero = m.c(0), one = m.c(1);
  llvm::SmallVector<mlir::Value> ivs;
  std::function<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, size_t, mlir::ValueRange)> nest =
      [&](mlir::OpBuilder &nb, size_t level, mlir::ValueRange carried) -> llvm::SmallVector<mlir::Value> {
    if (level == sizes.size())
      return body(nb, ivs, carried);
    auto loop =
        mlir::scf::ForOp::create(nb, loc, zero, sizes[level], one, carried,
                                 [&](mlir::OpBuilder &in, mlir::Location, mlir::Value iv, mlir::ValueRange args) {
                                   ivs.push_back(iv);
                                   mlir::scf::YieldOp::create(in, loc, nest(in, level + 1, args));
                                   ivs.pop_back();
                                 });
    return llvm::SmallVector<mlir::Value>(loop.getResults());
  };
  return nest(b, 0, init);
}

} // namespace scalars
} // namespace optc
#endif
