// RUN: optc-opt %s -optc-plan | FileCheck %s

// Defaults of inputs are placed among the constants as a caller would hand them over: bool one byte each, sub-byte types
// packed, a splat spread out, strings as they are, no elements as one byte; equal bytes are placed once. The arguments
// stay arguments: what a run gives instead is read.
// CHECK-LABEL: func.func @host_main
// CHECK-SAME: {kernel.default = 0 : i64, onnx.name = "flag", onnx.type = tensor<3xi1>}
// CHECK-SAME: {kernel.default = 64 : i64, onnx.name = "nibbles", onnx.type = tensor<3xi4>}
// CHECK-SAME: {kernel.default = 128 : i64, onnx.name = "splat", onnx.type = tensor<2xf16>}
// CHECK-SAME: {kernel.default = ["a", "bc"], onnx.name = "texts", onnx.type = tensor<2x!onnx.string>}
// CHECK-SAME: {kernel.default = 192 : i64, onnx.name = "none", onnx.type = tensor<0xf32>}
// CHECK-SAME: {kernel.default = 0 : i64, onnx.name = "again", onnx.type = tensor<3xi8>}
// CHECK-SAME: {onnx.name = "needed", onnx.type = tensor<3xf32>}
// CHECK-NOT: onnx.default
// CHECK: kernel.input 0
// CHECK: kernel.input 6
// CHECK: kernel.weight 0 = dense<[1, 0, 1]> : tensor<3xi8>
// CHECK: kernel.weight 64 = dense<[-127, 7]> : tensor<2xi8>
// CHECK: kernel.weight 128 = dense<[0, 62, 0, 62]> : tensor<4xi8>
// CHECK: kernel.weight 192 = dense<0> : tensor<1xi8>
// CHECK-NOT: kernel.weight
func.func @main(
    %flag: tensor<3xi8> {onnx.name = "flag", onnx.type = tensor<3xi1>, onnx.default = dense<[true, false, true]> : tensor<3xi1>},
    %nibbles: tensor<3xi8> {onnx.name = "nibbles", onnx.type = tensor<3xi4>, onnx.default = dense<[1, -8, 7]> : tensor<3xi4>},
    %splat: tensor<2xf16> {onnx.name = "splat", onnx.default = dense<1.5> : tensor<2xf16>},
    %texts: tensor<2x!onnx.string> {onnx.name = "texts", onnx.default = dense<["a", "bc"]> : tensor<2x!onnx.string>},
    %none: tensor<0xf32> {onnx.name = "none", onnx.default = dense<> : tensor<0xf32>},
    %again: tensor<3xi8> {onnx.name = "again", onnx.default = dense<[1, 0, 1]> : tensor<3xi8>},
    %needed: tensor<3xf32> {onnx.name = "needed"}) -> tensor<3xi8> {
  return %flag : tensor<3xi8>
}
