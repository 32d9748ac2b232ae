// RUN: optc-opt --plugin=%plugin %s -split-input-file -verify-diagnostics=only-expected \
// RUN:   -pass-pipeline='builtin.module(func.func(example-drop-neutral{report=true}))' | FileCheck %s
// RUN: optc-opt --plugin=%plugin %s -split-input-file \
// RUN:   -pass-pipeline='builtin.module(func.func(example-drop-neutral{ignore-signed-zeros=true}))' \
// RUN:   | FileCheck %s --check-prefix=IGNORE

// CHECK-LABEL: func @exact
// CHECK-NOT: onnx.Mul
// CHECK: return %arg0
func.func @exact(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %one = onnx.Constant dense<1.0> : tensor<1x1xf32>
  %zero = onnx.Constant dense<-0.0> : tensor<f32>
  // expected-remark @below {{removed}}
  %0 = "onnx.Mul"(%one, %x) : (tensor<1x1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-remark @below {{removed}}
  %1 = "onnx.Add"(%0, %zero) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func @integers
// CHECK: return %arg0
func.func @integers(%x: tensor<4xi64>) -> tensor<4xi64> {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %0 = "onnx.Div"(%x, %one) : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64>
  %1 = "onnx.Sub"(%0, %zero) : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// -----

// -0.0 + 0.0 is +0.0.
// CHECK-LABEL: func @signed_zero
// CHECK: onnx.Add
// IGNORE-LABEL: func @signed_zero
// IGNORE-NOT: onnx.Add
// IGNORE: return %arg0
func.func @signed_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What stays: a constant that broadcasts the other operand, 1 / x and 0 - x, and types that are not known.
// IGNORE-LABEL: func @stays
// IGNORE: onnx.Mul
// IGNORE: onnx.Div
// IGNORE: onnx.Sub
// IGNORE: onnx.Mul
func.func @stays(%x: tensor<4xf32>, %y: tensor<*xf32>) -> (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<*xf32>) {
  %one = onnx.Constant dense<1.0> : tensor<1x1xf32>
  %scalar = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %0 = "onnx.Mul"(%x, %one) : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %1 = "onnx.Div"(%scalar, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Sub"(%zero, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "onnx.Mul"(%y, %scalar) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<*xf32>
}
