// RUN: optc-opt %s | optc-opt | FileCheck %s
// RUN: optc-opt %s -canonicalize | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func @constants
func.func @constants() -> (tensor<2xi64>, tensor<1x!onnx.string>, tensor<2xcomplex<f32>>, tensor<1xui4>) {
  // CHECK: onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %0 = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  // CHECK: onnx.Constant dense<"a"> : tensor<1x!onnx.string>
  %1 = onnx.Constant dense<["a"]> : tensor<1x!onnx.string>
  // CHECK: onnx.Constant dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>
  %2 = onnx.Constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  // CHECK: onnx.Constant dense<7> : tensor<1xui4>
  %3 = onnx.Constant dense<7> : tensor<1xui4>
  return %0, %1, %2, %3 : tensor<2xi64>, tensor<1x!onnx.string>, tensor<2xcomplex<f32>>, tensor<1xui4>
}

// An absent optional operand is an empty segment: here min is absent and max is there.
// CHECK-LABEL: func @optional_operands
func.func @optional_operands(%x: tensor<?xf32>, %max: tensor<f32>) -> tensor<?xf32> {
  // CHECK: "onnx.Clip"(%{{.*}}, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 0, 1>}>
  %0 = "onnx.Clip"(%x, %max) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @domains
func.func @domains(%x: tensor<*xf32>, %y: tensor<4xf16>) -> (tensor<*xf32>, tensor<*xf32>, tensor<4xf16>) {
  // CHECK: "onnx.ml.Normalizer"
  %0 = "onnx.ml.Normalizer"(%x) {norm = "L2"} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: "onnx.ms.BiasGelu"
  %1 = "onnx.ms.BiasGelu"(%0, %x) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Cast"(%{{.*}}) <{to = 10 : i64}>
  %2 = "onnx.Cast"(%y) {to = 10 : i64} : (tensor<4xf16>) -> tensor<4xf16>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<4xf16>
}

// CHECK-LABEL: func @sequences
func.func @sequences(%x: tensor<2xf32>, %m: tensor<2xi64>) -> (!onnx.seq<tensor<*xf32>>, !onnx.opt<tensor<2xf32>>, !onnx.seq<!onnx.map<i64, tensor<f32>>>) {
  // CHECK: "onnx.SequenceConstruct"
  %0 = "onnx.SequenceConstruct"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> !onnx.seq<tensor<*xf32>>
  // CHECK: "onnx.Optional"{{.*}} -> !onnx.opt<tensor<2xf32>>
  %1 = "onnx.Optional"(%x) : (tensor<2xf32>) -> !onnx.opt<tensor<2xf32>>
  // CHECK: "onnx.ml.ZipMap"{{.*}} -> !onnx.seq<!onnx.map<i64, tensor<f32>>>
  %2 = "onnx.ml.ZipMap"(%x) {classlabels_int64s = array<i64: 1, 2>} : (tensor<2xf32>) -> !onnx.seq<!onnx.map<i64, tensor<f32>>>
  return %0, %1, %2 : !onnx.seq<tensor<*xf32>>, !onnx.opt<tensor<2xf32>>, !onnx.seq<!onnx.map<i64, tensor<f32>>>
}

// Subgraphs capture outer values.
// CHECK-LABEL: func @subgraphs
func.func @subgraphs(%c: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<*xf32>) {
  // CHECK: "onnx.If"
  %0 = "onnx.If"(%c) ({
    // CHECK: "onnx.Yield"(%{{.*}}) : (tensor<4xf32>) -> ()
    "onnx.Yield"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = "onnx.Neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "onnx.Yield"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: "onnx.Loop"
  %2:2 = "onnx.Loop"(%n, %0) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %acc: tensor<4xf32>):
    %3 = "onnx.Add"(%acc, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "onnx.Yield"(%cond, %3, %3) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return %2#0, %2#1 : tensor<4xf32>, tensor<*xf32>
}

// Unused draws of random numbers go; two equal ones stay two.
// CANON-LABEL: func @random
func.func @random() -> (tensor<2xf32>, tensor<2xf32>) {
  // CANON-COUNT-2: "onnx.RandomNormal"
  // CANON-NOT: "onnx.RandomNormal"
  %0 = "onnx.RandomNormal"() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %1 = "onnx.RandomNormal"() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %2 = "onnx.RandomNormal"() {shape = array<i64: 2>} : () -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
