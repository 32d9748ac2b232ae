// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-reduce-precision{report=true}))' -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-reduce-precision{to=bf16}))' | FileCheck %s --check-prefix=BF16
// RUN: not optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-reduce-precision{to=f8}))' 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: optc-reduce-precision: to=f8: unknown type; there are: f16, bf16

// Products round what they read; an activation follows; softmax and the result are f32. The weights are narrow in the file.
// CHECK-LABEL: func @product
// CHECK-DAG: %[[W:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.101560e+00]]> : tensor<2x2xf16>
// CHECK-DAG: %[[X:.*]] = "onnx.Cast"(%arg0) <{to = 10 : i64}> : (tensor<?x2xf32>) -> tensor<?x2xf16>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%[[X]], %[[W]]) : (tensor<?x2xf16>, tensor<2x2xf16>) -> tensor<?x2xf16>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[P]]) : (tensor<?x2xf16>) -> tensor<?x2xf16>
// CHECK: %[[C:.*]] = "onnx.Cast"(%[[R]]) <{to = 1 : i64}>
// CHECK: %[[S:.*]] = "onnx.Softmax"(%[[C]]) : (tensor<?x2xf32>) -> tensor<?x2xf32>
// CHECK: return %[[S]], %[[C]]
// BF16-LABEL: func @product
// BF16-DAG: "onnx.Cast"(%arg0) <{to = 16 : i64}>
// BF16: "onnx.MatMul"({{.*}} -> tensor<?x2xbf16>
func.func @product(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.1]]> : tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %1 = "onnx.Relu"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = "onnx.Softmax"(%1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %2, %1 : tensor<?x2xf32>, tensor<?x2xf32>
}

// -----

// A residual sum with something f32 is f32, and so is what follows it.
// CHECK-LABEL: func @residual
// CHECK: %[[P:.*]] = "onnx.MatMul"
// CHECK: %[[W:.*]] = "onnx.Cast"(%[[P]])
// CHECK: "onnx.Add"(%arg0, %[[W]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK: "onnx.Relu"({{.*}} -> tensor<2x2xf32>
func.func @residual(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "onnx.MatMul"(%x, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @below {{Add stays f32: an operand is f32}}
  %1 = "onnx.Add"(%x, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @below {{Relu stays f32: an operand is f32}}
  %2 = "onnx.Relu"(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// 1e6 would be infinite in f16; infinity itself may stay. bf16 holds both.
// CHECK-LABEL: func @range
// CHECK: "onnx.Mul"({{.*}} -> tensor<2x2xf32>
// CHECK: "onnx.Max"({{.*}} -> tensor<2x2xf16>
// BF16-LABEL: func @range
// BF16: "onnx.Mul"({{.*}} -> tensor<2x2xbf16>
func.func @range(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %big = onnx.Constant dense<1.0e6> : tensor<f32>
  %inf = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = "onnx.MatMul"(%x, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @below {{Mul stays f32: a constant is beyond the largest number of the narrow type}}
  %1 = "onnx.Mul"(%0, %big) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = "onnx.Max"(%0, %inf) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Branches read narrow values of outside; what they give is f32. Other types and the model's own f16 stay as they are.
// CHECK-LABEL: func @branches
// CHECK: %[[P:.*]] = "onnx.MatMul"({{.*}} -> tensor<2x2xf16>
// CHECK: %[[W:.*]] = "onnx.Cast"(%[[P]]) <{to = 1 : i64}>
// CHECK: "onnx.If"
// CHECK: %[[N:.*]] = "onnx.Neg"(%[[P]]) : (tensor<2x2xf16>) -> tensor<2x2xf16>
// CHECK: %[[NW:.*]] = "onnx.Cast"(%[[N]])
// CHECK: "onnx.Yield"(%[[NW]])
// CHECK: "onnx.Yield"(%[[W]])
// CHECK: "onnx.Exp"(%arg2) : (tensor<2xf16>) -> tensor<2xf16>
func.func @branches(%x: tensor<2x2xf32>, %c: tensor<i1>, %h: tensor<2xf16>) -> (tensor<2x2xf32>, tensor<2xf16>) {
  %0 = "onnx.MatMul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = "onnx.If"(%c) ({
    %2 = "onnx.Neg"(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    "onnx.Yield"(%2) : (tensor<2x2xf32>) -> ()
  }, {
    "onnx.Yield"(%0) : (tensor<2x2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2x2xf32>
  %3 = "onnx.Exp"(%h) : (tensor<2xf16>) -> tensor<2xf16>
  return %1, %3 : tensor<2x2xf32>, tensor<2xf16>
}
