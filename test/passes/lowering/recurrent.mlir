// RUN: optc-opt %s -split-input-file -verify-diagnostics -optc-lower-onnx | FileCheck %s

// The products of all inputs come first, then one kernel walks time.
// CHECK-LABEL: func.func @lstm
// CHECK: optc.label = "recurrent_input"
// CHECK: kernel.dispatch "recurrent"
func.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>) -> tensor<5x1x2x4xf32> {
  %0 = "onnx.LSTM"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> tensor<5x1x2x4xf32>
  return %0 : tensor<5x1x2x4xf32>
}

// -----

// Negative: an unknown activation is refused with what is supported.
func.func @activation(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<5x1x2x4xf32> {
  // expected-error @+1 {{attribute 'activations' has 'Swish'; supported are Relu, Tanh}}
  %0 = "onnx.RNN"(%x, %w, %r) {activations = ["Swish"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<5x1x2x4xf32>
  return %0 : tensor<5x1x2x4xf32>
}
