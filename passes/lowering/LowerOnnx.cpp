//===- LowerOnnx.cpp - the walk from onnx to linalg, tensor and kernel ----===//
#include "optc/passes/Passes.h"
#include "optc/passes/lowering/Lowering.h"

namespace optc {
#define GEN_PASS_DEF_LOWERONNX
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace mlir;
using namespace optc;

const LoweringTable &optc::loweringTable() {
  static const LoweringTable table = [] {
    LoweringTable t;
    for (auto add :
         {registerElementwiseLowerings, registerReductionLowerings, registerMatmulLowerings, registerConvLowerings,
          registerPoolLowerings, registerNormLowerings, registerMovementLowerings, registerIndexingLowerings,
          registerResizeLowerings, registerQuantLowerings, registerRecurrentLowerings, registerControlLowerings,
          registerSequenceLowerings, registerSelectionLowerings, registerMlLowerings, registerMicrosoftLowerings})
      add(t);
    return t;
  }();
  return table;
}

namespace {
struct LowerOnnx : public optc::impl::LowerOnnxBase<LowerOnnx> {
  using LowerOnnxBase::LowerOnnxBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ShapeTable shapes;
    if (failed(inferShapes(func, shapes)))
      return signalPassFailure();
    Block &old = func.getBody().front();
    OpBuilder b(&getContext());
    // A new block beside the old one, which goes once everything is lowered.
    auto typeOf = [&](Value v) -> Type {
      const ShapeInfo &info = shapes.get(v);
      if (!isa<TensorType>(v.getType()) || !info.ranked)
        return kernel::ValueType::get(&getContext());
      SmallVector<int64_t> sizes;
      for (Dim dim : info.dims)
        sizes.push_back(dim->isConst() ? dim->value : ShapedType::kDynamic);
      return RankedTensorType::get(sizes, Lowering::storageType(info.elementType));
    };
    SmallVector<Type> argTypes, resultTypes;
    Block *block = new Block();
    func.getBody().push_back(block);
    b.setInsertionPointToEnd(block);
    Lowering lowering(b, shapes, optLevel);
    lowering.loc = func.getLoc();
    for (BlockArgument arg : old.getArguments()) {
      func.setArgAttr(arg.getArgNumber(), "onnx.type", TypeAttr::get(arg.getType()));
      argTypes.push_back(typeOf(arg));
      lowering.set(arg, block->addArgument(argTypes.back(), arg.getLoc()));
    }
    FailureOr<SmallVector<Value>> results = lowering.lowerBlock(old);
    if (failed(results)) {
      block->erase();
      return signalPassFailure();
    }
    for (auto [i, value] : llvm::enumerate(old.getTerminator()->getOperands()))
      func.setResultAttr(i, "onnx.type", TypeAttr::get(value.getType()));
    func::ReturnOp::create(b, func.getLoc(), *results);
    for (Value v : *results)
      resultTypes.push_back(v.getType());
    old.dropAllReferences();
    old.erase();
    func.setFunctionType(b.getFunctionType(argTypes, resultTypes));
  }
};
} // namespace
