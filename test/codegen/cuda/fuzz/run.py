#!/usr/bin/env python3
"""Random graphs on a GPU's code in the emulator, against the plain loops of the CPU at -O0.

  run.py [--families NAME,...] [--seeds FIRST-LAST] [--cases N] [--modes all] [--ort] [--keep FOLDER] [--jobs N]

A graph is made of its family and seed (families.py) and has N cases. Each runs in order, and in one of the emulator's
other modes, which the seed picks; with --modes all in all of them. Graphs of the family `batches` run again and again in
one context, with inputs of several sizes. Values without rounding errors have to be equal, the
others within what their type allows. --ort compares ONNX Runtime, where it takes the model, with -O0 too; --keep leaves
the files of what is wrong."""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import families
import graphs

MODES = ["race", "late-tma", "random:{seed}", "grid:1", "grid:3,race", "grid:2,late-tma", "grid:3,random:{seed}"]
TOLERANCE = {"f32": 2e-4, "f16": 8e-3, "bf16": 5e-2, "f64": 1e-9}  # of the largest value
LEVELS = ["O3", "O3", "O3", "O1"]


class Wrong(Exception):
    pass


def tool(*arguments, mode=None, **more):
    env = {**os.environ, **({"OPTC_EMULATOR": mode} if mode else {}), **more}
    try:
        p = subprocess.run(arguments, capture_output=True, text=True, errors="replace", env=env, timeout=300)
    except subprocess.TimeoutExpired:
        raise Wrong(f"{arguments[0]}: no end after 300 s") from None
    if p.returncode:
        lines = (p.stdout + p.stderr).strip().split("\n")
        raise Wrong(f"{os.path.basename(arguments[0])}: exit code {p.returncode}: {lines[-1][:300]}")


def codes(array):
    """bfloat16 as files have it."""
    return np.frombuffer(array.astype(np.float32).tobytes(), np.uint16)[1::2].reshape(array.shape)


def read(folder, graph):
    found = {}
    for name in graph.outputs:
        array = np.load(os.path.join(folder, name + ".npy"))
        if graph.infos[name].dtype == "bf16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        found[name] = array
    return found


def compare(graph, have, want, what):
    for name in graph.outputs:
        value, x, y = graph.infos[name], have[name], want[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            raise Wrong(f"{what}: {name} is {x.dtype}{list(x.shape)} instead of {y.dtype}{list(y.shape)}")
        if not value.is_float:
            bad = x != y
        else:
            x, y = x.astype(np.float64), y.astype(np.float64)
            scale = np.max(np.abs(y), initial=1e-3, where=np.isfinite(y))
            allowed = TOLERANCE[value.dtype] * scale if value.bits is None else 0
            with np.errstate(invalid="ignore"):
                bad = ~((np.abs(x - y) <= allowed) | (x == y) | (np.isnan(x) & np.isnan(y)))
        if bad.any():
            at = tuple(int(i[0]) for i in np.nonzero(bad)) if bad.ndim else ()
            raise Wrong(
                f"{what}: {name} {value.dtype}{list(np.shape(x))} differs in {int(bad.sum())} of {bad.size} elements, "
                f"at {list(at)}: {x[at]} instead of {y[at]}{'' if value.bits is None else ' (exact)'}"
            )


def with_ort(graph, model):
    """What ONNX Runtime computes; None when it does not take the model."""
    import onnxruntime

    if any(d == "bf16" for d, _ in graph.feeds.values()):
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        outs = session.run(graph.outputs, {n: a for n, (_, a) in graph.feeds.items()})
    except Exception:
        return None
    return dict(zip(graph.outputs, outs))


BATCHES, ORDER = [5, 64, 1, 0, 130], [0, 1, 0, 0, 2, 0, 3, 1, 4, 0, 1, 1, 3, 0]


def write_feeds(graph, folder):
    os.mkdir(folder)
    for name, (dtype, array) in graph.feeds.items():
        np.save(os.path.join(folder, name + ".npy"), codes(array) if dtype == "bf16" else array)


def repeat(seed, level, options, path):
    """Several runs in one context."""
    sizes = [families.make("batches", seed, options.cases, n) for n in BATCHES]
    onnx.save(sizes[0].model(), path("m.onnx"))
    tool("optc", path("m.onnx"), "-O0", "-o", path("ref.so"))
    tool("optc", path("m.onnx"), "--target=sm90", f"-{level}", "--emulate-only", "-o", path("m.so"))
    for kind in ("in", "out"):
        names = [(i.name, i.type.tensor_type.elem_type) for i in sizes[0].inputs]
        if kind == "out":
            names = [(n, graphs.DTYPES[sizes[0].infos[n].dtype]) for n in sizes[0].outputs]
        with open(path(kind + ".txt"), "w") as f:
            f.writelines(f"{n} {d}\n" for n, d in names)
    want = []
    for i, graph in enumerate(sizes):
        write_feeds(graph, path(f"in{i}"))
        tool("optc-run", path("ref.so"), "--inputs-dir", path(f"in{i}"), "--output-dir", path(f"ref{i}"))
        want.append(read(path(f"ref{i}"), graph))
    driver = os.path.join(os.path.dirname(shutil.which("optc-run")), "../lib/liboptc_cuda_emulator.so")
    for mode in ["order", MODES[seed % len(MODES)].format(seed=seed)]:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "repeat.py")
        try:
            tool(sys.executable, script, path("m.so"), path(), ",".join(map(str, ORDER)), mode=mode,
                 OPTC_CUDA_LIB=driver)  # fmt: skip
        except Wrong as e:
            raise Wrong(f"{level}, mode {mode}: {e}") from None
        for position, number in enumerate(ORDER):
            have = read(path(f"out{position}"), sizes[number])
            compare(sizes[number], have, want[number], f"{level}, mode {mode}, run {position}")


def run_graph(family, seed, options):
    """What is wrong with a graph; empty when nothing is."""
    folder = tempfile.mkdtemp(prefix="optc-fuzz-")
    path = lambda *names: os.path.join(folder, *names)
    wrong, level = "", LEVELS[seed % len(LEVELS)]
    try:
        if family == "batches":
            repeat(seed, level, options, path)
        else:
            run_once(families.make(family, seed, options.cases), seed, level, options, path)
    except Wrong as e:
        wrong = str(e)
    if wrong and options.keep:
        shutil.rmtree(os.path.join(options.keep, f"{family}-{seed}"), ignore_errors=True)
        shutil.move(folder, os.path.join(options.keep, f"{family}-{seed}"))
    else:
        shutil.rmtree(folder)
    return wrong


def run_once(graph, seed, level, options, path):
    """The modes, a run each."""
    model = graph.model()
    onnx.save(model, path("m.onnx"))
    write_feeds(graph, path("in"))
    tool("optc", path("m.onnx"), "-O0", "-o", path("ref.so"))
    tool("optc-run", path("ref.so"), "--inputs-dir", path("in"), "--output-dir", path("ref"))
    want = read(path("ref"), graph)
    if options.ort and (other := with_ort(graph, model)):
        compare(graph, want, other, "-O0 and ONNX Runtime")
    tool("optc", path("m.onnx"), "--target=sm90", f"-{level}", "--emulate-only", "-o", path("m.so"))
    modes = MODES if options.modes == "all" else [MODES[seed % len(MODES)]]
    for mode in ["order", *modes]:
        mode = mode.format(seed=seed)
        shutil.rmtree(path("out"), ignore_errors=True)
        try:
            tool("optc-run", path("m.so"), "--device=emulator", "--inputs-dir", path("in"), "--output-dir",
                 path("out"), mode=mode)  # fmt: skip
        except Wrong as e:
            raise Wrong(f"{level}, mode {mode}: {e}") from None
        compare(graph, read(path("out"), graph), want, f"{level}, mode {mode}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--families", default=",".join(families.FAMILIES))
    p.add_argument("--seeds", default="0-2")
    p.add_argument("--cases", type=int, default=4)
    p.add_argument("--modes", choices=["some", "all"], default="some")
    p.add_argument("--ort", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--jobs", type=int, default=1)
    options = p.parse_args()
    first, _, last = options.seeds.partition("-")
    work = [(f, s) for s in range(int(first), int(last or first) + 1) for f in options.families.split(",")]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (family, seed), report in zip(work, pool.map(lambda w: run_graph(*w, options), work)):
            if report:
                wrong += 1
                print(f"fuzz: FAIL {family} {seed}: {report}", flush=True)
    print(f"fuzz: {len(work)} graphs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
