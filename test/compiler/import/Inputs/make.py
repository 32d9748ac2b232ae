"""Writes small ONNX models for the tests of the importer, without the onnx package: make.py MODEL FILE.

The wire format by hand, so that broken models can be written too.
"""

import struct
import sys


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while True:
        n, low = n >> 7, n & 127
        if not n:
            out.append(low)
            return bytes(out)
        out.append(low | 128)


def field(number, value):
    """A field: an int, or bytes, str or a list of them."""
    if isinstance(value, list):
        return b"".join(field(number, v) for v in value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attr(name, value):
    if isinstance(value, Ref):
        return field(1, name) + field(21, value.name) + field(20, 2)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, list):
        return field(1, name) + field(8, value) + field(20, 7)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    return field(1, name) + field(6, value) + field(20, 5)


class Ref:
    def __init__(self, name):
        self.name = name


def node(op, inputs, outputs, name="", domain="", **attrs):
    return (field(1, inputs.split()) + field(2, outputs.split()) + field(3, name) + field(4, op)
            + field(5, [attr(k, v) for k, v in attrs.items()]) + field(7, domain))


def value(name, dtype=1, shape=(2, 3)):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, dims)))


def tensor(name, dtype, dims, raw=None, **fields):
    numbers = {"int32": 5, "int64": 7}
    out = field(1, list(dims)) + field(2, dtype) + field(8, name)
    for kind, values in fields.items():
        if kind in numbers:
            out += field(numbers[kind], b"".join(varint(v) for v in values))
        else:
            out += field(14, 1) + field(13, [field(1, k) + field(2, v) for k, v in values.items()])
    return out + (field(9, raw) if raw is not None else b"")


def graph(nodes, inputs, outputs, initializers=()):
    return field(1, nodes) + field(2, "g") + field(5, list(initializers)) + field(11, inputs) + field(12, outputs)


def function(domain, name, inputs, outputs, nodes, attributes=(), opset=17):
    return (field(1, name) + field(4, inputs.split()) + field(5, outputs.split()) + field(6, list(attributes))
            + field(7, nodes) + field(9, [field(2, opset), field(1, domain) + field(2, 1)]) + field(10, domain))


def model(graph, opset=17, ir=8, functions=(), domains=()):
    imports = [field(2, opset)] + [field(1, d) + field(2, 1) for d in domains]
    return field(1, ir) + field(8, imports) + field(7, graph) + field(25, list(functions))


def simple(*nodes, opset=17, out="y", inputs=None, **more):
    return model(graph(list(nodes), inputs or [value("x")], [value(out)], more.pop("initializers", ())), opset, **more)


F = function("d", "F", "a", "b", [node("Flatten", "a", "t", axis=Ref("n")),
                                    node("Neg", "t", "b")], ["n"])
G = function("d", "G", "a", "b", [node("F", "a", "t", domain="d", n=Ref("m")), node("Relu", "t", "b")], ["m"])
LOOP = graph([node("Add", "v k", "w"), node("Identity", "c", "c2")],
             [value("i", 7, ()), value("c", 9, ()), value("v")], [value("c2", 9, ()), value("w")])

MODELS = {
    "problems": simple(
        node("Reluu", "x", "a", "typo"), node("Conv", "x nope", "b", "conv", kernel=[3, 3]),
        node("Softmax", "x", "s", "softmax", axis="1"), node("Concat", "x x", "cc", "concat"),
        node("Gelu", "x", "g", "gelu"), node("MatMul", "x", "mm", "matmul"), node("Add", "x i", "ad", "add"),
        node("Foo", "x", "f", "foo", "my.domain"), node("Relu", "b", "rb", "after"), node("Relu", "x", "x", "ssa"),
        inputs=[value("x"), value("i", 7)]),
    "cycle": simple(node("Add", "x c", "a", "A"), node("Relu", "a", "c", "C"), out="c"),
    "unsorted": simple(node("Relu", "t", "y"), node("Neg", "x", "t")),
    "newer": simple(node("Relu", "x", "y"), opset=99),
    "recursive": simple(node("R", "x", "y", "call", "d"), domains=["d"],
                        functions=[function("d", "R", "a", "b", [node("R", "a", "b", "again", "d")])]),
    "functions": simple(node("G", "x", "p", domain="d", m=1), node("F", "p", "y", domain="d", n=0), domains=["d"],
                        functions=[F, G]),
    "bomb": simple(node("F0", "x", "y", domain="d"), domains=["d"], functions=[
        function("d", f"F{i}", "a", "b", [node(f"F{i + 1}", "a", "t", domain="d"), node(f"F{i + 1}", "t", "b", domain="d")])
        for i in range(40)] + [function("d", "F40", "a", "b", [node("Neg", "a", "b")])]),
    "loop": simple(node("Loop", "n on x", "y", "loop", body=LOOP),
                   initializers=[tensor("n", 7, [], int64=[3]), tensor("on", 9, [], int32=[1]),
                                 tensor("k", 1, [], b"\0\0\x80\x3f")]),
    "old": model(graph([
        node("Add", "x b", "a", axis=0, broadcast=1), node("Softmax", "a", "s", axis=0), node("Squeeze", "s", "q", axes=[0]),
        node("ReduceSum", "a", "r", axes=[0], keepdims=0), node("Clip", "r", "cl"), node("Dropout", "cl", "dr"),
        node("Slice", "dr", "y", starts=[0], ends=[1])],
        [value("x", 1, (1, 3, 4)), value("b", 1, (1,))], [value("y", 1, (1,)), value("q", 1, (3, 4))]), 6),
    "dims": simple(node("Relu", "x", "y"), inputs=[value("x", 1, ("batch", 3))]),
    "bf16": simple(node("Cast", "w", "y", to=1), initializers=[tensor("w", 16, [2], int32=[0x3F80, 0xC000])]),
    "int4": simple(node("Cast", "w", "y", to=1), opset=21, ir=10, initializers=[tensor("w", 22, [3], b"\xf1\x07")]),
    "big": simple(node("Add", "x w", "t"), node("Add", "t v", "y"), inputs=[value("x", 1, (1, 1024))],
                  initializers=[tensor("w", 1, [1024], bytes(4096)), tensor("v", 1, [1, 1024], bytes(4096))]),
    "short": simple(node("Add", "x w", "y"), initializers=[tensor("w", 1, [2, 3], bytes(20))]),
    "outside": simple(node("Add", "x w", "y"), initializers=[
        tensor("w", 1, [2, 3], external={"location": "../w.bin"}),
        tensor("v", 1, [2, 3], external={"location": "/etc/hostname"}),
        tensor("u", 1, [2, 3], external={"location": "u.bin", "offset": "18446744073709551608"})]),
    "default": simple(node("Add", "x w", "y"), inputs=[value("x"), value("w", 1, (3,))],
                      initializers=[tensor("w", 1, [3], bytes(12))]),
    "default_value": simple(node("Add", "x w", "y"), inputs=[value("x"), value("w", 1, ("K",))],
                            initializers=[tensor("w", 1, [3], struct.pack("<3f", 1, 2, 3))]),
    "default_other": simple(node("Add", "x w", "y"), inputs=[value("x"), value("w", 1, (3,))],
                            initializers=[tensor("w", 1, [4], bytes(16))]),
    "default_old": simple(node("Add", "x w", "y"), inputs=[value("x"), value("w", 1, (3,))], ir=3,
                          initializers=[tensor("w", 1, [3], bytes(12))]),
    "no_opset": field(1, 8) + field(7, graph([node("Relu", "x", "y")], [value("x")], [value("y")])),
    "no_graph": field(1, 8) + field(8, field(2, 17)),
    "many_nodes": field(1, 8) + field(8, field(2, 17)) + field(7, b"\x0a\x00" * 2100000),
}
MODELS["truncated"] = MODELS["unsorted"][:-20]

if __name__ == "__main__":
    with open(sys.argv[2], "wb") as f:
        f.write(MODELS[sys.argv[1]])
