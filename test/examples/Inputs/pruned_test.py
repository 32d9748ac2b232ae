"""What pruning left of digits.onnx, bit by bit: pruned_test.py 2:4|magnitude|channels PRUNED.onnx.

pruned_test.py accuracy MODEL.onnx: how many of the held-out images a model gets right in ONNX Runtime."""

import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

EXAMPLE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "examples", "digits"))
sys.path.insert(0, EXAMPLE)
import data

# Layer: axis of its weights that is summed.
LAYERS = {"stem": 1, "block_in": 1, "block_out": 1, "depthwise": 1, "pointwise": 1, "branch": 1, "last": 1, "scores": 0}


def check(condition, what):
    if not condition:
        sys.exit(f"pruned_test: {what}")


def weights(path):
    """The weights of every layer, as bits."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    return {node.name: tensors[node.input[1]] for node in model.graph.node if node.name in LAYERS}


def bits(a):
    return np.ascontiguousarray(a).view(np.uint32)


def check_pairs(before, after):
    for layer, axis in LAYERS.items():
        old, new = (np.moveaxis(w[layer], axis, -1) for w in (before, after))
        if old.shape[-1] % 4:
            check((bits(old) == bits(new)).all(), f"{layer} has no groups of four, but changed")
            continue
        old, new = (np.ascontiguousarray(w).reshape(-1, 4) for w in (old, new))
        kept = bits(new) != 0
        check((kept.sum(1) == 2).all(), f"{layer}: a group of four has not two weights")
        check((bits(new)[kept] == bits(old)[kept]).all(), f"{layer}: a weight that stays changed")
        rest = np.where(kept, np.inf, np.abs(old))
        smallest = np.where(kept, np.abs(old), np.inf).min(1)
        check((np.where(kept, -1, rest).max(1) <= smallest).all(), f"{layer}: a smaller weight stayed")


def check_half(before, after):
    for layer in LAYERS:
        old, new = before[layer].ravel(), after[layer].ravel()
        kept = bits(new) != 0
        check(kept.sum() == old.size - old.size // 2, f"{layer}: {kept.sum()} of {old.size} weights are left")
        check((bits(new)[kept] == bits(old)[kept]).all(), f"{layer}: a weight that stays changed")
        check(np.abs(old[~kept]).max() <= np.abs(old[kept]).min(), f"{layer}: a smaller weight stayed")


def check_channels(before, after, path):
    """About 30 % of the channels are gone, the same ones on both sides of what ties layers together."""
    made = {layer: w.shape[1 if layer == "scores" else 0] for layer, w in after.items()}
    read = {layer: w.shape[LAYERS[layer]] for layer, w in after.items()}
    for layer in ("stem", "block_in", "block_out", "pointwise", "branch", "last"):
        share = made[layer] / before[layer].shape[0]
        check(0.6 <= share <= 0.8, f"{layer} has {made[layer]} of {before[layer].shape[0]} channels")
    check(made["stem"] == made["block_out"] == made["depthwise"] == read["branch"], f"the residual: {made}")
    check(read["block_in"] == made["stem"] and read["block_out"] == made["block_in"], "the block")
    check(read["pointwise"] == made["depthwise"], "the depthwise convolution")
    check(read["last"] == made["pointwise"] + made["branch"], "the concatenation")
    check(read["scores"] == made["last"] and made["scores"] == 10, "the classes")
    images = data.split()[1][0][:1]
    scores = ort.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"images": images})[0]
    check(scores.shape == (1, 10) and np.isfinite(scores).all(), "ONNX Runtime's scores")


def accuracy(path):
    onnx.checker.check_model(path, full_check=True)
    images, labels = data.split()[1]
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    right = sum(int(session.run(None, {"images": i[None]})[0].argmax() == l) for i, l in zip(images, labels))
    print(f"{right} of {len(labels)} right in ONNX Runtime")


def main():
    method, path = sys.argv[1:]
    if method == "accuracy":
        return accuracy(path)
    before, after = weights(os.path.join(EXAMPLE, "digits.onnx")), weights(path)
    check(before.keys() == after.keys() == LAYERS.keys(), f"the layers {sorted(after)}")
    if method == "2:4":
        check_pairs(before, after)
    elif method == "magnitude":
        check_half(before, after)
    else:
        check_channels(before, after, path)
    print(f"{method}: as it should be")


if __name__ == "__main__":
    main()
