#!/usr/bin/env python3
"""Products on tensor cores.

  products.py run [NAME...]    each case in the emulator's modes against the plain loops of the CPU at -O0
  products.py rules            what the machine code of the fast family has to be like (needs ptxas)"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import sass

F16, BF16, F32 = TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT
MODES = ["order", "random:1", "race", "late-tma", "grid:1,random:2"]
# Other devices run generic versions of the fast family's kernels.
GENERIC = ["capability:80,race", "capability:120,random:1"]


def model(nodes, inputs, outputs, constants=(), dtype=F16):
    """A model of (operator, inputs, output, attributes); inputs and outputs are name -> shape."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ins, [out], name=out, **attrs) for op, ins, out, attrs in nodes],
        "g",
        [value(n, dtype, s) for n, s in inputs.items()],
        [value(n, dtype, s) for n, s in outputs.items()],
        [onnx.numpy_helper.from_array(v, n) for n, v in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def matmul(a, b, out, dtype=F16):
    return model([("MatMul", ["a", "b"], "y", {})], {"a": a, "b": b}, {"y": out}, dtype=dtype)


def gemm(m, k, n, **attrs):
    a = [k, m] if attrs.get("transA") else [m, k]
    b = [n, k] if attrs.get("transB") else [k, n]
    return model([("Gemm", ["a", "b", "c"], "y", attrs)], {"a": a, "b": b, "c": [n]}, {"y": [m, n]})


def feed_forward(m, k, n):
    """Bias, GELU and a residual sum on the accumulators."""
    nodes = [
        ("MatMul", ["x", "w"], "xw", {}),
        ("Add", ["xw", "b"], "s", {}),
        ("Gelu", ["s"], "g", {}),
        ("Add", ["g", "r"], "y", {}),
    ]
    weights = (np.random.default_rng(1).standard_normal((k, n)) / 16).astype(np.float16)
    return model(nodes, {"x": [m, k], "b": [n], "r": [m, n]}, {"y": [m, n]}, [("w", weights)])


def attention(batch, length, heads, width):
    """Scores and values of heads that lie inside of rows: rows are far apart, and so are heads."""
    shape = np.array([batch, length, heads, width], np.int64)
    nodes = [("Reshape", [n, "shape"], n + "4", {}) for n in "qkv"]
    perms = {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}
    nodes += [("Transpose", [n + "4"], n + "t", {"perm": p}) for n, p in perms.items()]
    nodes += [("MatMul", ["qt", "kt"], "s", {}), ("Softmax", ["s"], "p", {"axis": -1}), ("MatMul", ["p", "vt"], "y", {})]
    inputs = {n: [batch, length, heads * width] for n in "qkv"}
    return model(nodes, inputs, {"y": [batch, heads, length, width]}, [("shape", shape)])


def convolution(channels, size, filters, kernel, **attrs):
    weights = np.random.default_rng(1).standard_normal((filters, channels, kernel, kernel)).astype(np.float16) / 8
    nodes = [("Conv", ["x", "w"], "c", attrs), ("Relu", ["c"], "y", {})]
    stride, pad = attrs.get("strides", [1])[0], attrs.get("pads", [0])[0]
    out = (size + 2 * pad - kernel) // stride + 1
    return model(nodes, {"x": [1, channels, size, size]}, {"y": [1, filters, out, out]}, [("w", weights)])


# name -> (family that has to take it, model, sizes of dimensions that only the run knows)
CASES = {
    "tails": ("cuda-gemm", lambda: matmul([200, 328], [328, 120], [200, 120]), {}),
    "one-step": ("cuda-gemm", lambda: matmul([130, 32], [32, 72], [130, 72]), {}),
    "b-by-rows": ("cuda-gemm", lambda: gemm(136, 200, 88, transB=1), {}),
    "a-by-columns": ("cuda-gemm", lambda: gemm(136, 200, 88, transA=1), {}),
    "both": ("cuda-gemm", lambda: gemm(136, 200, 88, transA=1, transB=1), {}),
    "batches": ("cuda-gemm", lambda: matmul([2, 3, 100, 64], [2, 3, 64, 80], [2, 3, 100, 80]), {}),
    "shared-b": ("cuda-mma", lambda: matmul([3, 2, 100, 64], [2, 64, 80], [3, 2, 100, 80]), {}),
    "wide": ("cuda-gemm", lambda: matmul([1536, 64], [64, 2816], [1536, 2816]), {}),
    "bf16": ("cuda-gemm", lambda: matmul([200, 128], [128, 120], [200, 120], BF16), {}),
    "feed-forward": ("cuda-gemm", lambda: feed_forward(100, 96, 192), {}),
    "attention": ("cuda-gemm", lambda: attention(2, 48, 3, 32), {}),
    "convolution-1x1": ("cuda-gemm", lambda: convolution(32, 12, 48, 1), {}),
    "misaligned": ("cuda-mma", lambda: matmul([70, 100], [100, 50], [70, 50]), {}),
    "odd": ("cuda-mma", lambda: matmul([33, 25], [25, 19], [33, 19]), {}),
    "few-rows": ("cuda-mma", lambda: matmul([3, 256], [256, 136], [3, 136]), {}),
    "unknown-rows": ("cuda-mma", lambda: matmul(["m", 64], [64, 80], ["m", 80]), {"m": 45}),
    "convolution": ("cuda-mma", lambda: convolution(16, 11, 24, 3, pads=[1, 1, 1, 1]), {}),
    "convolution-stride": ("cuda-mma", lambda: convolution(5, 13, 9, 3, strides=[2, 2]), {}),
}
# Most of what a product of the fast family needs of its machine code is asked of these.
RULES = ["tails", "one-step", "both", "wide", "feed-forward", "bf16"]


class Failed(Exception):
    pass


def tool(*arguments, **environment):
    p = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **environment})
    if p.returncode:
        raise Failed((p.stdout + p.stderr).strip().split("\n")[-1])
    return p.stdout


def prepare(name, folder):
    """Saves a case; the path of the model."""
    path = os.path.join(folder, name + ".onnx")
    onnx.save(CASES[name][1](), path)
    return path


def families(report):
    with open(report) as f:
        return [k["family"] for k in json.load(f)["kernels"]]


def run_case(name, folder):
    family, _, sizes = CASES[name]
    path = prepare(name, folder)
    reference, artifact, report = (os.path.join(folder, name + s) for s in (".ref.so", ".so", ".json"))
    tool("optc", path, "-O0", "-o", reference)
    tool("optc", path, "--target=sm90", "-O3", "--emulate-only", "-o", artifact, f"--report={report}")
    if family not in families(report):
        raise Failed(f"no kernel of the family {family}: {families(report)}")
    inputs, outputs = os.path.join(folder, name + ".in"), os.path.join(folder, name + ".out")
    os.makedirs(inputs)
    rng = np.random.default_rng(0)
    for i in onnx.load(path).graph.input:
        shape = [d.dim_value or sizes[d.dim_param] for d in i.type.tensor_type.shape.dim]
        values = rng.standard_normal(shape).astype(np.float32)
        dtype = i.type.tensor_type.elem_type
        array = onnx.helper.make_tensor(i.name, dtype, shape, values.flatten()) if dtype == BF16 else None
        if array is not None:
            with open(os.path.join(inputs, f"{i.name}.pb"), "wb") as f:
                f.write(array.SerializeToString())
        else:
            np.save(os.path.join(inputs, i.name + ".npy"), values.astype(np.float16))
    feeds = [f"--input={f.rsplit('.', 1)[0]}={os.path.join(inputs, f)}" for f in sorted(os.listdir(inputs))]
    tool("optc-run", reference, *feeds, "--output-dir", outputs)
    tolerance = ["--rtol", "1e-2", "--atol", "2e-2"] if "bf16" in name else ["--rtol", "2e-3", "--atol", "4e-3"]
    modes = MODES + GENERIC if family == "cuda-gemm" else MODES
    for mode in modes if name != "wide" else MODES[:1]:
        try:
            tool("optc-run", artifact, "--device=emulator", *feeds, "--expect", outputs, *tolerance, OPTC_EMULATOR=mode)
        except Failed as e:
            raise Failed(f"in mode {mode}: {e}")


def check_rules(name, folder):
    path, cubin, report = prepare(name, folder), os.path.join(folder, "m.cubin"), os.path.join(folder, "m.json")
    tool("optc", path, "--target=sm90", "-O3", "--emit=cubin", "-o", cubin, f"--report={report}")
    with open(cubin, "rb") as f:
        counts = sass.histogram(f.read())
    with open(report) as f:
        kernels = [k for k in json.load(f)["device"]["kernels"] if k["family"] == "cuda-gemm"]
    if not kernels:
        raise Failed("no kernel of the family")
    for k in kernels:
        own = counts[k["name"]]
        for needed in ("HGMMA", "UTMALDG"):
            if not own[needed]:
                raise Failed(f"{k['name']} has no {needed}")
        for bad in ("LDL", "STL", "HMMA"):
            if own[bad]:
                raise Failed(f"{k['name']} has {own[bad]} {bad}")
        if k.get("notes"):
            raise Failed(f"{k['name']}: {k['notes'][0]}")


def run_cases(label, check, names):
    """Calls check(name, folder) for each, and says what came of it; the exit code."""
    wrong = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(name, folder)
                print(f"{label}: ok {name}")
            except Failed as e:
                wrong += 1
                print(f"{label}: FAIL {name}: {e}")
    print(f"{label}: {len(names)} cases, {wrong} wrong")
    return 1 if wrong else 0


def main():
    verb, names = sys.argv[1], sys.argv[2:]
    check, names = (run_case, names or list(CASES)) if verb == "run" else (check_rules, names or RULES)
    return run_cases("products", check, names)


if __name__ == "__main__":
    sys.exit(main())
