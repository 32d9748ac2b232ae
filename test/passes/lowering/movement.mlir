// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// CHECK: #[[$PERM:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>

// A transposition is an affine map; one that moves only axes of size 1 moves nothing.
// CHECK-LABEL: func.func @transpose
// CHECK: linalg.generic {indexing_maps = [#[[$PERM]]
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @transpose_unit
// CHECK-NOT: linalg
// CHECK: kernel.view %{{.*}} : tensor<2x1x4xf32> to tensor<1x2x4xf32>
func.func @transpose_unit(%x: tensor<2x1x4xf32>) -> tensor<1x2x4xf32> {
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

// A negative step walks down from the clamped start, 9 here.
// CHECK-LABEL: func.func @slice_backwards
// CHECK-DAG: arith.constant 9 : index
// CHECK-DAG: arith.constant -2 : index
// CHECK: linalg.generic
// CHECK: arith.muli
func.func @slice_backwards(%x: tensor<10xf32>) -> tensor<5xf32> {
  %s = onnx.Constant dense<100> : tensor<1xi64>
  %e = onnx.Constant dense<-100> : tensor<1xi64>
  %a = onnx.Constant dense<0> : tensor<1xi64>
  %t = onnx.Constant dense<-2> : tensor<1xi64>
  %0 = "onnx.Slice"(%x, %s, %e, %a, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>} : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// What moves is decided later; an empty input is not there.
// CHECK-LABEL: func.func @concat
// CHECK: tensor.concat dim(1) %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>, %z: tensor<2x0xf32>) -> tensor<2x8xf32> {
  %0 = "onnx.Concat"(%x, %z, %y) {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// A block with steps of 1 is a slice, at run-time offsets, too, which end in front of its source's end.
// CHECK-LABEL: func.func @slice_block
// CHECK: %[[LOW:.*]] = arith.maxsi
// CHECK: %[[START:.*]] = arith.minsi %[[LOW]], %c9
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %arg0[%[[START]], 0] [%{{.*}}, 8] [1, 1] : tensor<10x8xf32> to tensor<?x8xf32>
// CHECK: tensor.extract_slice %[[ROWS]][0, 2] [%{{.*}}, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
func.func @slice_block(%x: tensor<10x8xf32>, %start: tensor<1xi64>) -> tensor<?x4xf32> {
  %t = onnx.Constant dense<2> : tensor<1xi64>
  %u = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %e = onnx.Constant dense<9> : tensor<1xi64>
  %z = onnx.Constant dense<0> : tensor<1xi64>
  %1 = "onnx.Slice"(%x, %start, %e, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<10x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %2 = "onnx.Slice"(%1, %t, %u, %a) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// Bytes of a narrow float are moved, not converted.
// CHECK-LABEL: func.func @transpose_f8
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xi8>)
// CHECK: ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: linalg.yield %[[IN]] : i8
func.func @transpose_f8(%x: tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN> {
  %0 = "onnx.Transpose"(%x) : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  return %0 : tensor<3x2xf8E4M3FN>
}

// -----

// Sizes known at run time only: the number of elements is checked, then it is a view.
// CHECK-LABEL: func.func @reshape
// CHECK: kernel.check %{{.*}}, "{{.*}}another number of elements
// CHECK: kernel.view
func.func @reshape(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = "onnx.Reshape"(%x, %s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Repeats of open length: as many as the input has axes, which a run checks before it reads them.
// CHECK-LABEL: func.func @tile_open_length
// CHECK: %[[LENGTH:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[LENGTH]], %c2
// CHECK: kernel.check %[[FITS]], "repeats must have 2 elements
// CHECK: tensor.extract
func.func @tile_open_length(%x: tensor<2x?xf32>, %r: tensor<?xi64>) -> tensor<?x?xf32> {
  %0 = "onnx.Tile"(%x, %r) : (tensor<2x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @split_open_length
// CHECK: kernel.check %{{.*}}, "split must have 2 elements, one per output"
func.func @split_open_length(%x: tensor<?xf32>, %s: tensor<?xi64>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = "onnx.Split"(%x, %s) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xi64>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}
