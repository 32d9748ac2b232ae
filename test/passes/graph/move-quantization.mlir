// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-move-quantization))' | FileCheck %s

// CHECK-LABEL: func @pair
// CHECK-NEXT: onnx.Constant
// CHECK-NEXT: onnx.Constant
// CHECK-NEXT: return %arg0
func.func @pair(%x: tensor<4xui8>) -> tensor<4xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = "onnx.QuantizeLinear"(%0, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %1 : tensor<4xui8>
}

// -----

// Not with another scale or zero point, not for subnormal or unknown scales.
// CHECK-LABEL: func @no_pair
// CHECK-COUNT-4: "onnx.QuantizeLinear"
func.func @no_pair(%x: tensor<4xui8>, %u: tensor<f32>) -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %t = onnx.Constant dense<0.2> : tensor<f32>
  %tiny = onnx.Constant dense<1.0e-40> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %y = onnx.Constant dense<8> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = "onnx.DequantizeLinear"(%x, %tiny, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %2 = "onnx.DequantizeLinear"(%x, %u, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %3 = "onnx.QuantizeLinear"(%0, %t, %z) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %4 = "onnx.QuantizeLinear"(%0, %s, %y) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %5 = "onnx.QuantizeLinear"(%1, %tiny, %z) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %6 = "onnx.QuantizeLinear"(%2, %u, %z) : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %3, %4, %5, %6 : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
}

// -----

// The largest of integers, and integers of all parts.
// CHECK-LABEL: func @moves
// CHECK: %[[M:.*]] = "onnx.MaxPool"(%arg0) {{.*}} -> tensor<1x2x3x3xui8>
// CHECK: %[[C:.*]] = "onnx.Concat"(%[[M]], %[[M]]) {{.*}} -> tensor<1x4x3x3xui8>
// CHECK-NOT: Linear
// CHECK: return %[[C]]
func.func @moves(%x: tensor<1x2x4x4xui8>) -> tensor<1x4x3x3xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<7> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.MaxPool"(%0) <{resultSegmentSizes = array<i32: 1, 0>}> {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %2 = "onnx.QuantizeLinear"(%1, %s, %z) : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x3xui8>
  %3 = "onnx.DequantizeLinear"(%2, %s, %z) : (tensor<1x2x3x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x3xf32>
  %4 = "onnx.Concat"(%3, %3) {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %5 = "onnx.QuantizeLinear"(%4, %s, %z) : (tensor<1x4x3x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x3x3xui8>
  return %5 : tensor<1x4x3x3xui8>
}

// -----

// A reshape goes in front of the numbers that a product reads; an average is no integer.
// CHECK-LABEL: func @sinks
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg0, %{{.*}}) {{.*}} -> tensor<2x8xi8>
// CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[R]]
// CHECK: "onnx.MatMul"(%[[D]]
// CHECK: %[[N:.*]] = "onnx.DequantizeLinear"(%arg2
// CHECK: "onnx.GlobalAveragePool"(%[[N]])
func.func @sinks(%x: tensor<4x4xi8>, %w: tensor<8x3xf32>, %y: tensor<1x2x4x4xi8>) -> (tensor<2x3xf32>, tensor<1x2x1x1xi8>) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %shape = onnx.Constant dense<[2, 8]> : tensor<2xi64>
  %0 = "onnx.DequantizeLinear"(%x, %s) : (tensor<4x4xi8>, tensor<f32>) -> tensor<4x4xf32>
  %1 = "onnx.Reshape"(%0, %shape) : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %2 = "onnx.MatMul"(%1, %w) : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  %3 = "onnx.DequantizeLinear"(%y, %s) : (tensor<1x2x4x4xi8>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %4 = "onnx.GlobalAveragePool"(%3) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %5 = "onnx.QuantizeLinear"(%4, %s) {output_dtype = 3 : i64} : (tensor<1x2x1x1xf32>, tensor<f32>) -> tensor<1x2x1x1xi8>
  return %2, %5 : tensor<2x3xf32>, tensor<1x2x1x1xi8>
}
