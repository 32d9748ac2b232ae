// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

// 64 x 64 x 16 tiles in shared memory; the next ones are loaded while the sums of these are computed. The bias is added
// to the sums.
// CHECK-LABEL: gpu.module @device
// CHECK: llvm.mlir.global external @optc_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: func.func @matmul
// CHECK-SAME: kernel.shared_bytes = 8704
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<{{.*}}xf32>, vector<4xf32>
// CHECK: scf.for
// CHECK: vector.store {{.*}} : memref<1088xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: vector.load {{.*}} : memref<{{[0-9]*}}xf32>, vector<4xf32>
// CHECK: vector.load {{.*}} : memref<1088xf32, 3>, vector<4xf32>
// CHECK-COUNT-256: arith.mulf {{.*}} fastmath<contract>
// CHECK-NOT: arith.mulf
// CHECK: nvvm.barrier0
// CHECK: scf.yield
// CHECK: arith.addf
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<65536xf32>, vector<4xf32>
func.func private @matmul(%a: !llvm.ptr, %b: !llvm.ptr, %s: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 4 : i64, kernel.strategy = #kernel.strategy<family = "cuda-simt-gemm", groups = [1, 1], tiles = [64, 64], blocks = [256, 16, 4, 4, 16], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<256x128xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<256x128xf32> to tensor<256x128xf32>
  %2 = kernel.bind %b[] : memref<128x256xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<128x256xf32> to tensor<128x256xf32>
  %6 = kernel.bind %s[] : memref<256xf32>
  %7 = bufferization.to_tensor %6 restrict : memref<256xf32> to tensor<256xf32>
  %4 = kernel.bind %c[] : memref<256x256xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<256x256xf32> to tensor<256x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %3 : tensor<256x128xf32>, tensor<128x256xf32>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %z = arith.addf %acc, %m : f32
    linalg.yield %z : f32
  } -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %7 : tensor<256x256xf32>, tensor<256xf32>) outs(%5 : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<256x256xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<256x256xf32>, memref<256x256xf32>) -> ()
  return
}

// -----

// Negative: a kernel without a product.
// expected-error @below {{the cuda-simt-gemm family cannot emit kernel 'copy': it has no product}}
func.func private @copy(%c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-simt-gemm", groups = [1], tiles = [64], blocks = [256, 16, 4, 4, 16], scratch = 0, reason = "">} {
  %4 = kernel.bind %c[] : memref<8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<8xf32> to tensor<8xf32>
  bufferization.materialize_in_destination %5 in restrict writable %4 : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
