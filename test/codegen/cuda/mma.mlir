// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Rows of 200 bytes of a: 8 bytes at a time. b has its columns side by side (a multiple of 16 bytes), and its fragments are
// transposed when they are loaded. 2 steps of 16, 2 x 4 products each.
// CHECK-LABEL: gpu.module @device
// CHECK: func.func @product
// CHECK: optc.nv.cp.async.8.zfill
// CHECK: optc.nv.cp.async.16.zfill
// CHECK: optc.nv.cp.async.commit
// CHECK: scf.for
// CHECK: optc.nv.cp.async.wait(%c1
// CHECK: optc.nv.ldmatrix.x4(
// CHECK: optc.nv.ldmatrix.x4.trans(
// CHECK-COUNT-16: optc.nv.mma.m16n8k16.f32.f16
// CHECK-NOT: optc.nv.mma
func.func private @product(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-mma", groups = [1, 1], tiles = [64, 64], blocks = [128, 2, 32, 32, 32], scratch = 0, reason = "">} {
  %0 = kernel.bind %x[] : memref<200x100xf16>
  %1 = bufferization.to_tensor %0 restrict : memref<200x100xf16> to tensor<200x100xf16>
  %2 = kernel.bind %w[] : memref<100x192xf16>
  %3 = bufferization.to_tensor %2 restrict : memref<100x192xf16> to tensor<100x192xf16>
  %4 = kernel.bind %y[] : memref<200x192xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<200x192xf32> to tensor<200x192xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<200x192xf32>) -> tensor<200x192xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %3 : tensor<200x100xf16>, tensor<100x192xf16>) outs(%f : tensor<200x192xf32>) {
  ^bb0(%u: f16, %v: f16, %acc: f32):
    %s = arith.extf %u : f16 to f32
    %t = arith.extf %v : f16 to f32
    %m = arith.mulf %s, %t : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<200x192xf32>
  bufferization.materialize_in_destination %p in restrict writable %4 : (tensor<200x192xf32>, memref<200x192xf32>) -> ()
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// expected-error@+1 {{the cuda-mma family cannot emit kernel 'wide': its factors are neither both f16 nor both bf16}}
func.func private @wide(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-mma", groups = [1, 1], tiles = [64, 64], blocks = [128, 2, 32, 32, 32], scratch = 0, reason = "">} {
  %0 = kernel.bind %x[] : memref<200x100xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<200x100xf32> to tensor<200x100xf32>
  %2 = kernel.bind %w[] : memref<100x192xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<100x192xf32> to tensor<100x192xf32>
  %4 = kernel.bind %y[] : memref<200x192xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<200x192xf32> to tensor<200x192xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<200x192xf32>) -> tensor<200x192xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %3 : tensor<200x100xf32>, tensor<100x192xf32>) outs(%f : tensor<200x192xf32>) {
  ^bb0(%u: f32, %v: f32, %acc: f32):
    %m = arith.mulf %u, %v : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<200x192xf32>
  bufferization.materialize_in_destination %p in restrict writable %4 : (tensor<200x192xf32>, memref<200x192xf32>) -> ()
  return
}
