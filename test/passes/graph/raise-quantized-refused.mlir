// RUN: optc-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(optc-raise-quantized))'

func.func @floats16(%a: tensor<2x4xui8>, %b: tensor<4x3xi8>, %s: tensor<f16>) -> tensor<2x3xf16> {
  // expected-error @below {{ms.MatMulIntegerToFloat has scales of float16; float32 is supported}}
  %0 = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}>
    : (tensor<2x4xui8>, tensor<4x3xi8>, tensor<f16>, tensor<f16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// -----

func.func @pool(%x: tensor<*xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xui8> {
  // expected-error @below {{ms.QLinearGlobalAveragePool has channels last and an input of rank unknown; known ranks from 3 on are supported}}
  %0 = "onnx.ms.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) {channels_last = 1 : i64}
    : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

func.func @gemm(%a: tensor<2x4xui8>, %b: tensor<4x3xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<2x3xf32> {
  // expected-error @below {{ms.QGemm has y_scale without y_zero_point; give both}}
  %0 = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 0>}>
    : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @weights(%a: tensor<2x32xf32>, %b: tensor<3x2x8xui8>, %s: tensor<6xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{ms.MatMulNBits needs constants B and scales of the sizes that N, K and block_size say: 48 bytes and 6 numbers}}
  %0 = "onnx.ms.MatMulNBits"(%a, %b, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> {K = 32 : i64, N = 3 : i64, block_size = 16 : i64}
    : (tensor<2x32xf32>, tensor<3x2x8xui8>, tensor<6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @lstm(%x: tensor<7x2x3xf32>, %w: tensor<1x3x20xi8>, %r: tensor<1x?x20xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>) -> tensor<*xf32> {
  // expected-error @below {{ms.DynamicQuantizeLSTM needs a recurrent weight R whose sizes are known: [directions, hidden, 4 * hidden]}}
  %0 = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %z)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>}>
    : (tensor<7x2x3xf32>, tensor<1x3x20xi8>, tensor<1x?x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @activations(%x: tensor<7x2x3xf32>, %w: tensor<1x3x20xi8>, %r: tensor<1x5x20xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>) -> tensor<*xf32> {
  // expected-error @below {{ms.DynamicQuantizeLSTM attribute 'activations' has 'Swish'; supported are Relu, Tanh}}
  %0 = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %z)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>, activations = ["Sigmoid", "Swish", "Tanh"]}>
    : (tensor<7x2x3xf32>, tensor<1x3x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @heads(%x: tensor<1x6x8xui8>, %w: tensor<8x24xi8>, %b: tensor<24xf32>, %s: tensor<f32>) -> tensor<1x6x8xf32> {
  // expected-error @below {{ms.QAttention has num_heads 3 and a size of query, key or value of 8; a multiple of num_heads that is known is supported}}
  %0 = "onnx.ms.QAttention"(%x, %w, %b, %s, %s)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, num_heads = 3 : i64}>
    : (tensor<1x6x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>) -> tensor<1x6x8xf32>
  return %0 : tensor<1x6x8xf32>
}

// -----

func.func @mask(%x: tensor<1x6x8xui8>, %w: tensor<8x24xi8>, %b: tensor<24xf32>, %s: tensor<f32>, %m: tensor<1x1x6x6xi32>) -> tensor<1x6x8xf32> {
  // expected-error @below {{ms.QAttention has a mask_index of rank 4; 1 (ends, or ends and starts), 2 and 3 (a value per key) are supported}}
  %0 = "onnx.ms.QAttention"(%x, %w, %b, %s, %s, %m)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, num_heads = 2 : i64}>
    : (tensor<1x6x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<1x1x6x6xi32>) -> tensor<1x6x8xf32>
  return %0 : tensor<1x6x8xf32>
}

// -----

func.func @rows(%d: tensor<9x32xi4>, %i: tensor<2x3xi64>, %s: tensor<9x2xf32>) -> tensor<*xf32> {
  // expected-error @below {{ms.GatherBlockQuantized has gather_axis 1, quantize_axis 1 and block_size 16 for data of rank 2 and scales of rank 2; two axes}}
  %0 = "onnx.ms.GatherBlockQuantized"(%d, %i, %s) {block_size = 16 : i64, gather_axis = 1 : i64}
    : (tensor<9x32xi4>, tensor<2x3xi64>, tensor<9x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
