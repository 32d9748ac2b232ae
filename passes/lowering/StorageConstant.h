//===- StorageConstant.h - constants in the storage type of their elements ===//
#ifndef OPTC_PASSES_LOWERING_STORAGECONSTANT_H
#define OPTC_PASSES_LOWERING_STORAGECONSTANT_H
#include "mlir/IR/BuiltinAttributes.h"

namespace optc {

/// The elements of `value`, whose element type is `elem`, in its storage type. Packed bytes of sub-byte types keep
/// their element type: the writer of constants unpacks them. Null for kinds of attributes that have no bytes.
mlir::TypedAttr storageConstant(mlir::ElementsAttr value, mlir::Type elem);

} // namespace optc
#endif
