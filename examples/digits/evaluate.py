#!/usr/bin/env python3
"""Runs compiled digits models on the held-out fifth: accuracy, how far their scores are apart, and times. Needs numpy only.

  evaluate.py [ARTIFACT...] [--least PERCENT] [--atol A]

Without artifacts, digits.onnx is compiled at -O0 and at -O3. The tools are looked for in $OPTC_BIN, then in build/bin of the
checkout this file is in, then on the PATH. Exit code 1: a tool failed; 3: an artifact has less than PERCENT, or its scores differ
by more than A from those of the first one."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import data


def find(name):
    """The path of a tool."""
    for folder in (os.environ.get("OPTC_BIN"), os.path.join(data.HERE, "..", "..", "build", "bin")):
        if folder and os.access(path := os.path.join(folder, name), os.X_OK):
            return path
    return shutil.which(name) or sys.exit(
        f"evaluate: {name} is neither in $OPTC_BIN, nor in build/bin, nor on the PATH"
    )


def tool(name, *args):
    """What a tool prints."""
    p = subprocess.run([find(name), *args], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"evaluate: {name} ended with {p.returncode}: {(p.stderr or p.stdout).strip()[-500:]}")
    return p.stdout


def scores(artifact, golden, work):
    """The scores [n, 10] of the images in the folder `golden`."""
    tool("optc-run", artifact, "--inputs-dir", golden, "--output-dir", work)
    return np.load(os.path.join(work, "scores.npy"))


def median_ms(artifact, images, work):
    """The median time of a run on one thread, in milliseconds."""
    path = os.path.join(work, "bench.npy")
    np.save(path, images)
    return json.loads(tool("optc-run", artifact, "--input", "images=" + path, "--bench=0.3", "--json"))["p50_ms"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("artifacts", nargs="*", metavar="ARTIFACT")
    p.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    p.add_argument("--atol", type=float, default=float("inf"), metavar="A")
    a = p.parse_args()
    faults = []
    with tempfile.TemporaryDirectory(prefix="digits-") as work:
        for level in () if a.artifacts else ("-O0", "-O3"):
            artifact = os.path.join(work, f"digits{level}.so")
            tool("optc", os.path.join(data.HERE, "digits.onnx"), "-o", artifact, level)
            a.artifacts.append(artifact)
        golden = os.path.join(work, "golden")
        labels = data.write_golden(golden)
        images = np.load(os.path.join(golden, "images.npy"))
        baseline = None
        for artifact in a.artifacts:
            got = scores(os.path.abspath(artifact), golden, work)
            if got.shape != (len(labels), 10):
                sys.exit(f"evaluate: {artifact} gives scores of shape {got.shape}, not {(len(labels), 10)}")
            baseline = got if baseline is None else baseline
            right = int((got.argmax(1) == labels).sum())
            apart = float(np.abs(got - baseline).max())
            one, all_ = (median_ms(os.path.abspath(artifact), x, work) for x in (images[:1], images))
            name = os.path.basename(artifact)
            print(
                f"{name}: {right} of {len(labels)} right ({right / len(labels):.2%}), scores up to {apart:.2g} from the first;"
                f" one image {one:.4f} ms, {len(labels)} images {all_:.3f} ms"
            )
            if not right >= a.least / 100 * len(labels):
                faults.append(f"{name}: {right / len(labels):.2%} right, at least {a.least:g} % were asked for")
            if not apart <= a.atol:  # NaN is no match
                faults.append(f"{name}: scores differ by {apart:.3g} from the first artifact's, allowed: {a.atol:g}")
    for fault in faults:
        print("evaluate: " + fault, file=sys.stderr)
    sys.exit(3 if faults else 0)


if __name__ == "__main__":
    main()
