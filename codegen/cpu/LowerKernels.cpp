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
  bool bound = false; // to a buffer for its result, as the outliner makes it
  func.walk([&](bufferization::MaterializeInDestinationOp op) {
    bound = op.getDest().getDefiningOp<kernel::BindOp>() != nullptr;
    return WalkResult::interrupt();
  });
  if (!bound)
    return func.emitError("kernel '") << func.getName() << "' has no result bound to a buffer";
  cpu::KernelBody body(func);
  for (const kernel::TileGroup &group : kernel::tileGroups(strategy))
    if (group.firstDim + group.numDims > body.resultSizes().size())
      return func.emitError("kernel '") << func.getName() << "' has tiles of dimensions that its result does not have";
  return failure(failed(family->emit(body, options)) || body.broken);
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
