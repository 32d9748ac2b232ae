// RUN: optc-opt %s -split-input-file -optc-plan -verify-diagnostics=only-expected
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

// -----

// Copies are of whole tensors.
#device = #kernel.strategy<family = "cuda-loops", groups = [1], tiles = [256], blocks = [256, 0], scratch = 0, reason = "">
#host = #kernel.strategy<family = "loops", groups = [], tiles = [], blocks = [], scratch = 0, reason = "strings">
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %part = tensor.extract_slice %x[0, 2] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  // expected-error @+1 {{works on copies of its tensors, one of which is a part of another one}}
  %0 = kernel.dispatch "host" [] strategy #host -> tensor<4x2xf32> {
  ^bb0(%d: tensor<4x2xf32>):
    %r = linalg.add ins(%part, %part : tensor<4x2xf32>, tensor<4x2xf32>) outs(%d : tensor<4x2xf32>) -> tensor<4x2xf32>
    kernel.yield %r : tensor<4x2xf32>
  }
  %1 = kernel.dispatch "device" [] strategy #device -> tensor<4x2xf32> {
  ^bb0(%d: tensor<4x2xf32>):
    %r = linalg.add ins(%0, %0 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%d : tensor<4x2xf32>) -> tensor<4x2xf32>
    kernel.yield %r : tensor<4x2xf32>
  }
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}
