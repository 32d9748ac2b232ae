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

// Exact sums and a bias in their units, then one rounding.
// CHECK-LABEL: func @gemm
// CHECK: %[[M:.*]] = "onnx.MatMulInteger"(%arg0, {{.*}}, %arg3, %arg3)
// CHECK: %[[S:.*]] = "onnx.Add"(%[[M]], %arg4) {{.*}} -> tensor<2x3xi32>
// CHECK: "onnx.Cast"(%[[S]])
// CHECK: "onnx.Div"
// CHECK: %[[Y:.*]] = "onnx.Mul"
// CHECK: "onnx.QuantizeLinear"(%[[Y]], %{{.*}}, %arg3) {{.*}} -> tensor<2x3xui8>
func.func @gemm(%a: tensor<2x4xui8>, %b: tensor<3x4xui8>, %s: tensor<f32>, %z: tensor<ui8>, %c: tensor<3xi32>) -> tensor<2x3xui8> {
  %0 = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z, %c, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1>, transB = 1 : i64}>
    : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<3xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// -----

// Without y_zero_point the result are numbers.
// CHECK-LABEL: func @gemm_of_floats
// CHECK: "onnx.MatMulInteger"
// CHECK-NOT: onnx.QuantizeLinear
func.func @gemm_of_floats(%a: tensor<2x4xi8>, %b: tensor<4x3xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<2x3xf32> {
  %0 = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>}>
    : (tensor<2x4xi8>, tensor<f32>, tensor<i8>, tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// The inputs of all steps are one product; the state is quantized in each step.
// CHECK-LABEL: func @lstm
// CHECK: "onnx.DynamicQuantizeLinear"(%arg0)
// CHECK: %[[X:.*]] = "onnx.Cast"
// CHECK: %[[IN:.*]] = "onnx.Mul"(%[[X]]
// CHECK: %[[S:.*]]:3 = "onnx.Scan"({{.*}}, %[[IN]]) {{.*}}scan_input_directions = array<i64: 1>, scan_output_directions = array<i64: 1>
// CHECK: ^bb0(%[[H:.*]]: tensor<2x5xf32>, %[[C:.*]]: tensor<2x5xf32>, %{{.*}}: tensor<2x20xf32>)
// CHECK: "onnx.DynamicQuantizeLinear"(%[[H]])
// CHECK: "onnx.MatMulInteger"
// CHECK: "onnx.Split"
// CHECK: "onnx.Unsqueeze"(%[[S]]#2
func.func @lstm(%x: tensor<7x2x3xf32>, %w: tensor<1x3x20xi8>, %r: tensor<1x5x20xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>) -> tensor<7x1x2x5xf32> {
  %0 = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %z)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>, direction = "reverse"}>
    : (tensor<7x2x3xf32>, tensor<1x3x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<7x1x2x5xf32>
  return %0 : tensor<7x1x2x5xf32>
}

// -----

// CHECK-LABEL: func @attention
// CHECK: "onnx.MatMulInteger"(%arg0, %arg1, %arg4
// CHECK: "onnx.Split"
// CHECK: "onnx.Softmax"
// CHECK: "onnx.MatMul"
// CHECK: "onnx.Reshape"{{.*}} -> tensor<1x6x8xf32>
func.func @attention(%x: tensor<1x6x8xui8>, %w: tensor<8x24xi8>, %b: tensor<24xf32>, %s: tensor<f32>, %xz: tensor<ui8>, %wz: tensor<i8>) -> tensor<1x6x8xf32> {
  %0 = "onnx.ms.QAttention"(%x, %w, %b, %s, %s, %xz, %wz)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0>, num_heads = 2 : i64, unidirectional = 1 : i64}>
    : (tensor<1x6x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<ui8>, tensor<i8>) -> tensor<1x6x8xf32>
  return %0 : tensor<1x6x8xf32>
}

// -----

// Rows are looked up, as bytes, before they are dequantized.
// CHECK-LABEL: func @rows
// CHECK: %[[D:.*]] = "onnx.Cast"(%arg0) {{.*}} -> tensor<9x32xi8>
// CHECK: %[[R:.*]] = "onnx.Gather"(%[[D]], %arg1)
// CHECK: %[[S:.*]] = "onnx.Gather"(%arg2, %arg1)
// CHECK: "onnx.DequantizeLinear"(%[[R]], %[[S]]) {{.*}}axis = 2{{.*}}block_size = 16
func.func @rows(%d: tensor<9x32xi4>, %i: tensor<2x3xi64>, %s: tensor<9x2xf32>) -> tensor<2x3x32xf32> {
  %0 = "onnx.ms.GatherBlockQuantized"(%d, %i, %s) {block_size = 16 : i64}
    : (tensor<9x32xi4>, tensor<2x3xi64>, tensor<9x2xf32>) -> tensor<2x3x32xf32>
  return %0 : tensor<2x3x32xf32>
}

// -----

// Softmax before opset 13 is one over all axes from its axis on.
// CHECK-LABEL: func @softmax
// CHECK: "onnx.Flatten"{{.*}}axis = 2
// CHECK: "onnx.Softmax"
// CHECK: "onnx.Reshape"
func.func @softmax(%x: tensor<2x3x4x5xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3x4x5xui8> {
  %0 = "onnx.ms.QLinearSoftmax"(%x, %s, %z, %s, %z) {axis = 2 : i64, opset = 11 : i64}
    : (tensor<2x3x4x5xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4x5xui8>
  return %0 : tensor<2x3x4x5xui8>
}

// -----

// The only optional operand is absent, with others behind it.
// CHECK-LABEL: func @softmax_without_zero
// CHECK: "onnx.DequantizeLinear"(%arg0, %arg1) {{.*}} -> tensor<2x3xf32>
// CHECK-NOT: onnx.Flatten
// CHECK: "onnx.Softmax"{{.*}}axis = -1
// CHECK: "onnx.QuantizeLinear"({{.*}}, %arg1, %arg2)
func.func @softmax_without_zero(%x: tensor<2x3xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3xui8> {
  %0 = "onnx.ms.QLinearSoftmax"(%x, %s, %s, %z) {opset = 13 : i64} : (tensor<2x3xui8>, tensor<f32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// -----

// CHECK-LABEL: func @mean
// CHECK: "onnx.ReduceMean"{{.*}}keepdims = 0{{.*}} -> tensor<2x4xf32>
// CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<2x4xi8>
func.func @mean(%x: tensor<2x3x4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<2x4xi8> {
  %0 = "onnx.ms.QLinearReduceMean"(%x, %s, %z, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> {axes = array<i64: 1>, keepdims = 0 : i64}
    : (tensor<2x3x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}
