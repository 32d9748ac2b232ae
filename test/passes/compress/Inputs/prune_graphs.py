"""prune_graphs.py FIRST COUNT: random convolutional graphs through optc --prune=channels:0.25:1 --emit=onnx.

Every fourth channel of each layer is dead: its filter, its bias and the weights that read it are zero. It is then the one
that goes, wherever ops carry it to, so that ONNX Runtime has to compute the same from both models."""

import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

SPEC = "channels:0.25:1"


def dead(n):
    return np.arange(n) % 4 == 3


class Graph:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def name(self):
        return f"v{len(self.nodes)}_{len(self.initializers)}"

    def constant(self, array):
        name = "c" + self.name()
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def random(self, *shape):
        return (self.rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    def vector(self, n, shape=None):
        """Positive numbers, zero for dead channels."""
        values = np.where(dead(n), 0, np.abs(self.rng.normal(size=n)) + 0.2).astype(np.float32)
        return self.constant(values.reshape(shape or n))

    def op(self, kind, inputs, outputs=1, **attributes):
        names = [f"{self.name()}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind}{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, channels, filters, size=3, groups=1):
        w = self.random(filters, channels // groups, size, size)
        w[dead(filters)] = 0
        if groups < channels:
            w[:, dead(channels // groups)] = 0  # groups begin at multiples of four
        pads = [size // 2] * 4
        return self.op("Conv", [x, self.constant(w), self.vector(filters)], group=groups, pads=pads)

    def matrix(self, rows, columns, repeat=1):
        w = self.random(rows * repeat, columns)
        w[np.repeat(dead(rows), repeat)] = 0
        return w


# Steps: (graph, value, its channels, its height and width, a value of the same shape) -> what it becomes.
def attend(g, x, c, s, _):
    gate = g.op("Sigmoid", [g.conv(g.op("GlobalAveragePool", [x]), c, c, 1)])
    return [(g.op("Mul", [gate, x]), c, s)]


def spatial_gate(g, x, c, s, _):
    w = g.random(1, c, 1, 1)
    w[:, dead(c)] = 0
    return [(g.op("Mul", [x, g.op("Sigmoid", [g.op("Conv", [x, g.constant(w)])])]), c, s)]


def norm(g, x, c, s, _):
    # Of a dead channel the mean is 0, too.
    variance = g.constant(np.ones(c, np.float32))
    return [(g.op("BatchNormalization", [x, g.vector(c), g.vector(c), g.vector(c), variance]), c, s)]


def softmax_positions(g, x, c, s, _):
    flat = g.op("Reshape", [x, g.ints(0, c, s * s) if g.rng.integers(2) else g.ints(0, 0, -1)])
    return [(g.op("Reshape", [g.op("Softmax", [flat], axis=2), g.ints(-1, c, s, s)]), c, s)]


def run_time_shape(g, x, c, s, _):
    batch = g.op("Gather", [g.op("Shape", [x]), g.ints(0)])
    flat = g.op("Reshape", [x, g.op("Concat", [batch, g.ints(c, s * s)], axis=0)])
    return [(g.op("Reshape", [flat, g.op("Concat", [batch, g.ints(c), g.ints(s, s)], axis=0)]), c, s)]


def channels_last(g, x, c, s, _):
    w = g.matrix(c, 16)
    w[:, dead(16)] = 0
    y = g.op("MatMul", [g.op("Transpose", [x], perm=[0, 2, 3, 1]), g.constant(w)])
    return [(g.op("Transpose", [g.op("Add", [g.vector(16), y])], perm=[0, 3, 1, 2]), 16, s)]


def split(g, x, c, s, _):
    if c % 8:
        return []
    a, b = g.op("Split", [x, g.ints(c // 2, c // 2)], 2, axis=1)
    return [(a, c // 2, s), (b, c // 2, s)]


def join(g, x, c, s, other):
    return [(g.op("Concat", [x, other], axis=-3), 2 * c, s)] if c <= 32 else []


def transposed(g, x, c, s, _):
    w = g.random(c, 8, 2, 2)
    w[dead(c)], w[:, dead(8)] = 0, 0
    return [(g.op("ConvTranspose", [x, g.constant(w)], strides=[2, 2]), 8, 2 * s)] if s <= 8 else []


STEPS = [
    lambda g, x, c, s, _: [(g.conv(x, c, int(g.rng.choice([8, 16, 24]))), int(g.initializers[-1].dims[0]), s)],
    lambda g, x, c, s, _: [(g.conv(x, c, 16, groups=2), 16, s)] if c % 8 == 0 else [],
    lambda g, x, c, s, _: [(g.conv(x, c, c, groups=c), c, s)],
    lambda g, x, c, s, _: [(g.op("Relu", [x]), c, s)],
    lambda g, x, c, s, other: [(g.op(str(g.rng.choice(["Add", "Mul", "Max"])), [x, other]), c, s)],
    lambda g, x, c, s, _: [(g.op("PRelu", [x, g.vector(c, (c, 1, 1))]), c, s)],
    lambda g, x, c, s, _: [(g.op("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4), c, s)],
    lambda g, x, c, s, _: [(g.op("Pad", [x, g.ints(0, 0, 1, 1, 0, 0, 1, 1)]), c, s + 2)] if s < 16 else [],
    *(attend, spatial_gate, norm, softmax_positions, run_time_shape, channels_last, split, join, transposed),
]


def build(seed, path):
    g = Graph(seed)
    values = [(g.conv("x", 3, 16), 16, 8)]
    for _ in range(int(g.rng.integers(4, 10))):
        x, c, s = values[int(g.rng.integers(max(0, len(values) - 3), len(values)))]
        same = [v for v in values if v[1:] == (c, s)]
        other = same[int(g.rng.integers(len(same)))][0]
        values += STEPS[int(g.rng.integers(len(STEPS)))](g, x, c, s, other)
    x, c, s = values[-1]
    end = int(g.rng.integers(3))
    if end == 0:
        pooled = g.op("Flatten", [g.op("GlobalAveragePool", [x])])
        y = g.op("Gemm", [pooled, g.constant(g.matrix(c, 10).T), g.constant(g.random(10))], transB=1)
    elif end == 1:
        y = g.op("MatMul", [g.op("Reshape", [x, g.ints(0, c * s * s)]), g.constant(g.matrix(c, 10, s * s))])
    else:
        y = g.conv(x, c, 4, 1)
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in (("x", ["n", 3, 8, 8]), (y, None))]
    graph = helper.make_graph(g.nodes, "g", info[:1], info[1:], g.initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def outputs(path):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
    return session.run(None, {"x": x})[0]


def main():
    first, count = map(int, sys.argv[1:])
    ort.set_default_logger_severity(3)
    smaller = 0
    for seed in range(first, first + count):
        build(seed, "m.onnx")
        p = subprocess.run(
            ["optc", "m.onnx", "--emit=onnx", f"--prune={SPEC}", "-o", "p.onnx"], capture_output=True, text=True
        )
        if p.returncode:
            sys.exit(f"graph {seed}: exit code {p.returncode}: {p.stderr}")
        onnx.checker.check_model("p.onnx", full_check=True)
        expected, got = outputs("m.onnx"), outputs("p.onnx")
        error = np.abs(got - expected).max() if got.shape == expected.shape else np.inf
        if not error <= 1e-3 * max(np.abs(expected).max(), 1e-3):
            sys.exit(f"graph {seed}: an output of shape {got.shape} differs by {error} from {expected.shape}")
        smaller += os.path.getsize("p.onnx") < 0.85 * os.path.getsize("m.onnx")
    print(f"{count} graphs are equal, {smaller} of them are smaller")


if __name__ == "__main__":
    main()
