// RUN: optc-opt %s --optc-expand-functions | FileCheck %s
// RUN: optc-opt %s --optc-expand-functions=keep=onnx.ReduceL1,onnx.Elu | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func @reduce
// CHECK-NOT: onnx.ReduceL1
// CHECK: %[[A:.*]] = "onnx.Abs"(%arg0)
// CHECK: "onnx.ReduceSum"(%[[A]]){{.*}}keepdims = 0
// KEEP-LABEL: func @reduce
// KEEP: onnx.ReduceL1
func.func @reduce(%x: tensor<2x3xf32>) -> tensor<f32> {
  %0 = "onnx.ReduceL1"(%x) {keepdims = 0 : i64} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// The default of an attribute takes part, and what is known of the shape stays.
// CHECK-LABEL: func @elu
// CHECK: onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK: return %{{.*}} : tensor<2x3xf32>
// KEEP-LABEL: func @elu
// KEEP: onnx.Elu
func.func @elu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Elu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// No body: the op stays.
// CHECK-LABEL: func @none
// CHECK: onnx.Neg
func.func @none(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
