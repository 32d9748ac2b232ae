// RUN: optc-opt %s -split-input-file -optc-lower-kernels=opt-level=3 -canonicalize -verify-diagnostics | FileCheck %s

// The innermost loop of a matmul is the one along which the result and B are contiguous; tiles cut the outermost.
// CHECK-LABEL: func.func private @matmul
// CHECK: scf.for %[[M:.*]] = %{{.*}} to %{{.*}}
// CHECK: scf.for %[[K:.*]] =
// CHECK: scf.for %[[N:.*]] =
// CHECK: memref.load %{{.*}}[%[[M]], %[[K]]]
// CHECK: memref.load %{{.*}}[%[[K]], %[[N]]]
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
// CHECK-NOT: memref.copy
// CHECK: return
func.func private @matmul(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "loops", groups = [1], tiles = [2], blocks = [], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<4x8xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<4x8xf32> to tensor<4x8xf32>
  %2 = kernel.bind %b[] : memref<8x16xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<8x16xf32> to tensor<8x16xf32>
  %4 = kernel.bind %c[] : memref<4x16xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<4x16xf32> to tensor<4x16xf32>
  %r = linalg.matmul ins(%1, %3 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%5 : tensor<4x16xf32>) -> tensor<4x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<4x16xf32>, memref<4x16xf32>) -> ()
  return
}

// -----

// Negative: a large temporary has no place.
func.func private @temporary(%c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 1 : i64} {
  %4 = kernel.bind %c[] : memref<f32>
  %c0 = arith.constant 0 : index
  %z = arith.constant 1.0 : f32
  // expected-error @below {{kernel 'temporary' needs a temporary of type 'memref<100000xf32>'}}
  %e = tensor.empty() : tensor<100000xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<100000xf32>) -> tensor<100000xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<f32> to tensor<f32>
  %v = tensor.extract %f[%c0] : tensor<100000xf32>
  %r = tensor.insert %v into %5[] : tensor<f32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<f32>, memref<f32>) -> ()
  return
}
