//===- Dot.h - the multiply-add of a register tile --------------*- C++ -*-===//
//
// One step of k, or a group of four for integers of 8 bits, whose products instructions add up per lane.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CPU_DOT_H
#define OPTC_CODEGEN_CPU_DOT_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "optc/dialects/kernel/LoopNest.h"
#include "optc/dialects/kernel/Strategy.h"

namespace optc::cpu {

class DotEmitter {
public:
  /// Fails with an error at the product when there are no instructions for such groups.
  static mlir::FailureOr<DotEmitter> get(mlir::ImplicitLocOpBuilder &b, const kernel::Contraction &product,
                                         const kernel::GemmBlocks &blocks, bool contract);

  mlir::VectorType accumulatorType() const { return accType; }

  /// What the instructions of a step take, one after the other.
  using Parts = llvm::SmallVector<mlir::Value, 2>;

  /// The elements of a row that start at `offset`, in every lane.
  Parts row(mlir::Value buffer, mlir::Value offset) const;
  /// A group whose elements are at `offsets`.
  Parts row(mlir::Value buffer, mlir::ArrayRef<mlir::Value> offsets) const;
  /// Loaded elements of b, one or a group per lane.
  Parts columns(mlir::Value loaded) const;
  mlir::Value multiplyAdd(mlir::Value acc, const Parts &row, const Parts &columns) const;

  /// Whether row() adds 128 to every element: the instruction takes unsigned rows only. What it adds to a sum is the
  /// sum of biasRow() times the columns.
  bool isBiased() const { return depth == 4 && product->aFactor == kernel::Contraction::Factor::Signed; }
  Parts biasRow() const;

private:
  DotEmitter(mlir::ImplicitLocOpBuilder &b, const kernel::Contraction &product) : b(&b), product(&product) {}
  /// Elements of one lane of a row, as a vector, in all lanes.
  Parts spreadGroup(mlir::Value group) const;
  /// Bytes of groups as the first and third, then the second and fourth ones, widened to 16 bits.
  Parts pairs(mlir::Value bytes, kernel::Contraction::Factor kind) const;
  mlir::Value widened(mlir::Value v, kernel::Contraction::Factor kind, mlir::Type to) const;

  mlir::ImplicitLocOpBuilder *b;
  const kernel::Contraction *product;
  int64_t lanes = 1, depth = 1;
  mlir::VectorType accType;
  llvm::StringRef intrinsic;
  mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none;
};

} // namespace optc::cpu
#endif
