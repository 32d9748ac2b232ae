"""Checks for the tests whose expected values are random draws: shape, type and what the operator promises of every value."""

import os
import re

import numpy as np
import onnx
from onnx import numpy_helper


def read_folder(folder, names):
    """The outputs that optc-run wrote, by the graph's names."""
    return [np.load(os.path.join(folder, re.sub(r"[^A-Za-z0-9_.-]", "_", n) + ".npy")) for n in names]


def load(folder, role):
    """The suite's tensors of one role, in order."""
    found = []
    while os.path.exists(path := os.path.join(folder, f"{role}_{len(found)}.pb")):
        tensor = onnx.TensorProto()
        with open(path, "rb") as f:
            tensor.ParseFromString(f.read())
        found.append(numpy_helper.to_array(tensor))
    return found


def same_form(got, expected):
    for i, (g, e) in enumerate(zip(got, expected, strict=True)):
        if g.shape != e.shape or g.dtype != e.dtype:
            return f"output {i} is {g.dtype}{list(g.shape)}, expected {e.dtype}{list(e.shape)}"
    return ""


def bernoulli(graph, data, runs):
    """0 or 1 everywhere, and the same in two runs when a seed is set."""
    expected = load(data, "output")
    outputs = [read_folder(r, [o.name for o in graph.output]) for r in runs]
    if why := same_form(outputs[0], expected):
        return why
    if not np.isin(outputs[0][0].astype(np.float64), (0.0, 1.0)).all():
        return "a value is neither 0 nor 1"
    seeded = any(a.name == "seed" for n in graph.node for a in n.attribute)
    if seeded and not np.array_equal(outputs[0][0], outputs[1][0]):
        return "two runs with the same seed differ"
    return ""


def dropout(graph, data, runs):
    """Every element dropped or scaled by 1/(1-ratio), the mask telling which, and the share of kept ones plausible."""
    inputs, expected = load(data, "input"), load(data, "output")
    got = read_folder(runs[0], [o.name for o in graph.output])
    if why := same_form(got, expected):
        return why
    x, ratio = inputs[0], float(inputs[1]) if len(inputs) > 1 else 0.5
    scaled = x / (1.0 - ratio)
    kept = got[1] if len(got) > 1 else (got[0] != 0) | (x == 0)
    if not np.allclose(got[0], np.where(kept, scaled, 0), rtol=1e-3, atol=1e-7):
        return "a value is neither 0 nor x / (1 - ratio)"
    if abs(kept.mean() - (1 - ratio)) > 5 * np.sqrt(ratio * (1 - ratio) / x.size):
        return f"{kept.mean():.2f} of the elements are kept, expected about {1 - ratio:.2f}"
    return ""
