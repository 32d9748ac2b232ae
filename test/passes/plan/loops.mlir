// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s

// What an iteration takes from the run's memory goes at its end; the tensor that it carries on moves down to the mark.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[MARK:.*]] = kernel.mark
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}) -> (!llvm.ptr, index)
// CHECK: %[[B:.*]] = kernel.alloc
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%[[A]], %[[B]])
// CHECK: %[[MOVED:.*]] = kernel.release %[[MARK]] keep(%[[B]]) bytes(%{{.*}}) values() -> !llvm.ptr
// CHECK: scf.yield %[[MOVED]], %[[N]]
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %0 = kernel.dispatch "neg" [%n] -> tensor<?xf32> {
    ^bb0(%d: tensor<?xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
      kernel.yield %s : tensor<?xf32>
    }
    scf.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A loop without run-time memory has neither mark nor release.
// CHECK-LABEL: func.func @host_main
// CHECK-NOT: kernel.mark
// CHECK: scf.while
// CHECK-NOT: kernel.release
// CHECK: return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %go = arith.cmpi slt, %i, %c3 : index
    scf.condition(%go) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %next = arith.addi %i, %c1 : index
    %0 = kernel.dispatch "neg" [] -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
      kernel.yield %s : tensor<4xf32>
    }
    scf.yield %next, %0 : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// Run-time values live in one descriptor per carried value; a swap goes through copies.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[S0:.*]] = kernel.describe
// CHECK: kernel.copy_descriptor %[[S0]],
// CHECK: %[[S1:.*]] = kernel.describe
// CHECK: kernel.copy_descriptor %[[S1]],
// CHECK: scf.for {{.*}} iter_args(%[[A0:.*]] = %[[S0]], %[[A1:.*]] = %[[S1]])
// CHECK: %[[ONE:.*]] = kernel.call_library list_append
// CHECK: %[[C0:.*]] = kernel.describe
// CHECK: kernel.copy_descriptor %[[C0]], %[[A1]]
// CHECK: %[[C1:.*]] = kernel.describe
// CHECK: kernel.copy_descriptor %[[C1]], %[[ONE]]
// CHECK: kernel.copy_descriptor %[[S0]], %[[C0]]
// CHECK: kernel.copy_descriptor %[[S1]], %[[C1]]
// CHECK: kernel.release %{{.*}} keep() bytes() values(%[[S0]], %[[S1]])
// CHECK: scf.yield %[[S0]], %[[S1]]
func.func @main(%x: tensor<4xf32>) -> (!kernel.value, !kernel.value) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s0 = kernel.library list_new() [] dtypes [0] : () -> !kernel.value
  %s1 = kernel.library list_new() [] dtypes [0] : () -> !kernel.value
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s0, %b = %s1) -> (!kernel.value, !kernel.value) {
    %0 = kernel.library list_append(%a, %x) [] dtypes [0, 1, 0] : (!kernel.value, tensor<4xf32>) -> !kernel.value
    scf.yield %b, %0 : !kernel.value, !kernel.value
  }
  return %r#0, %r#1 : !kernel.value, !kernel.value
}

// -----

// A buffer of static size of the iteration would be written by the next one: carried as a tensor of run-time size it is
// copied. One from outside stays where it is, and alive as long as the result.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.arena_bytes = 256
// CHECK: %[[X:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[X]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[X]], {{.*}}, %{{.*}} = %[[X]], {{.*}})
// CHECK: %[[B:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[B]])
// CHECK: %[[ASIDE:.*]] = kernel.alloc
// CHECK: kernel.copy %[[ASIDE]], %[[B]]
// CHECK: kernel.release %{{.*}} keep(%[[X]], %[[ASIDE]])
func.func @main(%x: tensor<32xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = kernel.dispatch "neg" [] -> tensor<32xf32> {
  ^bb0(%d: tensor<32xf32>):
    %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<32xf32>) outs(%d : tensor<32xf32>) -> tensor<32xf32>
    kernel.yield %s : tensor<32xf32>
  }
  %outside = tensor.cast %0 : tensor<32xf32> to tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %outside, %b = %outside) -> (tensor<?xf32>, tensor<?xf32>) {
    %1 = kernel.dispatch "neg" [] -> tensor<32xf32> {
    ^bb0(%d: tensor<32xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<32xf32>) outs(%d : tensor<32xf32>) -> tensor<32xf32>
      kernel.yield %s : tensor<32xf32>
    }
    %inside = tensor.cast %1 : tensor<32xf32> to tensor<?xf32>
    scf.yield %outside, %inside : tensor<?xf32>, tensor<?xf32>
  }
  %2 = kernel.dispatch "neg" [] -> tensor<32xf32> {
  ^bb0(%d: tensor<32xf32>):
    %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<32xf32>) outs(%d : tensor<32xf32>) -> tensor<32xf32>
    kernel.yield %s : tensor<32xf32>
  }
  return %r#0, %r#1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<32xf32>
}
