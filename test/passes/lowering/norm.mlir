// RUN: optc-opt --optc-lower-onnx=opt-level=2 %s | FileCheck %s

// The largest element is subtracted before the exponential; half precision sums in f32.
// CHECK-LABEL: func.func @softmax
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: math.exp {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @softmax(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = "onnx.Softmax"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// The variance takes a second pass over x - mean.
// CHECK-LABEL: func.func @layernorm
// CHECK: optc.label = "mean"
// CHECK: optc.label = "variance"
// CHECK: arith.subf
func.func @layernorm(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.LayerNormalization"(%x, %s) <{operandSegmentSizes = array<i32: 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The factor of a batch normalization is computed per channel.
// CHECK-LABEL: func.func @batchnorm
// CHECK: outs({{.*}} : tensor<1x3x1xf32>)
// CHECK: math.sqrt
// CHECK: outs({{.*}} : tensor<?x3x8xf32>)
// CHECK-NOT: math.sqrt
func.func @batchnorm(%x: tensor<?x3x8xf32>, %s: tensor<3xf32>) -> tensor<?x3x8xf32> {
  %0 = "onnx.BatchNormalization"(%x, %s, %s, %s, %s) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x8xf32>
  return %0 : tensor<?x3x8xf32>
}

// Sizes that only a run knows are checked there.
// CHECK-LABEL: func.func @parameters
// CHECK: kernel.check %{{.*}}, "{{.*}}a parameter has not one element per channel"
func.func @parameters(%x: tensor<1x?x6x6xf32> {onnx.dim_params = ["", "c", "", ""]}, %s: tensor<8xf32>) -> tensor<1x?x6x6xf32> {
  %0 = "onnx.InstanceNormalization"(%x, %s, %s) : (tensor<1x?x6x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x?x6x6xf32>
  return %0 : tensor<1x?x6x6xf32>
}
// CHECK-LABEL: func.func @layer_parameters
// CHECK: kernel.check %{{.*}}, "{{.*}}a parameter does not broadcast to the input"
func.func @layer_parameters(%x: tensor<4x?xf32> {onnx.dim_params = ["", "n"]}, %s: tensor<8xf32>) -> tensor<4x?xf32> {
  %0 = "onnx.RMSNormalization"(%x, %s) : (tensor<4x?xf32>, tensor<8xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
