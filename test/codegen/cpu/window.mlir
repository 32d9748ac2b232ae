// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" -optc-plan -optc-lower-kernels=opt-level=3 -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" -optc-plan -optc-lower-kernels=opt-level=2 -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=O2

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (c, kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#channel = affine_map<(a, b, c, d) -> (d)>

// A tile of 2 x 4 windows of 3 x 3 lies over 4 x 6 elements, each loaded once: 24 loads, and one for each of 9 weights.
// 20 channels are three vectors, the last one over some that the one before computed. The epilogue is on vectors.
// CHECK-LABEL: func.func private @k0_dw
// CHECK: arith.minsi
// CHECK-COUNT-33: vector.load
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: arith.addf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: vector.load
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK-COUNT-8: vector.store
// CHECK-NOT: vector.load
// CHECK-NOT: linalg
// CHECK: return
// O2-LABEL: func.func private @k0_dw
// O2-NOT: fastmath
func.func @main(%x: tensor<1x10x10x20xf32>, %b: tensor<20xf32>) -> tensor<1x8x8x20xf32> {
  %k = arith.constant dense<1.0> : tensor<20x3x3xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "dw" [] -> tensor<1x8x8x20xf32> {
  ^bb0(%d: tensor<1x8x8x20xf32>):
    %e = tensor.empty() : tensor<1x8x8x20xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x20xf32>) -> tensor<1x8x8x20xf32>
    %p = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %k : tensor<1x10x10x20xf32>, tensor<20x3x3xf32>) outs(%f : tensor<1x8x8x20xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x8x8x20xf32>
    %r = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%p, %b : tensor<1x8x8x20xf32>, tensor<20xf32>) outs(%d : tensor<1x8x8x20xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %s = arith.addf %u, %v : f32
      %m = arith.maximumf %s, %z : f32
      linalg.yield %m : f32
    } -> tensor<1x8x8x20xf32>
    kernel.yield %r : tensor<1x8x8x20xf32>
  }
  return %0 : tensor<1x8x8x20xf32>
}

// -----

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>

// Large windows have loops: here over kh, with kw written out. The epilogue asks for the row, one number for all
// channels.
// CHECK-LABEL: func.func private @k0_average
// CHECK: scf.for {{.*}} -> (vector<8xf32>
// CHECK: arith.sitofp {{.*}} : i64 to f32
// CHECK: arith.divf {{.*}} : vector<8xf32>
func.func @main(%x: tensor<1x20x20x16xf32>) -> tensor<1x12x12x16xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "average" [] -> tensor<1x12x12x16xf32> {
  ^bb0(%d: tensor<1x12x12x16xf32>):
    %size = tensor.empty() : tensor<9x9xi8>
    %e = tensor.empty() : tensor<1x12x12x16xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x12x12x16xf32>) -> tensor<1x12x12x16xf32>
    %p = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %size : tensor<1x20x20x16xf32>, tensor<9x9xi8>) outs(%f : tensor<1x12x12x16xf32>) {
    ^bb0(%u: f32, %v: i8, %acc: f32):
      %s = arith.addf %acc, %u : f32
      linalg.yield %s : f32
    } -> tensor<1x12x12x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%p : tensor<1x12x12x16xf32>) outs(%d : tensor<1x12x12x16xf32>) {
    ^bb0(%u: f32, %o: f32):
      %i = linalg.index 1 : index
      %l = arith.index_cast %i : index to i64
      %c = arith.sitofp %l : i64 to f32
      %q = arith.divf %u, %c : f32
      linalg.yield %q : f32
    } -> tensor<1x12x12x16xf32>
    kernel.yield %r : tensor<1x12x12x16xf32>
  }
  return %0 : tensor<1x12x12x16xf32>
}

// -----

#x = affine_map<(n, w, c, k) -> (n, w + k, c)>
#k = affine_map<(n, w, c, k) -> (k)>
#y = affine_map<(n, w, c, k) -> (n, w, c)>

// A border that memory does not hold: tiles inside load, those that touch it load by masks, at the nearest address.
// CHECK-LABEL: func.func private @border
// CHECK: scf.if %{{.*}} {
// CHECK: vector.load
// CHECK: } else {
// CHECK: arith.cmpi ult
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: vector.maskedload {{.*}} into vector<8xf32>
func.func private @border(%x: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "window", groups = [1, 1], tiles = [1, 16], blocks = [8, 1, 1, 4, 0], scratch = 0, reason = "">} {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %0 = kernel.bind %x[] : memref<1x16x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<1x16x8xf32> to tensor<1x16x8xf32>
  %4 = kernel.bind %c[] : memref<1x16x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<1x16x8xf32> to tensor<1x16x8xf32>
  %p = kernel.padded %1 low [%c0, %c1, %c0] sizes [%c1, %c16, %c8] fill %z dims [] : f32, tensor<1x16x8xf32> to tensor<1x18x8xf32>
  %size = tensor.empty() : tensor<3xi8>
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %size : tensor<1x18x8xf32>, tensor<3xi8>) outs(%f : tensor<1x16x8xf32>) {
  ^bb0(%u: f32, %v: i8, %acc: f32):
    %s = arith.addf %acc, %u : f32
    linalg.yield %s : f32
  } -> tensor<1x16x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<1x16x8xf32>, memref<1x16x8xf32>) -> ()
  return
}

// -----

#x = affine_map<(n, w, c, k) -> (n, w + k, c)>
#k = affine_map<(n, w, c, k) -> (k)>
#y = affine_map<(n, w, c, k) -> (n, w, c)>

// Vectors of 128 bits have no masked loads: the test is a branch.
// CHECK-LABEL: func.func private @narrow
// CHECK-NOT: vector.maskedload
// CHECK: scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK: vector.load
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func private @narrow(%x: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "window", groups = [1, 1], tiles = [1, 16], blocks = [4, 1, 1, 4, 0], scratch = 0, reason = "">} {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %0 = kernel.bind %x[] : memref<1x16x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<1x16x8xf32> to tensor<1x16x8xf32>
  %4 = kernel.bind %c[] : memref<1x16x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<1x16x8xf32> to tensor<1x16x8xf32>
  %p = kernel.padded %1 low [%c0, %c1, %c0] sizes [%c1, %c16, %c8] fill %z dims [] : f32, tensor<1x16x8xf32> to tensor<1x18x8xf32>
  %size = tensor.empty() : tensor<3xi8>
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %size : tensor<1x18x8xf32>, tensor<3xi8>) outs(%f : tensor<1x16x8xf32>) {
  ^bb0(%u: f32, %v: i8, %acc: f32):
    %s = arith.addf %acc, %u : f32
    linalg.yield %s : f32
  } -> tensor<1x16x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<1x16x8xf32>, memref<1x16x8xf32>) -> ()
  return
}

// -----

#x = affine_map<(n, w, c, k) -> (n, w + k, c)>
#k = affine_map<(n, w, c, k) -> (k)>
#y = affine_map<(n, w, c, k) -> (n, w, c)>

// Negative: vectors that are longer than the channels would run over their end.
func.func private @lanes(%x: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "window", groups = [1, 1], tiles = [1, 16], blocks = [8, 2, 1, 4, 0], scratch = 0, reason = "">} {
  %z = arith.constant 0.0 : f32
  %0 = kernel.bind %x[] : memref<1x18x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<1x18x8xf32> to tensor<1x18x8xf32>
  %4 = kernel.bind %c[] : memref<1x16x8xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<1x16x8xf32> to tensor<1x16x8xf32>
  %size = tensor.empty() : tensor<3xi8>
  %f = linalg.fill ins(%z : f32) outs(%5 : tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  // expected-error @below {{the window family cannot emit kernel 'lanes': there are fewer lanes than the vectors have}}
  %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%1, %size : tensor<1x18x8xf32>, tensor<3xi8>) outs(%f : tensor<1x16x8xf32>) {
  ^bb0(%u: f32, %v: i8, %acc: f32):
    %s = arith.addf %acc, %u : f32
    linalg.yield %s : f32
  } -> tensor<1x16x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<1x16x8xf32>, memref<1x16x8xf32>) -> ()
  return
}
