//===- Dim.h - symbolic sizes -----------------------------------*- C++ -*-===//
//
// A Dim is a size, or an element of a small integer tensor, as an expression over sizes and elements known only at
// run time. Expressions are interned in a DimTable and simplified when made: equal expressions are equal pointers.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_ONNX_DIM_H
#define OPTC_DIALECTS_ONNX_DIM_H
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace optc {

enum class DimKind : uint8_t {
  Const,
  Leaf,    ///< size `value` of `tensor`
  Element, ///< element `value` (row-major) of the integer tensor `tensor`
  Add,
  Sub,
  Mul,
  FloorDiv, ///< rounds towards minus infinity
  CeilDiv,
  Mod, ///< has the sign of the divisor
  Min,
  Max,
  Broadcast, ///< lhs, or rhs where lhs is 1; the sizes must be equal or 1
};

struct DimNode;
using Dim = const DimNode *;

struct DimNode {
  DimKind kind;
  int64_t value = 0;  ///< Const: the value; Leaf: the axis; Element: the index
  mlir::Value tensor; ///< Leaf, Element
  Dim lhs = nullptr, rhs = nullptr;
  unsigned id = 0;            ///< order of creation
  unsigned depth = 0;         ///< of the expression
  unsigned size = 1;          ///< parts of the expression, counted up to 1000
  bool dataDependent = false; ///< mentions an Element
  bool nonNegative = false;   ///< can be shown to be at least 0

  bool isConst() const { return kind == DimKind::Const; }
  bool isConst(int64_t v) const { return isConst() && value == v; }
};

/// The constant value of a size.
inline std::optional<int64_t> constantOf(Dim d) {
  return d->isConst() ? std::optional<int64_t>(d->value) : std::nullopt;
}

/// Owns expressions. The constructors fold constants, order operands and normalise sums of products, so that sizes
/// that are equal by linear arithmetic are the same pointer.
class DimTable {
public:
  Dim constant(int64_t value);
  Dim leaf(mlir::Value tensor, int64_t axis);
  Dim element(mlir::Value tensor, int64_t index);
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim floorDiv(Dim a, Dim b);
  Dim ceilDiv(Dim a, Dim b);
  Dim mod(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  Dim max(Dim a, Dim b);
  /// The size that `a` and `b` broadcast to; null when they cannot.
  Dim broadcast(Dim a, Dim b);

  Dim add(Dim a, int64_t b) { return add(a, constant(b)); }
  Dim sub(Dim a, int64_t b) { return sub(a, constant(b)); }
  Dim mul(Dim a, int64_t b) { return mul(a, constant(b)); }
  Dim floorDiv(Dim a, int64_t b) { return floorDiv(a, constant(b)); }
  Dim ceilDiv(Dim a, int64_t b) { return ceilDiv(a, constant(b)); }

  /// Whether the value can be shown to be at least 0.
  static bool isNonNegative(Dim d) { return d->nonNegative; }
  /// Gives a leaf the name it is printed with.
  void nameLeaf(Dim leaf, llvm::StringRef name) { names[leaf] = name.str(); }
  void print(llvm::raw_ostream &os, Dim d) const;

private:
  /// constant + sum of coefficient * term, ordered by the terms' ids.
  struct Linear {
    llvm::SmallVector<std::pair<Dim, int64_t>, 4> terms;
    int64_t constant = 0;
    bool overflow = false;
    void add(Dim term, int64_t coefficient);
  };
  /// coefficient * product of factors, ordered by id.
  struct Product {
    llvm::SmallVector<Dim, 4> factors;
    int64_t coefficient = 1;
    bool overflow = false;
  };
  Linear linear(Dim d);
  void addTo(Linear &sum, Dim d, int64_t scale);
  Dim rebuild(const Linear &sum);
  Product product(Dim d);
  void multiplyInto(Product &p, Dim d);
  Dim rebuild(const Product &p);
  /// a / b where it leaves no remainder for any value of the leaves; null when that cannot be shown.
  Dim divideExactly(Dim a, Dim b);
  Dim make(DimKind kind, Dim lhs, Dim rhs);
  Dim intern(DimKind kind, int64_t value, mlir::Value tensor, Dim lhs, Dim rhs);

  using Key = std::tuple<unsigned, int64_t, void *, Dim, Dim>;
  llvm::SpecificBumpPtrAllocator<DimNode> allocator;
  llvm::DenseMap<Key, Dim> nodes;
  llvm::DenseMap<Dim, std::string> names;
};

} // namespace optc
#endif
