// RUN: optc-opt %s -split-input-file -optc-form-dispatches -optc-place-concats=report -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-form-dispatches -optc-place-concats=opt-level=0 | FileCheck %s --check-prefix=O0

// What dispatches compute goes to its place, the others are copied there.
// CHECK-LABEL: func.func @mixed
// CHECK: %[[A:.*]] = kernel.dispatch "negf"[] {stored_in = [tensor<4x24xf32>]} -> tensor<4x8xf32>
// CHECK: %[[X:.*]]:2 = kernel.dispatch "concat"[] {kernel.declined = ["part 1 of the concatenation is copied: it is not computed next to it", "part 2 {{.*}}"], stored_in = [tensor<4x24xf32>, tensor<4x24xf32>]}
// CHECK: linalg.copy ins(%arg0
// CHECK: linalg.copy ins(%arg1
// CHECK: %[[C:.*]] = tensor.concat dim(1) %[[A]], %[[X]]#0, %[[X]]#1
// CHECK: return %[[C]]
// O0-LABEL: func.func @mixed
// O0-NOT: stored_in
// O0: kernel.dispatch "concat"
// O0: ^bb0(%[[D:.*]]: tensor<4x24xf32>):
// O0: %[[S:.*]] = tensor.extract_slice %[[D]][0, 0] [4, 8] [1, 1]
// O0: %[[P:.*]] = linalg.copy ins(%{{.*}}) outs(%[[S]]
// O0: %[[D1:.*]] = tensor.insert_slice %[[P]] into %[[D]][0, 0]
// O0: tensor.insert_slice {{.*}} into %[[D1]][0, 8]
// O0: tensor.insert_slice {{.*}}[0, 16]
// O0-NOT: tensor.concat
func.func @mixed(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.negf ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{part 1 of the concatenation is copied: it is not computed next to it}}
  // expected-remark @below {{part 2 of the concatenation is copied: it is not computed next to it}}
  %c = tensor.concat dim(1) %a, %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %c : tensor<4x24xf32>
}

// -----

// A product stores rows of any distance, and a product that reads them has them, too.
// CHECK-LABEL: func.func @products
// CHECK: %[[A:.*]] = kernel.dispatch "generic"[] {stored_in = [tensor<16x64xf32>]}
// CHECK: %[[B:.*]] = kernel.dispatch "generic"[] {stored_in = [tensor<16x64xf32>]}
// CHECK: linalg.generic {{.*}} ins(%[[A]], %arg1
// CHECK: tensor.concat dim(1) %[[A]], %[[B]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @products(%x: tensor<16x32xf32>, %w: tensor<32x32xf32>) -> tensor<16x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %a = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f : tensor<16x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  %b = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %w : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f : tensor<16x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x64xf32>
  return %c : tensor<16x64xf32>
}

// -----

// Negative: rows of a group are contiguous, so the normalized rows are copied.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: stored_in
// CHECK: kernel.dispatch "concat"[] {kernel.declined = ["part 0 of the concatenation is copied: it belongs to a kernel that needs it contiguous"
// CHECK-NOT: tensor.concat
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{part 0 of the concatenation is copied: it belongs to a kernel that needs it contiguous}}
  // expected-remark @below {{part 1 of the concatenation is copied: it is not computed next to it}}
  %c = tensor.concat dim(1) %n, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// Along the first axis parts are contiguous: rows go there. What is copied has a dispatch for each part, whose tiles are
// cut from that axis.
// CHECK-LABEL: func.func @first_axis
// CHECK: kernel.dispatch "negf"[] {stored_in = [tensor<9x8xf32>]} -> tensor<4x8xf32>
// CHECK: kernel.dispatch "concat"[] {{.*}} -> tensor<2x8xf32>
// CHECK: kernel.dispatch "concat"[] {{.*}} -> tensor<3x8xf32>
// CHECK: tensor.concat dim(0)
func.func @first_axis(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>, %z: tensor<3x8xf32>) -> tensor<9x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.negf ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{part 1 of the concatenation is copied}}
  // expected-remark @below {{part 2 of the concatenation is copied}}
  %c = tensor.concat dim(0) %a, %y, %z : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<9x8xf32>
  return %c : tensor<9x8xf32>
}

// -----

// Negative: a part that is there twice, one that is returned, too, and one of another concatenation.
// CHECK-LABEL: func.func @elsewhere
// CHECK: kernel.dispatch "negf"[] -> tensor<4x8xf32>
// CHECK: kernel.dispatch "negf"[] -> tensor<4x8xf32>
// CHECK: kernel.dispatch "concat"{{.*}} -> tensor<4x24xf32>
// CHECK: kernel.dispatch "concat"{{.*}} -> tensor<4x48xf32>
// CHECK-NOT: tensor.concat
func.func @elsewhere(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x48xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.negf ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.negf ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{part 0 of the concatenation is copied: it is read twice}}
  // expected-remark @below {{part 1 of the concatenation is copied: it is read twice}}
  // expected-remark @below {{part 2 of the concatenation is copied: it is read by an op that needs it contiguous}}
  %c = tensor.concat dim(1) %a, %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  // expected-remark @below {{part 0 of the concatenation is copied: it is read twice}}
  // expected-remark @below {{part 1 of the concatenation is copied: it is read twice}}
  %d = tensor.concat dim(1) %c, %c : (tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x48xf32>
  return %d, %b : tensor<4x48xf32>, tensor<4x8xf32>
}

// -----

// Negative: an axis whose size only a run knows. The sizes of the whole are sums.
// CHECK-LABEL: func.func @open
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: kernel.dispatch "concat"[%[[SUM]]]
// CHECK: tensor.insert_slice {{.*}}[0, 0]
// CHECK: tensor.insert_slice {{.*}}[0, %
func.func @open(%x: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // expected-remark @below {{part 0 of the concatenation is copied: it has a size along the axis that only a run knows}}
  // expected-remark @below {{part 1 of the concatenation is copied: it has a size along the axis that only a run knows}}
  %c = tensor.concat dim(1) %x, %y : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %c : tensor<4x?xf32>
}
