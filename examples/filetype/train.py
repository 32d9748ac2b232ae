#!/usr/bin/env python3
"""Trains the small file-type model beside this script, for machines without a package index.

  train.py [FOLDER...]       (default: /usr; needs numpy and onnx)

The label of a file is its extension, for programs the ELF magic. The network: an embedding of the first 512 bytes, one
convolution, the maximum over positions, one linear layer. Written out by hand in numpy, with Adam; fixed seed."""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {
    "c": (".h", ".c"), "cpp": (".hpp", ".cpp", ".cc"), "python": (".py",), "perl": (".pl", ".pm"), "shell": (".sh",),
    "cmake": (".cmake", "CMakeLists.txt"), "markdown": (".md",), "html": (".html",), "xml": (".xml",), "json": (".json",),
    "javascript": (".js",), "css": (".css",), "elf": (".so", ".o"), "gzip": (".gz",), "png": (".png",), "rst": (".rst",),
}  # fmt: skip
LABELS = sorted(TYPES)
LENGTH, PAD, EMBED, WIDTH, FILTERS = 512, 256, 10, 6, 96
PER_TYPE = 400


def collect(folders):
    """At most PER_TYPE files of each type: their bytes and their labels."""
    ending = {e: LABELS.index(t) for t, es in TYPES.items() for e in es}
    found = {i: [] for i in range(len(LABELS))}
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in sorted(names):
                label = ending.get(name, ending.get(os.path.splitext(name)[1]))
                path = os.path.join(root, name)
                if label is not None and not os.path.islink(path):
                    found[label].append(path)
    rng = np.random.default_rng(0)
    xs, ys = [], []
    for label, paths in found.items():
        kept = 0
        for i in rng.permutation(len(paths)):
            try:
                head = open(paths[i], "rb").read(4096).lstrip()[:LENGTH]
            except OSError:
                continue
            if len(head) >= 32:
                xs.append(np.frombuffer(head.ljust(LENGTH, b"\0"), np.uint8).astype(np.int32))
                xs[-1][len(head) :] = PAD
                ys.append(label)
                kept += 1
            if kept == PER_TYPE:
                break
        print(f"{LABELS[label]:<12} {kept} files")
    return np.stack(xs), np.array(ys)


def patches(p, x):
    """[n, positions, WIDTH * EMBED]: the embedded bytes under each position of the convolution."""
    e = p["embedding"][x].reshape(len(x), -1)
    positions = LENGTH - WIDTH + 1
    return np.lib.stride_tricks.as_strided(e, (len(x), positions, WIDTH * EMBED), (e.strides[0], 4 * EMBED, 4))


def forward(p, x):
    """Probabilities, and what the gradient needs."""
    h = patches(p, x).reshape(-1, WIDTH * EMBED) @ p["filters"]
    h = h.reshape(len(x), -1, FILTERS)
    where = h.argmax(1)
    top = np.take_along_axis(h, where[:, None], 1)[:, 0] + p["bias"]
    features = np.maximum(top, 0)
    z = features @ p["linear"] + p["offset"]
    z = np.exp(z - z.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True), where, top, features


def gradients(p, x, y):
    """The gradient of the mean cross entropy; the convolution's part is where the maximum was."""
    probs, where, top, features = forward(p, x)
    dz = probs.copy()
    dz[np.arange(len(x)), y] -= 1
    dz /= len(x)
    dtop = dz @ p["linear"].T * (top > 0)
    rows = np.arange(len(x))[:, None]
    chosen = patches(p, x)[rows, where]  # [n, FILTERS, WIDTH * EMBED]
    dembedding = np.zeros_like(p["embedding"])
    dpatch = (dtop[:, :, None] * p["filters"].T[None]).reshape(len(x), FILTERS, WIDTH, EMBED)
    bytes_at = x[rows[:, :, None], where[:, :, None] + np.arange(WIDTH)]
    np.add.at(dembedding, bytes_at, dpatch)
    return {"linear": features.T @ dz, "offset": dz.sum(0), "bias": dtop.sum(0),
            "filters": np.einsum("nf,nfk->kf", dtop, chosen), "embedding": dembedding}  # fmt: skip


def train(x, y, epochs=12):
    rng = np.random.default_rng(1)
    normal = lambda scale, *shape: (rng.standard_normal(shape) * scale).astype(np.float32)
    p = {"embedding": normal(0.5, PAD + 1, EMBED), "filters": normal((WIDTH * EMBED) ** -0.5, WIDTH * EMBED, FILTERS),
         "bias": np.zeros(FILTERS, np.float32), "linear": normal(FILTERS**-0.5, FILTERS, len(LABELS)),
         "offset": np.zeros(len(LABELS), np.float32)}  # fmt: skip
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for i in range(0, len(order), 64):
            batch = order[i : i + 64]
            step += 1
            rate = 3e-3 * (1 - epoch / epochs)
            for k, g in gradients(p, x[batch], y[batch]).items():
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g * g
                p[k] -= (
                    rate * (first[k] / (1 - 0.9**step)) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
                ).astype(np.float32)
        print(f"epoch {epoch + 1}: {accuracy(p, x[:1000], y[:1000]):.3f} on trained files", flush=True)
    return p


def accuracy(p, x, y):
    return np.mean(
        [forward(p, x[i : i + 100])[0].argmax(1) == y[i : i + 100] for i in range(0, len(x) // 100 * 100, 100)]
    )


def export(p, path):
    weights = p["filters"].reshape(WIDTH, EMBED, FILTERS).transpose(2, 1, 0)
    constants = {
        "embedding": p["embedding"],
        "filters": weights,
        "bias": p["bias"],
        "linear": p["linear"],
        "offset": p["offset"],
    }
    nodes = [
        helper.make_node("Gather", ["embedding", "bytes"], ["embedded"], name="embed"),
        helper.make_node("Transpose", ["embedded"], ["channels"], name="channels_first", perm=[0, 2, 1]),
        helper.make_node("Conv", ["channels", "filters", "bias"], ["convolved"], name="conv", kernel_shape=[WIDTH]),
        helper.make_node("Relu", ["convolved"], ["positive"], name="relu"),
        helper.make_node("GlobalMaxPool", ["positive"], ["strongest"], name="max"),
        helper.make_node("Flatten", ["strongest"], ["features"], name="flatten"),
        helper.make_node("Gemm", ["features", "linear", "offset"], ["logits"], name="linear_layer"),
        helper.make_node("Softmax", ["logits"], ["target_label"], name="softmax"),
    ]
    graph = helper.make_graph(
        nodes, "filetype",
        [helper.make_tensor_value_info("bytes", TensorProto.INT32, [1, LENGTH])],
        [helper.make_tensor_value_info("target_label", TensorProto.FLOAT, [1, len(LABELS)])],
        [numpy_helper.from_array(np.ascontiguousarray(v, np.float32), n) for n, v in constants.items()],
    )  # fmt: skip
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="optc example"
    )
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    x, y = collect(sys.argv[1:] or ["/usr"])
    order = np.random.default_rng(2).permutation(len(x))
    x, y = x[order], y[order]
    held = len(x) // 5
    p = train(x[held:], y[held:])
    right = accuracy(p, x[:held], y[:held])
    print(f"{right:.3f} on {held} held-out files")
    export(p, os.path.join(HERE, "model.onnx"))
    config = {"beg_size": LENGTH, "end_size": 0, "block_size": 4096, "padding_token": PAD, "min_file_size_for_dl": 8,
              "medium_confidence_threshold": 0.5, "target_labels_space": LABELS, "held_out_accuracy": round(float(right), 3)}  # fmt: skip
    with open(os.path.join(HERE, "config.json"), "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")


main()
