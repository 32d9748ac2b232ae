// RUN: optc-opt %s -split-input-file --optc-lower-onnx --canonicalize | FileCheck %s

// Two values share a byte of the artifact; each is moved to the top of a byte, and down again with its sign or without.
// CHECK-LABEL: func.func @signed
// CHECK-NOT: kernel.packed_constant
// CHECK-DAG: %[[W:.*]] = arith.constant dense_resource<w> : tensor<4x1xi8>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[4, 0]> : tensor<2xi8>
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[S]]
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: tensor<4x2xi8>
func.func @signed(%s: tensor<f32>) -> tensor<2x4xf32> {
  %w = onnx.Constant dense_resource<w> : tensor<2x4xi4>
  %0 = "onnx.DequantizeLinear"(%w, %s) : (tensor<2x4xi4>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
{-# dialect_resources: { builtin: { w: "0x0400000010325476" } } #-}

// -----

// CHECK-LABEL: func.func @unsigned
// CHECK: arith.shli
// CHECK: arith.shrui
func.func @unsigned(%s: tensor<f32>) -> tensor<2x4xf32> {
  %w = onnx.Constant dense_resource<w> : tensor<2x4xui4>
  %0 = "onnx.DequantizeLinear"(%w, %s) : (tensor<2x4xui4>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
{-# dialect_resources: { builtin: { w: "0x0400000010325476" } } #-}

// -----

// An odd number has a half byte at its end: the writer unpacks it, as for every other reader.
// CHECK-LABEL: func.func @odd
// CHECK: kernel.packed_constant
// CHECK-LABEL: func.func @other_reader
// CHECK: kernel.packed_constant
func.func @odd(%s: tensor<f32>) -> tensor<7xf32> {
  %w = onnx.Constant dense_resource<w> : tensor<7xi4>
  %0 = "onnx.DequantizeLinear"(%w, %s) : (tensor<7xi4>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func @other_reader() -> tensor<8xf32> {
  %w = onnx.Constant dense_resource<v> : tensor<8xi4>
  %0 = "onnx.Cast"(%w) <{to = 1 : i64}> : (tensor<8xi4>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
{-# dialect_resources: { builtin: { w: "0x0400000010325476", v: "0x0400000010325476" } } #-}
