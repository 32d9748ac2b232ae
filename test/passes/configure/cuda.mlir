// RUN: optc-opt %s -split-input-file -optc-configure="opt-level=3 capability=90" | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-configure="opt-level=0 capability=90" | FileCheck %s --check-prefix=O0
// RUN: optc-opt %s -split-input-file -optc-configure="opt-level=3" | FileCheck %s --check-prefix=CPU

// Vectors of four floats, 16 bytes; at -O0 a thread per element.
// CHECK-LABEL: @elementwise
// CHECK: family = "cuda-elementwise", groups = [2], tiles = [1024], blocks = [256, 4]
// O0-LABEL: @elementwise
// O0: family = "cuda-loops", groups = [2], tiles = [128], blocks = [128, 0]
// CPU-LABEL: @elementwise
// CPU: family = "loops"
func.func @elementwise(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %r = kernel.dispatch "neg"[] -> tensor<4096x256xf32> {
  ^bb0(%d: tensor<4096x256xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4096x256xf32>) outs(%d : tensor<4096x256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %z = arith.negf %a : f32
      linalg.yield %z : f32
    } -> tensor<4096x256xf32>
    kernel.yield %0 : tensor<4096x256xf32>
  }
  return %r : tensor<4096x256xf32>
}

// -----

// Neighbours in the operand are neighbours along another loop: squares. One matrix of four to a tile.
// CHECK-LABEL: @transpose
// CHECK: family = "cuda-elementwise", groups = [1, 1, 1], tiles = [1, 32, 32], blocks = [256, 0]
func.func @transpose(%x: tensor<4x64x128xf32>) -> tensor<4x128x64xf32> {
  %r = kernel.dispatch "transpose"[] -> tensor<4x128x64xf32> {
  ^bb0(%d: tensor<4x128x64xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, j, i)>, affine_map<(n, i, j) -> (n, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<4x64x128xf32>) outs(%d : tensor<4x128x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x128x64xf32>
    kernel.yield %0 : tensor<4x128x64xf32>
  }
  return %r : tensor<4x128x64xf32>
}

// -----

// A warp per row of 512, four vectors of four each, written out.
// CHECK-LABEL: @rows
// CHECK: family = "cuda-rows", groups = [1], tiles = [4], blocks = [128, 32, 4, 4, 1, 1, 1]
func.func @rows(%x: tensor<4096x512xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %r = kernel.dispatch "sum"[] -> tensor<4096xf32> {
  ^bb0(%d: tensor<4096xf32>):
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4096xf32>) -> tensor<4096xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4096x512xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %z = arith.addf %acc, %a : f32
      linalg.yield %z : f32
    } -> tensor<4096xf32>
    kernel.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// -----

// A product: a constant stays a matrix, while the CPU reads it in panels.
// CHECK-LABEL: @product
// CHECK-NOT: kernel.pack
// CHECK: family = "cuda-simt-gemm", groups = [1, 1], tiles = [128, 128], blocks = [256, 16, 8, 8, 8]
// CPU-LABEL: @product
// CPU: kernel.pack
func.func @product(%x: tensor<4096x64xf32>) -> tensor<4096x1024xf32> {
  %w = arith.constant dense<1.0> : tensor<64x1024xf32>
  %zero = arith.constant 0.0 : f32
  %r = kernel.dispatch "matmul"[] -> tensor<4096x1024xf32> {
  ^bb0(%d: tensor<4096x1024xf32>):
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4096x64xf32>, tensor<64x1024xf32>) outs(%f : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %z = arith.addf %acc, %m : f32
      linalg.yield %z : f32
    } -> tensor<4096x1024xf32>
    kernel.yield %0 : tensor<4096x1024xf32>
  }
  return %r : tensor<4096x1024xf32>
}

// -----

// Strings are the host's.
// CHECK-LABEL: @strings
// CHECK: family = "loops", {{.*}}; strings live in the host's memory
func.func @strings(%x: tensor<8x!kernel.string>) -> tensor<8x!kernel.string> {
  %r = kernel.dispatch "copy"[] -> tensor<8x!kernel.string> {
  ^bb0(%d: tensor<8x!kernel.string>):
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<8x!kernel.string>) outs(%d : tensor<8x!kernel.string>) {
    ^bb0(%a: !kernel.string, %o: !kernel.string):
      linalg.yield %a : !kernel.string
    } -> tensor<8x!kernel.string>
    kernel.yield %0 : tensor<8x!kernel.string>
  }
  return %r : tensor<8x!kernel.string>
}
