// RUN: optc-opt --plugin=%operator %s -split-input-file -optc-infer-shapes -verify-diagnostics

func.func @scale(%x: tensor<4x8xf32>, %scale: tensor<7xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{has rows of the shape [4, 8] and a scale of the shape [7]}}
  %0 = "plugin.com.example.RowNormalize"(%x, %scale) : (tensor<4x8xf32>, tensor<7xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @rank(%x: tensor<4x8xf32>, %scale: tensor<1x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{input 1 (scale) has the shape [1, 8] and must have rank 1}}
  %0 = "plugin.com.example.RowNormalize"(%x, %scale) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @inputs(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{has 1 inputs where its operator has 2}}
  %0 = "plugin.com.example.RowNormalize"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @type(%x: tensor<4x8xf64>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{has the input 'X' of type 'tensor<4x8xf64>', which its operator does not take}}
  %0 = "plugin.com.example.RowNormalize"(%x, %scale) : (tensor<4x8xf64>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @attribute(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{lacks the attribute 'unit_offset', or has one of another kind}}
  %0 = "plugin.com.example.RowNormalize"(%x, %scale) {unit_offset = 1.0 : f32} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
