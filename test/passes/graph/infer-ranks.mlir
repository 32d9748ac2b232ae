// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-infer-shapes))' | FileCheck %s

// Branches of different rank: a user in the same block says which one can work.
// CHECK-LABEL: func @branches
// CHECK: "onnx.If"
// CHECK: (tensor<i1>) -> tensor<?x?xf32>
// CHECK: "onnx.Transpose"(%{{.*}}) {{.*}} : (tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @branches(%c: tensor<i1>, %x: tensor<?x?xf32>) -> tensor<*xf32> {
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.Squeeze"(%x, %axes) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%1) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<?x?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// A user that may not run says nothing, and neither do users that disagree.
// CHECK-LABEL: func @no_demand
// CHECK: (tensor<i1>) -> tensor<*xf32>
// CHECK: (tensor<i1>) -> tensor<*xf32>
func.func @no_demand(%c: tensor<i1>, %x: tensor<2x1xf32>, %y: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%y) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x1xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.If"(%c) ({
    "onnx.Yield"(%y) : (tensor<2xf32>) -> ()
  }, {
    %2 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
    "onnx.Yield"(%2) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Broadcasting does not tell a tensor from one with axes of size 1 in front.
// CHECK-LABEL: func @broadcast
// CHECK: (tensor<i1>) -> tensor<?xf32>
// CHECK: (tensor<i1>) -> tensor<*xf32>
func.func @broadcast(%c: tensor<i1>, %s: tensor<f32>, %v: tensor<2xf32>, %x: tensor<4x2xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%s) : (tensor<f32>) -> ()
  }, {
    "onnx.Yield"(%v) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.Mul"(%x, %0) : (tensor<4x2xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = "onnx.If"(%c) ({
    "onnx.Yield"(%s) : (tensor<f32>) -> ()
  }, {
    "onnx.Yield"(%v) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %3 = "onnx.Mul"(%s, %2) : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  return %1, %3 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Squeeze of sizes that only a run knows: Split needs axis 1, so that none of them can be 1. Unsqueeze needs nothing.
// CHECK-LABEL: func @squeeze
// CHECK: "onnx.Squeeze"(%arg0) : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
// CHECK: "onnx.Squeeze"(%arg0) : (tensor<?x1x3xf32>) -> tensor<*xf32>
func.func @squeeze(%x: tensor<?x1x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Squeeze"(%x) : (tensor<?x1x3xf32>) -> tensor<*xf32>
  %1:3 = "onnx.Split"(%0) {axis = 1 : i64, num_outputs = 3 : i64} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %2 = "onnx.Squeeze"(%x) : (tensor<?x1x3xf32>) -> tensor<*xf32>
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %3 = "onnx.Unsqueeze"(%2, %axes) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %1#0, %3 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Items of a sequence, beside an operand of known rank.
// CHECK-LABEL: func @item
// CHECK: "onnx.SequenceAt"(%{{.*}}) : {{.*}} -> tensor<?x?xf32>
// CHECK: "onnx.Concat"({{.*}}) {{.*}} -> tensor<?x4xf32>
func.func @item(%s: !onnx.seq<tensor<*xf32>>, %i: tensor<i64>, %x: tensor<2x4xf32>) -> tensor<*xf32> {
  %0 = "onnx.SequenceAt"(%s, %i) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %1 = "onnx.Concat"(%0, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Identity and the yields of an inner If pass on what the users ask for.
// CHECK-LABEL: func @nested
// CHECK: }) : (tensor<i1>) -> tensor<?x?xf32>
// CHECK: }) : (tensor<i1>) -> tensor<?x?xf32>
func.func @nested(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<*xf32> {
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.If"(%d) ({
      "onnx.Yield"(%y) : (tensor<?xf32>) -> ()
    }, {
      "onnx.Yield"(%x) : (tensor<?x?xf32>) -> ()
    }) : (tensor<i1>) -> tensor<*xf32>
    "onnx.Yield"(%1) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%y) : (tensor<?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = "onnx.Identity"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %3 = "onnx.Transpose"(%2) {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}
