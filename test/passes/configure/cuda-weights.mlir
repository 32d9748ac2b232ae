// RUN: optc-opt %s -split-input-file -optc-configure="capability=90" | FileCheck %s

// Weights as ONNX has them: along no loop of the product are they contiguous. They are stored as a matrix of steps and
// filters.
#x = affine_map<(h, w, f, kh, kw, c) -> (h + kh, w + kw, c)>
#k = affine_map<(h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(h, w, f, kh, kw, c) -> (h, w, f)>
// CHECK-LABEL: func.func @convolution
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} <outer = [], n = [0], k = [2, 3, 1], lanes = 24> : tensor<24x16x3x3xf32> to tensor<1x144x24xf32>
// CHECK: family = "cuda-simt-gemm"
// CHECK: kernel.packed %[[P]]
func.func @convolution(%x: tensor<10x10x16xf32>) -> tensor<8x8x24xf32> {
  %k = arith.constant dense<1.0> : tensor<24x16x3x3xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<8x8x24xf32> {
  ^bb0(%d: tensor<8x8x24xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<8x8x24xf32>) -> tensor<8x8x24xf32>
    %p = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %k : tensor<10x10x16xf32>, tensor<24x16x3x3xf32>) outs(%f : tensor<8x8x24xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<8x8x24xf32>
    kernel.yield %p : tensor<8x8x24xf32>
  }
  return %0 : tensor<8x8x24xf32>
}

// -----

// Contiguous along the sum: read where they are.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @plain
// CHECK-NOT: kernel.pack
// CHECK: return
func.func @plain(%x: tensor<32x16xf32>) -> tensor<32x24xf32> {
  %k = arith.constant dense<1.0> : tensor<24x16xf32>
  %z = arith.constant 0.0 : f32
  %1 = kernel.dispatch "p" [] -> tensor<32x24xf32> {
  ^bb0(%d: tensor<32x24xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<32x24xf32>) -> tensor<32x24xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %k : tensor<32x16xf32>, tensor<24x16xf32>) outs(%f : tensor<32x24xf32>) {
    ^bb0(%u: f32, %w: f32, %acc: f32):
      %m = arith.mulf %u, %w : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<32x24xf32>
    kernel.yield %p : tensor<32x24xf32>
  }
  return %1 : tensor<32x24xf32>
}
