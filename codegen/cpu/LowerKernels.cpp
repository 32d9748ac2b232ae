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

static constexpr codegen::Family<codegen::KernelBody> kFamilies[] = {
    {kernel::kFamilyGemm, cpu::emitGemm},       {kernel::kFamilyWindow, cpu::emitWindow},
    {kernel::kFamilyPack, cpu::emitPack},       {kernel::kFamilyRows, cpu::emitRows},
    {kernel::kFamilyColumns, cpu::emitColumns},
};

static LogicalResult lowerKernel(func::FuncOp func, const codegen::EmitOptions &options) {
  auto strategy = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy");
  if (!strategy || strategy.getFamily().getValue() == kernel::kFamilyLoops)
    return cpu::emitLoops(func, options);
  const auto *family = codegen::familyOf(func, ArrayRef(kFamilies));
  if (!family || failed(codegen::checkKernel(func)))
    return failure();
  codegen::KernelBody body(func);
  return codegen::emitKernel(*family, body, options);
}

namespace {
struct LowerKernels : public optc::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;
  void runOnOperation() override {
    codegen::EmitOptions options(optLevel);
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr("kernel.entry") && failed(lowerKernel(func, options)))
        return signalPassFailure();
  }
};
} // namespace
