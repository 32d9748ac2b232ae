// RUN: optc-opt %s -split-input-file -optc-lower-onnx -canonicalize -cse -optc-assign-layouts=worth=0 -canonicalize -cse | FileCheck %s

// Padding reads the argument as it is and writes channels last; everything up to the result stays so, the residual
// addition and both convolutions.
// CHECK-DAG: #[[$X3:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[$W3:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>
// CHECK-DAG: #[[$X1:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[$W1:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
// CHECK-DAG: #[[$BACK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @residual(
// CHECK-NOT: to_channels_last
// CHECK: outs(%{{.*}} : tensor<1x10x10x8xf32>) attrs = {optc.label = "pad"}
// CHECK: tensor.extract %arg0[%{{.*}}, %[[C:.*]], %{{.*}}, %{{.*}}] : tensor<1x8x8x8xf32>
// CHECK: indexing_maps = [#[[$X3]], #[[$W3]], {{.*}}outs(%{{.*}} : tensor<1x8x8x16xf32>) attrs = {optc.label = "conv"}
// CHECK: indexing_maps = [#[[$X1]], #[[$W1]], {{.*}}outs(%{{.*}} : tensor<1x8x8x16xf32>) attrs = {optc.label = "conv1x1"}
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>)
// CHECK: indexing_maps = [#[[$BACK]], {{.*}}outs(%{{.*}} : tensor<1x16x8x8xf32>) attrs = {optc.label = "from_channels_last"}
// CHECK-NOT: channels_last
// CHECK: return
func.func @residual(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %3 = "onnx.Add"(%2, %1) : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %3 : tensor<1x16x8x8xf32>
}

// -----

// Without padding an argument of many channels is transposed once, however many convolutions read it.
// CHECK-LABEL: func.func @argument(
// CHECK: outs(%{{.*}} : tensor<1x8x8x8xf32>) attrs = {optc.label = "to_channels_last"}
// CHECK-NOT: to_channels_last
// CHECK: return
func.func @argument(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32>
  %1 = "onnx.Conv"(%x, %v) : (tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32>
  %2 = "onnx.Mul"(%0, %1) : (tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %2 : tensor<1x16x6x6xf32>
}

// -----

// Negative: one of few channels is read as it is; only the result has channels last.
// CHECK: #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d1 + d5, d2 + d6)>
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: to_channels_last
// CHECK: indexing_maps = [#[[$IN]], {{.*}}outs(%{{.*}} : tensor<1x6x6x16xf32>) attrs = {optc.label = "conv"}
func.func @few_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %0 : tensor<1x16x6x6xf32>
}

// -----

// Groups: group and channel last, both by views that move nothing. Depthwise: the group alone, without views.
// CHECK-DAG: #[[$G:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d2 + d6, d3, d7)>
// CHECK-DAG: #[[$D:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK-LABEL: func.func @groups(
// CHECK: %[[P:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<1x10x10x8xf32>) attrs = {optc.label = "pad"}
// CHECK: %[[V:.*]] = kernel.view %[[P]][] : tensor<1x10x10x8xf32> to tensor<1x10x10x2x4xf32>
// CHECK: indexing_maps = [#[[$G]], {{.*}}ins(%[[V]], {{.*}}outs(%{{.*}} : tensor<1x8x8x2x4xf32>) attrs = {optc.label = "conv"}
// CHECK: indexing_maps = [#[[$D]], {{.*}}ins(%{{.*}} : tensor<1x8x8x8xf32>, tensor<8x3x3xf32>) outs(%{{.*}} : tensor<1x6x6x8xf32>)
func.func @groups(%x: tensor<1x8x8x8xf32>, %w: tensor<8x4x3x3xf32>, %d: tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32> {
  %0 = "onnx.Conv"(%x, %w) {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %1 = "onnx.Conv"(%0, %d) {group = 8 : i64} : (tensor<1x8x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %1 : tensor<1x8x6x6xf32>
}

// -----

// Pooling, resizing, concatenation over channels and a squeeze-and-excite stay channels last.
// CHECK-LABEL: func.func @network(
// CHECK-NOT: channels_last
// CHECK: outs(%{{.*}} : tensor<2x4x4x8xf32>) attrs = {optc.label = "maxpool"}
// CHECK: outs(%{{.*}} : tensor<2x8x8x8xf32>) attrs = {optc.label = "resize_nearest"}
// CHECK: tensor.concat dim(3) %{{.*}} : (tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x8x16xf32>
// CHECK: outs(%{{.*}} : tensor<2x16xf32>) attrs = {optc.label = "globalpool"}
// CHECK: kernel.view %{{.*}} : tensor<2x16xf32> to tensor<2x1x1x16xf32>
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<2x8x8x16xf32>, tensor<2x1x1x16xf32>)
// CHECK: attrs = {optc.label = "from_channels_last"}
// CHECK-NOT: channels_last
func.func @network(%x: tensor<2x8x8x8xf32>, %w: tensor<8x8x3x3xf32>, %v: tensor<16x16x1x1xf32>) -> tensor<2x16x8x8xf32> {
  %s = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x8x8xf32>
  %1 = "onnx.MaxPool"(%0) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x8x8x8xf32>) -> tensor<2x8x4x4xf32>
  %2 = "onnx.Resize"(%1, %s) {operandSegmentSizes = array<i32: 1, 0, 1, 0>} : (tensor<2x8x4x4xf32>, tensor<4xf32>) -> tensor<2x8x8x8xf32>
  %3 = "onnx.Concat"(%0, %2) {axis = 1 : i64} : (tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>) -> tensor<2x16x8x8xf32>
  %4 = "onnx.GlobalAveragePool"(%3) : (tensor<2x16x8x8xf32>) -> tensor<2x16x1x1xf32>
  %5 = "onnx.Conv"(%4, %v) : (tensor<2x16x1x1xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x1x1xf32>
  %6 = "onnx.Sigmoid"(%5) : (tensor<2x16x1x1xf32>) -> tensor<2x16x1x1xf32>
  %7 = "onnx.Mul"(%3, %6) : (tensor<2x16x8x8xf32>, tensor<2x16x1x1xf32>) -> tensor<2x16x8x8xf32>
  return %7 : tensor<2x16x8x8xf32>
}

// -----

// A slice of channels, between two convolutions.
// CHECK-LABEL: func.func @slices(
// CHECK-NOT: to_channels_last
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1, 4] [2, 8, 7, 4] [1, 1, 1, 1] : tensor<2x8x8x8xf32> to tensor<2x8x7x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<2x8x7x4xf32>
// CHECK: attrs = {optc.label = "from_channels_last"}
// CHECK-NOT: channels_last
func.func @slices(%x: tensor<2x8x8x8xf32>, %w: tensor<8x8x3x3xf32>, %v: tensor<16x4x1x1xf32>) -> tensor<2x16x8x7xf32> {
  %s = onnx.Constant dense<[4, 1]> : tensor<2xi64>
  %e = onnx.Constant dense<8> : tensor<2xi64>
  %a = onnx.Constant dense<[1, 3]> : tensor<2xi64>
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x8x8xf32>
  %1 = "onnx.Slice"(%0, %s, %e, %a) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<2x8x8x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x4x8x7xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<2x4x8x7xf32>, tensor<16x4x1x1xf32>) -> tensor<2x16x8x7xf32>
  return %2 : tensor<2x16x8x7xf32>
}

// -----

// Loops that write by index walk memory in order.
// CHECK-LABEL: func.func @loops(
// CHECK: kernel.dispatch "scatter_elements"[] -> tensor<2x8x8x16xf32>
// CHECK: scf.for %[[N:.*]] = %c0 to %c2
// CHECK: scf.for %[[H:.*]] = %c0 to %c8
// CHECK: scf.for %[[X:.*]] = %c0 to %c8
// CHECK: scf.for %[[C:.*]] = %c0 to %c16
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[N]], %[[H]], %[[X]], %[[C]]] : tensor<2x8x8x16xf32>
func.func @loops(%x: tensor<2x8x8x8xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<16x16x1x1xf32>, %i: tensor<1x1x1x1xi64>, %u: tensor<1x1x1x1xf32>) -> tensor<2x16x8x8xf32> {
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x8x8xf32>
  %1 = "onnx.ScatterElements"(%0, %i, %u) {axis = 1 : i64} : (tensor<2x16x8x8xf32>, tensor<1x1x1x1xi64>, tensor<1x1x1x1xf32>) -> tensor<2x16x8x8xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<2x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x8x8xf32>
  return %2 : tensor<2x16x8x8xf32>
}

// -----

// One spatial axis, and transposed convolutions.
// CHECK-LABEL: func.func @other_ranks(
// CHECK: outs(%{{.*}} : tensor<1x8x16xf32>) attrs = {optc.label = "conv1x1"}
// CHECK: outs(%{{.*}} : tensor<1x8x1x48xf32>) attrs = {optc.label = "convtranspose"}
// CHECK: kernel.view %{{.*}} : tensor<1x8x1x48xf32> to tensor<1x8x16x3xf32>
// CHECK: outs(%{{.*}} : tensor<1x17x16xf32>) attrs = {optc.label = "columns_to_image"}
// CHECK: attrs = {optc.label = "from_channels_last"}
func.func @other_ranks(%x: tensor<1x8x8xf32>, %w: tensor<16x8x1xf32>, %v: tensor<16x16x3xf32>) -> tensor<1x16x17xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8xf32>, tensor<16x8x1xf32>) -> tensor<1x16x8xf32>
  %1 = "onnx.ConvTranspose"(%0, %v) {strides = array<i64: 2>} : (tensor<1x16x8xf32>, tensor<16x16x3xf32>) -> tensor<1x16x17xf32>
  return %1 : tensor<1x16x17xf32>
}

// -----

// Sizes that only a run knows: merging positions commutes with the order, and scalars follow their dimensions.
// CHECK-LABEL: func.func @sizes(
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[H:.*]] = tensor.dim %arg0, %c2
// CHECK-DAG: %[[W:.*]] = tensor.dim %arg0, %c3
// CHECK: outs(%{{.*}} : tensor<?x?x?x8xf32>) attrs = {optc.label = "to_channels_last"}
// CHECK: tensor.empty(%[[N]], %[[H]], %[[W]]) : tensor<?x?x?x16xf32>
// CHECK: %[[HW:.*]] = arith.muli %[[H]], %[[W]]
// CHECK: kernel.view %{{.*}}[%[[N]], %[[HW]]] : tensor<?x?x?x16xf32> to tensor<?x?x16xf32>
// CHECK: %[[E:.*]] = tensor.empty(%[[N]], %[[HW]]) : tensor<?x16x?xf32>
// CHECK: outs(%[[E]] : tensor<?x16x?xf32>) attrs = {optc.label = "from_channels_last"}
func.func @sizes(%x: tensor<?x8x?x?xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<?x16x?xf32> {
  %s = onnx.Constant dense<[0, 16, -1]> : tensor<3xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x8x?x?xf32>, tensor<16x8x1x1xf32>) -> tensor<?x16x?x?xf32>
  %1 = "onnx.Reshape"(%0, %s) : (tensor<?x16x?x?xf32>, tensor<3xi64>) -> tensor<?x16x?xf32>
  return %1 : tensor<?x16x?xf32>
}

// -----

// Negative: a view that merges channels with positions needs the model's order.
// CHECK-LABEL: func.func @mixes(
// CHECK: %[[B:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<1x16x8x8xf32>) attrs = {optc.label = "from_channels_last"}
// CHECK: kernel.view %[[B]][] : tensor<1x16x8x8xf32> to tensor<1x128x8xf32>
func.func @mixes(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<1x128x8xf32> {
  %s = onnx.Constant dense<[1, 128, 8]> : tensor<3xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = "onnx.Reshape"(%0, %s) : (tensor<1x16x8x8xf32>, tensor<3xi64>) -> tensor<1x128x8xf32>
  return %1 : tensor<1x128x8xf32>
}

// -----

// Negative: operators of the library take and return the model's order; what comes from one is transposed.
// CHECK-LABEL: func.func @library(
// CHECK: %[[B:.*]] = linalg.generic {{.*}}optc.label = "from_channels_last"
// CHECK: %[[L:.*]]:2 = kernel.library topk(%[[B]]
// CHECK: %[[T:.*]] = tensor.cast %[[L]]#0
// CHECK: ins(%[[T]] : tensor<1x16x8x4xf32>) outs(%{{.*}} : tensor<1x8x4x16xf32>) attrs = {optc.label = "to_channels_last"}
func.func @library(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x1x1xf32>, %v: tensor<16x16x1x1xf32>) -> tensor<1x16x8x4xf32> {
  %k = onnx.Constant dense<[4]> : tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1:2 = "onnx.TopK"(%0, %k) : (tensor<1x16x8x8xf32>, tensor<1xi64>) -> (tensor<1x16x8x4xf32>, tensor<1x16x8x4xi64>)
  %2 = "onnx.Conv"(%1#0, %v) : (tensor<1x16x8x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x4xf32>
  return %2 : tensor<1x16x8x4xf32>
}

// -----

// Negative: a sequence takes the model's order.
// CHECK-LABEL: func.func @sequence(
// CHECK: %[[B:.*]] = linalg.generic {{.*}}optc.label = "from_channels_last"
// CHECK: kernel.library sequence_construct(%[[B]])
func.func @sequence(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x1x1xf32>) -> !onnx.seq<tensor<1x16x8x8xf32>> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = "onnx.SequenceConstruct"(%0) : (tensor<1x16x8x8xf32>) -> !onnx.seq<tensor<1x16x8x8xf32>>
  return %1 : !onnx.seq<tensor<1x16x8x8xf32>>
}

// -----

// A model that stores channels last itself has nothing left to transpose.
// CHECK-LABEL: func.func @exported(
// CHECK-NOT: optc.label = "transpose"
// CHECK-NOT: channels_last
// CHECK: ins(%arg0, %{{.*}} : tensor<1x8x8x8xf32>, tensor<16x8xf32>) outs(%{{.*}} : tensor<1x8x8x16xf32>)
// CHECK-NOT: optc.label = "transpose"
// CHECK-NOT: channels_last
// CHECK: return %{{.*}} : tensor<1x8x8x16xf32>
func.func @exported(%x: tensor<1x8x8x8xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<1x8x8x16xf32> {
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %1 = "onnx.Conv"(%0, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %2 = "onnx.Transpose"(%1) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}

// -----

// Attention: both transpositions before the first product are maps of it, and the second product writes what the last
// one would make.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
// CHECK-LABEL: func.func @attention(
// CHECK-NOT: optc.label = "transpose"
// CHECK: indexing_maps = [#[[Q]], #[[K]], {{.*}}ins(%arg0, %arg1 : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) outs(%{{.*}} : tensor<2x4x8x8xf32>)
// CHECK: indexing_maps = [#[[Q]], #[[V]], {{.*}}outs(%{{.*}} : tensor<2x8x4x16xf32>)
// CHECK-NOT: optc.label = "transpose"
func.func @attention(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>) -> tensor<2x8x64xf32> {
  %s = onnx.Constant dense<[2, 8, 64]> : tensor<3xi64>
  %0 = "onnx.Transpose"(%q) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = "onnx.Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x16x8xf32>
  %2 = "onnx.Transpose"(%v) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = "onnx.MatMul"(%0, %1) : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = "onnx.Relu"(%3) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = "onnx.MatMul"(%4, %2) : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %6 = "onnx.Transpose"(%5) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x8x16xf32>) -> tensor<2x8x4x16xf32>
  %7 = "onnx.Reshape"(%6, %s) : (tensor<2x8x4x16xf32>, tensor<3xi64>) -> tensor<2x8x64xf32>
  return %7 : tensor<2x8x64xf32>
}

// -----

// Negative: an elementwise user would read in steps, and a result of the function is what it is.
// CHECK-LABEL: func.func @kept(
// CHECK: outs(%{{.*}} : tensor<4x2xf32>) attrs = {optc.label = "transpose"}
// CHECK: ins(%{{.*}} : tensor<4x2xf32>)
func.func @kept(%x: tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = "onnx.Relu"(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Negative: what a branch yields has the model's order. What it reads from outside has any.
// CHECK-LABEL: func.func @control(
// CHECK: %[[C:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<1x8x8x16xf32>) attrs = {optc.label = "conv1x1"}
// CHECK: scf.if
// CHECK: %[[R:.*]] = linalg.generic {{.*}}ins(%[[C]] : tensor<1x8x8x16xf32>)
// CHECK: scf.yield %{{.*}} : tensor<1x16x8x8xf32>
// CHECK: else
// CHECK: scf.yield %{{.*}} : tensor<1x16x8x8xf32>
func.func @control(%b: tensor<i1>, %x: tensor<1x8x8x8xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = "onnx.If"(%b) ({
    %2 = "onnx.Relu"(%0) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    "onnx.Yield"(%2) : (tensor<1x16x8x8xf32>) -> ()
  }, {
    "onnx.Yield"(%0) : (tensor<1x16x8x8xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x16x8x8xf32>
  return %1 : tensor<1x16x8x8xf32>
}
