//===- InferShapes.cpp - set the types of results from shape functions -----===//
//
// The work is done by inferShapes (dialects/onnx/Shape.h); the types that the model file states for inner values are
// never trusted.
//
//===----------------------------------------------------------------------===//
#include "optc/dialects/onnx/Shape.h"
#include "optc/passes/Passes.h"

using namespace mlir;

namespace optc {
#define GEN_PASS_DEF_INFERSHAPES
#include "optc/passes/Passes.h.inc"
} // namespace optc

using namespace optc;

namespace {
struct InferShapes : optc::impl::InferShapesBase<InferShapes> {
  using InferShapesBase::InferShapesBase;

  void runOnOperation() override {
    ShapeTable table;
    if (failed(inferShapes(getOperation(), table)))
      return signalPassFailure();
    if (report)
      reportShapes(table);
  }

  /// One remark per op that has results.
  void reportShapes(ShapeTable &table) {
    getOperation().walk([&](Operation *op) {
      if (!onnx::infoFor(op))
        return;
      std::string text;
      for (Value result : op->getResults())
        if (table.has(result))
          text += (text.empty() ? "" : ", ") + table.str(table.get(result));
      if (!text.empty())
        op->emitRemark() << text;
    });
  }
};
} // namespace
