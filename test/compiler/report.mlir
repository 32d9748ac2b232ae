// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: optc %s --start-from=graph -o m.so --report=m.json && FileCheck %s < m.json

// Multiply-adds where every size is known; a sum is none, and the second product has a symbolic number of rows.
// CHECK: "kernels": [
// CHECK-COUNT-1: "multiply_adds": 512
// CHECK-NOT: "multiply_adds"
func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}, %w: tensor<8x16xf32> {onnx.name = "w"},
                %y: tensor<?x8xf32> {onnx.name = "y", onnx.dim_params = ["rows", ""]})
    -> (tensor<4x16xf32> {onnx.name = "a"}, tensor<?x16xf32> {onnx.name = "b"}, tensor<4x1xf32> {onnx.name = "c"}) {
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = "onnx.MatMul"(%y, %w) : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %2 = "onnx.ReduceSum"(%x, %axes) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<?x16xf32>, tensor<4x1xf32>
}
