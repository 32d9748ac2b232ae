// RUN: optc-opt %s -split-input-file -optc-address-slices=report -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-address-slices=opt-level=0 | FileCheck %s --check-prefix=O0

// Kernels read a slice where it is, rows and columns alike.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[%arg1, 2] [3, 4] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[S]]
// O0-LABEL: func.func @elementwise
// O0-NOT: tensor.extract_slice
// O0: linalg.generic
// O0: %[[I:.*]] = linalg.index 0
// O0: %[[R:.*]] = arith.addi %arg1, %[[I]]
// O0: tensor.extract %arg0[%[[R]]
// O0: linalg.generic
func.func @elementwise(%x: tensor<8x8xf32>, %i: index) -> tensor<3x4xf32> {
  %s = tensor.extract_slice %x[%i, 2] [3, 4] [1, 1] : tensor<8x8xf32> to tensor<3x4xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// Contiguous: views, the host and the library read it, too.
// CHECK-LABEL: func.func @contiguous
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[V:.*]] = kernel.view %[[S]]
// CHECK: linalg.negf ins(%[[V]]
// CHECK: kernel.library nonzero(%[[S]])
// CHECK: tensor.extract %[[S]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @contiguous(%x: tensor<?x8xf32>, %i: index, %n: index) -> (tensor<16xf32>, tensor<?x?xi64>, f32) {
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[%i, 0] [2, 8] [1, 1] : tensor<?x8xf32> to tensor<2x8xf32>
  %v = kernel.view %s[] : tensor<2x8xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.negf ins(%v : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %p = kernel.library nonzero(%s) [] dtypes [1, 7] : (tensor<2x8xf32>) -> tensor<?x?xi64>
  %f = tensor.extract %s[%c1, %c1] : tensor<2x8xf32>
  return %r, %p, %f : tensor<16xf32>, tensor<?x?xi64>, f32
}

// -----

// Rows of open length are in place as long as they are whole.
// CHECK-LABEL: func.func @whole_rows
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: linalg.negf ins(%[[S]]
func.func @whole_rows(%x: tensor<8x?xf32>, %i: index) -> tensor<3x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<8x?xf32>
  %s = tensor.extract_slice %x[%i, 0] [3, %n] [1, 1] : tensor<8x?xf32> to tensor<3x?xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %r = linalg.negf ins(%s : tensor<3x?xf32>) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// -----

// Negative: parts of rows whose length only a run knows.
// CHECK-LABEL: func.func @open_rows
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.generic {{.*}} attrs = {{.*}}kernel.declined = ["the slice cuts a dimension whose size only a run knows"]
// CHECK: linalg.negf ins(%[[C]]
func.func @open_rows(%x: tensor<8x?xf32>, %i: index, %n: index) -> tensor<3x?xf32> {
  // expected-remark @below {{is copied: the slice cuts a dimension whose size only a run knows}}
  %s = tensor.extract_slice %x[%i, 0] [3, %n] [1, 1] : tensor<8x?xf32> to tensor<3x?xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %r = linalg.negf ins(%s : tensor<3x?xf32>) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// -----

// Negative: steps; the indices of the copy have them.
// CHECK-LABEL: func.func @steps
// CHECK-NOT: tensor.extract_slice
// CHECK: arith.muli %{{.*}}, %c2
// CHECK: tensor.extract %arg0
func.func @steps(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-remark @below {{is copied: the slice steps over elements}}
  %s = tensor.extract_slice %x[1] [4] [2] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.negf ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Negative: a view of columns merges what is not together in memory. Who can reads them in place.
// CHECK-LABEL: func.func @view_of_columns
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.generic
// CHECK: kernel.view %[[C]]
// CHECK: linalg.negf ins(%[[S]]
func.func @view_of_columns(%x: tensor<8x8xf32>) -> (tensor<12xf32>, tensor<3x4xf32>) {
  // expected-remark @below {{is copied: the slice is not contiguous for an op that needs it so}}
  %s = tensor.extract_slice %x[0, 2] [3, 4] [1, 1] : tensor<8x8xf32> to tensor<3x4xf32>
  %v = kernel.view %s[] : tensor<3x4xf32> to tensor<12xf32>
  %d = tensor.empty() : tensor<12xf32>
  %w = linalg.negf ins(%v : tensor<12xf32>) outs(%d : tensor<12xf32>) -> tensor<12xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.negf ins(%s : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %w, %r : tensor<12xf32>, tensor<3x4xf32>
}

// -----

// Negative: what a run hands on, or a branch does, is a tensor of its own.
// CHECK-LABEL: func.func @results
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.generic
// CHECK: scf.yield %[[C]]
// CHECK: return %{{.*}}, %[[C]]
func.func @results(%x: tensor<8x8xf32>, %y: tensor<3x8xf32>, %c: i1) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  // expected-remark @below {{is copied: the slice is a result, or carried by control flow}}
  %s = tensor.extract_slice %x[1, 0] [3, 8] [1, 1] : tensor<8x8xf32> to tensor<3x8xf32>
  %r = scf.if %c -> tensor<3x8xf32> {
    scf.yield %s : tensor<3x8xf32>
  } else {
    scf.yield %y : tensor<3x8xf32>
  }
  return %r, %s : tensor<3x8xf32>, tensor<3x8xf32>
}
