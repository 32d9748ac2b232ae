//===- SecondFactor.h - vectors of a product's second factor ----*- C++ -*-===//
//
// Vectors along the columns of b, or of what is computed from b and other tensors: dequantized weights. What can be
// done to a sum instead of to each of its elements is done there, and two vectors of 4-bit values come from one of
// bytes.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_CPU_SECONDFACTOR_H
#define OPTC_CODEGEN_CPU_SECONDFACTOR_H
#include "mlir/IR/IRMapping.h"
#include "optc/codegen/common/KernelBody.h"
#include "optc/codegen/cpu/Dot.h"

namespace optc::cpu {

class SecondFactor {
public:
  /// A tensor that the factor comes from.
  struct Tensor {
    const kernel::NestOperand *walk;
    mutable kernel::PackedOp packed; ///< a handle: reading it changes nothing
    mlir::Value buffer;
    bool isScalar;                        ///< the same for all columns
    mlir::Value panelStride;              ///< elements of the buffer from one panel to the next
    llvm::SmallVector<mlir::Value> bases; ///< per vector of the register tile

    /// The elements of panels that share bytes, which have 4 bits; null for others.
    mlir::IntegerType narrow() const;
    int64_t perByte() const { return narrow() ? 2 : 1; }
  };
  /// A position in the factor, or a step there: one per tensor, in elements of its buffer.
  using Places = llvm::SmallVector<mlir::Value, 1>;

  SecondFactor(codegen::KernelBody &body, const kernel::GemmBlocks &blocks) : body(body), b(body.b), blocks(blocks) {}

  /// Finds the tensors, and with `contract` what sums can take; `why` gets the reason of a failure.
  llvm::LogicalResult collect(const kernel::Contraction &contraction, bool contract, std::string &why);

  llvm::SmallVector<Tensor> tensors; ///< b first

  /// Vector v of the register tile; without panels, of the lanes in `mask`. Raw ones are what takes the fewest
  /// instructions, from which finish() makes sums.
  DotEmitter::Parts vector(const DotEmitter &dot, int64_t v, const Places &places, mlir::Value mask, bool raw);

  /// Whether the elements of the innermost loop over k share a scale, which vector() leaves out: it multiplies their
  /// sum.
  bool isScaled() const { return scale >= 0; }
  /// Whether elements are 4-bit values that share a zero point.
  bool hasRaw() const { return raw; }
  /// acc plus what the sum of that loop for vector v, of all `sums` of the row, comes to. `rowSum`, the sum of the
  /// row's elements, is null unless vectors were raw.
  mlir::Value finish(const DotEmitter &dot, mlir::Value acc, llvm::ArrayRef<mlir::Value> sums, mlir::Value rowSum,
                     int64_t v, const Places &places);

private:
  void findScale();
  void findRaw();
  mlir::Value load(const Tensor &tensor, int64_t v, mlir::Value place, mlir::Value mask);
  mlir::Value loadBytes(const Tensor &tensor, int64_t v, mlir::Value place, bool whole);
  mlir::Value halfOf(mlir::Value bytes, bool high);
  bool isHigh(int64_t v) const { return v % blocks.vectors >= blocks.vectors / 2; }
  /// Clones what computes `value` of the op's body.
  mlir::Value compute(mlir::Value value, mlir::IRMapping &map);

  codegen::KernelBody &body;
  mlir::ImplicitLocOpBuilder &b;
  const kernel::GemmBlocks &blocks;
  const kernel::Contraction *product = nullptr;
  int scale = -1;      ///< a tensor
  mlir::Value element; ///< what is computed per element, but for the scale; null: b itself
  bool raw = false;
  mlir::Value zero; ///< in the body, an integer computed from parameters; null: none
};

} // namespace optc::cpu
#endif
