// RUN: optc-opt %s -split-input-file -optc-plan | FileCheck %s
// Where a result must not take the memory of the operand %0. The sum at the end has a buffer of its own in every case, of a
// launch with all of its buffers. Every return gives its value twice, so that none is computed straight into an output.

// Used later.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1, %0, %0 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A view of it is used later.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %v = kernel.view %0[] : tensor<4x4xf32> to tensor<16xf32>
  %2 = kernel.view %v[] : tensor<16xf32> to tensor<4x4xf32>
  return %1, %1, %2, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A library operator reads it later.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %l = kernel.library list_new() [] dtypes [0] : () -> !kernel.value
  %m = kernel.library list_append(%l, %0) [] dtypes [0, 1, 0] : (!kernel.value, tensor<4x4xf32>) -> !kernel.value
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Transposed.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Read under two maps.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A view of it is read under another map.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %v = kernel.view %0[] : tensor<4x4xf32> to tensor<16xf32>
  %t = kernel.view %v[] : tensor<16xf32> to tensor<2x2x4xf32>
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, 1, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0, %t : tensor<4x4xf32>, tensor<2x2x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Elements are read at computed indices, too.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %e = tensor.extract %0[%i, %i] : tensor<4x4xf32>
      %s = arith.addf %a, %e : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Broadcast: fewer elements than the result.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %v = kernel.dispatch "row" [] -> tensor<4xf32> {
  ^bb0(%d: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(j) -> (0, j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Another element type.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xi32> {
  ^bb0(%d: tensor<4x4xi32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xi32>) {
    ^bb0(%a: f32, %o: i32):
      %s = arith.bitcast %a : f32 to i32
      linalg.yield %s : i32
    } -> tensor<4x4xi32>
    kernel.yield %r : tensor<4x4xi32>
  }
  %2 = kernel.dispatch "back" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x4xi32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: i32, %o: f32):
      %s = arith.bitcast %a : i32 to f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %2, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A reduction.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0 : tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The destination is filled first.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The rows family keeps what it reads of a row for later passes.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] strategy <family = "rows", groups = [1], tiles = [1], blocks = [], scratch = 0, reason = ""> -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An input and a constant.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %k = arith.constant dense<1.0> : tensor<4x4xf32>
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.add ins(%x, %k : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A result of the library.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %l = kernel.library list_new() [] dtypes [0] : () -> !kernel.value
  %0 = kernel.library list_stack(%l) [] dtypes [0, 1] : (!kernel.value) -> tensor<4x4xf32>
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What an output holds: it is the caller's. And a result that goes straight into an output.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One of two, chosen at run time.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>, %flag: tensor<i8>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %e = tensor.extract %flag[] : tensor<i8>
  %c = arith.trunci %e : i8 to i1
  %s = arith.select %c, %0, %x : tensor<4x4xf32>
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Two results.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %1:2 = kernel.dispatch "sum" [] -> tensor<4x4xf32>, tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>, %e: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r, %s : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %1#0, %1#0, %1#1, %1#1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// From outside of a loop: the next iteration reads it again.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x) -> (tensor<4x4xf32>) {
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
    scf.yield %1 : tensor<4x4xf32>
  }
  return %2, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What a loop carries: its home may hold a value of another iteration.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %2:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %0, %q = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %1 = kernel.dispatch "sum" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
    scf.yield %q, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %2#0, %2#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Sizes that are not known to be the same: of the buffers, other ones than what the op walks.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = kernel.dispatch "first" [%n] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  %1 = kernel.dispatch "sum" [%m] -> tensor<?xf32> {
  ^bb0(%d: tensor<?xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%0 : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
    kernel.yield %r : tensor<?xf32>
  }
  return %1, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// A buffer of static size under a run-time size: what carries the result counts on run-time memory.
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k{{[0-9]+}}_sum {{.*}} buffers(%{{[^,)]+}}, %{{[^,)]+}}) scalars
func.func @main(%x: tensor<4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.dispatch "first" [] -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %v = tensor.cast %0 : tensor<4x4xf32> to tensor<?x4xf32>
  %n = tensor.dim %v, %c0 : tensor<?x4xf32>
  %1 = kernel.dispatch "sum" [%n] -> tensor<?x4xf32> {
  ^bb0(%d: tensor<?x4xf32>):
    %r = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%v : tensor<?x4xf32>) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    kernel.yield %r : tensor<?x4xf32>
  }
  return %1, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
