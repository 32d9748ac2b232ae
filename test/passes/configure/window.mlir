// RUN: optc-opt %s -optc-configure="vector-bits=256 vector-registers=16" | FileCheck %s
// RUN: optc-opt %s -optc-configure="vector-bits=512 vector-registers=32" | FileCheck %s --check-prefix=WIDE
// RUN: optc-opt %s -optc-configure=opt-level=0 | FileCheck %s --check-prefix=O0

#x = affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#k = affine_map<(n, h, w, c, kh, kw) -> (c, kh, kw)>
#kt = affine_map<(n, h, w, c, kh, kw) -> (kh, kw, c)>
#window = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#y = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#dense = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#densek = affine_map<(n, h, w, f, kh, kw, c) -> (f, kh, kw, c)>
#densey = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>
#first = affine_map<(n, c, h, w, kh, kw) -> (n, c, h * 2 + kh, w * 2 + kw)>
#firstk = affine_map<(n, c, h, w, kh, kw) -> (kh, kw)>
#firsty = affine_map<(n, c, h, w, kh, kw) -> (n, c, h, w)>

// Depthwise: the weights of all channels lie one after the other for each tap. Two rows of the result at once where
// the weights of both fit into registers.
// CHECK-LABEL: func.func @depthwise
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} <outer = [], n = [0], k = [1, 2], lanes = 40> : tensor<40x3x3xf32> to tensor<1x9x40xf32>
// CHECK: kernel.dispatch "dw"[] strategy <family = "window", groups = [1, 1], tiles = [1, {{[0-9]+}}], blocks = [8, 1, 2, 4, 0], scratch = 0, reason = "windows with weights
// CHECK: kernel.packed %[[P]]
// WIDE-LABEL: func.func @depthwise
// WIDE: kernel.dispatch "dw"{{.*}}blocks = [16, 1, 2, 4, 0]
// O0-LABEL: func.func @depthwise
// O0: strategy <family = "loops"
func.func @depthwise(%x: tensor<1x33x33x40xf32>) -> tensor<1x16x16x40xf32> {
  %k = arith.constant dense<1.0> : tensor<40x3x3xf32>
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "dw" [] -> tensor<1x16x16x40xf32> {
  ^bb0(%d: tensor<1x16x16x40xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x16x16x40xf32>) -> tensor<1x16x16x40xf32>
    %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %k : tensor<1x33x33x40xf32>, tensor<40x3x3xf32>) outs(%f : tensor<1x16x16x40xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x16x16x40xf32>
    kernel.yield %r : tensor<1x16x16x40xf32>
  }
  return %0 : tensor<1x16x16x40xf32>
}

// The border of the input is not stored: its dispatch goes, the window reads what it copied. Sizes only a run knows are
// no hindrance, nor is another body than a product.
// CHECK-LABEL: func.func @border
// CHECK-SAME: (%[[X:.*]]: tensor<1x?x16x24xf32>
// CHECK-NOT: kernel.dispatch "pad"
// CHECK: kernel.dispatch "pool"{{.*}}family = "window"{{.*}}reason = "windows, the border not stored
// CHECK: kernel.padded %[[X]] low[%{{.*}}, %c1{{.*}}, %c1{{.*}}, %{{.*}}] sizes[%{{.*}}, %arg1, %c16{{.*}}, %{{.*}}] fill %{{.*}} dims[%arg2] : f32, tensor<1x?x16x24xf32> to tensor<1x?x19x24xf32>
func.func @border(%x: tensor<1x?x16x24xf32>, %h: index, %ph: index, %oh: index) -> tensor<1x?x9x24xf32> {
  %low = arith.constant 0xFF800000 : f32
  %c-1 = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %p = kernel.dispatch "pad" [%ph] -> tensor<1x?x19x24xf32> {
  ^bb0(%d: tensor<1x?x19x24xf32>):
    %r = linalg.generic {indexing_maps = [#id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        outs(%d : tensor<1x?x19x24xf32>) {
    ^bb0(%o: f32):
      %i0 = linalg.index 0 : index
      %i1 = linalg.index 1 : index
      %i2 = linalg.index 2 : index
      %i3 = linalg.index 3 : index
      %s1 = arith.subi %i1, %c1 : index
      %b1 = arith.cmpi ult, %s1, %h : index
      %s2 = arith.addi %i2, %c-1 : index
      %b2 = arith.cmpi ult, %s2, %c16 : index
      %in = arith.andi %b1, %b2 : i1
      %v = scf.if %in -> f32 {
        %e = tensor.extract %x[%i0, %s1, %s2, %i3] : tensor<1x?x16x24xf32>
        scf.yield %e : f32
      } else {
        scf.yield %low : f32
      }
      linalg.yield %v : f32
    } -> tensor<1x?x19x24xf32>
    kernel.yield %r : tensor<1x?x19x24xf32>
  }
  %0 = kernel.dispatch "pool" [%oh] -> tensor<1x?x9x24xf32> {
  ^bb0(%d: tensor<1x?x9x24xf32>):
    %f = linalg.fill ins(%low : f32) outs(%d : tensor<1x?x9x24xf32>) -> tensor<1x?x9x24xf32>
    %size = tensor.empty() : tensor<3x3xi8>
    %r = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %size : tensor<1x?x19x24xf32>, tensor<3x3xi8>) outs(%f : tensor<1x?x9x24xf32>) {
    ^bb0(%a: f32, %b: i8, %acc: f32):
      %s = arith.maximumf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<1x?x9x24xf32>
    kernel.yield %r : tensor<1x?x9x24xf32>
  }
  return %0 : tensor<1x?x9x24xf32>
}

// Negative: a border around the channels, which vectors run along, is stored.
// CHECK-LABEL: func.func @channels
// CHECK: kernel.dispatch "pad"{{.*}}family = "loops"
// CHECK: kernel.dispatch "pool"{{.*}}family = "window"{{.*}}reason = "windows
// CHECK-NOT: kernel.padded
func.func @channels(%x: tensor<1x9x9x6xf32>) -> tensor<1x4x4x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %p = kernel.dispatch "pad" [] -> tensor<1x9x9x8xf32> {
  ^bb0(%d: tensor<1x9x9x8xf32>):
    %r = linalg.generic {indexing_maps = [#id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        outs(%d : tensor<1x9x9x8xf32>) {
    ^bb0(%o: f32):
      %i0 = linalg.index 0 : index
      %i1 = linalg.index 1 : index
      %i2 = linalg.index 2 : index
      %i3 = linalg.index 3 : index
      %s3 = arith.subi %i3, %c1 : index
      %in = arith.cmpi ult, %s3, %c6 : index
      %v = scf.if %in -> f32 {
        %e = tensor.extract %x[%i0, %i1, %i2, %s3] : tensor<1x9x9x6xf32>
        scf.yield %e : f32
      } else {
        scf.yield %low : f32
      }
      linalg.yield %v : f32
    } -> tensor<1x9x9x8xf32>
    kernel.yield %r : tensor<1x9x9x8xf32>
  }
  %0 = kernel.dispatch "pool" [] -> tensor<1x4x4x8xf32> {
  ^bb0(%d: tensor<1x4x4x8xf32>):
    %f = linalg.fill ins(%low : f32) outs(%d : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %size = tensor.empty() : tensor<3x3xi8>
    %r = linalg.generic {indexing_maps = [#x, #window, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %size : tensor<1x9x9x8xf32>, tensor<3x3xi8>) outs(%f : tensor<1x4x4x8xf32>) {
    ^bb0(%a: f32, %b: i8, %acc: f32):
      %s = arith.maximumf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<1x4x4x8xf32>
    kernel.yield %r : tensor<1x4x4x8xf32>
  }
  return %0 : tensor<1x4x4x8xf32>
}

// Negative: what is no window, or one that vectors cannot walk, goes elsewhere with the reason.
// CHECK-LABEL: func.func @others
// CHECK: kernel.dispatch "integers"{{.*}}no window: a reduction runs over a whole dimension of the input
// CHECK: kernel.dispatch "nchw"{{.*}}family = "loops"{{.*}}no window: the input is not contiguous along the last dimension of the result
// CHECK: kernel.dispatch "weights"{{.*}}family = "loops"{{.*}}no window: the second operand is neither constant nor contiguous along the vectors
// CHECK: kernel.dispatch "contiguous"{{.*}}family = "window"
func.func @others(%x: tensor<1x9x9x8xi32>, %wx: tensor<4x3x3x8xi32>, %c: tensor<1x8x9x9xf32>, %s: tensor<1x9x9x8xf32>, %k: tensor<8x3x3xf32>, %kt: tensor<3x3x8xf32>)
    -> (tensor<1x7x7x4xi32>, tensor<1x8x4x4xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) {
  %zi = arith.constant 0 : i32
  %z = arith.constant 0.0 : f32
  %0 = kernel.dispatch "integers" [] -> tensor<1x7x7x4xi32> {
  ^bb0(%d: tensor<1x7x7x4xi32>):
    %f = linalg.fill ins(%zi : i32) outs(%d : tensor<1x7x7x4xi32>) -> tensor<1x7x7x4xi32>
    %r = linalg.generic {indexing_maps = [#dense, #densek, #densey], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %wx : tensor<1x9x9x8xi32>, tensor<4x3x3x8xi32>) outs(%f : tensor<1x7x7x4xi32>) {
    ^bb0(%a: i32, %b: i32, %acc: i32):
      %m = arith.muli %a, %b : i32
      %t = arith.addi %acc, %m : i32
      linalg.yield %t : i32
    } -> tensor<1x7x7x4xi32>
    kernel.yield %r : tensor<1x7x7x4xi32>
  }
  %1 = kernel.dispatch "nchw" [] -> tensor<1x8x4x4xf32> {
  ^bb0(%d: tensor<1x8x4x4xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %size = tensor.empty() : tensor<3x3xi8>
    %r = linalg.generic {indexing_maps = [#first, #firstk, #firsty], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%c, %size : tensor<1x8x9x9xf32>, tensor<3x3xi8>) outs(%f : tensor<1x8x4x4xf32>) {
    ^bb0(%a: f32, %b: i8, %acc: f32):
      %t = arith.addf %acc, %a : f32
      linalg.yield %t : f32
    } -> tensor<1x8x4x4xf32>
    kernel.yield %r : tensor<1x8x4x4xf32>
  }
  %2 = kernel.dispatch "weights" [] -> tensor<1x4x4x8xf32> {
  ^bb0(%d: tensor<1x4x4x8xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %k : tensor<1x9x9x8xf32>, tensor<8x3x3xf32>) outs(%f : tensor<1x4x4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %t = arith.addf %acc, %m : f32
      linalg.yield %t : f32
    } -> tensor<1x4x4x8xf32>
    kernel.yield %r : tensor<1x4x4x8xf32>
  }
  %3 = kernel.dispatch "contiguous" [] -> tensor<1x4x4x8xf32> {
  ^bb0(%d: tensor<1x4x4x8xf32>):
    %f = linalg.fill ins(%z : f32) outs(%d : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %r = linalg.generic {indexing_maps = [#x, #kt, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %kt : tensor<1x9x9x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x4x4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %t = arith.addf %acc, %m : f32
      linalg.yield %t : f32
    } -> tensor<1x4x4x8xf32>
    kernel.yield %r : tensor<1x4x4x8xf32>
  }
  return %0, %1, %2, %3 : tensor<1x7x7x4xi32>, tensor<1x8x4x4xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
}
