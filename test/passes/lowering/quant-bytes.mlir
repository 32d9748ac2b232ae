// RUN: optc-opt --optc-lower-onnx=opt-level=1 --canonicalize %s | FileCheck %s

// Bytes are multiplied as they are; the zero point of a takes away a multiple of the columns' sums, known here.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x3xi8>
// CHECK-DAG: arith.constant dense<{{.}}[36, 63, -45]{{.}}> : tensor<1x3xi32>
// CHECK: ins(%arg0, %[[W]] : tensor<4x2xi8>, tensor<2x3xi8>)
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK: arith.muli {{.*}} : i32
// CHECK: arith.subi {{.*}} : i32
// CHECK-NOT: i16
func.func @matmul(%a: tensor<4x2xui8>) -> tensor<4x3xi32> {
  %w = onnx.Constant dense<[[1, 2, -3], [3, 5, -2]]> : tensor<2x3xi8>
  %z = onnx.Constant dense<9> : tensor<ui8>
  %0 = "onnx.MatMulInteger"(%a, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>) -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}

// Unsigned weights with a zero point become signed ones; 128 leaves none.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.constant dense<{{.}}[-128, 0, 127]{{.}}> : tensor<1x3xi8>
// CHECK: arith.extsi
// CHECK-NOT: arith.subi
// CHECK-LABEL: func.func @unsigned_rows
// CHECK: arith.constant dense<{{.}}[-128, 0, 127]{{.}}> : tensor<1x3xi8>
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.subi {{.*}} : i32
func.func @unsigned(%a: tensor<4x1xi8>) -> tensor<4x3xi32> {
  %w = onnx.Constant dense<[[0, 128, 255]]> : tensor<1x3xui8>
  %z = onnx.Constant dense<128> : tensor<ui8>
  %0 = "onnx.MatMulInteger"(%a, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<4x1xi8>, tensor<1x3xui8>, tensor<ui8>) -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}
func.func @unsigned_rows(%a: tensor<4x1xi8>) -> tensor<4x3xi32> {
  %w = onnx.Constant dense<[[0, 128, 255]]> : tensor<1x3xui8>
  %z = onnx.Constant dense<100> : tensor<ui8>
  %0 = "onnx.MatMulInteger"(%a, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<4x1xi8>, tensor<1x3xui8>, tensor<ui8>) -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}

// Padding stands for the zero point.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: arith.constant dense<{{.*}}12{{.*}}> : tensor<1x1xi32>
// CHECK-DAG: arith.constant 4 : i8
// CHECK: scf.if
// CHECK-NOT: i16
// CHECK-LABEL: func.func @conv_zero
// CHECK: i16
func.func @conv(%x: tensor<1x1x5xui8>) -> tensor<1x1x5xi32> {
  %w = onnx.Constant dense<1> : tensor<1x1x3xi8>
  %z = onnx.Constant dense<4> : tensor<ui8>
  %0 = "onnx.ConvInteger"(%x, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> {pads = array<i64: 1, 1>} : (tensor<1x1x5xui8>, tensor<1x1x3xi8>, tensor<ui8>) -> tensor<1x1x5xi32>
  return %0 : tensor<1x1x5xi32>
}
// Zero points of a convolution's weights are subtracted first.
func.func @conv_zero(%x: tensor<1x1x5xi8>, %w: tensor<1x1x3xi8>, %z: tensor<i8>) -> tensor<1x1x3xi32> {
  %0 = "onnx.ConvInteger"(%x, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x1x5xi8>, tensor<1x1x3xi8>, tensor<i8>) -> tensor<1x1x3xi32>
  return %0 : tensor<1x1x3xi32>
}

// Weights in blocks of k stay integers; each is dequantized where it is multiplied.
// CHECK-LABEL: func.func @weights
// CHECK: linalg.generic {{.*}}"reduction", "reduction"]} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<5x2x16xf32>, tensor<3x2x16xi8>, tensor<3x2xf32>)
// CHECK: arith.sitofp
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func.func @columns
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<5x32xf32>, tensor<32x3xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<5x3xf32>, tensor<3xf32>)
// CHECK-LABEL: func.func @run_time_weights
// CHECK-COUNT-2: linalg.generic
func.func @weights(%x: tensor<5x32xf32>) -> tensor<5x3xf32> {
  %w = onnx.Constant dense<1> : tensor<3x32xi8>
  %s = onnx.Constant dense<0.5> : tensor<3x2xf32>
  %0 = "onnx.DequantizeLinear"(%w, %s) {axis = 1 : i64, block_size = 16 : i64} : (tensor<3x32xi8>, tensor<3x2xf32>) -> tensor<3x32xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<3x32xf32>) -> tensor<32x3xf32>
  %2 = "onnx.MatMul"(%x, %1) : (tensor<5x32xf32>, tensor<32x3xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}
// Scales of columns multiply the sums.
func.func @columns(%x: tensor<5x32xf32>) -> tensor<5x3xf32> {
  %w = onnx.Constant dense<1> : tensor<32x3xi8>
  %s = onnx.Constant dense<[0.5, 1.0, 2.0]> : tensor<3xf32>
  %0 = "onnx.DequantizeLinear"(%w, %s) {axis = 1 : i64} : (tensor<32x3xi8>, tensor<3xf32>) -> tensor<32x3xf32>
  %1 = "onnx.MatMul"(%x, %0) : (tensor<5x32xf32>, tensor<32x3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}
func.func @run_time_weights(%x: tensor<5x32xf32>, %w: tensor<32x3xi8>) -> tensor<5x3xf32> {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.DequantizeLinear"(%w, %s) : (tensor<32x3xi8>, tensor<f32>) -> tensor<32x3xf32>
  %1 = "onnx.MatMul"(%x, %0) : (tensor<5x32xf32>, tensor<32x3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}
