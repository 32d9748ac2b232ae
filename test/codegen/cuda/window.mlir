// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>

// Two positions of four channels share a column of elements: 2 x 3 accesses of 16 bytes instead of 2 x 4, and the weights. The sums are
// contracted, and a Relu is computed on them.
// CHECK-LABEL: func.func @depthwise
// CHECK: scf.for
// CHECK-COUNT-10: vector.load {{.*}} {alignment = 16 : i64} : memref<{{[0-9]+}}xf32>, vector<4xf32>
// CHECK-NOT: vector.load
// CHECK: arith.maximumf
// CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64}
// CHECK-NOT: vector.store
func.func private @depthwise(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-window", groups = [4], tiles = [256], blocks = [32, 4, 2], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<1x9x9x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<1x9x9x8xf32> to tensor<1x9x9x8xf32>
  %2 = kernel.bind %b[] : memref<2x2x8xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<2x2x8xf32> to tensor<2x2x8xf32>
  %4 = kernel.bind %c[] : memref<1x8x8x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<1x8x8x8xf32> to tensor<1x8x8x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%1, %3 : tensor<1x9x9x8xf32>, tensor<2x2x8xf32>) outs(%f : tensor<1x8x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %acc: f32):
    %m = arith.mulf %u, %v : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p : tensor<1x8x8x8xf32>) outs(%5 : tensor<1x8x8x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.maximumf %u, %z : f32
    linalg.yield %s : f32
  } -> tensor<1x8x8x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<1x8x8x8xf32>, memref<1x8x8x8xf32>) -> ()
  return
}

// -----

// A border that is not stored: a test per element, which is the start of a maximum where it fails.
#x = affine_map<(h, c, k) -> (h + k, c)>
#window = affine_map<(h, c, k) -> (k)>
#y = affine_map<(h, c, k) -> (h, c)>
// CHECK-LABEL: func.func @border
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK-COUNT-3: arith.cmpi ult
// CHECK-NOT: arith.cmpi ult
func.func private @border(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-window", groups = [2], tiles = [128], blocks = [32, 4, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<16x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<16x8xf32> to tensor<16x8xf32>
  %4 = kernel.bind %c[] : memref<16x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<16x8xf32> to tensor<16x8xf32>
  %z = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %q = kernel.padded %1 low [%c1, %c0] sizes [%c16, %c8] fill %z dims [] : f32, tensor<16x8xf32> to tensor<18x8xf32>
  %w = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %w : tensor<18x8xf32>, tensor<3xf32>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%u: f32, %v: f32, %acc: f32):
    %s = arith.maximumf %acc, %u : f32
    linalg.yield %s : f32
  } -> tensor<16x8xf32>
  bufferization.materialize_in_destination %p in restrict writable %4 : (tensor<16x8xf32>, memref<16x8xf32>) -> ()
  return
}

// -----

// Negative: positions of a thread that do not divide those of the result.
#x = affine_map<(h, c, k) -> (h + k, c)>
#window = affine_map<(h, c, k) -> (k)>
#y = affine_map<(h, c, k) -> (h, c)>
// expected-error @+1 {{the cuda-window family cannot emit kernel 'odd': its positions are no multiple of those of a thread}}
func.func private @odd(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-window", groups = [2], tiles = [128], blocks = [32, 4, 3], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<18x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<18x8xf32> to tensor<18x8xf32>
  %4 = kernel.bind %c[] : memref<16x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<16x8xf32> to tensor<16x8xf32>
  %z = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %w : tensor<18x8xf32>, tensor<3xf32>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%u: f32, %v: f32, %acc: f32):
    %s = arith.maximumf %acc, %u : f32
    linalg.yield %s : f32
  } -> tensor<16x8xf32>
  bufferization.materialize_in_destination %p in restrict writable %4 : (tensor<16x8xf32>, memref<16x8xf32>) -> ()
  return
}
