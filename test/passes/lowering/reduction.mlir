// RUN: optc-opt --optc-lower-onnx=opt-level=2 %s | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: optc-opt --optc-lower-onnx=opt-level=0 %s | FileCheck %s --check-prefixes=CHECK,EXACT

// Sums of floats accumulate in f64 below -O2.
// CHECK-LABEL: func.func @sum
// FAST: iterator_types = ["parallel", "reduction"]
// FAST: arith.addf {{.*}} : f32
// EXACT: arith.addf {{.*}} : f64
func.func @sum(%x: tensor<?x8xf32>) -> tensor<?x1xf32> {
  %axes = onnx.Constant dense<-1> : tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// An empty list of axes with noop_with_empty_axes reduces nothing, but squares.
// CHECK-LABEL: func.func @noop
// CHECK: arith.mulf
// CHECK-NOT: "reduction"
// CHECK: return
func.func @noop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.ReduceSumSquare"(%x) {noop_with_empty_axes = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Axes known at run time only are checked on the host.
// CHECK-LABEL: func.func @runtime_axes
// CHECK: kernel.check {{.*}}an axis is out of range
// CHECK: kernel.check {{.*}}an axis is given twice
// CHECK: scf.for
func.func @runtime_axes(%x: tensor<2x3x4xf32>, %axes: tensor<2xi64>) -> tensor<?xf32> {
  %0 = "onnx.ReduceMax"(%x, %axes) {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}


// An empty list of axes that is an input.
// CHECK-LABEL: func.func @empty_axes
// CHECK: iterator_types = ["reduction", "reduction"]
func.func @empty_axes(%x: tensor<2x3xf32>, %axes: tensor<0xi64>) -> tensor<?x?xf32> {
  %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<0xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The last of equal elements: not "less" but "not greater".
// CHECK-LABEL: func.func @argmax_last
// CHECK: arith.cmpi sle
func.func @argmax_last(%x: tensor<2x3xi32>) -> tensor<2x1xi64> {
  %0 = "onnx.ArgMax"(%x) {axis = 1 : i64, select_last_index = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}

// CHECK-LABEL: func.func @cumsum
// CHECK: kernel.dispatch "CumSum"
func.func @cumsum(%x: tensor<2x3xf32>, %axis: tensor<i64>) -> tensor<2x3xf32> {
  %0 = "onnx.CumSum"(%x, %axis) {exclusive = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
