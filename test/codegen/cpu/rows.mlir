// RUN: optc-opt %s -split-input-file -optc-lower-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-lower-kernels=opt-level=2 -canonicalize -cse -verify-diagnostics | FileCheck %s --check-prefix=ORDER

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// exp(x) and its sum: four vectors at a time, single vectors, then a part of one; the exponential is kept in the row
// of the result. Below -O3 the sum is one chain in the order of the elements.
// CHECK-LABEL: func.func private @chain
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: %[[S:.*]]:4 = scf.for {{.*}} iter_args
// CHECK-COUNT-4: math.exp %{{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: math.exp
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: vector.extract_strided_slice
// CHECK: %[[SUM:.*]] = vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK-NOT: math.exp
// CHECK: vector.broadcast %[[SUM]]
// CHECK: arith.divf
// CHECK: vector.store
// CHECK: return
// ORDER-LABEL: func.func private @chain
// ORDER: %[[S:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32)
// ORDER: vector.reduction <add>, %{{.*}}, %[[ACC]] : vector<8xf32> into f32
func.func private @chain(%in: !llvm.ptr, %out: !llvm.ptr, %n: index, %m: index, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "rows", groups = [1], tiles = [2],
      blocks = [8, 4, 1, 1, 1, 1, 1, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[%n, %m] : memref<?x?xf32>
  %x = bufferization.to_tensor %0 restrict : memref<?x?xf32> to tensor<?x?xf32>
  %1 = kernel.bind %out[%n, %m] : memref<?x?xf32>
  %d = bufferization.to_tensor %1 restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %3 : tensor<?x?xf32>, tensor<?xf32>) outs(%d : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %4 in restrict writable %1 : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Without a result to keep it in, a short row is kept on the stack. The largest element is the same in any order.
// CHECK-LABEL: func.func private @stack
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<24xf32>
// CHECK: scf.for
// CHECK-COUNT-3: math.exp %{{.*}} : vector<8xf32>
// CHECK-NOT: math.exp
// ORDER-LABEL: func.func private @stack
// ORDER: arith.maximumf %{{.*}} : vector<8xf32>
func.func private @stack(%in: !llvm.ptr, %out: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "rows", groups = [1], tiles = [2],
      blocks = [8, 4, 1, 1, 1, 1, 1, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[] : memref<4x24xf32>
  %x = bufferization.to_tensor %0 restrict : memref<4x24xf32> to tensor<4x24xf32>
  %1 = kernel.bind %out[] : memref<4xf32>
  %d = bufferization.to_tensor %1 restrict writable : memref<4xf32> to tensor<4xf32>
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x24xf32>
  %r = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x24xf32>
  %f = linalg.fill ins(%low : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<4x24xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %g = linalg.fill ins(%low : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  %4 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%2, %3 : tensor<4x24xf32>, tensor<4xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %t = arith.maximumf %c, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %4 in restrict writable %1 : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What is left of a row is one byte: a store with a mask would write four.
// CHECK-LABEL: func.func private @byte
// CHECK: vector.store %{{.*}} : memref<68xi8>, vector<8xi8>
// CHECK: %[[LAST:.*]] = vector.extract %{{.*}}[0] : i8 from vector<8xi8>
// CHECK: memref.store %[[LAST]], %{{.*}} : memref<68xi8>
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func private @byte(%in: !llvm.ptr, %out: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "rows", groups = [1], tiles = [2],
      blocks = [8, 1, 1, 1, 1, 1, 1, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[] : memref<4x17xf32>
  %x = bufferization.to_tensor %0 restrict : memref<4x17xf32> to tensor<4x17xf32>
  %1 = kernel.bind %out[] : memref<4x17xi8>
  %d = bufferization.to_tensor %1 restrict writable : memref<4x17xi8> to tensor<4x17xi8>
  %low = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%low : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x17xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %2 : tensor<4x17xf32>, tensor<4xf32>) outs(%d : tensor<4x17xi8>) {
  ^bb0(%a: f32, %b: f32, %c: i8):
    %s = arith.subf %a, %b : f32
    %t = arith.fptosi %s : f32 to i8
    linalg.yield %t : i8
  } -> tensor<4x17xi8>
  bufferization.materialize_in_destination %3 in restrict writable %1 : (tensor<4x17xi8>, memref<4x17xi8>) -> ()
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Negative: a strategy that names other loops than the ops have.
// expected-error @below {{the rows family cannot emit kernel 'other': has other loops than its strategy names}}
func.func private @other(%in: !llvm.ptr, %out: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "rows", groups = [1], tiles = [2],
      blocks = [8, 4, 1, 1, 2, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %in[] : memref<4x24xf32>
  %x = bufferization.to_tensor %0 restrict : memref<4x24xf32> to tensor<4x24xf32>
  %1 = kernel.bind %out[] : memref<4xf32>
  %d = bufferization.to_tensor %1 restrict writable : memref<4xf32> to tensor<4xf32>
  %low = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%low : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x24xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %3 in restrict writable %1 : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
