// RUN: optc-opt %s -split-input-file -optc-lower-onnx -canonicalize -optc-assign-layouts=report -verify-diagnostics | FileCheck %s

// A convolution of many channels pays for the transpositions of its argument and result.
// CHECK-LABEL: func.func @pays(
// CHECK: to_channels_last
// CHECK: from_channels_last
func.func @pays(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32> {
  // expected-remark @+1 {{channels last: 1 convolutions with 6.55E+04 multiply-adds for 4.10E+03 elements to transpose}}
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  return %0 : tensor<1x32x8x8xf32>
}

// -----

// Negative: one depthwise convolution alone does not.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: channels_last
// CHECK: outs(%{{.*}} : tensor<1x32x6x6xf32>) attrs = {optc.label = "conv"}
// CHECK-NOT: channels_last
func.func @stays(%x: tensor<1x32x8x8xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x6x6xf32> {
  // expected-remark @+1 {{stays as it is: 1 convolutions}}
  %0 = "onnx.Conv"(%x, %w) {group = 32 : i64} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x6x6xf32>
  return %0 : tensor<1x32x6x6xf32>
}
