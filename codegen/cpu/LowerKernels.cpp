//===- LowerKernels.cpp - kernels on tensors become code on memory --------===//
//
// Every outlined kernel goes to the emitter of the family that `configure` chose.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "optc/codegen/cpu/Emitters.h"
#include "optc/passes/Passes.h"

namespace optc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {
struct Family {
  StringLiteral name;
  LogicalResult (*emit)(cpu::KernelBody &body, const cpu::EmitOptions &options);
};
} // namespace

static constexpr Family kFamilies[] = {
    {kernel::kFamilyGemm, cpu::emitGemm},       {kernel::kFamilyWindow, cpu::emitWindow},
    {kernel::kFamilyPack, cpu::emitPack},       {kernel::kFamilyRows, cpu::emitRows},
    {kernel::kFamilyColumns, cpu::emitColumns},
};

static LogicalResult lowerKernel(func::FuncOp func, const cpu::EmitOptions &options) {
  auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
  StringRef name = strategy ? strategy.getFamily().getValue() : StringRef(kernel::kFamilyLoops);
  if (name == kernel::kFamilyLoops)
    return cpu::emitLoops(func, options);
  const Family *family = llvm::find_if(kFamilies, [&](const Family &f) { return f.name == name; });
  if (family == std::end(kFamilies))
    return func.emitError("kernel '") << func.getName() << "' has the family '" << name << "', which has no emitter";
  cpu::KernelBody body(func);
  return family->emit(body, options);
}

namespace {
struct LowerKernels : public optc::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;
  void runOnOperation() override {
    cpu::EmitOptions options;
    options.optLevel = optLevel;
    options.contract = optLevel >= 3;
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr("kernel.entry") && failed(lowerKernel(func, options)))
        return signalPassFailure();
  }
};
} // namespace
