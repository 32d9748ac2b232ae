// RUN: optc-opt %s -split-input-file -optc-lower-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// Two vectors of the result at a time, single ones, then a part of one; every lane is a sum in the order of the rows. The
// mean is computed before anything is stored.
// CHECK-LABEL: func.func private @mean
// CHECK: scf.for
// CHECK: %[[S:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK: arith.addf %[[A]], %{{.*}} : vector<8xf32>
// CHECK: arith.addf %[[B]], %{{.*}} : vector<8xf32>
// CHECK: arith.divf %[[S]]#0
// CHECK: arith.divf %[[S]]#1
// CHECK: vector.store
// CHECK: vector.store
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: vector.reduction
// CHECK: return
func.func private @mean(%in: !llvm.ptr, %out: !llvm.ptr, %n: index, %m: index, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "columns", groups = [1], tiles = [64],
      blocks = [8, 2, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[%n, %m] : memref<?x?xf32>
  %x = bufferization.to_tensor %0 restrict : memref<?x?xf32> to tensor<?x?xf32>
  %1 = kernel.bind %out[%m] : memref<?xf32>
  %d = bufferization.to_tensor %1 restrict writable : memref<?xf32> to tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%2 : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.divf %a, %four : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %3 in restrict writable %1 : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// What is left of the columns is one byte, in whatever tile: a store with a mask would write four.
// CHECK-LABEL: func.func private @byte
// CHECK: vector.store %{{.*}} : memref<137xi8>, vector<8xi8>
// CHECK: %[[LAST:.*]] = vector.extract %{{.*}}[0] : i8 from vector<8xi8>
// CHECK: memref.store %[[LAST]], %{{.*}} : memref<137xi8>
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func private @byte(%in: !llvm.ptr, %out: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "columns", groups = [1], tiles = [64],
      blocks = [8, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[] : memref<4x137xf32>
  %x = bufferization.to_tensor %0 restrict : memref<4x137xf32> to tensor<4x137xf32>
  %1 = kernel.bind %out[] : memref<137xi8>
  %d = bufferization.to_tensor %1 restrict writable : memref<137xi8> to tensor<137xi8>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<137xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<137xf32>) -> tensor<137xf32>
  %2 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x137xf32>) outs(%f : tensor<137xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<137xf32>
  %3 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%2 : tensor<137xf32>) outs(%d : tensor<137xi8>) {
  ^bb0(%a: f32, %b: i8):
    %s = arith.fptosi %a : f32 to i8
    linalg.yield %s : i8
  } -> tensor<137xi8>
  bufferization.materialize_in_destination %3 in restrict writable %1 : (tensor<137xi8>, memref<137xi8>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// Negative: a strategy that names other loops than the op has.
// expected-error @below {{the columns family cannot emit kernel 'other': has other loops than its strategy names}}
func.func private @other(%in: !llvm.ptr, %out: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "columns", groups = [1], tiles = [64],
      blocks = [8, 2, 2], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[] : memref<4x16xf32>
  %x = bufferization.to_tensor %0 restrict : memref<4x16xf32> to tensor<4x16xf32>
  %1 = kernel.bind %out[] : memref<16xf32>
  %d = bufferization.to_tensor %1 restrict writable : memref<16xf32> to tensor<16xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<16xf32>) -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %2 in restrict writable %1 : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
