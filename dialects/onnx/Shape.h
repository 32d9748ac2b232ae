//===- Shape.h - shape inference with symbolic sizes ------------*- C++ -*-===//
//
// One shape function per operator (shapes/*.cpp) computes what is known of its results: element type, rank, sizes as
// Dim expressions, and the elements of small integer tensors. Inference sets result types from that; the lowering
// makes host scalars of the same expressions. Shape functions build no IR.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_ONNX_SHAPE_H
#define OPTC_DIALECTS_ONNX_SHAPE_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "optc/dialects/onnx/Dim.h"
#include "optc/dialects/onnx/OpTable.h"
#include "llvm/ADT/StringMap.h"

namespace optc {

/// Elements are tracked for integer and bool tensors of rank 0 and 1 with at most so many elements.
constexpr int64_t maxTrackedElements = 64;

/// What is known of a value.
struct ShapeInfo {
  mlir::Type elementType; ///< of a tensor; null for sequences, optionals and maps
  mlir::Type type;        ///< the whole type of those
  bool ranked = false;
  llvm::SmallVector<Dim> dims;
  /// The elements of a small integer tensor of rank 0 or 1, row-major. They are signed values; sizes are not the only
  /// use, so they may be negative.
  std::optional<llvm::SmallVector<Dim>> elements;

  int64_t rank() const { return dims.size(); }
  /// The constant elements, when all are known at compile time.
  std::optional<llvm::SmallVector<int64_t>> constElements() const;
  bool operator==(const ShapeInfo &o) const {
    return elementType == o.elementType && type == o.type && ranked == o.ranked && dims == o.dims &&
           elements == o.elements;
  }
};

class ShapeTable : public DimTable {
public:
  /// What is known of `value`; of values that no shape function has seen, what their type says.
  const ShapeInfo &get(mlir::Value value);
  void set(mlir::Value value, ShapeInfo info);
  bool has(mlir::Value value) const { return infos.count(value); }
  void erase(mlir::Value value) {
    infos.erase(value);
    grids.erase(value);
  }
  /// The elements, row-major, of a small integer tensor of rank 2 or more. Only operators that rearrange elements
  /// follow these; they lead from one vector to another (amounts of padding, for instance). Forgotten when `value` is
  /// set.
  void setGrid(mlir::Value value, llvm::SmallVector<Dim> elements) { grids[value] = std::move(elements); }
  std::optional<llvm::SmallVector<Dim>> gridOf(mlir::Value value) const;

  /// What a type says; unknown sizes become leaves of `value`.
  ShapeInfo fromType(mlir::Value value, mlir::Type type);
  /// The type of a value: static sizes where the expression is a constant.
  static mlir::Type typeOf(const ShapeInfo &info);
  /// The elements of a tensor: those known, or Element leaves when their number is known and small.
  std::optional<llvm::SmallVector<Dim>> elementsOf(mlir::Value value);
  /// The product of all sizes.
  Dim numElements(llvm::ArrayRef<Dim> dims);

  std::string str(llvm::ArrayRef<Dim> dims) const;
  std::string str(const ShapeInfo &info) const;

private:
  void bindArguments(mlir::func::FuncOp func);
  llvm::DenseMap<mlir::Value, std::unique_ptr<ShapeInfo>> infos;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Dim>> grids;
};

/// The name of a node for messages: its NameLoc, or its operator.
std::string nodeName(mlir::Operation *op);

/// What a shape function works with. Numbers of operands and results are ONNX positions.
class ShapeContext {
public:
  ShapeContext(mlir::Operation *op, ShapeTable &table) : op(op), table(table), info(onnx::infoFor(op)) {}

  mlir::Operation *op;
  ShapeTable &table;
  const onnx::OpInfo *info; ///< never null inside a shape function

  // ---- operands ----
  mlir::Value operand(unsigned i) const { return onnx::operand(op, i); }
  bool has(unsigned i) const { return bool(operand(i)); }
  /// Operand `i`; it must be present.
  const ShapeInfo &in(unsigned i) const { return table.get(operand(i)); }
  bool ranked(unsigned i) const { return has(i) && in(i).ranked; }
  const llvm::SmallVector<Dim> &dims(unsigned i) const { return in(i).dims; }
  int64_t rank(unsigned i) const { return in(i).rank(); }
  mlir::Type elementType(unsigned i) const { return in(i).elementType; }
  std::optional<llvm::SmallVector<Dim>> elements(unsigned i) const;
  /// The elements of a vector that has `count` of them by the operator's definition, also where its type does not say
  /// so. The lowering checks the length when it reads them.
  std::optional<llvm::SmallVector<Dim>> elements(unsigned i, int64_t count) const;
  std::optional<llvm::SmallVector<int64_t>> constElements(unsigned i) const;
  /// The tracked elements of an operand of any rank, row-major, when its sizes are constants.
  std::optional<llvm::SmallVector<Dim>> rowMajor(unsigned i) const;
  /// The values of a small constant floating-point operand.
  std::optional<llvm::SmallVector<double>> constFloats(unsigned i) const;

  // ---- attributes ----
  int64_t intAttr(llvm::StringRef name, int64_t fallback) const;
  llvm::StringRef strAttr(llvm::StringRef name, llvm::StringRef fallback = "") const;
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name) const;
  bool hasAttr(llvm::StringRef name) const { return bool(op->getAttr(name)); }

  // ---- results ----
  mlir::Value result(unsigned i) const { return onnx::result(op, i); }
  bool hasResult(unsigned i) const { return bool(result(i)); }
  /// A size known only once result `i` exists.
  Dim leaf(unsigned i, int64_t axis) const { return table.leaf(result(i), axis); }
  /// The element type of result `i`: that of an operand with the same type variable, or the only one allowed; else
  /// that of its present type.
  mlir::Type resultElement(unsigned i) const;
  /// Set a result; nothing happens for absent ones.
  mlir::LogicalResult set(unsigned i, mlir::Type elementType, llvm::ArrayRef<Dim> dims,
                          std::optional<llvm::SmallVector<Dim>> elements = std::nullopt);
  /// The same with the elements of a result of any rank, which are kept where `dims` are constants.
  mlir::LogicalResult setRowMajor(unsigned i, mlir::Type elementType, llvm::ArrayRef<Dim> dims,
                                  std::optional<llvm::SmallVector<Dim>> elements);
  mlir::LogicalResult set(unsigned i, llvm::ArrayRef<Dim> dims) { return set(i, resultElement(i), dims); }
  /// A result of known rank and unknown sizes.
  mlir::LogicalResult setRank(unsigned i, mlir::Type elementType, int64_t rank);
  mlir::LogicalResult setUnranked(unsigned i, mlir::Type elementType);
  mlir::LogicalResult setUnranked(unsigned i) { return setUnranked(i, resultElement(i)); }
  /// A result whose rank only a run knows: the one that its users ask for (RankDemand.h), if there is one. The lowering
  /// of the op has to check it.
  mlir::LogicalResult setDemanded(unsigned i, mlir::Type elementType);
  /// A sequence, optional or map.
  mlir::LogicalResult setType(unsigned i, mlir::Type type);
  /// Result `i` is the same as `info` (dims, elements, type).
  mlir::LogicalResult setInfo(unsigned i, const ShapeInfo &info);

  // ---- helpers ----
  Dim constant(int64_t v) const { return table.constant(v); }
  llvm::SmallVector<Dim> constants(llvm::ArrayRef<int64_t> values) const;
  /// An axis in [-rank, rank) made non-negative; an error otherwise.
  mlir::FailureOr<int64_t> axis(int64_t value, int64_t rank, llvm::StringRef what = "axis") const;
  /// Sorted, unique axes.
  mlir::FailureOr<llvm::SmallVector<int64_t>> axes(llvm::ArrayRef<int64_t> values, int64_t rank) const;
  /// numpy broadcasting of `a` and `b`.
  mlir::FailureOr<llvm::SmallVector<Dim>> broadcast(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b) const;
  /// Whether `a` and `b` are different constants.
  static bool differ(Dim a, Dim b) { return a->isConst() && b->isConst() && a != b; }
  /// An error unless operand `i` has the rank, where it is known.
  mlir::LogicalResult expectRank(unsigned i, int64_t rank) const;
  /// An error that names the node and the operator; returns failure.
  mlir::LogicalResult error(const llvm::Twine &message) const;
  std::string str(llvm::ArrayRef<Dim> dims) const { return table.str(dims); }
};

using ShapeFn = mlir::LogicalResult (*)(ShapeContext &);
using ShapeFnTable = llvm::StringMap<ShapeFn>;
/// All shape functions by op name ("onnx.Add").
const ShapeFnTable &shapeFunctions();

/// Infers one op (with its regions) from its operands: fills the table and sets the types of its results.
mlir::LogicalResult inferOp(mlir::Operation *op, ShapeTable &table);
/// Infers the ops of a block in order.
mlir::LogicalResult inferBlock(mlir::Block &block, ShapeTable &table);
/// Infers a function; sets its result types. Arguments are what their types and `onnx.dim_params` say.
mlir::LogicalResult inferShapes(mlir::func::FuncOp func, ShapeTable &table);

} // namespace optc
#endif
