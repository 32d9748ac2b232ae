// RUN: optc-opt %s -optc-configure | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @parallel
// CHECK: kernel.dispatch "big"[] strategy <family = "loops", groups = [1], tiles = [16], blocks = [], scratch = 0, reason = "tiles along the first dimension of the result">
func.func @parallel(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = kernel.dispatch "big" [] -> tensor<64x1024xf32> {
  ^bb0(%d: tensor<64x1024xf32>):
    %r = linalg.copy ins(%x : tensor<64x1024xf32>) outs(%d : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    kernel.yield %r : tensor<64x1024xf32>
  }
  return %0 : tensor<64x1024xf32>
}

// Negative: a reduction to a scalar has no loop to cut; sequential loops are one tile.
// CHECK-LABEL: func.func @whole
// CHECK: kernel.dispatch "sum"[] strategy <family = "loops", groups = [], tiles = []
// CHECK: kernel.dispatch "scan"[] strategy <family = "loops", groups = [], tiles = [], blocks = [], scratch = 0, reason = "sequential loops">
func.func @whole(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = kernel.dispatch "sum" [] -> tensor<f32> {
  ^bb0(%d: tensor<f32>):
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%x : tensor<8xf32>) outs(%d : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    kernel.yield %r : tensor<f32>
  }
  %1 = kernel.dispatch "scan" [] -> tensor<8xf32> {
  ^bb0(%d: tensor<8xf32>):
    %c0 = arith.constant 0 : index
    %v = tensor.extract %x[%c0] : tensor<8xf32>
    %r = tensor.insert %v into %d[%c0] : tensor<8xf32>
    kernel.yield %r : tensor<8xf32>
  }
  return %0, %1 : tensor<f32>, tensor<8xf32>
}
