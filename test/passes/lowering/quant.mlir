// RUN: optc-opt --optc-lower-onnx %s | FileCheck %s

// Rounds half to even before the zero point is added.
// CHECK-LABEL: func.func @quantize
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK: arith.fptosi {{.*}} : f32 to i32
// CHECK: arith.addi {{.*}} : i32
// CHECK: arith.minsi
func.func @quantize(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xui8>) -> tensor<2x3xui8> {
  %0 = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}

// Whole blocks split the axis: no division of indices.
// CHECK-LABEL: func.func @blocked
// CHECK: tensor<2x4x8xi8>
// CHECK-NOT: arith.divui
// CHECK: return
func.func @blocked(%x: tensor<2x32xi4>, %s: tensor<2x4xf32>) -> tensor<2x32xf32> {
  %0 = "onnx.DequantizeLinear"(%x, %s) {axis = 1 : i64, block_size = 8 : i64} : (tensor<2x32xi4>, tensor<2x4xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}

// CHECK-LABEL: func.func @last_block_short
// CHECK: arith.divui
func.func @last_block_short(%x: tensor<2x30xi4>, %s: tensor<2x4xf32>) -> tensor<2x30xf32> {
  %0 = "onnx.DequantizeLinear"(%x, %s) {axis = 1 : i64, block_size = 8 : i64} : (tensor<2x30xi4>, tensor<2x4xf32>) -> tensor<2x30xf32>
  return %0 : tensor<2x30xf32>
}

// Sums are exact: zero points go in i16, products in i32.
// CHECK-LABEL: func.func @matmul
// CHECK: arith.subi {{.*}} : i16
// CHECK: arith.muli {{.*}} : i32
func.func @matmul(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %az: tensor<2xui8>) -> tensor<2x4xi32> {
  %0 = "onnx.MatMulInteger"(%a, %b, %az) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<2xui8>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// Sizes that only a run knows are checked there: the scales of an axis, and those of blocks.
// CHECK-LABEL: func.func @checked
// CHECK: kernel.check %{{.*}}, "{{.*}}not one element per index of its axis"
func.func @checked(%x: tensor<4x?xi8> {onnx.dim_params = ["", "n"]}, %s: tensor<16xf32>) -> tensor<4x?xf32> {
  %0 = "onnx.DequantizeLinear"(%x, %s) : (tensor<4x?xi8>, tensor<16xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
// CHECK-LABEL: func.func @checked_blocks
// CHECK: kernel.check %{{.*}}, "{{.*}}not one element per block"
func.func @checked_blocks(%x: tensor<4x?xi8> {onnx.dim_params = ["", "n"]}, %s: tensor<4x2xf32>) -> tensor<4x?xf32> {
  %0 = "onnx.DequantizeLinear"(%x, %s) {block_size = 8 : i64} : (tensor<4x?xi8>, tensor<4x2xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
