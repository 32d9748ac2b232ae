// RUN: optc-opt %s -split-input-file -optc-lower-device-kernels=opt-level=3 -canonicalize -cse -verify-diagnostics | FileCheck %s

// A thread per element: the sum in a loop, what is behind it on the sum, nothing in between in memory.
// CHECK-LABEL: gpu.module @device
// CHECK: func.func @sum
// CHECK-DAG: nvvm.read.ptx.sreg.tid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args
// CHECK: memref.load
// CHECK: arith.addf
// CHECK: scf.yield
// CHECK: llvm.loop_annotation
// CHECK: %[[Y:.*]] = arith.mulf %[[SUM]], %[[SUM]]
// CHECK-NEXT: memref.store %[[Y]]
func.func private @sum(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [1], tiles = [128], blocks = [128, 0], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<16x500xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<16x500xf32> to tensor<16x500xf32>
  %4 = kernel.bind %c[] : memref<500xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<500xf32> to tensor<500xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<500xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<500xf32>) -> tensor<500xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<16x500xf32>) outs(%f : tensor<500xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %z = arith.addf %acc, %x : f32
    linalg.yield %z : f32
  } -> tensor<500xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<500xf32>) outs(%5 : tensor<500xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<500xf32>
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<500xf32>, memref<500xf32>) -> ()
  return
}

// -----

// What has to go in order is for one block; what is stored in between, for one thread of it.
// CHECK: func.func @scan
// CHECK: scf.if
// CHECK-NEXT: scf.for
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK: nvvm.barrier0
func.func private @scan(%a: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [], tiles = [], blocks = [32, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<64xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<64xf32> to tensor<64xf32>
  %4 = kernel.bind %c[] : memref<64xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64xf32> to tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %c64 step %c1 iter_args(%t = %5, %acc = %zero) -> (tensor<64xf32>, f32) {
    %x = tensor.extract %1[%i] : tensor<64xf32>
    %y = arith.addf %acc, %x : f32
    %u = tensor.insert %y into %t[%i] : tensor<64xf32>
    scf.yield %u, %y : tensor<64xf32>, f32
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %4 : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Loops whose iterations are independent are one loop for all threads of all blocks: parts of a concatenation do not
// overlap.
// CHECK: func.func @concat
// CHECK-NOT: nvvm.barrier0
// CHECK: scf.for {{.*}} to %c400
// CHECK-NOT: scf.for
// CHECK: memref.store
// CHECK: scf.for {{.*}} to %c240
// CHECK-NOT: scf.for
// CHECK: memref.store
// CHECK: return
func.func private @concat(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [2], tiles = [256], blocks = [256, 1], scratch = 0, reason = "">} {
  %0 = kernel.bind %a[] : memref<40x10xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<40x10xf32> to tensor<40x10xf32>
  %2 = kernel.bind %b[] : memref<40x6xf32>
  %3 = bufferization.to_tensor %2 restrict : memref<40x6xf32> to tensor<40x6xf32>
  %4 = kernel.bind %c[] : memref<40x16xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<40x16xf32> to tensor<40x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c10 = arith.constant 10 : index
  %c40 = arith.constant 40 : index
  %r = scf.for %i = %c0 to %c40 step %c1 iter_args(%t = %5) -> (tensor<40x16xf32>) {
    %u = scf.for %j = %c0 to %c10 step %c1 iter_args(%v = %t) -> (tensor<40x16xf32>) {
      %x = tensor.extract %1[%i, %j] : tensor<40x10xf32>
      %w = tensor.insert %x into %v[%i, %j] : tensor<40x16xf32>
      scf.yield %w : tensor<40x16xf32>
    }
    scf.yield %u : tensor<40x16xf32>
  }
  %s = scf.for %i = %c0 to %c40 step %c1 iter_args(%t = %r) -> (tensor<40x16xf32>) {
    %u = scf.for %j = %c0 to %c6 step %c1 iter_args(%v = %t) -> (tensor<40x16xf32>) {
      %x = tensor.extract %3[%i, %j] : tensor<40x6xf32>
      %k = arith.addi %j, %c10 : index
      %w = tensor.insert %x into %v[%i, %k] : tensor<40x16xf32>
      scf.yield %w : tensor<40x16xf32>
    }
    scf.yield %u : tensor<40x16xf32>
  }
  bufferization.materialize_in_destination %s in restrict writable %4 : (tensor<40x16xf32>, memref<40x16xf32>) -> ()
  return
}

// -----

// Negative: a scan is not computed element by element.
// expected-error @below {{the cuda-loops family cannot emit kernel 'scan': not element by element: 'scf.for' writes element after element}}
func.func private @scan(%c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [], tiles = [], blocks = [32, 0], scratch = 0, reason = "">} {
  %4 = kernel.bind %c[] : memref<64xf32>
  %5 = bufferization.to_tensor %4 restrict writable : memref<64xf32> to tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%t = %5) -> (tensor<64xf32>) {
    %u = tensor.insert %zero into %t[%i] : tensor<64xf32>
    scf.yield %u : tensor<64xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %4 : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// Negative: a kernel without a result in a buffer.
// expected-error @below {{kernel 'nothing' has no result bound to a buffer}}
func.func private @nothing(%c: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [], tiles = [], blocks = [32, 0], scratch = 0, reason = "">} {
  return
}

// -----

// Negative: arguments that are not those of a kernel.
// expected-error @below {{has no device's calling convention}}
func.func private @few(%c: !llvm.ptr)
    attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [], tiles = [], blocks = [32, 0], scratch = 0, reason = "">} {
  return
}
