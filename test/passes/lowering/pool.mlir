// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// CHECK: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5 * 3)>

// A window is a reduction; an operand without contents gives it its size.
// CHECK-LABEL: func.func @window
// CHECK: %[[SIZE:.*]] = tensor.empty() : tensor<2x2xi8>
// CHECK: linalg.generic {{.*}}#[[$IN]]{{.*}} ins(%arg0, %[[SIZE]]
func.func @window(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x3xf32> {
  %0 = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 3>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x3xf32>
  return %0 : tensor<1x2x4x3xf32>
}

// -----

// Negative: an enormous window is a loop inside each element, and padding is not materialised.
// CHECK-LABEL: func.func @loops
// CHECK-NOT: tensor<1x2x218x218xf32>
// CHECK: scf.for
func.func @loops(%x: tensor<1x2x216x216xf32>) -> tensor<1x2x19x19xf32> {
  %0 = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 200, 200>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x216x216xf32>) -> tensor<1x2x19x19xf32>
  return %0 : tensor<1x2x19x19xf32>
}
