//===- LoopNest.h - a structured op as loops over flat buffers --*- C++ -*-===//
//
// What dispatch, configure and the emitters want to know of a linalg.generic: how far each operand moves, in elements
// of its row-major buffer, when a loop takes a step. Sizes that only a run knows are symbols, equal where linalg says
// that they are.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_LOOPNEST_H
#define OPTC_DIALECTS_KERNEL_LOOPNEST_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "optc/dialects/kernel/Kernel.h"

namespace optc::kernel {

/// Dimension `dim` of a tensor whose size only a run knows.
struct RuntimeSize {
  mlir::Value tensor;
  unsigned dim;
  bool operator==(const RuntimeSize &other) const { return tensor == other.tensor && dim == other.dim; }
};

/// A size or a stride: a constant times run-time sizes.
struct SizeExpr {
  int64_t factor = 1;
  llvm::SmallVector<RuntimeSize, 2> runtime;

  SizeExpr(int64_t factor = 1) : factor(factor) {}
  bool isStatic() const { return runtime.empty(); }
  bool is(int64_t v) const { return isStatic() && factor == v; }
  SizeExpr operator*(const SizeExpr &other) const;
  bool operator==(const SizeExpr &other) const;
  /// The constant, or `fallback` for what only a run knows.
  int64_t valueOr(int64_t fallback) const { return isStatic() ? factor : fallback; }
};

/// An operand of a nest: its tensor and the elements it moves by per loop (0: it stays).
struct NestOperand {
  mlir::Value tensor;
  llvm::SmallVector<SizeExpr> strides;
  bool moves(unsigned loop) const { return !strides[loop].is(0); }
};

struct LoopNest {
  mutable mlir::linalg::GenericOp op; ///< a handle: reading it changes nothing
  llvm::SmallVector<SizeExpr> sizes;  ///< per loop
  llvm::SmallVector<mlir::utils::IteratorType> kinds;
  llvm::SmallVector<NestOperand> operands; ///< inputs, then results

  unsigned numLoops() const { return sizes.size(); }
  bool isReduction(unsigned loop) const { return kinds[loop] == mlir::utils::IteratorType::reduction; }
  NestOperand &result(unsigned i = 0) { return operands[op.getNumDpsInputs() + i]; }
  const NestOperand &result(unsigned i = 0) const { return operands[op.getNumDpsInputs() + i]; }
  SizeExpr sizeOf(llvm::ArrayRef<unsigned> loops) const;

  /// Whether the loops, outermost first, are one loop for this operand.
  bool isFlat(const NestOperand &operand, llvm::ArrayRef<unsigned> loops) const;
  /// Strides of a tensor that is read through `map` over the first `map.getNumDims()` loops given by `loopOf` (the
  /// nest's loop for each dimension of the map). Fails on maps that are not sums of multiples of loops.
  mlir::FailureOr<NestOperand> access(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<unsigned> loopOf) const;
};

/// Fails when a map is not a sum of multiples of loops without an offset.
mlir::FailureOr<LoopNest> loopNestOf(mlir::linalg::GenericOp op);

/// A sum of products: result[outer, m, n] += a[outer, m, k] * b[outer, k, n].
struct Contraction {
  LoopNest nest;
  unsigned a = 0, b = 1; ///< operands; b is the one that moves along the result's last dimension
  /// Consecutive dimensions of the result.
  struct Run {
    unsigned first = 0, count = 0;
  };
  /// The rows (only a moves; may be empty) and the columns (only b moves; the last dimensions).
  Run rows, columns;
  /// Loops of more than one step, each list outermost first: those of `rows` and `columns`, all other parallel ones,
  /// and the reductions in the order of a's stride.
  llvm::SmallVector<unsigned> m, n, outer, k;

  /// The elements of a factor as they are multiplied: those of the tensor, or those widened to the type of the result.
  enum class Factor { Plain, Signed, Unsigned, Float };
  Factor aFactor = Factor::Plain, bFactor = Factor::Plain;
  bool isInteger = false; ///< exact sums of widened integers
  /// The second factor where it is more than an element of b, in the body of the op, and the inputs besides b that it
  /// is computed from: dequantized weights with their scales and zero points. Those move along loops of b only.
  mlir::Value computedB;
  llvm::SmallVector<unsigned> parameters;

  /// How many of the last loops of k are one loop over elements of a that follow each other.
  unsigned contiguousRun() const;

  const NestOperand &operandA() const { return nest.operands[a]; }
  const NestOperand &operandB() const { return nest.operands[b]; }
  /// b and the parameters.
  llvm::SmallVector<const NestOperand *> secondOperands() const {
    llvm::SmallVector<const NestOperand *> all{&operandB()};
    for (unsigned i : parameters)
      all.push_back(&nest.operands[i]);
    return all;
  }
};

/// Matches a product of two tensors, accumulated from zero: floats of the element type of the result, or of 16 bits and
/// widened to f32, of which b may be integers or computed from several tensors; or integers of 8 or 16 bits that are
/// widened to 32. `why` gets the reason of a refusal.
mlir::FailureOr<Contraction> matchContraction(mlir::linalg::GenericOp op, std::string *why = nullptr);

/// Whether b's columns are contiguous where they are, so that vectors can read it without packing.
bool hasContiguousColumns(const Contraction &c);
/// Whether b's dimensions can be put into panels.
bool isPackable(const Contraction &c);

/// Whether the last group of a run, when steps are left, ends with the run and repeats steps of the group before, times
/// zero: its elements of a are read like others then. Runs shorter than a group, and those whose size only a run knows,
/// have zeros behind their end.
bool lastGroupEndsRun(mlir::RankedTensorType source, PackingAttr packing);

/// Whether every op of a body works element by element on vectors, too: arith, math and constants; nothing that reads
/// memory. `indices`: it may ask where it is.
bool isElementwiseBody(mlir::Block &body, bool indices = false);

/// An elementwise op behind a nest.
struct Epilogue {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<NestOperand> operands; ///< in the loops of the nest
  llvm::SmallVector<unsigned> loopOf;      ///< the nest's loop for each loop of the op
};

/// How an elementwise consumer of a nest's result walks. Fails when it does not read the result at the very element
/// that it writes, or an operand neither stays nor moves by one element along the loops `columns` (vectors could not
/// read it). `indices`: its body may ask where it is, except along the columns.
mlir::FailureOr<Epilogue> matchEpilogue(const LoopNest &nest, llvm::ArrayRef<unsigned> columns,
                                        mlir::linalg::GenericOp op, mlir::Value result, bool indices,
                                        std::string *why = nullptr);
/// Whether the structured ops of `body` besides the nest's are such consumers, each of the one before.
mlir::LogicalResult matchEpilogues(const LoopNest &nest, llvm::ArrayRef<unsigned> columns, mlir::Block &body,
                                   bool indices, std::string *why = nullptr);

/// The dimension of an operand's tensor that each loop walks, for packing; fails when a dimension is walked by no loop
/// or by more than one.
mlir::FailureOr<llvm::SmallVector<int64_t>> dimsOfLoops(const LoopNest &nest, const NestOperand &operand,
                                                        llvm::ArrayRef<unsigned> loops);

} // namespace optc::kernel
#endif
