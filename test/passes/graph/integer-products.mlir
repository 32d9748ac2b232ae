// RUN: optc-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(optc-integer-products{report=1}))' | FileCheck %s

// A convolution with a bias in units of its sums, an activation that saturation implies, and a QuantizeLinear: rounded
// once, by 0.5 * 0.25 / 2.
// CHECK-LABEL: func @conv
// CHECK: %[[B:.*]] = onnx.Constant dense<[3, -4]> : tensor<2xi32>
// CHECK: %[[S:.*]] = "onnx.ConvInteger"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}} -> tensor<1x2x4x4xi32>
// CHECK: %[[U:.*]] = "onnx.Unsqueeze"(%[[B]], {{.*}} -> tensor<2x1x1xi32>
// CHECK: %[[T:.*]] = "onnx.Add"(%[[S]], %[[U]])
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[T]]) {{.*}} -> tensor<1x2x4x4xf32>
// CHECK: %[[M:.*]] = onnx.Constant dense<6.250000e-02> : tensor<f32>
// CHECK: %[[Y:.*]] = "onnx.Mul"(%[[F]], %[[M]])
// CHECK: %[[ONE:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK: "onnx.QuantizeLinear"(%[[Y]], %[[ONE]], %{{.*}}) {{.*}} -> tensor<1x2x4x4xui8>
// CHECK-NOT: Relu
func.func @conv(%x: tensor<1x3x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %w = onnx.Constant dense<1> : tensor<2x3x3x3xi8>
  %xs = onnx.Constant dense<0.5> : tensor<f32>
  %ws = onnx.Constant dense<0.25> : tensor<f32>
  %ys = onnx.Constant dense<2.0> : tensor<f32>
  %bs = onnx.Constant dense<0.125> : tensor<f32>
  %xz = onnx.Constant dense<9> : tensor<ui8>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %yz = onnx.Constant dense<0> : tensor<ui8>
  %b = onnx.Constant dense<[3, -4]> : tensor<2xi32>
  %0 = "onnx.DequantizeLinear"(%x, %xs, %xz) : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x4xf32>
  %1 = "onnx.DequantizeLinear"(%w, %ws, %wz) : (tensor<2x3x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x3x3xf32>
  %2 = "onnx.DequantizeLinear"(%b, %bs) : (tensor<2xi32>, tensor<f32>) -> tensor<2xf32>
  %3 = "onnx.Conv"(%0, %1, %2) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x4x4xf32>, tensor<2x3x3x3xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %4 = "onnx.Relu"(%3) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = "onnx.QuantizeLinear"(%4, %ys, %yz) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %5 : tensor<1x2x4x4xui8>
}

// -----

// A zero point above the lowest value: the activation is computed. A result that others read is one of floats.
// CHECK-LABEL: func @matmul
// CHECK: "onnx.MatMulInteger"(%arg0, %arg1)
// CHECK: "onnx.Relu"
// CHECK: "onnx.QuantizeLinear"
// CHECK: %[[S:.*]] = "onnx.MatMulInteger"(%arg0, %arg1)
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[S]])
// CHECK: onnx.Constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[R:.*]] = "onnx.Mul"(%[[F]]
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[R]]
// CHECK: return %{{.*}}, %[[R]], %[[Q]]
func.func @matmul(%a: tensor<5x4xi8>, %b: tensor<4x2xi8>) -> (tensor<5x2xi8>, tensor<5x2xf32>, tensor<5x2xi8>) {
  %as = onnx.Constant dense<0.5> : tensor<f32>
  %bs = onnx.Constant dense<[0.25, 0.5]> : tensor<2xf32>
  %z = onnx.Constant dense<-3> : tensor<i8>
  %0 = "onnx.DequantizeLinear"(%a, %as) : (tensor<5x4xi8>, tensor<f32>) -> tensor<5x4xf32>
  %1 = "onnx.DequantizeLinear"(%b, %bs) {axis = 1 : i64} : (tensor<4x2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = "onnx.MatMul"(%0, %1) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %3 = "onnx.Relu"(%2) : (tensor<5x2xf32>) -> tensor<5x2xf32>
  %4 = "onnx.QuantizeLinear"(%3, %as, %z) : (tensor<5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<5x2xi8>
  %5 = "onnx.MatMul"(%0, %1) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %6 = "onnx.QuantizeLinear"(%5, %as, %z) : (tensor<5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<5x2xi8>
  return %4, %5, %6 : tensor<5x2xi8>, tensor<5x2xf32>, tensor<5x2xi8>
}

// -----

// Weights alone stay as they are, for the lowering; Gemm becomes MatMul.
// CHECK-LABEL: func @weights
// CHECK: %[[D:.*]] = "onnx.DequantizeLinear"
// CHECK: %[[T:.*]] = "onnx.Transpose"(%[[D]])
// CHECK: %[[Y:.*]] = "onnx.MatMul"(%arg0, %[[T]])
// CHECK: "onnx.Add"(%[[Y]], %arg1)
func.func @weights(%x: tensor<2x4xf32>, %c: tensor<3xf32>) -> tensor<2x3xf32> {
  %w = onnx.Constant dense<1> : tensor<3x4xi8>
  %s = onnx.Constant dense<[0.5, 0.25, 2.0]> : tensor<3xf32>
  %0 = "onnx.DequantizeLinear"(%w, %s) {axis = 0 : i64} : (tensor<3x4xi8>, tensor<3xf32>) -> tensor<3x4xf32>
  %1 = "onnx.Gemm"(%x, %0, %c) {transB = 1 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// QLinearConv takes the same form.
// CHECK-LABEL: func @qlinear
// CHECK: "onnx.ConvInteger"(%arg0, %arg1, %{{.*}}, %{{.*}}) {{.*}}strides = array<i64: 2>
// CHECK: "onnx.QuantizeLinear"
// CHECK-NOT: QLinearConv
func.func @qlinear(%x: tensor<1x1x5xui8>, %w: tensor<1x1x2xi8>) -> tensor<1x1x2xui8> {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<3> : tensor<ui8>
  %wz = onnx.Constant dense<0> : tensor<i8>
  %0 = "onnx.QLinearConv"(%x, %s, %z, %w, %s, %wz, %s, %z) {strides = array<i64: 2>}
    : (tensor<1x1x5xui8>, tensor<f32>, tensor<ui8>, tensor<1x1x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2xui8>
  return %0 : tensor<1x1x2xui8>
}

// -----

// What stays a product of floats says why.
// CHECK-LABEL: func @stays
// CHECK-COUNT-5: optc.note = "stayed float: {{.*}}"
// CHECK-NOT: Integer
func.func @stays(%a: tensor<5x4xi8>, %b: tensor<4x2xi8>, %x: tensor<5x4xf32>, %h: tensor<5x40000xi8>, %g: tensor<40000x2xi8>, %u: tensor<5x?xi8>, %v: tensor<?x2xi8>)
    -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %ks = onnx.Constant dense<0.5> : tensor<4xf32>
  %0 = "onnx.DequantizeLinear"(%a, %s) : (tensor<5x4xi8>, tensor<f32>) -> tensor<5x4xf32>
  %1 = "onnx.DequantizeLinear"(%b, %ks) {axis = 0 : i64} : (tensor<4x2xi8>, tensor<4xf32>) -> tensor<4x2xf32>
  // expected-remark @below {{scale per index of axis 0, which the sums run along}}
  %2 = "onnx.MatMul"(%0, %1) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  // expected-remark @below {{not a constant}}
  %3 = "onnx.MatMul"(%x, %1) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %4 = "onnx.DequantizeLinear"(%h, %s) : (tensor<5x40000xi8>, tensor<f32>) -> tensor<5x40000xf32>
  %5 = "onnx.DequantizeLinear"(%g, %s) : (tensor<40000x2xi8>, tensor<f32>) -> tensor<40000x2xf32>
  // expected-remark @below {{a sum of 40000 products may exceed 32 bits}}
  %6 = "onnx.MatMul"(%4, %5) : (tensor<5x40000xf32>, tensor<40000x2xf32>) -> tensor<5x2xf32>
  %7 = "onnx.DequantizeLinear"(%u, %s) : (tensor<5x?xi8>, tensor<f32>) -> tensor<5x?xf32>
  %8 = "onnx.DequantizeLinear"(%v, %s) : (tensor<?x2xi8>, tensor<f32>) -> tensor<?x2xf32>
  // expected-remark @below {{not known before the run}}
  %9 = "onnx.MatMul"(%7, %8) : (tensor<5x?xf32>, tensor<?x2xf32>) -> tensor<5x2xf32>
  %w = onnx.Constant dense<1.0> : tensor<4x2xf32>
  // expected-remark @below {{only the first factor is quantized}}
  %10 = "onnx.MatMul"(%0, %w) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  // Nothing is quantized: nothing to say.
  %11 = "onnx.MatMul"(%x, %w) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  return %2, %3, %6, %9, %10, %11 : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
}

// -----

// Signed activations become unsigned ones, 128 more, through what moves or compares them; not those that are results.
// CHECK-LABEL: func @unsigned
// CHECK: %[[Z:.*]] = onnx.Constant dense<125> : tensor<ui8>
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%arg0, %{{.*}}, %[[Z]]) {{.*}} -> tensor<1x2x4x4xui8>
// CHECK: %[[M:.*]] = "onnx.MaxPool"(%[[Q]]) {{.*}} -> tensor<1x2x3x3xui8>
// CHECK: "onnx.ConvInteger"(%[[M]], {{.*}}tensor<1x2x3x3xui8>
// CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<1x3x3x3xi8>
// CHECK: "onnx.DequantizeLinear"{{.*}} : (tensor<1x3x3x3xi8>
func.func @unsigned(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xi8>) -> (tensor<1x3x3x3xi8>, tensor<1x3x3x3xf32>) {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %z = onnx.Constant dense<-3> : tensor<i8>
  %0 = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  %1 = "onnx.MaxPool"(%0) <{resultSegmentSizes = array<i32: 1, 0>}> {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8>
  %2 = "onnx.DequantizeLinear"(%1, %s, %z) : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %3 = "onnx.DequantizeLinear"(%w, %s) : (tensor<3x2x1x1xi8>, tensor<f32>) -> tensor<3x2x1x1xf32>
  %4 = "onnx.Conv"(%2, %3) : (tensor<1x2x3x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x3x3xf32>
  %5 = "onnx.QuantizeLinear"(%4, %s, %z) : (tensor<1x3x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x3xi8>
  %6 = "onnx.DequantizeLinear"(%5, %s, %z) : (tensor<1x3x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x3xf32>
  return %5, %6 : tensor<1x3x3x3xi8>, tensor<1x3x3x3xf32>
}
