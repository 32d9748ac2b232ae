// RUN: optc-opt %s -split-input-file -optc-kernel-to-llvm | FileCheck %s

// The host program calls the runtime; a kernel gets a wrapper of the dispatch ABI.
// CHECK-DAG: llvm.func hidden @optc_rt_launch
// CHECK-DAG: llvm.mlir.global external hidden constant @optc_weights
// CHECK: func.func @host_main(%[[H:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @optc_rt_input(%[[H]],
// CHECK: llvm.mlir.addressof @optc_weights
// CHECK: llvm.call @optc_rt_check(%[[H]],
// CHECK: llvm.call @optc_rt_launch(%[[H]],
// CHECK: func.func private @k(%[[D:.*]]: !llvm.ptr)
// CHECK: call @k_body
// CHECK: func.func private @k_body({{.*}}llvm.noalias
// CHECK-NOT: kernel.
func.func @host_main(%h: !llvm.ptr) -> i32 attributes {kernel.host} {
  %z = arith.constant 0 : i32
  %t = arith.constant 4 : index
  %x = kernel.input 0
  %w = kernel.weight_ptr 64
  %ok = arith.cmpi ne, %t, %t : index
  kernel.check %ok, "node 'a': sizes do not broadcast"
  %o = kernel.output 0[%t]
  kernel.launch @k tiles %t buffers(%x, %w, %o) scalars(%t : index) scratch 0
  return %z : i32
}
func.func private @k(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr, %c: !llvm.ptr, %n: index, %first: index, %last: index)
    attributes {kernel.entry = 3 : i64} {
  return
}

// -----

// What is kept travels in arrays on the stack; without anything to keep it is a plain release.
// CHECK: func.func @host_main(%[[H:.*]]: !llvm.ptr) -> i32
// CHECK: %[[MARK:.*]] = llvm.call @optc_rt_mark(%[[H]])
// CHECK: llvm.call @optc_rt_keep(%[[H]], %{{.*}}, %[[DATA:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[MOVED:.*]] = llvm.load %[[DATA]] : !llvm.ptr -> !llvm.ptr
// CHECK: "llvm.intr.memmove"(%[[MOVED]],
// CHECK: llvm.call @optc_rt_release(%[[H]],
// CHECK-NOT: kernel.
func.func @host_main(%h: !llvm.ptr) -> i32 attributes {kernel.host} {
  %z = arith.constant 0 : i32
  %n = arith.constant 4 : index
  %mark = kernel.mark
  %a = kernel.alloc %n
  %d = kernel.describe %a dtype 1 [%n]
  %e = kernel.describe %a dtype 1 [%n]
  kernel.copy_descriptor %e, %d
  %moved = kernel.release %mark keep(%a) bytes(%n) values(%e) -> !llvm.ptr
  kernel.copy %moved, %a, %n
  kernel.release %mark keep() bytes() values()
  return %z : i32
}

// -----

// Sizes go in, addresses come out of arrays on the stack; lifetimes are a constant. A product of sizes saturates.
// CHECK: llvm.mlir.global private constant @optc_lifetimes_0(dense<[1, 2, 2, 3]> : tensor<4xi32>)
// CHECK: func.func @host_main(%[[H:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.intr.smul.with.overflow
// CHECK: llvm.call @optc_rt_solve_arena(%[[H]], %{{.*}}, %{{.*}}, %{{.*}}, %[[OUT:[0-9]+]])
// CHECK: %[[A:.*]] = llvm.load %[[OUT]] : !llvm.ptr -> !llvm.ptr
// CHECK: "llvm.intr.memmove"(%{{.*}}, %[[A]],
// CHECK-NOT: kernel.
func.func @host_main(%h: !llvm.ptr) -> i32 attributes {kernel.host} {
  %z = arith.constant 0 : i32
  %n = arith.constant 4 : index
  %s = kernel.byte_size[%n, %n] times 4
  %p:2 = kernel.solve_arena(%s, %n) lifetimes [1, 2, 2, 3] -> !llvm.ptr, !llvm.ptr
  kernel.copy %p#1, %p#0, %n
  return %z : i32
}

// -----

// The same ops in a program whose tensors live on the device. What it reads comes through the runtime, and so does what
// kernels of the CPU and functions of the runtime work on.
// CHECK: func.func @host_main(%[[H:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @optc_dev_input(%[[H]],
// CHECK: %[[W:.*]] = llvm.call @optc_dev_weights(%[[H]])
// CHECK: llvm.getelementptr %[[W]]
// CHECK: llvm.call @optc_dev_arena(%[[H]])
// CHECK: llvm.call @optc_dev_write(%[[H]], %{{.*}}, %[[SIZE:[0-9]+]], %{{.*}})
// CHECK: llvm.call @optc_dev_read(%[[H]], %{{.*}}, %{{.*}}, %[[PLACE:[0-9]+]])
// CHECK: %[[READ:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i64
// CHECK: llvm.call @optc_dev_mark(%[[H]])
// CHECK: llvm.call @optc_dev_alloc(%[[H]],
// CHECK: llvm.call @optc_dev_launch(%[[H]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.call @optc_dev_launch_host(%[[H]],
// CHECK: %[[OP:.*]] = llvm.mlir.addressof @optc_op_nonzero
// CHECK: llvm.call @optc_dev_call(%[[H]], %[[OP]],
// CHECK: llvm.call @optc_dev_data(%[[H]],
// CHECK: llvm.call @optc_dev_release(%[[H]],
// CHECK: llvm.call @optc_dev_output(%[[H]],
// CHECK: llvm.call @optc_dev_copy(%[[H]],
// CHECK-NOT: kernel.
func.func @host_main(%h: !llvm.ptr) -> i32 attributes {kernel.host, kernel.on_device} {
  %z = arith.constant 0 : i32
  %n = arith.constant 4 : index
  %x = kernel.input 0
  %w = kernel.weight_ptr 64
  %a = kernel.arena 0
  kernel.store %a, (%n, %n) : index, index
  %i = kernel.load %a[%n] : index
  %mark = kernel.mark
  %b = kernel.alloc %i
  kernel.launch @elsewhere tiles %i buffers(%x, %w, %b) scalars(%i : index) scratch 0 device 3
  kernel.launch @k tiles %i buffers(%b, %a) scalars() bytes(%n, %n) inputs 1 scratch 0
  %d = kernel.describe %b dtype 1 [%i]
  %r = kernel.call_library nonzero(%d) [] : (!llvm.ptr) -> !llvm.ptr
  %data = kernel.described_data %r
  kernel.release %mark keep() bytes() values()
  %o = kernel.output 0[%n]
  kernel.copy %o, %a, %n
  return %z : i32
}
func.func private @k(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr, %first: index, %last: index)
    attributes {kernel.entry = 2 : i64} {
  return
}
