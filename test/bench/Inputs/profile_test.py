"""bench/worker.py's oracle and comparison on a model whose work depends on its inputs, and the cases of bench/kernel_models.py."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
BENCH = os.path.join(ROOT, "bench")
sys.path.insert(0, BENCH)
import kernel_models

WORK = sys.argv[1]


def worker(*args):
    p = subprocess.run(
        [sys.executable, os.path.join(BENCH, "worker.py"), *args], capture_output=True, text=True, check=True
    )
    return json.loads(p.stdout.splitlines()[-1])


def check(condition, what):
    if not condition:
        sys.exit(f"profile_test: {what}")


def model():
    """x[n,3] times a constant; then `trips` more products with a square one; in the branch not taken there is a huge one."""
    info = helper.make_tensor_value_info
    tensor = lambda name, *shape: numpy_helper.from_array(np.full(shape, 0.5, np.float32), name)
    body = helper.make_graph(
        [helper.make_node("MatMul", ["v_in", "square"], ["v_out"]), helper.make_node("Identity", ["go"], ["go_on"])],
        "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("v_in", TensorProto.FLOAT, None)],
        [info("go_on", TensorProto.BOOL, []), info("v_out", TensorProto.FLOAT, None)],
    )
    loop = helper.make_graph(
        [helper.make_node("Loop", ["trips", "", "first"], ["then"], body=body)],
        "taken",
        [],
        [info("then", TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("MatMul", ["first", "huge"], ["else"])], "other", [], [info("else", TensorProto.FLOAT, None)]
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["first"]),
        helper.make_node("If", ["choice"], ["y"], then_branch=loop, else_branch=other),
    ]
    inputs = [
        info("x", TensorProto.FLOAT, ["n", 3]),
        info("trips", TensorProto.INT64, []),
        info("choice", TensorProto.BOOL, []),
    ]
    weights = [tensor("w", 3, 4), tensor("square", 4, 4), tensor("huge", 4, 1000)]
    graph = helper.make_graph(nodes, "g", inputs, [info("y", TensorProto.FLOAT, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def store(name, m, feeds):
    path = os.path.join(WORK, name)
    onnx.save(m, path + ".onnx")
    os.makedirs(path + ".inputs", exist_ok=True)
    for n, value in feeds.items():
        np.save(os.path.join(path + ".inputs", n + ".npy"), value)
    with open(path + ".json", "w") as f:
        json.dump({n: n + ".npy" for n in feeds}, f)
    return path


def packed():
    """Weights that ONNX Runtime packs ahead of time count as well."""
    info = helper.make_tensor_value_info
    tensor = lambda name, *shape: numpy_helper.from_array(np.full(shape, 0.5, np.float32), name)
    nodes = [
        helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=4),
        helper.make_node("ConvTranspose", ["p", "k"], ["q"], strides=[2, 2]),
    ]
    inputs = [info("x", TensorProto.FLOAT, [6, 2, 3]), info("p", TensorProto.FLOAT, [1, 8, 5, 5])]
    outputs = [info("y", TensorProto.FLOAT, None), info("q", TensorProto.FLOAT, None)]
    weights = [tensor("w", 1, 12, 3), tensor("r", 1, 12, 4), tensor("k", 8, 4, 2, 2)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = store("packed", m, {"x": np.ones((6, 2, 3), np.float32), "p": np.ones((1, 8, 5, 5), np.float32)})
    facts = worker("oracle", path + ".onnx", path + ".json", "--output-dir", path + ".expected")
    want = {"GRU": 2 * 6 * 2 * 12 * (3 + 4), "ConvTranspose": 2 * 8 * 25 * 4 * 4}
    got = {k: round(v * 1e9) for k, v in facts["gflop_by_operator"].items()}
    check(got == want, f"{got} operations are counted, not {want}")


def counts():
    feeds = {"x": np.ones((5, 3), np.float32), "trips": np.array(7), "choice": np.array(True)}
    path = store("m", model(), feeds)
    expected, out = path + ".expected", path + ".out"
    facts = worker("oracle", path + ".onnx", path + ".json", "--output-dir", expected)
    want = 2 * 5 * 3 * 4 + 7 * 2 * 5 * 4 * 4
    check(round(facts["gflop"] * 1e9) == want, f"{facts['gflop'] * 1e9} operations are counted, not {want}")
    check(facts["symbols"] == {"n": 5} and facts["dynamic"], f"the symbols are {facts}")
    check(facts["inputs"]["trips"] == [], "a scalar input is no longer a scalar")

    for form in ("static", "dynamic"):
        r = worker(
            *("onnxruntime", path + ".onnx", path + ".json", "--seconds", "0.01", "--output-dir", out),
            *("--shapes", form, "--symbols", json.dumps(facts["symbols"])),
        )
        check(0 < r["min_ms"] <= r["p50_ms"] <= r["p99_ms"] and r["runs"] >= 3, f"the times are {r}")
        check(r["load_ms"] > 0 and r["net_rss_bytes"] > 0 and r["library_bytes"] > 1e6, f"the costs are {r}")
        check(worker("compare", out, expected)["right"], "ONNX Runtime differs from itself")
    y = os.path.join(out, "y.npy")
    value = np.load(y)
    value[0, 0] *= 1.01
    np.save(y, value)
    verdict = worker("compare", out, expected)
    check(not verdict["right"] and "times the tolerance" in verdict["why"], f"an error of 1 % is {verdict}")
    np.save(y, value[:1])
    check("not float32" in worker("compare", out, expected)["why"], "another shape is not seen")
    os.unlink(y)
    check("is missing" in worker("compare", out, expected)["why"], "a missing output is not seen")


def cases():
    """All cases are valid, and the huge ones are not even needed to know that: build() checks types and shapes."""
    for name in kernel_models.CASES:
        m, x = kernel_models.build(name)
        check(list(x.shape) == kernel_models.CASES[name][1], name)
        shape = m.graph.output[0].type.tensor_type.shape.dim
        check(all(d.dim_value > 0 for d in shape), f"{name}: the size of the result is not known")


counts()
packed()
cases()
