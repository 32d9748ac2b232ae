"""examples/digits: the split, the size of the model, the gradients of train.py, and that digits.onnx is the network of its table."""

import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper

EXAMPLE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "examples", "digits"))
sys.path.insert(0, EXAMPLE)
import data
import train


def check(condition, what):
    if not condition:
        sys.exit(f"digits_test: {what}")


def check_split():
    (images, labels), (held_images, held_labels) = data.split()
    check(held_images.shape == (359, 1, 8, 8) and images.shape == (1438, 1, 8, 8), "the shapes of the split")
    check(images.dtype == np.float32 and 0 == images.min() and images.max() == 1, "the range of the images")
    check(held_labels[:10].tolist() == [2, 8, 2, 6, 6, 7, 1, 9, 8, 5], f"the split: {held_labels[:10].tolist()}")
    both = np.concatenate([held_images, images]).reshape(-1, 64)
    check(np.array_equal(np.unique(both, axis=0), np.unique(data.load()[0].reshape(-1, 64), axis=0)), "images lost")
    check((np.bincount(held_labels, minlength=10) > 20).all(), "a digit is rare in the held-out fifth")
    check(os.path.getsize(os.path.join(EXAMPLE, "digits.npz")) < 100_000, "the size of digits.npz")


def check_model():
    """The network of the table with the weights of digits.onnx: layers, parameters and accuracy."""
    path = os.path.join(EXAMPLE, "digits.onnx")
    model = onnx.load(path)
    check(os.path.getsize(path) < 300_000, "the size of digits.onnx")
    check([n.name for n in model.graph.node] == [l[0] for l in train.LAYERS], "the layers of digits.onnx")
    params = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    check(sum(v.size for v in params.values()) <= 60_000, "the number of parameters")
    found = train.accuracy(params, *data.split()[1])
    check(found >= 0.98, f"{found:.2%} right")


def check_gradients():
    """Against differences, in double precision."""
    rng = np.random.RandomState(3)
    params = {}
    for name, operator, _, shape in train.LAYERS:
        if shape:
            params[name + "_weight"] = rng.standard_normal(shape) * 0.3
            params[name + "_bias"] = rng.standard_normal(shape[1] if operator == "Gemm" else shape[0]) * 0.1
    images, toward = rng.uniform(size=(2, 1, 8, 8)), rng.standard_normal((2, 10))
    gradients = train.forward(params, images)[1](toward)
    check(gradients.keys() == params.keys(), "parameters without a gradient")
    for name, value in params.items():
        at = tuple(rng.randint(n) for n in value.shape)
        was, sums = value[at], []
        for step in (1e-6, -1e-6):
            value[at] = was + step
            sums.append((train.forward(params, images)[0] * toward).sum())
        value[at] = was
        expected = (sums[0] - sums[1]) / 2e-6
        check(abs(expected - gradients[name][at]) <= 1e-3 * (1 + abs(expected)), f"the gradient of {name}")


check_split()
check_model()
check_gradients()
