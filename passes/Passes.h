//===- Passes.h - the passes of optc ---------------------------------------===//
#ifndef OPTC_PASSES_PASSES_H
#define OPTC_PASSES_PASSES_H
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace bufferization {
class BufferizationDialect;
}
namespace linalg {
class LinalgDialect;
}
namespace math {
class MathDialect;
}
namespace memref {
class MemRefDialect;
}
namespace scf {
class SCFDialect;
}
namespace tensor {
class TensorDialect;
}
namespace LLVM {
class LLVMDialect;
}
} // namespace mlir
namespace optc {
namespace kernel {
class KernelDialect;
}
#define GEN_PASS_DECL
#include "optc/passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "optc/passes/Passes.h.inc"
} // namespace optc

#endif
