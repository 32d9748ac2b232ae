// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" -optc-plan -optc-lower-kernels=opt-level=3 -canonicalize -cse -split-input-file | FileCheck %s
// RUN: optc-opt %s -optc-configure="vector-bits=512 vector-registers=32 dot-depth=4" -optc-plan -optc-lower-kernels=opt-level=3 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=QUADS
// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16 dot-depth=2" -optc-plan -optc-lower-kernels=opt-level=3 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PAIRS
// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" -optc-plan -optc-lower-kernels=opt-level=2 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=O2

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// 18 rows are three register tiles of 6; 20 columns are a panel of two vectors and one vector with a mask. The epilogue is
// on vectors. Contraction is for -O3 only.
// CHECK-LABEL: func.func private @k0_p
// CHECK: scf.for
// CHECK: vector.load
// CHECK: memref.load
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: vector.store
// CHECK: vector.maskedstore
// CHECK-NOT: linalg
// O2-LABEL: func.func private @k0_p
// O2-NOT: fastmath
func.func @main(%x: tensor<18x64xf32>) -> tensor<18x20xf32> {
  %w = arith.constant dense<1.0> : tensor<64x20xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "p" [] -> tensor<18x20xf32> {
  ^bb0(%d: tensor<18x20xf32>):
    %e = tensor.empty() : tensor<18x20xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<18x20xf32>) -> tensor<18x20xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<18x64xf32>, tensor<64x20xf32>) outs(%f : tensor<18x20xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<18x20xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<18x20xf32>) outs(%d : tensor<18x20xf32>) {
    ^bb0(%u: f32, %o: f32):
      %m = arith.maximumf %u, %z : f32
      linalg.yield %m : f32
    } -> tensor<18x20xf32>
    kernel.yield %r : tensor<18x20xf32>
  }
  return %0 : tensor<18x20xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Packing at run time transposes blocks in registers. An unknown number of rows takes one of several heights.
// CHECK-LABEL: func.func private @k0_pack
// CHECK: vector.shuffle
// CHECK-LABEL: func.func private @k1_p
// CHECK: scf.index_switch
// CHECK: case 6
// CHECK: case 1
func.func @main(%x: tensor<?x64xf32>, %y: tensor<32x64xf32>) -> tensor<?x32xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %0 = kernel.dispatch "p" [%m] -> tensor<?x32xf32> {
  ^bb0(%d: tensor<?x32xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<?x32xf32>) -> tensor<?x32xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<?x64xf32>, tensor<32x64xf32>) outs(%f : tensor<?x32xf32>) {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %t = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %t : f32
      linalg.yield %s : f32
    } -> tensor<?x32xf32>
    kernel.yield %p : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Signed rows: their sign bits are flipped, and what that adds to the sums is subtracted. The last group, of 2 of 4 steps,
// ends with the row.
// QUADS-LABEL: func.func private @k0_bytes
// QUADS: vector.load {{.*}} : memref<1260xi8>, vector<4xi8>
// QUADS: arith.xori {{.*}} : vector<64xi8>
// QUADS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// QUADS: arith.subi {{.*}} : vector<16xi32>
// PAIRS-LABEL: func.func private @k0_bytes
// PAIRS: arith.shrsi {{.*}} : vector<16xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: arith.addi {{.*}} : vector<8xi32>
// PAIRS-NOT: arith.subi {{.*}} : vector<8xi32>
// CHECK-LABEL: func.func private @k0_bytes
// CHECK: arith.muli {{.*}} : vector<8xi32>
// CHECK-NOT: call_intrinsic
func.func @main(%x: tensor<18x70xi8>) -> tensor<18x20xi32> {
  %w = arith.constant dense<1> : tensor<70x20xi8>
  %z = arith.constant 0 : i32
  %0 = kernel.dispatch "bytes" [] -> tensor<18x20xi32> {
  ^bb0(%d: tensor<18x20xi32>):
    %f = linalg.fill ins(%z : i32) outs(%d : tensor<18x20xi32>) -> tensor<18x20xi32>
    %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<18x70xi8>, tensor<70x20xi8>) outs(%f : tensor<18x20xi32>) {
    ^bb0(%u: i8, %v: i8, %acc: i32):
      %eu = arith.extsi %u : i8 to i32
      %ev = arith.extsi %v : i8 to i32
      %m = arith.muli %eu, %ev : i32
      %s = arith.addi %acc, %m : i32
      linalg.yield %s : i32
    } -> tensor<18x20xi32>
    kernel.yield %p : tensor<18x20xi32>
  }
  return %0 : tensor<18x20xi32>
}

// -----

#a = affine_map<(m, n, j, k) -> (m, j, k)>
#b = affine_map<(m, n, j, k) -> (n, j, k)>
#s = affine_map<(m, n, j, k) -> (n, j)>
#c = affine_map<(m, n, j, k) -> (m, n)>

// Two vectors of 4-bit values come from one load. At -O3 the scale of a block multiplies the sum of the block, in the outer
// loop; below, every element. Signed values are stored with 8 added, which a single row subtracts from its sum, times the
// sum of its elements. It multiplies whole bytes instead of their high halves.
// PAIRS-LABEL: func.func private @k0_rows
// CHECK-LABEL: func.func private @k0_rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load {{.*}} : memref<1024xi8>, vector<8xi8>
// CHECK: arith.extui {{.*}} : vector<8xi8> to vector<8xi32>
// CHECK: arith.andi
// CHECK: arith.subi
// CHECK-NOT: vector.load
// CHECK: arith.shrui
// CHECK: arith.subi
// CHECK: scf.yield
// CHECK: vector.load {{.*}}xf32>, vector<8xf32>
// CHECK: arith.mulf {{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK-LABEL: func.func private @k1_row
// CHECK: vector.shuffle {{.*}} : vector<8xi8>, vector<8xi8>
// CHECK-NOT: arith.{{subi|shrui}} {{.*}} : vector
// CHECK: scf.yield
// CHECK: arith.subf {{.*}} : vector<8xf32>
// CHECK: scf.yield
// O2-LABEL: func.func private @k0_rows
// O2: arith.sitofp {{.*}} : vector<8xi32> to vector<8xf32>
// O2: arith.mulf {{.*}} : vector<8xf32>
// O2: arith.mulf {{.*}} : vector<8xf32>
// O2-LABEL: func.func private @k1_row
// O2: arith.subi {{.*}} : vector<8xi32>
// O2-NOT: arith.subf
func.func @main(%x: tensor<6x2x32xf32>, %y: tensor<1x2x32xf32>) -> (tensor<6x32xf32>, tensor<1x32xf32>) {
  %w = kernel.packed_constant dense<1> : tensor<32x2x32xi4> : tensor<32x2x32xi8>
  %scale = arith.constant dense<0.5> : tensor<32x2xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "rows" [] -> tensor<6x32xf32> {
  ^bb0(%d: tensor<6x32xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<6x32xf32>) -> tensor<6x32xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #s, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w, %scale : tensor<6x2x32xf32>, tensor<32x2x32xi8>, tensor<32x2xf32>) outs(%f : tensor<6x32xf32>) {
    ^bb0(%u: f32, %v: i8, %s: f32, %acc: f32):
      %wide = arith.extsi %v : i8 to i32
      %e = arith.sitofp %wide : i32 to f32
      %q = arith.mulf %e, %s : f32
      %m = arith.mulf %u, %q : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<6x32xf32>
    kernel.yield %p : tensor<6x32xf32>
  }
  %1 = kernel.dispatch "row" [] -> tensor<1x32xf32> {
  ^bb0(%d: tensor<1x32xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x32xf32>) -> tensor<1x32xf32>
    %p = linalg.generic {indexing_maps = [#a, #b, #s, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%y, %w, %scale : tensor<1x2x32xf32>, tensor<32x2x32xi8>, tensor<32x2xf32>) outs(%f : tensor<1x32xf32>) {
    ^bb0(%u: f32, %v: i8, %s: f32, %acc: f32):
      %wide = arith.extsi %v : i8 to i32
      %e = arith.sitofp %wide : i32 to f32
      %q = arith.mulf %e, %s : f32
      %m = arith.mulf %u, %q : f32
      %r = arith.addf %acc, %m : f32
      linalg.yield %r : f32
    } -> tensor<1x32xf32>
    kernel.yield %p : tensor<1x32xf32>
  }
  return %0, %1 : tensor<6x32xf32>, tensor<1x32xf32>
}
