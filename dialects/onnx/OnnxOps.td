// Written by generate.py from the schemas of onnx 1.23.2; do not edit.

#ifndef OPTC_ONNX_OPS
#define OPTC_ONNX_OPS
include "Onnx.td"

def Onnx_T0 : Onnx_Type<"0x13cfe", "tensor of float uint8 int8 uint16 int16 int32 int64 float16 double uint32 uint64 bfloat16">;
def Onnx_T1 : Onnx_Type<"0x10c02", "tensor of float float16 double bfloat16">;
def Onnx_T2 : Onnx_Type<"0x80", "tensor of int64">;
def Onnx_T3 : Onnx_Type<"0x200", "tensor of bool">;
def Onnx_T4 : Onnx_Type<"0x13efe", "tensor of float uint8 int8 uint16 int16 int32 int64 bool float16 double uint32 uint64 bfloat16">;
def Onnx_T5 : Onnx_Type<"0x7fffefe", "tensor of any type but string float6e2m3 float6e3m2">;
def Onnx_T6 : Onnx_Type<"0x30fc", "tensor of uint8 int8 uint16 int16 int32 int64 uint32 uint64">;
def Onnx_T7 : Onnx_Type<"0xc0", "tensor of int32 int64">;
def Onnx_T8 : Onnx_Type<"0x1fff3ffe", "tensor of any type but complex64 complex128">;
def Onnx_T9 : Onnx_Type<"0x7ff3ffe", "tensor of any type but complex64 complex128 float6e2m3 float6e3m2">;
def Onnx_T10 : Onnx_Type<"0x10402", "tensor of float float16 bfloat16">;
def Onnx_T11 : Onnx_Type<"0x1fffe", "tensor of float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 bfloat16">;
def Onnx_T12 : Onnx_Type<"0x1000000000000", "sequence">;
def Onnx_T13 : Onnx_Type<"0xfffe", "tensor of float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128">;
def Onnx_T14 : Onnx_Type<"0x7ff3efe", "tensor of any type but string complex64 complex128 float6e2m3 float6e3m2">;
def Onnx_T15 : Onnx_Type<"0xc", "tensor of uint8 int8">;
def Onnx_T16 : Onnx_Type<"0x40", "tensor of int32">;
def Onnx_T17 : Onnx_Type<"0x13cc2", "tensor of float int32 int64 float16 double uint32 uint64 bfloat16">;
def Onnx_T18 : Onnx_Type<"0x1efe007c", "tensor of uint8 int8 uint16 int16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2 float6e2m3 float6e3m2">;
def Onnx_T19 : Onnx_Type<"0x1010402", "tensor of float float16 bfloat16 float8e8m0">;
def Onnx_T20 : Onnx_Type<"0x1f0c02", "tensor of float float16 double bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz">;
def Onnx_T21 : Onnx_Type<"0x2", "tensor of float">;
def Onnx_T22 : Onnx_Type<"0x4", "tensor of uint8">;
def Onnx_T23 : Onnx_Type<"0x13ffe", "tensor of float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 bfloat16">;
def Onnx_T24 : Onnx_Type<"0x7fffffe", "tensor of any type but float6e2m3 float6e3m2">;
def Onnx_T25 : Onnx_Type<"0x7000007fffffe", "tensor of any type but float6e2m3 float6e3m2 or sequence or optional tensor or optional sequence">;
def Onnx_T26 : Onnx_Type<"0x10002", "tensor of float bfloat16">;
def Onnx_T27 : Onnx_Type<"0x10c0e", "tensor of float uint8 int8 float16 double bfloat16">;
def Onnx_T28 : Onnx_Type<"0x10cea", "tensor of float int8 int16 int32 int64 float16 double bfloat16">;
def Onnx_T29 : Onnx_Type<"0x3cfe", "tensor of float uint8 int8 uint16 int16 int32 int64 float16 double uint32 uint64">;
def Onnx_T30 : Onnx_Type<"0x100001ffffffe", "tensor or sequence">;
def Onnx_T31 : Onnx_Type<"0x6000000000000", "optional tensor or optional sequence">;
def Onnx_T32 : Onnx_Type<"0x700001ffffffe", "tensor or sequence or optional tensor or optional sequence">;
def Onnx_T33 : Onnx_Type<"0x10cc2", "tensor of float int32 int64 float16 double bfloat16">;
def Onnx_T34 : Onnx_Type<"0x1e000c", "tensor of uint8 int8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz">;
def Onnx_T35 : Onnx_Type<"0x10442", "tensor of float int32 float16 bfloat16">;
def Onnx_T36 : Onnx_Type<"0x1010442", "tensor of float int32 float16 bfloat16 float8e8m0">;
def Onnx_T37 : Onnx_Type<"0x1efe003c", "tensor of uint8 int8 uint16 int16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2 float6e2m3 float6e3m2">;
def Onnx_T38 : Onnx_Type<"0x10ce2", "tensor of float int16 int32 int64 float16 double bfloat16">;
def Onnx_T39 : Onnx_Type<"0x13ece", "tensor of float uint8 int8 int32 int64 bool float16 double uint32 uint64 bfloat16">;
def Onnx_T40 : Onnx_Type<"0x100", "tensor of string">;
def Onnx_T41 : Onnx_Type<"0xc02", "tensor of float float16 double">;
def Onnx_T42 : Onnx_Type<"0x100000000fffe", "tensor of float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 or sequence">;
def Onnx_T43 : Onnx_Type<"0x1fffffe", "tensor of any type but uint2 int2 float6e2m3 float6e3m2">;
def Onnx_T44 : Onnx_Type<"0x1c0", "tensor of int32 int64 string">;
def Onnx_T45 : Onnx_Type<"0x9c2", "tensor of float int32 int64 string double">;
def Onnx_T46 : Onnx_Type<"0x8c2", "tensor of float int32 int64 double">;
def Onnx_T47 : Onnx_Type<"0x8000000000000", "map">;
def Onnx_T48 : Onnx_Type<"0x182", "tensor of float int64 string">;
def Onnx_T49 : Onnx_Type<"0x180", "tensor of int64 string">;
def Onnx_T50 : Onnx_Type<"0x982", "tensor of float int64 string double">;
def Onnx_T51 : Onnx_Type<"0x9e2", "tensor of float int16 int32 int64 string double">;
def Onnx_T52 : Onnx_Type<"0x10000000000000", "sequence of maps">;
def Onnx_T53 : Onnx_Type<"0x802", "tensor of float double">;
def Onnx_T54 : Onnx_Type<"0x60007c", "tensor of uint8 int8 uint16 int16 int32 uint4 int4">;
def Onnx_T55 : Onnx_Type<"0x402", "tensor of float float16">;
def Onnx_T56 : Onnx_Type<"0x600004", "tensor of uint8 uint4 int4">;
def Onnx_T57 : Onnx_Type<"0x44", "tensor of uint8 int32">;
def Onnx_T58 : Onnx_Type<"0x10446", "tensor of float uint8 int32 float16 bfloat16">;
def Onnx_T59 : Onnx_Type<"0xe", "tensor of float uint8 int8">;
def Onnx_T60 : Onnx_Type<"0x1ffffffe", "tensor">;
def Onnx_T61 : Onnx_Type<"0x60003c", "tensor of uint8 int8 uint16 int16 uint4 int4">;

def Onnx_AbsOp : Onnx_Op<"Abs", [Pure]> {
  let arguments = (ins Onnx_T0:$X);
  let results = (outs Onnx_T0:$Y);
}
def Onnx_AcosOp : Onnx_Op<"Acos", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AcoshOp : Onnx_Op<"Acosh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AddOp : Onnx_Op<"Add", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T0:$C);
}
def Onnx_AffineGridOp : Onnx_Op<"AffineGrid", [Pure]> {
  let arguments = (ins Onnx_T1:$theta, Onnx_T2:$size, DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners);
  let results = (outs Onnx_T1:$grid);
}
def Onnx_AndOp : Onnx_Op<"And", [Pure]> {
  let arguments = (ins Onnx_T3:$A, Onnx_T3:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_ArgMaxOp : Onnx_Op<"ArgMax", [Pure]> {
  let arguments = (ins Onnx_T0:$data, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$select_last_index);
  let results = (outs Onnx_T2:$reduced);
}
def Onnx_ArgMinOp : Onnx_Op<"ArgMin", [Pure]> {
  let arguments = (ins Onnx_T0:$data, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$select_last_index);
  let results = (outs Onnx_T2:$reduced);
}
def Onnx_AsinOp : Onnx_Op<"Asin", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AsinhOp : Onnx_Op<"Asinh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AtanOp : Onnx_Op<"Atan", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AtanhOp : Onnx_Op<"Atanh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_AttentionOp : Onnx_Op<"Attention", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$Q, Onnx_T1:$K, Onnx_T1:$V, Optional<Onnx_T4>:$attn_mask, Optional<Onnx_T1>:$past_key, Optional<Onnx_T1>:$past_value, Optional<Onnx_T2>:$nonpad_kv_seqlen, DefaultValuedOptionalAttr<I64Attr, "0">:$is_causal, OptionalAttr<I64Attr>:$kv_num_heads, DefaultValuedOptionalAttr<I64Attr, "-1">:$left_window_size, OptionalAttr<I64Attr>:$q_num_heads, DefaultValuedOptionalAttr<I64Attr, "0">:$qk_matmul_output_mode, DefaultValuedOptionalAttr<I64Attr, "-1">:$right_window_size, OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$softcap, OptionalAttr<I64Attr>:$softmax_precision);
  let results = (outs Onnx_T1:$Y, Optional<Onnx_T1>:$present_key, Optional<Onnx_T1>:$present_value, Optional<Onnx_T1>:$qk_matmul_output);
}
def Onnx_AveragePoolOp : Onnx_Op<"AveragePool", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode, DefaultValuedOptionalAttr<I64Attr, "0">:$count_include_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_BatchNormalizationOp : Onnx_Op<"BatchNormalization", [AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$scale, Onnx_T1:$B, Onnx_T1:$input_mean, Onnx_T1:$input_var, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon, DefaultValuedOptionalAttr<F32Attr, "0.899999976f">:$momentum, DefaultValuedOptionalAttr<I64Attr, "0">:$training_mode);
  let results = (outs Onnx_T1:$Y, Optional<Onnx_T1>:$running_mean, Optional<Onnx_T1>:$running_var);
}
def Onnx_BernoulliOp : Onnx_Op<"Bernoulli", [MemoryEffects<[]>]> {
  let arguments = (ins Onnx_T1:$input, OptionalAttr<I64Attr>:$dtype, OptionalAttr<F32Attr>:$seed);
  let results = (outs Res<Onnx_T4, "", [MemAlloc]>:$output);
}
def Onnx_BitCastOp : Onnx_Op<"BitCast", [Pure]> {
  let arguments = (ins Onnx_T5:$input, I64Attr:$to);
  let results = (outs Onnx_T5:$output);
}
def Onnx_BitShiftOp : Onnx_Op<"BitShift", [Pure]> {
  let arguments = (ins Onnx_T6:$X, Onnx_T6:$Y, StrAttr:$direction);
  let results = (outs Onnx_T6:$Z);
}
def Onnx_BitwiseAndOp : Onnx_Op<"BitwiseAnd", [Pure]> {
  let arguments = (ins Onnx_T6:$A, Onnx_T6:$B);
  let results = (outs Onnx_T6:$C);
}
def Onnx_BitwiseNotOp : Onnx_Op<"BitwiseNot", [Pure]> {
  let arguments = (ins Onnx_T6:$X);
  let results = (outs Onnx_T6:$Y);
}
def Onnx_BitwiseOrOp : Onnx_Op<"BitwiseOr", [Pure]> {
  let arguments = (ins Onnx_T6:$A, Onnx_T6:$B);
  let results = (outs Onnx_T6:$C);
}
def Onnx_BitwiseXorOp : Onnx_Op<"BitwiseXor", [Pure]> {
  let arguments = (ins Onnx_T6:$A, Onnx_T6:$B);
  let results = (outs Onnx_T6:$C);
}
def Onnx_BlackmanWindowOp : Onnx_Op<"BlackmanWindow", [Pure]> {
  let arguments = (ins Onnx_T7:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype, DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs Onnx_T0:$output);
}
def Onnx_CastOp : Onnx_Op<"Cast", [Pure]> {
  let arguments = (ins Onnx_T8:$input, DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate, I64Attr:$to);
  let results = (outs Onnx_T8:$output);
}
def Onnx_CastLikeOp : Onnx_Op<"CastLike", [Pure]> {
  let arguments = (ins Onnx_T9:$input, Onnx_T9:$target_type, DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate);
  let results = (outs Onnx_T9:$output);
}
def Onnx_CausalConvWithStateOp : Onnx_Op<"CausalConvWithState", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T10:$input, Onnx_T10:$weight, Optional<Onnx_T10>:$bias, Optional<Onnx_T10>:$past_state, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$activation);
  let results = (outs Onnx_T10:$output, Onnx_T10:$present_state);
}
def Onnx_CeilOp : Onnx_Op<"Ceil", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_CeluOp : Onnx_Op<"Celu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_CenterCropPadOp : Onnx_Op<"CenterCropPad", [Pure]> {
  let arguments = (ins Onnx_T11:$input_data, Onnx_T7:$shape, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs Onnx_T11:$output_data);
}
def Onnx_ClipOp : Onnx_Op<"Clip", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T0:$input, Optional<Onnx_T0>:$min, Optional<Onnx_T0>:$max);
  let results = (outs Onnx_T0:$output);
}
def Onnx_Col2ImOp : Onnx_Op<"Col2Im", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Onnx_T2:$image_shape, Onnx_T2:$block_shape, OptionalAttr<DenseI64ArrayAttr>:$dilations, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T11:$output);
}
def Onnx_CompressOp : Onnx_Op<"Compress", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Onnx_T3:$condition, OptionalAttr<I64Attr>:$axis);
  let results = (outs Onnx_T11:$output);
}
def Onnx_ConcatOp : Onnx_Op<"Concat", [Pure]> {
  let arguments = (ins Variadic<Onnx_T11>:$inputs, I64Attr:$axis);
  let results = (outs Onnx_T11:$concat_result);
}
def Onnx_ConcatFromSequenceOp : Onnx_Op<"ConcatFromSequence", [Pure]> {
  let arguments = (ins Onnx_T12:$input_sequence, I64Attr:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$new_axis);
  let results = (outs Onnx_T13:$concat_result);
}
def Onnx_ConstantOfShapeOp : Onnx_Op<"ConstantOfShape", [Pure]> {
  let arguments = (ins Onnx_T2:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs Onnx_T14:$output);
}
def Onnx_ConvOp : Onnx_Op<"Conv", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Optional<Onnx_T1>:$B, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_ConvIntegerOp : Onnx_Op<"ConvInteger", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$x, Onnx_T15:$w, Optional<Onnx_T15>:$x_zero_point, Optional<Onnx_T15>:$w_zero_point, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T16:$y);
}
def Onnx_ConvTransposeOp : Onnx_Op<"ConvTranspose", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Optional<Onnx_T1>:$B, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$output_padding, OptionalAttr<DenseI64ArrayAttr>:$output_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_CosOp : Onnx_Op<"Cos", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_CoshOp : Onnx_Op<"Cosh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_CumProdOp : Onnx_Op<"CumProd", [Pure]> {
  let arguments = (ins Onnx_T17:$x, Onnx_T7:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$exclusive, DefaultValuedOptionalAttr<I64Attr, "0">:$reverse);
  let results = (outs Onnx_T17:$y);
}
def Onnx_CumSumOp : Onnx_Op<"CumSum", [Pure]> {
  let arguments = (ins Onnx_T17:$x, Onnx_T7:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$exclusive, DefaultValuedOptionalAttr<I64Attr, "0">:$reverse);
  let results = (outs Onnx_T17:$y);
}
def Onnx_DFTOp : Onnx_Op<"DFT", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$input, Optional<Onnx_T7>:$dft_length, Optional<Onnx_T2>:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$inverse, DefaultValuedOptionalAttr<I64Attr, "0">:$onesided);
  let results = (outs Onnx_T1:$output);
}
def Onnx_DeformConvOp : Onnx_Op<"DeformConv", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Onnx_T1:$offset, Optional<Onnx_T1>:$B, Optional<Onnx_T1>:$mask, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, DefaultValuedOptionalAttr<I64Attr, "1">:$offset_group, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_DepthToSpaceOp : Onnx_Op<"DepthToSpace", [Pure]> {
  let arguments = (ins Onnx_T11:$input, I64Attr:$blocksize, DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs Onnx_T11:$output);
}
def Onnx_DequantizeLinearOp : Onnx_Op<"DequantizeLinear", [Pure]> {
  let arguments = (ins Onnx_T18:$x, Onnx_T19:$x_scale, Optional<Onnx_T18>:$x_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$block_size, DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype);
  let results = (outs Onnx_T10:$y);
}
def Onnx_DetOp : Onnx_Op<"Det", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_DivOp : Onnx_Op<"Div", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T0:$C);
}
def Onnx_DropoutOp : Onnx_Op<"Dropout", [AttrSizedOperandSegments, MemoryEffects<[]>]> {
  let arguments = (ins Onnx_T20:$data, Optional<Onnx_T20>:$ratio, Optional<Onnx_T3>:$training_mode, OptionalAttr<I64Attr>:$seed);
  let results = (outs Res<Onnx_T20, "", [MemAlloc]>:$output, Res<Optional<Onnx_T3>, "", [MemAlloc]>:$mask);
}
def Onnx_DynamicQuantizeLinearOp : Onnx_Op<"DynamicQuantizeLinear", [Pure]> {
  let arguments = (ins Onnx_T21:$x);
  let results = (outs Onnx_T22:$y, Onnx_T21:$y_scale, Onnx_T22:$y_zero_point);
}
def Onnx_EinsumOp : Onnx_Op<"Einsum", [Pure]> {
  let arguments = (ins Variadic<Onnx_T0>:$Inputs, StrAttr:$equation);
  let results = (outs Onnx_T0:$Output);
}
def Onnx_EluOp : Onnx_Op<"Elu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_EqualOp : Onnx_Op<"Equal", [Pure]> {
  let arguments = (ins Onnx_T23:$A, Onnx_T23:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_ErfOp : Onnx_Op<"Erf", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_ExpOp : Onnx_Op<"Exp", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_ExpandOp : Onnx_Op<"Expand", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Onnx_T2:$shape);
  let results = (outs Onnx_T11:$output);
}
def Onnx_EyeLikeOp : Onnx_Op<"EyeLike", [Pure]> {
  let arguments = (ins Onnx_T4:$input, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<I64Attr, "0">:$k);
  let results = (outs Onnx_T4:$output);
}
def Onnx_FlattenOp : Onnx_Op<"Flatten", [Pure]> {
  let arguments = (ins Onnx_T24:$input, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
  let results = (outs Onnx_T24:$output);
}
def Onnx_FloorOp : Onnx_Op<"Floor", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_GRUOp : Onnx_Op<"GRU", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Onnx_T1:$R, Optional<Onnx_T1>:$B, Optional<Onnx_T16>:$sequence_lens, Optional<Onnx_T1>:$initial_h, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$layout, DefaultValuedOptionalAttr<I64Attr, "0">:$linear_before_reset);
  let results = (outs Optional<Onnx_T1>:$Y, Optional<Onnx_T1>:$Y_h);
}
def Onnx_GatherOp : Onnx_Op<"Gather", [Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T7:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
  let results = (outs Onnx_T11:$output);
}
def Onnx_GatherElementsOp : Onnx_Op<"GatherElements", [Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T7:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
  let results = (outs Onnx_T11:$output);
}
def Onnx_GatherNDOp : Onnx_Op<"GatherND", [Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T2:$indices, DefaultValuedOptionalAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Onnx_T11:$output);
}
def Onnx_GeluOp : Onnx_Op<"Gelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_GemmOp : Onnx_Op<"Gemm", [Pure]> {
  let arguments = (ins Onnx_T17:$A, Onnx_T17:$B, Optional<Onnx_T17>:$C, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$beta, DefaultValuedOptionalAttr<I64Attr, "0">:$transA, DefaultValuedOptionalAttr<I64Attr, "0">:$transB);
  let results = (outs Onnx_T17:$Y);
}
def Onnx_GlobalAveragePoolOp : Onnx_Op<"GlobalAveragePool", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_GlobalLpPoolOp : Onnx_Op<"GlobalLpPool", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_GlobalMaxPoolOp : Onnx_Op<"GlobalMaxPool", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_GreaterOp : Onnx_Op<"Greater", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_GreaterOrEqualOp : Onnx_Op<"GreaterOrEqual", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_GridSampleOp : Onnx_Op<"GridSample", [Pure]> {
  let arguments = (ins Onnx_T11:$X, Onnx_T1:$grid, DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners, DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode, DefaultValuedOptionalAttr<StrAttr, "\"zeros\"">:$padding_mode);
  let results = (outs Onnx_T11:$Y);
}
def Onnx_GroupNormalizationOp : Onnx_Op<"GroupNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$scale, Onnx_T1:$bias, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon, I64Attr:$num_groups, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_HammingWindowOp : Onnx_Op<"HammingWindow", [Pure]> {
  let arguments = (ins Onnx_T7:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype, DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs Onnx_T0:$output);
}
def Onnx_HannWindowOp : Onnx_Op<"HannWindow", [Pure]> {
  let arguments = (ins Onnx_T7:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype, DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs Onnx_T0:$output);
}
def Onnx_HardSigmoidOp : Onnx_Op<"HardSigmoid", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "0.200000003f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "0.5f">:$beta);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_HardSwishOp : Onnx_Op<"HardSwish", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_HardmaxOp : Onnx_Op<"Hardmax", [Pure]> {
  let arguments = (ins Onnx_T1:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs Onnx_T1:$output);
}
def Onnx_IdentityOp : Onnx_Op<"Identity", [Pure]> {
  let arguments = (ins Onnx_T25:$input);
  let results = (outs Onnx_T25:$output);
}
def Onnx_IfOp : Onnx_Op<"If", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Onnx_T3:$cond);
  let results = (outs Variadic<Onnx_T25>:$outputs);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let hasRegionVerifier = 1;
}
def Onnx_ImageDecoderOp : Onnx_Op<"ImageDecoder", [Pure]> {
  let arguments = (ins Onnx_T22:$encoded_stream, DefaultValuedOptionalAttr<StrAttr, "\"RGB\"">:$pixel_format);
  let results = (outs Onnx_T22:$image);
}
def Onnx_InstanceNormalizationOp : Onnx_Op<"InstanceNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$input, Onnx_T1:$scale, Onnx_T1:$B, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon);
  let results = (outs Onnx_T1:$output);
}
def Onnx_IsInfOp : Onnx_Op<"IsInf", [Pure]> {
  let arguments = (ins Onnx_T20:$X, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_negative, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_positive);
  let results = (outs Onnx_T3:$Y);
}
def Onnx_IsNaNOp : Onnx_Op<"IsNaN", [Pure]> {
  let arguments = (ins Onnx_T20:$X);
  let results = (outs Onnx_T3:$Y);
}
def Onnx_LRNOp : Onnx_Op<"LRN", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-05f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "0.75f">:$beta, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$bias, I64Attr:$size);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_LSTMOp : Onnx_Op<"LSTM", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Onnx_T1:$R, Optional<Onnx_T1>:$B, Optional<Onnx_T16>:$sequence_lens, Optional<Onnx_T1>:$initial_h, Optional<Onnx_T1>:$initial_c, Optional<Onnx_T1>:$P, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$input_forget, DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs Optional<Onnx_T1>:$Y, Optional<Onnx_T1>:$Y_h, Optional<Onnx_T1>:$Y_c);
}
def Onnx_LayerNormalizationOp : Onnx_Op<"LayerNormalization", [AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$Scale, Optional<Onnx_T1>:$B, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs Onnx_T1:$Y, Optional<Onnx_T26>:$Mean, Optional<Onnx_T26>:$InvStdDev);
}
def Onnx_LeakyReluOp : Onnx_Op<"LeakyRelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "0.00999999978f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_LessOp : Onnx_Op<"Less", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_LessOrEqualOp : Onnx_Op<"LessOrEqual", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_LinearAttentionOp : Onnx_Op<"LinearAttention", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T10:$query, Onnx_T10:$key, Onnx_T10:$value, Optional<Onnx_T10>:$past_state, Optional<Onnx_T10>:$decay, Optional<Onnx_T10>:$beta, DefaultValuedOptionalAttr<I64Attr, "64">:$chunk_size, I64Attr:$kv_num_heads, I64Attr:$q_num_heads, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$scale, DefaultValuedOptionalAttr<StrAttr, "\"gated_delta\"">:$update_rule);
  let results = (outs Onnx_T10:$output, Onnx_T10:$present_state);
}
def Onnx_LogOp : Onnx_Op<"Log", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_LogSoftmaxOp : Onnx_Op<"LogSoftmax", [Pure]> {
  let arguments = (ins Onnx_T1:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs Onnx_T1:$output);
}
def Onnx_LoopOp : Onnx_Op<"Loop", [AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Optional<Onnx_T2>:$M, Optional<Onnx_T3>:$cond, Variadic<Onnx_T25>:$v_initial);
  let results = (outs Variadic<Onnx_T25>:$v_final_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}
def Onnx_LpNormalizationOp : Onnx_Op<"LpNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs Onnx_T1:$output);
}
def Onnx_LpPoolOp : Onnx_Op<"LpPool", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode, OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, DefaultValuedOptionalAttr<I64Attr, "2">:$p, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MatMulOp : Onnx_Op<"MatMul", [Pure]> {
  let arguments = (ins Onnx_T17:$A, Onnx_T17:$B);
  let results = (outs Onnx_T17:$Y);
}
def Onnx_MatMulIntegerOp : Onnx_Op<"MatMulInteger", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$A, Onnx_T15:$B, Optional<Onnx_T15>:$a_zero_point, Optional<Onnx_T15>:$b_zero_point);
  let results = (outs Onnx_T16:$Y);
}
def Onnx_MaxOp : Onnx_Op<"Max", [Pure]> {
  let arguments = (ins Variadic<Onnx_T0>:$data_0);
  let results = (outs Onnx_T0:$max);
}
def Onnx_MaxPoolOp : Onnx_Op<"MaxPool", [Pure]> {
  let arguments = (ins Onnx_T27:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode, OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, DefaultValuedOptionalAttr<I64Attr, "0">:$storage_order, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T27:$Y, Optional<Onnx_T2>:$Indices);
}
def Onnx_MaxRoiPoolOp : Onnx_Op<"MaxRoiPool", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$rois, DenseI64ArrayAttr:$pooled_shape, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MaxUnpoolOp : Onnx_Op<"MaxUnpool", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T2:$I, Optional<Onnx_T2>:$output_shape, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$output);
}
def Onnx_MeanOp : Onnx_Op<"Mean", [Pure]> {
  let arguments = (ins Variadic<Onnx_T1>:$data_0);
  let results = (outs Onnx_T1:$mean);
}
def Onnx_MeanVarianceNormalizationOp : Onnx_Op<"MeanVarianceNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$X, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MelWeightMatrixOp : Onnx_Op<"MelWeightMatrix", [Pure]> {
  let arguments = (ins Onnx_T7:$num_mel_bins, Onnx_T7:$dft_length, Onnx_T7:$sample_rate, Onnx_T1:$lower_edge_hertz, Onnx_T1:$upper_edge_hertz, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype);
  let results = (outs Onnx_T0:$output);
}
def Onnx_MinOp : Onnx_Op<"Min", [Pure]> {
  let arguments = (ins Variadic<Onnx_T0>:$data_0);
  let results = (outs Onnx_T0:$min);
}
def Onnx_MishOp : Onnx_Op<"Mish", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_ModOp : Onnx_Op<"Mod", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B, DefaultValuedOptionalAttr<I64Attr, "0">:$fmod);
  let results = (outs Onnx_T0:$C);
}
def Onnx_MulOp : Onnx_Op<"Mul", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T0:$C);
}
def Onnx_MultinomialOp : Onnx_Op<"Multinomial", [MemoryEffects<[]>]> {
  let arguments = (ins Onnx_T1:$input, DefaultValuedOptionalAttr<I64Attr, "6">:$dtype, DefaultValuedOptionalAttr<I64Attr, "1">:$sample_size, OptionalAttr<F32Attr>:$seed);
  let results = (outs Res<Onnx_T7, "", [MemAlloc]>:$output);
}
def Onnx_NegOp : Onnx_Op<"Neg", [Pure]> {
  let arguments = (ins Onnx_T28:$X);
  let results = (outs Onnx_T28:$Y);
}
def Onnx_NegativeLogLikelihoodLossOp : Onnx_Op<"NegativeLogLikelihoodLoss", [Pure]> {
  let arguments = (ins Onnx_T1:$input, Onnx_T7:$target, Optional<Onnx_T1>:$weight, OptionalAttr<I64Attr>:$ignore_index, DefaultValuedOptionalAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs Onnx_T1:$loss);
}
def Onnx_NonMaxSuppressionOp : Onnx_Op<"NonMaxSuppression", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T21:$boxes, Onnx_T21:$scores, Optional<Onnx_T2>:$max_output_boxes_per_class, Optional<Onnx_T21>:$iou_threshold, Optional<Onnx_T21>:$score_threshold, DefaultValuedOptionalAttr<I64Attr, "0">:$center_point_box);
  let results = (outs Onnx_T2:$selected_indices);
}
def Onnx_NonZeroOp : Onnx_Op<"NonZero", [Pure]> {
  let arguments = (ins Onnx_T11:$X);
  let results = (outs Onnx_T2:$Y);
}
def Onnx_NotOp : Onnx_Op<"Not", [Pure]> {
  let arguments = (ins Onnx_T3:$X);
  let results = (outs Onnx_T3:$Y);
}
def Onnx_OneHotOp : Onnx_Op<"OneHot", [Pure]> {
  let arguments = (ins Onnx_T29:$indices, Onnx_T29:$depth, Onnx_T11:$values, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs Onnx_T11:$output);
}
def Onnx_OptionalOp : Onnx_Op<"Optional", [Pure]> {
  let arguments = (ins Optional<Onnx_T30>:$input, OptionalAttr<TypeAttr>:$type);
  let results = (outs Onnx_T31:$output);
}
def Onnx_OptionalGetElementOp : Onnx_Op<"OptionalGetElement", [Pure]> {
  let arguments = (ins Onnx_T32:$input);
  let results = (outs Onnx_T30:$output);
}
def Onnx_OptionalHasElementOp : Onnx_Op<"OptionalHasElement", [Pure]> {
  let arguments = (ins Optional<Onnx_T32>:$input);
  let results = (outs Onnx_T3:$output);
}
def Onnx_OrOp : Onnx_Op<"Or", [Pure]> {
  let arguments = (ins Onnx_T3:$A, Onnx_T3:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_PReluOp : Onnx_Op<"PRelu", [Pure]> {
  let arguments = (ins Onnx_T17:$X, Onnx_T17:$slope);
  let results = (outs Onnx_T17:$Y);
}
def Onnx_PadOp : Onnx_Op<"Pad", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T24:$data, Onnx_T2:$pads, Optional<Onnx_T24>:$constant_value, Optional<Onnx_T7>:$axes, DefaultValuedOptionalAttr<StrAttr, "\"constant\"">:$mode);
  let results = (outs Onnx_T24:$output);
}
def Onnx_PowOp : Onnx_Op<"Pow", [Pure]> {
  let arguments = (ins Onnx_T33:$X, Onnx_T0:$Y);
  let results = (outs Onnx_T33:$Z);
}
def Onnx_QLinearConvOp : Onnx_Op<"QLinearConv", [Pure]> {
  let arguments = (ins Onnx_T15:$x, Onnx_T21:$x_scale, Onnx_T15:$x_zero_point, Onnx_T15:$w, Onnx_T21:$w_scale, Onnx_T15:$w_zero_point, Onnx_T21:$y_scale, Onnx_T15:$y_zero_point, Optional<Onnx_T16>:$B, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T15:$y);
}
def Onnx_QLinearMatMulOp : Onnx_Op<"QLinearMatMul", [Pure]> {
  let arguments = (ins Onnx_T34:$a, Onnx_T10:$a_scale, Onnx_T34:$a_zero_point, Onnx_T34:$b, Onnx_T10:$b_scale, Onnx_T34:$b_zero_point, Onnx_T10:$y_scale, Onnx_T34:$y_zero_point);
  let results = (outs Onnx_T34:$y);
}
def Onnx_QuantizeLinearOp : Onnx_Op<"QuantizeLinear", [Pure]> {
  let arguments = (ins Onnx_T35:$x, Onnx_T36:$y_scale, Optional<Onnx_T37>:$y_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis, DefaultValuedOptionalAttr<I64Attr, "0">:$block_size, DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype, DefaultValuedOptionalAttr<I64Attr, "0">:$precision, DefaultValuedOptionalAttr<I64Attr, "1">:$saturate);
  let results = (outs Onnx_T37:$y);
}
def Onnx_RMSNormalizationOp : Onnx_Op<"RMSNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_RNNOp : Onnx_Op<"RNN", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Onnx_T1:$R, Optional<Onnx_T1>:$B, Optional<Onnx_T16>:$sequence_lens, Optional<Onnx_T1>:$initial_h, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs Optional<Onnx_T1>:$Y, Optional<Onnx_T1>:$Y_h);
}
def Onnx_RandomNormalOp : Onnx_Op<"RandomNormal", [MemoryEffects<[]>]> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale, OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs Res<Onnx_T1, "", [MemAlloc]>:$output);
}
def Onnx_RandomNormalLikeOp : Onnx_Op<"RandomNormalLike", [MemoryEffects<[]>]> {
  let arguments = (ins Onnx_T11:$input, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale, OptionalAttr<F32Attr>:$seed);
  let results = (outs Res<Onnx_T1, "", [MemAlloc]>:$output);
}
def Onnx_RandomUniformOp : Onnx_Op<"RandomUniform", [MemoryEffects<[]>]> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low, OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs Res<Onnx_T1, "", [MemAlloc]>:$output);
}
def Onnx_RandomUniformLikeOp : Onnx_Op<"RandomUniformLike", [MemoryEffects<[]>]> {
  let arguments = (ins Onnx_T11:$input, OptionalAttr<I64Attr>:$dtype, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low, OptionalAttr<F32Attr>:$seed);
  let results = (outs Res<Onnx_T1, "", [MemAlloc]>:$output);
}
def Onnx_RangeOp : Onnx_Op<"Range", [Pure]> {
  let arguments = (ins Onnx_T38:$start, Onnx_T38:$limit, Onnx_T38:$delta, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs Onnx_T38:$output);
}
def Onnx_ReciprocalOp : Onnx_Op<"Reciprocal", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_ReduceL1Op : Onnx_Op<"ReduceL1", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_ReduceL2Op : Onnx_Op<"ReduceL2", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_ReduceLogSumOp : Onnx_Op<"ReduceLogSum", [Pure]> {
  let arguments = (ins Onnx_T1:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T1:$reduced);
}
def Onnx_ReduceLogSumExpOp : Onnx_Op<"ReduceLogSumExp", [Pure]> {
  let arguments = (ins Onnx_T1:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T1:$reduced);
}
def Onnx_ReduceMaxOp : Onnx_Op<"ReduceMax", [Pure]> {
  let arguments = (ins Onnx_T39:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T39:$reduced);
}
def Onnx_ReduceMeanOp : Onnx_Op<"ReduceMean", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_ReduceMinOp : Onnx_Op<"ReduceMin", [Pure]> {
  let arguments = (ins Onnx_T39:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T39:$reduced);
}
def Onnx_ReduceProdOp : Onnx_Op<"ReduceProd", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_ReduceSumOp : Onnx_Op<"ReduceSum", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_ReduceSumSquareOp : Onnx_Op<"ReduceSumSquare", [Pure]> {
  let arguments = (ins Onnx_T17:$data, Optional<Onnx_T2>:$axes, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims, DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Onnx_T17:$reduced);
}
def Onnx_RegexFullMatchOp : Onnx_Op<"RegexFullMatch", [Pure]> {
  let arguments = (ins Onnx_T40:$X, OptionalAttr<StrAttr>:$pattern);
  let results = (outs Onnx_T3:$Y);
}
def Onnx_ReluOp : Onnx_Op<"Relu", [Pure]> {
  let arguments = (ins Onnx_T28:$X);
  let results = (outs Onnx_T28:$Y);
}
def Onnx_ReshapeOp : Onnx_Op<"Reshape", [Pure]> {
  let arguments = (ins Onnx_T24:$data, Onnx_T2:$shape, DefaultValuedOptionalAttr<I64Attr, "0">:$allowzero);
  let results = (outs Onnx_T24:$reshaped);
}
def Onnx_ResizeOp : Onnx_Op<"Resize", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T11:$X, Optional<Onnx_T41>:$roi, Optional<Onnx_T21>:$scales, Optional<Onnx_T2>:$sizes, DefaultValuedOptionalAttr<I64Attr, "0">:$antialias, OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode, DefaultValuedOptionalAttr<F32Attr, "-0.75f">:$cubic_coeff_a, DefaultValuedOptionalAttr<I64Attr, "0">:$exclude_outside, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$extrapolation_value, DefaultValuedOptionalAttr<StrAttr, "\"stretch\"">:$keep_aspect_ratio_policy, DefaultValuedOptionalAttr<StrAttr, "\"nearest\"">:$mode, DefaultValuedOptionalAttr<StrAttr, "\"round_prefer_floor\"">:$nearest_mode);
  let results = (outs Onnx_T11:$Y);
}
def Onnx_ReverseSequenceOp : Onnx_Op<"ReverseSequence", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Onnx_T2:$sequence_lens, DefaultValuedOptionalAttr<I64Attr, "1">:$batch_axis, DefaultValuedOptionalAttr<I64Attr, "0">:$time_axis);
  let results = (outs Onnx_T11:$Y);
}
def Onnx_RoiAlignOp : Onnx_Op<"RoiAlign", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$rois, Onnx_T2:$batch_indices, DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode, DefaultValuedOptionalAttr<StrAttr, "\"avg\"">:$mode, DefaultValuedOptionalAttr<I64Attr, "1">:$output_height, DefaultValuedOptionalAttr<I64Attr, "1">:$output_width, DefaultValuedOptionalAttr<I64Attr, "0">:$sampling_ratio, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_RotaryEmbeddingOp : Onnx_Op<"RotaryEmbedding", [Pure]> {
  let arguments = (ins Onnx_T10:$X, Onnx_T10:$cos_cache, Onnx_T10:$sin_cache, Optional<Onnx_T2>:$position_ids, DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved, OptionalAttr<I64Attr>:$num_heads, DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim);
  let results = (outs Onnx_T10:$Y);
}
def Onnx_RoundOp : Onnx_Op<"Round", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_STFTOp : Onnx_Op<"STFT", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$signal, Onnx_T7:$frame_step, Optional<Onnx_T1>:$window, Optional<Onnx_T7>:$frame_length, DefaultValuedOptionalAttr<I64Attr, "1">:$onesided);
  let results = (outs Onnx_T1:$output);
}
def Onnx_ScanOp : Onnx_Op<"Scan", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Variadic<Onnx_T24>:$initial_state_and_scan_inputs, I64Attr:$num_scan_inputs, OptionalAttr<DenseI64ArrayAttr>:$scan_input_axes, OptionalAttr<DenseI64ArrayAttr>:$scan_input_directions, OptionalAttr<DenseI64ArrayAttr>:$scan_output_axes, OptionalAttr<DenseI64ArrayAttr>:$scan_output_directions);
  let results = (outs Variadic<Onnx_T24>:$final_state_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}
def Onnx_ScatterElementsOp : Onnx_Op<"ScatterElements", [Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T7:$indices, Onnx_T11:$updates, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
  let results = (outs Onnx_T11:$output);
}
def Onnx_ScatterNDOp : Onnx_Op<"ScatterND", [Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T2:$indices, Onnx_T11:$updates, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
  let results = (outs Onnx_T11:$output);
}
def Onnx_SeluOp : Onnx_Op<"Selu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.67326319f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "1.05070102f">:$gamma);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_SequenceAtOp : Onnx_Op<"SequenceAt", [Pure]> {
  let arguments = (ins Onnx_T12:$input_sequence, Onnx_T7:$position);
  let results = (outs Onnx_T13:$tensor);
}
def Onnx_SequenceConstructOp : Onnx_Op<"SequenceConstruct", [Pure]> {
  let arguments = (ins Variadic<Onnx_T13>:$inputs);
  let results = (outs Onnx_T12:$output_sequence);
}
def Onnx_SequenceEmptyOp : Onnx_Op<"SequenceEmpty", [Pure]> {
  let arguments = (ins OptionalAttr<I64Attr>:$dtype);
  let results = (outs Onnx_T12:$output);
}
def Onnx_SequenceEraseOp : Onnx_Op<"SequenceErase", [Pure]> {
  let arguments = (ins Onnx_T12:$input_sequence, Optional<Onnx_T7>:$position);
  let results = (outs Onnx_T12:$output_sequence);
}
def Onnx_SequenceInsertOp : Onnx_Op<"SequenceInsert", [Pure]> {
  let arguments = (ins Onnx_T12:$input_sequence, Onnx_T13:$tensor, Optional<Onnx_T7>:$position);
  let results = (outs Onnx_T12:$output_sequence);
}
def Onnx_SequenceLengthOp : Onnx_Op<"SequenceLength", [Pure]> {
  let arguments = (ins Onnx_T12:$input_sequence);
  let results = (outs Onnx_T2:$length);
}
def Onnx_SequenceMapOp : Onnx_Op<"SequenceMap", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Onnx_T12:$input_sequence, Variadic<Onnx_T42>:$additional_inputs);
  let results = (outs Variadic<Onnx_T12>:$out_sequence);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}
def Onnx_ShapeOp : Onnx_Op<"Shape", [Pure]> {
  let arguments = (ins Onnx_T24:$data, OptionalAttr<I64Attr>:$end, DefaultValuedOptionalAttr<I64Attr, "0">:$start);
  let results = (outs Onnx_T2:$shape);
}
def Onnx_ShrinkOp : Onnx_Op<"Shrink", [Pure]> {
  let arguments = (ins Onnx_T29:$input, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$bias, DefaultValuedOptionalAttr<F32Attr, "0.5f">:$lambd);
  let results = (outs Onnx_T29:$output);
}
def Onnx_SigmoidOp : Onnx_Op<"Sigmoid", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_SignOp : Onnx_Op<"Sign", [Pure]> {
  let arguments = (ins Onnx_T0:$input);
  let results = (outs Onnx_T0:$output);
}
def Onnx_SinOp : Onnx_Op<"Sin", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_SinhOp : Onnx_Op<"Sinh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_SizeOp : Onnx_Op<"Size", [Pure]> {
  let arguments = (ins Onnx_T24:$data);
  let results = (outs Onnx_T2:$size);
}
def Onnx_SliceOp : Onnx_Op<"Slice", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T11:$data, Onnx_T7:$starts, Onnx_T7:$ends, Optional<Onnx_T7>:$axes, Optional<Onnx_T7>:$steps);
  let results = (outs Onnx_T11:$output);
}
def Onnx_SoftmaxOp : Onnx_Op<"Softmax", [Pure]> {
  let arguments = (ins Onnx_T1:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs Onnx_T1:$output);
}
def Onnx_SoftmaxCrossEntropyLossOp : Onnx_Op<"SoftmaxCrossEntropyLoss", [Pure]> {
  let arguments = (ins Onnx_T1:$scores, Onnx_T7:$labels, Optional<Onnx_T1>:$weights, OptionalAttr<I64Attr>:$ignore_index, DefaultValuedOptionalAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T1>:$log_prob);
}
def Onnx_SoftplusOp : Onnx_Op<"Softplus", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_SoftsignOp : Onnx_Op<"Softsign", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_SpaceToDepthOp : Onnx_Op<"SpaceToDepth", [Pure]> {
  let arguments = (ins Onnx_T11:$input, I64Attr:$blocksize, DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs Onnx_T11:$output);
}
def Onnx_SplitOp : Onnx_Op<"Split", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Optional<Onnx_T2>:$split, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, OptionalAttr<I64Attr>:$num_outputs);
  let results = (outs Variadic<Onnx_T11>:$outputs);
}
def Onnx_SplitToSequenceOp : Onnx_Op<"SplitToSequence", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Optional<Onnx_T7>:$split, DefaultValuedOptionalAttr<I64Attr, "0">:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims);
  let results = (outs Onnx_T12:$output_sequence);
}
def Onnx_SqrtOp : Onnx_Op<"Sqrt", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_SqueezeOp : Onnx_Op<"Squeeze", [Pure]> {
  let arguments = (ins Onnx_T24:$data, Optional<Onnx_T2>:$axes);
  let results = (outs Onnx_T24:$squeezed);
}
def Onnx_StringConcatOp : Onnx_Op<"StringConcat", [Pure]> {
  let arguments = (ins Onnx_T40:$X, Onnx_T40:$Y);
  let results = (outs Onnx_T40:$Z);
}
def Onnx_StringNormalizerOp : Onnx_Op<"StringNormalizer", [Pure]> {
  let arguments = (ins Onnx_T40:$X, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$case_change_action, DefaultValuedOptionalAttr<I64Attr, "0">:$is_case_sensitive, OptionalAttr<StrAttr>:$locale, OptionalAttr<StrArrayAttr>:$stopwords);
  let results = (outs Onnx_T40:$Y);
}
def Onnx_StringSplitOp : Onnx_Op<"StringSplit", [Pure]> {
  let arguments = (ins Onnx_T40:$X, OptionalAttr<StrAttr>:$delimiter, OptionalAttr<I64Attr>:$maxsplit);
  let results = (outs Onnx_T40:$Y, Onnx_T2:$Z);
}
def Onnx_SubOp : Onnx_Op<"Sub", [Pure]> {
  let arguments = (ins Onnx_T0:$A, Onnx_T0:$B);
  let results = (outs Onnx_T0:$C);
}
def Onnx_SumOp : Onnx_Op<"Sum", [Pure]> {
  let arguments = (ins Variadic<Onnx_T1>:$data_0);
  let results = (outs Onnx_T1:$sum);
}
def Onnx_SwiGLUOp : Onnx_Op<"SwiGLU", [Pure]> {
  let arguments = (ins Onnx_T1:$A, Onnx_T1:$B, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_SwishOp : Onnx_Op<"Swish", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_TanOp : Onnx_Op<"Tan", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_TanhOp : Onnx_Op<"Tanh", [Pure]> {
  let arguments = (ins Onnx_T1:$input);
  let results = (outs Onnx_T1:$output);
}
def Onnx_TensorScatterOp : Onnx_Op<"TensorScatter", [Pure]> {
  let arguments = (ins Onnx_T43:$past_cache, Onnx_T43:$update, Optional<Onnx_T2>:$write_indices, DefaultValuedOptionalAttr<I64Attr, "-2">:$axis, DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode);
  let results = (outs Onnx_T43:$present_cache);
}
def Onnx_TfIdfVectorizerOp : Onnx_Op<"TfIdfVectorizer", [Pure]> {
  let arguments = (ins Onnx_T44:$X, I64Attr:$max_gram_length, I64Attr:$max_skip_count, I64Attr:$min_gram_length, StrAttr:$mode, DenseI64ArrayAttr:$ngram_counts, DenseI64ArrayAttr:$ngram_indexes, OptionalAttr<DenseI64ArrayAttr>:$pool_int64s, OptionalAttr<StrArrayAttr>:$pool_strings, OptionalAttr<DenseF32ArrayAttr>:$weights);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_ThresholdedReluOp : Onnx_Op<"ThresholdedRelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_TileOp : Onnx_Op<"Tile", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Onnx_T2:$repeats);
  let results = (outs Onnx_T11:$output);
}
def Onnx_TopKOp : Onnx_Op<"TopK", [Pure]> {
  let arguments = (ins Onnx_T0:$X, Onnx_T2:$K, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$largest, DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs Onnx_T0:$Values, Onnx_T2:$Indices);
}
def Onnx_TransposeOp : Onnx_Op<"Transpose", [Pure]> {
  let arguments = (ins Onnx_T24:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs Onnx_T24:$transposed);
}
def Onnx_TriluOp : Onnx_Op<"Trilu", [Pure]> {
  let arguments = (ins Onnx_T11:$input, Optional<Onnx_T2>:$k, DefaultValuedOptionalAttr<I64Attr, "1">:$upper);
  let results = (outs Onnx_T11:$output);
}
def Onnx_UniqueOp : Onnx_Op<"Unique", [AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T11:$X, OptionalAttr<I64Attr>:$axis, DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs Onnx_T11:$Y, Optional<Onnx_T2>:$indices, Optional<Onnx_T2>:$inverse_indices, Optional<Onnx_T2>:$counts);
}
def Onnx_UnsqueezeOp : Onnx_Op<"Unsqueeze", [Pure]> {
  let arguments = (ins Onnx_T24:$data, Onnx_T2:$axes);
  let results = (outs Onnx_T24:$expanded);
}
def Onnx_WhereOp : Onnx_Op<"Where", [Pure]> {
  let arguments = (ins Onnx_T3:$condition, Onnx_T11:$X, Onnx_T11:$Y);
  let results = (outs Onnx_T11:$output);
}
def Onnx_XorOp : Onnx_Op<"Xor", [Pure]> {
  let arguments = (ins Onnx_T3:$A, Onnx_T3:$B);
  let results = (outs Onnx_T3:$C);
}
def Onnx_MLArrayFeatureExtractorOp : Onnx_Op<"ml.ArrayFeatureExtractor", [Pure]> {
  let arguments = (ins Onnx_T45:$X, Onnx_T2:$Y);
  let results = (outs Onnx_T45:$Z);
}
def Onnx_MLBinarizerOp : Onnx_Op<"ml.Binarizer", [Pure]> {
  let arguments = (ins Onnx_T46:$X, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$threshold);
  let results = (outs Onnx_T46:$Y);
}
def Onnx_MLCastMapOp : Onnx_Op<"ml.CastMap", [Pure]> {
  let arguments = (ins Onnx_T47:$X, DefaultValuedOptionalAttr<StrAttr, "\"TO_FLOAT\"">:$cast_to, DefaultValuedOptionalAttr<StrAttr, "\"DENSE\"">:$map_form, DefaultValuedOptionalAttr<I64Attr, "1">:$max_map);
  let results = (outs Onnx_T48:$Y);
}
def Onnx_MLCategoryMapperOp : Onnx_Op<"ml.CategoryMapper", [Pure]> {
  let arguments = (ins Onnx_T49:$X, OptionalAttr<DenseI64ArrayAttr>:$cats_int64s, OptionalAttr<StrArrayAttr>:$cats_strings, DefaultValuedOptionalAttr<I64Attr, "-1">:$default_int64, DefaultValuedOptionalAttr<StrAttr, "\"_Unused\"">:$default_string);
  let results = (outs Onnx_T49:$Y);
}
def Onnx_MLDictVectorizerOp : Onnx_Op<"ml.DictVectorizer", [Pure]> {
  let arguments = (ins Onnx_T47:$X, OptionalAttr<DenseI64ArrayAttr>:$int64_vocabulary, OptionalAttr<StrArrayAttr>:$string_vocabulary);
  let results = (outs Onnx_T50:$Y);
}
def Onnx_MLFeatureVectorizerOp : Onnx_Op<"ml.FeatureVectorizer", [Pure]> {
  let arguments = (ins Variadic<Onnx_T46>:$X, OptionalAttr<DenseI64ArrayAttr>:$inputdimensions);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLImputerOp : Onnx_Op<"ml.Imputer", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseF32ArrayAttr>:$imputed_value_floats, OptionalAttr<DenseI64ArrayAttr>:$imputed_value_int64s, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$replaced_value_float, DefaultValuedOptionalAttr<I64Attr, "0">:$replaced_value_int64);
  let results = (outs Onnx_T46:$Y);
}
def Onnx_MLLabelEncoderOp : Onnx_Op<"ml.LabelEncoder", [Pure]> {
  let arguments = (ins Onnx_T51:$X, DefaultValuedOptionalAttr<F32Attr, "-0.0f">:$default_float, DefaultValuedOptionalAttr<I64Attr, "-1">:$default_int64, DefaultValuedOptionalAttr<StrAttr, "\"_Unused\"">:$default_string, OptionalAttr<ElementsAttr>:$default_tensor, OptionalAttr<DenseF32ArrayAttr>:$keys_floats, OptionalAttr<DenseI64ArrayAttr>:$keys_int64s, OptionalAttr<StrArrayAttr>:$keys_strings, OptionalAttr<ElementsAttr>:$keys_tensor, OptionalAttr<DenseF32ArrayAttr>:$values_floats, OptionalAttr<DenseI64ArrayAttr>:$values_int64s, OptionalAttr<StrArrayAttr>:$values_strings, OptionalAttr<ElementsAttr>:$values_tensor);
  let results = (outs Onnx_T51:$Y);
}
def Onnx_MLLinearClassifierOp : Onnx_Op<"ml.LinearClassifier", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseI64ArrayAttr>:$classlabels_ints, OptionalAttr<StrArrayAttr>:$classlabels_strings, DenseF32ArrayAttr:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$intercepts, DefaultValuedOptionalAttr<I64Attr, "0">:$multi_class, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform);
  let results = (outs Onnx_T49:$Y, Onnx_T21:$Z);
}
def Onnx_MLLinearRegressorOp : Onnx_Op<"ml.LinearRegressor", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseF32ArrayAttr>:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$intercepts, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform, DefaultValuedOptionalAttr<I64Attr, "1">:$targets);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLNormalizerOp : Onnx_Op<"ml.Normalizer", [Pure]> {
  let arguments = (ins Onnx_T46:$X, DefaultValuedOptionalAttr<StrAttr, "\"MAX\"">:$norm);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLOneHotEncoderOp : Onnx_Op<"ml.OneHotEncoder", [Pure]> {
  let arguments = (ins Onnx_T45:$X, OptionalAttr<DenseI64ArrayAttr>:$cats_int64s, OptionalAttr<StrArrayAttr>:$cats_strings, DefaultValuedOptionalAttr<I64Attr, "1">:$zeros);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLSVMClassifierOp : Onnx_Op<"ml.SVMClassifier", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseI64ArrayAttr>:$classlabels_ints, OptionalAttr<StrArrayAttr>:$classlabels_strings, OptionalAttr<DenseF32ArrayAttr>:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$kernel_params, DefaultValuedOptionalAttr<StrAttr, "\"LINEAR\"">:$kernel_type, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform, OptionalAttr<DenseF32ArrayAttr>:$prob_a, OptionalAttr<DenseF32ArrayAttr>:$prob_b, OptionalAttr<DenseF32ArrayAttr>:$rho, OptionalAttr<DenseF32ArrayAttr>:$support_vectors, OptionalAttr<DenseI64ArrayAttr>:$vectors_per_class);
  let results = (outs Onnx_T49:$Y, Onnx_T21:$Z);
}
def Onnx_MLSVMRegressorOp : Onnx_Op<"ml.SVMRegressor", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseF32ArrayAttr>:$coefficients, OptionalAttr<DenseF32ArrayAttr>:$kernel_params, DefaultValuedOptionalAttr<StrAttr, "\"LINEAR\"">:$kernel_type, DefaultValuedOptionalAttr<I64Attr, "0">:$n_supports, DefaultValuedOptionalAttr<I64Attr, "0">:$one_class, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform, OptionalAttr<DenseF32ArrayAttr>:$rho, OptionalAttr<DenseF32ArrayAttr>:$support_vectors);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLScalerOp : Onnx_Op<"ml.Scaler", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseF32ArrayAttr>:$offset, OptionalAttr<DenseF32ArrayAttr>:$scale);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLTreeEnsembleOp : Onnx_Op<"ml.TreeEnsemble", [Pure]> {
  let arguments = (ins Onnx_T41:$X, DefaultValuedOptionalAttr<I64Attr, "1">:$aggregate_function, DenseI64ArrayAttr:$leaf_targetids, ElementsAttr:$leaf_weights, OptionalAttr<ElementsAttr>:$membership_values, OptionalAttr<I64Attr>:$n_targets, DenseI64ArrayAttr:$nodes_falseleafs, DenseI64ArrayAttr:$nodes_falsenodeids, DenseI64ArrayAttr:$nodes_featureids, OptionalAttr<ElementsAttr>:$nodes_hitrates, OptionalAttr<DenseI64ArrayAttr>:$nodes_missing_value_tracks_true, ElementsAttr:$nodes_modes, ElementsAttr:$nodes_splits, DenseI64ArrayAttr:$nodes_trueleafs, DenseI64ArrayAttr:$nodes_truenodeids, DefaultValuedOptionalAttr<I64Attr, "0">:$post_transform, DenseI64ArrayAttr:$tree_roots);
  let results = (outs Onnx_T41:$Y);
}
def Onnx_MLTreeEnsembleClassifierOp : Onnx_Op<"ml.TreeEnsembleClassifier", [Pure]> {
  let arguments = (ins Onnx_T46:$X, OptionalAttr<DenseF32ArrayAttr>:$base_values, OptionalAttr<ElementsAttr>:$base_values_as_tensor, OptionalAttr<DenseI64ArrayAttr>:$class_ids, OptionalAttr<DenseI64ArrayAttr>:$class_nodeids, OptionalAttr<DenseI64ArrayAttr>:$class_treeids, OptionalAttr<DenseF32ArrayAttr>:$class_weights, OptionalAttr<ElementsAttr>:$class_weights_as_tensor, OptionalAttr<DenseI64ArrayAttr>:$classlabels_int64s, OptionalAttr<StrArrayAttr>:$classlabels_strings, OptionalAttr<DenseI64ArrayAttr>:$nodes_falsenodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_featureids, OptionalAttr<DenseF32ArrayAttr>:$nodes_hitrates, OptionalAttr<ElementsAttr>:$nodes_hitrates_as_tensor, OptionalAttr<DenseI64ArrayAttr>:$nodes_missing_value_tracks_true, OptionalAttr<StrArrayAttr>:$nodes_modes, OptionalAttr<DenseI64ArrayAttr>:$nodes_nodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_treeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_truenodeids, OptionalAttr<DenseF32ArrayAttr>:$nodes_values, OptionalAttr<ElementsAttr>:$nodes_values_as_tensor, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform);
  let results = (outs Onnx_T49:$Y, Onnx_T21:$Z);
}
def Onnx_MLTreeEnsembleRegressorOp : Onnx_Op<"ml.TreeEnsembleRegressor", [Pure]> {
  let arguments = (ins Onnx_T46:$X, DefaultValuedOptionalAttr<StrAttr, "\"SUM\"">:$aggregate_function, OptionalAttr<DenseF32ArrayAttr>:$base_values, OptionalAttr<ElementsAttr>:$base_values_as_tensor, OptionalAttr<I64Attr>:$n_targets, OptionalAttr<DenseI64ArrayAttr>:$nodes_falsenodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_featureids, OptionalAttr<DenseF32ArrayAttr>:$nodes_hitrates, OptionalAttr<ElementsAttr>:$nodes_hitrates_as_tensor, OptionalAttr<DenseI64ArrayAttr>:$nodes_missing_value_tracks_true, OptionalAttr<StrArrayAttr>:$nodes_modes, OptionalAttr<DenseI64ArrayAttr>:$nodes_nodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_treeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_truenodeids, OptionalAttr<DenseF32ArrayAttr>:$nodes_values, OptionalAttr<ElementsAttr>:$nodes_values_as_tensor, DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$post_transform, OptionalAttr<DenseI64ArrayAttr>:$target_ids, OptionalAttr<DenseI64ArrayAttr>:$target_nodeids, OptionalAttr<DenseI64ArrayAttr>:$target_treeids, OptionalAttr<DenseF32ArrayAttr>:$target_weights, OptionalAttr<ElementsAttr>:$target_weights_as_tensor);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MLZipMapOp : Onnx_Op<"ml.ZipMap", [Pure]> {
  let arguments = (ins Onnx_T21:$X, OptionalAttr<DenseI64ArrayAttr>:$classlabels_int64s, OptionalAttr<StrArrayAttr>:$classlabels_strings);
  let results = (outs Onnx_T52:$Z);
}
def Onnx_PreviewFlexAttentionOp : Onnx_Op<"preview.FlexAttention", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Onnx_T1:$Q, Onnx_T1:$K, Onnx_T1:$V, OptionalAttr<F32Attr>:$scale, OptionalAttr<I64Attr>:$softmax_precision);
  let results = (outs Onnx_T1:$Y);
  let regions = (region AnyRegion:$prob_mod, AnyRegion:$score_mod);
  let hasRegionVerifier = 1;
}
def Onnx_PreviewAdagradOp : Onnx_Op<"preview.Adagrad", [Pure]> {
  let arguments = (ins Onnx_T53:$R, Onnx_T2:$T, Variadic<Onnx_T53>:$inputs, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$decay_factor, DefaultValuedOptionalAttr<F32Attr, "9.99999997e-07f">:$epsilon, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$norm_coefficient);
  let results = (outs Variadic<Onnx_T53>:$outputs);
}
def Onnx_PreviewAdamOp : Onnx_Op<"preview.Adam", [Pure]> {
  let arguments = (ins Onnx_T53:$R, Onnx_T2:$T, Variadic<Onnx_T53>:$inputs, DefaultValuedOptionalAttr<F32Attr, "0.899999976f">:$alpha, DefaultValuedOptionalAttr<F32Attr, "0.999000013f">:$beta, DefaultValuedOptionalAttr<F32Attr, "9.99999997e-07f">:$epsilon, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$norm_coefficient, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$norm_coefficient_post);
  let results = (outs Variadic<Onnx_T53>:$outputs);
}
def Onnx_PreviewGradientOp : Onnx_Op<"preview.Gradient", [Pure]> {
  let arguments = (ins Variadic<Onnx_T13>:$Inputs, StrArrayAttr:$xs, StrAttr:$y, OptionalAttr<StrArrayAttr>:$zs);
  let results = (outs Variadic<Onnx_T41>:$Outputs);
}
def Onnx_PreviewMomentumOp : Onnx_Op<"preview.Momentum", [Pure]> {
  let arguments = (ins Onnx_T53:$R, Onnx_T2:$T, Variadic<Onnx_T53>:$inputs, F32Attr:$alpha, F32Attr:$beta, StrAttr:$mode, F32Attr:$norm_coefficient);
  let results = (outs Variadic<Onnx_T53>:$outputs);
}
def Onnx_MSAttentionOp : Onnx_Op<"ms.Attention", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$input, Onnx_T1:$weights, Optional<Onnx_T1>:$bias, Optional<Onnx_T16>:$mask_index, Optional<Onnx_T1>:$past, Optional<Onnx_T1>:$attention_bias, Optional<Onnx_T16>:$past_sequence_length, DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, OptionalAttr<F32Attr>:$mask_filter_value, I64Attr:$num_heads, OptionalAttr<I64Attr>:$past_present_share_buffer, OptionalAttr<DenseI64ArrayAttr>:$qkv_hidden_sizes, OptionalAttr<I64Attr>:$rotary_embedding_dim, OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T1>:$present);
}
def Onnx_MSBiasGeluOp : Onnx_Op<"ms.BiasGelu", [Pure]> {
  let arguments = (ins Onnx_T1:$A, Onnx_T1:$B);
  let results = (outs Onnx_T1:$C);
}
def Onnx_MSDequantizeLinearOp : Onnx_Op<"ms.DequantizeLinear", [Pure]> {
  let arguments = (ins Onnx_T54:$x, Onnx_T55:$x_scale, Optional<Onnx_T54>:$x_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
  let results = (outs Onnx_T55:$y);
}
def Onnx_MSDynamicQuantizeLSTMOp : Onnx_Op<"ms.DynamicQuantizeLSTM", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T21:$X, Onnx_T15:$W, Onnx_T15:$R, Optional<Onnx_T21>:$B, Optional<Onnx_T16>:$sequence_lens, Optional<Onnx_T21>:$initial_h, Optional<Onnx_T21>:$initial_c, Optional<Onnx_T21>:$P, Onnx_T21:$W_scale, Onnx_T15:$W_zero_point, Onnx_T21:$R_scale, Onnx_T15:$R_zero_point, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha, OptionalAttr<DenseF32ArrayAttr>:$activation_beta, OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip, DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction, OptionalAttr<I64Attr>:$hidden_size, DefaultValuedOptionalAttr<I64Attr, "0">:$input_forget);
  let results = (outs Optional<Onnx_T21>:$Y, Optional<Onnx_T21>:$Y_h, Optional<Onnx_T21>:$Y_c);
}
def Onnx_MSDynamicQuantizeMatMulOp : Onnx_Op<"ms.DynamicQuantizeMatMul", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T21:$A, Onnx_T15:$B, Onnx_T21:$b_scale, Optional<Onnx_T15>:$b_zero_point, Optional<Onnx_T21>:$bias);
  let results = (outs Onnx_T21:$Y);
}
def Onnx_MSEmbedLayerNormalizationOp : Onnx_Op<"ms.EmbedLayerNormalization", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T16:$input_ids, Optional<Onnx_T16>:$segment_ids, Onnx_T1:$word_embedding, Onnx_T1:$position_embedding, Optional<Onnx_T1>:$segment_embedding, Onnx_T1:$gamma, Onnx_T1:$beta, Optional<Onnx_T16>:$mask, Optional<Onnx_T16>:$position_ids, DefaultValuedOptionalAttr<F32Attr, "9.99999996e-13f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "0">:$mask_index_type);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T16>:$mask_index, Optional<Onnx_T1>:$embedding_sum);
}
def Onnx_MSFastGeluOp : Onnx_Op<"ms.FastGelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Optional<Onnx_T1>:$bias);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSFusedConvOp : Onnx_Op<"ms.FusedConv", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$W, Optional<Onnx_T1>:$B, Optional<Onnx_T1>:$Z, OptionalAttr<StrAttr>:$activation, OptionalAttr<DenseF32ArrayAttr>:$activation_params, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedOptionalAttr<I64Attr, "1">:$group, OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSFusedMatMulOp : Onnx_Op<"ms.FusedMatMul", [Pure]> {
  let arguments = (ins Onnx_T1:$A, Onnx_T1:$B, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha, DefaultValuedOptionalAttr<I64Attr, "0">:$transA, DefaultValuedOptionalAttr<I64Attr, "0">:$transB, DefaultValuedOptionalAttr<I64Attr, "0">:$transBatchA, DefaultValuedOptionalAttr<I64Attr, "0">:$transBatchB);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSGatherBlockQuantizedOp : Onnx_Op<"ms.GatherBlockQuantized", [Pure]> {
  let arguments = (ins Onnx_T56:$data, Onnx_T7:$indices, Onnx_T1:$scales, Optional<Onnx_T56>:$zero_points, DefaultValuedOptionalAttr<I64Attr, "4">:$bits, DefaultValuedOptionalAttr<I64Attr, "128">:$block_size, DefaultValuedOptionalAttr<I64Attr, "0">:$gather_axis, DefaultValuedOptionalAttr<I64Attr, "1">:$quantize_axis);
  let results = (outs Onnx_T1:$output);
}
def Onnx_MSGeluOp : Onnx_Op<"ms.Gelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSMatMulIntegerToFloatOp : Onnx_Op<"ms.MatMulIntegerToFloat", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$A, Onnx_T15:$B, Onnx_T55:$a_scale, Onnx_T55:$b_scale, Optional<Onnx_T15>:$a_zero_point, Optional<Onnx_T15>:$b_zero_point, Optional<Onnx_T55>:$bias);
  let results = (outs Onnx_T55:$Y);
}
def Onnx_MSMatMulNBitsOp : Onnx_Op<"ms.MatMulNBits", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T1:$A, Onnx_T57:$B, Onnx_T1:$scales, Optional<Onnx_T58>:$zero_points, Optional<Onnx_T16>:$g_idx, Optional<Onnx_T1>:$bias, I64Attr:$K, I64Attr:$N, DefaultValuedOptionalAttr<I64Attr, "0">:$accuracy_level, DefaultValuedOptionalAttr<I64Attr, "4">:$bits, I64Attr:$block_size);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSMultiHeadAttentionOp : Onnx_Op<"ms.MultiHeadAttention", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$query, Optional<Onnx_T1>:$key, Optional<Onnx_T1>:$value, Optional<Onnx_T1>:$bias, Optional<Onnx_T16>:$key_padding_mask, Optional<Onnx_T1>:$attention_bias, Optional<Onnx_T1>:$past_key, Optional<Onnx_T1>:$past_value, Optional<Onnx_T16>:$past_sequence_length, Optional<Onnx_T16>:$cache_indirection, OptionalAttr<F32Attr>:$mask_filter_value, I64Attr:$num_heads, OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T1>:$present_key, Optional<Onnx_T1>:$present_value, Optional<Onnx_T1>:$qk);
}
def Onnx_MSQAttentionOp : Onnx_Op<"ms.QAttention", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$input, Onnx_T15:$weight, Onnx_T55:$bias, Onnx_T55:$input_scale, Onnx_T55:$weight_scale, Optional<Onnx_T16>:$mask_index, Optional<Onnx_T15>:$input_zero_point, Optional<Onnx_T15>:$weight_zero_point, Optional<Onnx_T55>:$past, DefaultValuedOptionalAttr<I64Attr, "0">:$do_rotary, OptionalAttr<F32Attr>:$mask_filter_value, I64Attr:$num_heads, OptionalAttr<I64Attr>:$past_present_share_buffer, OptionalAttr<F32Attr>:$scale, DefaultValuedOptionalAttr<I64Attr, "0">:$unidirectional);
  let results = (outs Onnx_T55:$output, Optional<Onnx_T55>:$present);
}
def Onnx_MSQEmbedLayerNormalizationOp : Onnx_Op<"ms.QEmbedLayerNormalization", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T16:$input_ids, Optional<Onnx_T16>:$segment_ids, Onnx_T15:$word_embedding_quant, Onnx_T15:$position_embedding_quant, Optional<Onnx_T15>:$segment_embedding, Onnx_T15:$gamma_quant, Onnx_T15:$beta_quant, Optional<Onnx_T16>:$mask, Onnx_T21:$word_embedding_scale, Onnx_T21:$position_embedding_scale, Optional<Onnx_T21>:$segment_embedding_scale, Onnx_T21:$gamma_scale, Onnx_T21:$beta_scale, Onnx_T15:$word_embedding_zero_point, Onnx_T15:$position_embedding_zero_point, Optional<Onnx_T15>:$segment_embedding_zero_point, Onnx_T15:$gamma_zero_point, Onnx_T15:$beta_zero_point, DefaultValuedOptionalAttr<F32Attr, "9.99999996e-13f">:$epsilon);
  let results = (outs Onnx_T21:$layernorm_out, Onnx_T16:$mask_index_out);
}
def Onnx_MSQGemmOp : Onnx_Op<"ms.QGemm", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$A, Onnx_T21:$a_scale, Onnx_T15:$a_zero_point, Onnx_T15:$B, Onnx_T21:$b_scale, Onnx_T15:$b_zero_point, Optional<Onnx_T16>:$C, Optional<Onnx_T21>:$y_scale, Optional<Onnx_T15>:$y_zero_point, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha, DefaultValuedOptionalAttr<I64Attr, "0">:$transA, DefaultValuedOptionalAttr<I64Attr, "0">:$transB);
  let results = (outs Onnx_T59:$Y);
}
def Onnx_MSQLinearAddOp : Onnx_Op<"ms.QLinearAdd", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$A, Onnx_T21:$A_scale, Optional<Onnx_T15>:$A_zero_point, Onnx_T15:$B, Onnx_T21:$B_scale, Optional<Onnx_T15>:$B_zero_point, Onnx_T21:$C_scale, Optional<Onnx_T15>:$C_zero_point);
  let results = (outs Onnx_T15:$C);
}
def Onnx_MSQLinearAveragePoolOp : Onnx_Op<"ms.QLinearAveragePool", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$X, Onnx_T21:$x_scale, Optional<Onnx_T15>:$x_zero_point, Onnx_T21:$y_scale, Optional<Onnx_T15>:$y_zero_point, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode, DefaultValuedOptionalAttr<I64Attr, "0">:$channels_last, DefaultValuedOptionalAttr<I64Attr, "0">:$count_include_pad, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearConcatOp : Onnx_Op<"ms.QLinearConcat", [Pure]> {
  let arguments = (ins Onnx_T21:$Y_scale, Onnx_T15:$Y_zero_point, Variadic<Onnx_T60>:$inputs, I64Attr:$axis);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearGlobalAveragePoolOp : Onnx_Op<"ms.QLinearGlobalAveragePool", [Pure]> {
  let arguments = (ins Onnx_T15:$X, Onnx_T21:$x_scale, Onnx_T15:$x_zero_point, Onnx_T21:$y_scale, Onnx_T15:$y_zero_point, DefaultValuedOptionalAttr<I64Attr, "0">:$channels_last);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearLeakyReluOp : Onnx_Op<"ms.QLinearLeakyRelu", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$X, Onnx_T21:$X_scale, Optional<Onnx_T15>:$X_zero_point, Onnx_T21:$Y_scale, Optional<Onnx_T15>:$Y_zero_point, DefaultValuedOptionalAttr<F32Attr, "0.01f">:$alpha);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearMulOp : Onnx_Op<"ms.QLinearMul", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$A, Onnx_T21:$A_scale, Optional<Onnx_T15>:$A_zero_point, Onnx_T15:$B, Onnx_T21:$B_scale, Optional<Onnx_T15>:$B_zero_point, Onnx_T21:$C_scale, Optional<Onnx_T15>:$C_zero_point);
  let results = (outs Onnx_T15:$C);
}
def Onnx_MSQLinearReduceMeanOp : Onnx_Op<"ms.QLinearReduceMean", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$data, Onnx_T21:$data_scale, Optional<Onnx_T15>:$data_zero_point, Onnx_T21:$reduced_scale, Optional<Onnx_T15>:$reduced_zero_point, DenseI64ArrayAttr:$axes, I64Attr:$keepdims);
  let results = (outs Onnx_T15:$reduced);
}
def Onnx_MSQLinearSigmoidOp : Onnx_Op<"ms.QLinearSigmoid", [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins Onnx_T15:$X, Onnx_T21:$X_scale, Optional<Onnx_T15>:$X_zero_point, Onnx_T21:$Y_scale, Optional<Onnx_T15>:$Y_zero_point);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearSoftmaxOp : Onnx_Op<"ms.QLinearSoftmax", [Pure]> {
  let arguments = (ins Onnx_T15:$X, Onnx_T21:$X_scale, Optional<Onnx_T15>:$x_zero_point, Onnx_T21:$y_scale, Onnx_T15:$y_zero_point, OptionalAttr<I64Attr>:$axis, I64Attr:$opset);
  let results = (outs Onnx_T15:$Y);
}
def Onnx_MSQLinearWhereOp : Onnx_Op<"ms.QLinearWhere", [Pure]> {
  let arguments = (ins Onnx_T3:$condition, Onnx_T15:$X, Onnx_T21:$x_scale, Onnx_T15:$x_zero_point, Onnx_T15:$Y, Onnx_T21:$y_scale, Onnx_T15:$y_zero_point, Onnx_T21:$z_scale, Onnx_T15:$z_zero_point);
  let results = (outs Onnx_T15:$Z);
}
def Onnx_MSQuantizeLinearOp : Onnx_Op<"ms.QuantizeLinear", [Pure]> {
  let arguments = (ins Onnx_T55:$x, Onnx_T55:$y_scale, Optional<Onnx_T61>:$y_zero_point, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
  let results = (outs Onnx_T61:$y);
}
def Onnx_MSQuickGeluOp : Onnx_Op<"ms.QuickGelu", [Pure]> {
  let arguments = (ins Onnx_T1:$X, DefaultValuedOptionalAttr<F32Attr, "1.702f">:$alpha);
  let results = (outs Onnx_T1:$Y);
}
def Onnx_MSSimplifiedLayerNormalizationOp : Onnx_Op<"ms.SimplifiedLayerNormalization", [Pure]> {
  let arguments = (ins Onnx_T1:$X, Onnx_T1:$scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs Onnx_T1:$Y, Optional<Onnx_T1>:$inv_std_var);
}
def Onnx_MSSkipLayerNormalizationOp : Onnx_Op<"ms.SkipLayerNormalization", [AttrSizedOperandSegments, AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$input, Onnx_T1:$skip, Onnx_T1:$gamma, Optional<Onnx_T1>:$beta, Optional<Onnx_T1>:$bias, DefaultValuedOptionalAttr<F32Attr, "9.99999996e-13f">:$epsilon);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T26>:$mean, Optional<Onnx_T26>:$inv_std_var, Optional<Onnx_T1>:$input_skip_bias_sum);
}
def Onnx_MSSkipSimplifiedLayerNormalizationOp : Onnx_Op<"ms.SkipSimplifiedLayerNormalization", [AttrSizedResultSegments, Pure]> {
  let arguments = (ins Onnx_T1:$input, Onnx_T1:$skip, Onnx_T1:$gamma, Optional<Onnx_T1>:$bias, DefaultValuedOptionalAttr<F32Attr, "9.99999996e-13f">:$epsilon);
  let results = (outs Onnx_T1:$output, Optional<Onnx_T26>:$mean, Optional<Onnx_T26>:$inv_std_var, Optional<Onnx_T1>:$input_skip_bias_sum);
}

#endif
