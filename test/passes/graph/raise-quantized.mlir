// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-raise-quantized,optc-infer-shapes))' | FileCheck %s

// CHECK-LABEL: func @sum
// CHECK: %[[A:.*]] = "onnx.DequantizeLinear"(%arg0, %arg2, %arg3) {{.*}} -> tensor<4xf32>
// CHECK: %[[B:.*]] = "onnx.DequantizeLinear"(%arg1, %arg2) {{.*}} -> tensor<4xf32>
// CHECK: %[[S:.*]] = "onnx.Add"(%[[A]], %[[B]])
// CHECK: "onnx.QuantizeLinear"(%[[S]], %arg2) {{.*}}output_dtype = 3{{.*}} -> tensor<4xi8>
func.func @sum(%a: tensor<4xi8>, %b: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xi8> {
  %0 = "onnx.ms.QLinearAdd"(%a, %s, %z, %b, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0>}>
    : (tensor<4xi8>, tensor<f32>, tensor<i8>, tensor<4xi8>, tensor<f32>, tensor<f32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// Channels last are moved in front of the pooling and back.
// CHECK-LABEL: func @pool
// CHECK: "onnx.Transpose"{{.*}}perm = array<i64: 0, 3, 1, 2>
// CHECK: "onnx.GlobalAveragePool"
// CHECK: "onnx.Transpose"{{.*}}perm = array<i64: 0, 2, 3, 1>
// CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<1x1x1x3xui8>
func.func @pool(%x: tensor<1x5x6x3xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<1x1x1x3xui8> {
  %0 = "onnx.ms.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) {channels_last = 1 : i64}
    : (tensor<1x5x6x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x3xui8>
  return %0 : tensor<1x1x1x3xui8>
}

// -----

// Exact products of integers stay such.
// CHECK-LABEL: func @products
// CHECK: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = "onnx.DynamicQuantizeLinear"(%arg0)
// CHECK: %[[M:.*]] = "onnx.MatMulInteger"(%[[Q]], %arg1, %[[Z]])
// CHECK: "onnx.Cast"(%[[M]])
// CHECK: "onnx.Mul"
// CHECK-NOT: Add
func.func @products(%a: tensor<2x4xf32>, %b: tensor<4x3xi8>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.ms.DynamicQuantizeMatMul"(%a, %b, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
    : (tensor<2x4xf32>, tensor<4x3xi8>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// float16 results have no exact form here, and pooling with channels last of unknown rank none at all.
// CHECK-LABEL: func @stays
// CHECK: onnx.ms.MatMulIntegerToFloat
// CHECK: onnx.ms.QLinearGlobalAveragePool
func.func @stays(%a: tensor<2x4xui8>, %b: tensor<4x3xi8>, %s: tensor<f16>, %x: tensor<*xui8>, %xs: tensor<f32>, %z: tensor<ui8>)
    -> (tensor<2x3xf16>, tensor<*xui8>) {
  %0 = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}>
    : (tensor<2x4xui8>, tensor<4x3xi8>, tensor<f16>, tensor<f16>) -> tensor<2x3xf16>
  %1 = "onnx.ms.QLinearGlobalAveragePool"(%x, %xs, %z, %xs, %z) {channels_last = 1 : i64}
    : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %0, %1 : tensor<2x3xf16>, tensor<*xui8>
}
