"""Models through optc --emit=onnx: roundtrip.py [--filter REGEX] [--level N] [--rtol R] [--atol A] FOLDER...

FOLDER holds folders with a model.onnx and, as the backend suite has them, test_data_set_0/input_N.pb; those whose case.json
expects a refusal are left out. What optc writes has to pass onnx.checker if the model does, declare the same inputs and outputs,
compute what the model computes (in ONNX Runtime without its own optimisations, where that runs the model at all), and be read back
by optc as the same graph. Prints one line per folder."""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper


def signature(values):
    """Names and kinds; sizes where they are declared, since optc may know more."""
    kinds = []
    for v in values:
        which = v.type.WhichOneof("value")
        element = v.type.tensor_type.elem_type if which == "tensor_type" else 0
        kinds.append((v.name, which, element))
    return kinds


def symbols(values):
    """The symbolic sizes of inputs."""
    return [["" if d.dim_param == "?" else d.dim_param for d in v.type.tensor_type.shape.dim] for v in values]


def overridable(model):
    """Inputs without those that old IR versions list although they are constants."""
    constants = {t.name for t in model.graph.initializer} if model.ir_version < 4 else set()
    return [v for v in model.graph.input if v.name not in constants]


def normal(path):
    """The bytes of a model whose inner values and nodes are named in the order of their appearance."""
    model = onnx.load(path)
    names = {v.name: v.name for v in [*model.graph.input, *model.graph.output]} | {"": ""}
    tensors = {t.name: t for t in model.graph.initializer}

    def rename(graph):
        for node in graph.node:
            node.name = ""
            for values in (node.input, node.output):
                for i, name in enumerate(values):
                    values[i] = names.setdefault(name, f"v{len(names)}")
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    rename(attribute.g)
        for values in (graph.input, graph.output):
            for v in values:
                v.name = names.setdefault(v.name, f"v{len(names)}")

    rename(model.graph)
    del model.graph.initializer[:]
    for name in names:
        if name in tensors:
            tensors[name].name = names[name]
            model.graph.initializer.append(tensors[name])
    return model.SerializeToString(deterministic=True)


def read(path, kind):
    """A value as ONNX Runtime takes it."""
    with open(path, "rb") as f:
        data = f.read()
    which = kind.WhichOneof("value")
    if which == "tensor_type":
        return numpy_helper.to_array(onnx.TensorProto.FromString(data))
    if which == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))


def session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def equal(a, b, rtol, atol):
    """Nested lists, maps and arrays with equal types and values."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(equal(x, y, rtol, atol) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k], rtol, atol) for k in a)
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "OUSV" or a.dtype == bool:
        return a.tobytes() == b.tobytes() if a.dtype.kind == "V" else bool((a == b).all())
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    return np.allclose(a.astype(wide), b.astype(wide), rtol, atol, equal_nan=True)


def run_both(folder, given, made, model, rtol, atol):
    """Whether ONNX Runtime computes the same of both; a reason where it does not run the given one."""
    data = os.path.join(folder, "test_data_set_0")
    inputs = overridable(model)
    paths = [os.path.join(data, f"input_{i}.pb") for i in range(len(inputs))]
    if not inputs or not all(map(os.path.exists, paths[: len(inputs)])):
        paths = [p for p in paths if os.path.exists(p)]
        if len(paths) < sum(v.name not in {t.name for t in model.graph.initializer} for v in inputs):
            return "no inputs"
    try:
        feeds = {v.name: read(p, v.type) for v, p in zip(inputs, paths)}
        expected = session(given).run(None, feeds)
    except Exception as e:  # ONNX Runtime raises many kinds
        return "ONNX Runtime does not run the model: " + str(e).replace("\n", " ")[:120]
    got = session(made).run(None, feeds)
    if not equal(expected, got, rtol, atol):
        sys.exit(f"{folder}: ONNX Runtime computes other values of what optc wrote")
    return ""


def is_valid(path):
    """Models whose outputs have no known rank do not pass the checker."""
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception:
        return False
    return True


def one(folder, work, a):
    given = os.path.join(folder, "model.onnx")
    made, again = os.path.join(work, "made.onnx"), os.path.join(work, "again.onnx")
    for source, target in ((given, made), (made, again)):
        p = subprocess.run(["optc", source, "--emit=onnx", f"-O{a.level}", "-o", target], capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"{folder}: optc {os.path.basename(source)} ended with {p.returncode}: {p.stderr.strip()}")
    if normal(made) != normal(again):
        sys.exit(f"{folder}: what optc wrote is not what it reads")
    if is_valid(given):
        onnx.checker.check_model(made, full_check=True)
    before, after = onnx.load(given), onnx.load(made)
    for what, x, y in (("inputs", overridable(before), after.graph.input), ("outputs", before.graph.output, after.graph.output)):
        if signature(x) != signature(y) and all(v.HasField("type") for v in x):
            sys.exit(f"{folder}: the {what} were {signature(x)} and are {signature(y)}")
    default = {t.name for t in before.graph.initializer}
    plain = [v for v in overridable(before) if v.name not in default]
    if symbols(plain) != symbols([v for v in after.graph.input if v.name not in default]):
        sys.exit(f"{folder}: the symbolic sizes were {symbols(plain)}")
    why = run_both(folder, given, made, before, a.rtol, a.atol)
    print(f"{os.path.basename(folder)}: good" + (f" ({why})" if why else ""), flush=True)
    return not why


def models(folders, pattern):
    """The folders of models to write."""
    found = []
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            case = os.path.join(folder, name, "case.json")
            if not os.path.exists(os.path.join(folder, name, "model.onnx")) or not re.search(pattern, name):
                continue
            if os.path.exists(case):
                with open(case) as f:
                    if json.load(f)["expectation"] != "values":
                        continue
            found.append(os.path.join(folder, name))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="+")
    p.add_argument("--filter", default="")
    p.add_argument("--level", default="2")
    p.add_argument("--rtol", type=float, default=1e-5)
    p.add_argument("--atol", type=float, default=1e-6)
    p.add_argument("--keep-going", action="store_true", help="count models that fail, and report them")
    a = p.parse_args()
    written = compared = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for folder in models(a.folders, a.filter):
            for f in glob.glob(os.path.join(work, "*")):
                os.unlink(f)
            try:
                compared += one(folder, work, a)
                written += 1
            except (SystemExit, Exception) as e:  # whatever the checker or ONNX Runtime raise
                if not a.keep_going:
                    raise
                print(f"{os.path.basename(folder)}: FAILED: {str(e)[:300]}", flush=True)
                failed += 1
    print(f"{written} written, {compared} compared" + (f", {failed} failed" if failed else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
