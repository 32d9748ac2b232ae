// RUN: optc-opt %s -split-input-file -verify-diagnostics -optc-lower-onnx

func.func @pad_mode(%x: tensor<4xf32>, %s: tensor<2xi64>) -> tensor<?xf32> {
  // expected-error @below {{mode "mirror"}}
  %0 = "onnx.Pad"(%x, %s) {mode = "mirror", operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @reduction(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{reduction "sub"; supported are none, add, mul, min and max}}
  %0 = "onnx.ScatterElements"(%x, %i, %u) {reduction = "sub"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
