//===- Dot.h - the multiply-add of a register tile --------------*- C++ -*-===//
//
// One step of k, or a group of `depth` steps for integers of 8 bits, whose products an instruction adds up per lane.
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

  /// The elements of a row that start at `offset`, in every lane.
  mlir::Value row(mlir::Value buffer, mlir::Value offset) const;
  /// A group whose elements are at `offsets`, of which there are `depth`.
  mlir::Value row(mlir::Value buffer, mlir::ArrayRef<mlir::Value> offsets) const;
  /// The elements of b for all lanes.
  mlir::Value columns(mlir::Value buffer, mlir::Value offset, mlir::Value mask) const;
  mlir::Value multiplyAdd(mlir::Value acc, mlir::Value row, mlir::Value columns) const;

  /// Whether row() adds 128 to every element: the instruction takes unsigned rows only. What it adds to a sum is the
  /// sum of biasRow() times the columns.
  bool isBiased() const { return depth == 4 && product->aFactor == kernel::Contraction::Factor::Signed; }
  mlir::Value biasRow() const;

private:
  DotEmitter(mlir::ImplicitLocOpBuilder &b, const kernel::Contraction &product) : b(&b), product(&product) {}
  /// Elements of one lane of a row, as a vector, in all lanes.
  mlir::Value spreadGroup(mlir::Value group) const;
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
