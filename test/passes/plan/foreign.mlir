// RUN: optc-opt %s -split-input-file -optc-plan -verify-diagnostics | FileCheck %s

// Buffers, then the rank and sizes of each, then the parameters. One result is computed into the output; both calls are of
// one function, which is only declared.
// CHECK-LABEL: func.func @host_main
// CHECK: %[[X:.*]] = kernel.input 0
// CHECK: %[[N:.*]] = kernel.input_dim 0, 0
// CHECK: %[[Y:.*]] = kernel.alloc
// CHECK: kernel.launch @f tiles %[[N]] buffers(%[[X]], %[[Y]]) scalars(%c2{{.*}}, %[[N]], %c3{{.*}}, %c2{{.*}}, %[[N]], %c3{{.*}}, %c7_i64{{.*}} : index, index, index, index, index, index, i64) scratch 0
// CHECK: %[[Z:.*]] = kernel.output 0
// CHECK: kernel.launch @f {{.*}} buffers(%[[Y]], %[[Z]])
// CHECK-NOT: kernel.copy
// CHECK: func.func private @f(!llvm.ptr)
// CHECK-NOT: func.func private @f
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %0 = kernel.foreign "f" (%x) dims [%n] tiles %n params [7] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = kernel.foreign "f" (%0) dims [%n] tiles %n params [8] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// A slice that is not contiguous is nothing for it.
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  // expected-error @below {{reads a part of a tensor as if it were contiguous}}
  %0 = kernel.foreign "f" (%s) dims [] tiles %c1 params [] : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Nor does it call what optc makes.
func.func private @f(%x: index)
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{calls 'f', which is a function of optc's own}}
  %0 = kernel.foreign "f" (%x) dims [] tiles %c1 params [] : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
