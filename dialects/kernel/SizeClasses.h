//===- SizeClasses.h - which sizes are equal --------------------*- C++ -*-===//
//
// Run-time sizes go by many names: a dimension of a tensor, the value that its tensor.empty was given, a product of
// such. Every structured op adds what it says about its operands: those that one loop walks have one size.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_KERNEL_SIZECLASSES_H
#define OPTC_DIALECTS_KERNEL_SIZECLASSES_H
#include "optc/dialects/kernel/LoopNest.h"

namespace optc::kernel {

class SizeClasses {
public:
  /// Learns which sizes an op needs to be equal.
  void add(mlir::linalg::GenericOp op);
  bool equal(const SizeExpr &a, const SizeExpr &b) { return canonical(a) == canonical(b); }

private:
  /// A constant times classes of run-time sizes, in order.
  struct Product {
    int64_t factor = 1;
    llvm::SmallVector<unsigned> classes;
    bool operator==(const Product &o) const { return factor == o.factor && classes == o.classes; }
  };
  using Name = std::pair<mlir::Value, unsigned>; ///< a tensor and its dimension, or an index value and 0

  void multiply(Product &product, mlir::Value value);
  void multiply(Product &product, mlir::Value tensor, unsigned dim);
  void multiplySymbol(Product &product, Name name);
  Product canonical(const SizeExpr &expr);
  unsigned leader(unsigned id);

  llvm::DenseMap<Name, unsigned> ids;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<std::optional<int64_t>> constants; ///< of leaders
};

} // namespace optc::kernel
#endif
