// RUN: optc-opt --optc-lower-onnx %s | FileCheck %s

// NaN passes through Relu: a comparison that NaN fails keeps the operand.
// CHECK-LABEL: func.func @relu
// CHECK: %[[LT:.*]] = arith.cmpf olt, %[[X:.*]], %{{.*}} : f32
// CHECK: arith.select %[[LT]], %{{.*}}, %[[X]] : f32
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Half precision computes in f32 and rounds once.
// CHECK-LABEL: func.func @softplus
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: math.absf
// CHECK: math.exp
// CHECK: math.log
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @softplus(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = "onnx.Softplus"(%x) : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// No division by zero, and no overflow of MIN / -1.
// CHECK-LABEL: func.func @div
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[ONE]], %{{.*}} : i32
// CHECK: arith.divsi %{{.*}}, %[[SAFE]]
func.func @div(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "onnx.Div"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Bool is stored as i8; unsigned comparisons.
// CHECK-LABEL: func.func @less
// CHECK-SAME: -> (tensor<4xi8>
// CHECK: arith.cmpi ult, {{.*}} : i8
// CHECK: arith.extui {{.*}} : i1 to i8
func.func @less(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xi1> {
  %0 = "onnx.Less"(%x, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// An absent minimum leaves one comparison.
// CHECK-LABEL: func.func @clip
// CHECK-COUNT-1: arith.cmpf olt
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @clip(%x: tensor<4xf32>, %high: tensor<f32>) -> tensor<4xf32> {
  %0 = "onnx.Clip"(%x, %high) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The codes of float8 are made by integer operations; saturation compares with the largest finite value.
// CHECK-LABEL: func.func @float8
// CHECK-SAME: -> (tensor<4xi8>
// CHECK: arith.constant 4.480000e+02 : f32
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.trunci {{.*}} : i32 to i8
func.func @float8(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %0 = "onnx.Cast"(%x) {to = 17 : i64} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// Out of range floats never reach fptosi, which would be poison; 4-bit results keep the low bits.
// CHECK-LABEL: func.func @int4
// CHECK: %[[X:.*]] = arith.select
// CHECK: arith.fptosi %[[X]] : f32 to i32
// CHECK: arith.shli
// CHECK: arith.shrsi
func.func @int4(%x: tensor<4xf32>) -> tensor<4xi4> {
  %0 = "onnx.Cast"(%x) {to = 22 : i64} : (tensor<4xf32>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}

// x^2 is a product.
// CHECK-LABEL: func.func @pow
// CHECK-NOT: math.powf
// CHECK: arith.mulf
func.func @pow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = "onnx.Pow"(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Elements that only some of are known at compile time are computed like any others.
// CHECK-LABEL: func.func @div_partly_known
// CHECK: linalg.generic
func.func @div_partly_known() -> tensor<2xi32> {
  %x = onnx.Constant dense<[1, 8]> : tensor<2xi32>
  %y = onnx.Constant dense<[0, 2]> : tensor<2xi32>
  %0 = "onnx.Div"(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
