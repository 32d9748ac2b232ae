#!/usr/bin/env python3
"""Kernels of devices that read and write parts of tensors, and windows: each case in the emulator's modes against the
plain loops of the CPU at -O0.

  parts.py [NAME...]"""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from products import Failed, run_cases, tool

F16, F32, I8 = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.INT8
MODES = ["order", "random:1", "race", "late-tma", "capability:80,race"]
RNG = np.random.default_rng(1)


def model(nodes, inputs, outputs, constants=(), dtype=F32):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ins, outs if isinstance(outs, list) else [outs], **attrs) for op, ins, outs, attrs in nodes],
        "g",
        [value(n, dtype, s) for n, s in inputs.items()],
        [value(n, dtype, s) for n, s in outputs.items()],
        [numpy_helper.from_array(v, n) for n, v in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def integers(shape, dtype):
    """-1, 0 and 1, most of them 0: sums of products of products of them have no rounding errors, in f16 either."""
    return (RNG.integers(-1, 2, shape) * (RNG.random(shape) < 0.25)).astype(np.float16 if dtype == F16 else np.float32)


def floats(shape, dtype=F32):
    return (RNG.standard_normal(shape) / 4).astype(np.float16 if dtype == F16 else np.float32)


def heads(offset, width, dtype):
    """The three products of an attention without its softmax read columns of one, and write parts of another."""
    n, rows = width + offset, 48
    nodes = [
        ("MatMul", ["x", "w"], "qkv", {}),
        ("Split", ["qkv", "sizes"], ["skip", "q", "k", "v"], {"axis": 1}),
        ("Transpose", ["k"], "kt", {"perm": [1, 0]}),
        ("MatMul", ["q", "kt"], "s", {}),
        ("MatMul", ["s", "v"], "o", {}),
        ("Relu", ["q"], "r", {}),
        ("Concat", ["o", "r"], "y", {"axis": 1}),
    ]
    constants = [("w", integers([32, n + 2 * width], dtype)), ("sizes", np.array([offset, width, width, width]))]
    if not offset:
        nodes[1] = ("Split", ["qkv", "sizes"], ["q", "k", "v"], {"axis": 1})
        constants[1] = ("sizes", np.array([width] * 3))
    return model(nodes, {"x": [rows, 32]}, {"y": [rows, 2 * width]}, constants, dtype)


def rows_of(offset):
    """A softmax of columns from `offset` on, its sum with others, and a part of a concatenation along the rows."""
    nodes = [
        ("Exp", ["x"], "e", {}),
        ("Slice", ["e", "begin", "end", "axes"], "s", {}),
        ("Softmax", ["s"], "p", {"axis": -1}),
        ("Abs", ["s"], "a", {}),
        ("Concat", ["p", "a"], "y", {"axis": 0}),
    ]
    ints = [(n, np.array([v])) for n, v in (("begin", offset), ("end", offset + 64), ("axes", 1))]
    return model(nodes, {"x": [33, 80]}, {"y": [66, 64]}, ints)


def across(dtype=F32):
    """Parts along the innermost of three dimensions, of odd sizes, one of them transposed and one a sum of rows."""
    nodes = [
        ("Neg", ["x"], "n", {}),
        ("Split", ["n", "sizes"], ["a", "b", "c"], {"axis": 2}),
        ("Transpose", ["b"], "bt", {"perm": [0, 2, 1]}),
        ("ReduceSum", ["c", "axes"], "r", {"keepdims": 1}),
        ("Mul", ["a", "r"], "m", {}),
        ("Concat", ["m", "bt", "r"], "y", {"axis": 2}),
    ]
    constants = [("sizes", np.array([3, 5, 7])), ("axes", np.array([2]))]
    return model(nodes, {"x": [4, 5, 15]}, {"y": [4, 5, 3 + 5 + 1]}, constants, dtype)


def unknown_rows():
    """The first dimension is known to a run only; parts of the others."""
    nodes = [
        ("Sqrt", ["x"], "n", {}),
        ("Split", ["n", "sizes"], ["a", "b"], {"axis": 1}),
        ("Sub", ["b", "a"], "d", {}),
        ("Concat", ["d", "a"], "y", {"axis": 1}),
    ]
    return model(nodes, {"x": ["m", 24]}, {"y": ["m", 24]}, [("sizes", np.array([12, 12]))])


def sequences():
    """What goes element after element: sums of columns from 3 on, next to others."""
    nodes = [
        ("Neg", ["x"], "n", {}),
        ("Split", ["n", "sizes"], ["a", "b"], {"axis": 1}),
        ("CumSum", ["b", "axis"], "s", {}),
        ("Abs", ["a"], "t", {}),
        ("Concat", ["t", "s"], "y", {"axis": 1}),
    ]
    return model(nodes, {"x": [6, 20]}, {"y": [6, 20]}, [("sizes", np.array([3, 17])), ("axis", np.array(1))])


def window(op, channels, size, dtype=F32, then=None, kernel=3, **attrs):
    """A window behind a convolution, which makes its channels the last dimension."""
    weights = floats([channels, 8, 1, 1], dtype)
    nodes = [("Conv", ["x", "w"], "c", {}), (op, ["c"], "p", {"kernel_shape": [kernel, kernel], **attrs})]
    constants = [("w", weights)]
    if op == "Conv":
        nodes[1] = (op, ["c", "k"], "p", {"group": channels, **attrs})
        constants.append(("k", floats([channels, 1, kernel, kernel], dtype)))
    if then:
        nodes.append((then, ["p"], "y", {}))
    else:
        nodes[1] = (*nodes[1][:2], "y", nodes[1][3])
    pad, stride, dilation = attrs.get("pads", [0])[0], attrs.get("strides", [1])[0], attrs.get("dilations", [1])[0]
    out = (size + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1
    return model(nodes, {"x": [2, 8, size, size]}, {"y": [2, channels, out, out]}, constants, dtype)


def planes(size, **attrs):
    """Windows of one plane: neighbours lie along an axis that they slide along."""
    nodes = [("MaxPool", ["x"], "y", {"kernel_shape": [2, 3], **attrs})]
    return model(nodes, {"x": [1, 3, size, size]}, {"y": [1, 3, size - 1, size - 2]})


def convolution(channels, filters, dtype):
    """Weights as ONNX has them, of which neither filters nor channels are neighbours."""
    weights = floats([filters, channels, 3, 3], dtype)
    attrs = {"pads": [1, 1, 1, 1]}
    return model([("Conv", ["x", "w"], "y", attrs)], {"x": [1, channels, 9, 9]}, {"y": [1, filters, 9, 9]}, [("w", weights)], dtype)


def grouped(dtype):
    weights = floats([24, 8, 3, 3], dtype)
    return model([("Conv", ["x", "w"], "y", {"group": 2})], {"x": [1, 16, 9, 9]}, {"y": [1, 24, 7, 7]}, [("w", weights)], dtype)


# name -> (families that have to be there, copies of parts that are left, model, sizes that only the run knows)
CASES = {
    "heads": ({"cuda-simt-gemm", "cuda-elementwise"}, 0, lambda: heads(0, 16, F32), {}),
    "heads-misaligned": ({"cuda-simt-gemm"}, 0, lambda: heads(3, 20, F32), {}),
    "heads-tma": ({"cuda-gemm"}, 0, lambda: heads(8, 32, F16), {}),
    "heads-not-tma": ({"cuda-mma"}, 0, lambda: heads(2, 20, F16), {}),
    "rows": ({"cuda-rows", "cuda-elementwise"}, 0, lambda: rows_of(8), {}),
    "rows-misaligned": ({"cuda-rows"}, 0, lambda: rows_of(5), {}),
    "across": ({"cuda-rows", "cuda-elementwise"}, 1, across, {}),
    "across-f16": ({"cuda-rows"}, 1, lambda: across(F16), {}),
    "unknown-rows": ({"cuda-elementwise"}, 1, unknown_rows, {"m": 7}),
    "sequences": ({"cuda-loops"}, 2, sequences, {}),
    "depthwise": ({"cuda-window"}, 0, lambda: window("Conv", 12, 9, pads=[1, 1, 1, 1], then="Relu"), {}),
    "depthwise-f16": ({"cuda-window"}, 0, lambda: window("Conv", 16, 8, F16, pads=[1, 1, 1, 1]), {}),
    "depthwise-stride": ({"cuda-window"}, 0, lambda: window("Conv", 10, 11, strides=[2, 2], kernel=5), {}),
    "depthwise-dilated": ({"cuda-window"}, 0, lambda: window("Conv", 4, 12, dilations=[2, 2], pads=[2, 2, 2, 2]), {}),
    "depthwise-large": ({"cuda-window"}, 0, lambda: window("Conv", 8, 13, kernel=9), {}),
    "maxpool": ({"cuda-window"}, 0, lambda: window("MaxPool", 24, 8, strides=[2, 2], pads=[1, 1, 1, 1]), {}),
    "maxpool-odd": ({"cuda-window"}, 0, lambda: window("MaxPool", 7, 9), {}),
    "averagepool": ({"cuda-window"}, 0, lambda: window("AveragePool", 8, 8, pads=[1, 1, 1, 1]), {}),
    "planes": ({"cuda-window"}, 0, lambda: planes(11), {}),
    "weights": ({"cuda-simt-gemm"}, 0, lambda: convolution(8, 24, F32), {}),
    "weights-f16": ({"cuda-mma"}, 0, lambda: convolution(16, 24, F16), {}),
    "weights-odd": ({"cuda-mma"}, 0, lambda: convolution(5, 9, F16), {}),
    "weights-grouped": ({"cuda-mma"}, 0, lambda: grouped(F16), {}),
}


def run_case(name, folder):
    needed, copies, make, sizes = CASES[name]
    path, reference, artifact, report = (os.path.join(folder, name + s) for s in (".onnx", ".ref.so", ".so", ".json"))
    made = make()
    onnx.save(made, path)
    tool("optc", path, "-O0", "-o", reference)
    tool("optc", path, "--target=sm90", "-O3", "--emulate-only", "-o", artifact, f"--report={report}")
    with open(report) as f:
        kernels = json.load(f)["kernels"]
    found = {k["family"] for k in kernels}
    if not needed <= found:
        raise Failed(f"no kernel of the families {needed - found}: {found}")
    parts = [k["label"] for k in kernels if k["label"] in ("slice", "concat")]
    if len(parts) != copies:
        raise Failed(f"{len(parts)} dispatches copy parts, not {copies}")
    inputs, outputs = os.path.join(folder, name + ".in"), os.path.join(folder, name + ".out")
    os.makedirs(inputs)
    rng = np.random.default_rng(0)
    exact = name.startswith("heads")  # a chain of products: roundings would add up
    feeds = []
    for i in made.graph.input:
        shape = [d.dim_value or sizes[d.dim_param] for d in i.type.tensor_type.shape.dim]
        file = os.path.join(inputs, i.name + ".npy")
        dtype = np.float16 if i.type.tensor_type.elem_type == F16 else np.float32
        values = rng.integers(0, 3, shape) if exact else np.abs(rng.standard_normal(shape))
        np.save(file, values.astype(dtype))
        feeds.append(f"--input={i.name}={file}")
    tool("optc-run", reference, *feeds, "--output-dir", outputs)
    is_half = made.graph.output[0].type.tensor_type.elem_type == F16
    allowed = "0" if exact else "2e-3" if is_half else "1e-5"
    tolerance = ["--rtol", allowed, "--atol", allowed]
    for mode in MODES:
        try:
            tool("optc-run", artifact, "--device=emulator", *feeds, "--expect", outputs, *tolerance, OPTC_EMULATOR=mode)
        except Failed as e:
            raise Failed(f"in mode {mode}: {e}")


def main():
    return run_cases("parts", run_case, sys.argv[1:] or list(CASES))


if __name__ == "__main__":
    sys.exit(main())
