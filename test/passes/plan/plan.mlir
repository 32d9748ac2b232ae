// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s

// A chain of three buffers needs two places; the last result is computed straight into the output. Transpositions are never
// computed over their operand.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.arena_bytes = 128
// CHECK: %[[IN:.*]] = kernel.input 0
// CHECK: %[[A:.*]] = kernel.arena 0
// CHECK: kernel.launch @k0_transpose tiles {{.*}} buffers(%[[IN]], %[[A]])
// CHECK: %[[B:.*]] = kernel.arena 64
// CHECK: kernel.launch @k0_transpose tiles {{.*}} buffers(%[[A]], %[[B]])
// CHECK: %[[OUT:.*]] = kernel.output 0
// CHECK: kernel.launch @k0_transpose tiles {{.*}} buffers(%[[B]], %[[OUT]])
// Equal dispatches share one kernel.
// CHECK: func.func private @k0_transpose
// CHECK-NOT: func.func private
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = kernel.dispatch "transpose" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) permutation = [1, 0]
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "transpose" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.transpose ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) permutation = [1, 0]
    kernel.yield %r : tensor<4x4xf32>
  }
  %2 = kernel.dispatch "transpose" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.transpose ins(%1 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) permutation = [1, 0]
    kernel.yield %r : tensor<4x4xf32>
  }
  return %2 : tensor<4x4xf32>
}

// -----

// A loop that swaps two tensors moves them aside before it overwrites them.
// CHECK-LABEL: func.func @host_main
// CHECK: scf.for
// CHECK-COUNT-4: kernel.copy
// CHECK: scf.yield
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Sizes known at run time only: allocated where they are known, no static arena. A constant has a place in the weights,
// returning it copies.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.arena_bytes = 0
// CHECK: kernel.input_dim 0, 0
// CHECK: kernel.weight_ptr 0
// CHECK: kernel.alloc
// CHECK: kernel.output 1
// CHECK: kernel.copy
// CHECK: kernel.weight 0 = dense<
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %k = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = kernel.dispatch "neg" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  %1 = kernel.dispatch "neg" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  return %1, %k : tensor<?xf32>, tensor<2xf32>
}
