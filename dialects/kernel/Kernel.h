//===- Kernel.h - the kernel dialect: dispatches and the host program -----===//
#ifndef OPTC_DIALECTS_KERNEL_KERNEL_H
#define OPTC_DIALECTS_KERNEL_KERNEL_H
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "optc/dialects/kernel/KernelDialect.h.inc"
#include "optc/dialects/kernel/KernelEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "optc/dialects/kernel/KernelTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "optc/dialects/kernel/KernelAttrs.h.inc"
#define GET_OP_CLASSES
#include "optc/dialects/kernel/Kernel.h.inc"

namespace optc::kernel {
/// The type of `source` in panels; null when the packing does not fit it.
mlir::RankedTensorType packedType(mlir::RankedTensorType source, PackingAttr packing);
} // namespace optc::kernel

#endif
