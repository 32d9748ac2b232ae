// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-channels{ratio=0.25 multiple=1})' -verify-each | FileCheck %s
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-channels{ratio=0.25})' | FileCheck %s --check-prefix=AUTO
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-channels{ratio=0.5 multiple=1})' | FileCheck %s --check-prefix=HALF
// RUN: not optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-channels{ratio=1})' 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: optc-prune-channels: ratio lies in [0, 1)

// The channel that goes is the one of the smallest filter, and the constants around it lose what belongs to it. The
// channels of the last layer are an output.
// CHECK: {after = 3 : i64, before = 4 : i64, layer = "first", method = "channels:0.25", op = "Conv", what = "channels"}
// CHECK-SAME: {layer = "second", method = "channels:0.25", op = "Conv", reason = "its channels stay: they are an output of the model"}
// CHECK: onnx.Constant dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}1.250000e+00]], {{\[\[}}1.500000e+00]]]> : tensor<3x1x1xf32>
// CHECK: onnx.Constant dense<[1.000000e+01, 3.000000e+01, 4.000000e+01]> : tensor<3xf32>
// CHECK: "onnx.Conv"({{.*}}) : (tensor<?x1x8xf32>, tensor<3x1x1xf32>, tensor<3xf32>) -> tensor<?x3x8xf32>
// CHECK: "onnx.Relu"({{.*}}) : (tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
// CHECK: onnx.Constant dense<{{\[\[\[}}1.000000e+00], [3.000000e+00], [4.000000e+00]]]> : tensor<1x3x1xf32>
// CHECK: "onnx.Conv"({{.*}}) : (tensor<?x3x8xf32>, tensor<1x3x1xf32>) -> tensor<?x1x8xf32>
// AUTO: {after = 3 : i64, before = 4 : i64, layer = "first"
func.func @main(%x: tensor<?x1x8xf32>) -> tensor<?x1x8xf32> {
  %w = onnx.Constant dense<[[[1.0]], [[-0.125]], [[1.25]], [[1.5]]]> : tensor<4x1x1xf32>
  %b = onnx.Constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
  %v = onnx.Constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %0 = "onnx.Conv"(%x, %w, %b) : (tensor<?x1x8xf32>, tensor<4x1x1xf32>, tensor<4xf32>) -> tensor<?x4x8xf32> loc("first")
  %1 = "onnx.Relu"(%0) : (tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<?x4x8xf32>, tensor<1x4x1xf32>) -> tensor<?x1x8xf32> loc("second")
  return %2 : tensor<?x1x8xf32>
}

// -----

// The sides of an addition lose the same channels, a normalization and a depthwise convolution go along, a broadcast
// constant is sliced, and a concatenation has the channels of both.
// CHECK: "onnx.Conv"({{.*}}) {{.*}}: (tensor<1x3x8x8xf32>, tensor<6x3x1x1xf32>) -> tensor<1x6x8x8xf32>
// CHECK: "onnx.Conv"({{.*}}) {{.*}}: (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
// CHECK: "onnx.Add"({{.*}}) : (tensor<1x6x8x8xf32>, tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
// CHECK: "onnx.BatchNormalization"({{.*}}) {{.*}}: (tensor<1x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK: "onnx.Conv"({{.*}}) <{group = 6 : i64, {{.*}}: (tensor<1x6x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x8x8xf32>
// CHECK: "onnx.Mul"({{.*}}) : (tensor<1x6x8x8xf32>, tensor<6x1x1xf32>) -> tensor<1x6x8x8xf32>
// CHECK: "onnx.Concat"({{.*}}) {{.*}}: (tensor<1x6x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x12x8x8xf32>
// CHECK: "onnx.Conv"({{.*}}) : (tensor<1x12x8x8xf32>, tensor<2x12x1x1xf32>) -> tensor<1x2x8x8xf32>
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %u = onnx.Constant dense<1.0> : tensor<8x3x1x1xf32>
  %v = onnx.Constant dense<2.0> : tensor<8x3x3x3xf32>
  %g = onnx.Constant dense<1.0> : tensor<8xf32>
  %d = onnx.Constant dense<1.0> : tensor<8x1x3x3xf32>
  %s = onnx.Constant dense<3.0> : tensor<8x1x1xf32>
  %a = onnx.Constant dense<3.0> : tensor<4x3x1x1xf32>
  %l = onnx.Constant dense<3.0> : tensor<2x15x1x1xf32>
  %0 = "onnx.Conv"(%x, %u) : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = "onnx.Conv"(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x8x8xf32>
  %2 = "onnx.Add"(%0, %1) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %3 = "onnx.BatchNormalization"(%2, %g, %g, %g, %g) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
  %4 = "onnx.Conv"(%3, %d) {group = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x8xf32>
  %5 = "onnx.Mul"(%4, %s) : (tensor<1x8x8x8xf32>, tensor<8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %6 = "onnx.Conv"(%x, %a) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %7 = "onnx.Concat"(%5, %6, %x) {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x15x8x8xf32>
  %8 = "onnx.Conv"(%7, %l) : (tensor<1x15x8x8xf32>, tensor<2x15x1x1xf32>) -> tensor<1x2x8x8xf32>
  return %8 : tensor<1x2x8x8xf32>
}

// -----

// Flattened positions go with their channel; a written shape gets the new number.
// CHECK: onnx.Constant dense<[0, 3, 2]> : tensor<3xi64>
// CHECK: "onnx.Reshape"({{.*}}) {{.*}}: (tensor<?x3x1x2xf32>, tensor<3xi64>) -> tensor<?x3x2xf32>
// CHECK: "onnx.Flatten"({{.*}}) {{.*}}: (tensor<?x3x2xf32>) -> tensor<?x6xf32>
// CHECK: onnx.Constant dense<{{\[\[}}5.000000e+00], [6.000000e+00], [7.000000e+00], [8.000000e+00], [3.000000e+00], [4.000000e+00]]> : tensor<6x1xf32>
// CHECK: "onnx.Gemm"({{.*}}) : (tensor<?x6xf32>, tensor<6x1xf32>) -> tensor<?x1xf32>
func.func @main(%x: tensor<?x1x1x2xf32>) -> tensor<?x1xf32> {
  %w = onnx.Constant dense<[[[[1.0]]], [[[3.0]]], [[[3.0]]], [[[3.0]]]]> : tensor<4x1x1x1xf32>
  %s = onnx.Constant dense<[0, 4, 2]> : tensor<3xi64>
  %v = onnx.Constant dense<[[1.0], [2.0], [5.0], [6.0], [7.0], [8.0], [3.0], [4.0]]> : tensor<8x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x1x1x2xf32>, tensor<4x1x1x1xf32>) -> tensor<?x4x1x2xf32>
  %1 = "onnx.Reshape"(%0, %s) : (tensor<?x4x1x2xf32>, tensor<3xi64>) -> tensor<?x4x2xf32>
  %2 = "onnx.Flatten"(%1) {axis = 1 : i64} : (tensor<?x4x2xf32>) -> tensor<?x8xf32>
  %3 = "onnx.Gemm"(%2, %v) : (tensor<?x8xf32>, tensor<8x1xf32>) -> tensor<?x1xf32>
  return %3 : tensor<?x1xf32>
}

// -----

// The inner layer of a transformer block, a Split, groups that stay equal.
// CHECK: "onnx.MatMul"({{.*}}) : (tensor<?x5x4xf32>, tensor<4x6xf32>) -> tensor<?x5x6xf32>
// CHECK: onnx.Constant dense<3> : tensor<2xi64>
// CHECK: "onnx.Split"({{.*}}) <{axis = -1 : i64}> : (tensor<?x5x6xf32>, tensor<2xi64>) -> (tensor<?x5x3xf32>, tensor<?x5x3xf32>)
// CHECK: "onnx.MatMul"({{.*}}) : (tensor<?x5x3xf32>, tensor<3x4xf32>) -> tensor<?x5x4xf32>
func.func @main(%x: tensor<?x5x4xf32>) -> tensor<?x5x4xf32> {
  %w = onnx.Constant dense<1.0> : tensor<4x8xf32>
  %b = onnx.Constant dense<1.0> : tensor<8xf32>
  %v = onnx.Constant dense<1.0> : tensor<4x4xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<?x5x4xf32>, tensor<4x8xf32>) -> tensor<?x5x8xf32>
  %1 = "onnx.Add"(%0, %b) : (tensor<?x5x8xf32>, tensor<8xf32>) -> tensor<?x5x8xf32>
  %2:2 = "onnx.Split"(%1) {axis = -1 : i64, num_outputs = 2 : i64} : (tensor<?x5x8xf32>) -> (tensor<?x5x4xf32>, tensor<?x5x4xf32>)
  %3 = "onnx.Sigmoid"(%2#0) : (tensor<?x5x4xf32>) -> tensor<?x5x4xf32>
  %4 = "onnx.Mul"(%3, %2#1) : (tensor<?x5x4xf32>, tensor<?x5x4xf32>) -> tensor<?x5x4xf32>
  %5 = "onnx.MatMul"(%4, %v) : (tensor<?x5x4xf32>, tensor<4x4xf32>) -> tensor<?x5x4xf32>
  return %5 : tensor<?x5x4xf32>
}

// -----

// Negative: an op that mixes channels, one that reads their number, a subgraph, a side that is no layer's, weights that
// are no constant, a softmax along them.
// CHECK: layer = "mixed", {{.*}}, reason = "its channels stay: they reach node 'd2s' (DepthToSpace), which pruning does not look through"
// CHECK-SAME: layer = "counted", {{.*}}, reason = "its channels stay: their number is read by node 'size' (Shape)"
// CHECK-SAME: layer = "captured", {{.*}}, reason = "its channels stay: they are used in a subgraph of node 'if' (If)"
// CHECK-SAME: layer = "beside", {{.*}}, reason = "its channels stay: they meet others in node 'sum' (Add) that cannot be removed"
// CHECK-SAME: layer = "softmaxed", {{.*}}, reason = "its channels stay: their sum is 1 in node 'softmax' (Softmax)"
// CHECK-SAME: layer = "dynamic", {{.*}}, reason = "its weights are no constant of floats"
// CHECK-NOT: tensor<1x3
func.func @main(%x: tensor<1x4x2x2xf32>, %w: tensor<4x4x1x1xf32>, %c: tensor<i1>)
    -> (tensor<1x1x4x4xf32>, tensor<4xi64>, tensor<1x4x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x4x2x2xf32>) {
  %v = onnx.Constant dense<1.0> : tensor<4x4x1x1xf32>
  %u = onnx.Constant dense<1.0> : tensor<1x4x1x1xf32>
  %0 = "onnx.Conv"(%x, %v) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("mixed")
  %1 = "onnx.DepthToSpace"(%0) {blocksize = 2 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32> loc("d2s")
  %2 = "onnx.Conv"(%x, %v) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("counted")
  %3 = "onnx.Shape"(%2) : (tensor<1x4x2x2xf32>) -> tensor<4xi64> loc("size")
  %4 = "onnx.Conv"(%x, %v) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("captured")
  %5 = "onnx.If"(%c) ({
    %n = "onnx.Neg"(%4) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
    "onnx.Yield"(%n) : (tensor<1x4x2x2xf32>) -> ()
  }, {
    %n = "onnx.Abs"(%x) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
    "onnx.Yield"(%n) : (tensor<1x4x2x2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x4x2x2xf32> loc("if")
  %6 = "onnx.Conv"(%x, %v) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("beside")
  %7 = "onnx.Add"(%6, %x) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> loc("sum")
  %8 = "onnx.Conv"(%7, %u) : (tensor<1x4x2x2xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x2x2xf32>
  %9 = "onnx.Conv"(%x, %v) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("softmaxed")
  %10 = "onnx.Softmax"(%9) {axis = 1 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> loc("softmax")
  %11 = "onnx.Conv"(%10, %u) : (tensor<1x4x2x2xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x2x2xf32>
  %12 = "onnx.Conv"(%x, %w) : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> loc("dynamic")
  return %1, %3, %5, %8, %11, %12 : tensor<1x1x4x4xf32>, tensor<4xi64>, tensor<1x4x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x4x2x2xf32>
}

// -----

// A Slice of positions passes, one of channels does not; layers in subgraphs stay, and so does what they read.
// CHECK: {after = 3 : i64, before = 4 : i64, layer = "positions", {{.*}}}, {layer = "few", {{.*}}, reason = "its channels stay: they are used in a subgraph of node 'if' (If)"}
// CHECK-SAME: layer = "channels", {{.*}}, reason = "its channels stay: they are cut in node 'cut' (Slice)"
// CHECK-SAME: layer = "inner", {{.*}}, reason = "it lies in a subgraph of node 'if' (If)"
// CHECK: "onnx.Slice"({{.*}}) {{.*}}: (tensor<1x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x4xf32>
// CHECK: "onnx.Slice"({{.*}}) {{.*}}: (tensor<1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x4xf32>
func.func @main(%x: tensor<1x3x8xf32>, %c: tensor<i1>) -> (tensor<1x2x4xf32>, tensor<1x4x4xf32>) {
  %w = onnx.Constant dense<1.0> : tensor<4x3x1xf32>
  %u = onnx.Constant dense<1.0> : tensor<1x4x1xf32>
  %v = onnx.Constant dense<1.0> : tensor<4x1x1xf32>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %four = onnx.Constant dense<4> : tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x8xf32>, tensor<4x3x1xf32>) -> tensor<1x4x8xf32> loc("positions")
  %1 = "onnx.Slice"(%0, %zero, %four, %two) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<1x4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x4x4xf32>
  %2 = "onnx.Conv"(%1, %u) : (tensor<1x4x4xf32>, tensor<1x4x1xf32>) -> tensor<1x1x4xf32> loc("few")
  %3 = "onnx.Conv"(%2, %v) : (tensor<1x1x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4xf32> loc("channels")
  %4 = "onnx.Slice"(%3, %zero, %two, %one) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x4xf32> loc("cut")
  %5 = "onnx.If"(%c) ({
    %n = "onnx.Conv"(%2, %v) : (tensor<1x1x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4xf32> loc("inner")
    "onnx.Yield"(%n) : (tensor<1x4x4xf32>) -> ()
  }, {
    %n = "onnx.Abs"(%3) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
    "onnx.Yield"(%n) : (tensor<1x4x4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x4x4xf32> loc("if")
  return %4, %5 : tensor<1x2x4xf32>, tensor<1x4x4xf32>
}

// -----

// A part of a Split keeps a channel, however small all of them are; a Squeeze without axes keeps an axis of channels
// that becomes one of size 1.
// CHECK: {after = 6 : i64, before = 8 : i64, layer = "halves"
// CHECK: onnx.Constant dense<[1, 5]> : tensor<2xi64>
// CHECK: "onnx.Split"({{.*}}) <{axis = 1 : i64}> : (tensor<1x6x1x1xf32>, tensor<2xi64>) -> (tensor<1x1x1x1xf32>, tensor<1x5x1x1xf32>)
// HALF: {after = 1 : i64, before = 2 : i64, layer = "pair"
// HALF: [[AXES:%.*]] = onnx.Constant dense<[0, 2, 3]> : tensor<3xi64>
// HALF: "onnx.Squeeze"({{.*}}, [[AXES]]) : (tensor<1x1x1x1xf32>, tensor<3xi64>) -> tensor<1xf32>
func.func @main(%x: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<3xf32>) {
  %w = onnx.Constant dense<[[[[1.0]]], [[[2.0]]], [[[8.0]]], [[[8.0]]], [[[8.0]]], [[[8.0]]], [[[8.0]]], [[[8.0]]]]> : tensor<8x1x1x1xf32>
  %u = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = onnx.Constant dense<1.0> : tensor<1x6x1x1xf32>
  %sizes = onnx.Constant dense<[2, 6]> : tensor<2xi64>
  %p = onnx.Constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %m = onnx.Constant dense<1.0> : tensor<2x3xf32>
  %one = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x1x1x1xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x1x1xf32> loc("halves")
  %1:2 = "onnx.Split"(%0, %sizes) {axis = 1 : i64} : (tensor<1x8x1x1xf32>, tensor<2xi64>) -> (tensor<1x2x1x1xf32>, tensor<1x6x1x1xf32>)
  %2 = "onnx.Conv"(%1#0, %u) : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32>
  %3 = "onnx.Conv"(%1#1, %v) : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x1x1x1xf32>
  %4 = "onnx.Conv"(%x, %p) : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x1x1xf32> loc("pair")
  %5 = "onnx.Squeeze"(%4) : (tensor<1x2x1x1xf32>) -> tensor<2xf32>
  %6 = "onnx.Reshape"(%5, %one) : (tensor<2xf32>, tensor<2xi64>) -> tensor<1x2xf32>
  %7 = "onnx.MatMul"(%6, %m) : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %axis = onnx.Constant dense<0> : tensor<1xi64>
  %8 = "onnx.Squeeze"(%7, %axis) : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  return %2, %3, %8 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<3xf32>
}

// -----

// Channels pass a Softmax along another axis, and a gate of one channel on either side; where a part of them has to
// stay, the others do not go in its place.
// CHECK: {after = 3 : i64, before = 4 : i64, layer = "scores"
// CHECK-SAME: {layer = "gate", {{.*}}, reason = "of its 1 channels none goes at this share"}
// CHECK-SAME: {after = 7 : i64, before = 8 : i64, layer = "shown"
// CHECK: "onnx.Softmax"({{.*}}) {{.*}}: (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
// CHECK: "onnx.Mul"({{.*}}) : (tensor<1x3x2xf32>, tensor<1x1x2xf32>) -> tensor<1x3x2xf32>
// CHECK: "onnx.Split"({{.*}}) {{.*}}: (tensor<1x7x2xf32>, tensor<2xi64>) -> (tensor<1x4x2xf32>, tensor<1x3x2xf32>)
func.func @main(%x: tensor<1x2x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x4x2xf32>, tensor<1x1x2xf32>) {
  %w = onnx.Constant dense<1.0> : tensor<4x2x1xf32>
  %g = onnx.Constant dense<1.0> : tensor<1x2x1xf32>
  %o = onnx.Constant dense<1.0> : tensor<1x4x1xf32>
  %s = onnx.Constant dense<1.0> : tensor<8x2x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x2x2xf32>, tensor<4x2x1xf32>) -> tensor<1x4x2xf32> loc("scores")
  %1 = "onnx.Softmax"(%0) {axis = 2 : i64} : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  %2 = "onnx.Conv"(%x, %g) : (tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x1x2xf32> loc("gate")
  %3 = "onnx.Mul"(%1, %2) : (tensor<1x4x2xf32>, tensor<1x1x2xf32>) -> tensor<1x4x2xf32>
  %4 = "onnx.Conv"(%3, %o) : (tensor<1x4x2xf32>, tensor<1x4x1xf32>) -> tensor<1x1x2xf32>
  %5 = "onnx.Conv"(%x, %s) : (tensor<1x2x2xf32>, tensor<8x2x1xf32>) -> tensor<1x8x2xf32> loc("shown")
  %6:2 = "onnx.Split"(%5) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<1x8x2xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x2xf32>)
  %7 = "onnx.Conv"(%6#1, %o) : (tensor<1x4x2xf32>, tensor<1x4x1xf32>) -> tensor<1x1x2xf32>
  return %4, %6#0, %7 : tensor<1x1x2xf32>, tensor<1x4x2xf32>, tensor<1x1x2xf32>
}

// -----

// A shape that is put together from a size of the run and a constant: the constant gets the new number, and another
// reader of the shape keeps its own.
// CHECK: "onnx.Concat"({{.*}}) {{.*}}: (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
// CHECK: "onnx.Reshape"(%arg1, {{.*}}) {{.*}} -> tensor<?x4x6xf32>
// CHECK: [[NEW:%.*]] = onnx.Constant dense<[3, 6]> : tensor<2xi64>
// CHECK: [[SHAPE:%.*]] = "onnx.Concat"({{.*}}, [[NEW]])
// CHECK: "onnx.Reshape"({{.*}}, [[SHAPE]]) {{.*}}: (tensor<?x3x2x3xf32>, tensor<3xi64>) -> tensor<?x3x6xf32>
func.func @main(%x: tensor<?x1x2x3xf32>, %y: tensor<?x4x2x3xf32>) -> (tensor<?x1x6xf32>, tensor<?x4x6xf32>) {
  %w = onnx.Constant dense<1.0> : tensor<4x1x1x1xf32>
  %o = onnx.Constant dense<1.0> : tensor<1x4x1xf32>
  %c = onnx.Constant dense<[4, 6]> : tensor<2xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %s = "onnx.Shape"(%x) : (tensor<?x1x2x3xf32>) -> tensor<4xi64>
  %n = "onnx.Gather"(%s, %zero) : (tensor<4xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = "onnx.Concat"(%n, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %0 = "onnx.Reshape"(%y, %shape) : (tensor<?x4x2x3xf32>, tensor<3xi64>) -> tensor<?x4x6xf32>
  %1 = "onnx.Conv"(%x, %w) : (tensor<?x1x2x3xf32>, tensor<4x1x1x1xf32>) -> tensor<?x4x2x3xf32>
  %2 = "onnx.Reshape"(%1, %shape) : (tensor<?x4x2x3xf32>, tensor<3xi64>) -> tensor<?x4x6xf32>
  %3 = "onnx.Conv"(%2, %o) : (tensor<?x4x6xf32>, tensor<1x4x1xf32>) -> tensor<?x1x6xf32>
  return %3, %0 : tensor<?x1x6xf32>, tensor<?x4x6xf32>
}
