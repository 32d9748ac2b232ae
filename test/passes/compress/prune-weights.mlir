// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-weights{keep=2 of=4})' | FileCheck %s --check-prefix=PAIRS
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-weights{magnitude=0.5})' | FileCheck %s --check-prefix=HALF
// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-weights{magnitude=0.75 keep=2 of=4})' | FileCheck %s --check-prefix=BOTH
// RUN: not optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-weights{magnitude=1})' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not optc-opt %s -split-input-file -pass-pipeline='builtin.module(optc-prune-weights{keep=4 of=4})' 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: optc-prune-weights: magnitude lies in [0, 1), and keep below of, which is at most 64

// Groups lie along the axis that is summed: the last one of a transposed matrix. Of equal ones the first stay.
// PAIRS: optc.pruning = [{after = 4 : i64, before = 8 : i64, layer = "transposed", method = "2:4", op = "Gemm", what = "weights"}]
// PAIRS: onnx.Constant dense<{{\[\[}}1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, -4.000000e+00, 0.000000e+00, 3.000000e+00]]>
// Of equal ones the first become zero.
// HALF: optc.pruning = [{after = 4 : i64, before = 8 : i64, layer = "transposed", method = "magnitude:0.5", op = "Gemm", what = "weights"}]
// HALF: onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, -4.000000e+00, 2.000000e+00, 3.000000e+00]]>
// BOTH: optc.pruning = [{after = 2 : i64, before = 8 : i64, layer = "transposed", method = "2:4,magnitude:0.75"
// BOTH: onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, -4.000000e+00, 0.000000e+00, 3.000000e+00]]>
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant dense<[[1.0, 1.0, -1.0, 1.0], [0.5, -4.0, 2.0, 3.0]]> : tensor<2x4xf32>
  %0 = "onnx.Gemm"(%x, %w) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32> loc("transposed")
  return %0 : tensor<3x2xf32>
}

// -----

// Rows of a product's matrix are summed.
// PAIRS: layer = "product"
// PAIRS: onnx.Constant dense<{{\[\[}}0.000000e+00, 8.000000e+00], [0.000000e+00, 7.000000e+00], [3.000000e+00, 0.000000e+00], [4.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant dense<[[1.0, 8.0], [2.0, 7.0], [3.0, 6.0], [4.0, 5.0]]> : tensor<4x2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32> loc("product")
  return %0 : tensor<3x2xf32>
}

// -----

// A convolution's groups are channels at one tap; a NaN is the largest; halves have their own width.
// PAIRS: layer = "convolution"
// PAIRS: onnx.Constant dense<{{\[\[\[}}0x7E00, 0.000000e+00], [0.000000e+00, 6.000000e+00], [4.000000e+00, 0.000000e+00], [0.000000e+00, 8.000000e+00]]]> : tensor<1x4x2xf16>
func.func @main(%x: tensor<1x4x9xf16>) -> tensor<1x1x8xf16> {
  %w = onnx.Constant dense<[[[0x7E00, 1.0], [2.0, 6.0], [4.0, 3.0], [-3.0, 8.0]]]> : tensor<1x4x2xf16>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x4x9xf16>, tensor<1x4x2xf16>) -> tensor<1x1x8xf16> loc("convolution")
  return %0 : tensor<1x1x8xf16>
}

// -----

// Zeros that are there count.
// HALF: layer = "sparse"
// HALF: onnx.Constant dense<{{\[\[}}0.000000e+00, 2.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf64>
func.func @main(%x: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %w = onnx.Constant dense<[[0.0, 2.0], [-0.0, 1.0]]> : tensor<2x2xf64>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64> loc("sparse")
  return %0 : tensor<3x2xf64>
}

// -----

// Negative: numbers of inputs that are no groups, weights with another reader, weights that are none.
// PAIRS: {layer = "dynamic", method = "2:4", op = "MatMul", reason = "it has no weights that are constants of floats"}
// PAIRS-SAME: {layer = "odd", method = "2:4", op = "MatMul", reason = "it sums over 6 inputs, which are not groups of 4"}
// PAIRS-SAME: {layer = "shared", method = "2:4", op = "MatMul", reason = "its weights are also read by node 'table' (Gather), which is no layer"}
// PAIRS: onnx.Constant dense<1.000000e+00> : tensor<6x4xf32>
// PAIRS: onnx.Constant dense<2.000000e+00> : tensor<4x4xf32>
// HALF: layer = "odd", method = "magnitude:0.5", op = "MatMul", what = "weights"
// BOTH: {layer = "odd", method = "2:4,magnitude:0.75", op = "MatMul", reason = "it sums over 6 inputs
// BOTH-SAME: after = 6 : i64, before = 24 : i64, layer = "odd"
func.func @main(%x: tensor<3x6xf32>, %i: tensor<2xi64>, %y: tensor<4x4xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>) {
  %v = onnx.Constant dense<1.0> : tensor<6x4xf32>
  %w = onnx.Constant dense<2.0> : tensor<4x4xf32>
  %0 = "onnx.MatMul"(%x, %v) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32> loc("odd")
  %1 = "onnx.MatMul"(%0, %w) : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("shared")
  %2 = "onnx.MatMul"(%1, %y) : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("dynamic")
  %3 = "onnx.Gather"(%w, %i) : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<2x4xf32> loc("table")
  return %2, %3 : tensor<3x4xf32>, tensor<2x4xf32>
}
