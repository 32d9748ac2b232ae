// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-infer-shapes,optc-split-ranks))' | FileCheck %s
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-infer-shapes,optc-split-ranks{max-ops=0}))' | FileCheck %s --check-prefix=NONE

// What depends on the result goes into both branches, what does not stays in front; results of either rank come out.
// CHECK-LABEL: func @squeeze
// CHECK: %[[Y:.*]] = "onnx.Neg"(%arg1)
// CHECK: %[[R:.*]]:2 = "onnx.If"(%arg0) ({
// CHECK: %[[S:.*]] = "onnx.Squeeze"{{.*}} -> tensor<?xf32>
// CHECK: %[[A:.*]] = "onnx.Relu"(%[[S]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[B:.*]] = "onnx.ReduceSum"(%[[A]]) {{.*}} -> tensor<f32>
// CHECK: "onnx.Yield"(%[[A]], %[[B]])
// CHECK: }, {
// CHECK: %[[A:.*]] = "onnx.Relu"(%arg1) : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK: %[[B:.*]] = "onnx.ReduceSum"(%[[A]]) {{.*}} -> tensor<f32>
// CHECK: "onnx.Yield"(%[[A]], %[[B]])
// CHECK: }) : (tensor<i1>) -> (tensor<*xf32>, tensor<f32>)
// CHECK: return %[[R]]#0, %[[R]]#1, %[[Y]]
// NONE-LABEL: func @squeeze
// NONE: }) : (tensor<i1>) -> tensor<*xf32>
// NONE: "onnx.Relu"(%{{.*}}) : (tensor<*xf32>) -> tensor<*xf32>
func.func @squeeze(%c: tensor<i1>, %x: tensor<?x?xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %axes = onnx.Constant dense<1> : tensor<1xi64>
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.Squeeze"(%x, %axes) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%1) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<?x?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %3 = "onnx.Neg"(%x) : (tensor<?x?xf32>) -> tensor<*xf32>
  %4 = "onnx.ReduceSum"(%2) {keepdims = 0 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %2, %4, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// One after the other: paths for each combination.
// CHECK-LABEL: func @twice
// CHECK: "onnx.If"(%arg0)
// CHECK: "onnx.If"(%arg1)
// CHECK-DAG: "onnx.Neg"(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-DAG: "onnx.Neg"(%{{.*}}) : (tensor<1x?xf32>) -> tensor<1x?xf32>
// CHECK: "onnx.If"(%arg1)
// CHECK: return
func.func @twice(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<*xf32> {
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<?xf32>) -> ()
  }, {
    "onnx.Yield"(%y) : (tensor<?x?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.If"(%d) ({
    "onnx.Yield"(%0) : (tensor<*xf32>) -> ()
  }, {
    %2 = "onnx.Unsqueeze"(%0, %axes) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%2) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %3 = "onnx.Neg"(%1) : (tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// Nothing needs the rank: results and sequences take any.
// CHECK-LABEL: func @any
// CHECK: }) : (tensor<i1>) -> tensor<*xf32>
// CHECK-NEXT: "onnx.Identity"
// CHECK-NEXT: "onnx.SequenceConstruct"
// CHECK-NEXT: return
func.func @any(%c: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?x?xf32>) -> (tensor<*xf32>, !onnx.seq<tensor<*xf32>>) {
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<?xf32>) -> ()
  }, {
    "onnx.Yield"(%y) : (tensor<?x?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.Identity"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %2 = "onnx.SequenceConstruct"(%0) : (tensor<*xf32>) -> !onnx.seq<tensor<*xf32>>
  return %1, %2 : tensor<*xf32>, !onnx.seq<tensor<*xf32>>
}
