// RUN: optc-opt %s -optc-configure | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @parallel
// CHECK: kernel.dispatch "big"[] strategy <family = "loops", groups = [1], tiles = [16], blocks = [], scratch = 0, reason = "tiles along the first dimension of the result
func.func @parallel(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = kernel.dispatch "big" [] -> tensor<64x1024xf32> {
  ^bb0(%d: tensor<64x1024xf32>):
    %r = linalg.copy ins(%x : tensor<64x1024xf32>) outs(%d : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    kernel.yield %r : tensor<64x1024xf32>
  }
  return %0 : tensor<64x1024xf32>
}

// Dimensions of one element make no tiles, nor do few large ones; the innermost loop is not cut as long as there are others.
// CHECK-LABEL: func.func @flattened
// CHECK: kernel.dispatch "image"[] strategy <family = "loops", groups = [2], tiles = [1]
// CHECK: kernel.dispatch "signal"[] strategy <family = "loops", groups = [3], tiles = [16384]
// CHECK: kernel.dispatch "wide"[] strategy <family = "loops", groups = [2], tiles = [1]
func.func @flattened(%x: tensor<1x32x200x200xf32>, %y: tensor<1x1x100000xf32>, %z: tensor<1x4x100000xf32>)
    -> (tensor<1x32x200x200xf32>, tensor<1x1x100000xf32>, tensor<1x4x100000xf32>) {
  %0 = kernel.dispatch "image" [] -> tensor<1x32x200x200xf32> {
  ^bb0(%d: tensor<1x32x200x200xf32>):
    %r = linalg.copy ins(%x : tensor<1x32x200x200xf32>) outs(%d : tensor<1x32x200x200xf32>) -> tensor<1x32x200x200xf32>
    kernel.yield %r : tensor<1x32x200x200xf32>
  }
  %1 = kernel.dispatch "signal" [] -> tensor<1x1x100000xf32> {
  ^bb0(%d: tensor<1x1x100000xf32>):
    %r = linalg.copy ins(%y : tensor<1x1x100000xf32>) outs(%d : tensor<1x1x100000xf32>) -> tensor<1x1x100000xf32>
    kernel.yield %r : tensor<1x1x100000xf32>
  }
  %2 = kernel.dispatch "wide" [] -> tensor<1x4x100000xf32> {
  ^bb0(%d: tensor<1x4x100000xf32>):
    %r = linalg.copy ins(%z : tensor<1x4x100000xf32>) outs(%d : tensor<1x4x100000xf32>) -> tensor<1x4x100000xf32>
    kernel.yield %r : tensor<1x4x100000xf32>
  }
  return %0, %1, %2 : tensor<1x32x200x200xf32>, tensor<1x1x100000xf32>, tensor<1x4x100000xf32>
}

// Negative: a reduction to a scalar has no loop to cut; sequential loops are one tile.
// CHECK-LABEL: func.func @whole
// CHECK: kernel.dispatch "sum"[] strategy <family = "loops", groups = [], tiles = []
// CHECK: kernel.dispatch "scan"[] strategy <family = "loops", groups = [], tiles = [], blocks = [], scratch = 0, reason = "sequential loops
func.func @whole(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = kernel.dispatch "sum" [] -> tensor<f32> {
  ^bb0(%d: tensor<f32>):
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%x : tensor<8xf32>) outs(%d : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    kernel.yield %r : tensor<f32>
  }
  %1 = kernel.dispatch "scan" [] -> tensor<8xf32> {
  ^bb0(%d: tensor<8xf32>):
    %c0 = arith.constant 0 : index
    %v = tensor.extract %x[%c0] : tensor<8xf32>
    %r = tensor.insert %v into %d[%c0] : tensor<8xf32>
    kernel.yield %r : tensor<8xf32>
  }
  return %0, %1 : tensor<f32>, tensor<8xf32>
}

#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#third = affine_map<(d0, d1) -> (d0, d1, 0)>

// A reduction along rows: 8 lanes, 4 accumulators, 2 rows at once, 1 level of columns, and the loops of the op. One across
// rows has its vectors along the result. Where neither is contiguous, the loops say why.
// CHECK-LABEL: func.func @rows
// CHECK: kernel.dispatch "sum"[] strategy <family = "rows", groups = [1], tiles = [4096], blocks = [8, 4, 2, 1, 1, 1], scratch = 0, reason = "a reduction along rows
// CHECK: kernel.dispatch "over"[] strategy <family = "columns", groups = [1], tiles = [32], blocks = [8, 4, 1], scratch = 0, reason = "a reduction across rows
// CHECK: kernel.dispatch "neither"[] strategy <family = "loops", {{.*}} no rows: an operand is not contiguous along the columns; no columns: an operand is neither contiguous nor constant along the last axis of the result">
func.func @rows(%x: tensor<8x16xf32>, %y: tensor<8x16x4xf32>) -> (tensor<8xf32>, tensor<16xf32>, tensor<16xf32>) {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "sum" [] -> tensor<8xf32> {
  ^bb0(%d: tensor<8xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<8xf32>) -> tensor<8xf32>
    %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<8x16xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    kernel.yield %r : tensor<8xf32>
  }
  %1 = kernel.dispatch "over" [] -> tensor<16xf32> {
  ^bb0(%d: tensor<16xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<16xf32>) -> tensor<16xf32>
    %r = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<8x16xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    kernel.yield %r : tensor<16xf32>
  }
  %2 = kernel.dispatch "neither" [] -> tensor<16xf32> {
  ^bb0(%d: tensor<16xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<16xf32>) -> tensor<16xf32>
    %r = linalg.generic {indexing_maps = [#third, #col], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<8x16x4xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    kernel.yield %r : tensor<16xf32>
  }
  return %0, %1, %2 : tensor<8xf32>, tensor<16xf32>, tensor<16xf32>
}

#row1 = affine_map<(d0, d1) -> (d0, 0)>

// The sizes of destinations are those that the dispatch was given: what was equal outside is equal inside.
// CHECK-LABEL: func.func @destinations
// CHECK: kernel.dispatch "group"[%arg1, %arg2] strategy <family = "rows"
func.func @destinations(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "group" [%n, %m] -> tensor<?x?xf32> {
  ^bb0(%d: tensor<?x?xf32>):
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %v = kernel.view %r[%n] : tensor<?xf32> to tensor<?x1xf32>
    %q = linalg.generic {indexing_maps = [#row1, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%v, %x : tensor<?x1xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    kernel.yield %q : tensor<?x?xf32>
  }
  return %0 : tensor<?x?xf32>
}
