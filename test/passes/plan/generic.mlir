// RUN: optc-opt %s -optc-plan | FileCheck %s --check-prefixes=PLAN
// RUN: optc-opt %s -optc-plan -optc-lower-device-kernels | FileCheck %s --check-prefixes=CODE

// A kernel with a second strategy: its launch counts the tiles of both, the second ones behind its scalars, and there are two kernels, with threads,
// shared memory and tiles of their own. What the host program runs is a number.
// PLAN-LABEL: func.func @host_main
// PLAN: arith.ceildivui %{{.*}}, %c256
// PLAN: %[[T:.*]] = arith.muli
// PLAN: arith.ceildivui %{{.*}}, %c64
// PLAN: %[[G:.*]] = arith.muli
// PLAN: kernel.launch @k0_p tiles %[[T]] buffers({{.*}}) scalars(%[[G]] : index) scratch 0 device 0
// PLAN: func.func private @k0_p
// PLAN-SAME: kernel.generic = #kernel.strategy<family = "cuda-loops"
// CODE: gpu.module @device
// CODE: func.func @k0_p(
// CODE-NOT: kernel.generic
// CODE-SAME: family = "cuda-elementwise"
// CODE: func.func @k0_p_generic(
// CODE-SAME: kernel.generic_version
// CODE-SAME: family = "cuda-loops"
#own = #kernel.strategy<family = "cuda-elementwise", groups = [1], tiles = [256], blocks = [64, 4], scratch = 0, reason = "">
#other = #kernel.strategy<family = "cuda-loops", groups = [1], tiles = [64], blocks = [64, 0], scratch = 0, reason = "">
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = kernel.dispatch "p" [] strategy #own {kernel.generic = #other} -> tensor<1024xf32> {
  ^bb0(%d: tensor<1024xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1024xf32>) outs(%d : tensor<1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<1024xf32>
    kernel.yield %r : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>
}
