// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-simplify))' | FileCheck %s

// CHECK-LABEL: func @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %0 = "onnx.Identity"(%x) : (tensor<?x4xf32>) -> tensor<*xf32>
  %1 = "onnx.Cast"(%0) {to = 1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = "onnx.Dropout"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}>
    : (tensor<*xf32>) -> tensor<*xf32>
  %3 = "onnx.Concat"(%2) {axis = 0 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  %4 = "onnx.Transpose"(%3) {perm = array<i64: 0, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  return %4 : tensor<*xf32>
}

// -----

// Dropout in training mode stays, and the mask of one in inference is all true.
// CHECK-LABEL: func @dropout
// CHECK: onnx.Constant dense<true>
// CHECK: %[[MASK:.*]] = "onnx.ConstantOfShape"
// CHECK: %[[Y:.*]] = "onnx.Dropout"
// CHECK: return %arg0, %[[MASK]], %[[Y]]
func.func @dropout(%x: tensor<?xf32>) -> (tensor<*xf32>, tensor<*xi1>, tensor<*xf32>) {
  %true = onnx.Constant dense<true> : tensor<i1>
  %0:2 = "onnx.Dropout"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1>}>
    : (tensor<?xf32>) -> (tensor<*xf32>, tensor<*xi1>)
  %1 = "onnx.Dropout"(%x, %true) <{operandSegmentSizes = array<i32: 1, 0, 1>, resultSegmentSizes = array<i32: 1, 0>}>
    : (tensor<?xf32>, tensor<i1>) -> tensor<*xf32>
  return %0#0, %0#1, %1 : tensor<*xf32>, tensor<*xi1>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @shape
// CHECK: %[[C:.*]] = onnx.Constant dense<[6, 2]> : tensor<2xi64>
// CHECK-NEXT: return %[[C]]
func.func @shape(%x: tensor<3x2xf32>) -> tensor<*xi64> {
  %0 = "onnx.Shape"(%x) : (tensor<3x2xf32>) -> tensor<*xi64>
  %1 = onnx.Constant dense<[2, 1]> : tensor<2xi64>
  %2 = "onnx.Mul"(%0, %1) : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  return %2 : tensor<*xi64>
}

// -----

// 32-bit arithmetic that overflows is left alone.
// CHECK-LABEL: func @overflow
// CHECK: "onnx.Mul"
func.func @overflow() -> tensor<*xi32> {
  %0 = onnx.Constant dense<2000000000> : tensor<1xi32>
  %1 = "onnx.Mul"(%0, %0) : (tensor<1xi32>, tensor<1xi32>) -> tensor<*xi32>
  return %1 : tensor<*xi32>
}

// -----

// Data that is just small is not folded into anything.
// CHECK-LABEL: func @data
// CHECK: "onnx.Add"
func.func @data(%x: tensor<2xi64>) -> tensor<*xi64> {
  %1 = "onnx.Add"(%x, %x) : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xi64>
  return %1 : tensor<*xi64>
}

// -----

// The branch that is taken replaces an If; the condition comes from shapes.
// CHECK-LABEL: func @branch
// CHECK-NOT: "onnx.If"
// CHECK: %[[N:.*]] = "onnx.Neg"(%arg0)
// CHECK-NEXT: return %[[N]]
func.func @branch(%x: tensor<3x?xf32>) -> tensor<*xf32> {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %three = onnx.Constant dense<3> : tensor<i64>
  %0 = "onnx.Shape"(%x) : (tensor<3x?xf32>) -> tensor<*xi64>
  %1 = "onnx.Gather"(%0, %zero) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %2 = "onnx.Equal"(%1, %three) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
  %3 = "onnx.If"(%2) ({
    %4 = "onnx.Neg"(%x) : (tensor<3x?xf32>) -> tensor<*xf32>
    "onnx.Yield"(%4) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<3x?xf32>) -> ()
  }) : (tensor<*xi1>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func @reshapes
// CHECK: %[[C:.*]] = onnx.Constant dense<-1> : tensor<1xi64>
// CHECK-NEXT: %[[R:.*]] = "onnx.Reshape"(%arg0, %[[C]])
// CHECK-NEXT: return %[[R]]
func.func @reshapes(%x: tensor<?x6xf32>) -> tensor<*xf32> {
  %0 = onnx.Constant dense<[0, 2, 3]> : tensor<3xi64>
  %1 = "onnx.Reshape"(%x, %0) : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<*xf32>
  %2 = onnx.Constant dense<-1> : tensor<1xi64>
  %3 = "onnx.Reshape"(%1, %2) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// An entry 0 copies a size of the tensor between: merged only as a static shape.
// CHECK-LABEL: func @copied_sizes
// CHECK-DAG: onnx.Constant dense<[3, 4, 1]>
// CHECK-DAG: "onnx.Reshape"(%arg0, %{{.*}}) <{allowzero = 1 : i64}> : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<3x4x1xf32>
// CHECK-COUNT-2: "onnx.Reshape"
func.func @copied_sizes(%x: tensor<2x6xf32>, %y: tensor<?x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.Constant dense<[3, 4]> : tensor<2xi64>
  %1 = onnx.Constant dense<[0, -1, 1]> : tensor<3xi64>
  %2 = onnx.Constant dense<[3, -1]> : tensor<2xi64>
  %3 = "onnx.Reshape"(%x, %0) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<*xf32>
  %4 = "onnx.Reshape"(%3, %1) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %5 = "onnx.Reshape"(%y, %2) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<*xf32>
  %6 = "onnx.Reshape"(%5, %1) : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %4, %6 : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @transposes
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 2, 0, 1>}>
// CHECK-NEXT: return %[[T]], %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 2, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = "onnx.Transpose"(%1) {perm = array<i64: 1, 2, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @gemm
// CHECK: "onnx.Gemm"(%arg0, %arg1)
// CHECK-SAME: transB = 0
func.func @gemm(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<*xf32> {
  %0 = "onnx.Transpose"(%b) : (tensor<3x4xf32>) -> tensor<*xf32>
  %1 = "onnx.Gemm"(%a, %0) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A slice that reverses keeps the shape and is no identity; one that takes everything is.
// CHECK-LABEL: func @slices
// CHECK: %[[S:.*]] = "onnx.Slice"
// CHECK-NOT: "onnx.Slice"
// CHECK: return %[[S]], %arg0
func.func @slices(%x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.Constant dense<-1> : tensor<1xi64>
  %m = onnx.Constant dense<-9223372036854775808> : tensor<1xi64>
  %z = onnx.Constant dense<0> : tensor<1xi64>
  %e = onnx.Constant dense<4> : tensor<1xi64>
  %0 = "onnx.Slice"(%x, %a, %m, %z, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
    : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %1 = "onnx.Slice"(%x, %z, %e) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
    : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Equal ops are merged; random ones never.
// CHECK-LABEL: func @merge
// CHECK-COUNT-1: "onnx.Exp"
// CHECK-NOT: "onnx.Exp"
// CHECK-COUNT-2: "onnx.RandomNormal"
func.func @merge(%x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Exp"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  %1 = "onnx.Exp"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  %2 = "onnx.RandomNormal"() {shape = array<i64: 4>} : () -> tensor<*xf32>
  %3 = "onnx.RandomNormal"() {shape = array<i64: 4>} : () -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
