// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

// Vectors of four elements: one access of 16 bytes for what lies as the result does, one element for what stays.
// CHECK-LABEL: gpu.module @device
// CHECK: func.func @add(%{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias}) attributes
// CHECK-SAME: kernel.shared_bytes = 0
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
// CHECK: memref.load
// CHECK-COUNT-4: arith.addf
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
func.func private @add(%a: !llvm.ptr {llvm.noalias, llvm.readonly}, %s: !llvm.ptr {llvm.noalias, llvm.readonly}, %c: !llvm.ptr {llvm.noalias}, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-elementwise", groups = [2], tiles = [1024], blocks = [256, 4], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<64x64xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<64x64xf32> to tensor<64x64xf32>
  %2 = kernel.bind %s[] : memref<64xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<64xf32> to tensor<64xf32>
  %4 = kernel.bind %c[] : memref<64x64xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64x64xf32> to tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%1, %3 : tensor<64x64xf32>, tensor<64xf32>) outs(%5 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<64x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// -----

// A run-time size: the last vector may be shorter, and goes element by element. Scalars arrive as 64 bits.
// CHECK: func.func @neg(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %[[S:.*]]: i64)
// CHECK: arith.trunci %[[S]] : i64 to i32
// CHECK: scf.if
// CHECK: vector.load
// CHECK: } else {
// CHECK: scf.for
// CHECK: memref.load
func.func private @neg(%a: !llvm.ptr, %c: !llvm.ptr, %n: index, %s: f32, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [512], blocks = [128, 4], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[%n] : memref<?xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<?xf32> to tensor<?xf32>
  %4 = kernel.bind %c[%n] : memref<?xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<?xf32> to tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%1 : tensor<?xf32>) outs(%5 : tensor<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.subf %s, %x : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// Negative: rows of six elements would cut vectors of four.
// expected-error @below {{the cuda-elementwise family cannot emit kernel 'cut': vectors of 4 elements would be cut by its rows}}
func.func private @cut(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-elementwise", groups = [2], tiles = [512], blocks = [128, 4], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<6xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<6xf32> to tensor<6xf32>
  %4 = kernel.bind %c[] : memref<8x6xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<8x6xf32> to tensor<8x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<6xf32>) outs(%5 : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x6xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<8x6xf32>, memref<8x6xf32>) -> ()
  return
}

// -----

// Negative: blocks of another family.
// expected-error @below {{its strategy has blocks of another family}}
func.func private @blocks(%c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [512], blocks = [100, 3], scratch = 0, reason = "">} {
  %4 = kernel.bind %c[] : memref<8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<8xf32> to tensor<8xf32>
  bufferization.materialize_in_destination %5 in restrict writable %4 : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
