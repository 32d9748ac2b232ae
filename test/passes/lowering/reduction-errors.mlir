// RUN: optc-opt --optc-lower-onnx --split-input-file --verify-diagnostics %s

func.func @unknown_number(%x: tensor<2x3xf32>, %axes: tensor<?xi64>) -> tensor<?x?xf32> {
  // expected-error @+1 {{their number must be known}}
  %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @groups(%x: tensor<1x4x2xf32>, %s: tensor<4xf32>) -> tensor<1x4x2xf32> {
  // expected-error @+1 {{not a multiple of num_groups 3}}
  %0 = "onnx.GroupNormalization"(%x, %s, %s) {num_groups = 3 : i64} : (tensor<1x4x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2xf32>
  return %0 : tensor<1x4x2xf32>
}

// -----

func.func @rank(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{has no known rank}}
  %0 = "onnx.Exp"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
