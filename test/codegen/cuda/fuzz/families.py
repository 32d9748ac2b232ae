"""The families of random graphs (graphs.py): what each is made of."""

import math

import numpy as np
from onnx import TensorProto as T
from onnx import helper

from graphs import (
    DTYPES, FLOATS, LONG_ROWS, NUMPY, ROWS, SIZES, Graph, Value, broadcast, elementwise, move, step,
)  # fmt: skip

# ---- rows ---------------------------------------------------------------------------------------------------------

REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum")  # fmt: skip


def row_input(g, dtype=None):
    dtype = dtype or g.pick(("f32", "f16", "bf16", "f32", "f64"))
    length = g.pick(LONG_ROWS) if g.chance(0.25) else g.pick(ROWS)
    if g.zeros and g.chance(0.1):
        length = 0
    outer = [g.pick((1, 2, 3, 5, 8, 33)) if length < 500 else g.int(1, 3) for _ in range(g.int(0, 3))]
    while math.prod(outer) * length > 30000:
        outer.pop()
    return g.input(dtype, (*outer, length))


def reduce_some(g, v, op=None):
    op = op or g.pick(REDUCTIONS)
    axes = g.axes(v.rank) if g.chance(0.7) else [v.rank - 1]
    keep = g.int(0, 1)
    count = math.prod(v.shape[a] for a in axes)
    if not count and op not in ("ReduceSum", "ReduceSumSquare", "ReduceL1"):
        op = "ReduceSum"
    if op in ("ReduceLogSum", "ReduceL2", "ReduceProd"):
        v = g.op("Abs", [v], v.dtype, v.shape, v.bits)
        if op == "ReduceProd":
            v = g.op("Tanh", [v], v.dtype, v.shape)
        if op == "ReduceLogSum":
            v = g.op("Add", [v, g.constant(np.ones((), NUMPY[v.dtype]), v.dtype)], v.dtype, v.shape)
    bits = v.bits
    if bits is not None and op in ("ReduceSum", "ReduceL1"):
        bits += math.ceil(math.log2(count + 1))
    elif op not in ("ReduceMax", "ReduceMin") or bits is None:
        bits = None
    shape = [1 if i in axes else s for i, s in enumerate(v.shape) if i not in axes or keep]
    return g.op(op, [v, g.ints(*axes)], v.dtype, shape, bits, keepdims=keep)


def normalize(g, v):
    kind, d = g.int(0, 5), v.dtype
    if kind == 0:
        return g.op(g.pick(("Softmax", "LogSoftmax")), [v], d, v.shape, axis=g.int(-v.rank, v.rank - 1))
    if kind == 1 and d != "f64":
        axis = g.int(0, v.rank - 1)
        shape = v.shape[axis:]
        weights = [g.leaf(d, shape), g.leaf(d, shape)][: g.int(1, 2)]
        return g.op("LayerNormalization", [v, *weights], d, v.shape, axis=axis, epsilon=1e-3)
    if kind == 2 and v.rank >= 3 and d != "f64":
        c = v.shape[1]
        return g.op("InstanceNormalization", [v, g.leaf(d, (c,)), g.leaf(d, (c,))], d, v.shape, epsilon=1e-3)
    if kind == 3:  # RMS, by hand
        square = g.op("Mul", [v, v], d, v.shape)
        mean = g.op("ReduceMean", [square, g.ints(-1)], d, (*v.shape[:-1], 1), keepdims=1)
        more = g.op("Add", [mean, g.constant(np.ones((), NUMPY[d]), d)], d, mean.shape)
        root = g.op("Sqrt", [more], d, mean.shape)
        y = g.op("Div", [v, root], d, v.shape)
        return g.op("Mul", [y, g.leaf(d, v.shape[-1:])], d, v.shape)
    if kind == 4 and v.bits is not None:
        axis = g.int(0, v.rank - 1)
        keep = g.int(0, 1)
        shape = [1 if i == axis else s for i, s in enumerate(v.shape) if i != axis or keep]
        op = g.pick(("ArgMax", "ArgMin"))
        return g.op(op, [v], "i64", shape, axis=axis, keepdims=keep, select_last_index=g.int(0, 1))
    if kind == 5 and v.count <= 8000 and d in ("f32", "f64"):
        bits = None if v.bits is None else v.bits + 13
        return g.op("CumSum", [v, g.constant(np.array(g.int(0, v.rank - 1), np.int64))], d, v.shape, bits,
                    exclusive=g.int(0, 1), reverse=g.int(0, 1))  # fmt: skip
    return reduce_some(g, v)


def rows(g):
    g.special = g.chance(0.15)
    row_group(g)
    g.special = False


def row_group(g):
    v = row_input(g)
    for _ in range(g.int(0, 2)):
        v = step(g, v) if v.count else v
    if not v.rank or v.dtype not in FLOATS:
        return g.output(v)
    if not v.count:
        return g.output(reduce_some(g, v, "ReduceSum"))
    w = normalize(g, v)
    if g.chance(0.2):
        g.output(w)
    for _ in range(g.int(0, 2)):
        w = step(g, w, [v])
    g.output(w)


# ---- products -----------------------------------------------------------------------------------------------------


def epilogue(g, v):
    """Consumers of a product: operands per element, per column, per row, none."""
    for _ in range(g.int(0, 4)):
        kind, d = g.int(0, 7), v.dtype
        if kind <= 2 and v.rank:
            shape = g.pick((v.shape, v.shape[-1:], (*v.shape[:-1], 1), (), v.shape[-2:]))
            other = g.leaf(d, shape)
            bits = None if v.bits is None else max(v.bits, other.bits) + 1
            op = g.pick(("Add", "Sub", "Mul", "Add"))
            bits = v.bits + other.bits if op == "Mul" and v.bits is not None else bits
            v = g.op(op, [v, other] if g.chance(0.7) else [other, v], d, v.shape, bits)
        elif kind == 3 and v.is_float:
            v = g.op("Relu", [v], d, v.shape, v.bits)
        elif kind == 4 and v.is_float and d != "f64":
            scale = g.constant(np.full((), 0.0625, NUMPY[d]), d)
            v = g.op("Mul", [v, scale], d, v.shape)
            v = g.op(g.pick(("Gelu", "Sigmoid", "Tanh", "HardSwish")), [v], d, v.shape)
        elif kind == 5 and g.chance(0.4):
            g.output(v)
        elif kind == 6 and v.bits is not None and v.is_float:
            to = g.pick(("f32", "f16", "bf16"))
            v = g.op("Cast", [v], to, v.shape, v.bits, to=DTYPES[to])
        elif kind == 7 and g.chance(0.4):
            v = move(g, v)
    return v


def product_bits(a, b, steps):
    if a.bits is None or b.bits is None:
        return None
    return a.bits + b.bits - 1 + math.ceil(math.log2(steps + 1))


def limit(g, dtype):
    """The largest number in operands of products, so that sums of 16-bit floats stay exact now and then."""
    return g.pick((1, 1, 3)) if dtype in ("f16", "bf16") else 3


def operand(g, dtype, shape, constant=0.3):
    """A matrix (or several), maybe as a view of something else."""
    most = limit(g, dtype)
    if len(shape) >= 2 and g.chance(0.25):
        perm = g.rng.permutation(len(shape)).tolist()
        source = [0] * len(shape)
        for to, p in enumerate(perm):
            source[p] = shape[to]
        v = g.leaf(dtype, tuple(source), -most, most, constant)
        return g.op("Transpose", [v], dtype, shape, v.bits, perm=perm)
    if g.chance(0.15) and all(shape):
        axis = g.int(0, len(shape) - 1)
        more = list(shape)
        before, after = g.pick((0, 1, 8, 16)), g.pick((0, 1, 8, 16))
        more[axis] += before + after
        v = g.leaf(dtype, tuple(more), -most, most, constant)
        bounds = [g.ints(before), g.ints(before + shape[axis]), g.ints(axis)]
        return g.op("Slice", [v, *bounds], dtype, shape, v.bits)
    return g.leaf(dtype, tuple(shape), -most, most, constant)


def gemm(g):
    d = g.pick(("f16", "bf16", "f32", "f16", "f32", "f64"))
    while True:
        m, n, k = g.size(), g.size(), g.size()
        if m * n * k <= 2 << 20:
            break
    if g.chance(0.3):
        ta, tb = g.int(0, 1), g.int(0, 1)
        a, b = operand(g, d, (k, m) if ta else (m, k)), operand(g, d, (n, k) if tb else (k, n))
        ins = [a, b]
        if g.chance(0.7):
            ins.append(g.leaf(d, g.pick(((), (1,), (n,), (m, 1), (1, n), (m, n)))))
        attrs = dict(transA=ta, transB=tb, alpha=g.pick((1.0, 1.0, 2.0, 0.5)), beta=g.pick((1.0, 1.0, 2.0)))
        bits = product_bits(a, b, k)
        y = g.op("Gemm", ins, d, (m, n), None if bits is None else bits + 3, **attrs)
    else:
        batch = [g.pick((1, 2, 3)) for _ in range(g.pick((0, 0, 1, 2, 3)))]
        left = [1 if g.chance(0.3) else s for s in batch][g.int(0, len(batch)) if g.chance(0.3) else 0 :]
        right = [1 if g.chance(0.3) else s for s in batch] if g.chance(0.7) else []
        a, b = operand(g, d, (*left, m, k)), operand(g, d, (*right, k, n))
        y = g.op("MatMul", [a, b], d, (*broadcast(left, right), m, n), product_bits(a, b, k))
    g.output(epilogue(g, y))


EIGHTS = (8, 16, 24, 32, 40, 56, 64, 72, 88, 120, 128, 136, 192, 200, 248, 256, 264, 320, 328)


def tensor(g):
    """Products that tensor cores compute: 16-bit floats, rows that begin at multiples of 16 bytes."""
    d, many = g.pick(("f16", "f16", "bf16")), g.chance(0.2)
    while True:
        m, n, k = g.pick((16, 17, 50, 64, 65, 127, 128, 129, 200, 257)), g.pick(EIGHTS), g.pick(EIGHTS)
        batch = [g.pick((133, 150))] if many else [g.pick((1, 2, 3)) for _ in range(g.pick((0, 0, 1, 2)))]
        if m * n * k * math.prod(batch) <= (24 << 20 if many else 6 << 20) and not (many and n < 72):
            break
    dynamic, g.dynamic = g.dynamic, False
    ta, tb = g.chance(0.3), g.chance(0.3)
    if ta:
        m = g.pick((16, 64, 72, 128, 136, 200))
    most = limit(g, d)
    a = g.leaf(d, (*batch, k, m) if ta else (*batch, m, k), -most, most, 0.1)
    b = g.leaf(d, (*batch, n, k) if tb else (*batch, k, n), -most, most, 0.3)
    swap = [*range(len(batch)), len(batch) + 1, len(batch)]
    if ta:
        a = g.op("Transpose", [a], d, (*batch, m, k), a.bits, perm=swap)
    if tb:
        b = g.op("Transpose", [b], d, (*batch, k, n), b.bits, perm=swap)
    y = g.op("MatMul", [a, b], d, (*batch, m, n), product_bits(a, b, k))
    y = epilogue(g, y)
    g.dynamic = dynamic
    g.output(y)


def heads(g):
    """Scores and values of heads that lie inside of rows."""
    d, (n, t, h, w) = g.pick(("f16", "bf16", "f32")), (g.int(1, 2), g.pick((16, 24, 33, 64)), g.int(1, 4), g.pick((8, 16, 32, 40)))
    shape = g.ints(n, t, h, w)
    q, k, v = (g.op("Reshape", [g.input(d, (n, t, h * w), -1, 1), shape], d, (n, t, h, w), 1) for _ in range(3))
    q = g.op("Transpose", [q], d, (n, h, t, w), 1, perm=[0, 2, 1, 3])
    v = g.op("Transpose", [v], d, (n, h, t, w), 1, perm=[0, 2, 1, 3])
    k = g.op("Transpose", [k], d, (n, h, w, t), 1, perm=[0, 2, 3, 1])
    s = g.op("MatMul", [q, k], d, (n, h, t, t), 7)
    s = g.op("Mul", [s, g.constant(np.full((), 0.25, NUMPY[d]), d)], d, s.shape, 7)
    if g.chance(0.5):
        s = g.op("Add", [s, g.leaf(d, g.pick(((t, t), (n, 1, 1, t), (1, 1, t, t))), -4, 0)], d, s.shape, 9)
    if g.chance(0.2):
        g.output(s)
    p = g.op("Softmax", [s], d, s.shape, axis=-1)
    y = g.op("MatMul", [p, v], d, (n, h, t, w))
    y = g.op("Transpose", [y], d, (n, t, h, w), perm=[0, 2, 1, 3])
    y = g.op("Reshape", [y, g.ints(n, t, h * w)], d, (n, t, h * w))
    y = g.op("MatMul", [y, g.leaf(d, (h * w, g.pick((8, 32, 33))), -1, 1, 0.8)], d, (n, t, 0))
    g.output(y)


def integer_product(g):
    m, n, k = (g.pick([s for s in SIZES if s <= 130]) for _ in range(3))
    a, b = g.pick(("u8", "i8")), g.pick(("u8", "i8"))
    x, w = g.leaf(a, (m, k), -128, 255 if a == "u8" else 127, 0), g.leaf(b, (k, n), -128, 127)
    ins = [x, w]
    if g.chance(0.5):
        ins += [g.leaf(a, ()), g.leaf(b, g.pick(((), (n,))))]
    y = g.op("MatMulInteger", ins, "i32", (m, n))
    g.output(g.op("Cast", [y], "f32", y.shape, None, to=T.FLOAT) if g.chance(0.4) else y)


# ---- windows ------------------------------------------------------------------------------------------------------


def window(g, spatial, most=3):
    """Kernel, strides, dilations, pads and the sizes of the result."""
    while True:
        size = [g.pick((1, 2, 3, 5, 7, 8, 11, 12, 16)) for _ in range(spatial)]
        kernel = [g.int(1, most) for _ in range(spatial)]
        strides = [g.int(1, 3) for _ in range(spatial)]
        dilations = [g.pick((1, 1, 2, 3)) for _ in range(spatial)]
        pads = [g.int(0, k - 1) if k > 1 else 0 for k in kernel + kernel]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        out = [(s + pads[i] + pads[i + spatial] - reach[i]) // strides[i] + 1 for i, s in enumerate(size)]
        fits = all(s + pads[i] + pads[i + spatial] >= reach[i] for i, s in enumerate(size))
        if fits and math.prod(size) <= 400:
            return size, kernel, strides, dilations, pads, out


def convolution(g):
    spatial, d = g.pick((1, 2, 2, 2, 3)), g.pick(("f32", "f16", "bf16", "f16"))
    size, kernel, strides, dilations, pads, out = window(g, spatial)
    groups = g.pick((1, 1, 1, 2, 3, 4))
    inner, outer = g.pick((1, 2, 3, 4, 8, 16)), g.pick((1, 2, 3, 4, 5, 8, 16, 24))
    if g.chance(0.2):  # depthwise
        groups, inner, outer = g.pick((3, 4, 8, 16, 17)), 1, g.pick((1, 1, 2))
    n, c, f = g.int(1, 2), groups * inner, groups * outer
    most = limit(g, d)
    x = g.input(d, (n, c, *size), -most, most)
    steps = inner * math.prod(kernel)
    if g.chance(0.15):
        w = g.leaf(d, (c, outer, *kernel), -most, most, 0.7)
        attrs = dict(strides=strides, dilations=dilations, group=groups)
        y = g.op("ConvTranspose", [x, w], d, (), product_bits(x, w, steps * 4), **attrs)
        return g.output(g.op("Relu", [y], d, (), y.bits))
    w = g.leaf(d, (f, inner, *kernel), -most, most, 0.7)
    bits = product_bits(x, w, steps + 3)
    bias = [g.leaf(d, (f,))] if g.chance(0.5) else []
    attrs = dict(strides=strides, dilations=dilations, group=groups)
    if g.chance(0.8):
        attrs["pads"] = pads
    elif all(dil == 1 for dil in dilations):
        attrs["auto_pad"] = g.pick(("SAME_UPPER", "SAME_LOWER"))
        out = [-(-s // t) for s, t in zip(size, strides)]
    else:
        reach = [(k - 1) * dil + 1 for k, dil in zip(kernel, dilations)]
        out = [(s - r) // t + 1 if s >= r else 0 for s, r, t in zip(size, reach, strides)]
        if not all(out):
            attrs["pads"], out = pads, window_size(size, kernel, strides, dilations, pads)
    y = g.op("Conv", [x, w, *bias], d, (n, f, *out), bits, **attrs)
    if g.chance(0.5):
        other = g.leaf(d, g.pick((y.shape, (1, f) + (1,) * spatial)))
        y = g.op("Add", [y, other], d, y.shape, None if y.bits is None else y.bits + 1)
    g.output(epilogue(g, y))


def window_size(size, kernel, strides, dilations, pads):
    n = len(size)
    return [(size[i] + pads[i] + pads[i + n] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(n)]


def pooling(g):
    spatial, d = g.pick((1, 2, 2, 3)), g.pick(("f32", "f16", "bf16", "f32"))
    size, kernel, strides, dilations, pads, out = window(g, spatial)
    x = g.input(d, (g.int(1, 2), g.pick((1, 2, 3, 4, 8, 16, 33)), *size))
    if g.chance(0.5):
        x = g.op("Conv", [x, g.leaf(d, (8, x.shape[1]) + (1,) * spatial)], d, (x.shape[0], 8, *size), 12)
    shape = (*x.shape[:2], *out)
    kind = g.int(0, 4)
    if kind <= 1:
        y = g.op("MaxPool", [x], d, shape, x.bits, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)
    elif kind == 2:
        out = window_size(size, kernel, strides, [1] * spatial, pads)
        y = g.op("AveragePool", [x], d, (*x.shape[:2], *out), None, kernel_shape=kernel, strides=strides, pads=pads,
                 count_include_pad=g.int(0, 1))  # fmt: skip
    elif kind == 3:
        y = g.op(g.pick(("GlobalAveragePool", "GlobalMaxPool")), [x], d, (*x.shape[:2],) + (1,) * spatial)
    else:
        y = g.op("MaxPool", [x], d, shape, None, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=1)
        return g.output(g.op("Relu", [y], d, shape))
    g.output(epilogue(g, y))


# ---- positions, control flow, fallbacks ---------------------------------------------------------------------------


def positions(g):
    d = g.pick(("f32", "f16", "i32", "i64", "bf16", "u8"))
    v = g.input(d, tuple(max(s, 1) for s in g.shape(g.int(1, 4), 4000)))
    axis = g.int(0, v.rank - 1)
    n = v.shape[axis]
    kind = g.int(0, 8)
    if kind == 0:
        shape = tuple(g.int(1, 5) for _ in range(g.int(0, 3)))
        indices = g.leaf(g.pick(("i32", "i64")), shape, -n, n - 1)
        y = g.op("Gather", [v, indices], d, v.shape[:axis] + shape + v.shape[axis + 1 :], v.bits, axis=axis)
    elif kind == 1:
        shape = tuple(g.int(1, s) for s in v.shape)
        y = g.op("GatherElements", [v, g.leaf("i64", shape, -n, n - 1)], d, shape, v.bits, axis=axis)
    elif kind == 2:
        depth = g.int(1, v.rank)
        count = g.int(1, 6)
        columns = [g.rng.integers(-v.shape[i], v.shape[i], count) for i in range(depth)]
        y = g.op("GatherND", [v, g.constant(np.stack(columns, -1).astype(np.int64))], d, (count, *v.shape[depth:]), v.bits)
    elif kind == 3:
        order = g.rng.permutation(n)[: g.int(1, n)]
        shape = tuple(len(order) if i == axis else s for i, s in enumerate(v.shape))
        indices = np.broadcast_to(order.reshape([-1 if i == axis else 1 for i in range(v.rank)]), shape)
        y = g.op("ScatterElements", [v, g.constant(np.ascontiguousarray(indices).astype(np.int64)), g.leaf(d, shape)], d,
                 v.shape, v.bits, axis=axis)  # fmt: skip
    elif kind == 4 and d in ("f32", "i32", "i64"):
        shape = tuple(g.int(1, s) for s in v.shape)
        y = g.op("ScatterElements", [v, g.leaf("i64", shape, 0, n - 1), g.leaf(d, shape)], d, v.shape, 14, axis=axis,
                 reduction=g.pick(("add", "max", "min")))  # fmt: skip
    elif kind == 5:
        depth = g.int(1, v.rank)
        where = g.rng.permutation(math.prod(v.shape[:depth]))[: g.int(1, 6)]
        indices = np.stack(np.unravel_index(where, v.shape[:depth]), -1).astype(np.int64)
        y = g.op("ScatterND", [v, g.constant(indices), g.leaf(d, (len(where), *v.shape[depth:]))], d, v.shape, v.bits)
    elif kind == 6 and d in ("f32", "i64", "i32"):
        k = g.int(1, n)
        y, i = g.op("TopK", [v, g.ints(k)], d, v.shape[:axis] + (k,) + v.shape[axis + 1 :], v.bits, results=2, axis=axis)
        i.dtype = "i64"
    elif kind == 7:
        depth = g.int(1, 9)
        hot = g.leaf("i64", v.shape[:2], -depth, depth)
        y = g.op("OneHot", [hot, g.ints(depth), g.constant(g.data(d, (2,)), d)], d, (*hot.shape, depth), 3, axis=-1)
    else:
        y = g.op("Trilu", [v, g.constant(np.array(g.int(-2, 2), np.int64))], d, v.shape, v.bits, upper=g.int(0, 1)) if (
            v.rank >= 2) else move(g, v)  # fmt: skip
    for _ in range(g.int(0, 2)):
        y = step(g, y) if y.count else y
    g.output(y)


def recurrence(g):
    """Loops that go element after element: recurrent networks, scans, running sums."""
    kind, d = g.int(0, 2), g.pick(("f32", "f16"))
    t, n, i, h = g.pick((1, 3, 6)), g.pick((1, 2, 5)), g.pick((1, 4, 7, 16)), g.pick((1, 3, 8, 17))
    if kind == 0:
        op, gates = g.pick((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
        both = g.chance(0.3)
        dirs = 2 if both else 1
        x = g.input("f32", (t, n, i))
        ins = [x, g.leaf("f32", (dirs, gates * h, i), -1, 1, 0.7), g.leaf("f32", (dirs, gates * h, h), -1, 1, 0.7)]
        if g.chance(0.5):
            ins.append(g.leaf("f32", (dirs, 2 * gates * h), -1, 1))
        way = "bidirectional" if both else g.pick(("forward", "reverse"))
        ys = g.op(op, ins, "f32", (t, dirs, n, h), results=2, hidden_size=h, direction=way)
        g.output(ys[1])
        return g.output(g.op("Relu", [ys[0]], "f32", (t, dirs, n, h)))
    if kind == 1:
        v = g.input(g.pick(("f32", "i32", "i64", "f64")), (t, n, i, h))
        y = g.op("CumSum", [v, g.constant(np.array(g.int(-4, 3), np.int64))], v.dtype, v.shape, 8,
                 exclusive=g.int(0, 1), reverse=g.int(0, 1))  # fmt: skip
        return g.output(step(g, y))
    x, state = g.input(d, (t, n, h)), g.input(d, (n, h))

    def build():
        names = [g.name("s"), g.name("r")]
        infos = [helper.make_tensor_value_info(name, DTYPES[d], None) for name in names]
        s, row = (Value(name, d, (n, h), None) for name in names)
        y = g.op("Add", [s, row], d, (n, h))
        if g.chance(0.5):
            y = g.op("Tanh", [g.op("MatMul", [y, g.leaf(d, (h, h), -1, 1, 1)], d, (n, h))], d, (n, h))
        else:
            y = g.op("Min", [y, g.constant(np.full((), 9, NUMPY[d]), d)], d, (n, h))
        return [y, g.op("Mul", [y, row], d, (n, h))], infos

    body, _ = subgraph(g, build)
    last, all_of = g.op("Scan", [state, x], d, (n, h), None, results=2, body=body, num_scan_inputs=1,
                        scan_input_directions=[g.int(0, 1)])  # fmt: skip
    g.output(last)
    g.output(all_of)


def images(g):
    """Operators on images that are neither convolutions nor pooling."""
    d, kind = g.pick(("f32", "f16", "f32")), g.int(0, 6)
    n, c, h, w = g.int(1, 2), g.pick((1, 3, 4, 8)), g.pick((1, 4, 5, 8)), g.pick((2, 4, 7))
    x = g.input(d, (n, c, h, w))
    if kind <= 1:
        to = (n, c, g.pick((1, 3, h, 2 * h, 9)), g.pick((1, 5, w, 2 * w)))
        mode = g.pick(("nearest", "linear", "cubic"))
        way = g.pick(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
        y = g.op("Resize", [x, None, None, g.ints(*to)], d, to, mode=mode, coordinate_transformation_mode=way,
                 **({"nearest_mode": g.pick(("floor", "ceil", "round_prefer_floor"))} if mode == "nearest" else {}))  # fmt: skip
    elif kind == 2:
        x = g.input(d, (n, 4 * c, h, w))
        y = g.op("DepthToSpace", [x], d, (n, c, 2 * h, 2 * w), x.bits, blocksize=2, mode=g.pick(("DCR", "CRD")))
    elif kind == 3:
        x = g.input(d, (n, c, 2 * h, 2 * w))
        y = g.op("SpaceToDepth", [x], d, (n, 4 * c, h, w), x.bits, blocksize=2)
    elif kind == 4:
        ws = [g.leaf(d, (c,), constant=1) for _ in range(3)]
        y = g.op("BatchNormalization", [x, *ws, g.leaf(d, (c,), 1, 3, 1)], d, x.shape)
    elif kind == 5:
        x = g.input("f32", (n, c, h, w))
        y = g.op("LRN", [x], "f32", x.shape, size=g.int(1, 5))
    else:
        pads = [0, 0, g.int(0, h - 1), g.int(0, 1), 0, 0, g.int(0, h - 1), g.int(0, 1)]
        shape = (n, c, h + pads[2] + pads[6], w + pads[3] + pads[7])
        y = g.op("Pad", [x, g.ints(*pads)], d, shape, x.bits, mode=g.pick(("reflect", "wrap", "edge")))
    g.output(epilogue(g, y))


def quantized(g):
    """Integers that stand for floats."""
    m, n, k = (g.pick([s for s in SIZES if s <= 130]) for _ in range(3))
    scale, zero = g.constant(np.array(0.5, np.float32)), g.constant(np.array(3, np.uint8))
    x = g.input("f32", (m, k), -8, 8)
    q = g.op("QuantizeLinear", [x, scale, zero], "u8", (m, k))
    if g.chance(0.2):
        g.output(q)
    x = g.op("DequantizeLinear", [q, scale, zero], "f32", (m, k), 6)
    w = g.constant(g.data("i8", (k, n), -90, 90), "i8")
    w = g.op("DequantizeLinear", [w, g.constant(np.array(0.25, np.float32))], "f32", (k, n), 8)
    y = g.op("MatMul", [x, w], "f32", (m, n), 22)
    y = g.op("Add", [y, g.leaf("f32", (n,))], "f32", (m, n), 22)
    if g.chance(0.5):
        y = g.op("QuantizeLinear", [y, g.constant(np.array(64, np.float32)), zero], "u8", (m, n))
    g.output(y)


def subgraph(g, build):
    """A graph for an attribute: what `build` makes inside, with no outputs yet."""
    outside, g.nodes = g.nodes, []
    results, extra = build()
    body = helper.make_graph(g.nodes, g.name("b"), extra,
                             [helper.make_tensor_value_info(r.name, DTYPES[r.dtype], None) for r in results])  # fmt: skip
    g.nodes = outside
    return body, results


def control(g):
    d = g.pick(("f32", "f16", "i64"))
    v = g.input(d, tuple(max(s, 1) for s in g.shape(g.int(1, 3), 3000)))
    small = g.constant(np.full((), 1, NUMPY[d]), d)
    if g.chance(0.3):
        total = g.op("ReduceSum", [g.op("Cast", [v], "f32", v.shape, 3, to=T.FLOAT)], "f32", (), 16, keepdims=0)
        test = g.op("Greater", [total, g.constant(np.zeros((), np.float32))], "bool", ())
        branches = []
        for _ in range(2):
            def build():
                y = g.op(g.pick(("Add", "Sub", "Mul")), [v, g.leaf(d, v.shape[-1:])], d, v.shape, 8)
                return [g.op("Max", [y, small], d, v.shape, 8)], []

            branches.append(subgraph(g, build)[0])
        y = g.op("If", [test], d, v.shape, 8, then_branch=branches[0], else_branch=branches[1])
        return g.output(step(g, y))
    trips = g.pick((0, 1, 2, 5))
    with_product = d != "i64" and v.rank == 2 and v.shape[1] <= 64 and g.chance(0.6)
    w = g.leaf(d, (v.shape[-1], v.shape[-1]), 0, 1) if with_product else None

    def build():
        step_number, keep, state = g.name("i"), g.name("k"), g.name("s")
        infos = [helper.make_tensor_value_info(step_number, T.INT64, []), helper.make_tensor_value_info(keep, T.BOOL, []),
                 helper.make_tensor_value_info(state, DTYPES[d], None)]  # fmt: skip
        s = Value(state, d, v.shape, None)
        number = g.op("Cast", [Value(step_number, "i64", ())], d, (), 3, to=DTYPES[d])
        if w:
            s = g.op("MatMul", [s, w], d, v.shape)
            s = g.op("Min", [s, g.constant(np.full((), 8, NUMPY[d]), d)], d, v.shape)
        y = g.op("Add", [s, number], d, v.shape)
        if g.chance(0.5):
            y = g.op("Max", [y, g.leaf(d, v.shape, constant=1)], d, v.shape)
        on = g.op("Identity", [Value(keep, "bool", ())], "bool", ())
        return [on, y, g.op("Mul", [y, y], d, v.shape)], infos

    body, _ = subgraph(g, build)
    last, scanned = g.op("Loop", [g.constant(np.array(trips, np.int64)), None, v], d, v.shape, None, results=2, body=body)
    g.output(last)
    if trips:
        g.output(scanned)


def fallback(g):
    """Device code, an operator of the runtime, device code."""
    v = g.input("f32", tuple(max(s, 1) for s in g.shape(2, 3000)))
    v = step(g, v)
    v = v if v.dtype == "f32" and v.bits is not None and v.count else g.input("f32", (7, 9))
    kind = g.int(0, 3)
    if kind == 0:
        test = g.op("Greater", [v, g.constant(np.zeros((), np.float32))], "bool", v.shape)
        where = g.op("NonZero", [test], "i64", (v.rank, 1))
        return g.output(g.op("Mul", [where, g.ints(3)], "i64", where.shape))
    if kind == 1:
        test = g.input("bool", (v.shape[0],)) if v.rank else None
        if test:
            y = g.op("Compress", [v, test], "f32", v.shape, v.bits, axis=0)
            return g.output(g.op("Add", [y, g.constant(np.ones((), np.float32))], "f32", v.shape, v.bits))
    if kind == 2 and v.rank:
        y = g.op("Unique", [v], "f32", (1,), v.bits)
        return g.output(g.op("Mul", [y, y], "f32", (1,), 8))
    v = g.op("Reshape", [v, g.ints(-1)], "f32", (v.count,), v.bits)
    y, i = g.op("TopK", [v, g.ints(min(5, v.count))], "f32", (min(5, v.count),), v.bits, results=2, axis=0)
    g.output(g.op("Sub", [y, g.constant(np.ones((), np.float32))], "f32", y.shape, v.bits))
    g.output(g.op("Mul", [Value(i.name, "i64", i.shape), g.ints(2)], "i64", i.shape))


def mixed(g):
    """Ops of all kinds on a pool of values, which several of them read."""
    d = g.pick(("f32", "f16", "f32", "bf16"))
    m, n = g.pick((1, 3, 7, 16, 33, 64)), g.pick((1, 4, 5, 8, 17, 64, 100, 129))
    pool = [g.input(d, (m, n)), g.input(d, (n,))]
    for _ in range(g.int(3, 9)):
        v = g.pick(pool[-3:] if g.chance(0.6) else pool)
        kind = g.int(0, 6)
        if kind <= 2:
            w = step(g, v, pool)
        elif kind == 3 and v.rank >= 2 and v.is_float and v.shape[-1] and v.count < 9000:
            k, p = v.shape[-1], g.pick((1, 5, 8, 16, 33, 64))
            weights = g.leaf(v.dtype, (k, p), -1, 1, 0.6)
            w = g.op("MatMul", [v, weights], v.dtype, (*v.shape[:-1], p), product_bits(v, weights, k))
        elif kind == 4 and v.rank and v.is_float and v.count:
            w = g.op("Softmax", [v], v.dtype, v.shape, None, axis=-1) if g.chance(0.5) else reduce_some(g, v, "ReduceMax")
        elif kind == 5 and v.rank >= 1 and v.count and v.shape[-1] % 2 == 0 and v.shape[-1]:
            half = (*v.shape[:-1], v.shape[-1] // 2)
            parts = g.op("Split", [v], v.dtype, half, v.bits, results=2, axis=v.rank - 1, num_outputs=2)
            pool.append(parts[0])
            w = parts[1]
        else:
            w = move(g, v)
        if w.count <= 60000 and w.rank <= 6:
            pool.append(w)
        if g.chance(0.15):
            g.output(pool[-1])
    g.output(pool[-1])


def batches(g):
    """A network over rows whose number the model does not know; what it is made of does not depend on that either."""
    d, n = g.pick(("f32", "f16", "f32")), g.batch
    width = g.pick((4, 8, 17, 32, 64))
    leaf = lambda shape: g.constant(g.data(d, shape, -1, 1), d)
    pool = [g.input(d, (n, width), batched=True)]
    if g.chance(0.5):
        pool.append(g.input(d, (n, width), batched=True))
    for _ in range(g.int(3, 8)):
        v, kind = g.pick(pool[-2:]), g.int(0, 9)
        rows, width = v.shape
        bits = None if v.bits is None else v.bits + 7
        if kind <= 1:
            w = g.pick((8, 16, 33, 64))
            y = g.op("MatMul", [v, leaf((width, w))], d, (rows, w), bits)
            y = g.op("Add", [y, leaf((w,))], d, y.shape, bits)
        elif kind == 2:
            y = g.op("Softmax", [v], d, v.shape, axis=g.int(0, 1))
        elif kind == 3:
            y = g.op("LayerNormalization", [v, leaf((width,))], d, v.shape, axis=1, epsilon=1e-2)
        elif kind == 4:
            same = [p for p in pool if p.shape == v.shape]
            other = g.pick(same)
            bits = None if v.bits is None or other.bits is None else max(v.bits, other.bits) + 1
            y = g.op("Add", [v, other], d, v.shape, bits)
        elif kind == 5:
            y = g.op("Concat", [v, leaf((3, width))], d, (rows + 3, width), v.bits, axis=0)
        elif kind == 6:
            t = g.op("Transpose", [v], d, (width, rows), v.bits, perm=[1, 0])
            y = g.op("MatMul", [v, t], d, (rows, rows))
            y = g.op("MatMul", [g.op("Tanh", [y], d, y.shape), v], d, v.shape)
        elif kind == 7:
            y = g.op("ReduceMean", [v, g.ints(0)], d, (1, width), keepdims=1)
            y = g.op("Mul", [v, y], d, v.shape)
        elif kind == 8:
            y = g.op(g.pick(("Relu", "Tanh", "Sigmoid")), [v], d, v.shape)
        else:
            test = g.op("Greater", [pool[0], leaf((1, 1))], "bool", pool[0].shape)
            g.output(g.op("NonZero", [test], "i64", (2, 0)))
            continue
        pool.append(y)
        if g.chance(0.2):
            g.output(y)
    g.output(pool[-1])


FAMILIES = {
    "elementwise": elementwise, "rows": rows, "gemm": gemm, "tensor": tensor, "heads": heads,
    "integers": integer_product, "convolution": convolution,
    "pooling": pooling, "positions": positions, "control": control, "fallback": fallback, "mixed": mixed, "batches": batches,
    "recurrence": recurrence, "images": images, "quantized": quantized,
}  # fmt: skip


def make(family, seed, cases, batch=0):
    """A graph of several cases of a family."""
    g = Graph([seed, list(FAMILIES).index(family)], seed % 3 == 1, seed % 4 == 2, batch)
    for _ in range(cases):
        FAMILIES[family](g)
    return g

