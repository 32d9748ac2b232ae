//===- Emitters.h - kernels and the families that emit them -----*- C++ -*-===//
//
// `configure` names a family in a dispatch's strategy; the family's emitter turns the outlined kernel into code over
// its buffers. Every target has a table of its families.
//===----------------------------------------------------------------------===//
#ifndef OPTC_CODEGEN_COMMON_EMITTERS_H
#define OPTC_CODEGEN_COMMON_EMITTERS_H
#include "optc/codegen/common/KernelBody.h"

namespace optc::codegen {

struct EmitOptions {
  explicit EmitOptions(int optLevel) : optLevel(optLevel), contract(optLevel >= 3) {}

  int optLevel;
  /// Products may be contracted with the additions behind them.
  bool contract;
};

/// A family and its emitter, which works on a KernelBody or what a target makes of it.
template <typename Body> struct Family {
  llvm::StringLiteral name;
  mlir::LogicalResult (*emit)(Body &body, const EmitOptions &options);
};

/// The family that a kernel's strategy names; null, and reported, when it has no emitter.
template <typename Body> const Family<Body> *familyOf(mlir::func::FuncOp func, llvm::ArrayRef<Family<Body>> families) {
  llvm::StringRef name = func->getAttrOfType<kernel::StrategyAttr>("kernel.strategy").getFamily().getValue();
  const Family<Body> *family = llvm::find_if(families, [&](const Family<Body> &f) { return f.name == name; });
  if (family != families.end())
    return family;
  func.emitError("kernel '") << func.getName() << "' has the family '" << name << "', which has no emitter";
  return nullptr;
}

/// Whether a kernel is what every emitter relies on: its results are bound to buffers, as the outliner makes them, and
/// its tiles are of dimensions that the first result has. Reports what it is not.
mlir::LogicalResult checkKernel(mlir::func::FuncOp func);

/// Has the family emit the kernel.
template <typename Body>
mlir::LogicalResult emitKernel(const Family<Body> &family, Body &body, const EmitOptions &options) {
  return mlir::failure(failed(family.emit(body, options)) || body.broken);
}

} // namespace optc::codegen
#endif
