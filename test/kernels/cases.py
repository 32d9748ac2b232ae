"""Models for the kernel families, each over shapes that do not divide the tiles: name -> function that makes (model, inputs)."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CASES = {}


def case(*rows):
    """Registers one case per row of arguments, named after function and arguments."""

    def register(make):
        for row in rows:
            args = "_".join(str(a).replace(" ", "") for a in row)
            CASES[f"{make.__name__}_{args}"] = lambda make=make, row=row: make(*row)
        return make

    return register


class Graph:
    """Builds a model node by node. A size written as a string is symbolic; `sizes` says what it is in the run."""

    def __init__(self, **sizes):
        self.rng = np.random.default_rng(7)
        self.sizes = sizes
        self.nodes, self.initializers, self.inputs, self.outputs, self.feeds = [], [], [], [], {}

    def values(self, shape):
        return self.rng.standard_normal([self.sizes.get(d, d) for d in shape]).astype(np.float32)

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.feeds[name] = self.values(shape)
        return name

    def constant(self, *shape):
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(self.values(shape), name))
        return name

    def node(self, kind, *operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attributes))
        return name

    def output(self, name, kind=TensorProto.FLOAT, quantum=False, narrow=None):
        """`quantum`: integers that may be one quantum away. `narrow`: rounded to this type on the way."""
        prefix = "q" if quantum else {None: "y", TensorProto.FLOAT16: "h", TensorProto.BFLOAT16: "b"}[narrow]
        out = f"{prefix}{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [name], [out]))
        self.outputs.append(helper.make_tensor_value_info(out, kind, None))

    # ---- integers of 8 bits ----

    def integers(self, dtype, shape, extremes=False):
        """The whole range, or its ends only, which saturate what is not exact."""
        shape = [self.sizes.get(d, d) for d in shape]
        info = np.iinfo(dtype)
        if extremes:
            return self.rng.choice(np.array([info.min, info.max], dtype), shape)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def integer_input(self, dtype, *shape, extremes=False):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        self.feeds[name] = self.integers(dtype, shape, extremes)
        return name

    def value(self, array):
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def scales(self, *shape):
        return self.value(self.rng.uniform(0.001, 0.02, shape).astype(np.float32))

    def finish(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", 18)]
        if any(node.domain for node in self.nodes):
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=9), self.feeds


# ---- products ----


@case(
    (1, 1, 1), (1, 100, 33), (2, 17, 40), (5, 7, 3), (6, 16, 8), (7, 33, 2), (11, 32, 64), (12, 48, 1), (13, 31, 7),
    (17, 65, 128), (23, 8, 16), (49, 100, 30), (133, 33, 65), (145, 9, 70), ("m", 40, 24), ("m", 3, 5),
)  # fmt: skip
def product(m, n, k):
    """A constant matrix with bias and activation; one without; a transposed one through Gemm."""
    for size in [1, 7, 8, 12, 19, 150] if m == "m" else [0]:
        g = Graph(m=size)
        x = g.input(m, k)
        g.output(g.node("Relu", g.node("Add", g.node("MatMul", x, g.constant(k, n)), g.constant(n))))
        g.output(g.node("MatMul", x, g.constant(k, n)))
        g.output(g.node("Gemm", x, g.constant(n, k), g.constant(1, n), transB=1, alpha=0.5, beta=2.0))
        residual = g.input(m, n)
        g.output(g.node("Tanh", g.node("Add", residual, g.node("MatMul", x, g.constant(k, n)))))
        yield g.finish()


@case(
    (2, 17, 33, 8), (3, 1, 64, 100), (1, 128, 20, 40), (2, 13, 48, 17), ("b", "s", "t", 24), ("b", "s", 32, "d"),
)  # fmt: skip
def batched(b, s, t, d):
    """Both operands of the run: as they are, with the second one transposed, broadcast over the batch, transposed heads."""
    for run in ([dict(b=3, s=21, t=37, d=50), dict(b=1, s=1, t=1, d=1)] if b == "b" else [{}]):
        g = Graph(**run)
        q, key, v = g.input(b, s, d), g.input(b, t, d), g.input(b, d, t)
        g.output(g.node("MatMul", q, v))
        scores = g.node("MatMul", q, g.node("Transpose", key, perm=[0, 2, 1]))
        g.output(g.node("Add", g.node("Mul", scores, g.constant(1)), g.input(b, 1, t)))
        g.output(g.node("MatMul", g.node("Transpose", q, perm=[1, 0, 2]), g.input(d, t)))
        yield g.finish()


# ---- convolutions ----


@case(
    (1, 8, 16, 9, 7, 3, 1, 1, 1, 1), (2, 3, 20, 15, 16, 5, 2, 2, 1, 1), (1, 32, 33, 14, 14, 1, 1, 0, 1, 1),
    (1, 16, 24, 13, 11, 1, 2, 0, 1, 1), (2, 12, 18, 10, 10, 3, 1, 2, 2, 3), (1, 33, 33, 12, 13, 3, 1, 1, 1, 33),
    (1, 32, 64, 9, 9, 3, 2, 1, 1, 32), (1, 4, 5, 7, 7, 7, 1, 3, 1, 1), (1, 40, 40, 17, 19, 5, 2, 2, 1, 40),
    ("n", 16, 17, 10, 9, 3, 1, 1, 1, 1), ("n", 24, 24, "h", "w", 3, 1, 1, 1, 24), ("n", 8, 12, "h", "w", 3, 2, 1, 1, 1),
)  # fmt: skip
def conv(n, c, f, h, w, kernel, stride, pad, dilation, group):
    """With bias and activation, then a second one behind a residual sum, so that layouts have something to carry."""
    for run in ([dict(n=1, h=11, w=12), dict(n=3, h=6, w=17)] if n == "n" else [{}]):
        g = Graph(**run)
        window = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2)
        x = g.input(n, c, h, w)
        y = g.node("Conv", x, g.constant(f, c // group, kernel, kernel), g.constant(f), group=group, **window)
        y = g.node("Clip", y, g.constant(), "")
        z = g.node("Conv", y, g.constant(f, f, 1, 1))
        z = g.node("Add", z, y)
        g.output(g.node("Mul", z, g.node("Sigmoid", g.node("GlobalAveragePool", z))))
        yield g.finish()


@case((9, 5, 3, 1), (31, 16, 5, 2), ("l", 12, 3, 1))
def conv1d(length, channels, kernel, dilation):
    """One spatial axis, and a convolution of five dimensions."""
    g = Graph(l=23)
    x = g.input(2, channels, length)
    y = g.node("Conv", x, g.constant(20, channels, kernel), pads=[kernel - 1] * 2, dilations=[dilation])
    g.output(g.node("Elu", y))
    g.output(g.node("Conv", g.input(1, 4, 5, 6, 7), g.constant(9, 4, 3, 2, 3), pads=[1] * 6))
    yield g.finish()


# ---- rows and windows ----


@case((1, 1), (3, 7), (5, 17), (2, 333), (1, 4100), ("r", 40), ("r", "c"))
def rows(r, c):
    """Normalisations and reductions along the last axis, and along the one before it."""
    for run in ([dict(r=1, c=5), dict(r=13, c=70)] if r == "r" else [{}]):
        g = Graph(**run)
        x = g.input(2, r, c)
        g.output(g.node("Softmax", x, axis=-1))
        g.output(g.node("LogSoftmax", g.node("Mul", x, g.constant(1)), axis=-1))
        if c != "c":
            y = g.node("Add", x, g.input(2, r, c))
            g.output(g.node("LayerNormalization", y, g.constant(c), g.constant(c), axis=-1))
            g.output(y)
        g.output(g.node("ReduceMax", x, keepdims=1))
        g.output(g.node("Softmax", x, axis=1))
        yield g.finish()


@case((1, 9, 9, 3, 1, 0), (17, 12, 13, 3, 2, 1), (40, 7, 8, 2, 2, 0), (33, 15, 11, 5, 3, 2), (16, "h", "w", 3, 2, 1))
def pool(c, h, w, kernel, stride, pad):
    """Pooling behind a convolution (channels last) and on its own."""
    g = Graph(h=14, w=9)
    x = g.input(1, c, h, w)
    y = g.node("Conv", x, g.constant(c, c, 1, 1))
    window = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
    for v in (x, y):
        g.output(g.node("MaxPool", v, **window))
        g.output(g.node("AveragePool", v, count_include_pad=0, **window))
        g.output(g.node("AveragePool", v, count_include_pad=1, **window))
    yield g.finish()


@case(
    (1, 13, 9, (3, 2), (1, 2), (2, 0, 1, 1), (1, 1)), (17, 12, 13, (5, 3), (2, 1), (1, 2, 2, 0), (1, 2)),
    (40, 9, 20, (7, 7), (1, 1), (3, 3, 3, 3), (1, 1)), (33, 6, 5, (1, 3), (3, 3), (0, 1, 0, 1), (1, 1)),
    (96, 1, 1, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)), (16, "h", "w", (3, 3), (2, 2), (0, 1, 2, 1), (1, 1)),
)  # fmt: skip
def window(c, h, w, kernel, strides, pads, dilations):
    """Depthwise and pooled windows of any form between two convolutions, which store channels last."""
    for run in ([dict(h=14, w=9), dict(h=3, w=30)] if h == "h" else [{}]):
        g = Graph(**run)
        x = g.node("Conv", g.input(2, 8, h, w), g.constant(c, 8, 1, 1))
        form = dict(kernel_shape=kernel, strides=strides, pads=pads)
        y = g.node("Conv", x, g.constant(c, 1, *kernel), g.constant(c), group=c, dilations=dilations, **form)
        g.output(g.node("Conv", g.node("HardSwish", y), g.constant(8, c, 1, 1)))
        for z in (
            g.node("MaxPool", x, dilations=dilations, ceil_mode=1, **form),
            g.node("AveragePool", x, count_include_pad=0, ceil_mode=1, **form),
            g.node("AveragePool", x, count_include_pad=1, **form),
            g.node("LpPool", x, p=2, **form),
        ):
            g.output(g.node("Conv", z, g.constant(8, c, 1, 1)))
        yield g.finish()


@case((5, 17, 9, 3), (24, 6, 40, 11), (8, 30, 7, 20))
def window_axes(c, d, w, kernel):
    """Windows along one and three axes, and large ones, which are loops."""
    g = Graph()
    x = g.node("Conv", g.input(1, 8, d, w), g.constant(c, 8, 1, 1))
    size = [min(kernel, d), min(kernel, w)]
    g.output(g.node("Conv", g.node("MaxPool", x, kernel_shape=size, pads=[size[0] // 2, 0] * 2), g.constant(8, c, 1, 1)))
    g.output(g.node("AveragePool", x, kernel_shape=size, auto_pad="SAME_UPPER"))
    line = g.node("Conv", g.input(2, 8, w), g.constant(c, 8, 1))
    g.output(g.node("Conv", g.node("Conv", line, g.constant(c, 1, 3), group=c, pads=[1, 1]), g.constant(8, c, 1)))
    cube = g.node("Conv", g.input(1, 8, 5, d, w), g.constant(c, 8, 1, 1, 1))
    cube = g.node("Conv", cube, g.constant(c, 1, 3, 3, 3), group=c, pads=[1] * 6)
    g.output(g.node("Conv", g.node("MaxPool", cube, kernel_shape=[2] * 3, strides=[2] * 3), g.constant(8, c, 1, 1, 1)))
    yield g.finish()


@case(("f", "c", "k"), ("f", 5, 3))
def unknown_windows(f, c, k):
    """Weights and windows whose sizes only the run knows."""
    g = Graph(f=12, c=5, k=3, h=9, w=8)
    x = g.input(2, c, "h", "w")
    g.output(g.node("Relu", g.node("Conv", x, g.input(f, c, k, k))))
    g.output(g.node("MaxPool", x, kernel_shape=[2, 2]))
    g.output(g.node("AveragePool", x, kernel_shape=[3, 2], strides=[2, 1]))
    yield g.finish()


# ---- parts of tensors ----


def indices(g, *values):
    """A constant of int64, such as the starts of Slice."""
    name = f"w{len(g.initializers)}"
    g.initializers.append(numpy_helper.from_array(np.array(values, np.int64), name))
    return name


def users(g, x, rows, columns):
    """Readers of every family for a matrix."""
    g.output(g.node("Tanh", x))
    g.output(g.node("MatMul", x, g.constant(columns, 19)))
    g.output(g.node("MatMul", g.constant(7, rows), x))
    g.output(g.node("Softmax", x, axis=-1))
    g.output(g.node("ReduceSum", x, indices(g, 0)))
    g.output(g.node("Transpose", x, perm=[1, 0]))
    g.output(x)


@case((20, 40, 3, 9, 0, 40), (20, 40, 0, 20, 5, 33), (23, 37, 5, 6, 7, 37), (9, 64, 0, 9, 16, 48), ("m", 40, 1, 9, 3, 35))
def slices(m, n, top, bottom, left, right):
    """Blocks of a matrix at any offset: of an input, of a constant, of what was computed, at offsets of the run."""
    for run in ([dict(m=9), dict(m=30)] if m == "m" else [{}]):
        g = Graph(**run)
        starts, ends = indices(g, top, left), indices(g, bottom, right)
        x = g.input(m, n)
        users(g, g.node("Slice", x, starts, ends), bottom - top, right - left)
        y = g.node("MatMul", x, g.constant(n, n))
        users(g, g.node("Slice", y, starts, ends), bottom - top, right - left)
        g.output(g.node("Add", g.node("Slice", x, starts, ends), g.node("Slice", g.constant(40, 64), starts, ends)))
        # The row of the largest element of each column of a product, and the columns from there on.
        at = g.node("Reshape", g.node("ArgMax", g.node("Slice", y, indices(g, 0), indices(g, 1), indices(g, 1)), axis=0), indices(g, 1))
        row = g.node("Slice", y, at, g.node("Add", at, indices(g, 1)))
        users(g, g.node("Slice", row, indices(g, left), indices(g, right), indices(g, 1)), 1, right - left)
        g.output(g.node("Relu", g.node("Slice", x, at, indices(g, 1000), indices(g, 1))))
        yield g.finish()


@case((2, 24, 9, 10, 1), (1, 17, 8, 7, 1), (3, 8, 6, 5, 2), (2, 12, 7, 7, 3), (2, 9, 6, 6, 0), ("n", 16, 9, 10, 1))
def image_slices(n, c, h, w, axis):
    """Blocks of an image along each axis, read by convolutions and windows."""
    for run in ([dict(n=2), dict(n=3)] if n == "n" else [{}]):
        g = Graph(**run)
        x = g.node("Conv", g.input(n, 8, h, w), g.constant(c, 8, 3, 3), pads=[1] * 4)
        size = [3 if n == "n" else n, c, h, w][axis]
        a = g.node("Slice", x, indices(g, size // 3), indices(g, size), indices(g, axis))
        b = g.node("Slice", x, indices(g, 0), indices(g, size // 2), indices(g, axis))
        for part, channels in ((a, c - c // 3 if axis == 1 else c), (b, c // 2 if axis == 1 else c)):
            g.output(g.node("Conv", part, g.constant(11, channels, 1, 1)))
            g.output(g.node("Conv", part, g.constant(channels, 1, 3, 3), group=channels, pads=[1] * 4))
            g.output(g.node("MaxPool", part, kernel_shape=[2, 2]))
            g.output(g.node("GlobalAveragePool", part))
        yield g.finish()


@case((16, 32, 0), (16, 32, 1), (7, 19, 0), (7, 19, 1), (1, 33, 1), (12, 5, 1), ("m", 24, 1), ("m", 24, 0))
def concats(m, n, axis):
    """Parts of every family along both axes: computed in place, copied, read elsewhere, there twice, in two wholes."""
    for run in ([dict(m=1), dict(m=13)] if m == "m" else [{}]):
        g = Graph(**run)
        x, z = g.input(m, n), g.input(m, n)
        product = g.node("Relu", g.node("MatMul", x, g.constant(n, n)))
        again = g.node("MatMul", product, g.constant(n, n))
        rows = g.node("Softmax", again, axis=-1)
        simple = g.node("Mul", rows, z)
        twice = g.node("Concat", simple, simple, axis=axis)
        whole = g.node("Concat", product, again, x, rows, simple, g.node("Neg", z), axis=axis)
        g.output(whole)
        g.output(g.node("Softmax", whole, axis=-1))
        g.output(g.node("Add", g.node("Concat", whole, twice, axis=axis), g.constant(1)))
        if m != "m":
            g.output(g.node("Concat", g.node("Exp", x), g.constant(m, n), x, axis=axis))
        g.output(g.node("Concat", g.node("Sin", x), g.node("Cos", g.node("MatMul", z, g.constant(n, n))), axis=axis))
        yield g.finish()


@case((1, 8, 9, 10, 1), (2, 17, 8, 7, 1), (1, 16, 6, 5, 2), (2, 12, 7, 7, 3), (1, 9, 6, 6, 0), ("n", 16, 7, 9, 1), ("n", 16, "h", "w", 1))
def image_concats(n, c, h, w, axis):
    """A dense block: convolutions, windows and pooling read the parts before theirs, and all of it in the end."""
    for run in ([dict(n=1, h=6, w=9), dict(n=3, h=7, w=5)] if n == "n" else [{}]):
        g = Graph(**run)
        x = g.node("Conv", g.input(n, 8, h, w), g.constant(c, 8, 1, 1))
        parts = [x]
        for kind in ("Conv", "MaxPool", "Depthwise", "Sigmoid"):
            last = parts[-1]
            if kind == "Conv":
                last = g.node("HardSwish", g.node("Conv", last, g.constant(c, c, 3, 3), pads=[1] * 4))
            elif kind == "MaxPool":
                last = g.node("MaxPool", last, kernel_shape=[3, 3], pads=[1] * 4)
            elif kind == "Depthwise":
                last = g.node("Conv", last, g.constant(c, 1, 3, 3), g.constant(c), group=c, pads=[1] * 4)
            else:
                last = g.node("Sigmoid", last)
            parts.append(last)
        whole = g.node("Concat", *parts, axis=axis)
        channels = 5 * c if axis == 1 else c
        g.output(g.node("Conv", whole, g.constant(13, channels, 1, 1)))
        g.output(whole)
        half = g.node("Slice", whole, indices(g, channels // 2), indices(g, channels), indices(g, 1))
        g.output(g.node("Conv", half, g.constant(5, channels - channels // 2, 3, 3)))
        yield g.finish()


@case((1, 6, 12, 1), (2, 9, 8, 3), (1, "t", 16, 1), ("b", "t", 16, 2))
def cache(b, t, d, s):
    """Keys and values of earlier steps with those of this one behind them, which are results, too."""
    for run in ([dict(b=2, t=5), dict(b=1, t=1)] if t == "t" else [{}]):
        g = Graph(**run)
        x, past = g.input(b, s, 3 * 4 * d), g.input(b, 4, t, d)
        q, k, v = (f"part{i}" for i in range(3))
        g.nodes.append(helper.make_node("Split", [x], [q, k, v], axis=-1, num_outputs=3))
        heads = [g.node("Transpose", g.node("Reshape", y, indices(g, 0, s, 4, d)), perm=[0, 2, 1, 3]) for y in (q, k, v)]
        keys = g.node("Concat", past, heads[1], axis=2)
        values = g.node("Concat", past, heads[2], axis=2)
        scores = g.node("Softmax", g.node("MatMul", heads[0], g.node("Transpose", keys, perm=[0, 1, 3, 2])), axis=-1)
        g.output(g.node("MatMul", scores, values))
        g.output(keys)
        g.output(values)
        yield g.finish()


# ---- integers ----

U8, S8, I32 = TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32


@case(
    (1, 100, 33, "u8"), (5, 7, 3, "s8"), (13, 31, 6, "u8"), (17, 65, 128, "s8"), (49, 100, 30, "u8"), (12, 33, 257, "s8"),
    ("m", 40, 23, "u8"), ("m", 3, 5, "s8"),
)  # fmt: skip
def integer_product(m, n, k, kind):
    """Exact products: signs, zero points at the ends of the range, values that saturate 16 bits, both factors of the run."""
    dtype, a_type = (np.uint8, U8) if kind == "u8" else (np.int8, S8)
    for size in [1, 8, 19] if m == "m" else [0]:
        g = Graph(m=size)
        for extremes in (False, True):
            x = g.integer_input(dtype, m, k, extremes=extremes)
            w = g.value(g.integers(np.int8, (k, n), extremes))
            zero = g.value(np.array(np.iinfo(dtype).max, dtype))
            g.output(g.node("MatMulInteger", x, w), I32)
            g.output(g.node("MatMulInteger", x, w, zero), I32)
        unsigned = g.value(g.integers(np.uint8, (k, n)))
        g.output(g.node("MatMulInteger", x, unsigned, zero, g.value(g.integers(np.uint8, (n,)))), I32)
        g.output(g.node("MatMulInteger", x, unsigned, zero, g.value(np.array(128, np.uint8))), I32)
        g.output(g.node("MatMulInteger", x, unsigned), I32)
        for other in (np.int8, np.uint8):
            y = g.integer_input(other, k, n, extremes=True)
            g.output(g.node("MatMulInteger", x, y, zero, g.value(np.array(7, other))), I32)
        t = g.node("Transpose", g.integer_input(np.int8, n, k), perm=[1, 0])
        g.output(g.node("MatMulInteger", x, t, zero), I32)
        y = g.node(
            "QLinearMatMul", x, g.scales(), zero, w, g.scales(n), g.value(np.zeros(n, np.int8)), g.scales(), zero
        )
        g.output(y, a_type)
        yield g.finish()


def dequantized(g, x, scale, zero, **attributes):
    return g.node("DequantizeLinear", x, scale, zero, **attributes)


@case((7, 33, 40, "u8"), (18, 64, 65, "s8"), ("m", 24, 96, "u8"))
def quantized_product(m, n, k, kind):
    """Products of dequantized factors, which become products of integers; weights alone."""
    dtype, a_type = (np.uint8, U8) if kind == "u8" else (np.int8, S8)
    for size in [1, 21] if m == "m" else [0]:
        g = Graph(m=size)
        xs, xz = g.value(np.float32(0.01)), g.value(np.array(3, dtype))
        x = dequantized(g, g.integer_input(dtype, m, k), xs, xz)
        scales, zeros = g.scales(n), g.value(np.zeros(n, np.int8))
        w = dequantized(g, g.value(g.integers(np.int8, (k, n))), scales, zeros, axis=1)
        y = g.node("MatMul", x, w)
        g.output(y)
        ys, low = g.value(np.float32(0.05)), g.value(np.array(np.iinfo(dtype).min, dtype))
        g.output(g.node("QuantizeLinear", g.node("Relu", y), ys, low), a_type, quantum=True)
        w = dequantized(g, g.value(g.integers(np.int8, (n, k))), scales, zeros, axis=0)
        z = g.node("Gemm", x, w, g.constant(n), transB=1)
        g.output(g.node("QuantizeLinear", g.node("Relu", z), ys, xz), a_type, quantum=True)
        g.output(g.node("Tanh", g.node("Gemm", g.input(m, k), w, g.constant(n), transB=1)))
        yield g.finish()


@case(
    (1, 8, 16, 9, 7, 3, 1, 1, 1, 1, "u8"), (2, 3, 20, 15, 16, 5, 2, 2, 1, 1, "s8"), (1, 32, 33, 14, 14, 1, 1, 0, 1, 1, "u8"),
    (1, 33, 33, 12, 13, 3, 1, 1, 1, 33, "s8"), (2, 12, 18, 10, 10, 3, 1, 2, 2, 3, "u8"), (1, 5, 7, 9, 8, 3, 2, 0, 1, 1, "s8"),
    ("n", 16, 17, "h", "w", 3, 1, 1, 1, 1, "u8"),
)  # fmt: skip
def integer_conv(n, c, f, h, w, kernel, stride, pad, dilation, group, kind):
    """Exact sums, padding that stands for the zero point, and the quantized form with residual sum and pooling."""
    dtype, a_type = (np.uint8, U8) if kind == "u8" else (np.int8, S8)
    for run in ([dict(n=1, h=11, w=12), dict(n=2, h=6, w=17)] if n == "n" else [{}]):
        g = Graph(**run)
        window = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2)
        q = g.integer_input(dtype, n, c, h, w)
        xs, xz = g.value(np.float32(0.01)), g.value(np.array(np.iinfo(dtype).max - 2, dtype))
        ws, wz = g.scales(f), g.value(np.zeros(f, np.int8))
        weights = g.value(g.integers(np.int8, (f, c // group, kernel, kernel), extremes=True))
        # ONNX Runtime's ConvInteger takes unsigned inputs only; the standard takes both.
        g.output(g.node("ConvInteger", q, weights, xz, group=group, **window), I32)
        ys, bias = g.value(np.float32(0.2)), g.value(g.rng.integers(-900, 900, f).astype(np.int32))
        y = g.node("QLinearConv", q, xs, xz, weights, ws, wz, ys, xz, bias, group=group, **window)
        g.output(y, a_type)
        x, wf = dequantized(g, q, xs, xz), dequantized(g, weights, ws, wz, axis=0)
        low = g.value(np.array(np.iinfo(dtype).min, dtype))
        z = g.node("QuantizeLinear", g.node("Relu", g.node("Conv", x, wf, g.constant(f), group=group, **window)), ys, low)
        g.output(z, a_type, quantum=True)
        yield g.finish()


@case((1, 16, 24, 10, 11), (2, 9, 5, 7, 8))
def quantized_block(n, c, f, h, w):
    """Two branches that are added, pooled and concatenated, as quantizers leave them."""
    g = Graph()
    scale, zero = g.value(np.float32(0.05)), g.value(np.array(120, np.uint8))

    def both(x):
        return dequantized(g, g.node("QuantizeLinear", x, scale, zero), scale, zero)

    def conv(x, filters, channels, size):
        weights = g.value(g.integers(np.int8, (filters, channels, size, size)))
        zeros = g.value(np.zeros(filters, np.int8))
        return g.node("Conv", x, dequantized(g, weights, g.scales(filters), zeros, axis=0), pads=[size // 2] * 4)

    x = both(g.node("Mul", g.input(n, c, h, w), g.value(np.float32(0.3))))
    left, right = both(conv(x, f, c, 3)), both(conv(x, f, c, 1))
    y = both(g.node("Relu", g.node("Add", left, right)))
    y = both(g.node("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    y = both(g.node("Concat", y, y, axis=1))
    y = both(g.node("GlobalAveragePool", y))
    g.output(g.node("QuantizeLinear", g.node("Flatten", y), scale, zero), U8, quantum=True)
    yield g.finish()


@case((1, 40, 64, 32, 4), (7, 33, 96, 32, 4), (13, 24, 128, 16, 8), (3, 20, 72, 32, 4), ("m", 48, 80, 16, 2))
def block_weights(m, n, k, block, bits):
    """Weights in blocks with scales, and zero points that are given or in the middle; the last block may not be full."""
    blocks = -(-k // block)
    for size in [1, 14] if m == "m" else [0]:
        g = Graph(m=size)
        x = g.input(m, k)
        sizes = dict(K=k, N=n, bits=bits, block_size=block, domain="com.microsoft")
        for zeros in (False, True):
            w = g.value(g.rng.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8))
            operands = [x, w, g.scales(n * blocks)]
            if zeros:
                operands.append(g.value(g.rng.integers(0, 256, (n * -(-blocks * bits // 8),)).astype(np.uint8)))
            g.output(g.node("Tanh", g.node("MatMulNBits", *operands, **sizes)))
        yield g.finish()


# ---- 16-bit floats ----

NARROW = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}


@case(*((kind, *row) for kind in NARROW for row in ((1, 40, 96), (7, 33, 250), (29, 64, 300), ("m", 48, 80))))
def narrow_product(kind, m, k, n):
    """Products with a constant, with bias, activation and residual sum, and of two computed tensors, one transposed."""
    to = NARROW[kind]
    for size in [1, 14, 31] if m == "m" else [0]:
        g = Graph(m=size)

        def narrow(x):
            return g.node("Cast", x, to=to)

        x = narrow(g.input(m, k))
        y = g.node("Relu", g.node("Add", g.node("MatMul", x, narrow(g.constant(k, n))), narrow(g.constant(n))))
        y = g.node("Add", y, narrow(g.input(m, n)))
        g.output(g.node("Cast", y, to=TensorProto.FLOAT), narrow=to)
        scores = g.node("MatMul", x, g.node("Transpose", narrow(g.input(n, k)), perm=[1, 0]))
        g.output(g.node("Cast", scores, to=TensorProto.FLOAT), narrow=to)
        yield g.finish()


@case(*((kind, *row) for kind in NARROW for row in ((1, 16, 9, 11, 40, 3, 1), (2, 24, 7, 8, 130, 1, 1), (1, 8, 6, 6, 8, 3, 8))))
def narrow_conv(kind, n, c, h, w, f, kernel, group):
    to = NARROW[kind]
    g = Graph()
    x = g.node("Cast", g.input(n, c, h, w), to=to)
    weights = g.node("Cast", g.constant(f, c // group, kernel, kernel), to=to)
    y = g.node("Conv", x, weights, g.node("Cast", g.constant(f), to=to), group=group, pads=[kernel // 2] * 4)
    g.output(g.node("Cast", g.node("Relu", y), to=TensorProto.FLOAT), narrow=to)
    yield g.finish()
