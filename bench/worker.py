#!/usr/bin/env python3
"""One fresh process of the benchmark; prints one JSON object as its last line.

  worker.py onnxruntime|openvino MODEL INDEX --threads N --shapes static|dynamic [--seconds S] [--output-dir DIR]
  worker.py oracle MODEL INDEX --output-dir DIR     outputs without graph optimisations, GFLOP, sizes of the inputs
  worker.py compare DIR EXPECTED                    the largest error of the outputs in DIR

INDEX is a JSON file {input name: file} beside the folder INDEX-without-.json.inputs that holds the files."""

import argparse
import fnmatch
import json
import os
import re
import sys
import time
import tomllib

import numpy as np

import flops
import stats

HERE = os.path.dirname(os.path.abspath(__file__))
# Of an output: |a - b| <= RELATIVE * |b| + ABSOLUTE * max(1, largest |b|), the same for every contender.
RELATIVE, ABSOLUTE = 1e-3, 1e-4


def memory(field):
    """VmHWM or VmRSS of this process in bytes. getrusage would count what the parent had before exec."""
    with open("/proc/self/status") as f:
        return next(int(l.split()[1]) * 1024 for l in f if l.startswith(field + ":"))


def read_inputs(index):
    with open(index) as f:
        files = json.load(f)
    folder = index.removesuffix(".json") + ".inputs"
    # order="C", not ascontiguousarray: that one makes a scalar a vector.
    return {n: np.asarray(np.load(os.path.join(folder, p)), order="C") for n, p in files.items()}


def write_outputs(folder, named):
    os.makedirs(folder, exist_ok=True)
    for name, value in named:
        np.save(os.path.join(folder, re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy"), value)


def libraries(package, bindings):
    """The shared libraries of a package that this process has mapped, without what only Python needs: {file: bytes}."""
    found = {}
    with open("/proc/self/maps") as f:
        for line in f:
            path = line.split(maxsplit=5)[-1].strip()
            base = os.path.basename(path)
            if ".so" in base and f"/site-packages/{package}/" in path and os.path.exists(path):
                if not any(fnmatch.fnmatch(base, b) for b in bindings):
                    found[base] = os.path.getsize(path)
    return found


class OnnxRuntime:
    """ONNX Runtime: a session whose inputs and outputs are bound once, so that a run is a call and nothing else."""

    def __init__(self, settings):
        import onnxruntime

        self.ort, self.settings = onnxruntime, settings

    def load(self, model, feeds, threads, static, symbols):
        ort, s = self.ort, self.settings
        o = ort.SessionOptions()
        o.log_severity_level = 3
        o.intra_op_num_threads = threads
        o.inter_op_num_threads = s["inter_op_num_threads"]
        o.graph_optimization_level = getattr(ort.GraphOptimizationLevel, s["graph_optimization_level"])
        o.execution_mode = getattr(ort.ExecutionMode, s["execution_mode"])
        for key, value in s["entries"].items():
            o.add_session_config_entry(key, value)
        for name, size in symbols.items() if static else ():
            o.add_free_dimension_override_by_name(name, size)
        self.session = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])

    def bind(self, feeds):
        """Runs once. Outputs that are tensors get buffers of their own; other outputs make every run a plain one."""
        self.feeds = feeds
        self.names = [o.name for o in self.session.get_outputs()]
        self.outputs = self.session.run(None, feeds)
        self.binding = None
        if all(isinstance(o, np.ndarray) and o.dtype.kind in "fiub" for o in self.outputs):
            b = self.session.io_binding()
            self.kept = [self.ort.OrtValue.ortvalue_from_numpy(v) for v in feeds.values()]
            for name, value in zip(feeds, self.kept):
                b.bind_ortvalue_input(name, value)
            self.results = [self.ort.OrtValue.ortvalue_from_numpy(np.zeros_like(o)) for o in self.outputs]
            for name, value in zip(self.names, self.results):
                b.bind_ortvalue_output(name, value)
            self.binding = b

    def runner(self):
        if self.binding is None:
            return lambda: self.session.run(None, self.feeds)
        run, binding = self.session._sess.run_with_iobinding, self.binding._iobinding
        return lambda: run(binding, None)

    def named_outputs(self):
        if self.binding is not None:  # what the timed path gives, not what bind() saw
            self.outputs = [r.numpy() for r in self.results]
        return zip(self.names, self.outputs)


class OpenVino:
    """OpenVINO: one infer request whose input tensors share the memory of the inputs."""

    def __init__(self, settings):
        import openvino

        self.ov, self.settings = openvino, settings

    def load(self, model, feeds, threads, static, symbols):
        core = self.ov.Core()
        m = core.read_model(model)
        if static and any(i.get_partial_shape().is_dynamic for i in m.inputs):
            m.reshape({n: self.ov.PartialShape(list(v.shape)) for n, v in feeds.items()})
        config = {**self.settings["config"], "INFERENCE_NUM_THREADS": str(threads)}
        self.compiled = core.compile_model(m, "CPU", config)
        used = self.compiled.get_property("INFERENCE_PRECISION_HINT")
        if used != self.ov.Type.f32:
            sys.exit(f"OpenVINO computes in {used}, not in f32")
        self.request = self.compiled.create_infer_request()

    def bind(self, feeds):
        self.kept = []
        for name, value in feeds.items():
            tensor = self.ov.Tensor(value, shared_memory=value.ndim > 0)
            self.request.set_tensor(name, tensor)
            self.kept.append((value, tensor))
        self.request.infer()

    def runner(self):
        # The extension's own blocking call, without the wrapper in Python around it and without copies of the outputs.
        blocking = super(type(self.request), self.request).infer
        return lambda: blocking({}, share_outputs=True, decode_strings=False)

    def named_outputs(self):
        # An output may carry several names; which of them is the model's is not told.
        return [(n, self.request.get_tensor(o).data) for o in self.compiled.outputs for n in o.get_names()]


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def measure(run, seconds):
    """Warm-up for a tenth of the time, then single runs for the rest: milliseconds of each, three at least."""
    clock, times = time.perf_counter_ns, []
    end = clock() + int(seconds * 1e8)
    while clock() < end:
        run()
    end = clock() + int(seconds * 1e9)
    while len(times) < 3 or clock() < end:
        start = clock()
        run()
        times.append((clock() - start) * 1e-6)
    return times


def peer(a):
    with open(os.path.join(HERE, "peers.toml"), "rb") as f:
        settings = tomllib.load(f)[a.what]
    feeds = read_inputs(a.index)
    symbols = json.loads(a.symbols)
    before = memory("VmHWM")
    start = time.perf_counter()
    contender = PEERS[a.what](settings)
    imported = time.perf_counter()
    contender.load(a.model, feeds, a.threads, a.shapes == "static", symbols)
    loaded = time.perf_counter()
    contender.bind(feeds)
    run = contender.runner()
    run()
    if a.output_dir:
        write_outputs(a.output_dir, contender.named_outputs())
    result = {}
    if a.seconds:
        result = stats.summarize(measure(run, a.seconds))
    libs = libraries(a.what, settings["bindings"])
    peak = memory("VmHWM")
    return {
        **result,
        "load_ms": (loaded - imported) * 1e3,
        "import_ms": (imported - start) * 1e3,
        "peak_rss_bytes": peak,
        "net_rss_bytes": peak - before,  # without the interpreter, numpy and the inputs
        "library_bytes": sum(libs.values()),
        "libraries": libs,
    }


def oracle(a):
    """What is right, how much there is to compute, and which symbols and inputs have which size."""
    import onnx
    import onnxruntime as ort

    feeds = read_inputs(a.index)
    os.makedirs(a.output_dir, exist_ok=True)
    o = ort.SessionOptions()
    o.log_severity_level = 3
    o.intra_op_num_threads = 1
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    # A weight that is packed ahead of time is no longer an input of its node in the profile.
    o.add_session_config_entry("session.disable_prepacking", "1")
    o.enable_profiling = True
    o.profile_file_prefix = os.path.join(os.path.dirname(os.path.abspath(a.output_dir)), "profile")
    session = ort.InferenceSession(a.model, o, providers=["CPUExecutionProvider"])
    write_outputs(a.output_dir, zip([i.name for i in session.get_outputs()], session.run(None, feeds)))
    profile = session.end_profiling()
    with open(profile) as f:
        events = json.load(f)
    os.unlink(profile)
    symbols, dynamic = {}, False
    for i in session.get_inputs():
        for d, size in zip(i.shape, feeds[i.name].shape) if i.name in feeds else ():
            dynamic |= not isinstance(d, int)
            if isinstance(d, str):
                symbols.setdefault(d, set()).add(size)
    # A name like "?" that stands for several sizes is no symbol.
    symbols = {d: sizes.pop() for d, sizes in symbols.items() if len(sizes) == 1}
    equations = {}
    if any(e.get("args", {}).get("op_name") == "Einsum" for e in events):
        graph = onnx.load(a.model, load_external_data=False).graph
        for n in graph.node:
            if n.op_type == "Einsum":
                equations[n.name] = onnx.helper.get_node_attr_value(n, "equation").decode()
    total, by_op = flops.of_profile(events, equations)
    return {
        "gflop": total * 1e-9,
        "gflop_by_operator": {k: v * 1e-9 for k, v in sorted(by_op.items())},
        "symbols": symbols,
        "dynamic": dynamic,
        "inputs": {n: list(v.shape) for n, v in feeds.items()},
    }


def compare(a):
    """The first output that differs, and the largest error in units of the tolerance."""
    worst, why = 0.0, ""
    for file in sorted(os.listdir(a.index)):
        expected, path = np.load(os.path.join(a.index, file)), os.path.join(a.model, file)
        if not os.path.exists(path):
            return {"right": False, "why": f"output {file} is missing"}
        got = np.load(path)
        if got.shape != expected.shape or got.dtype.kind != expected.dtype.kind:
            return {
                "right": False,
                "why": f"output {file}: {got.dtype} {list(got.shape)}, not {expected.dtype} {list(expected.shape)}",
            }
        if expected.dtype.kind not in "fiu":
            error = 0.0 if np.array_equal(got, expected) else np.inf
        elif expected.size:
            e, g = expected.astype(np.float64), got.astype(np.float64)
            finite = np.isfinite(e)
            largest = np.abs(e[finite]).max(initial=1.0)
            with np.errstate(invalid="ignore"):
                scaled = np.abs(g - e) / (RELATIVE * np.abs(e) + ABSOLUTE * largest)
            same = (g == e) | (np.isnan(g) & np.isnan(e))
            error = float(np.where(same, 0.0, np.where(np.isfinite(scaled), scaled, np.inf)).max())
        else:
            error = 0.0
        if error > worst:
            worst, why = error, f"output {file}: error is {error:.3g} times the tolerance"
    return {"right": worst <= 1, "error": worst if np.isfinite(worst) else None, "why": why if worst > 1 else ""}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=[*PEERS, "oracle", "compare"])
    p.add_argument("model")
    p.add_argument("index")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--shapes", choices=["static", "dynamic"], default="static")
    p.add_argument("--symbols", default="{}", help="sizes of the symbols of the model, as JSON")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--output-dir")
    a = p.parse_args()
    result = oracle(a) if a.what == "oracle" else compare(a) if a.what == "compare" else peer(a)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
