//===- Lowering.h - what the lowering of one onnx operator works with -----===//
//
// Lowering is one walk in program order. For every op the walk calls the op's lowering function (a table filled by the
// register* functions below), which builds tensors with the helpers of `Lowering` and hands them over with `set`.
//
// Two kinds of element types appear. "Element type" is that of the onnx dialect (it tells signedness and the narrow
// float formats); "storage type" is what tensors hold from here on; "compute type" is what scalars have inside a body.
// docs/architecture.md has the table.
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_LOWERING_LOWERING_H
#define OPTC_PASSES_LOWERING_LOWERING_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "optc/dialects/kernel/Kernel.h"
#include "optc/dialects/onnx/Names.h"
#include "optc/dialects/onnx/Onnx.h"
#include "optc/dialects/onnx/OpTable.h"
#include "optc/dialects/onnx/Shape.h"
#include "optc/dialects/onnx/Types.h"

namespace optc {

class Lowering;
/// Lowers one op: sets every used result, or emits an error that names the node and what is supported.
using LowerFn = llvm::LogicalResult (*)(mlir::Operation *, Lowering &);
using LoweringTable = llvm::StringMap<LowerFn>;

/// One register function per family; keys are MLIR op names ("onnx.Add").
void registerElementwiseLowerings(LoweringTable &table);
void registerReductionLowerings(LoweringTable &table);
void registerMatmulLowerings(LoweringTable &table);
void registerConvLowerings(LoweringTable &table);
void registerPoolLowerings(LoweringTable &table);
void registerNormLowerings(LoweringTable &table);
void registerMovementLowerings(LoweringTable &table);
void registerIndexingLowerings(LoweringTable &table);
void registerResizeLowerings(LoweringTable &table);
void registerQuantLowerings(LoweringTable &table);
void registerRecurrentLowerings(LoweringTable &table);
void registerControlLowerings(LoweringTable &table);
void registerSequenceLowerings(LoweringTable &table);
void registerSelectionLowerings(LoweringTable &table);
void registerMlLowerings(LoweringTable &table);
void registerMicrosoftLowerings(LoweringTable &table);

/// The operators that are lowered directly; all others with a function body are expanded first.
const LoweringTable &loweringTable();

/// Scalar arithmetic in compute types that knows signedness. `elem` is the onnx element type of the operands.
struct ScalarOps {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type elem;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(elem); }
  bool isUnsigned() const { return elem.isUnsignedInteger() || elem.isInteger(1); }
  mlir::Type computeType() const;

  mlir::Value constant(double v) const;     ///< of the compute type
  mlir::Value constantInt(int64_t v) const; ///< exact for 64-bit integers
  mlir::Value lowest() const;               ///< -inf or the smallest integer of `elem`
  mlir::Value highest() const;              ///< +inf or the largest integer of `elem`
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  mlir::Value div(mlir::Value x, mlir::Value y) const; ///< integers: truncating; division by zero gives 0, never a trap
  mlir::Value rem(mlir::Value x, mlir::Value y) const; ///< C remainder; by zero gives 0
  mlir::Value min(mlir::Value x, mlir::Value y) const; ///< NaN of either side wins
  mlir::Value max(mlir::Value x, mlir::Value y) const;
  mlir::Value neg(mlir::Value x) const;
  mlir::Value lt(mlir::Value x, mlir::Value y) const; ///< i1; ordered
  mlir::Value le(mlir::Value x, mlir::Value y) const;
  mlir::Value eq(mlir::Value x, mlir::Value y) const;
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) const;
};

/// Scalar conversion between compute values of two element types with ONNX Cast's rules (saturate: float8 only;
/// roundMode "up", "down" or "nearest": float8e8m0 only). Without it, toStorage turns what exceeds a float8 into NaN or
/// inf.
mlir::Value castScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type from, mlir::Type to,
                       bool saturate = true, llvm::StringRef roundMode = "up");

class Lowering {
public:
  /// Body of a structured op: compute scalars in, compute scalar out.
  using ScalarBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  /// Body of `generate`: the indices of one element of the result in, its compute scalar out.
  using IndexBody = ScalarBody;
  /// Body of `loops`: the destinations in, the finished tensors out.
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

  Lowering(mlir::OpBuilder &b, ShapeTable &shapes, int optLevel) : b(b), shapes(shapes), optLevel(optLevel) {}

  mlir::OpBuilder &b;
  ShapeTable &shapes;
  int optLevel;
  mlir::Location loc = b.getUnknownLoc(); ///< of the op being lowered
  mlir::StringAttr note;                  ///< what the report says of its product; may be null

  // ---- values ----
  /// The lowered value of an onnx value: a tensor of the storage type, or !kernel.value. Null for a null (absent)
  /// value.
  mlir::Value get(mlir::Value onnxValue) const;
  /// Hands over the lowered form of a result; casts between static and dynamic sizes of equal shapes where needed.
  void set(mlir::Value onnxResult, mlir::Value lowered);
  const ShapeInfo &shape(mlir::Value onnxValue) const;
  llvm::ArrayRef<Dim> dims(mlir::Value onnxValue) const;
  int64_t rank(mlir::Value onnxValue) const;
  mlir::Type elem(mlir::Value onnxValue) const; ///< onnx element type
  /// The constant integer content of a small tensor, when every element is known at compile time.
  std::optional<llvm::SmallVector<int64_t>> constInts(mlir::Value onnxValue) const;
  /// The elements of any constant (onnx.Constant) operand, else null.
  mlir::ElementsAttr constElements(mlir::Value onnxValue) const;

  // ---- sizes on the host ----
  mlir::Value index(Dim dim); ///< SSA index value of a symbolic size, at the current point, reused where it dominates
  mlir::Value constIndex(int64_t v);
  /// Gives a size that inference left open (a leaf of the result being lowered) its value.
  void bind(Dim dim, mlir::Value value) { scopes.back()[dim] = value; }
  llvm::SmallVector<mlir::Value> indices(llvm::ArrayRef<Dim> dims);
  /// Element `i` of a small integer tensor as host index value (known or read at run time).
  mlir::Value hostIndex(mlir::Value onnxValue, int64_t i);
  /// Element 0 of any tensor as host scalar of its compute type.
  mlir::Value hostScalar(mlir::Value onnxValue);
  /// A run-time check with a message that starts with the node's name.
  void check(mlir::Value condition, const llvm::Twine &message);

  // ---- types ----
  static mlir::Type storageType(mlir::Type elem);
  static mlir::Type computeType(mlir::Type elem);
  /// Tensor of storage elements; `?` where a size is not constant.
  mlir::RankedTensorType tensorType(mlir::Type elem, llvm::ArrayRef<Dim> dims) const;
  /// tensor.empty with sizes `dims`.
  mlir::Value empty(mlir::Type elem, llvm::ArrayRef<Dim> dims);

  // ---- scalars in bodies ----
  static mlir::Value toCompute(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored, mlir::Type elem);
  static mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc, mlir::Value computed, mlir::Type elem);
  /// Element of a lowered tensor at SSA indices (in range; use clampIndex for data-dependent ones), as compute scalar.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lowered, mlir::Type elem, mlir::ValueRange at);
  /// An integer scalar of `elem` as index; negative ones get `size` added, and the result is clamped into [0, size).
  mlir::Value wrapIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, mlir::Type elem, mlir::Value size);

  // ---- structured ops; all return a lowered tensor ----
  /// out[i] = body(in0[broadcast i], ...). Inputs are onnx values; numpy broadcasting to `dims`.
  mlir::Value elementwise(mlir::ValueRange onnxInputs, mlir::Type outElem, llvm::ArrayRef<Dim> dims, ScalarBody body);
  /// The same over lowered tensors with their element types and sizes.
  struct Input {
    mlir::Value lowered;
    mlir::Type elem;
    llvm::SmallVector<Dim> dims;
  };
  Input input(mlir::Value onnxValue) const;
  mlir::Value elementwise(llvm::ArrayRef<Input> inputs, mlir::Type outElem, llvm::ArrayRef<Dim> dims, ScalarBody body);
  /// out[i...] = body(i...): any gather-like op; read other tensors with `load`.
  mlir::Value generate(llvm::StringRef label, mlir::Type outElem, llvm::ArrayRef<Dim> dims, IndexBody body);
  /// out[kept i] = fold over the reduced axes with combine(acc, map(x)) from `init` (a compute scalar of accElem made
  /// outside). The result has only the kept axes, in order, of element type accElem.
  mlir::Value
  reduce(llvm::StringRef label, const Input &in, llvm::ArrayRef<int64_t> axes, mlir::Type accElem, mlir::Value init,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value x)> map,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value acc, mlir::Value x)> combine);
  /// A linalg.generic with given maps; accumulates into `outElem` from `init` when it has reduction iterators, e.g.
  /// matmul.
  mlir::Value contract(
      llvm::StringRef label, llvm::ArrayRef<Input> inputs, llvm::ArrayRef<mlir::AffineMap> maps,
      llvm::ArrayRef<mlir::utils::IteratorType> iterators, mlir::Type outElem, llvm::ArrayRef<Dim> outDims,
      mlir::Value init,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange in, mlir::Value acc)> body);
  /// The same elements in another shape; free.
  mlir::Value view(mlir::Value lowered, mlir::Type elem, llvm::ArrayRef<Dim> dims);
  /// A kernel written as loops (scf.for over tensors with tensor.extract / tensor.insert into the destinations), for
  /// what no structured op expresses: scatters, scans, recurrences. Sequential unless it says otherwise. Elements are
  /// storage types.
  struct Result {
    mlir::Type elem;
    llvm::SmallVector<Dim> dims;
  };
  llvm::SmallVector<mlir::Value> loops(llvm::StringRef label, llvm::ArrayRef<Result> results, LoopBody body);
  /// Nested scf.for over [0, sizes) that threads tensors through: body gets indices and current tensors, returns the
  /// next ones.
  static llvm::SmallVector<mlir::Value>
  loopNest(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange sizes, mlir::ValueRange init,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location, mlir::ValueRange ivs,
                                                             mlir::ValueRange carried)>
               body);
  /// One irregular operator of the runtime (runtime/ops.h). Operands are onnx values (null: absent).
  llvm::SmallVector<mlir::Value> library(kernel::LibraryFn fn, mlir::ValueRange onnxOperands,
                                         llvm::ArrayRef<int64_t> params, mlir::ValueRange onnxResults);
  /// A constant tensor of the storage type.
  mlir::Value constant(mlir::ElementsAttr value, mlir::Type elem);

  // ---- subgraphs ----
  /// Lowers the ops of an onnx region's block in place at the builder's point; block arguments must be `set` before.
  /// Returns the lowered operands of its onnx.Yield.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> lowerBlock(mlir::Block &block);
  /// Opens a scope for host values made inside a nested region (they must not be reused outside).
  struct Scope {
    Lowering &l;
    explicit Scope(Lowering &l) : l(l) { l.scopes.emplace_back(); }
    ~Scope() { l.scopes.pop_back(); }
  };

private:
  bool missingSize = false; ///< a size was asked for that nothing defines; reported
  mlir::Value materialize(Dim dim);
  /// Reads element `i` along the last axis of a tensor that is there; a run-time check where it may be too short.
  mlir::Value readElement(mlir::Value onnxValue, int64_t i);
  mlir::Value readIndex(mlir::Value onnxValue, int64_t i);
  /// A small integer tensor whose elements are known as sizes.
  mlir::Value fromElements(mlir::Value onnxValue);
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::SmallVector<llvm::DenseMap<Dim, mlir::Value>> scopes = llvm::SmallVector<llvm::DenseMap<Dim, mlir::Value>>(1);
};

/// Error for a case that an operator's lowering does not cover: names node, operator, what, and what is supported.
mlir::InFlightDiagnostic unsupported(mlir::Operation *op, const llvm::Twine &what);

} // namespace optc
#endif
