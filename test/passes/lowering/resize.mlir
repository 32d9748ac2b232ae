// RUN: optc-opt %s -split-input-file -verify-diagnostics -optc-lower-onnx | FileCheck %s

// Axes whose scale is 1 get no table and no pass; the others one each.
// CHECK-LABEL: func.func @two_axes
// CHECK-COUNT-2: optc.label = "resize_linear"
// CHECK-NOT: optc.label = "resize_linear"
func.func @two_axes(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %scales = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.Resize"(%x, %scales) {mode = "linear", operandSegmentSizes = array<i32: 1, 0, 1, 0>} : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// -----

// Nearest modes gather once.
// CHECK-LABEL: func.func @nearest
// CHECK-COUNT-2: optc.label = "resize_indices"
// CHECK: optc.label = "resize_nearest"
func.func @nearest(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %sizes = onnx.Constant dense<[1, 2, 8, 8]> : tensor<4xi64>
  %0 = "onnx.Resize"(%x, %sizes) {operandSegmentSizes = array<i32: 1, 0, 0, 1>} : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// -----

// Negative: an unknown mode is refused with what is supported.
func.func @mode(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %sizes = onnx.Constant dense<[1, 2, 8, 8]> : tensor<4xi64>
  // expected-error @+1 {{attribute 'mode' is 'best'; supported are nearest, linear, cubic}}
  %0 = "onnx.Resize"(%x, %sizes) {mode = "best", operandSegmentSizes = array<i32: 1, 0, 0, 1>} : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}
