// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-plan -optc-lower-device-kernels -canonicalize | FileCheck %s --check-prefix=CODE

// The parts of a concatenation begin 0 and 32 bytes into rows of 44 bytes; a kernel knows the alignment of what it gets.
#four = #kernel.strategy<family = "cuda-loops", groups = [2], tiles = [128], blocks = [128, 0], scratch = 0, reason = "">
// CHECK-LABEL: func.func private @k0_neg
// CHECK-SAME: (%{{[^:]*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{[^:]*}}: !llvm.ptr {llvm.noalias}, %
// CHECK-LABEL: func.func private @k1_neg
// CHECK-SAME: (%{{[^:]*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{[^:]*}}: !llvm.ptr {llvm.align = 32 : i64, llvm.noalias}, %
// An element of the part is not where an element of a whole tensor would be.
// CODE: gpu.module @device
// CODE: func.func @k0_neg
// CODE: %[[C11:.*]] = arith.constant 11 : index
// CODE: arith.muli %{{.*}}, %[[C11]]
// CODE: memref.store
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x3xf32>) -> tensor<4x11xf32> {
  %a = kernel.dispatch "neg" [] strategy #four {stored_in = [tensor<4x11xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%u: f32, %o: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %b = kernel.dispatch "neg" [] strategy #four {stored_in = [tensor<4x11xf32>]} -> tensor<4x3xf32> {
  ^bb0(%d: tensor<4x3xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<4x3xf32>) outs(%d : tensor<4x3xf32>) {
    ^bb0(%u: f32, %o: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<4x3xf32>
    kernel.yield %r : tensor<4x3xf32>
  }
  %c = tensor.concat dim(1) %a, %b : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  return %c : tensor<4x11xf32>
}

// -----

// A slice from column 4 on of rows of 24 bytes: the first one begins 16 bytes into the tensor.
#four = #kernel.strategy<family = "cuda-loops", groups = [2], tiles = [128], blocks = [128, 0], scratch = 0, reason = "">
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func private @k0_neg
// CHECK-SAME: (%{{[^:]*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK: kernel.bind %{{.*}}[] stored [8, 6] : memref<8x2xf32, strided<[6, 1]>>
func.func @main(%x: tensor<8x6xf32>) -> tensor<8x2xf32> {
  %s = tensor.extract_slice %x[0, 4] [8, 2] [1, 1] : tensor<8x6xf32> to tensor<8x2xf32>
  %a = kernel.dispatch "neg" [] strategy #four -> tensor<8x2xf32> {
  ^bb0(%d: tensor<8x2xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x2xf32>) outs(%d : tensor<8x2xf32>) {
    ^bb0(%u: f32, %o: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<8x2xf32>
    kernel.yield %r : tensor<8x2xf32>
  }
  return %a : tensor<8x2xf32>
}
