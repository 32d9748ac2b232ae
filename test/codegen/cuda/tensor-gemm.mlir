// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Two tensor maps behind the buffers: a by boxes of 64 steps x 128 rows, b of 64 columns x 64 steps. Every stage is two
// boxes of 24576 bytes; 4 products of 16 steps each.
// CHECK-LABEL: gpu.module @device
// CHECK: func.func @product
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}
// CHECK-SAME: kernel.tensor_maps = [array<i64: 0, 10, 2, 3, 0, 128, 200, 0, 0, 0, 128, 0, 0, 0, 64, 128, 0, 0, 0>, array<i64: 1, 10, 2, 3, 0, 192, 128, 0, 0, 0, 192, 0, 0, 0, 64, 64, 0, 0, 0>]
// CHECK: %[[NOTHING:.*]] = llvm.mlir.poison : f32
// CHECK: optc.nv.mbarrier.init
// CHECK: nvvm.barrier0
// CHECK: optc.nv.setmaxnreg.dec
// CHECK: optc.nv.mbarrier.arrive.expect_tx(%{{.*}}, %c24576
// CHECK-COUNT-2: optc.nv.tma.load.2d
// CHECK: optc.nv.setmaxnreg.inc
// The first product of a tile overwrites the sums: nobody else writes them behind the fence.
// CHECK: scf.for %[[K:.*]] = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%{{.*}} = %[[NOTHING]]
// CHECK: optc.nv.wgmma.fence
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0_i32
// CHECK: %[[ADD:.*]] = arith.extui %[[LATER]] : i1 to i32
// CHECK: optc.nv.wgmma.m64n64k16.f32.f16{{.*}} %[[ADD]], %{{.*}}, %{{.*}})
// CHECK-COUNT-3: optc.nv.wgmma.m64n64k16.f32.f16{{.*}} %c1_i32, %{{.*}}, %{{.*}})
// CHECK-NOT: optc.nv.wgmma.m64
// CHECK: optc.nv.wgmma.wait(
// CHECK: optc.nv.wgmma.wait.n64
func.func private @product(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-gemm", groups = [1, 1], tiles = [128, 64], blocks = [384, 64, 4], scratch = 0, reason = "">} {
  %0 = kernel.bind %x[] : memref<200x128xf16>
  %1 = bufferization.to_tensor %0 restrict : memref<200x128xf16> to tensor<200x128xf16>
  %2 = kernel.bind %w[] : memref<128x192xf16>
  %3 = bufferization.to_tensor %2 restrict : memref<128x192xf16> to tensor<128x192xf16>
  %4 = kernel.bind %y[] : memref<200x192xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<200x192xf32> to tensor<200x192xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<200x192xf32>) -> tensor<200x192xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %3 : tensor<200x128xf16>, tensor<128x192xf16>) outs(%f : tensor<200x192xf32>) {
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

// A strategy that somebody else wrote.
// expected-error@+1 {{the cuda-gemm family cannot emit kernel 'blocks': its strategy has blocks of another family}}
func.func private @blocks(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-gemm", groups = [1, 1], tiles = [128, 64], blocks = [384, 100, 4], scratch = 0, reason = "">} {
  %4 = kernel.bind %y[] : memref<200x192xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<200x192xf32> to tensor<200x192xf32>
  bufferization.materialize_in_destination %5 in restrict writable %4 : (tensor<200x192xf32>, memref<200x192xf32>) -> ()
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// expected-error@+1 {{the cuda-gemm family cannot emit kernel 'misaligned': rows of an operand do not begin at multiples of 16 bytes}}
func.func private @misaligned(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-gemm", groups = [1, 1], tiles = [128, 64], blocks = [384, 64, 4], scratch = 0, reason = "">} {
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
