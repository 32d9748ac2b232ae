"""The suite's models with less written into them, as real exporters write them.

The node tests declare the answer's exact shape, which a compiler could lean on. `hidden` forgets the declared shapes of the
outputs; `symbolic` also makes every input size a symbol of its own. Scalars and ranks stay, and so do the sizes that a rank
or the kind of data follows from (`KEPT`): no exporter leaves those open."""

import onnx

REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
# Operator -> {input: axes whose size stays}. -1 is the last axis.
KEPT = {
    # the length is a rank, or a number of axes
    "AffineGrid": {1: [0]},
    "Col2Im": {1: [0], 2: [0]},
    "ConstantOfShape": {0: [0]},
    "Expand": {1: [0]},
    "Reshape": {1: [0]},
    "Squeeze": {1: [0]},
    "Unsqueeze": {1: [0]},
    **{f"Reduce{r}": {1: [0]} for r in REDUCTIONS},
    "Slice": {1: [0], 2: [0], 3: [0], 4: [0]},
    "Pad": {1: [0], 3: [0]},
    # so many axes are indexed
    "GatherND": {1: [-1]},
    "ScatterND": {1: [-1]},
    # 1 is real, 2 is complex
    "DFT": {0: [-1]},
    "STFT": {0: [-1]},
    # the number of channels becomes an attribute of a depthwise Conv
    "CausalConvWithState": {1: [0]},
}


def _forget_shape(info):
    """Keeps the element type, drops the shape, in tensors and inside sequences and optionals."""
    kind = info.type
    while which := kind.WhichOneof("value"):
        if which in ("tensor_type", "sparse_tensor_type"):
            getattr(kind, which).ClearField("shape")
            return
        if which not in ("sequence_type", "optional_type"):
            return
        kind = getattr(kind, which).elem_type


def _kept(graph):
    """The (input, axis) pairs that stay, -1 for the last axis."""
    return {
        (node.input[position], axis)
        for node in graph.node
        for position, axes in KEPT.get(node.op_type, {}).items()
        for axis in axes
        if position < len(node.input)
    }


def _make_symbolic(info, prefix, kept):
    if info.type.WhichOneof("value") != "tensor_type":
        return
    dims = info.type.tensor_type.shape.dim
    for n, dim in enumerate(dims):
        if not {(info.name, n), (info.name, n - len(dims))} & kept:
            dim.dim_param = f"{prefix}_{n}"


def rewrite(source, target, variant):
    """Writes the variant of the model at `source` to `target`."""
    model = onnx.load(source)
    for info in model.graph.output:
        _forget_shape(info)
    if variant == "symbolic":
        constants = {i.name for i in model.graph.initializer}
        kept = _kept(model.graph)
        for n, info in enumerate(i for i in model.graph.input if i.name not in constants):
            _make_symbolic(info, f"s{n}", kept)
    onnx.save(model, target)
