// RUN: optc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(optc-infer-shapes{report=true}))' -verify-diagnostics

// Arguments with the same dim_param share a size.
func.func @symbols(%a: tensor<?x4xf32> {onnx.dim_params = ["N", ""]}, %b: tensor<?x1xf32> {onnx.dim_params = ["N", ""]},
                   %c: tensor<?x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{float[N, 4]}}
  %0 = "onnx.Add"(%a, %b) : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{float[broadcast(N, ?), 4]}}
  %1 = "onnx.Mul"(%0, %c) : (tensor<*xf32>, tensor<?x4xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Elements are followed through ranks above 1: torch writes amounts of padding per axis, last axis first, and turns them
// round as a table of two columns.
func.func @pads_as_torch_writes_them(%x: tensor<2x5x?xf32> {onnx.dim_params = ["", "", "N"]}) -> tensor<*xf32> {
  // expected-remark @+1 {{int64[4] = [3, 4, 1, 2]}}
  %last = onnx.Constant dense<[3, 4, 1, 2]> : tensor<4xi64>
  // expected-remark @+1 {{int64[2] = [0, 0]}}
  %zeros = onnx.Constant dense<0> : tensor<2xi64>
  // expected-remark @+1 {{int64[6] = [3, 4, 1, 2, 0, 0]}}
  %all = "onnx.Concat"(%last, %zeros) <{axis = 0 : i64}> : (tensor<4xi64>, tensor<2xi64>) -> tensor<?xi64>
  // expected-remark @+1 {{int64[2] = [-1, 2]}}
  %columns = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  // expected-remark @+1 {{int64[3, 2]}}
  %table = "onnx.Reshape"(%all, %columns) : (tensor<?xi64>, tensor<2xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[1] = [-1]}}
  %m = onnx.Constant dense<-1> : tensor<1xi64>
  // expected-remark @+1 {{int64[1] = }}
  %low = onnx.Constant dense<-9223372036854775807> : tensor<1xi64>
  // expected-remark @+1 {{int64[1] = [0]}}
  %z = onnx.Constant dense<0> : tensor<1xi64>
  // expected-remark @+1 {{int64[3, 2]}}
  %turned = "onnx.Slice"(%table, %m, %low, %z, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
    : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[2, 3]}}
  %rows = "onnx.Transpose"(%turned) <{perm = array<i64: 1, 0>}> : (tensor<*xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[6] = [0, 1, 3, 0, 2, 4]}}
  %pads = "onnx.Reshape"(%rows, %m) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{float[2, 8, N + 7]}}
  %0 = "onnx.Pad"(%x, %pads) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
    : (tensor<2x5x?xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Shape arithmetic is followed: N * 12 elements over [N, 3, -1].
func.func @shape_arithmetic(%a: tensor<?x12xf32> {onnx.dim_params = ["N", ""]}) -> tensor<*xf32> {
  // expected-remark @+1 {{int64[2] = [N, 12]}}
  %0 = "onnx.Shape"(%a) : (tensor<?x12xf32>) -> tensor<2xi64>
  // expected-remark @+1 {{int64[] = [0]}}
  %i = onnx.Constant dense<0> : tensor<i64>
  // expected-remark @+1 {{int64[] = [N]}}
  %1 = "onnx.Gather"(%0, %i) : (tensor<2xi64>, tensor<i64>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[1] = [0]}}
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  // expected-remark @+1 {{int64[1] = [N]}}
  %2 = "onnx.Unsqueeze"(%1, %axes) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[2] = [3, -1]}}
  %3 = onnx.Constant dense<[3, -1]> : tensor<2xi64>
  // expected-remark @+1 {{int64[3] = [N, 3, -1]}}
  %4 = "onnx.Concat"(%2, %3) {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{float[N, 3, 4]}}
  %5 = "onnx.Reshape"(%a, %4) : (tensor<?x12xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %5 : tensor<*xf32>
}

// -----

// Entries known only at run time may be 0 or -1: the rank is known, the sizes are not.
func.func @reshape_runtime(%a: tensor<2x6xf32>, %s: tensor<3xi64>) -> tensor<*xf32> {
  // expected-remark @+1 {{float[?, ?, ?]}}
  %0 = "onnx.Reshape"(%a, %s) : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// 0 copies a size, unless allowzero is set; -1 is defined even for empty tensors.
func.func @reshape_zero(%a: tensor<0x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{int64[2] = [0, -1]}}
  %s = onnx.Constant dense<[0, -1]> : tensor<2xi64>
  // expected-remark @+1 {{float[0, 3]}}
  %0 = "onnx.Reshape"(%a, %s) : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  // expected-remark @+1 {{int64[2] = [7, 0]}}
  %t = onnx.Constant dense<[7, 0]> : tensor<2xi64>
  // expected-remark @+1 {{float[7, 0]}}
  %1 = "onnx.Reshape"(%a, %t) {allowzero = 1 : i64} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Equal expressions are found equal: (N + 1) / 2 both ways, so that the sum needs no broadcast.
func.func @windows(%x: tensor<1x3x?x8xf32> {onnx.dim_params = ["", "", "H", ""]}, %w: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-remark @+1 {{float[1, 4, floordiv(H + 1, 2), 4]}}
  %0 = "onnx.Conv"(%x, %w) {strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"}
    : (tensor<1x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{float[1, 4, floordiv(H + 1, 2), 4]}}
  %1 = "onnx.Conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{float[1, 4, floordiv(H + 1, 2), 4]}}
  %2 = "onnx.Add"(%0, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// With ceil_mode no window starts behind the input.
func.func @ceil_mode(%x: tensor<1x1x2xf32>) -> tensor<*xf32> {
  // expected-remark @+1 {{float[1, 1, 1]}}
  %0 = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 1>, strides = array<i64: 2>, ceil_mode = 1 : i64}
    : (tensor<1x1x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @slices(%x: tensor<?x10xf32> {onnx.dim_params = ["N", ""]}) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{int64[2] = [1, -3]}}
  %s = onnx.Constant dense<[1, -3]> : tensor<2xi64>
  // expected-remark @+1 {{int64[2] = }}
  %e = onnx.Constant dense<[9223372036854775807, 9223372036854775807]> : tensor<2xi64>
  // expected-remark @+1 {{float[max(N - 1, 0), 3]}}
  %0 = "onnx.Slice"(%x, %s, %e) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
    : (tensor<?x10xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  // expected-remark @+1 {{int64[1] = [-1]}}
  %a = onnx.Constant dense<-1> : tensor<1xi64>
  // expected-remark @+1 {{int64[1] = }}
  %m = onnx.Constant dense<-9223372036854775808> : tensor<1xi64>
  // expected-remark @+1 {{float[N, 10]}}
  %1 = "onnx.Slice"(%x, %a, %m, %a, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
    : (tensor<?x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Sizes that an exporter scales in floating point.
func.func @scaled(%x: tensor<1x2x5x7xf32>) -> tensor<*xf32> {
  // expected-remark @+1 {{= [5, 7]}}
  %0 = "onnx.Shape"(%x) {start = 2 : i64} : (tensor<1x2x5x7xf32>) -> tensor<*xi64>
  // expected-remark @+1 {{float[2]}}
  %1 = "onnx.Cast"(%0) {to = 1 : i64} : (tensor<*xi64>) -> tensor<*xf32>
  // expected-remark @+1 {{float[]}}
  %s = onnx.Constant dense<1.5> : tensor<f32>
  // expected-remark @+1 {{float[2]}}
  %2 = "onnx.Mul"(%1, %s) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  // expected-remark @+1 {{float[2]}}
  %3 = "onnx.Floor"(%2) : (tensor<*xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{int64[2] = [7, 10]}}
  %4 = "onnx.Cast"(%3) {to = 7 : i64} : (tensor<*xf32>) -> tensor<*xi64>
  // expected-remark @+1 {{= [1, 2]}}
  %5 = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  // expected-remark @+1 {{= [1, 2, 7, 10]}}
  %6 = "onnx.Concat"(%5, %4) {axis = 0 : i64} : (tensor<2xi64>, tensor<*xi64>) -> tensor<*xi64>
  // expected-remark @+1 {{float[1, 2, 7, 10]}}
  %7 = "onnx.Resize"(%x, %6) <{operandSegmentSizes = array<i32: 1, 0, 0, 1>}>
    : (tensor<1x2x5x7xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %7 : tensor<*xf32>
}

// -----

// A data-dependent size.
func.func @nonzero(%x: tensor<3x4xf32>) -> tensor<*xi64> {
  // expected-remark @+1 {{int64[2, ?]}}
  %0 = "onnx.NonZero"(%x) : (tensor<3x4xf32>) -> tensor<*xi64>
  // expected-remark @+1 {{int64[?, 2]}}
  %1 = "onnx.Transpose"(%0) : (tensor<*xi64>) -> tensor<*xi64>
  return %1 : tensor<*xi64>
}

// -----

// Branches: equal sizes stay, others are open; a branch never taken may contradict itself.
func.func @branches(%c: tensor<i1>, %x: tensor<?x4xf32> {onnx.dim_params = ["N", ""]}, %y: tensor<2x4xf32>, %z: tensor<4xf32>,
                    %w: tensor<3x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{float[?, 4]}}
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<?x4xf32>) -> ()
  }, {
    "onnx.Yield"(%y) : (tensor<2x4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  // expected-remark @+1 {{float[*]}}
  %1 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<?x4xf32>) -> ()
  }, {
    "onnx.Yield"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  // expected-remark @+1 {{bool[] = [0]}}
  %false = onnx.Constant dense<false> : tensor<i1>
  // expected-remark @+1 {{float[4]}}
  %2 = "onnx.If"(%false) ({
    %3 = "onnx.Add"(%y, %w) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
    "onnx.Yield"(%3) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A carried value that grows loses its size; one that does not keeps it. Scan outputs are as long as the trip count.
func.func @loop(%n: tensor<i64>, %x: tensor<?x4xf32> {onnx.dim_params = ["N", ""]}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{bool[] = [1]}}
  %true = onnx.Constant dense<true> : tensor<i1>
  // expected-remark @+1 {{float[?, 4], float[N, 4], float[max(?, 0), N, 4]}}
  %0:3 = "onnx.Loop"(%n, %true, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 2>}> ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<*xf32>, %b: tensor<*xf32>):
    // expected-remark @+1 {{float[N + ?, 4]}}
    %1 = "onnx.Concat"(%a, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<?x4xf32>) -> tensor<*xf32>
    // expected-remark @+1 {{float[N, 4]}}
    %2 = "onnx.Neg"(%b) : (tensor<*xf32>) -> tensor<*xf32>
    "onnx.Yield"(%c, %1, %2, %2) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1, %0#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @scan(%s: tensor<2xf32>, %x: tensor<?x2xf32> {onnx.dim_params = ["T", ""]}) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{float[2], float[2, T]}}
  %0:2 = "onnx.Scan"(%s, %x) <{num_scan_inputs = 1 : i64, scan_output_axes = array<i64: 1>}> ({
  ^bb0(%a: tensor<*xf32>, %e: tensor<*xf32>):
    // expected-remark @+1 {{float[2]}}
    %1 = "onnx.Add"(%a, %e) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    "onnx.Yield"(%1, %1) : (tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<2xf32>, tensor<?x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @einsum(%a: tensor<?x3x3xf32> {onnx.dim_params = ["N", "", ""]}, %b: tensor<2x1x3x5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{float[2, N, 5]}}
  %0 = "onnx.Einsum"(%a, %b) {equation = "...ii, ...ij -> ...j"} : (tensor<?x3x3xf32>, tensor<2x1x3x5xf32>) -> tensor<*xf32>
  // expected-remark @+1 {{float[3, N]}}
  %1 = "onnx.Einsum"(%a) {equation = "bii->ib"} : (tensor<?x3x3xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @sequences(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %i: tensor<i64>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-remark @+1 {{!onnx.seq<tensor<?x3xf32>>}}
  %0 = "onnx.SequenceConstruct"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> !onnx.seq<tensor<*xf32>>
  // expected-remark @+1 {{float[?, 3]}}
  %1 = "onnx.SequenceAt"(%0, %i) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  // expected-remark @+1 {{float[?, ?, 3]}}
  %2 = "onnx.ConcatFromSequence"(%0) {axis = 0 : i64, new_axis = 1 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Stated types of inner values are not trusted.
func.func @stale(%a: tensor<2x3xf32>) -> tensor<7xf32> {
  // expected-remark @+1 {{float[3, 2]}}
  %0 = "onnx.Transpose"(%a) : (tensor<2x3xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{operator Add: cannot broadcast [2, 3] with [4, 3]}}
  %0 = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{operator MatMul: cannot multiply [2, 3] and [4, 3]: the inner sizes differ}}
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{cannot concatenate [2, 3] and [2, 4] along axis 0}}
  %0 = "onnx.Concat"(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @window(%a: tensor<1x1x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{the window of size [5] is larger than the padded input of shape [1, 1, 2]}}
  %0 = "onnx.MaxPool"(%a) {kernel_shape = array<i64: 5>} : (tensor<1x1x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @reshape(%a: tensor<2x3xf32>) -> tensor<*xf32> {
  %s = onnx.Constant dense<[4, -1]> : tensor<2xi64>
  // expected-error @+1 {{cannot reshape [2, 3] to [4, -1]: the numbers of elements differ}}
  %0 = "onnx.Reshape"(%a, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @axis(%a: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{axis 2 is outside [-2, 2) for a tensor of rank 2}}
  %0 = "onnx.Softmax"(%a) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @einsum(%a: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{the output of 'ij->k' has the label 'k', which no input has}}
  %0 = "onnx.Einsum"(%a) {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @pad(%a: tensor<2xf32>) -> tensor<*xf32> {
  %p = onnx.Constant dense<[-2, -1]> : tensor<2xi64>
  // expected-error @+1 {{would have the shape [-1], with a negative size}}
  %0 = "onnx.Pad"(%a, %p) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @branch_types(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{output 0 is float[2] in one branch and int64[2] in the other}}
  %0 = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%y) : (tensor<2xi64>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Parameters that kernels would read beyond their end.
func.func @norm_parameters(%x: tensor<1x8x6x6xf32>, %s: tensor<7xf32>, %g: tensor<8xf32>) -> tensor<1x8x6x6xf32> {
  // expected-error @+1 {{operator BatchNormalization: input 4 has the shape [7] and must hold one element per channel of the input of shape [1, 8, 6, 6]}}
  %0 = "onnx.BatchNormalization"(%x, %g, %g, %g, %s) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

func.func @group_parameters(%x: tensor<1x8x6x6xf32>, %s: tensor<2xf32>) -> tensor<1x8x6x6xf32> {
  // expected-error @+1 {{operator GroupNormalization: input 1 has the shape [2] and must hold one element per channel}}
  %0 = "onnx.GroupNormalization"(%x, %s, %s) {num_groups = 2 : i64} : (tensor<1x8x6x6xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// -----

func.func @layer_parameters(%x: tensor<2x6xf32>, %s: tensor<5xf32>) -> tensor<2x6xf32> {
  // expected-error @+1 {{operator LayerNormalization: input 1 of shape [5] does not broadcast to the input of shape [2, 6]}}
  %0 = "onnx.LayerNormalization"(%x, %s) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x6xf32>, tensor<5xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

func.func @scales(%x: tensor<32x16xi8>, %s: tensor<15xf32>) -> tensor<32x16xf32> {
  // expected-error @+1 {{operator DequantizeLinear: input 1 has the shape [15] and needs [] or [16] for the input of shape [32, 16], axis 1}}
  %0 = "onnx.DequantizeLinear"(%x, %s) : (tensor<32x16xi8>, tensor<15xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

func.func @no_scales(%x: tensor<4xf32>, %s: tensor<0xf32>) -> tensor<4xui8> {
  // expected-error @+1 {{operator QuantizeLinear: input 1 has the shape [0] and needs [] or [4] for the input of shape [4], axis 0}}
  %0 = "onnx.QuantizeLinear"(%x, %s) : (tensor<4xf32>, tensor<0xf32>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

func.func @blocks(%x: tensor<32x16xi8>, %s: tensor<4x16xf32>) -> tensor<32x16xf32> {
  // expected-error @+1 {{operator DequantizeLinear: input 1 has the shape [4, 16] and needs [] or [5, 16] for the input of shape [32, 16], axis 0 and blocks of 7}}
  %0 = "onnx.DequantizeLinear"(%x, %s) {axis = 0 : i64, block_size = 7 : i64} : (tensor<32x16xi8>, tensor<4x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

func.func @scale_axis(%x: tensor<32x16xi8>, %s: tensor<16xf32>) -> tensor<32x16xf32> {
  // expected-error @+1 {{operator DequantizeLinear: axis 2 is outside [-2, 2) for a tensor of rank 2}}
  %0 = "onnx.DequantizeLinear"(%x, %s) {axis = 2 : i64} : (tensor<32x16xi8>, tensor<16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

func.func @filters(%x: tensor<1x4x6x6xui8>, %w: tensor<8x4x3x3xi8>, %s: tensor<f32>, %z: tensor<ui8>, %ws: tensor<7xf32>, %wz: tensor<i8>) -> tensor<1x8x4x4xui8> {
  // expected-error @+1 {{operator QLinearConv: input 4 has the shape [7] and needs one element, or one per filter of the weights of shape [8, 4, 3, 3]}}
  %0 = "onnx.QLinearConv"(%x, %s, %z, %w, %ws, %wz, %s, %z) : (tensor<1x4x6x6xui8>, tensor<f32>, tensor<ui8>, tensor<8x4x3x3xi8>, tensor<7xf32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
  return %0 : tensor<1x8x4x4xui8>
}
