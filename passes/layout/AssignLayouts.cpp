//===- AssignLayouts.cpp - the order in which tensors are stored ----------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "optc/passes/Passes.h"
#include "optc/passes/layout/Layout.h"
#include "llvm/Support/FormatVariadic.h"

namespace optc {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

namespace {
struct AssignLayouts : public optc::impl::AssignLayoutsBase<AssignLayouts> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    layout::Layouts layouts;
    llvm::MapVector<Operation *, layout::Convolution> converted;
    for (const layout::Component &c : layout::assignChannelsLast(func, layouts, worth, converted))
      if (report)
        emitRemark(c.loc) << (c.accepted ? "channels last: " : "stays as it is: ") << c.convolutions
                          << " convolutions with " << llvm::formatv("{0:E2}", c.multiplyAdds).str()
                          << " multiply-adds for " << llvm::formatv("{0:E2}", c.moved).str()
                          << " elements to transpose";
    convolutions += converted.size();
    absorbed += layout::absorbTranspositions(func, layouts);
    layout::RewriteCounts counts = layout::rewriteLayouts(func, layouts, converted);
    transpositions += counts.transpositions;
    removed += counts.removed;
  }
};
} // namespace
