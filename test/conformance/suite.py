#!/usr/bin/env python3
"""Writes the ONNX backend suite to disk, once: every test as a folder with its model, inputs and expected outputs.

  suite.py OUT        ->  OUT/KIND/NAME/{model.onnx, test_data_set_0/{input,output}_N.pb}, OUT/index.json

The wheel ships the node tests as Python code that draws its data at import, the light models without inputs, and the rest as
files. KIND is node, simple, pytorch-converted, pytorch-operator or light. index.json keeps, per test, the runner's tolerances
and the facts that rules.py needs."""

import json
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.runner import Runner

OLD_PACKAGE, OLD = "libonnx-testdata", "/usr/share/libonnx-testdata/data"  # Debian's, of onnx 1.12
FORMAT = 1  # raised when the layout of OUT changes


def proto_bytes(value, info):
    """One input or output, serialised as the type its graph declares."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value.SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def write_case(case, folder):
    """A test that lives in Python: model and data sets."""
    write(os.path.join(folder, "model.onnx"), case.model.SerializeToString())
    for n, (inputs, outputs) in enumerate(case.data_sets):
        for role, values, infos in (
            ("input", inputs, case.model.graph.input),
            ("output", outputs, case.model.graph.output),
        ):
            for j, value in enumerate(values):
                write(os.path.join(folder, f"test_data_set_{n}", f"{role}_{j}.pb"), proto_bytes(value, infos[j]))


def write_light(case, folder):
    """A light model: weights made in the graph, a ramp as input, the stored answer."""
    source = os.path.join(os.path.dirname(onnx.__file__), os.path.relpath(case.url, "onnx"))
    shutil.copy(source, os.path.join(folder, "model.onnx"))
    graph = onnx.load(source).graph
    constants = {i.name for i in graph.initializer}
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    for n, info in enumerate(i for i in graph.input if i.name not in constants):
        ramp = Runner.generate_dummy_data(info, seed=0, name=case.model_name, random=False)
        write(os.path.join(data, f"input_{n}.pb"), numpy_helper.from_array(ramp, info.name).SerializeToString())
    for n in range(len(graph.output)):
        shutil.copy(f"{source[:-len('.onnx')]}_output_{n}.pb", os.path.join(data, f"output_{n}.pb"))


def facts(folder):
    """What the comparison rules want to know about the expected outputs: are there bfloat16 ones, how large are the values."""
    largest, bf16 = 0.0, False
    for root, _, names in os.walk(folder):
        for name in names:
            if not (name.startswith("output_") and name.endswith(".pb")):
                continue
            tensor = onnx.TensorProto()
            try:
                with open(os.path.join(root, name), "rb") as f:
                    tensor.ParseFromString(f.read())
                bf16 |= tensor.data_type == onnx.TensorProto.BFLOAT16
                if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
                    values = np.abs(numpy_helper.to_array(tensor))
                    values = values[np.isfinite(values)]
                    largest = max(largest, float(values.max(initial=0.0)))
            except Exception:  # a sequence or an optional: no rule asks for them
                pass
    return {"largest": largest, "bfloat16": bool(bf16)}


def generate(out):
    """Writes the whole suite into `out` and returns its index."""
    tests = {}
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator", "real"):
        for case in loader.load_model_tests(kind=kind):
            shown = "light" if kind == "real" else kind
            folder = os.path.join(out, shown, case.name)
            os.makedirs(folder)
            if kind == "node":
                write_case(case, folder)
            elif kind == "real":
                write_light(case, folder)
            else:
                shutil.copytree(case.model_dir, folder, dirs_exist_ok=True)
            tests[f"{shown}/{case.name}"] = {"rtol": case.rtol, "atol": case.atol, **facts(folder)}
    return {"format": FORMAT, "onnx": onnx.__version__, "tests": tests}


def old_index():
    """The index of the old node tests, which lie on disk in the same layout. Six of them cannot pass: five write bfloat16
    data as uint16, and test_adam_multiple computes with an epsilon that its model leaves out."""
    root = os.path.join(OLD, "node")
    names = sorted(n for n in os.listdir(root) if os.path.exists(os.path.join(root, n, "model.onnx")))
    tolerances = {"rtol": 1e-3, "atol": 1e-7}  # the runner's
    return {"tests": {f"node/{n}": {**tolerances, **facts(os.path.join(root, n))} for n in names}}


def ready(out):
    """The index of a suite that is already there in this layout, or None."""
    try:
        with open(os.path.join(out, "index.json")) as f:
            index = json.load(f)
    except (OSError, ValueError):
        return None
    return index if index.get("format") == FORMAT and index.get("onnx") == onnx.__version__ else None


def ensure(out):
    """Generates the suite unless it is there; a suite that was cut short is made again."""
    index = ready(out)
    if index is None:
        part = out.rstrip("/") + ".part"
        for folder in (out, part):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(part)
        index = generate(part)
        with open(os.path.join(part, "index.json"), "w") as f:
            json.dump(index, f, indent=0)
        os.rename(part, out)
    return index


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(len(ensure(sys.argv[1])["tests"]), "tests in", sys.argv[1])
