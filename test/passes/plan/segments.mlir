// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s

// A chain of buffers of run-time sizes: placed at once where the first is needed, by when they are in use. The check and
// the division that it guards move there, with the sizes. The last result is computed straight into the output.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.run_time_sized = ""
// CHECK: %[[N:.*]] = kernel.input_dim 0, 0
// CHECK: %[[SA:.*]] = kernel.byte_size[%[[N]]] times 16
// CHECK: %[[OK:.*]] = arith.cmpi
// CHECK: kernel.check %[[OK]]
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK: %[[SB:.*]] = kernel.byte_size[%[[HALF]]] times 16
// CHECK: %[[SC:.*]] = kernel.byte_size[%[[N]]] times 16
// CHECK: %[[P:.*]]:3 = kernel.solve_arena(%[[SA]], %[[SB]], %[[SC]]) lifetimes [[[A0:[0-9]+]], [[A1:[0-9]+]], [[A1]], [[B1:[0-9]+]], [[B1]], {{[0-9]+}}]
// CHECK-NOT: kernel.alloc
// CHECK: kernel.launch {{.*}} buffers(%{{.*}}, %[[P]]#0)
// CHECK: kernel.launch {{.*}} buffers(%[[P]]#0, %[[P]]#1)
// CHECK: kernel.launch {{.*}} buffers(%[[P]]#1, %[[P]]#2)
// CHECK: %[[OUT:.*]] = kernel.output 0
// CHECK: kernel.launch {{.*}} buffers(%[[P]]#2, %[[OUT]])
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = kernel.dispatch "a" [%n] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?x4xf32>) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    kernel.yield %r : tensor<?x4xf32>
  }
  %ok = arith.cmpi ne, %m, %c0 : index
  kernel.check %ok, "m is 0"
  %half = arith.divui %n, %m : index
  %1 = kernel.dispatch "b" [%half] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%d : tensor<?x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %e = tensor.extract %0[%i, %c0] : tensor<?x4xf32>
      linalg.yield %e : f32
    } -> tensor<?x4xf32>
    kernel.yield %r : tensor<?x4xf32>
  }
  %2 = kernel.dispatch "c" [%n] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%d : tensor<?x4xf32>) {
    ^bb0(%o: f32):
      %e = tensor.extract %1[%c0, %c0] : tensor<?x4xf32>
      linalg.yield %e : f32
    } -> tensor<?x4xf32>
    kernel.yield %r : tensor<?x4xf32>
  }
  %3 = kernel.dispatch "d" [%n] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%2 : tensor<?x4xf32>) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    kernel.yield %r : tensor<?x4xf32>
  }
  return %3 : tensor<?x4xf32>
}

// -----

// The sizes of what a library operator finds are known after it only: a segment of their own. A buffer after it whose size
// is known before belongs to the first. A division behind a check that has to stay does not move.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.run_time_sized = "found"
// CHECK: kernel.solve_arena(%[[S0:.*]], %[[S1:.*]]) lifetimes
// CHECK: %[[FOUND:.*]] = kernel.call_library nonzero
// CHECK: %[[K:.*]] = kernel.described_dim %[[FOUND]], 1
// CHECK: kernel.check
// CHECK: %[[Q:.*]] = arith.divui
// CHECK: %[[T0:.*]] = kernel.byte_size[%[[Q]]] times 4
// CHECK: kernel.solve_arena(%[[T0]], %{{.*}}) lifetimes
// CHECK: return
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = kernel.dispatch "a" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  } loc("found")
  %found = kernel.library nonzero(%0) [] dtypes [1, 7] : (tensor<?xf32>) -> tensor<1x?xi64>
  %k = tensor.dim %found, %c1 : tensor<1x?xi64>
  %ok = arith.cmpi ne, %k, %c0 : index
  kernel.check %ok, "nothing found"
  %q = arith.divui %n, %k : index
  %1 = kernel.dispatch "b" [%q] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%d : tensor<?xf32>) {
    ^bb0(%o: f32):
      linalg.yield %o : f32
    } -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  %2 = kernel.dispatch "c" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  %3 = kernel.dispatch "d" [%k] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%d : tensor<?xf32>) {
    ^bb0(%o: f32):
      linalg.yield %o : f32
    } -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  // Returned twice each, so that none is computed straight into an output.
  return %1, %1, %2, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
