// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// The runtime is told which rank must come back, and constant sizes are checked.
// CHECK-LABEL: func.func @at
// CHECK: kernel.library sequence_at
// CHECK: kernel.check
func.func @at(%s: !onnx.seq<tensor<2x3xf32>>, %i: tensor<i64>) -> tensor<2x3xf32> {
  %0 = "onnx.SequenceAt"(%s, %i) : (!onnx.seq<tensor<2x3xf32>>, tensor<i64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A value that is no optional has an element: no call.
// CHECK-LABEL: func.func @has
// CHECK-NOT: kernel.library
// CHECK: arith.constant dense<1> : tensor<i8>
func.func @has(%x: tensor<4xf32>) -> tensor<i1> {
  %0 = "onnx.OptionalHasElement"(%x) : (tensor<4xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

// Strings of attributes travel as constants.
// CHECK-LABEL: func.func @split
// CHECK: %[[D:.*]] = kernel.library string_constant
// CHECK: kernel.library string_split(%{{.*}}, %[[D]])
func.func @split(%x: tensor<2x!onnx.string>) -> (tensor<2x?x!onnx.string>, tensor<2xi64>) {
  %0:2 = "onnx.StringSplit"(%x) {delimiter = "-"} : (tensor<2x!onnx.string>) -> (tensor<2x?x!onnx.string>, tensor<2xi64>)
  return %0#0, %0#1 : tensor<2x?x!onnx.string>, tensor<2xi64>
}
