// RUN: optc-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(optc-quantize-static{report=true}))' | FileCheck %s

// What a convolution reads is quantized once. MaxPool takes the integers; Relu is computed before anything is rounded.
// The range of the pool's input is that of the integers: 255 steps of 1/255, no zero point.
// CHECK-LABEL: func @chain
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x2x8x8xf32>
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[X]], {{.*}} -> tensor<1x2x8x8xui8>
// CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
// CHECK: %[[W:.*]] = "onnx.DequantizeLinear"({{.*}}<{axis = 0 : i64}> : (tensor<4x2x1x1xi8>, tensor<4xf32>) -> tensor<4x2x1x1xf32>
// CHECK: %[[B:.*]] = "onnx.DequantizeLinear"({{.*}}<{axis = 0 : i64}> : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[C:.*]] = "onnx.Conv"(%[[D]], %[[W]], %[[B]])
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[C]])
// CHECK-DAG: %[[S1:.*]] = onnx.Constant dense<0.00392156886> : tensor<f32>
// CHECK-DAG: %[[Z1:.*]] = onnx.Constant dense<0> : tensor<ui8>
// CHECK: %[[Q1:.*]] = "onnx.QuantizeLinear"(%[[R]], %[[S1]], %[[Z1]])
// CHECK: %[[P:.*]] = "onnx.MaxPool"(%[[Q1]]) {{.*}} -> tensor<1x4x4x4xui8>
// CHECK: %[[D1:.*]] = "onnx.DequantizeLinear"(%[[P]]
// CHECK: "onnx.Conv"(%[[D1]]
// CHECK-NOT: onnx.range
// CHECK-NOT: onnx.keep_float
// expected-remark @+2 {{Conv 'one': int8}}
// expected-remark @+1 {{Conv 'two': int8}}
func.func @chain(%x: tensor<1x2x8x8xf32> {onnx.range = array<f32: -1.0, 1.0>}) -> tensor<1x4x4x4xf32> {
  %w1 = onnx.Constant dense<[[[[1.0]], [[-2.0]]], [[[3.0]], [[0.5]]], [[[0.0]], [[0.0]]], [[[4.0]], [[0.25]]]]> : tensor<4x2x1x1xf32>
  %b1 = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w2 = onnx.Constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = "onnx.Conv"(%x, %w1, %b1) : (tensor<1x2x8x8xf32>, tensor<4x2x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32> loc("one")
  %1 = "onnx.Relu"(%0) {onnx.range = array<f32: 0.0, 1.0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = "onnx.MaxPool"(%1) <{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %3 = "onnx.Conv"(%2, %w2) : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32> loc("two")
  return %3 : tensor<1x4x4x4xf32>
}

// -----

// A residual sum reads the quantized value that the convolution beside it reads; the product next to it stays in
// registers. The result of the model is not rounded.
// CHECK-LABEL: func @residual
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%arg0
// CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
// CHECK: %[[C:.*]] = "onnx.Conv"(%[[D]]
// CHECK: %[[A:.*]] = "onnx.Add"(%[[C]], %[[D]])
// CHECK: %[[QA:.*]] = "onnx.QuantizeLinear"(%[[A]]
// CHECK: %[[DA:.*]] = "onnx.DequantizeLinear"(%[[QA]]
// CHECK: %[[M:.*]] = "onnx.Conv"(%[[DA]]
// CHECK: return %[[M]], %[[A]]
// expected-remark @+2 {{Conv 'one': int8}}
// expected-remark @+1 {{Conv 'two': int8}}
func.func @residual(%x: tensor<1x2x4x4xf32> {onnx.range = array<f32: -1.0, 3.0>}) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = onnx.Constant dense<0.5> : tensor<2x2x1x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("one")
  %1 = "onnx.Add"(%0, %x) {onnx.range = array<f32: -2.0, 6.0>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = "onnx.Conv"(%1, %w) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("two")
  return %2, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// What is computed between layers for several readers stays float: the difference that a normalization squares, too.
// CHECK-LABEL: func @between
// CHECK: %[[E:.*]] = "onnx.Sub"(%arg0, %arg1)
// CHECK: %[[S:.*]] = "onnx.Mul"(%[[E]], %[[E]])
// CHECK: %[[A:.*]] = "onnx.Add"(%[[S]], %[[E]])
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[A]]
// CHECK-NOT: "onnx.QuantizeLinear"
// CHECK: return
// expected-remark @+1 {{MatMul 'one': int8}}
func.func @between(%x: tensor<4x2xf32> {onnx.range = array<f32: -1.0, 3.0>}, %m: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant dense<0.5> : tensor<2x2xf32>
  %0 = "onnx.Sub"(%x, %m) {onnx.range = array<f32: -1.0, 3.0>} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %1 = "onnx.Mul"(%0, %0) {onnx.range = array<f32: 0.0, 9.0>} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = "onnx.ReduceMean"(%0) <{keepdims = 1 : i64}> : (tensor<4x2xf32>) -> tensor<1x1xf32>
  %3 = "onnx.Add"(%1, %0) {onnx.range = array<f32: -2.0, 6.0>} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %4 = "onnx.MatMul"(%3, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32> loc("one")
  %5 = "onnx.Add"(%4, %2) : (tensor<4x2xf32>, tensor<1x1xf32>) -> tensor<4x2xf32>
  return %5 : tensor<4x2xf32>
}

// -----

// What is concatenated shares one scale, that of the union of the ranges: [-1, 3]. Zeros that are padded become its
// zero point.
// CHECK-LABEL: func @concat_and_pad
// CHECK-COUNT-2: onnx.Constant dense<0.0156862754> : tensor<f32>
// CHECK: "onnx.Concat"({{.*}} -> tensor<1x4x4x4xui8>
// CHECK: %[[Z:.*]] = onnx.Constant dense<64> : tensor<ui8>
// CHECK: "onnx.Pad"(%{{.*}}, %{{.*}}, %[[Z]]) {{.*}} -> tensor<1x4x6x6xui8>
// expected-remark @+1 {{Conv '': int8}}
func.func @concat_and_pad(%x: tensor<1x2x4x4xf32> {onnx.range = array<f32: -1.0, 0.5>},
                          %y: tensor<1x2x4x4xf32> {onnx.range = array<f32: 0.0, 3.0>}) -> tensor<1x1x6x6xf32> {
  %w = onnx.Constant dense<0.5> : tensor<1x4x1x1xf32>
  %pads = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %0 = "onnx.Concat"(%x, %y) <{axis = 1 : i64}> : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = "onnx.Pad"(%0, %pads) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x4x4xf32>, tensor<8xi64>) -> tensor<1x4x6x6xf32>
  %2 = "onnx.Conv"(%1, %w) : (tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x6x6xf32>
  return %2 : tensor<1x1x6x6xf32>
}

// -----

// Weights of a Gemm have their channels first or last, and its bias is scaled by beta: only beta 1 fits integers.
// CHECK-LABEL: func @gemm
// CHECK: "onnx.DequantizeLinear"({{.*}}<{axis = 1 : i64}> : (tensor<4x3xi8>, tensor<3xf32>)
// CHECK: "onnx.Gemm"(%{{.*}}, %{{.*}}, %[[B:.*]]) <{beta = 5.0
// CHECK: "onnx.DequantizeLinear"({{.*}}<{axis = 0 : i64}> : (tensor<5x3xi8>, tensor<5xf32>)
// CHECK: "onnx.DequantizeLinear"({{.*}} : (tensor<1x5xi32>, tensor<5xf32>)
// expected-remark @+2 {{Gemm 'first': int8}}
// expected-remark @+1 {{Gemm 'second': int8}}
func.func @gemm(%x: tensor<2x4xf32> {onnx.range = array<f32: 0.0, 1.0>}) -> tensor<2x5xf32> {
  %w = onnx.Constant dense<0.5> : tensor<4x3xf32>
  %v = onnx.Constant dense<0.25> : tensor<5x3xf32>
  %b = onnx.Constant dense<1.0> : tensor<3xf32>
  %c = onnx.Constant dense<1.0> : tensor<1x5xf32>
  %0 = "onnx.Gemm"(%x, %w, %b) <{beta = 5.0e-01 : f32}> {onnx.range = array<f32: 0.0, 2.0>} : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("first")
  %1 = "onnx.Gemm"(%0, %v, %c) <{transB = 1 : i64}> : (tensor<2x3xf32>, tensor<5x3xf32>, tensor<1x5xf32>) -> tensor<2x5xf32> loc("second")
  return %1 : tensor<2x5xf32>
}

// -----

// What stays float, and why. Nothing is quantized for the sake of such layers.
// CHECK-LABEL: func @stays
// CHECK-NOT: onnx.QuantizeLinear
// expected-remark @+8 {{MatMul 'dynamic': float: both operands are computed at run time, so there are no weights}}
// expected-remark @+7 {{MatMul 'left': float: its constant is the left operand; weights are the right one}}
// expected-remark @+6 {{MatMul 'vector': float: its weights are no matrix}}
// expected-remark @+5 {{MatMul 'nan': float: its weights hold NaN or infinity}}
// expected-remark @+4 {{MatMul 'unseen': float: calibration saw no value, or NaN or infinity, at its input}}
// expected-remark @+3 {{MatMul 'kept': float: I want it}}
// expected-remark @+2 {{MatMul 'double': float: its weights are double; only float32 is quantized}}
// expected-remark @+1 {{ConvTranspose '': float: transposed convolutions have no form with integer activations}}
func.func @stays(%x: tensor<2x2xf32> {onnx.range = array<f32: 0.0, 1.0>}, %y: tensor<2x2xf32>, %d: tensor<2x2xf64>, %i: tensor<1x2x4x4xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<1x1x4x4xf32>) {
  %w = onnx.Constant dense<0.5> : tensor<2x2xf32>
  %v = onnx.Constant dense<0.5> : tensor<2xf32>
  %nan = onnx.Constant dense<[[1.0, 2.0], [3.0, 0x7FC00000]]> : tensor<2x2xf32>
  %w64 = onnx.Constant dense<0.5> : tensor<2x2xf64>
  %t = onnx.Constant dense<0.5> : tensor<2x1x1x1xf32>
  %0 = "onnx.MatMul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("dynamic")
  %1 = "onnx.MatMul"(%w, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("left")
  %2 = "onnx.MatMul"(%x, %v) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("vector")
  %3 = "onnx.MatMul"(%x, %nan) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("nan")
  %4 = "onnx.MatMul"(%y, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("unseen")
  %5 = "onnx.MatMul"(%x, %w) {onnx.keep_float = "I want it"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("kept")
  %6 = "onnx.MatMul"(%d, %w64) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64> loc("double")
  %7 = "onnx.ConvTranspose"(%i, %t) : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<1x1x4x4xf32>
}

// -----

// Bodies are not looked into.
// CHECK-LABEL: func @body
// CHECK-NOT: onnx.QuantizeLinear
// expected-remark @+1 {{MatMul 'inner': float: it is inside the body of node 'branch' (If), which calibration does not look into}}
func.func @body(%c: tensor<i1>, %x: tensor<2x2xf32> {onnx.range = array<f32: 0.0, 1.0>}) -> tensor<2x2xf32> {
  %w = onnx.Constant dense<0.5> : tensor<2x2xf32>
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.MatMul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("inner")
    "onnx.Yield"(%1) : (tensor<2x2xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2x2xf32> loc("branch")
  return %0 : tensor<2x2xf32>
}
