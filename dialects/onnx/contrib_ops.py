"""The com.microsoft operators that real models carry.

(name, inputs, outputs, attributes, type variables); a value is name[?|*]:type, where ? is optional and * variadic,
type an element type or a type variable; an attribute is name[!]:KIND[=default], ! required.
"""
FLOAT = ["float", "float16", "bfloat16", "double"]
Q8 = ["int8", "uint8"]
T = {"T": FLOAT}
TQ = {"T": Q8}
# QuantizeLinear and DequantizeLinear for types that came to ai.onnx with opset 21.
TL = {"F": ["float", "float16"], "Q": ["int8", "uint8", "int16", "uint16", "int4", "uint4"],
      "D": ["int8", "uint8", "int16", "uint16", "int4", "uint4", "int32"]}
TM = {"T": FLOAT, "M": ["int32"], "U": ["float", "bfloat16"]}
NORM = "epsilon:FLOAT=9.99999996e-13"

CONTRIB_OPS = [
    ("FusedMatMul", "A:T B:T", "Y:T", "alpha:FLOAT=1.0 transA:INT=0 transB:INT=0 transBatchA:INT=0 transBatchB:INT=0", T),
    ("Gelu", "X:T", "Y:T", "", T),
    ("BiasGelu", "A:T B:T", "C:T", "", T),
    ("FastGelu", "X:T bias?:T", "Y:T", "", T),
    ("QuickGelu", "X:T", "Y:T", "alpha:FLOAT=1.702", T),
    ("SkipLayerNormalization", "input:T skip:T gamma:T beta?:T bias?:T",
     "output:T mean?:U inv_std_var?:U input_skip_bias_sum?:T", NORM, TM),
    ("SimplifiedLayerNormalization", "X:T scale:V", "Y:V inv_std_var?:U",
     "axis:INT=-1 epsilon:FLOAT=9.99999975e-06 stash_type:INT=1", {"T": FLOAT, "U": FLOAT, "V": FLOAT}),
    ("SkipSimplifiedLayerNormalization", "input:T skip:T gamma:T bias?:T",
     "output:T mean?:U inv_std_var?:U input_skip_bias_sum?:T", NORM, TM),
    ("EmbedLayerNormalization", "input_ids:M segment_ids?:M word_embedding:T position_embedding:T segment_embedding?:T "
     "gamma:T beta:T mask?:M position_ids?:M", "output:T mask_index?:M embedding_sum?:T",
     NORM + " mask_index_type:INT=0", TM),
    ("Attention", "input:T weights:T bias?:T mask_index?:M past?:T attention_bias?:T past_sequence_length?:M",
     "output:T present?:T", "num_heads!:INT unidirectional:INT=0 do_rotary:INT=0 mask_filter_value:FLOAT "
     "past_present_share_buffer:INT qkv_hidden_sizes:INTS rotary_embedding_dim:INT scale:FLOAT", TM),
    ("MultiHeadAttention", "query:T key?:T value?:T bias?:T key_padding_mask?:M attention_bias?:T past_key?:T "
     "past_value?:T past_sequence_length?:M cache_indirection?:M", "output:T present_key?:T present_value?:T qk?:QK",
     "num_heads!:INT mask_filter_value:FLOAT scale:FLOAT unidirectional:INT=0",
     {"T": FLOAT, "QK": FLOAT, "M": ["int32"]}),
    ("DynamicQuantizeLSTM", "X:T W:Q R:Q B?:T sequence_lens?:L initial_h?:T initial_c?:T P?:T W_scale:T W_zero_point:Q "
     "R_scale:T R_zero_point:Q", "Y?:T Y_h?:T Y_c?:T", "activation_alpha:FLOATS activation_beta:FLOATS "
     "activations:STRINGS clip:FLOAT direction:STRING=forward hidden_size:INT input_forget:INT=0",
     {"T": ["float"], "Q": Q8, "L": ["int32"]}),
    ("DynamicQuantizeMatMul", "A:T B:Q b_scale:T b_zero_point?:Q bias?:T", "Y:T", "", {"T": ["float"], "Q": Q8}),
    ("MatMulIntegerToFloat", "A:P B:Q a_scale:T b_scale:T a_zero_point?:P b_zero_point?:Q bias?:T", "Y:T", "",
     {"T": ["float", "float16"], "P": Q8, "Q": Q8}),
    ("MatMulNBits", "A:T B:Q scales:T zero_points?:Z g_idx?:G bias?:T", "Y:T",
     "K!:INT N!:INT accuracy_level:INT=0 bits:INT=4 block_size!:INT",
     {"T": FLOAT, "Q": ["uint8", "int32"], "Z": ["uint8", "int32", "float", "float16", "bfloat16"], "G": ["int32"]}),
    ("GatherBlockQuantized", "data:Q indices:I scales:T zero_points?:Q", "output:T",
     "bits:INT=4 block_size:INT=128 gather_axis:INT=0 quantize_axis:INT=1",
     {"T": FLOAT, "Q": ["int4", "uint4", "uint8"], "I": ["int32", "int64"]}),
    ("QLinearAdd", "A:T A_scale:float A_zero_point?:T B:T B_scale:float B_zero_point?:T C_scale:float C_zero_point?:T",
     "C:T", "", TQ),
    ("QLinearMul", "A:T A_scale:float A_zero_point?:T B:T B_scale:float B_zero_point?:T C_scale:float C_zero_point?:T",
     "C:T", "", TQ),
    ("QLinearSigmoid", "X:T X_scale:float X_zero_point?:T Y_scale:float Y_zero_point?:T", "Y:T", "", TQ),
    ("QLinearLeakyRelu", "X:T X_scale:float X_zero_point?:T Y_scale:float Y_zero_point?:T", "Y:T", "alpha:FLOAT=0.01", TQ),
    ("QLinearSoftmax", "X:T X_scale:float x_zero_point?:T y_scale:float y_zero_point:T", "Y:T", "axis:INT opset!:INT", TQ),
    ("QLinearReduceMean", "data:T data_scale:float data_zero_point?:T reduced_scale:float reduced_zero_point?:T",
     "reduced:T", "axes!:INTS keepdims!:INT", TQ),
    ("QLinearWhere", "condition:bool X:T x_scale:float x_zero_point:T Y:T y_scale:float y_zero_point:T z_scale:float "
     "z_zero_point:T", "Z:T", "", TQ),
    ("QLinearGlobalAveragePool", "X:T x_scale:float x_zero_point:T y_scale:float y_zero_point:T", "Y:T",
     "channels_last:INT=0", TQ),
    ("QLinearAveragePool", "X:T x_scale:float x_zero_point?:T y_scale:float y_zero_point?:T", "Y:T",
     "auto_pad:STRING=NOTSET ceil_mode:INT=0 channels_last:INT=0 count_include_pad:INT=0 kernel_shape!:INTS pads:INTS "
     "strides:INTS", TQ),
    ("QLinearConcat", "Y_scale:float Y_zero_point:T inputs*:any", "Y:T", "axis!:INT", dict(TQ, any=["any"])),
    ("QGemm", "A:TA a_scale:T a_zero_point:TA B:TB b_scale:T b_zero_point:TB C?:TC y_scale?:T y_zero_point?:TY", "Y:TO",
     "alpha:FLOAT=1.0 transA:INT=0 transB:INT=0",
     {"T": ["float"], "TA": Q8, "TB": Q8, "TC": ["int32"], "TY": Q8, "TO": ["float"] + Q8}),
    ("QAttention", "input:I weight:W bias:T input_scale:T weight_scale:T mask_index?:M input_zero_point?:I "
     "weight_zero_point?:W past?:T", "output:T present?:T", "num_heads!:INT unidirectional:INT=0 do_rotary:INT=0 "
     "mask_filter_value:FLOAT past_present_share_buffer:INT scale:FLOAT",
     {"T": ["float", "float16"], "I": Q8, "W": Q8, "M": ["int32"]}),
    ("QEmbedLayerNormalization", "input_ids:M segment_ids?:M word_embedding_quant:Q position_embedding_quant:Q "
     "segment_embedding?:Q gamma_quant:Q beta_quant:Q mask?:M word_embedding_scale:T position_embedding_scale:T "
     "segment_embedding_scale?:T gamma_scale:T beta_scale:T word_embedding_zero_point:Q position_embedding_zero_point:Q "
     "segment_embedding_zero_point?:Q gamma_zero_point:Q beta_zero_point:Q", "layernorm_out:T mask_index_out:M", NORM,
     {"T": ["float"], "Q": Q8, "M": ["int32"]}),
    ("QuantizeLinear", "x:F y_scale:F y_zero_point?:Q", "y:Q", "axis:INT=1", TL),
    ("DequantizeLinear", "x:D x_scale:F x_zero_point?:D", "y:F", "axis:INT=1", TL),
    ("FusedConv", "X:T W:T B?:T Z?:T", "Y:T", "activation:STRING activation_params:FLOATS auto_pad:STRING=NOTSET "
     "dilations:INTS group:INT=1 kernel_shape:INTS pads:INTS strides:INTS", T),
]
