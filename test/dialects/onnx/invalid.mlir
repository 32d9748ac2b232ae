// RUN: optc-opt %s -split-input-file -verify-diagnostics

func.func @type(%x: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of float float16 double bfloat16, but got 'tensor<2xi32>'}}
  %0 = "onnx.Sin"(%x) : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_missing(%x: tensor<2xi32>) {
  // expected-error @+1 {{requires attribute 'to'}}
  %0 = "onnx.Cast"(%x) : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_kind(%x: tensor<2xi32>) {
  // expected-error @+1 {{attribute 'to' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "onnx.Cast"(%x) {to = 1.0 : f32} : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @segments(%x: tensor<2xf32>) {
  // expected-error @+1 {{operand count (1) does not match with the total size (2)}}
  %0 = "onnx.Clip"(%x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{has the element type 'index', which is not a type of ONNX}}
  %0 = onnx.Constant dense<1> : tensor<index>
  return
}

// -----

func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has 1 results and a branch of 2 outputs}}
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @no_yield(%c: tensor<i1>, %x: tensor<2xf32>) {
  %0 = "onnx.If"(%c) ({
    // expected-error @+1 {{block with no terminator}}
    %1 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  }, {
    "onnx.Yield"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @loop(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @+1 {{carries 1 values, so its body takes 3 inputs, not 2}}
  %0 = "onnx.Loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    "onnx.Yield"(%c, %x) : (tensor<i1>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scan(%x: tensor<2xf32>) {
  // expected-error @+1 {{has num_scan_inputs = 2 and 1 inputs}}
  %0 = "onnx.Scan"(%x) <{num_scan_inputs = 2 : i64}> ({
  ^bb0(%e: tensor<f32>):
    "onnx.Yield"(%e) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{a sequence holds tensors, sequences, optionals or maps, not 'i32'}}
func.func private @seq() -> !onnx.seq<i32>

// -----

// expected-error @+1 {{the keys of a map are integers or strings, not 'f32'}}
func.func private @map() -> !onnx.map<f32, tensor<f32>>
