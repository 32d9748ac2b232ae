// RUN: optc-opt %s -split-input-file -optc-configure="capability=90" | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-configure="opt-level=0 capability=90" | FileCheck %s --check-prefix=O0

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (c, kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>

// Vectors of four channels, four positions; the weights of all channels lie one after the other for each tap.
// CHECK-LABEL: func.func @depthwise
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} <outer = [], n = [0], k = [1, 2], lanes = 40> : tensor<40x3x3xf32> to tensor<1x9x40xf32>
// CHECK: kernel.dispatch "dw"[] strategy <family = "cuda-window", groups = [4], tiles = [2048], blocks = [128, 4, 4], scratch = 0, reason = "windows with weights
// CHECK: kernel.packed %[[P]]
// O0-LABEL: func.func @depthwise
// O0: family = "cuda-loops"
func.func @depthwise(%x: tensor<64x33x33x40xf32>) -> tensor<64x16x16x40xf32> {
  %k = arith.constant dense<1.0> : tensor<40x3x3xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "dw" [] -> tensor<64x16x16x40xf32> {
  ^bb0(%d: tensor<64x16x16x40xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<64x16x16x40xf32>) -> tensor<64x16x16x40xf32>
    %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %k : tensor<64x33x33x40xf32>, tensor<40x3x3xf32>) outs(%f : tensor<64x16x16x40xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x16x16x40xf32>
    kernel.yield %r : tensor<64x16x16x40xf32>
  }
  return %0 : tensor<64x16x16x40xf32>
}

// -----

// Few results spread over the multiprocessors: small blocks, one position each. Channels that four do not divide.
#x = affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#window = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
// CHECK-LABEL: func.func @pool
// CHECK: strategy <family = "cuda-window", groups = [4], tiles = [64], blocks = [32, 2, 1], scratch = 0, reason = "windows
func.func @pool(%x: tensor<1x9x9x6xf32>) -> tensor<1x4x4x6xf32> {
  %z = arith.constant 0xFF800000 : f32
  %0 = kernel.dispatch "pool" [] -> tensor<1x4x4x6xf32> {
  ^bb0(%d: tensor<1x4x4x6xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
    %e = tensor.empty() : tensor<3x3xf32>
    %r = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %e : tensor<1x9x9x6xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x4x6xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %s = arith.maximumf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<1x4x4x6xf32>
    kernel.yield %r : tensor<1x4x4x6xf32>
  }
  return %0 : tensor<1x4x4x6xf32>
}

// -----

// Windows that slide along the vectors' dimension: a thread per element, since no access but the first would be aligned.
#x = affine_map<(n, c, h, w, kh, kw) -> (n, c, h * 2 + kh, w + kw)>
#window = affine_map<(n, c, h, w, kh, kw) -> (kh, kw)>
#y = affine_map<(n, c, h, w, kh, kw) -> (n, c, h, w)>
// CHECK-LABEL: func.func @planes
// CHECK: strategy <family = "cuda-window", groups = [4], tiles = [{{[0-9]+}}], blocks = [{{[0-9]+}}, 1, 1]
func.func @planes(%x: tensor<1x3x9x10xf32>) -> tensor<1x3x4x8xf32> {
  %z = arith.constant 0xFF800000 : f32
  %0 = kernel.dispatch "pool" [] -> tensor<1x3x4x8xf32> {
  ^bb0(%d: tensor<1x3x4x8xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32>
    %e = tensor.empty() : tensor<3x3xf32>
    %r = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %e : tensor<1x3x9x10xf32>, tensor<3x3xf32>) outs(%f : tensor<1x3x4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %s = arith.maximumf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<1x3x4x8xf32>
    kernel.yield %r : tensor<1x3x4x8xf32>
  }
  return %0 : tensor<1x3x4x8xf32>
}

// -----

// Negative: a window of a size that only the run knows.
#x = affine_map<(n, h, c, kh) -> (n, h + kh, c)>
#k = affine_map<(n, h, c, kh) -> (kh)>
#y = affine_map<(n, h, c, kh) -> (n, h, c)>
// CHECK-LABEL: func.func @unknown
// CHECK: family = "cuda-loops"
// CHECK-SAME: no cuda-window: the size of the window is known at run time only
func.func @unknown(%x: tensor<1x9x8xf32>, %k: tensor<?xf32>) -> tensor<1x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "w" [] -> tensor<1x4x8xf32> {
  ^bb0(%d: tensor<1x4x8xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %k : tensor<1x9x8xf32>, tensor<?xf32>) outs(%f : tensor<1x4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %s = arith.maximumf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<1x4x8xf32>
    kernel.yield %r : tensor<1x4x8xf32>
  }
  return %0 : tensor<1x4x8xf32>
}
