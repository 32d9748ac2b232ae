#!/usr/bin/env python3
"""Faults in device code that the emulator has to find.

  run.py [--all] [--seeds N] [NAME...]

Every *.patch here is one fault in the code of a kernel: an edit of its IR after phase `llvm`. The kernel is compiled with
it, runs in the modes of the emulator, and has to be reported (or give another result) in at least those the patch names.
The kernels as they are must not be reported in any mode: in random order with N seeds (3; 10 with --all). Without --all a
fault runs in the modes it names only.

A patch: lines `# why`, `kernel: NAME`, `caught: MODE...` and edits,
  delete N TEXT             the N-th line that holds TEXT goes
  replace N TEXT            what follows, up to the next edit, takes its place; {0}, {1} ... are the SSA names of that
                            line in order
  swap TEXT | OLD | NEW     OLD becomes NEW in the first line that holds TEXT
A line `grid: N` is for faults between the tiles of a block: the device has grids of N blocks. With --all they run without
it too, and must not be seen there.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
# Any of several orders may be the one that shows a fault.
MODES = {"order": ["order"], "race": ["race"], "late": ["late-tma"], "random": [f"random:{s}" for s in range(1, 5)]}


def product(m, k, n):
    """A product of f16 with a bias and ReLU; all operands are inputs."""
    f16 = TensorProto.FLOAT16
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["ab"], name="product"),
        helper.make_node("Add", ["ab", "bias"], ["sum"], name="bias"),
        helper.make_node("Relu", ["sum"], ["y"], name="relu"),
    ]
    inputs = [value("a", f16, [m, k]), value("b", f16, [k, n]), value("bias", f16, [n])]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", f16, [m, n])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# Tiles that reach beyond the result; more steps of the sum than stages, or, of `tiles`, as many.
KERNELS = {
    "gemm": lambda: product(200, 328, 120),
    "mma": lambda: product(70, 100, 50),
    "tiles": lambda: product(200, 232, 120),
}
# Blocks of a grid: one per tile, one for all tiles, some for several.
GRIDS = {"gemm": ["", "grid:1", "grid:3"], "mma": ["", "grid:1"], "tiles": ["grid:1"]}


class Failed(Exception):
    pass


def run(arguments, environment=None):
    p = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    return p.returncode, (p.stdout + p.stderr).strip()


def tool(*arguments, environment=None):
    code, text = run(arguments, environment)
    if code:
        raise Failed(f"{' '.join(arguments)}: {text}")
    return text


def apply(patch, ir):
    """The IR with the edits of a patch."""
    lines = ir.split("\n")
    edits = re.split(r"^(?=delete |replace |swap )", patch, flags=re.M)[1:]
    for edit in edits:
        head, *body = edit.rstrip("\n").split("\n")
        if head.startswith("swap "):
            text, old, new = head[len("swap ") :].split(" | ")
            at = next((i for i, line in enumerate(lines) if text in line and old in line), None)
            if at is None:
                raise Failed(f"the IR has no line with {text!r} and {old!r}")
            lines[at] = lines[at].replace(old, new)
            continue
        verb, number, text = head.split(" ", 2)
        found = [i for i, line in enumerate(lines) if text in line]
        if len(found) < int(number):
            raise Failed(f"the IR has no line {number} with {text!r}")
        at = found[int(number) - 1]
        names = re.findall(r"%[\w#]+", lines[at])
        if verb == "delete":
            lines[at] = ""
        else:
            lines[at] = "\n".join(b.format(*names) for b in body)
    return "\n".join(lines)


class Kernel:
    """A model, its IR and what it has to compute."""

    def __init__(self, name, folder):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        model = os.path.join(self.folder, "m.onnx")
        onnx.save(KERNELS[name](), model)
        tool("optc", model, "--target=sm90", "-O3", "--stop-after=llvm", "-o", self.path("kernel.mlir"))
        with open(self.path("kernel.mlir")) as f:
            self.ir = f.read()
        rng = np.random.default_rng(0)
        shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in onnx.load(model).graph.input}
        values = {n: rng.standard_normal(s).astype(np.float16) for n, s in shapes.items()}
        os.makedirs(self.path("in"))
        os.makedirs(self.path("out"))
        for n, v in values.items():
            np.save(self.path("in", n + ".npy"), v)
        wide = {n: v.astype(np.float32) for n, v in values.items()}
        y = np.maximum(wide["a"] @ wide["b"] + wide["bias"], 0).astype(np.float16)
        np.save(self.path("out", "y.npy"), y)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def compile(self, ir, name):
        source, artifact = self.path(name + ".mlir"), self.path(name + ".so")
        with open(source, "w") as f:
            f.write(ir)
        tool("optc", source, "--start-from=object", "--target=sm90", "-O3", "--emulate-only", "-o", artifact)
        return artifact

    def run(self, artifact, mode):
        """What is wrong with a run; nothing when it is right."""
        code, text = run(
            ["optc-run", artifact, "--device=emulator", "--inputs-dir", self.path("in"), "--expect", self.path("out")]
            + ["--rtol", "2e-3", "--atol", "2e-2"],
            {"OPTC_EMULATOR": mode},
        )
        return (text.split("\n")[-1] or f"exit code {code}") if code else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    seeds = options.seeds or (10 if options.all else 3)
    patches = sorted(f[: -len(".patch")] for f in os.listdir(HERE) if f.endswith(".patch"))
    if unknown := set(options.names) - set(patches):
        raise SystemExit(f"faults: unknown: {', '.join(sorted(unknown))}; there are: {', '.join(patches)}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        kernels = {}
        for name in KERNELS:
            kernel = kernels[name] = Kernel(name, folder)
            artifact = kernel.compile(kernel.ir, "good")
            modes = [*MODES["order"], *MODES["race"], *MODES["late"], *(f"random:{s}" for s in range(seeds))]
            modes = [f"{m},{grid}".rstrip(",") for grid in GRIDS[name] for m in modes]
            for mode in modes:
                if report := kernel.run(artifact, mode):
                    wrong += 1
                    print(f"faults: FAIL {name} without a fault in mode {mode}: {report}")
            print(f"faults: {name} without a fault: {len(modes)} runs")
        for name in options.names or patches:
            with open(os.path.join(HERE, name + ".patch")) as f:
                patch = f.read()
            fields = dict(re.findall(r"^(kernel|caught|grid): (.*)$", patch, flags=re.M))
            grid = f",grid:{fields['grid']}" if "grid" in fields else ""
            kernel, expected = kernels[fields["kernel"]], fields["caught"].split()
            artifact = kernel.compile(apply(patch, kernel.ir), name)
            seen_in = lambda m, grid: next(filter(None, (kernel.run(artifact, n + grid) for n in MODES[m])), "")
            reports = {m: seen_in(m, grid) for m in (MODES if options.all else expected)}
            missed = [m for m in expected if not reports[m]]
            if grid and options.all:
                missed += [f"{m} without {grid[1:]}" for m in MODES if seen_in(m, "")]
            wrong += len(missed)
            shown = reports[expected[0]][:150]
            seen = " ".join(m for m, r in reports.items() if r)
            print(f"faults: {'FAIL ' + ', '.join(missed) if missed else 'ok'} {name}: seen by {seen or 'none'}: {shown}")
    print(f"faults: {len(options.names or patches)} faults, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as e:
        sys.exit(f"faults: {e}")
