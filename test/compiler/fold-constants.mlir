// RUN: optc-opt %s -split-input-file -optc-fold-constants -verify-diagnostics | FileCheck %s
// RUN: optc-opt %s -split-input-file -optc-fold-constants='max-steps=1' 2>/dev/null | FileCheck %s --check-prefix=BOUND
// RUN: optc-opt %s -split-input-file -optc-fold-constants='max-bytes=3' 2>/dev/null | FileCheck %s --check-prefix=BOUND

// A chain becomes its last value and nothing is left of it. The name of the node stays.
// CHECK-LABEL: func @chain
// CHECK-NEXT: onnx.Constant dense<{{\[\[}}-1.000000e+00, 4.000000e+00], [0.000000e+00, 5.000000e+00], [1.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT: "onnx.Add"
// CHECK-NEXT: return
// BOUND-LABEL: func @chain
// BOUND: onnx.Transpose
func.func @chain(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %c = onnx.Constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
  %two = onnx.Constant dense<[[2.0], [0.0]]> : tensor<2x1xf32>
  %0 = "onnx.Cast"(%c) {to = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %1 = "onnx.Sub"(%0, %two) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = "onnx.Transpose"(%1) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = "onnx.Add"(%x, %2) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %3 : tensor<3x2xf32>
}

// -----

// Weights are read where they lie; sub-byte ones are packed.
// CHECK-LABEL: func @weights
// CHECK-DAG: onnx.Constant dense<[1, 2, -1, -8, 7]> : tensor<5xi8>
// CHECK-DAG: onnx.Constant dense<[-1, -2, 1, -8, -7]> : tensor<5xi4>
func.func @weights() -> (tensor<5xi8>, tensor<5xi4>) {
  %w = onnx.Constant dense_resource<w> : tensor<5xi4>
  %0 = "onnx.Cast"(%w) {to = 3 : i64} : (tensor<5xi4>) -> tensor<5xi8>
  %1 = "onnx.Neg"(%0) : (tensor<5xi8>) -> tensor<5xi8>
  %2 = "onnx.Cast"(%1) {to = 22 : i64} : (tensor<5xi8>) -> tensor<5xi4>
  return %0, %2 : tensor<5xi8>, tensor<5xi4>
}
{-#
  dialect_resources: {
    builtin: { w: "0x01000000218F07" }
  }
#-}

// -----

// Equal large values are one resource, whatever they were computed from.
// CHECK-LABEL: func @shared
// CHECK-NEXT: %[[C:.*]] = onnx.Constant dense_resource<"{{[0-9a-f]+}}_4096"> : tensor<4x256xf32>
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @shared() -> (tensor<4x256xf32>, tensor<4x256xf32>) {
  %a = onnx.Constant dense<3.0> : tensor<4x256xf32>
  %b = onnx.Constant dense<-3.0> : tensor<256x4xf32>
  %0 = "onnx.Neg"(%b) : (tensor<256x4xf32>) -> tensor<256x4xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<256x4xf32>) -> tensor<4x256xf32>
  %2 = "onnx.Abs"(%a) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  return %1, %2 : tensor<4x256xf32>, tensor<4x256xf32>
}

// -----

// What grows stays, and what it is computed from is folded. A small value computed from a large one is folded.
// CHECK-LABEL: func @growth
// CHECK-DAG: %[[SHAPE:.*]] = onnx.Constant dense<1024>
// CHECK-DAG: %[[TWO:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1xf32>
// CHECK: %[[BIG:.*]] = "onnx.Expand"(%[[TWO]], %[[SHAPE]])
// CHECK: %[[SUM:.*]] = onnx.Constant dense<2.048000e+03> : tensor<1xf32>
// CHECK: return %[[BIG]], %[[SUM]]
func.func @growth() -> (tensor<1024xf32>, tensor<1xf32>) {
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %shape = onnx.Constant dense<1024> : tensor<1xi64>
  %0 = "onnx.Add"(%one, %one) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // expected-remark @+1 {{Expand is not folded: it is larger than what it is computed from}}
  %1 = "onnx.Expand"(%0, %shape) : (tensor<1xf32>, tensor<1xi64>) -> tensor<1024xf32>
  %2 = "onnx.ReduceSum"(%1) : (tensor<1024xf32>) -> tensor<1xf32>
  return %1, %2 : tensor<1024xf32>, tensor<1xf32>
}

// -----

// A weight that stays in use may be there once more in another form, not twice.
// CHECK-LABEL: func @allowance
// CHECK: "onnx.MatMul"
// CHECK: "onnx.Transpose"
// CHECK-NEXT: onnx.Constant dense_resource<"{{[0-9a-f]+}}_8192"> : tensor<64x32xf32>
func.func @allowance(%x: tensor<1x64xf32>) -> (tensor<*xf32>, tensor<32x64xf32>, tensor<64x32xf32>) {
  %w = onnx.Constant dense<2.0> : tensor<64x32xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{Transpose is not folded: it is larger than what it is computed from}}
  %1 = "onnx.Transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %2 = "onnx.Neg"(%w) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<32x64xf32>, tensor<64x32xf32>
}

// -----

// What is quantized stays quantized; QuantizeLinear of constants is computed. Neither libm nor chance is used.
// CHECK-LABEL: func @stays
// CHECK-DAG: %[[Q:.*]] = onnx.Constant dense<[-128, 0, 127]> : tensor<3xi8>
// CHECK: "onnx.DequantizeLinear"(%[[Q]]
// CHECK: "onnx.Exp"
// CHECK: "onnx.RandomUniform"
func.func @stays() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = onnx.Constant dense<[-300.0, 0.25, 300.0]> : tensor<3xf32>
  %scale = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0> : tensor<i8>
  %0 = "onnx.QuantizeLinear"(%x, %scale, %zero) : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  %1 = "onnx.DequantizeLinear"(%0, %scale, %zero) : (tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<3xf32>
  %2 = "onnx.Exp"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %3 = "onnx.RandomUniform"() {shape = array<i64: 3>} : () -> tensor<3xf32>
  return %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// One that cannot be computed leaves the others alone: fmod comes from libm.
// CHECK-LABEL: func @refused
// CHECK: "onnx.Mod"
// CHECK-NOT: "onnx.Add"
// CHECK: return
func.func @refused() -> (tensor<3xf32>, tensor<3xf32>, tensor<2x0xf32>) {
  %x = onnx.Constant dense<[-300.0, 0.25, 300.0]> : tensor<3xf32>
  %y = onnx.Constant dense<[7.0, 7.0, 7.0]> : tensor<3xf32>
  // expected-remark @+1 {{Mod is not folded: Symbols not found: [ fmodf ]}}
  %0 = "onnx.Mod"(%x, %y) {fmod = 1 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = "onnx.Add"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %none = onnx.Constant dense<> : tensor<0x2xf32>
  %2 = "onnx.Transpose"(%none) {perm = array<i64: 1, 0>} : (tensor<0x2xf32>) -> tensor<2x0xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<2x0xf32>
}

// -----

// Arithmetic that would trap on the CPU is defined, and indices stay inside.
// CHECK-LABEL: func @no_trap
// CHECK-DAG: onnx.Constant dense<3.000000e+00> : tensor<1xf32>
// CHECK-DAG: onnx.Constant dense<[0, -2147483648, 1]> : tensor<3xi32>
func.func @no_trap() -> (tensor<1xf32>, tensor<3xi32>) {
  %x = onnx.Constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %i = onnx.Constant dense<7> : tensor<1xi64>
  %0 = "onnx.Gather"(%x, %i) : (tensor<3xf32>, tensor<1xi64>) -> tensor<1xf32>
  %a = onnx.Constant dense<[1, -2147483648, 3]> : tensor<3xi32>
  %b = onnx.Constant dense<[0, -1, 2]> : tensor<3xi32>
  %1 = "onnx.Div"(%a, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0, %1 : tensor<1xf32>, tensor<3xi32>
}

// -----

// In subgraphs too; a condition that becomes constant goes with its If.
// CHECK-LABEL: func @subgraph
// CHECK-NOT: onnx.If
// CHECK: %[[C:.*]] = onnx.Constant dense<[3.000000e+00, 5.000000e+00]>
// CHECK: "onnx.Mul"(%arg0, %[[C]])
func.func @subgraph(%x: tensor<2xf32>) -> tensor<*xf32> {
  %a = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[2.0, 3.0]> : tensor<2xf32>
  %s = onnx.Constant dense<1.0> : tensor<f32>
  %t = onnx.Constant dense<2.0> : tensor<f32>
  %cond = "onnx.Less"(%s, %t) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %0 = "onnx.If"(%cond) ({
    %1 = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = "onnx.Mul"(%x, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "onnx.Yield"(%2) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
