// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" | FileCheck %s
// RUN: optc-opt %s -optc-configure="vector-bits=512 vector-registers=32" | FileCheck %s --check-prefix=WIDE
// RUN: optc-opt %s -optc-configure="vector-bits=512 vector-registers=32 dot-depth=4" | FileCheck %s --check-prefix=QUADS
// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16 dot-depth=2" | FileCheck %s --check-prefix=PAIRS
// RUN: optc-opt %s -optc-configure=opt-level=0 | FileCheck %s --check-prefix=O0

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A constant is read in panels, packed outside; 6 x 16 registers of AVX2, 12 x 32 of AVX-512.
// CHECK-LABEL: func.func @constant
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} <outer = [], n = [1], k = [0], lanes = 16> : tensor<64x40xf32> to tensor<3x64x16xf32>
// CHECK: kernel.dispatch "p"[] strategy <family = "gemm", groups = [1, 1], {{.*}}blocks = [6, 8, 2, 1, 1]
// CHECK: kernel.packed %[[P]]
// WIDE-LABEL: func.func @constant
// WIDE: blocks = [12, 16, 2, 1, 1]
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
// CHECK: kernel.dispatch "transposed"[%{{.*}}] strategy <family = "gemm", {{.*}}blocks = [1, 8, 2, 6, 1]
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
// CHECK: kernel.dispatch "integers"{{.*}}{{.*}}no gemm: integers other than 8 and 16 bits
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

// Bytes go in groups of four steps of k, which the panels hold side by side: 63 steps fill 16. Instructions add up four
// products, or two; of unsigned columns two at most. Rows that are not contiguous along k go in single steps.
// QUADS-LABEL: func.func @bytes
// QUADS: kernel.pack %{{.*}} <outer = [], n = [1], k = [0], lanes = 32, depth = 4, run = 1> : tensor<63x40xi8> to tensor<2x16x128xi8>
// QUADS: kernel.dispatch "signed"{{.*}}blocks = [12, 16, 2, 1, 4]{{.*}}exact integers, 4 products at once
// QUADS: kernel.dispatch "unsigned"{{.*}}blocks = [12, 16, 2, 1, 2]
// QUADS: kernel.dispatch "scattered"{{.*}}blocks = [12, 16, 2, 1, 1]
// PAIRS-LABEL: func.func @bytes
// PAIRS: kernel.pack %{{.*}}depth = 4, run = 1> : tensor<63x40xi8> to tensor<3x16x64xi8>
// PAIRS: kernel.dispatch "signed"{{.*}}blocks = [4, 8, 2, 1, 2]
// CHECK-LABEL: func.func @bytes
// CHECK: kernel.dispatch "signed"{{.*}}blocks = [6, 8, 2, 1, 1]
func.func @bytes(%x: tensor<60x63xi8>, %t: tensor<63x60xi8>) -> (tensor<60x40xi32>, tensor<60x40xi32>, tensor<60x40xi32>) {
  %w = arith.constant dense<1> : tensor<63x40xi8>
  %z = arith.constant 0 : i32
  %0 = kernel.dispatch "signed" [] -> tensor<60x40xi32> {
  ^bb0(%d: tensor<60x40xi32>):
    %f = linalg.fill ins(%z : i32) outs(%d : tensor<60x40xi32>) -> tensor<60x40xi32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<60x63xi8>, tensor<63x40xi8>) outs(%f : tensor<60x40xi32>) {
    ^bb0(%u: i8, %v: i8, %acc: i32):
      %eu = arith.extui %u : i8 to i32
      %ev = arith.extsi %v : i8 to i32
      %m = arith.muli %eu, %ev : i32
      %s = arith.addi %acc, %m : i32
      linalg.yield %s : i32
    } -> tensor<60x40xi32>
    kernel.yield %p : tensor<60x40xi32>
  }
  %1 = kernel.dispatch "unsigned" [] -> tensor<60x40xi32> {
  ^bb0(%d: tensor<60x40xi32>):
    %f = linalg.fill ins(%z : i32) outs(%d : tensor<60x40xi32>) -> tensor<60x40xi32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<60x63xi8>, tensor<63x40xi8>) outs(%f : tensor<60x40xi32>) {
    ^bb0(%u: i8, %v: i8, %acc: i32):
      %eu = arith.extsi %u : i8 to i32
      %ev = arith.extui %v : i8 to i32
      %m = arith.muli %eu, %ev : i32
      %s = arith.addi %acc, %m : i32
      linalg.yield %s : i32
    } -> tensor<60x40xi32>
    kernel.yield %p : tensor<60x40xi32>
  }
  %2 = kernel.dispatch "scattered" [] -> tensor<60x40xi32> {
  ^bb0(%d: tensor<60x40xi32>):
    %f = linalg.fill ins(%z : i32) outs(%d : tensor<60x40xi32>) -> tensor<60x40xi32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t, %w : tensor<63x60xi8>, tensor<63x40xi8>) outs(%f : tensor<60x40xi32>) {
    ^bb0(%u: i8, %v: i8, %acc: i32):
      %eu = arith.extui %u : i8 to i32
      %ev = arith.extsi %v : i8 to i32
      %m = arith.muli %eu, %ev : i32
      %s = arith.addi %acc, %m : i32
      linalg.yield %s : i32
    } -> tensor<60x40xi32>
    kernel.yield %p : tensor<60x40xi32>
  }
  return %0, %1, %2 : tensor<60x40xi32>, tensor<60x40xi32>, tensor<60x40xi32>
}

// Weights in blocks: integers, scales and what they make have panels each.
// WIDE-LABEL: func.func @dequantized
// WIDE-DAG: kernel.pack %{{.*}} <outer = [], n = [2], k = [0, 1], lanes = 32> : tensor<2x32x40xi8> to tensor<2x64x32xi8>
// WIDE-DAG: kernel.pack %{{.*}} <outer = [], n = [1], k = [0], lanes = 32> : tensor<2x40xf32> to tensor<2x2x32xf32>
// WIDE: kernel.dispatch "weights"{{.*}}family = "gemm"{{.*}}dequantized when they are read
func.func @dequantized(%x: tensor<7x2x32xf32>) -> tensor<7x40xf32> {
  %w = arith.constant dense<1> : tensor<2x32x40xi8>
  %scale = arith.constant dense<0.5> : tensor<2x40xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "weights" [] -> tensor<7x40xf32> {
  ^bb0(%d: tensor<7x40xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<7x40xf32>) -> tensor<7x40xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, j, k) -> (m, j, k)>, affine_map<(m, n, j, k) -> (j, k, n)>,
                                          affine_map<(m, n, j, k) -> (j, n)>, affine_map<(m, n, j, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w, %scale : tensor<7x2x32xf32>, tensor<2x32x40xi8>, tensor<2x40xf32>) outs(%f : tensor<7x40xf32>) {
    ^bb0(%u: f32, %v: i8, %s: f32, %acc: f32):
      %e = arith.sitofp %v : i8 to f32
      %q = arith.mulf %e, %s : f32
      %m = arith.mulf %u, %q : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<7x40xf32>
    kernel.yield %p : tensor<7x40xf32>
  }
  return %0 : tensor<7x40xf32>
}

// 16-bit floats: both are widened as they are read. Rows that many columns read are widened once, ahead, and that serves all
// products that read them.
// WIDE-LABEL: func.func @narrow(
// WIDE-SAME: %[[X:[a-z0-9]+]]: tensor<60x64xbf16>
// WIDE: %[[A:.*]] = kernel.dispatch "widen"[] strategy <family = "loops"
// WIDE: arith.extf %{{.*}} : bf16 to f32
// WIDE-NOT: "widen"
// WIDE: kernel.pack %{{.*}} : tensor<64x256xbf16> to tensor<8x64x32xbf16>
// WIDE: kernel.dispatch "many"{{.*}}family = "gemm"{{.*}}the first widened ahead
// WIDE: ins(%[[A]], %{{.*}} : tensor<60x64xf32>, tensor<64x256xbf16>)
// WIDE-NEXT: ^bb0(%[[U:.*]]: f32, %[[V:.*]]: bf16, %{{.*}}: f32):
// WIDE-NEXT: %[[W:.*]] = arith.extf %[[V]]
// WIDE-NEXT: arith.mulf %[[U]], %[[W]]
// WIDE: kernel.dispatch "again"{{.*}}the first widened ahead
// WIDE: ins(%[[A]],
// WIDE: kernel.dispatch "few"{{.*}}family = "gemm"{{.*}}reason = "product with a constant, packed in panels"
// WIDE: ins(%[[X]],
func.func @narrow(%x: tensor<60x64xbf16>) -> (tensor<60x256xf32>, tensor<60x256xf32>, tensor<60x40xf32>) {
  %w = arith.constant dense<1.0> : tensor<64x256xbf16>
  %v = arith.constant dense<1.0> : tensor<64x40xbf16>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "many" [] -> tensor<60x256xf32> {
  ^bb0(%d: tensor<60x256xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<60x256xf32>) -> tensor<60x256xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<60x64xbf16>, tensor<64x256xbf16>) outs(%f : tensor<60x256xf32>) {
    ^bb0(%u: bf16, %y: bf16, %acc: f32):
      %eu = arith.extf %u : bf16 to f32
      %ey = arith.extf %y : bf16 to f32
      %m = arith.mulf %eu, %ey : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<60x256xf32>
    kernel.yield %p : tensor<60x256xf32>
  }
  %1 = kernel.dispatch "again" [] -> tensor<60x256xf32> {
  ^bb0(%d: tensor<60x256xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<60x256xf32>) -> tensor<60x256xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<60x64xbf16>, tensor<64x256xbf16>) outs(%f : tensor<60x256xf32>) {
    ^bb0(%u: bf16, %y: bf16, %acc: f32):
      %eu = arith.extf %u : bf16 to f32
      %ey = arith.extf %y : bf16 to f32
      %m = arith.mulf %ey, %eu : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<60x256xf32>
    kernel.yield %p : tensor<60x256xf32>
  }
  %2 = kernel.dispatch "few" [] -> tensor<60x40xf32> {
  ^bb0(%d: tensor<60x40xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<60x40xf32>) -> tensor<60x40xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %v : tensor<60x64xbf16>, tensor<64x40xbf16>) outs(%f : tensor<60x40xf32>) {
    ^bb0(%u: bf16, %y: bf16, %acc: f32):
      %eu = arith.extf %u : bf16 to f32
      %ey = arith.extf %y : bf16 to f32
      %m = arith.mulf %eu, %ey : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<60x40xf32>
    kernel.yield %p : tensor<60x40xf32>
  }
  return %0, %1, %2 : tensor<60x256xf32>, tensor<60x256xf32>, tensor<60x40xf32>
}
