// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// A small window: one load per tap.
// CHECK-LABEL: func.func @taps
// CHECK-COUNT-4: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @taps(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %0 = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

// Negative: a large window is a loop inside each element, and padding is not materialised.
// CHECK-LABEL: func.func @loops
// CHECK-NOT: tensor<1x2x18x18xf32>
// CHECK: scf.for
func.func @loops(%x: tensor<1x2x16x16xf32>) -> tensor<1x2x11x11xf32> {
  %0 = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 8, 8>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x16x16xf32>) -> tensor<1x2x11x11xf32>
  return %0 : tensor<1x2x11x11xf32>
}
