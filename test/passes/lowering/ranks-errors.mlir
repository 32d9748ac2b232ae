// RUN: optc-opt %s -split-input-file -optc-lower-onnx -verify-diagnostics

// Every lowering counts on ranks; what only a run knows is refused by name.
func.func @matmul(%x: tensor<*xf32>, %y: tensor<2x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{MatMul input 0 has no known rank; give its shape in the model or with --shape}}
  %0 = "onnx.MatMul"(%x, %y) : (tensor<*xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @topk(%x: tensor<*xf32>, %k: tensor<1xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{TopK input 0 has no known rank}}
  %0:2 = "onnx.TopK"(%x, %k) {axis = 0 : i64} : (tensor<*xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  return %0#0 : tensor<*xf32>
}
