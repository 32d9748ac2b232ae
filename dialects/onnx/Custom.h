//===- Custom.h - operators that plugins add --------------------*- C++ -*-===//
//
// An operator of a plugin has an entry like those of ONNX (OpTable.h), so that importing, checking and exporting its
// nodes needs nothing new. Its ops are plugin.DOMAIN.NAME, in a dialect that is made from the entries.
//===----------------------------------------------------------------------===//
#ifndef OPTC_DIALECTS_ONNX_CUSTOM_H
#define OPTC_DIALECTS_ONNX_CUSTOM_H
#include "mlir/IR/DialectRegistry.h"
#include "optc/dialects/onnx/Shape.h"
#include <functional>
#include <string>
#include <vector>

namespace optc::onnx {

/// The dialect of plugins' operators.
inline constexpr llvm::StringLiteral kPluginDialect = "plugin";

/// What a plugin says about an operator of its own. docs/plugins.md has an example.
struct CustomOperator {
  /// An input or an output; none is optional. All are tensors of numbers.
  struct Value {
    std::string name;
    std::vector<int32_t> types; ///< element types, as ONNX numbers them (TensorProto.DataType)
    int typeVariable = -1;      ///< values with equal numbers from 0 on have one element type
  };
  /// A number, or a list of numbers.
  struct Attribute {
    std::string name;
    AttrKind kind = AttrKind::Float; ///< Int, Float, Ints or Floats
    bool required = true;
    /// What it is where a node does not say, unless it is required: one number for Int and Float.
    std::vector<int64_t> ints;
    std::vector<float> floats;
  };

  std::string domain, name; ///< not a domain of ONNX
  int sinceVersion = 1;     ///< the lowest version of the domain that a model may import
  std::vector<Value> inputs, outputs;
  std::vector<Attribute> attributes;
  /// Sets the shapes of all results and refuses what does not fit, see ShapeContext. Null: results have the shape of
  /// the first input.
  std::function<mlir::LogicalResult(ShapeContext &)> inferShapes;

  /// The kernel, `void NAME(const optc_dispatch *)` in C (runtime/dispatch.h). Buffers: inputs, then outputs. Scalars:
  /// the rank and the sizes of each of them, then the attributes: an integer, the bits of a float (32, in the low
  /// half), the length of a list and its numbers.
  std::string kernel;
  /// A tile is `tileSize` elements of the first `tileDims` dimensions of the first output, flattened; the last one may
  /// have fewer. Negative counts from the end: with -1 tiles are rows. 0: everything is one tile.
  int64_t tileDims = 0, tileSize = 1;
};

/// Makes an operator known, for the rest of the process. Returns why it cannot be, or an empty string.
std::string addCustomOperator(CustomOperator op);
/// The operator of an op, null for those of ONNX.
const CustomOperator *customOperator(llvm::StringRef mlirName);
/// Their entries, by the names of ops and by domain and name; null where there is none.
const OpInfo *customInfo(llvm::StringRef mlirName);
const OpInfo *lookupCustom(llvm::StringRef domain, llvm::StringRef name);
/// All entries.
std::vector<const OpInfo *> customInfos();

/// Adds the dialect with the operators that are known now.
void registerCustomDialect(mlir::DialectRegistry &registry);

/// Infers the results of an op of a plugin.
mlir::LogicalResult inferCustom(const CustomOperator &op, ShapeContext &ctx);
/// The attributes of an op as its kernel gets them.
llvm::SmallVector<int64_t> kernelParams(const CustomOperator &custom, mlir::Operation *op);

} // namespace optc::onnx
#endif
