// RUN: optc-opt %s -split-input-file -optc-plan -verify-diagnostics
// Modules that the passes before would not make.

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  // expected-error @below {{has a part that no dispatch computes in its place}}
  %c = tensor.concat dim(1) %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{there is no one concatenation of this type that reads it}}
  %a = kernel.dispatch "a" [] {stored_in = [tensor<4x16xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.copy ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %s = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  // expected-error @below {{reads a part of a tensor as if it were contiguous}}
  return %s : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{cannot be read where it is: it steps over elements}}
  %s = tensor.extract_slice %x[0, 0] [4, 4] [1, 2] : tensor<4x8xf32> to tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
