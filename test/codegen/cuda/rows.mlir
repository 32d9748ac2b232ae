// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

// A warp per row of 128: one vector of four per thread, read once; five exchanges; no shared memory.
// CHECK-LABEL: gpu.module @device
// CHECK: func.func @total
// CHECK-SAME: kernel.shared_bytes = 0
// CHECK-COUNT-1: vector.load {{.*}} {alignment = 16 : i64}
// CHECK-NOT: vector.load
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl
// CHECK-NOT: nvvm.barrier
// CHECK: vector.store {{.*}} {alignment = 16 : i64}
func.func private @total(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-rows", groups = [1], tiles = [4], blocks = [128, 32, 4, 1, 1, 1, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<64x128xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<64x128xf32> to tensor<64x128xf32>
  %4 = kernel.bind %c[] : memref<64x128xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64x128xf32> to tensor<64x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %z = arith.addf %acc, %x : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%1, %s : tensor<64x128xf32>, tensor<64xf32>) outs(%5 : tensor<64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<64x128xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}

// -----

// A block per row of run-time length: a loop, then shuffles, then a value per warp in shared memory.
// CHECK: func.func @long
// CHECK-SAME: kernel.shared_bytes = 32
// CHECK: scf.for
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier0
// CHECK: memref.store {{.*}} : memref<8xf32, 3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-8: memref.load {{.*}} : memref<8xf32, 3>
func.func private @long(%a: !llvm.ptr, %c: !llvm.ptr, %n: index, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-rows", groups = [1], tiles = [1], blocks = [256, 256, 1, 0, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[%n] : memref<64x?xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<64x?xf32> to tensor<64x?xf32>
  %4 = kernel.bind %c[] : memref<64xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64xf32> to tensor<64xf32>
  %zero = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%zero : f32) outs(%5 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<64x?xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %z = arith.maximumf %acc, %x : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in restrict writable %4 : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Negative: vectors of four columns, but rows of 130.
// expected-error @below {{the cuda-rows family cannot emit kernel 'cut': vectors of 4 elements would be cut by its columns}}
func.func private @cut(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-rows", groups = [1], tiles = [4], blocks = [128, 32, 4, 2, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<64x130xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<64x130xf32> to tensor<64x130xf32>
  %4 = kernel.bind %c[] : memref<64xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64xf32> to tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%5 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<64x130xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %z = arith.addf %acc, %x : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %s in restrict writable %4 : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
