// RUN: not optc-opt %s -pass-pipeline='builtin.module(func.func(optc-infer-shapes))' 2>&1 | FileCheck %s

// Errors name the node.
// CHECK: node 'block/sum', operator Add: cannot broadcast [2, 3] with [4, 3]
func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<*xf32> {
  %0 = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<*xf32> loc("block/sum")
  return %0 : tensor<*xf32>
}
