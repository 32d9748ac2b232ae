//===- OpTable.h - what the ONNX schemas say about each op ------*- C++ -*-===//
#ifndef OPTC_DIALECTS_ONNX_OPTABLE_H
#define OPTC_DIALECTS_ONNX_OPTABLE_H
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace optc::onnx {

enum class Arity : uint8_t { Single, Optional, Variadic };
enum class AttrKind : uint8_t { Int, Float, String, Ints, Floats, Strings, Tensor, SparseTensor, Graph, Type };

/// An input or output of an operator.
struct ValueInfo {
  llvm::StringRef name;
  Arity arity;
  bool homogeneous;    ///< variadic: all values have one type
  int8_t minArity;     ///< variadic: lowest number of values
  int8_t typeVariable; ///< equal numbers within an operator: equal types; -1: none
  uint64_t types;      ///< see allowed() in Types.h

  bool optional() const { return arity == Arity::Optional; }
  bool variadic() const { return arity == Arity::Variadic; }
};

struct AttrInfo {
  llvm::StringRef name;
  AttrKind kind;
  bool required;
};

/// An operator at its newest version.
struct OpInfo {
  llvm::StringRef domain; ///< "" for ai.onnx
  llvm::StringRef name;
  llvm::StringRef mlirName;
  int sinceVersion;
  llvm::ArrayRef<ValueInfo> inputs, outputs;
  llvm::ArrayRef<AttrInfo> attributes; ///< graph attributes are regions, in this order
  bool segmentsOperands, segmentsResults;
  bool hasFunctionBody; ///< the schema can express it in simpler operators

  unsigned numRegions() const;
  const AttrInfo *attribute(llvm::StringRef name) const;
  /// The index of the region of a graph attribute, -1 when there is none of that name.
  int region(llvm::StringRef name) const;
};

/// All operators, by domain and name.
llvm::ArrayRef<OpInfo> allOps();
/// The operator, null when unknown. The domain "ai.onnx" is the same as "".
const OpInfo *lookupOp(llvm::StringRef domain, llvm::StringRef name);
/// The entry of an op of this dialect, null for other ops and for onnx.Yield.
const OpInfo *infoFor(mlir::Operation *op);
const OpInfo *infoFor(llvm::StringRef mlirName);

/// Fills the state of an op whose name is set. Operands and result types stand in the order of the schema, null for
/// absent optional ones; trailing ones may be left out. Its regions are empty. Fails when the numbers do not fit the
/// schema.
mlir::LogicalResult fillState(mlir::OperationState &state, llvm::ArrayRef<mlir::Type> resultTypes,
                              llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes);
/// Makes an op, see fillState. Null when the numbers do not fit the schema.
mlir::Operation *createOp(mlir::OpBuilder &builder, mlir::Location loc, const OpInfo &info,
                          llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Type> resultTypes,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
/// The same by name, for operators of ai.onnx.
mlir::Operation *createOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                          llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Type> resultTypes,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// Operand `i` of the ONNX node (a variadic one counts from its first position on), null when absent.
mlir::Value operand(mlir::Operation *op, unsigned i);
/// Result `i` of the ONNX node, null when absent.
mlir::Value result(mlir::Operation *op, unsigned i);
/// The number of ONNX positions up to the last one that is present.
unsigned numOperandPositions(mlir::Operation *op);
unsigned numResultPositions(mlir::Operation *op);

} // namespace optc::onnx
#endif
