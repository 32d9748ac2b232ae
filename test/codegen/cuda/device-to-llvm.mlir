// RUN: optc-opt %s -optc-device-to-llvm | FileCheck %s

// Kernels say how many threads a block has; mathematical functions are libdevice's; shared memory is address space 3.
// CHECK: llvm.func @__nv_expf(f32) -> f32
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 128>
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK: llvm.call @__nv_expf
// CHECK-NOT: builtin.unrealized_conversion_cast
// CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
gpu.module @device {
  llvm.mlir.global external @optc_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  func.func @k(%p: !llvm.ptr {llvm.noalias}, %n: i64) attributes {kernel.entry = 1 : i64, kernel.strategy = #kernel.strategy<family = "cuda-loops", groups = [], tiles = [], blocks = [128, 0], scratch = 0, reason = "">} {
    %size = arith.index_cast %n : i64 to index
    %m = kernel.bind %p[%size] : memref<?xf32>
    %base = llvm.mlir.addressof @optc_shared : !llvm.ptr<3>
    %s = kernel.bind %base[] : memref<4xf32, 3>
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%c0] : memref<?xf32>
    %y = math.exp %x : f32
    memref.store %y, %s[%c0] : memref<4xf32, 3>
    return
  }
}
