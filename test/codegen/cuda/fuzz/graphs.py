"""Random ONNX graphs for the families of device kernels, each from a seed.

Float inputs are small integers, so that sums and products are exact and any two ways to compute them have to give the
same bits; a value knows whether it still is (`bits`). Only those go where a rounding error would decide: comparisons,
positions, conversions to integers."""

import dataclasses
import math

import numpy as np
from onnx import TensorProto, helper

T = TensorProto
DTYPES = {
    "f32": T.FLOAT, "f16": T.FLOAT16, "bf16": T.BFLOAT16, "f64": T.DOUBLE, "bool": T.BOOL, "i8": T.INT8, "u8": T.UINT8,
    "i16": T.INT16, "i32": T.INT32, "i64": T.INT64, "u16": T.UINT16, "u32": T.UINT32, "u64": T.UINT64,
}  # fmt: skip
NUMPY = {
    "f32": np.float32, "f16": np.float16, "bf16": np.float32, "f64": np.float64, "bool": np.bool_, "i8": np.int8,
    "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip
FLOATS = ("f32", "f16", "bf16", "f64")
SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 128, 129, 130, 200, 256, 264)
ROWS = (1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 500, 1000, 1023, 1024, 1025)
LONG_ROWS = (2047, 2048, 2049, 3000, 4096, 4097, 5000, 8192, 9001)
# Of exact floats: kernels at -O3 do not round 16-bit floats between ops.
EXACT_BITS = {"f32": 22, "f64": 40, "f16": 11, "bf16": 8}


@dataclasses.dataclass
class Value:
    name: str
    dtype: str
    shape: tuple
    bits: int | None = 3  # significant ones of a float that is exact; None: rounding errors
    known: np.ndarray | None = None  # of a constant

    @property
    def rank(self):
        return len(self.shape)

    @property
    def count(self):
        return math.prod(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS


def broadcast(*shapes):
    return tuple(np.broadcast_shapes(*shapes))


class Graph:
    """A graph in the making, with the values of its inputs."""

    def __init__(self, seed, dynamic=False, zeros=False, batch=0):
        self.rng, self.input_rng = np.random.default_rng(seed), np.random.default_rng([*seed, batch])
        self.special = False  # float inputs have infinities and NaNs
        self.batch = batch  # rows of the inputs of family `batches`, which the model does not know
        self.dynamic, self.zeros = dynamic, zeros
        self.nodes, self.inputs, self.outputs, self.constants, self.feeds = [], [], [], [], {}
        self.counter = 0

    # Choices.
    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def size(self, most=300):
        if self.zeros and self.chance(0.08):
            return 0
        return self.pick([s for s in SIZES if s <= most])

    def shape(self, rank=None, most=20000):
        rank = self.pick((0, 1, 2, 3, 4, 5, 5, 7)) if rank is None else rank
        while True:
            shape = tuple(self.size(most if rank < 3 else 70 if rank < 5 else 5) for _ in range(rank))
            if math.prod(shape) <= most:
                return shape

    def axes(self, rank, least=1):
        n = self.int(least, rank)
        return sorted(self.rng.choice(rank, n, replace=False).tolist())

    # Building.
    def name(self, prefix="v"):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def data(self, dtype, shape, low=-3, high=3, rng=None):
        rng = rng or self.rng
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if dtype.startswith("u"):
            low = max(low, 0)
        return rng.integers(low, high + 1, shape).astype(NUMPY[dtype])

    def tensor(self, name, dtype, array):
        return helper.make_tensor(name, DTYPES[dtype], array.shape, array.flatten().tolist())

    def input(self, dtype, shape, low=-3, high=3, batched=False):
        name = self.name("x")
        array = self.data(dtype, shape, low, high, self.input_rng)
        if self.special and dtype in FLOATS and array.size:
            strange = self.input_rng.choice([np.nan, np.inf, -np.inf, -0.0], array.shape)
            array = np.where(self.input_rng.random(array.shape) < 0.1, strange, array).astype(array.dtype)
        self.feeds[name] = (dtype, array)
        declared = [f"{name}_{i}" if self.dynamic and self.chance(0.6) else s for i, s in enumerate(shape)]
        if batched:
            declared = ["N", *shape[1:]]
        self.inputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], declared))
        return Value(name, dtype, tuple(shape), max(-low, high).bit_length())

    def constant(self, array, dtype=None):
        array = np.asarray(array)
        dtype = dtype or next(d for d, t in NUMPY.items() if t == array.dtype)
        name = self.name("c")
        self.constants.append(self.tensor(name, dtype, array))
        most = np.max(np.abs(array), initial=1)
        bits = int(np.ceil(np.log2(float(most) + 1))) if dtype in FLOATS and float(most) >= 1 else None
        return Value(name, dtype, array.shape, bits if dtype in FLOATS else 0, known=array)

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def leaf(self, dtype, shape, low=-3, high=3, constant=0.25):
        if self.chance(constant):
            return self.constant(self.data(dtype, shape, low, high), dtype)
        return self.input(dtype, shape, low, high)

    def op(self, kind, inputs, dtype, shape, bits=None, results=1, **attrs):
        names = [i.name if i else "" for i in inputs]
        outs = [self.name() for _ in range(results)]
        self.nodes.append(helper.make_node(kind, names, outs, name=self.name("n"), **attrs))
        if bits is not None and bits > EXACT_BITS.get(dtype, 64):
            bits = None
        value = Value(outs[0], dtype, tuple(shape), bits if dtype in FLOATS else 0)
        return value if results == 1 else [value] + [Value(o, dtype, tuple(shape), value.bits) for o in outs[1:]]

    def output(self, value):
        if value.name in self.outputs or value.name in self.feeds or value.known is not None:
            value = self.op("Identity", [value], value.dtype, value.shape, value.bits)
        self.outputs.append(value.name)
        self.infos = getattr(self, "infos", {}) | {value.name: value}

    def model(self):
        outs = [helper.make_tensor_value_info(n, DTYPES[self.infos[n].dtype], None) for n in self.outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


# ---- elementwise --------------------------------------------------------------------------------------------------

UNARY_EXACT = ("Abs", "Neg", "Relu", "Sign", "Floor", "Ceil", "Round")
UNARY_SMOOTH = ("Sigmoid", "Tanh", "Erf", "Gelu", "Softplus", "Sin", "Cos", "HardSigmoid", "Elu", "Mish", "Softsign",
                "HardSwish", "LeakyRelu", "Selu", "Atan", "Exp", "Sqrt", "Log", "Reciprocal")  # fmt: skip
PARTNERS = ("same", "scalar", "row", "column", "inner", "any", "bigger")


def partner(g, v):
    """A value to combine with v: of its shape, or one that is broadcast, or that v is broadcast to."""
    kind = g.pick(PARTNERS)
    shape = list(v.shape)
    if kind == "scalar":
        shape = g.pick([[], [1], [1] * v.rank])
    elif kind == "row":
        shape = shape[g.int(0, v.rank) :]
    elif kind == "column" and v.rank:
        shape[-1] = 1
    elif kind in ("inner", "any"):
        shape = [1 if g.chance(0.5) else s for s in shape]
    elif kind == "bigger" and v.count <= 4000:
        shape = [g.int(1, 3)] + [g.int(2, 5) if s == 1 and g.chance(0.5) else s for s in shape]
    return g.leaf(v.dtype, tuple(shape))


def step(g, v, pool=()):
    """One more elementwise op on v."""
    kind = g.int(0, 9)
    same = [p for p in pool if p.dtype == v.dtype and p.name != v.name]
    if v.dtype == "bool":
        if g.chance(0.3):
            return g.op("Not", [v], "bool", v.shape)
        if g.chance(0.5):
            other = partner(g, v)
            return g.op(g.pick(("And", "Or", "Xor", "Equal")), [v, other], "bool", broadcast(v.shape, other.shape))
        dtype = g.pick(("f32", "f16", "i32", "i64", "bf16"))
        x, y = g.leaf(dtype, v.shape), g.leaf(dtype, ())
        return g.op("Where", [v, x, y], dtype, v.shape, max(x.bits or 0, y.bits or 0))
    if kind <= 3:
        try:
            other = g.pick(same) if same and g.chance(0.5) else partner(g, v)
            shape = broadcast(v.shape, other.shape)
        except ValueError:
            other, shape = partner(g, v), None
        shape = broadcast(v.shape, other.shape)
        if math.prod(shape) > 60000:
            return v
        bits = None if v.bits is None or other.bits is None else max(v.bits, other.bits) + 1
        kinds = ["Add", "Sub", "Mul"] + (["Max", "Min"] if v.dtype not in ("i8", "u8", "i16", "bf16") else [])
        op = g.pick(kinds)
        if op == "Mul" and bits is not None:
            bits = v.bits + other.bits
        if op == "Mul" and v.is_float and v.bits is None and other.bits is None:
            op = "Add"
        pair = [v, other] if g.chance(0.7) else [other, v]
        return g.op(op, pair, v.dtype, shape, bits)
    if kind == 4 and v.is_float:
        return g.op(g.pick(UNARY_EXACT if v.bits is not None else UNARY_EXACT[:3]), [v], v.dtype, v.shape, v.bits)
    if kind == 5 and v.is_float and v.dtype != "f64":
        op = g.pick(UNARY_SMOOTH)
        if op in ("Sin", "Cos") and v.bits is None:
            v = g.op("Tanh", [v], v.dtype, v.shape)
        if op in ("Sqrt", "Log", "Reciprocal", "Exp"):  # of something between 1 and 6
            v = g.op("Clip", [v, g.constant(np.ones((), NUMPY[v.dtype]), v.dtype),
                              g.constant(np.full((), 6, NUMPY[v.dtype]), v.dtype)], v.dtype, v.shape, v.bits)  # fmt: skip
        return g.op(op, [v], v.dtype, v.shape, None)
    if kind == 6 and (v.bits is not None or not v.is_float):
        op = g.pick(("Less", "Equal", "Greater", "LessOrEqual"))
        other = partner(g, v)
        return g.op(op, [v, other], "bool", broadcast(v.shape, other.shape))
    if kind == 7 and not (g.special and v.is_float) and (v.bits is not None and v.bits <= 7 or not v.is_float):
        to = g.pick(("f32", "f16", "i32", "i64", "bf16") if v.is_float else ("i32", "i64", "i8", "u8"))
        return g.op("Cast", [v], to, v.shape, v.bits, to=DTYPES[to])
    if kind == 8 and v.rank >= 2:
        return transpose(g, v)
    if kind == 9 and g.chance(0.5):
        return rarer(g, v)
    return move(g, v)


def rarer(g, v):
    """Operators of some types only."""
    d, kind = v.dtype, g.int(0, 5)
    whole = not v.is_float
    if kind == 0 and whole and not d.startswith("u6"):
        other = g.leaf(d, v.shape[-1:], 1, 5)
        return g.op(g.pick(("Div", "Mod")), [v, other], d, v.shape)
    if kind == 1 and d in ("u8", "u32", "u64"):
        return g.op("BitShift", [v, g.leaf(d, v.shape[-1:], 0, 4)], d, v.shape, direction=g.pick(("LEFT", "RIGHT")))
    if kind == 2 and whole:
        other = g.leaf(d, v.shape[-1:])
        return g.op(g.pick(("BitwiseAnd", "BitwiseOr", "BitwiseXor")), [v, other], d, v.shape)
    if kind == 3 and d in ("f32", "f16", "i32", "i64") and v.bits is not None:
        low, high = (g.constant(np.full((), x, NUMPY[d]), d) for x in (-2, 2))
        return g.op("Clip", [v, *g.pick(((low,), (low, high)))], d, v.shape, v.bits)
    if kind == 4 and v.is_float and v.bits is not None and v.count:
        other = g.leaf(d, v.shape)
        other = g.op("Where", [g.leaf("bool", v.shape), v, other], d, v.shape, max(v.bits, 3))
        return g.op("Sum", [v, other, g.leaf(d, ())], d, v.shape, max(v.bits, 3) + 2)
    if kind == 5 and d in ("f32", "f16") and v.bits is not None:
        return g.op("Pow", [v, g.constant(np.full((), 2, NUMPY[d]), d)], d, v.shape)
    return v


def transpose(g, v):
    perm = g.rng.permutation(v.rank).tolist()
    return g.op("Transpose", [v], v.dtype, [v.shape[p] for p in perm], v.bits, perm=perm)


def move(g, v):
    """An op that only moves elements."""
    kind = g.int(0, 7)
    if kind == 0 and v.rank:
        axis, n = g.int(0, v.rank - 1), g.int(2, 3)
        parts = [v] + [g.leaf(v.dtype, v.shape[:axis] + (g.int(1, 5),) + v.shape[axis + 1 :]) for _ in range(n - 1)]
        g.rng.shuffle(parts)
        shape = list(v.shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        bits = None if any(p.bits is None for p in parts) else max(p.bits for p in parts)
        return g.op("Concat", parts, v.dtype, shape, bits, axis=axis)
    if kind == 1 and v.rank and v.count:
        axis = g.int(0, v.rank - 1)
        start, by = g.int(0, v.shape[axis] - 1), g.pick((1, 1, 1, 2, 3, -1, -2))
        stop = v.shape[axis] if by > 0 else -v.shape[axis] - 1
        n = len(range(v.shape[axis])[start : (stop if by > 0 else None) : by])
        shape = list(v.shape)
        shape[axis] = n
        return g.op("Slice", [v, g.ints(start), g.ints(stop), g.ints(axis), g.ints(by)], v.dtype, shape, v.bits)
    if kind == 2 and v.rank and v.count * 4 < 60000 and v.dtype != "bool":
        pads = [g.int(0, 3) for _ in range(2 * v.rank)]
        mode = g.pick(("constant", "edge")) if v.count else "constant"
        shape = [s + pads[i] + pads[i + v.rank] for i, s in enumerate(v.shape)]
        if math.prod(shape) > 60000:
            return v
        return g.op("Pad", [v, g.ints(*pads)], v.dtype, shape, v.bits, mode=mode)
    if kind == 3:
        factors = [p for p in range(1, v.count + 1) if v.count % p == 0] if 0 < v.count <= 60000 else []
        if factors:
            first = g.pick(factors)
            shape = g.pick(([first, v.count // first], [v.count], [1, first, 1, v.count // first]))
            return g.op("Reshape", [v, g.ints(*shape)], v.dtype, shape, v.bits)
    if kind == 4 and v.count <= 5000:
        shape = [g.int(1, 4)] + [g.int(1, 4) if s == 1 else s for s in v.shape]
        return g.op("Expand", [v, g.ints(*shape)], v.dtype, shape, v.bits)
    if kind == 5 and v.rank and v.count:
        axis, n = g.int(0, v.rank - 1), g.int(1, 9)
        indices = g.leaf("i64", (n,), -v.shape[axis], v.shape[axis] - 1)
        return g.op("Gather", [v, indices], v.dtype, v.shape[:axis] + (n,) + v.shape[axis + 1 :], v.bits, axis=axis)
    if kind == 6 and v.rank and v.count <= 20000:
        repeats = [g.int(1, 2) for _ in v.shape]
        return g.op("Tile", [v, g.ints(*repeats)], v.dtype, [s * r for s, r in zip(v.shape, repeats)], v.bits)
    return transpose(g, v) if v.rank >= 2 else v


def elementwise(g):
    g.special = g.chance(0.15)
    v = g.input(g.pick(("f32", "f16", "f32", "bf16", "f64", "i32", "i64", "i8", "u8", "bool", "u32", "i16", "u64")), g.shape())
    pool = [v]
    for _ in range(g.int(1, 6)):
        v = step(g, v, pool)
        pool.append(v)
        if g.chance(0.15):
            g.output(v)
    g.output(v)
    g.special = False
