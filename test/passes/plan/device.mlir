// RUN: optc-opt %s -split-input-file -optc-plan -verify-diagnostics=only-expected | FileCheck %s

// One dispatch on the device makes all tensors of the program live there: the kernel of the CPU works on copies, of which
// the launch says how large they are and which are read. Kernels of the device are numbered; equal ones share a number.
#device = #kernel.strategy<family = "cuda-loops", groups = [2], tiles = [256], blocks = [256], scratch = 0, reason = "">
#host = #kernel.strategy<family = "loops", groups = [], tiles = [], blocks = [], scratch = 0, reason = "strings">
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.host_fallbacks = ["host fallback: 'scale' runs on the CPU (strings), on copies of its tensors in host memory"]
// CHECK-SAME: kernel.on_device
// CHECK: %[[X:.*]] = kernel.input 0
// CHECK: %[[A:.*]] = kernel.arena
// CHECK: kernel.launch @k0_transpose {{.*}} buffers(%[[X]], %[[A]]) scalars() scratch 0 device 0
// CHECK: %[[B:.*]] = kernel.arena
// CHECK: kernel.launch @k1_scale {{.*}} buffers(%[[A]], %[[B]]) scalars() bytes(%{{.*}}, %{{.*}}) inputs 1 scratch 0{{$}}
// CHECK: kernel.launch @k0_transpose {{.*}} scratch 0 device 0
// CHECK: kernel.launch @k2_square {{.*}} scratch 0 device 1
// CHECK: func.func private @k0_transpose{{.*}} attributes {kernel.device_index = 0 : i32,
// CHECK: func.func private @k1_scale
// CHECK-NOT: kernel.device_index = 0
// CHECK: func.func private @k2_square{{.*}} attributes {kernel.device_index = 1 : i32,
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = kernel.dispatch "transpose" [] strategy #device -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) permutation = [1, 0]
    kernel.yield %r : tensor<4x4xf32>
  }
  // expected-remark @+1 {{host fallback: 'scale' runs on the CPU (strings), on copies of its tensors in host memory}}
  %1 = kernel.dispatch "scale" [] strategy #host -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.add ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  %2 = kernel.dispatch "transpose" [] strategy #device -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.transpose ins(%1 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) permutation = [1, 0]
    kernel.yield %r : tensor<4x4xf32>
  }
  %3 = kernel.dispatch "square" [] strategy #device -> tensor<4x4xf32> {
  ^bb0(%d: tensor<4x4xf32>):
    %r = linalg.mul ins(%2, %2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  }
  return %3 : tensor<4x4xf32>
}

// -----

// A function of the runtime is one too; elements that the host knows are written at once.
#device = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [256], blocks = [256], scratch = 0, reason = "">
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.host_fallbacks = ["host fallback: 'nonzero' is a function of the runtime that works on copies of its tensors in host memory"]
// CHECK: kernel.store %{{.*}}, (%{{.*}}, %{{.*}}) : f32, f32
// CHECK: kernel.launch {{.*}} device 0
// CHECK: kernel.call_library nonzero
func.func @main(%a: f32, %x: tensor<2xf32>) -> tensor<1x?xi64> {
  %s = arith.constant 1.0 : f32
  %t = arith.constant 2.0 : f32
  %e = tensor.from_elements %s, %t : tensor<2xf32>
  %0 = kernel.dispatch "add" [] strategy #device -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%x, %e : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  // expected-remark @+1 {{host fallback: 'nonzero' is a function of the runtime}}
  %1 = kernel.library nonzero(%0) [] dtypes [1, 7] : (tensor<2xf32>) -> tensor<1x?xi64>
  return %1 : tensor<1x?xi64>
}

// -----

// Without a kernel on the device the program is one of the CPU, whatever the target is.
#host = #kernel.strategy<family = "loops", groups = [], tiles = [], blocks = [], scratch = 0, reason = "">
// CHECK-LABEL: func.func @host_main
// CHECK-NOT: kernel.on_device
// CHECK: kernel.launch @k0_add {{.*}} buffers(%{{.*}}, %{{.*}}) scalars() scratch 0{{$}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = kernel.dispatch "add" [] strategy #host -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// Every element of an elementwise kernel is computed once: its result may take the place of an operand. Other families
// read what they have written.
#once = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [256], blocks = [256], scratch = 0, reason = "">
#more = #kernel.strategy<family = "cuda-rows", groups = [1], tiles = [256], blocks = [256], scratch = 0, reason = "">
// CHECK-LABEL: func.func @host_main
// CHECK: kernel.launch @k0_add {{.*}} buffers(%{{[^,]*}}, %{{[^,]*}}) scalars
// CHECK: kernel.launch @k1_add {{.*}} buffers(%{{[^,]*}}) scalars
// CHECK: kernel.launch @k2_add {{.*}} buffers(%{{[^,]*}}, %{{[^,]*}}) scalars
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = kernel.dispatch "add" [] strategy #once -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  %1 = kernel.dispatch "add" [] strategy #once -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%0, %0 : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  %2 = kernel.dispatch "add" [] strategy #more -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%1, %1 : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  return %2, %2 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Kernels of plugins are code of the CPU.
#device = #kernel.strategy<family = "cuda-loops", groups = [1], tiles = [256], blocks = [256, 0], scratch = 0, reason = "">
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: kernel.host_fallbacks = ["host fallback: 'twice' is a kernel of a plugin for the CPU, which works on copies
// CHECK: kernel.launch @twice {{.*}} bytes(%{{.*}}, %{{.*}}) inputs 1 scratch 0{{$}}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = kernel.dispatch "add" [] strategy #device -> tensor<2xf32> {
  ^bb0(%d: tensor<2xf32>):
    %r = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
    kernel.yield %r : tensor<2xf32>
  }
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{host fallback: 'twice' is a kernel of a plugin}}
  %1 = kernel.foreign "twice" (%0) dims [] tiles %c1 params [] : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
