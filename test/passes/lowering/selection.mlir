// RUN: optc-opt --optc-lower-onnx %s | FileCheck %s

// CHECK-LABEL: func.func @topk
// CHECK: kernel.library topk
func.func @topk(%x: tensor<2x8xf32>, %k: tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>) {
  %0:2 = "onnx.TopK"(%x, %k) : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
  return %0#0, %0#1 : tensor<2x?xf32>, tensor<2x?xi64>
}

// Results that a node leaves out keep their position.
// CHECK-LABEL: func.func @unique_counts
// CHECK: kernel.library unique{{.*}} -> (tensor<?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
func.func @unique_counts(%x: tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %0:2 = "onnx.Unique"(%x) <{resultSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xi64>
}

// The length of a range of floats is computed by the host.
// CHECK-LABEL: func.func @range
// CHECK: math.ceil {{.*}} : f64
// CHECK: kernel.check {{.*}}no finite number of elements
func.func @range(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>) -> tensor<?xf32> {
  %0 = "onnx.Range"(%a, %b, %d) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Inference: no copy, and a mask of ones.
// CHECK-LABEL: func.func @dropout
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>
// CHECK-NOT: kernel.library
// CHECK: return %[[X]]
func.func @dropout(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %0:2 = "onnx.Dropout"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1>}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi1>
}
