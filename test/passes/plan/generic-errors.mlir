// RUN: optc-opt %s -optc-plan -verify-diagnostics

#own = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [256], blocks = [64, 4], scratch = 0, reason = "">
#other = #kernel.strategy<family = "cuda-loops", groups = [2], tiles = [64], blocks = [64, 0], scratch = 0, reason = "">
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  // expected-error @below {{has a generic strategy whose groups name dimensions that the first result has not}}
  %0 = kernel.dispatch "p" [] strategy #own {kernel.generic = #other} -> tensor<1024xf32> {
  ^bb0(%d: tensor<1024xf32>):
    %r = linalg.negf ins(%x : tensor<1024xf32>) outs(%d : tensor<1024xf32>) -> tensor<1024xf32>
    kernel.yield %r : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>
}
