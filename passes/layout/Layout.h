//===- Layout.h - orders of dimensions in memory --------------------------===//
//
// A layout is an order: `order[i]` is the dimension of the value, as its operator defines it, that is stored as
// dimension i. Dimensions of size 1 do not matter for what memory holds.
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_LAYOUT_LAYOUT_H
#define OPTC_PASSES_LAYOUT_LAYOUT_H
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/dialects/kernel/Kernel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace optc::layout {

using Order = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

Order identityOrder(size_t rank);
bool isIdentity(llvm::ArrayRef<int64_t> order);
/// Whether two orders of a tensor of this shape put every element at the same place.
bool sameMemory(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// The elements of `range` in `order`.
template <typename Range> auto inOrder(const Range &range, llvm::ArrayRef<int64_t> order) {
  llvm::SmallVector<std::decay_t<decltype(range[0])>> result;
  for (int64_t d : order)
    result.push_back(range[d]);
  return result;
}
/// The type in which a value of `type` is stored.
mlir::RankedTensorType storedType(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> order);
/// Places dimensions whose position is free (loop -1) behind the dimension before them, the others as `loops` has them.
Order orderByLoops(llvm::ArrayRef<int64_t> dimLoops, llvm::ArrayRef<int64_t> loops);

/// A size that can be compared: a constant, a scalar, or a dimension of a tensor.
struct Size {
  int64_t constant = mlir::ShapedType::kDynamic;
  mlir::Value value;
  int64_t dim = -1;
  bool isUnit() const { return constant == 1; }
  bool isConstant() const { return !mlir::ShapedType::isDynamic(constant); }
  bool operator==(const Size &o) const { return constant == o.constant && value == o.value && dim == o.dim; }
};
llvm::SmallVector<Size> sizesOf(mlir::Value tensor);

/// The order of a view's result that makes it a view of a source stored in `order`; none when the view merges
/// dimensions that are not neighbours in memory, or when the sizes do not tell.
std::optional<Order> throughView(llvm::ArrayRef<Size> source, llvm::ArrayRef<Size> result,
                                 llvm::ArrayRef<int64_t> order);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A contraction over windows or positions with channels, and the orders in which it wants input and result.
struct Convolution {
  Order x, y;
  int64_t channels;    ///< per group; kDynamic when unknown
  double multiplyAdds; ///< unknown sizes count as kNominalSize
};
/// By its maps: input [batch, (group), channel, position...], where positions may be windows, weights without batch and
/// position, result [batch, (group), filter, position...]. None when the input has channels last already.
std::optional<Convolution> matchConvolution(mlir::linalg::GenericOp op);

/// Stands for a size that is not known.
inline constexpr int64_t kNominalSize = 64;
double elementsOf(mlir::Value tensor);

/// For each dimension of `tensor`, the loop of `op` that walks it, or -1. By the map of its operand or, when the body
/// reads it, by what the indices are computed from. None when the op does not use it.
std::optional<Order> loopsOf(mlir::linalg::GenericOp op, mlir::Value tensor);

/// The result of a cast, a slice or a concatenation: it has the dimensions of its operands, in their order. Null for
/// other ops.
mlir::Value sameDimensions(mlir::Operation *op);

/// Whether the op only moves elements: result[...] = input[permutation].
bool isTransposition(mlir::linalg::GenericOp op);

/// Whether every place that holds the contents of result `index` of a dispatch of sequential loops reads and writes it
/// by index, so that it can be stored in any order.
bool isReorderable(kernel::DispatchOp dispatch, unsigned index);
/// The block argument, results and loop-carried values that hold the contents of result `index`. Fails when an op does
/// something else with them than to read and write elements.
mlir::FailureOr<llvm::SetVector<mlir::Value>> contentsOf(kernel::DispatchOp dispatch, unsigned index);
/// Whether the dispatch copies elements of `tensor` to result `index` with each dimension going to the same dimension.
bool copiesByDimension(kernel::DispatchOp dispatch, unsigned index, mlir::Value tensor);

//===----------------------------------------------------------------------===//
// Layouts of a function
//===----------------------------------------------------------------------===//

/// Which values are stored in another order than the one of their operator.
class Layouts {
public:
  /// The order of a value; its own when none was assigned.
  Order of(mlir::Value v) const;
  bool has(mlir::Value v) const { return orders.count(v); }
  const llvm::MapVector<mlir::Value, Order> &all() const { return orders; }
  void set(mlir::Value v, Order order) { orders[v] = std::move(order); }
  void erase(mlir::Value v) { orders.erase(v); }

  /// Stores `v` in `order` when the op that makes it can: structured ops, reorderable dispatches, views and casts of
  /// values that can. Returns whether it is stored so now; values assigned are appended to `assigned`.
  bool assign(mlir::Value v, llvm::ArrayRef<int64_t> order, llvm::SmallVectorImpl<mlir::Value> &assigned);

  /// Whether the user takes the value in the order in which it is stored.
  bool accepts(mlir::OpOperand &use) const;

private:
  llvm::MapVector<mlir::Value, Order> orders;
};

/// A component of values that share channels-last order, as decided.
struct Component {
  mlir::Location loc;
  unsigned convolutions = 0;
  double multiplyAdds = 0, moved = 0; ///< `moved`: elements that transpositions at its boundary move
  bool accepted = false;
};

/// Assigns channels-last order around convolutions. `converted` receives the convolutions that want their input so.
llvm::SmallVector<Component> assignChannelsLast(mlir::func::FuncOp func, Layouts &layouts, double worth,
                                                llvm::MapVector<mlir::Operation *, Convolution> &converted);
/// Assigns orders that make transpositions of the model copies. Returns how many.
unsigned absorbTranspositions(mlir::func::FuncOp func, Layouts &layouts);

struct RewriteCounts {
  unsigned transpositions = 0, removed = 0;
};
/// Inserts transpositions where users need another order, rewrites every op for the orders of its operands and results,
/// and removes copies that this leaves.
RewriteCounts rewriteLayouts(mlir::func::FuncOp func, Layouts &layouts,
                             const llvm::MapVector<mlir::Operation *, Convolution> &converted);

} // namespace optc::layout
#endif
