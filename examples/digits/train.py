#!/usr/bin/env python3
"""Trains the network that digits.onnx holds. Needs numpy and onnx; about 20 seconds of one core.

  train.py [MODEL.onnx]    (default: the digits.onnx beside this script)

One table of layers is the whole network: training walks it forwards and backwards, the export writes it as ONNX nodes. Seeded, and
on one thread: the same NumPy on the same processor makes the same file."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: more threads add in another order

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import data

EPOCHS, BATCH, RATE, SEED = 50, 64, 3e-3, 1

# (name, operator, inputs, shape of the weights as ONNX has them). A residual connection, a depthwise convolution and a
# concatenation are what ties channels of several layers together.
LAYERS = [
    ("stem", "Conv", ["images"], (16, 1, 3, 3)),
    ("stem_relu", "Relu", ["stem"], None),
    ("block_in", "Conv", ["stem_relu"], (24, 16, 3, 3)),
    ("block_relu", "Relu", ["block_in"], None),
    ("block_out", "Conv", ["block_relu"], (16, 24, 3, 3)),
    ("residual", "Add", ["block_out", "stem_relu"], None),
    ("residual_relu", "Relu", ["residual"], None),
    ("pool", "MaxPool", ["residual_relu"], None),
    ("depthwise", "DepthwiseConv", ["pool"], (16, 1, 3, 3)),
    ("depthwise_relu", "Relu", ["depthwise"], None),
    ("pointwise", "Conv", ["depthwise_relu"], (32, 16, 1, 1)),
    ("pointwise_relu", "Relu", ["pointwise"], None),
    ("branch", "Conv", ["pool"], (16, 16, 3, 3)),
    ("branch_relu", "Relu", ["branch"], None),
    ("concat", "Concat", ["pointwise_relu", "branch_relu"], None),
    ("last", "Conv", ["concat"], (64, 48, 3, 3)),
    ("last_relu", "Relu", ["last"], None),
    ("average", "GlobalAveragePool", ["last_relu"], None),
    ("features", "Flatten", ["average"], None),
    ("scores", "Gemm", ["features"], (64, 10)),
]


# Every operator takes its inputs (images are [n, h, w, c] here: channels are then rows of products), weights and bias. It returns
# its result and the function that makes of the result's gradient those of (inputs, weights, bias).


def windows(x, kernel):
    """The kernel * kernel shifted copies of x, zeros beyond its border, in the order of the kernel's elements."""
    h, w, p = x.shape[1], x.shape[2], kernel // 2
    padded = np.pad(x, ((0, 0), (p, p), (p, p), (0, 0)))
    return [padded[:, i : i + h, j : j + w] for i in range(kernel) for j in range(kernel)]


def unwindow(parts, kernel):
    """The gradient of `windows`: the copies shifted back and added."""
    n, h, w, c = parts[0].shape
    p = kernel // 2
    padded = np.zeros((n, h + 2 * p, w + 2 * p, c), np.float32)
    for k, part in enumerate(parts):
        padded[:, k // kernel : k // kernel + h, k % kernel : k % kernel + w] += part
    return padded[:, p : p + h, p : p + w]


def conv(inputs, weight, bias):
    x, kernel = inputs[0], weight.shape[2]
    columns = np.concatenate(windows(x, kernel), -1).reshape(-1, weight[0].size)
    matrix = weight.transpose(2, 3, 1, 0).reshape(-1, len(weight))

    def back(dy):
        flat = dy.reshape(-1, len(weight))
        dcolumns = (flat @ matrix.T).reshape(*x.shape[:3], kernel * kernel, -1)
        dweight = (columns.T @ flat).reshape(kernel, kernel, -1, len(weight)).transpose(3, 2, 0, 1)
        return [unwindow(list(np.moveaxis(dcolumns, 3, 0)), kernel)], dweight, flat.sum(0)

    return (columns @ matrix + bias).reshape(*x.shape[:3], -1), back


def depthwise(inputs, weight, bias):
    kernel = weight.shape[2]
    taps, parts = weight.reshape(len(weight), -1).T, windows(inputs[0], kernel)

    def back(dy):
        dtaps = np.stack([(part * dy).sum((0, 1, 2)) for part in parts], 1)
        return [unwindow([dy * tap for tap in taps], kernel)], dtaps.reshape(weight.shape), dy.sum((0, 1, 2))

    return sum(part * tap for part, tap in zip(parts, taps)) + bias, back


def relu(inputs, weight, bias):
    return np.maximum(inputs[0], 0), lambda dy: ([dy * (inputs[0] > 0)], None, None)


def add(inputs, weight, bias):
    return inputs[0] + inputs[1], lambda dy: ([dy, dy], None, None)


def concat(inputs, weight, bias):
    ends = np.cumsum([x.shape[-1] for x in inputs])[:-1]
    return np.concatenate(inputs, -1), lambda dy: (np.split(dy, ends, -1), None, None)


def max_pool(inputs, weight, bias):
    n, h, w, c = inputs[0].shape
    cells = inputs[0].reshape(n, h // 2, 2, w // 2, 2, c)
    top = cells.max((2, 4), keepdims=True)

    def back(dy):
        chosen = (cells == top).astype(np.float32)
        chosen /= chosen.sum((2, 4), keepdims=True)  # equal maxima share
        return [(chosen * dy.reshape(top.shape)).reshape(inputs[0].shape)], None, None

    return top.reshape(n, h // 2, w // 2, c), back


def average_pool(inputs, weight, bias):
    shape = inputs[0].shape
    back = lambda dy: ([np.broadcast_to(dy / (shape[1] * shape[2]), shape)], None, None)
    return inputs[0].mean((1, 2), keepdims=True), back


def flatten(inputs, weight, bias):
    return inputs[0].reshape(len(inputs[0]), -1), lambda dy: ([dy.reshape(inputs[0].shape)], None, None)


def gemm(inputs, weight, bias):
    return inputs[0] @ weight + bias, lambda dy: ([dy @ weight.T], inputs[0].T @ dy, dy.sum(0))


# What an operator computes here, and its name and attributes in ONNX.
OPERATORS = {
    "Conv": (conv, "Conv", lambda s: {"kernel_shape": s[2:], "pads": [s[2] // 2] * 4}),
    "DepthwiseConv": (depthwise, "Conv", lambda s: {"kernel_shape": s[2:], "pads": [s[2] // 2] * 4, "group": s[0]}),
    "Relu": (relu, "Relu", lambda s: {}),
    "Add": (add, "Add", lambda s: {}),
    "Concat": (concat, "Concat", lambda s: {"axis": 1}),
    "MaxPool": (max_pool, "MaxPool", lambda s: {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "GlobalAveragePool": (average_pool, "GlobalAveragePool", lambda s: {}),
    "Flatten": (flatten, "Flatten", lambda s: {}),
    "Gemm": (gemm, "Gemm", lambda s: {}),
}


def forward(params, images):
    """Scores of images [n, 1, 8, 8], and the function that makes the parameters' gradients of the scores'."""
    values = {"images": images.transpose(0, 2, 3, 1)}
    backs = {}
    for name, operator, inputs, shape in LAYERS:
        weight, bias = (params[name + "_weight"], params[name + "_bias"]) if shape else (None, None)
        values[name], backs[name] = OPERATORS[operator][0]([values[i] for i in inputs], weight, bias)

    def back(dscores):
        by_value, by_param = {"scores": dscores}, {}
        for name, _, inputs, shape in reversed(LAYERS):
            dinputs, dweight, dbias = backs[name](by_value.pop(name))
            for i, d in zip(inputs, dinputs):
                by_value[i] = by_value[i] + d if i in by_value else d
            if shape:
                by_param[name + "_weight"], by_param[name + "_bias"] = dweight, dbias
        return by_param

    return values["scores"], back


def accuracy(params, images, labels):
    return float((forward(params, images)[0].argmax(1) == labels).mean())


def distort(images, rng):
    """Every image turned, stretched and shifted a little, read between its pixels."""
    n = len(images)
    angle, turn = rng.uniform(-0.2, 0.2, n), rng.uniform(0.9, 1.1, (2, n))
    shift = rng.uniform(-0.7, 0.7, (2, n))
    rows, columns = np.mgrid[:8, :8].reshape(2, 1, 64) - 3.5
    sin, cos = np.sin(angle)[:, None], np.cos(angle)[:, None]
    y = (cos * rows - sin * columns) * turn[0, :, None] + shift[0, :, None] + 4.5
    x = (sin * rows + cos * columns) * turn[1, :, None] + shift[1, :, None] + 4.5
    padded = np.pad(images[:, 0], ((0, 0), (1, 2), (1, 2)))
    y, x = np.clip(y, 0, 8.999), np.clip(x, 0, 8.999)
    top, left = y.astype(int), x.astype(int)
    fy, fx, image = y - top, x - left, np.arange(n)[:, None]
    upper = padded[image, top, left] * (1 - fx) + padded[image, top, left + 1] * fx
    lower = padded[image, top + 1, left] * (1 - fx) + padded[image, top + 1, left + 1] * fx
    return (upper * (1 - fy) + lower * fy).astype(np.float32).reshape(n, 1, 8, 8)


def train(images, labels):
    """Adam on the mean cross entropy, the rate falling to zero along half a cosine. Looks at no other images."""
    rng = np.random.RandomState(SEED)
    params = {}
    for name, operator, _, shape in LAYERS:
        if shape:
            fan_in, outputs = (shape[0], shape[1]) if operator == "Gemm" else (np.prod(shape[1:]), shape[0])
            params[name + "_weight"] = (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)
            params[name + "_bias"] = np.zeros(outputs, np.float32)
    first = {k: np.zeros_like(v) for k, v in params.items()}
    second = {k: np.zeros_like(v) for k, v in params.items()}
    step, steps = 0, EPOCHS * (len(images) // BATCH)
    for epoch in range(EPOCHS):
        order, total = rng.permutation(len(images)), 0.0
        for i in range(0, len(images) // BATCH * BATCH, BATCH):
            batch = order[i : i + BATCH]
            scores, back = forward(params, distort(images[batch], rng))
            probabilities = np.exp(scores - scores.max(1, keepdims=True))
            probabilities /= probabilities.sum(1, keepdims=True)
            total -= np.log(probabilities[np.arange(BATCH), labels[batch]]).mean()
            probabilities[np.arange(BATCH), labels[batch]] -= 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            step += 1
            for k, g in back(probabilities / BATCH).items():
                first[k] = (0.9 * first[k] + 0.1 * g).astype(np.float32)
                second[k] = (0.999 * second[k] + 0.001 * g * g).astype(np.float32)
                change = first[k] / (1 - 0.9**step) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
                params[k] -= (rate * change).astype(np.float32)
        print(f"epoch {epoch + 1}: loss {total / (steps // EPOCHS):.4f}", flush=True)
    return params


def export(params, path):
    """Writes the table as an ONNX model of any batch."""
    nodes = []
    for name, operator, inputs, shape in LAYERS:
        _, kind, attributes = OPERATORS[operator]
        constants = [name + "_weight", name + "_bias"] if shape else []
        nodes.append(helper.make_node(kind, inputs + constants, [name], name=name, **attributes(shape)))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "digits",
        [info("images", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [info("scores", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in params.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="optc example"
    )
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
        sys.exit(__doc__)
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(data.HERE, "digits.onnx")
    (images, labels), (held_images, held_labels) = data.split()
    params = train(images, labels)
    print(f"{sum(v.size for v in params.values())} parameters")
    print(f"{accuracy(params, images, labels):.2%} of {len(labels)} trained images")
    print(f"{accuracy(params, held_images, held_labels):.2%} of {len(held_labels)} held-out images")
    export(params, path)


if __name__ == "__main__":
    main()
