// RUN: optc-opt %s -split-input-file -verify-diagnostics

func.func @view(%x: tensor<2x3xf32>) {
  // expected-error @below {{cannot change the number of elements}}
  %0 = kernel.view %x[] : tensor<2x3xf32> to tensor<7xf32>
  return
}

// -----

func.func @pack_dims(%x: tensor<2x3xf32>) {
  // expected-error @below {{has a packing that does not name each dimension}}
  %0 = kernel.pack %x <outer = [], n = [1], k = [], lanes = 16> : tensor<2x3xf32> to tensor<1x1x16xf32>
  return
}

// -----

func.func @pack_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{has a packing that does not name each dimension}}
  %0 = kernel.pack %x <outer = [], n = [1], k = [1], lanes = 16> : tensor<2x3xf32> to tensor<1x3x16xf32>
  return
}

// -----

func.func @pack_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @below {{has a packing that does not name each dimension}}
  %0 = kernel.pack %x <outer = [], n = [0], k = [2], lanes = 16> : tensor<2x3xf32> to tensor<1x3x16xf32>
  return
}

// -----

func.func @pack_halves(%x: tensor<2x3xf32>) {
  // expected-error @below {{where the packing makes another shape}}
  %0 = kernel.pack %x <outer = [], n = [1], k = [0], lanes = 16> : tensor<2x3xf32> to tensor<1x2x16xi4>
  return
}

// -----

// An odd number of lanes has no halves that could share bytes.
func.func @pack_odd_halves(%x: tensor<2x3xi8>) {
  // expected-error @below {{where the packing makes another shape}}
  %0 = kernel.pack %x <outer = [], n = [1], k = [0], lanes = 15> : tensor<2x3xi8> to tensor<1x2x15xui4>
  return
}

// -----

func.func @pack_shape(%x: tensor<2x3xf32>) {
  // expected-error @below {{where the packing makes another shape}}
  %0 = kernel.pack %x <outer = [], n = [1], k = [0], lanes = 16> : tensor<2x3xf32> to tensor<2x2x16xf32>
  return
}

// -----

func.func @strategy(%x: tensor<2x3xf32>) {
  // expected-error @below {{needs one tile size per group}}
  %0 = kernel.dispatch "x" [] strategy <family = "loops", groups = [1], tiles = [], blocks = [], scratch = 0, reason = ""> -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield %d : tensor<2x3xf32>
  }
  return
}

// -----

func.func @stored_count(%x: tensor<2x3xf32>) {
  // expected-error @below {{says where 2 of 1 results are stored}}
  %0 = kernel.dispatch "x" [] {stored_in = [tensor<2x6xf32>, tensor<2x6xf32>]} -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield %d : tensor<2x3xf32>
  }
  return
}

// -----

func.func @stored_small(%x: tensor<2x3xf32>) {
  // expected-error @below {{cannot store a result of type 'tensor<2x3xf32>' in a part of 'tensor<2x2xf32>'}}
  %0 = kernel.dispatch "x" [] {stored_in = [tensor<2x2xf32>]} -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield %d : tensor<2x3xf32>
  }
  return
}

// -----

func.func @bind_layout(%p: !llvm.ptr) {
  // expected-error @below {{has a layout that its stored shape does not tell}}
  %0 = kernel.bind %p[] stored [2, 6] : memref<2x3xf32, strided<[5, 1]>>
  return
}

// -----

func.func @bind_dims(%p: !llvm.ptr) {
  // expected-error @below {{has 0 dims for 1 dynamic dimensions}}
  %0 = kernel.bind %p[] : memref<?x3xf32>
  return
}

// -----

func.func @foreign_dims(%x: tensor<2x3xf32>, %n: index) {
  // expected-error @below {{has 0 dims for 1 dynamic dimensions}}
  %0 = kernel.foreign "f" (%x) dims [] tiles %n params [] : (tensor<2x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @foreign_nothing(%x: tensor<2x3xf32>, %n: index) {
  // expected-error @below {{computes nothing}}
  kernel.foreign "f" (%x) dims [] tiles %n params [] : (tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @yield(%x: tensor<2x3xf32>) {
  // expected-error @below {{must yield one value per result}}
  %0 = kernel.dispatch "x" [] -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield
  }
  return
}

// -----

func.func @padded_rank(%x: tensor<2x3xf32>, %i: index, %z: f32) {
  // expected-error @below {{needs a low border and a size for each of 2 dimensions}}
  %0 = kernel.padded %x low [%i] sizes [%i, %i] fill %z dims [] : f32, tensor<2x3xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @padded_fill(%x: tensor<2x3xf32>, %i: index, %z: f64) {
  // expected-error @below {{has a fill of another type than its elements}}
  %0 = kernel.padded %x low [%i, %i] sizes [%i, %i] fill %z dims [] : f64, tensor<2x3xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @padded_dims(%x: tensor<2x3xf32>, %i: index, %z: f32) {
  // expected-error @below {{has 0 dims for 1 dynamic dimensions}}
  %0 = kernel.padded %x low [%i, %i] sizes [%i, %i] fill %z dims [] : f32, tensor<2x3xf32> to tensor<?x3xf32>
  return
}

// -----

func.func @padded_type(%x: tensor<2x3xf32>, %i: index, %z: f32) {
  // expected-error @below {{cannot change the rank or the element type}}
  %0 = kernel.padded %x low [%i, %i] sizes [%i, %i] fill %z dims [] : f32, tensor<2x3xf32> to tensor<4x3x1xf32>
  return
}

// -----

func.func @blocks(%x: tensor<2x3xf32>) {
  // expected-error @below {{needs 5 blocks for the family 'gemm', but has 1}}
  %0 = kernel.dispatch "x" [] strategy <family = "gemm", groups = [1], tiles = [1], blocks = [6], scratch = 0, reason = ""> -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield %d : tensor<2x3xf32>
  }
  return
}

// -----

func.func @groups(%x: tensor<2x3xf32>) {
  // expected-error @below {{whose groups name 3 dimensions}}
  %0 = kernel.dispatch "x" [] strategy <family = "loops", groups = [1, 2], tiles = [1, 1], blocks = [], scratch = 0, reason = ""> -> tensor<2x3xf32> {
  ^bb0(%d: tensor<2x3xf32>):
    kernel.yield %d : tensor<2x3xf32>
  }
  return
}
