// RUN: optc-opt %s -split-input-file -optc-form-dispatches="report=true" -verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#row1 = affine_map<(d0, d1) -> (d0, 0)>

// A softmax, its views included, is one dispatch with one result; sizes are equal by what the ops say of them.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[R:.*]] = kernel.dispatch "max_exp_sum_div"[%{{.*}}, %{{.*}}] -> tensor<?x?xf32>
// CHECK: linalg.generic
// CHECK: kernel.view
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: kernel.view
// CHECK: arith.divf
// CHECK-NOT: kernel.dispatch
// CHECK: return %[[R]]
func.func @softmax(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f0 : tensor<?xf32>) attrs = {optc.label = "max"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = kernel.view %0[%n] : tensor<?xf32> to tensor<?x1xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row1, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %1 : tensor<?x?xf32>, tensor<?x1xf32>) outs(%e : tensor<?x?xf32>) attrs = {optc.label = "exp"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<?x?xf32>) outs(%f1 : tensor<?xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %4 = kernel.view %3[%n] : tensor<?xf32> to tensor<?x1xf32>
  %5 = linalg.generic {indexing_maps = [#id, #row1, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %4 : tensor<?x?xf32>, tensor<?x1xf32>) outs(%e : tensor<?x?xf32>) attrs = {optc.label = "div"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %5 : tensor<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What others use, too, is a second result; a user between the ops moves behind the dispatch.
// CHECK-LABEL: func.func @shared
// CHECK: %[[R:.*]]:2 = kernel.dispatch "add_sum"[] -> tensor<4x8xf32>, tensor<4xf32>
// CHECK: kernel.view %[[R]]#0
// CHECK: return %{{.*}}, %[[R]]#1
func.func @shared(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) attrs = {optc.label = "add"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %v = kernel.view %0[] : tensor<4x8xf32> to tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xf32>) outs(%f : tensor<4xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %v, %1 : tensor<32xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// A reduction over the leading axis takes what is done with its results; negative: but not what it reads.
// CHECK-LABEL: func.func @leading
// CHECK: kernel.dispatch "add"
// CHECK: kernel.dispatch "sum_mean"
func.func @leading(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = tensor.empty() : tensor<8xf32>
  // expected-remark @below {{does not join a group: has a result of another size}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) attrs = {optc.label = "add"} {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%f : tensor<8xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %v = kernel.view %1[] : tensor<8xf32> to tensor<1x8xf32>
  %q = tensor.empty() : tensor<1x8xf32>
  %n = arith.constant 4.0 : f32
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<1x8xf32>) outs(%q : tensor<1x8xf32>) attrs = {optc.label = "mean"} {
  ^bb0(%a: f32, %c: f32):
    %s = arith.divf %a, %n : f32
    linalg.yield %s : f32
  } -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id1 = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>

// Negative: rows of another number and length, and an op that gathers.
// CHECK-LABEL: func.func @spaces
// CHECK: kernel.dispatch "inner"
// CHECK: kernel.dispatch "outer"
// CHECK: kernel.dispatch "gather"
func.func @spaces(%x: tensor<4x8xf32>, %i: index) -> (tensor<f32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @below {{does not join a group: has other rows or columns}}
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) attrs = {optc.label = "inner"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %t = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%zero : f32) outs(%t : tensor<f32>) -> tensor<f32>
  // expected-remark @below {{does not join a group: has other rows or columns}}
  %1 = linalg.generic {indexing_maps = [#id1, #s], iterator_types = ["reduction"]}
      ins(%0 : tensor<4xf32>) outs(%g : tensor<f32>) attrs = {optc.label = "outer"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-remark @below {{does not join a group: does more than arithmetic on its elements}}
  %2 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4xf32>) outs(%e : tensor<4x8xf32>) attrs = {optc.label = "gather"} {
  ^bb0(%a: f32, %b: f32):
    %v = tensor.extract %x[%i, %i] : tensor<4x8xf32>
    %s = arith.addf %v, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1, %2 : tensor<f32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Negative: a use in another block stays there, and what the group needs through it does not join.
// CHECK-LABEL: func.func @blocks
// CHECK: kernel.dispatch "sum"
// CHECK: scf.if
// CHECK: kernel.dispatch "inside"
// CHECK: kernel.dispatch "sub"
func.func @blocks(%x: tensor<4x8xf32>, %p: i1) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %1 = scf.if %p -> tensor<4x8xf32> {
    %i = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %0 : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) attrs = {optc.label = "inside"} {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    scf.yield %i : tensor<4x8xf32>
  } else {
    scf.yield %x : tensor<4x8xf32>
  }
  // expected-remark @below {{does not join a group: is needed by an op that the group needs, or that cannot move}}
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0 : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) attrs = {optc.label = "sub"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Negative: one row of many elements is not worth more than its sum.
// CHECK-LABEL: func.func @few
// CHECK: kernel.dispatch "add"
// CHECK: kernel.dispatch "sum"
func.func @few(%x: tensor<1x100000xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x100000xf32>
  %r = tensor.empty() : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1x100000xf32>) outs(%e : tensor<1x100000xf32>) attrs = {optc.label = "add"} {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x100000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<1xf32>) -> tensor<1xf32>
  // expected-remark @below {{does not join a group: has too few rows to share its elementwise neighbours among threads}}
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<1x100000xf32>) outs(%f : tensor<1xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// Negative: three sums side by side do not fill a vector.
// CHECK-LABEL: func.func @narrow
// CHECK: kernel.dispatch "sum"
// CHECK: kernel.dispatch "mean"
func.func @narrow(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4.0 : f32
  %r = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%f : tensor<3xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%0 : tensor<3xf32>) outs(%r : tensor<3xf32>) attrs = {optc.label = "mean"} {
  ^bb0(%a: f32, %c: f32):
    %s = arith.divf %a, %n : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
