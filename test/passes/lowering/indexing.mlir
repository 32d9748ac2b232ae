// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// Indices are wrapped and clamped: no data reads out of bounds.
// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.extract %{{.*}} : tensor<5x3xf32>
func.func @gather(%x: tensor<5x3xf32>, %i: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %0 = "onnx.Gather"(%x, %i) : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// -----

// An axis that may be empty has nothing to clamp to: checked at run time.
// CHECK-LABEL: func.func @gather_maybe_empty
// CHECK: kernel.check %{{.*}}, "{{.*}}axis of size 0"
func.func @gather_maybe_empty(%x: tensor<?x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = "onnx.Gather"(%x, %i) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Duplicate indices fold in order: one sequential loop after the copy.
// CHECK-LABEL: func.func @scatter_add
// CHECK: kernel.dispatch "scatter_nd"
// CHECK: arith.addf
// CHECK: tensor.insert
func.func @scatter_add(%x: tensor<4xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) -> tensor<4xf32> {
  %0 = "onnx.ScatterND"(%x, %i, %u) {reduction = "add"} : (tensor<4xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
