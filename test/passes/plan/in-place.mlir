// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-plan -optc-lower-kernels | FileCheck %s --check-prefix=CODE
// Every return gives its value twice, so that none is computed straight into an output.

// Over the operand that nothing reads afterwards, which the kernel has one buffer for, with the result's. Equal dispatches
// share the kernel of that form, too.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.arena_bytes = 128
// CHECK: %[[X:.*]] = kernel.input 0
// CHECK: %[[A:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%[[X]], %[[A]])
// CHECK: %[[B:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%[[X]], %[[B]])
// CHECK: kernel.launch @k1_sub {{.*}} buffers(%[[B]], %[[A]])
// CHECK: kernel.launch @k2_neg {{.*}} buffers(%[[A]])
// CHECK: kernel.launch @k2_neg {{.*}} buffers(%[[A]])
// CHECK: kernel.copy %{{.*}}, %[[A]]
// CHECK: func.func private @k1_sub(%[[IN:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[INOUT:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: index, %{{.*}}: index)
// CHECK-SAME: kernel.entry = 2
// CHECK: %[[M0:.*]] = kernel.bind %[[IN]]
// CHECK: %[[T0:.*]] = bufferization.to_tensor %[[M0]] restrict :
// CHECK: %[[M1:.*]] = kernel.bind %[[INOUT]]
// CHECK: %[[T1:.*]] = bufferization.to_tensor %[[M1]] restrict writable :
// CHECK: ins(%[[T1]], %[[T0]] : tensor<4xf32>, tensor<4xf32>) outs(%[[T1]] :
// CODE-LABEL: func.func private @k1_sub
// CODE: %[[IN:.*]] = kernel.bind %arg0
// CODE: %[[INOUT:.*]] = kernel.bind %arg1
// CODE-NOT: alloc
// CODE: scf.for
// CODE: memref.load %[[INOUT]]
// CODE: memref.load %[[IN]]
// CODE: memref.store %{{.*}}, %[[INOUT]]
// CODE-NOT: copy
// CODE: return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %1 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %2 = kernel.dispatch "sub" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.sub ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %3 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%2 : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %4 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%3 : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  return %4, %4 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Run-time sizes: the memory and the sizes of the operand are no longer passed. Through a view the buffer stays whole.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[N:.*]] = kernel.input_dim 0, 0
// CHECK: %[[A:.*]] = kernel.alloc
// CHECK-NOT: kernel.alloc
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[A]]) scalars(%[[N]], %[[N]] : index, index)
// CHECK: kernel.launch @k1_neg {{.*}} buffers(%[[A]]) scalars(%[[N]] : index)
func.func @main(%x: tensor<?xf32>) -> (tensor<1x?xf32>, tensor<1x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = kernel.dispatch "neg" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  %v = kernel.view %0[%n] : tensor<?xf32> to tensor<1x?xf32>
  %1 = kernel.dispatch "neg" [%n] -> tensor<1x?xf32> {
  ^bb0(%d: tensor<1x?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%v : tensor<1x?xf32>) outs(%d : tensor<1x?xf32>) -> tensor<1x?xf32>
    kernel.yield %r : tensor<1x?xf32>
  }
  return %1, %1 : tensor<1x?xf32>, tensor<1x?xf32>
}

// -----

// In a loop: what the iteration made, never what it carries or what is from outside.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[OUTSIDE:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[OUTSIDE]])
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] =
// CHECK: %[[A:.*]] = kernel.arena
// CHECK: kernel.launch @k1_add {{.*}} buffers(%[[CARRIED]], %[[OUTSIDE]], %[[A]])
// CHECK-NOT: kernel.arena
// CHECK: kernel.launch @k2_neg {{.*}} buffers(%[[A]])
// CHECK: kernel.copy %{{.*}}, %[[A]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %outside = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %0 = kernel.dispatch "add" [] -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      %s = linalg.add ins(%a, %outside : tensor<4xf32>, tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
      kernel.yield %s : tensor<4xf32>
    }
    %1 = kernel.dispatch "neg" [] -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
      kernel.yield %s : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// In a branch, over what was made before: the other branch does not read it. What the If gave may lie in either
// buffer: never over it.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[A:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[A]])
// CHECK: %[[B:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%{{.*}}, %[[B]])
// CHECK: %[[R:.*]] = scf.if
// CHECK: kernel.launch @k1_neg {{.*}} buffers(%[[A]])
// CHECK: scf.yield %[[A]]
// CHECK: scf.yield %[[B]]
// CHECK: %[[C:.*]] = kernel.arena
// CHECK: kernel.launch @k0_neg {{.*}} buffers(%[[R]], %[[C]])
// CHECK: kernel.launch @k1_neg {{.*}} buffers(%[[B]])
func.func @main(%x: tensor<4xf32>, %flag: tensor<i8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.extract %flag[] : tensor<i8>
  %c = arith.trunci %e : i8 to i1
  %a = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %b = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %i = scf.if %c -> (tensor<4xf32>) {
    %0 = kernel.dispatch "neg" [] -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
      kernel.yield %r : tensor<4xf32>
    }
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  %1 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%i : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %2 = kernel.dispatch "neg" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%b : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  return %1, %1, %2, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
