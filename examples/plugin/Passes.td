//===- Passes.td - the pass of the example plugin --------------------------===//
#ifndef DROPNEUTRAL_PASSES_TD
#define DROPNEUTRAL_PASSES_TD
include "mlir/Pass/PassBase.td"

def DropNeutral : Pass<"example-drop-neutral", "::mlir::func::FuncOp"> {
  let summary = "remove multiplications by 1, divisions by 1, additions and subtractions of 0";
  let description = [{
    Only what keeps every result bit for bit: adding +0.0 makes +0.0 of -0.0, so it stays unless the option says that
    this does not matter.

    ```mlir
    %one = onnx.Constant dense<1.0> : tensor<1xf32>
    %0 = "onnx.Mul"(%x, %one) : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32>
    return %0
    // becomes
    return %x
    ```
  }];
  let options = [
    Option<"ignoreSignedZeros", "ignore-signed-zeros", "bool", "false", "results may be +0.0 where they were -0.0">,
    Option<"report", "report", "bool", "false", "a remark at every op that is removed">
  ];
  let statistics = [Statistic<"numRemoved", "num-removed", "ops that were removed">];
}

#endif
