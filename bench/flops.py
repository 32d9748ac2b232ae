"""Counts the floating-point operations of a model: contractions only (two per multiply-add), as they are defined, so
that an algorithm that does with fewer (Winograd) may reach more than 100 % of the FMA peak.

The shapes are those of a real run: ONNX Runtime's profile of the unoptimised model says for each executed node its
operator and the shapes of its inputs and outputs. So run-time sizes, branches taken and trips of loops count as they
happened."""

import math

prod = math.prod


def _matmul(i, o, _):
    return 2 * prod(o[0]) * i[0][-1]


def _gemm(i, o, _):
    return 2 * prod(o[0]) * prod(i[0]) // o[0][0] if o[0][0] else 0


def _conv(i, o, _, weight=1):
    return 2 * prod(o[0]) * prod(i[weight][1:])


def _conv_transpose(i, o, _):
    return 2 * prod(i[0]) * prod(i[1][1:])


def _recurrent(i, o, _, x=0, w=1, r=2):
    steps_times_batch = prod(i[x][:2])
    return 2 * steps_times_batch * (prod(i[w]) + prod(i[r]))


def _einsum(i, o, equation):
    """The product of the sizes of all indices; an ellipsis stands for the leading dimensions."""
    terms = (equation or "").replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(i) or len(i) < 2:
        return 0
    sizes = {}
    for term, shape in zip(terms, i):
        if "..." in term:
            before, after = term.split("...")
            middle = shape[len(before) : len(shape) - len(after)]
            names = [*before, *(f".{len(middle) - k}" for k in range(len(middle))), *after]
        else:
            names = term
        for n, s in zip(names, shape):
            sizes[n] = max(sizes.get(n, 1), s)
    return 2 * prod(sizes.values())


def _attention(i, o, _):
    q, k, v = i[:3]
    if len(q) != 4:
        return 2 * prod(q) * k[1] + 2 * prod(q[:2]) * k[1] * (v[2] * q[2] // k[2] if k[2] else 0)
    return 2 * prod(q[:3]) * k[2] * (q[3] + v[3])


COUNTERS = {
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "FusedMatMul": _matmul,
    "QLinearMatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "FusedConv": _conv,
    "ConvInteger": _conv,
    "QLinearConv": lambda i, o, e: _conv(i, o, e, weight=3),
    "DeformConv": _conv,
    "ConvTranspose": _conv_transpose,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "DynamicQuantizeLSTM": _recurrent,
    "Einsum": _einsum,
    "Attention": _attention,
}


def count(op, inputs, outputs, equation=None):
    """Operations of one execution of a node: inputs and outputs are lists of shapes. 0 if nothing is contracted."""
    counter = COUNTERS.get(op)
    return counter(inputs, outputs, equation) if counter else 0


def _shapes(entries):
    return [list(shape) for entry in entries for shape in entry.values()]


def of_profile(events, equations=None):
    """Sums over the events of one profiled run: (operations in all, {operator: operations}). `equations`: {node name:
    equation} of the Einsum nodes, which the profile does not say."""
    by_op = {}
    for e in events:
        if e.get("cat") != "Node" or not e.get("name", "").endswith("_kernel_time"):
            continue
        a = e["args"]
        name = e["name"].removesuffix("_kernel_time")
        inputs, outputs = _shapes(a.get("input_type_shape", [])), _shapes(a.get("output_type_shape", []))
        try:
            n = count(a["op_name"], inputs, outputs, (equations or {}).get(name))
        except IndexError:
            raise ValueError(f"{a['op_name']} '{name}': the profile lacks shapes: {inputs} -> {outputs}") from None
        if n:
            by_op[a["op_name"]] = by_op.get(a["op_name"], 0) + n
    return sum(by_op.values()), by_op
