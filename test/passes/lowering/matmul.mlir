// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// One matrix on the right: the batch of the left joins its rows.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @rows(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// Batch axes of size 1 disappear from the operand.
// CHECK-LABEL: func.func @batch
// CHECK: kernel.view %{{.*}} : tensor<1x4x5xf32> to tensor<4x5xf32>
func.func @batch(%a: tensor<7x3x4xf32>, %b: tensor<1x4x5xf32>) -> tensor<7x3x5xf32> {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<7x3x4xf32>, tensor<1x4x5xf32>) -> tensor<7x3x5xf32>
  return %0 : tensor<7x3x5xf32>
}

// -----

// Sums of half precision are kept in f32 and rounded once.
// CHECK-LABEL: func.func @half
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x4xf16>, tensor<4x5xf16>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK: arith.truncf
func.func @half(%a: tensor<3x4xf16>, %b: tensor<4x5xf16>) -> tensor<3x5xf16> {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<3x4xf16>, tensor<4x5xf16>) -> tensor<3x5xf16>
  return %0 : tensor<3x5xf16>
}

// -----

// Negative: equal inner sizes need no run-time check, sizes that may differ need one.
// CHECK-LABEL: func.func @checked
// CHECK: kernel.check %{{.*}}, {{.*}}inner sizes
func.func @checked(%a: tensor<3x?xf32>, %b: tensor<?x5xf32>) -> tensor<3x5xf32> {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<3x?xf32>, tensor<?x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// The diagonal is read by a repeated dimension.
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic
func.func @diagonal(%a: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Einsum"(%a) {equation = "ii->i"} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
