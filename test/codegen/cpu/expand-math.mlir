// RUN: optc-opt %s -optc-expand-math | FileCheck %s

// CHECK-LABEL: func.func @f32
// CHECK-NOT: math.
// CHECK: return
func.func @f32(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.log %x : f32
  %2 = math.tanh %x : f32
  %3 = math.erf %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// Negative: double precision and other functions are libm's.
// CHECK-LABEL: func.func @others
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.sin
func.func @others(%x: f64, %y: f32) -> (f64, f32) {
  %0 = math.exp %x : f64
  %1 = math.sin %y : f32
  return %0, %1 : f64, f32
}

// CHECK-LABEL: func.func @larger
// CHECK: arith.cmpf ogt, %arg0, %arg1 : vector<4xf32>
// CHECK: arith.select
// CHECK: arith.cmpf uno, %arg0, %arg0 : vector<4xf32>
// CHECK: arith.select
// CHECK: arith.cmpf olt, %arg2, %arg3 : f64
func.func @larger(%x: vector<4xf32>, %y: vector<4xf32>, %u: f64, %v: f64) -> (vector<4xf32>, f64) {
  %0 = arith.maximumf %x, %y : vector<4xf32>
  %1 = arith.minimumf %u, %v : f64
  return %0, %1 : vector<4xf32>, f64
}

// Vectors are expanded like scalars.
// CHECK-LABEL: func.func @vectors
// CHECK: arith.constant dense<1.44269502> : vector<8xf32>
// CHECK-NOT: math.
// CHECK: return %{{.*}} : vector<8xf32>
func.func @vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  %1 = math.log %0 : vector<8xf32>
  %2 = math.tanh %1 : vector<8xf32>
  %3 = math.erf %2 : vector<8xf32>
  return %3 : vector<8xf32>
}

// Negative: vectors of doubles.
// CHECK-LABEL: func.func @doubles
// CHECK: math.exp %{{.*}} : vector<4xf64>
func.func @doubles(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.exp %x : vector<4xf64>
  return %0 : vector<4xf64>
}

// At -O3, erf is one quotient of polynomials: no exponential, no bits.
// RUN: optc-opt %s -optc-expand-math=opt-level=3 | FileCheck %s --check-prefix=O3
// O3-LABEL: func.func @erf
// O3-NOT: arith.bitcast
// O3: arith.divf
// O3-NOT: arith.bitcast
// O3: return
func.func @erf(%x: f32) -> f32 {
  %0 = math.erf %x : f32
  return %0 : f32
}
