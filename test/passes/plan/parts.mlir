// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-plan -optc-lower-kernels | FileCheck %s --check-prefix=CODE

// Both parts lie in the output of the whole, 32 bytes apart. The strides are in the kernel, which both share.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.output 0
// CHECK: %[[A:.*]] = llvm.getelementptr %[[W:.*]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[A]])
// CHECK-NOT: kernel.output
// CHECK: %[[B:.*]] = llvm.getelementptr %[[W]][
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[B]])
// CHECK-NOT: kernel.copy
// CHECK: func.func private @k0_neg
// CHECK: kernel.bind %{{.*}}[] : memref<4x8xf32>
// CHECK: kernel.bind %{{.*}}[] stored [4, 16] : memref<4x8xf32, strided<[16, 1]>>
// CODE-LABEL: func.func private @k0_neg
// CODE: memref.store %{{.*}} : memref<4x8xf32, strided<[16, 1]>>
// CODE-NOT: memref.copy
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %a = kernel.dispatch "neg" [] {stored_in = [tensor<4x16xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.negf ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %b = kernel.dispatch "neg" [] {stored_in = [tensor<4x16xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.negf ins(%y : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %c = tensor.concat dim(1) %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// The whole is alive from its first part on, and as long as a part is read. A part is never computed in place, nor is
// another result over it.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.arena_bytes = 384
// CHECK: %[[W:.*]] = kernel.arena 0
// CHECK: %[[A:.*]] = llvm.getelementptr %[[W]]
// CHECK: kernel.launch {{.*}} buffers(%{{.*}}, %[[A]])
// CHECK: %[[N:.*]] = kernel.arena 256
// CHECK: kernel.launch {{.*}} buffers(%[[A]], %[[N]])
// CHECK: %[[B:.*]] = llvm.getelementptr %[[W]]
// CHECK: kernel.launch {{.*}} buffers(%[[N]], %[[B]])
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %a = kernel.dispatch "a" [] {stored_in = [tensor<4x16xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %n = kernel.dispatch "n" [] -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %b = kernel.dispatch "b" [] {stored_in = [tensor<4x16xf32>]} -> tensor<4x8xf32> {
  ^bb0(%d: tensor<4x8xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%n : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  }
  %c = tensor.concat dim(1) %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c, %c : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// A slice at run-time offsets: its address, and the row distance of its source.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[X:.*]] = kernel.input 0
// CHECK: %[[I:.*]] = kernel.load
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[I]]
// CHECK: arith.muli %[[ROW]], %c8
// CHECK: %[[P:.*]] = llvm.getelementptr %[[X]]
// CHECK: kernel.launch {{.*}} buffers(%[[P]],
// CHECK: kernel.bind %{{.*}}[%{{.*}}] stored [-9223372036854775808, 8] : memref<?x4xf32, strided<[8, 1]>>
func.func @main(%x: tensor<?x8xf32>, %i: tensor<index>, %n: tensor<index>) -> tensor<?x4xf32> {
  %at = tensor.extract %i[] : tensor<index>
  %size = tensor.extract %n[] : tensor<index>
  %s = tensor.extract_slice %x[%at, 2] [%size, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %r = kernel.dispatch "neg" [%size] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %0 = linalg.negf ins(%s : tensor<?x4xf32>) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    kernel.yield %0 : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}
