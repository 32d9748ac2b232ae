// RUN: optc-opt %s -split-input-file -optc-address-slices="capability=90 report" -verify-diagnostics | FileCheck %s --check-prefix=SLICES
// RUN: optc-opt %s -split-input-file -optc-form-dispatches -optc-place-concats="capability=90" | FileCheck %s --check-prefix=PARTS

// The tensor memory accelerator wants rows at multiples of 16 bytes: the first slice is one, the second is copied, since
// its copy would be, and the third is read where it is, by another family.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// SLICES-LABEL: func.func @products
// SLICES: %[[A:.*]] = tensor.extract_slice %arg0[0, 8]
// SLICES: linalg.generic {{.*}} ins(%[[A]], %arg1
// SLICES: %[[B:.*]] = linalg.generic {{.*}}kernel.declined = ["the slice is not laid out for a reduction of the device"]
// SLICES: linalg.generic {{.*}} ins(%[[B]], %arg1
// SLICES: %[[C:.*]] = tensor.extract_slice %arg0[0, 1] [32, 33]
// SLICES: linalg.generic {{.*}} ins(%[[C]],
func.func @products(%x: tensor<32x64xf16>, %w: tensor<32x16xf16>, %v: tensor<33x16xf16>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %s = tensor.extract_slice %x[0, 8] [32, 32] [1, 1] : tensor<32x64xf16> to tensor<32x32xf16>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %w : tensor<32x32xf16>, tensor<32x16xf16>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%u: f16, %t: f16, %acc: f32):
    %p = arith.extf %u : f16 to f32
    %q = arith.extf %t : f16 to f32
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<32x16xf32>
  // expected-remark @below {{is copied: the slice is not laid out for a reduction of the device}}
  %s1 = tensor.extract_slice %x[0, 9] [32, 32] [1, 1] : tensor<32x64xf16> to tensor<32x32xf16>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s1, %w : tensor<32x32xf16>, tensor<32x16xf16>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%u: f16, %t: f16, %acc: f32):
    %p = arith.extf %u : f16 to f32
    %q = arith.extf %t : f16 to f32
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<32x16xf32>
  %s2 = tensor.extract_slice %x[0, 1] [32, 33] [1, 1] : tensor<32x64xf16> to tensor<32x33xf16>
  %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s2, %v : tensor<32x33xf16>, tensor<33x16xf16>) outs(%f : tensor<32x16xf32>) {
  ^bb0(%u: f16, %t: f16, %acc: f32):
    %p = arith.extf %u : f16 to f32
    %q = arith.extf %t : f16 to f32
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<32x16xf32>
  return %0, %1, %2 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// A softmax keeps its rows together: its result is no part of wider rows, but may be one of more rows.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// PARTS-LABEL: func.func @rows
// PARTS: %[[S:.*]] = kernel.dispatch "generic"
// PARTS-NOT: stored_in
// PARTS: kernel.dispatch "concat"
// PARTS-LABEL: func.func @more_rows
// PARTS: kernel.dispatch "generic"[] {stored_in = [tensor<8x64xf32>]}
// PARTS: kernel.dispatch "negf"[] {stored_in = [tensor<8x64xf32>]}
func.func @rows(%x: tensor<4x64xf32>) -> tensor<4x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.addf %acc, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %o = tensor.empty() : tensor<4x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x64xf32>, tensor<4xf32>) outs(%o : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %u: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %c = tensor.concat dim(1) %d, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x128xf32>
  return %c : tensor<4x128xf32>
}
func.func @more_rows(%x: tensor<4x64xf32>) -> tensor<8x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.addf %acc, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %o = tensor.empty() : tensor<4x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x64xf32>, tensor<4xf32>) outs(%o : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %u: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %n = linalg.negf ins(%x : tensor<4x64xf32>) outs(%o : tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = tensor.concat dim(0) %d, %n : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  return %c : tensor<8x64xf32>
}

// -----

// Strings are the host's, whose kernels work on copies of whole tensors: nothing is a part in such a program.
// SLICES-LABEL: func.func @strings
// SLICES-NOT: tensor.extract_slice
// PARTS-LABEL: func.func @strings
// PARTS-NOT: stored_in
#one = affine_map<(i) -> (i)>
func.func @strings(%c: tensor<8xi8>, %x: tensor<4x!kernel.string>, %y: tensor<4x!kernel.string>) -> (tensor<4x!kernel.string>, tensor<8xi8>) {
  // expected-remark @below {{is copied: the slice is read where strings are, on the host}}
  %s = tensor.extract_slice %c[4] [4] [1] : tensor<8xi8> to tensor<4xi8>
  %e = tensor.empty() : tensor<4x!kernel.string>
  %r = linalg.generic {indexing_maps = [#one, #one, #one, #one], iterator_types = ["parallel"]} ins(%s, %x, %y : tensor<4xi8>, tensor<4x!kernel.string>, tensor<4x!kernel.string>) outs(%e : tensor<4x!kernel.string>) {
  ^bb0(%k: i8, %a: !kernel.string, %b: !kernel.string, %o: !kernel.string):
    %t = arith.trunci %k : i8 to i1
    %u = arith.select %t, %a, %b : !kernel.string
    linalg.yield %u : !kernel.string
  } -> tensor<4x!kernel.string>
  %i = tensor.empty() : tensor<4xi8>
  %n = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%s : tensor<4xi8>) outs(%i : tensor<4xi8>) {
  ^bb0(%k: i8, %o: i8):
    %t = arith.xori %k, %k : i8
    linalg.yield %t : i8
  } -> tensor<4xi8>
  %w = tensor.concat dim(0) %n, %n : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  return %r, %w : tensor<4x!kernel.string>, tensor<8xi8>
}
