// RUN: optc-opt %s -split-input-file -optc-lower-onnx | FileCheck %s

// CHECK-LABEL: func.func @if
// CHECK: scf.if %{{.*}} -> (tensor<4xf32>)
func.func @if(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "onnx.Yield"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "onnx.Neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "onnx.Yield"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A counted loop without a condition is an scf.for; scan outputs are collected in a list.
// CHECK-LABEL: func.func @counted
// CHECK: kernel.library list_new
// CHECK: scf.for
// CHECK: kernel.library list_append
// CHECK: kernel.library list_stack
func.func @counted(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %0:2 = "onnx.Loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %1 = "onnx.Add"(%s, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "onnx.Yield"(%c, %1, %1) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// With a condition: an scf.while that carries it.
// CHECK-LABEL: func.func @conditional
// CHECK: scf.while
// CHECK: scf.condition
func.func @conditional(%c: tensor<i1>, %x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %0 = "onnx.Loop"(%c, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<f32>):
    %1 = "onnx.Add"(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "onnx.Less"(%1, %limit) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "onnx.Yield"(%2, %1) : (tensor<i1>, tensor<f32>) -> ()
  }) {operandSegmentSizes = array<i32: 0, 1, 1>} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Scan reads one slice per iteration; a reversed input is read from its end.
// CHECK-LABEL: func.func @scan
// CHECK: scf.for
// CHECK: arith.subi
// CHECK: tensor.extract %{{.*}} : tensor<3x2xf32>
func.func @scan(%s: tensor<2xf32>, %x: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %0:2 = "onnx.Scan"(%s, %x) ({
  ^bb0(%a: tensor<2xf32>, %e: tensor<2xf32>):
    %1 = "onnx.Add"(%a, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "onnx.Yield"(%1, %1) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) {num_scan_inputs = 1 : i64, scan_input_directions = array<i64: 1>} : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<3x2xf32>
}

// -----

// A branch of another rank than the users need ends the run when it is taken.
// CHECK-LABEL: func.func @ranks
// CHECK: scf.if %{{.*}} -> (tensor<?x?xf32>)
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: kernel.check %[[FALSE]], "the branch gives a tensor of rank 1, the nodes that use it need rank 2"
// CHECK: kernel.library value_copy
func.func @ranks(%c: tensor<i1>, %x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%y) : (tensor<?xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<?x?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Where all users broadcast, it gets axes in front.
// CHECK-LABEL: func.func @broadcast_ranks
// CHECK: scf.if %{{.*}} -> (tensor<?xf32>)
// CHECK: kernel.view %{{.*}} : tensor<f32> to tensor<1xf32>
// CHECK-NOT: kernel.library
func.func @broadcast_ranks(%c: tensor<i1>, %x: tensor<4x2xf32>, %s: tensor<f32>, %v: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%s) : (tensor<f32>) -> ()
  }, {
    "onnx.Yield"(%v) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %1 = "onnx.Mul"(%x, %0) : (tensor<4x2xf32>, tensor<*xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
