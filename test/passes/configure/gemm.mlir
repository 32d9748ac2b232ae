// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" | FileCheck %s
// RUN: optc-opt %s -optc-configure="vector-bits=512 vector-registers=32" | FileCheck %s --check-prefix=WIDE
// RUN: optc-opt %s -optc-configure=opt-level=0 | FileCheck %s --check-prefix=O0

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A constant is read in panels, packed outside; 6 x 16 registers of AVX2, 12 x 32 of AVX-512.
// CHECK-LABEL: func.func @constant
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} <outer = [], n = [1], k = [0], lanes = 16> : tensor<64x40xf32> to tensor<3x64x16xf32>
// CHECK: kernel.dispatch "p"[] strategy <family = "gemm", groups = [1, 1], {{.*}}blocks = [6, 8, 2, 1]
// CHECK: kernel.packed %[[P]]
// WIDE-LABEL: func.func @constant
// WIDE: blocks = [12, 16, 2, 1]
// O0-LABEL: func.func @constant
// O0: strategy <family = "loops"
func.func @constant(%x: tensor<60x64xf32>) -> tensor<60x40xf32> {
  %w = arith.constant dense<1.0> : tensor<64x40xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<60x40xf32> {
  ^bb0(%d: tensor<60x40xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<60x40xf32>) -> tensor<60x40xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<60x64xf32>, tensor<64x40xf32>) outs(%f : tensor<60x40xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<60x40xf32>
    kernel.yield %p : tensor<60x40xf32>
  }
  return %0 : tensor<60x40xf32>
}

// A second operand of the run: as it is when its columns are contiguous, else packed by a dispatch of its own. One row
// takes several panels at once.
// CHECK-LABEL: func.func @run_time
// CHECK-NOT: kernel.pack
// CHECK: kernel.dispatch "plain"[%{{.*}}] strategy <family = "gemm"
// CHECK: kernel.dispatch "pack"[%{{.*}}] strategy <family = "pack", groups = [1], tiles = [1], blocks = [8]
// CHECK: kernel.pack %{{.*}} <outer = [], n = [0], k = [1], lanes = 16> : tensor<?x64xf32> to tensor<?x64x16xf32>
// CHECK: kernel.dispatch "transposed"[%{{.*}}] strategy <family = "gemm", {{.*}}blocks = [1, 8, 2, 6]
func.func @run_time(%x: tensor<1x64xf32>, %y: tensor<64x?xf32>, %t: tensor<?x64xf32>, %n: index)
    -> (tensor<1x?xf32>, tensor<1x?xf32>) {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "plain" [%n] -> tensor<1x?xf32> {
  ^bb0(%d: tensor<1x?xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x?xf32>) -> tensor<1x?xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<1x64xf32>, tensor<64x?xf32>) outs(%f : tensor<1x?xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x?xf32>
    kernel.yield %p : tensor<1x?xf32>
  }
  %1 = kernel.dispatch "transposed" [%n] -> tensor<1x?xf32> {
  ^bb0(%d: tensor<1x?xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x?xf32>) -> tensor<1x?xf32>
    %p = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %t : tensor<1x64xf32>, tensor<?x64xf32>) outs(%f : tensor<1x?xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x?xf32>
    kernel.yield %p : tensor<1x?xf32>
  }
  return %0, %1 : tensor<1x?xf32>, tensor<1x?xf32>
}

// Negative: what is not a product from zero goes to another family, with the reason.
// CHECK-LABEL: func.func @others
// CHECK: kernel.dispatch "maximum"{{.*}}{{.*}}no gemm: does more than multiply and add
// CHECK: kernel.dispatch "integers"{{.*}}{{.*}}no gemm: not f32 or f64
func.func @others(%x: tensor<4x4xf32>, %i: tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  %0 = kernel.dispatch "maximum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.maximumf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %p : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "integers" [] -> tensor<4x4xi32> {
  ^bb0(%d: tensor<4x4xi32>):
    %f = linalg.fill ins(%zi : i32) outs(%d : tensor<4x4xi32>) -> tensor<4x4xi32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%i, %i : tensor<4x4xi32>, tensor<4x4xi32>) outs(%f : tensor<4x4xi32>) {
    ^bb0(%u: i32, %v: i32, %acc: i32):
      %m = arith.muli %u, %v : i32
      %s = arith.addi %acc, %m : i32
      linalg.yield %s : i32
    } -> tensor<4x4xi32>
    kernel.yield %p : tensor<4x4xi32>
  }
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xi32>
}
