//===- Evaluate.h - compile a module and run it in this process -----------===//
#ifndef OPTC_COMPILER_EVALUATE_H
#define OPTC_COMPILER_EVALUATE_H
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace optc {

/// Compiles @main of a module of the onnx dialect at -O0 for the oldest CPU that optc supports of this machine's kind,
/// and runs it once, on this thread. What comes out depends on nothing but the arguments: generated code gets no libm,
/// and every op of the model that needs it, or an operator of the runtime, is an error. Arguments and results of @main
/// are tensors of static sizes in ONNX's raw form (dialects/onnx/Elements.h). The module is used up.
llvm::Error evaluateModule(mlir::ModuleOp module, llvm::ArrayRef<llvm::ArrayRef<char>> inputs,
                           llvm::ArrayRef<llvm::MutableArrayRef<char>> outputs);

} // namespace optc
#endif
