//===- LoweringUtils.h - small helpers that several families share --------===//
#ifndef OPTC_PASSES_LOWERING_LOWERINGUTILS_H
#define OPTC_PASSES_LOWERING_LOWERINGUTILS_H
#include "optc/dialects/onnx/Custom.h"
#include "optc/passes/lowering/Lowering.h"

namespace optc {

/// Index arithmetic that folds constants as it goes.
struct IndexBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpIPredicate;

  Value cst(int64_t v) const { return mlir::arith::ConstantIndexOp::create(b, loc, v); }
  Value add(Value x, Value y) const { return b.createOrFold<mlir::arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) const { return b.createOrFold<mlir::arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) const { return b.createOrFold<mlir::arith::MulIOp>(loc, x, y); }
  /// Quotient and remainder of non-negative numbers; the divisor must not be zero.
  Value div(Value x, Value y) const { return b.createOrFold<mlir::arith::DivUIOp>(loc, x, y); }
  Value rem(Value x, Value y) const { return b.createOrFold<mlir::arith::RemUIOp>(loc, x, y); }
  Value min(Value x, Value y) const { return b.createOrFold<mlir::arith::MinSIOp>(loc, x, y); }
  Value max(Value x, Value y) const { return b.createOrFold<mlir::arith::MaxSIOp>(loc, x, y); }
  Value clamp(Value x, Value low, Value high) const { return max(min(x, high), low); }
  Value cmp(Predicate p, Value x, Value y) const { return b.createOrFold<mlir::arith::CmpIOp>(loc, p, x, y); }
  Value lt(Value x, Value y) const { return cmp(Predicate::slt, x, y); }
  Value ge(Value x, Value y) const { return cmp(Predicate::sge, x, y); }
  Value eq(Value x, Value y) const { return cmp(Predicate::eq, x, y); }
  Value all(Value x, Value y) const { return b.createOrFold<mlir::arith::AndIOp>(loc, x, y); }
  Value select(Value c, Value x, Value y) const { return b.createOrFold<mlir::arith::SelectOp>(loc, c, x, y); }
  /// Remainder in [0, y) for any x and positive y.
  Value floorMod(Value x, Value y) const {
    Value r = b.createOrFold<mlir::arith::RemSIOp>(loc, x, y);
    return select(lt(r, cst(0)), add(r, y), r);
  }
  /// Python's reading of an index: a negative one counts from the end.
  Value fromEnd(Value x, Value size) const { return select(lt(x, cst(0)), add(x, size), x); }
};

/// The size when it is a constant.
std::optional<int64_t> knownSize(Dim dim);

/// Whether a size of `result` is known only to its lowering, which has to bind it.
bool isOwnSize(Dim dim, mlir::Value result);

/// Whether the rank of a value is known (and it is lowered to a tensor).
bool isRanked(Lowering &l, mlir::Value onnxValue);
/// Refuses an op that has operands or results of unknown rank or that are no tensors.
llvm::LogicalResult requireRanked(mlir::Operation *op, Lowering &l);
/// A lowering function that is called with ranked tensors only.
template <LowerFn fn> llvm::LogicalResult ranked(mlir::Operation *op, Lowering &l) {
  return failed(requireRanked(op, l)) ? llvm::failure() : fn(op, l);
}

/// `axis` in [0, rank); failure with an error when it is out of range.
llvm::FailureOr<int64_t> normalizeAxis(mlir::Operation *op, int64_t axis, int64_t rank);

/// A run-time check that two sizes agree, nothing when that is known.
void checkSameSize(Lowering &l, Dim x, Dim y, const llvm::Twine &what);

bool isString(mlir::Type elem);

/// The type of the lowered form of an onnx value: a tensor, or !kernel.value for sequences, optionals and unknown
/// ranks.
mlir::Type loweredType(Lowering &l, mlir::Value onnxValue);
/// A lowered value as `type`: sizes are cast, tensors are boxed into values and taken out of them. Null with an error
/// at `op` when the shapes contradict each other. `elem` is the onnx element type of a tensor.
mlir::Value convertLowered(mlir::Operation *op, Lowering &l, mlir::Value lowered, mlir::Type elem, mlir::Type type);
/// The onnx element type of a tensor, null for sequences and optionals.
mlir::Type elementType(mlir::Value onnxValue);
/// A call of the runtime with operands and results in lowered form; `dtypes` as in kernel.library.
mlir::ValueRange callLibrary(Lowering &l, kernel::LibraryFn fn, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::Type> operandElems, mlir::TypeRange results,
                             llvm::ArrayRef<mlir::Type> resultElems, llvm::ArrayRef<int64_t> params);
/// A constant tensor of strings, made by the runtime from bytes and offsets in the artifact.
mlir::Value stringConstant(Lowering &l, llvm::ArrayRef<llvm::StringRef> values, llvm::ArrayRef<int64_t> shape);

/// Calls the runtime with onnx operands (null: absent) and hands the results over. Tensors that come back have their
/// sizes checked where they are taken for constants.
llvm::LogicalResult callAndSet(Lowering &l, kernel::LibraryFn fn, mlir::ValueRange operands,
                               llvm::ArrayRef<int64_t> params, mlir::ValueRange results);
/// The same with operands in lowered form and their onnx element types.
void setLibraryResults(Lowering &l, kernel::LibraryFn fn, mlir::ValueRange lowered,
                       llvm::ArrayRef<mlir::Type> operandElems, llvm::ArrayRef<int64_t> params,
                       mlir::ValueRange results);
/// The rank of a tensor that the runtime has to check, -1 when any will do.
int64_t expectedRank(Lowering &l, mlir::Value onnxValue);

/// A constant of 4-bit integers that stays packed in the artifact: a kernel takes its elements apart at run time.
/// Nothing for other values.
std::optional<Lowering::Input> packedInput(Lowering &l, mlir::Value onnxValue);

/// The input read as raw storage elements: for ops that only move data.
Lowering::Input rawInput(Lowering &l, mlir::Value onnxValue);

/// result[i] = source[from(i)], for any element type: `from` gives the (valid) position in the source of an element of
/// the result.
mlir::Value moveElements(
    Lowering &l, llvm::StringRef label, const Lowering::Input &source, llvm::ArrayRef<Dim> dims,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> from);

/// The block of `source` of sizes `dims` that begins at `starts`: a tensor.extract_slice, which need not be copied. For
/// any element type.
mlir::Value sliceOf(Lowering &l, llvm::StringRef label, const Lowering::Input &source, mlir::ValueRange starts,
                    llvm::ArrayRef<Dim> dims);

/// dest[at...] = stored, in the storage type.
mlir::Value insertRaw(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored, mlir::Value dest,
                      mlir::ValueRange at);

/// Lowers an op of a plugin to the launch of its kernel.
llvm::LogicalResult lowerCustom(mlir::Operation *op, const onnx::CustomOperator &custom, Lowering &l);

/// Copies `source` (a lowered tensor of sizes `sizes`) into `dest`.
mlir::Value copyInto(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, mlir::ValueRange sizes,
                     mlir::Value dest);

/// Operands given by axis, such as the starts of Slice: value `j` of `list` belongs to axis `axes[j]`.
struct PerAxis {
  Lowering &l;
  int64_t count; ///< number of listed axes
  int64_t rank;
  mlir::Value axes;                                ///< onnx value, null: 0, 1, 2, ...
  std::optional<llvm::SmallVector<int64_t>> known; ///< non-negative, when known at compile time

  /// Fails with an error when the number of axes is not known or one is out of range.
  static llvm::FailureOr<PerAxis> get(mlir::Operation *op, Lowering &l, mlir::Value list, mlir::Value axes,
                                      int64_t rank, int64_t perAxis = 1);
  /// Element `offset + j` of `list` for `axis`, or `otherwise`.
  mlir::Value value(mlir::Value list, int64_t axis, int64_t offset, mlir::Value otherwise) const;
};

} // namespace optc
#endif
