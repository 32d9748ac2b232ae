// RUN: optc-opt %s -optc-fuse-elementwise -optc-form-dispatches | FileCheck %s

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>

// A consumer that asks for its position is computed on the sums of the windows; the tensor that gives them their size
// is made inside. Negative: what comes before a window is not repeated for every tap.
// CHECK-LABEL: func.func @average
// CHECK: kernel.dispatch "before"
// CHECK: kernel.dispatch "sum_scale"
// CHECK: tensor.empty() : tensor<3x3xi8>
// CHECK: linalg.index 1
// CHECK-NOT: kernel.dispatch
func.func @average(%x: tensor<1x8x8x16xf32>) -> tensor<1x6x6x16xf32> {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x8x8x16xf32>
  %e = tensor.empty() : tensor<1x6x6x16xf32>
  %size = tensor.empty() : tensor<3x3xi8>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x8x8x16xf32>) outs(%ex : tensor<1x8x8x16xf32>) attrs = {optc.label = "before"} {
  ^bb0(%u: f32, %o: f32):
    %r = arith.negf %u : f32
    linalg.yield %r : f32
  } -> tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %s = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%n, %size : tensor<1x8x8x16xf32>, tensor<3x3xi8>) outs(%f : tensor<1x6x6x16xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%u: f32, %v: i8, %acc: f32):
    %r = arith.addf %acc, %u : f32
    linalg.yield %r : f32
  } -> tensor<1x6x6x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<1x6x6x16xf32>) outs(%e : tensor<1x6x6x16xf32>) attrs = {optc.label = "scale"} {
  ^bb0(%u: f32, %o: f32):
    %i = linalg.index 1 : index
    %l = arith.index_cast %i : index to i64
    %c = arith.sitofp %l : i64 to f32
    %r = arith.divf %u, %c : f32
    linalg.yield %r : f32
  } -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// Negative: a consumer that asks for its channel, of which a vector has several, is a dispatch of its own.
// CHECK-LABEL: func.func @channel
// CHECK: kernel.dispatch "sum"
// CHECK: kernel.dispatch "scale"
func.func @channel(%x: tensor<1x8x8x16xf32>) -> tensor<1x6x6x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x6x16xf32>
  %size = tensor.empty() : tensor<3x3xi8>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %s = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %size : tensor<1x8x8x16xf32>, tensor<3x3xi8>) outs(%f : tensor<1x6x6x16xf32>) attrs = {optc.label = "sum"} {
  ^bb0(%u: f32, %v: i8, %acc: f32):
    %r = arith.addf %acc, %u : f32
    linalg.yield %r : f32
  } -> tensor<1x6x6x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<1x6x6x16xf32>) outs(%e : tensor<1x6x6x16xf32>) attrs = {optc.label = "scale"} {
  ^bb0(%u: f32, %o: f32):
    %i = linalg.index 3 : index
    %l = arith.index_cast %i : index to i64
    %c = arith.sitofp %l : i64 to f32
    %r = arith.divf %u, %c : f32
    linalg.yield %r : f32
  } -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
