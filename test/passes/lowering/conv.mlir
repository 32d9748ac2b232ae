// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// CHECK: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>

// Padding makes a tensor of its own; the window is an affine map.
// CHECK-LABEL: func.func @padded
// CHECK: tensor.empty() : tensor<1x3x10x10xf32>
// CHECK: linalg.generic {{.*}}#[[$IN]]
func.func @padded(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// Negative: without padding X is read as it is. A 1x1 kernel has no loops over the window.
// CHECK-LABEL: func.func @pointwise
// CHECK-NOT: tensor.extract
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
func.func @pointwise(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// -----

// Groups are a loop of their own, by views.
// CHECK-LABEL: func.func @grouped
// CHECK: kernel.view %{{.*}} : tensor<1x6x8x8xf32> to tensor<1x2x3x8x8xf32>
func.func @grouped(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = "onnx.Conv"(%x, %w) {group = 2 : i64} : (tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

// A depthwise convolution has neither channels nor filters besides its groups: X is read without a view.
// CHECK-LABEL: func.func @depthwise
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<1x6x8x8xf32>, tensor<6x3x3xf32>) outs(%{{.*}} : tensor<1x6x6x6xf32>)
func.func @depthwise(%x: tensor<1x6x8x8xf32>, %w: tensor<6x1x3x3xf32>) -> tensor<1x6x6x6xf32> {
  %0 = "onnx.Conv"(%x, %w) {group = 6 : i64} : (tensor<1x6x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x6x6xf32>
  return %0 : tensor<1x6x6x6xf32>
}
