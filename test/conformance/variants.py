"""The suite's models with less written into them, as real exporters write them.

The node tests declare the answer's exact shape, which a compiler could lean on. `hidden` forgets the declared shapes of the
outputs; `symbolic` also makes every input size a symbol of its own (scalars and ranks stay)."""
import onnx


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


def _make_symbolic(info, prefix):
    if info.type.WhichOneof("value") != "tensor_type":
        return
    for n, dim in enumerate(info.type.tensor_type.shape.dim):
        dim.dim_param = f"{prefix}_{n}"


def rewrite(source, target, variant):
    """Writes the variant of the model at `source` to `target`."""
    model = onnx.load(source)
    for info in model.graph.output:
        _forget_shape(info)
    if variant == "symbolic":
        constants = {i.name for i in model.graph.initializer}
        for n, info in enumerate(i for i in model.graph.input if i.name not in constants):
            _make_symbolic(info, f"s{n}")
    onnx.save(model, target)
