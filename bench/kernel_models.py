#!/usr/bin/env python3
"""Models of one operator (or one idiom), as they occur in real models: one input that is known at run time, weights as
constants.

kernel_models.py --list                 every case: name, group
kernel_models.py DIR NAME...            DIR/NAME.onnx, DIR/NAME.json, DIR/NAME.inputs/*.npy"""

import json
import math
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 20, 10


class Graph:
    """A small builder: constants with seeded values, nodes in order."""

    def __init__(self, seed):
        self.random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def weight(self, *shape, scale=None):
        scale = 1 / math.sqrt(max(1, math.prod(shape[1:]))) if scale is None else scale
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind, *inputs, **attributes):
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name


def matmul(g, x, shape, k, n):
    return g.op("MatMul", x, g.weight(k, n, scale=1 / math.sqrt(k)))


def linear_gelu(g, x, shape, k, n):
    y = g.op("Add", g.op("MatMul", x, g.weight(k, n, scale=1 / math.sqrt(k))), g.weight(n, scale=0.1))
    return gelu(g, y, shape)


def batched(g, x, shape, n):
    """Both sides are known at run time only, as in attention: x times the transpose of itself, scaled."""
    t = g.op("Transpose", x, perm=[0, 2, 1])
    return g.op("MatMul", x, t)


def conv(g, x, shape, out, kernel, stride=1, groups=1, relu=False):
    pads = [k // 2 for k in kernel] * 2
    w = g.weight(out, shape[1] // groups, *kernel)
    y = g.op("Conv", x, w, g.weight(out, scale=0.1), pads=pads, strides=[stride] * len(kernel), group=groups)
    return g.op("Relu", y) if relu else y


def gelu(g, x, shape):
    half = g.op("Mul", x, g.constant(np.float32(0.5)))
    erf = g.op("Erf", g.op("Div", x, g.constant(np.float32(math.sqrt(2)))))
    return g.op("Mul", half, g.op("Add", erf, g.constant(np.float32(1))))


def layer_norm(g, x, shape):
    n = shape[-1]
    return g.op("LayerNormalization", x, g.weight(n, scale=1.0), g.weight(n, scale=0.1), axis=-1, epsilon=1e-5)


def simple(kind, **attributes):
    return lambda g, x, shape: g.op(kind, x, **attributes)


def hard_swish(g, x, shape):
    return g.op("HardSwish", x)


def silu(g, x, shape):
    return g.op("Mul", x, g.op("Sigmoid", x))


def add_bias(g, x, shape):
    return g.op("Relu", g.op("Add", x, g.weight(shape[1], 1, 1, scale=0.1)))


def resize(g, x, shape):
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    return g.op(
        "Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )


def reduce_mean(g, x, shape):
    return g.op("ReduceMean", x, g.constant(np.array([-1], np.int64)), keepdims=1)


def _case(group, shape, build, *args, **options):
    return group, list(shape), build, args, options


# The group decides what a case is measured against: gemm, conv: the FMA peak; memory: memcpy of as many bytes.
CASES = {
    "call": _case("call", (1,), simple("Relu")),  # what a run costs when there is nothing to compute
    **{
        f"gemm_{m}x{k}x{n}": _case("gemm", (m, k), matmul, k, n)
        for m, k, n in [
            (512, 512, 512),
            (128, 768, 768),
            (128, 768, 3072),
            (128, 3072, 768),
            (128, 384, 384),
            (128, 384, 1536),
            (3136, 64, 576),
            (3136, 576, 64),
            (196, 1152, 256),
            (64, 64, 64),
            (127, 65, 333),
            (33, 129, 17),
            (6, 768, 768),
            (1, 768, 3072),
            (1, 3072, 768),
            (1, 768, 50257),
        ]
    },
    "gemm_gelu_128x768x3072": _case("gemm", (128, 768), linear_gelu, 768, 3072),
    "gemm_batched_12x128x64x128": _case("gemm", (12, 128, 64), batched, 128),
    "gemm_batched_12x1x64x513": _case("gemm", (12, 513, 64), batched, 513),
    "conv_3x3_64_64_56": _case("conv", (1, 64, 56, 56), conv, 64, (3, 3)),
    "conv_3x3_128_128_28": _case("conv", (1, 128, 28, 28), conv, 128, (3, 3)),
    "conv_3x3_256_256_14": _case("conv", (1, 256, 14, 14), conv, 256, (3, 3)),
    "conv_3x3_512_512_7": _case("conv", (1, 512, 7, 7), conv, 512, (3, 3)),
    "conv_3x3s2_128_128_56": _case("conv", (1, 128, 56, 56), conv, 128, (3, 3), 2),
    "conv_3x3_relu_64_64_56": _case("conv", (1, 64, 56, 56), conv, 64, (3, 3), relu=True),
    "conv_7x7s2_3_64_224": _case("conv", (1, 3, 224, 224), conv, 64, (7, 7), 2),
    "conv_3x3s2_3_32_224": _case("conv", (1, 3, 224, 224), conv, 32, (3, 3), 2),
    "conv_1x1_256_64_56": _case("conv", (1, 256, 56, 56), conv, 64, (1, 1)),
    "conv_1x1_64_256_56": _case("conv", (1, 64, 56, 56), conv, 256, (1, 1)),
    "conv_1x1_1024_256_14": _case("conv", (1, 1024, 14, 14), conv, 256, (1, 1)),
    "conv_1x1s2_256_512_56": _case("conv", (1, 256, 56, 56), conv, 512, (1, 1), 2),
    "conv_1x1_17_33_29": _case("conv", (1, 17, 29, 29), conv, 33, (1, 1)),
    "conv_5x5_16_24_31": _case("conv", (1, 16, 31, 31), conv, 24, (5, 5)),
    "conv_group4_3x3_64_64_28": _case("conv", (1, 64, 28, 28), conv, 64, (3, 3), 1, 4),
    "conv_1d_k3_256_256_500": _case("conv", (1, 256, 500), conv, 256, (3,)),
    "conv_dw_3x3_96_112": _case("conv", (1, 96, 112, 112), conv, 96, (3, 3), 1, 96),
    "conv_dw_3x3s2_96_112": _case("conv", (1, 96, 112, 112), conv, 96, (3, 3), 2, 96),
    "conv_dw_5x5_240_14": _case("conv", (1, 240, 14, 14), conv, 240, (5, 5), 1, 240),
    "softmax_12x128x128": _case("memory", (12, 128, 128), simple("Softmax", axis=-1)),
    "softmax_12x1x513": _case("memory", (12, 1, 513), simple("Softmax", axis=-1)),
    "softmax_axis1_1x64x56x56": _case("memory", (1, 64, 56, 56), simple("Softmax", axis=1)),
    "layernorm_128x768": _case("memory", (128, 768), layer_norm),
    "layernorm_1x768": _case("memory", (1, 768), layer_norm),
    "reducemean_128x768": _case("memory", (128, 768), reduce_mean),
    "gelu_128x3072": _case("memory", (128, 3072), gelu),
    "silu_64x112x112": _case("memory", (1, 64, 112, 112), silu),
    "hardswish_64x112x112": _case("memory", (1, 64, 112, 112), hard_swish),
    "sigmoid_64x112x112": _case("memory", (1, 64, 112, 112), simple("Sigmoid")),
    "tanh_128x3072": _case("memory", (128, 3072), simple("Tanh")),
    "exp_128x3072": _case("memory", (128, 3072), simple("Exp")),
    "bias_relu_64x112x112": _case("memory", (1, 64, 112, 112), add_bias),
    "transpose_0213_128x12x64": _case("memory", (1, 128, 12, 64), simple("Transpose", perm=[0, 2, 1, 3])),
    "transpose_0231_128x12x64": _case("memory", (1, 128, 12, 64), simple("Transpose", perm=[0, 2, 3, 1])),
    "transpose_nchw_nhwc_64x112x112": _case("memory", (1, 64, 112, 112), simple("Transpose", perm=[0, 2, 3, 1])),
    "transpose_10_1024x1000": _case("memory", (1024, 1000), simple("Transpose", perm=[1, 0])),
    "maxpool_3x3s2_64x112x112": _case(
        "memory", (1, 64, 112, 112), simple("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    ),
    "avgpool_2x2s2_64x112x112": _case(
        "memory", (1, 64, 112, 112), simple("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    ),
    "globalavgpool_2048x7x7": _case("memory", (1, 2048, 7, 7), simple("GlobalAveragePool")),
    "resize_nearest2_64x40x40": _case("memory", (1, 64, 40, 40), resize),
}


def build(name):
    """The model of a case and its input."""
    _, shape, make, args, options = CASES[name]
    g = Graph(sum(map(ord, name)))
    y = make(g, "x", shape, *args, **options)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        g.nodes, name, [info("x", TensorProto.FLOAT, shape)], [info(y, TensorProto.FLOAT, None)], g.weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    onnx.checker.check_model(model)
    return model, g.random.standard_normal(shape).astype(np.float32)


def write(folder, name):
    model, x = build(name)
    onnx.save(model, os.path.join(folder, name + ".onnx"))
    inputs = os.path.join(folder, name + ".inputs")
    os.makedirs(inputs, exist_ok=True)
    np.save(os.path.join(inputs, "x.npy"), x)
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump({"x": "x.npy"}, f)
    out = [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
    weights = sum(math.prod(w.dims) for w in model.graph.initializer)
    # f32 that has to be read and written once: inputs, weights, results.
    return {"group": CASES[name][0], "bytes": 4 * (x.size + math.prod(out) + weights)}


def main():
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({n: c[0] for n, c in CASES.items()}))
        return
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    print(json.dumps({n: write(folder, n) for n in sys.argv[2:]}))


if __name__ == "__main__":
    main()
