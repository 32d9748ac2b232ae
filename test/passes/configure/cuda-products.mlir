// RUN: optc-opt %s -optc-configure="capability=90" | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Rows of 16 bytes' multiples: the tensor memory accelerator. Few tiles: narrow ones.
// CHECK-LABEL: func.func @fits
// Other devices get the family of those, with tiles of its own.
// CHECK: strategy <family = "cuda-gemm", groups = [1, 1], tiles = [128, 64], blocks = [384, 64, 4]
// CHECK-SAME: {kernel.generic = #kernel.strategy<family = "cuda-mma", groups = [1, 1], tiles = [64, 64], blocks = [128, 2, 32, 32, 32]
func.func @fits(%x: tensor<200x128xf16>, %w: tensor<128x192xf16>) -> tensor<200x192xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<200x192xf32> {
  ^bb0(%d: tensor<200x192xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<200x192xf32>) -> tensor<200x192xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<200x128xf16>, tensor<128x192xf16>) outs(%f : tensor<200x192xf32>) {
    ^bb0(%u: f16, %v: f16, %acc: f32):
      %s = arith.extf %u : f16 to f32
      %t = arith.extf %v : f16 to f32
      %m = arith.mulf %s, %t : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<200x192xf32>
    kernel.yield %p : tensor<200x192xf32>
  }
  return %0 : tensor<200x192xf32>
}

// Enough tiles for every multiprocessor: wide ones. bfloat16, and b stored by columns.
// CHECK-LABEL: func.func @large
// CHECK: strategy <family = "cuda-gemm", groups = [1, 1], tiles = [128, 256], blocks = [384, 256, 4]
func.func @large(%x: tensor<4096x1024xbf16>, %w: tensor<4096x1024xbf16>) -> tensor<4096x4096xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<4096x4096xf32> {
  ^bb0(%d: tensor<4096x4096xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %p = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) outs(%f : tensor<4096x4096xf32>) {
    ^bb0(%u: bf16, %v: bf16, %acc: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %m = arith.mulf %s, %t : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<4096x4096xf32>
    kernel.yield %p : tensor<4096x4096xf32>
  }
  return %0 : tensor<4096x4096xf32>
}

// Rows of 200 bytes; a number of rows that only the run knows; few rows; convolutions would be too many loops.
// CHECK-LABEL: func.func @misaligned
// CHECK: strategy <family = "cuda-mma", {{.*}}no cuda-gemm: rows of an operand do not begin at multiples of 16 bytes
func.func @misaligned(%x: tensor<200x100xf16>, %w: tensor<100x192xf16>) -> tensor<200x192xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<200x192xf32> {
  ^bb0(%d: tensor<200x192xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<200x192xf32>) -> tensor<200x192xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<200x100xf16>, tensor<100x192xf16>) outs(%f : tensor<200x192xf32>) {
    ^bb0(%u: f16, %v: f16, %acc: f32):
      %s = arith.extf %u : f16 to f32
      %t = arith.extf %v : f16 to f32
      %m = arith.mulf %s, %t : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<200x192xf32>
    kernel.yield %p : tensor<200x192xf32>
  }
  return %0 : tensor<200x192xf32>
}

// CHECK-LABEL: func.func @unknown
// CHECK: strategy <family = "cuda-mma", {{.*}}no cuda-gemm: a size is known to the run only
func.func @unknown(%x: tensor<?x128xf16>, %w: tensor<128x192xf16>, %n: index) -> tensor<?x192xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [%n] -> tensor<?x192xf32> {
  ^bb0(%d: tensor<?x192xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<?x192xf32>) -> tensor<?x192xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x128xf16>, tensor<128x192xf16>) outs(%f : tensor<?x192xf32>) {
    ^bb0(%u: f16, %v: f16, %acc: f32):
      %s = arith.extf %u : f16 to f32
      %t = arith.extf %v : f16 to f32
      %m = arith.mulf %s, %t : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<?x192xf32>
    kernel.yield %p : tensor<?x192xf32>
  }
  return %0 : tensor<?x192xf32>
}

// CHECK-LABEL: func.func @few
// CHECK: strategy <family = "cuda-mma", {{.*}}blocks = [128, 4, 16, 32, 32], {{.*}}no cuda-gemm: fewer than 16 rows
func.func @few(%x: tensor<4x128xf16>, %w: tensor<128x192xf16>) -> tensor<4x192xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<4x192xf32> {
  ^bb0(%d: tensor<4x192xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<4x192xf32>) -> tensor<4x192xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4x128xf16>, tensor<128x192xf16>) outs(%f : tensor<4x192xf32>) {
    ^bb0(%u: f16, %v: f16, %acc: f32):
      %s = arith.extf %u : f16 to f32
      %t = arith.extf %v : f16 to f32
      %m = arith.mulf %s, %t : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<4x192xf32>
    kernel.yield %p : tensor<4x192xf32>
  }
  return %0 : tensor<4x192xf32>
}

// Nothing narrows f32: no tensor cores.
// CHECK-LABEL: func.func @wide
// CHECK: strategy <family = "cuda-simt-gemm", {{.*}}no cuda-gemm: its factors are neither both f16 nor both bf16; no cuda-window: reads more than two tensors; no cuda-mma: its factors are neither
func.func @wide(%x: tensor<200x128xf32>, %w: tensor<128x192xf32>) -> tensor<200x192xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<200x192xf32> {
  ^bb0(%d: tensor<200x192xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<200x192xf32>) -> tensor<200x192xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<200x128xf32>, tensor<128x192xf32>) outs(%f : tensor<200x192xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<200x192xf32>
    kernel.yield %p : tensor<200x192xf32>
  }
  return %0 : tensor<200x192xf32>
}
