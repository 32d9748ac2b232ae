// RUN: optc-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(optc-quantize-weights{report=true}))' | FileCheck %s
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-quantize-weights{bits=4 group-size=16}))' | FileCheck %s --check-prefix=FOUR
// RUN: not optc-opt %s -pass-pipeline='builtin.module(func.func(optc-quantize-weights{bits=3}))' 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: optc-quantize-weights: bits is 3 and group-size 32; bits must be 4 or 8

// Eight bits: a scale per column. Four: groups along the summed axis. Activations stay as they are.
// CHECK-LABEL: func @matmul
// CHECK: %[[W:.*]] = "onnx.DequantizeLinear"({{.*}}<{axis = 1 : i64}> : (tensor<64x8xi8>, tensor<8xf32>) -> tensor<64x8xf32>
// CHECK: "onnx.MatMul"(%arg0, %[[W]])
// FOUR-LABEL: func @matmul
// FOUR: "onnx.DequantizeLinear"({{.*}}<{axis = 0 : i64, block_size = 16 : i64}> : (tensor<64x8xi4>, tensor<4x8xf32>)
// expected-remark @+1 {{MatMul 'm': int8 weights}}
func.func @matmul(%x: tensor<2x64xf32>) -> tensor<2x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<64x8xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<2x64xf32>, tensor<64x8xf32>) -> tensor<2x8xf32> loc("m")
  return %0 : tensor<2x8xf32>
}

// -----

// Four bits of a convolution: groups run through all that one filter sums, 4 * 9 = 36 weights, in blocks that divide it.
// CHECK-LABEL: func @conv
// CHECK: "onnx.DequantizeLinear"({{.*}}<{axis = 0 : i64}> : (tensor<8x4x3x3xi8>, tensor<8xf32>)
// FOUR-LABEL: func @conv
// FOUR: %[[D:.*]] = "onnx.DequantizeLinear"({{.*}}<{axis = 1 : i64, block_size = 12 : i64}> : (tensor<8x36xi4>, tensor<8x3xf32>)
// FOUR: %[[W:.*]] = "onnx.Reshape"(%[[D]], {{.*}} -> tensor<8x4x3x3xf32>
// FOUR: "onnx.Conv"(%arg0, %[[W]])
// expected-remark @+1 {{Conv '': int8 weights}}
func.func @conv(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x6x6xf32> {
  %w = onnx.Constant dense<0.5> : tensor<8x4x3x3xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

// A table: only the rows that are looked up become floats. They have 8 bits, whatever is asked for.
// CHECK-LABEL: func @table
// CHECK: %[[R:.*]] = "onnx.Gather"({{.*}} : (tensor<100x8xi8>, tensor<?xi64>) -> tensor<?x8xi8>
// CHECK: %[[S:.*]] = "onnx.Gather"({{.*}} : (tensor<100x1xf32>, tensor<?xi64>) -> tensor<?x1xf32>
// CHECK: %[[C:.*]] = "onnx.Cast"(%[[R]])
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[C]], %[[S]])
// CHECK: return %[[M]]
// FOUR-LABEL: func @table
// FOUR: tensor<100x8xi8>
// expected-remark @+1 {{Gather 'rows': int8 weights}}
func.func @table(%i: tensor<?xi64>) -> tensor<?x8xf32> {
  %w = onnx.Constant dense<0.5> : tensor<100x8xf32>
  %0 = "onnx.Gather"(%w, %i) : (tensor<100x8xf32>, tensor<?xi64>) -> tensor<?x8xf32> loc("rows")
  return %0 : tensor<?x8xf32>
}

// -----

// Few weights, none, and those of a body.
// CHECK-LABEL: func @others
// CHECK: "onnx.MatMul"(%arg0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: "onnx.MatMul"(%arg0, %arg0)
// CHECK: "onnx.If"
// CHECK: "onnx.DequantizeLinear"
// expected-remark @+3 {{MatMul 'few': float: it has only 16 weights}}
// expected-remark @+2 {{MatMul 'none': float: both operands are computed at run time, so there are no weights}}
// expected-remark @+1 {{MatMul 'inner': int8 weights}}
func.func @others(%x: tensor<4x4xf32>, %c: tensor<i1>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x64xf32>) {
  %cst = onnx.Constant dense<0.5> : tensor<4x4xf32>
  %w = onnx.Constant dense<0.5> : tensor<4x64xf32>
  %0 = "onnx.MatMul"(%x, %cst) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("few")
  %1 = "onnx.MatMul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("none")
  %2 = "onnx.If"(%c) ({
    %3 = "onnx.MatMul"(%x, %w) : (tensor<4x4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32> loc("inner")
    "onnx.Yield"(%3) : (tensor<4x64xf32>) -> ()
  }, {
    "onnx.Yield"(%w) : (tensor<4x64xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4x64xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x64xf32>
}
