// RUN: optc-opt %s -optc-form-dispatches | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sizes of the result come from its tensor.empty.
// CHECK-LABEL: func.func @relu
// CHECK: %[[R:.*]] = kernel.dispatch "relu"[%{{.*}}] -> tensor<?x4xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: kernel.yield
// CHECK: return %[[R]]
func.func @relu(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) attrs = {optc.label = "relu"} {
  ^bb0(%a: f32, %b: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    linalg.yield %m : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// The start of a reduction moves into its dispatch.
// CHECK-LABEL: func.func @sum
// CHECK: kernel.dispatch "generic"[] -> tensor<3xf32>
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK-NOT: linalg.fill
func.func @sum(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// An initial value that is data is copied: the op must not write into its operand.
// CHECK-LABEL: func.func @accumulate
// CHECK: kernel.dispatch
// CHECK: linalg.copy ins(%arg1
// CHECK: linalg.generic
func.func @accumulate(%x: tensor<3x4xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%start : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Negative: scalar code of the host stays outside, and an op that nobody uses goes.
// CHECK-LABEL: func.func @host
// CHECK-NOT: kernel.dispatch
// CHECK: arith.addi
func.func @host(%a: index, %x: tensor<4xf32>) -> index {
  %e = tensor.empty() : tensor<4xf32>
  %unused = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = arith.addi %a, %a : index
  return %0 : index
}

// A view between the group and an op that reads it through another op keeps that op out, too: the column sums need the
// negation and the difference needs the column sums.
// CHECK-LABEL: func.func @through_view
// CHECK: kernel.dispatch {{.*}} -> tensor<6x6xf32>, tensor<6xf32>
// CHECK: %[[COLUMNS:.*]] = kernel.dispatch
// CHECK: %[[VIEW:.*]] = kernel.view %[[COLUMNS]]
// CHECK: kernel.dispatch
// CHECK: ins(%{{.*}}, %{{.*}}, %[[VIEW]]
func.func @through_view(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x6xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x6xf32>) outs(%e0 : tensor<6x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<6x6xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%n : tensor<6x6xf32>) outs(%fill : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %v = kernel.view %columns[] : tensor<6xf32> to tensor<6x1xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<6x6xf32>) outs(%fill : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%n, %rows, %v : tensor<6x6xf32>, tensor<6xf32>, tensor<6x1xf32>) outs(%e0 : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    %s = arith.subf %r, %c : f32
    linalg.yield %s : f32
  } -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}
