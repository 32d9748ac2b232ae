#!/usr/bin/env python3
"""The kernel families against the plain loops of -O0, over shapes that do not divide their tiles.

  run.py [--all] [--filter REGEX]

Every case runs at -O3 for one of the targets, another one with each commit (--all: for all of them), with one thread and with
two: the values are those of -O0 within rounding, integers equal but for outputs named q*, which may be one
quantum away, and the same bits for any number of threads. There is no list: every case has to pass."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
sys.path.insert(0, HERE)
import bank
from cases import CASES

BASE = os.path.join(bank.BUILD, "kernels")
TARGETS = ["native", "x86-64-v3", "x86-64-v2"]
RTOL, ATOL = 1e-4, 2e-5  # of the largest value
NARROW = {"h": 2.0**-9, "b": 2.0**-6}  # both, where sums are rounded to float16 or bfloat16 before they are added to


def run(work, name, model, feeds, level, target, threads):
    """Compiles and runs; returns an outcome and the values of the outputs."""
    import numpy

    artifact = os.path.join(work, f"{name}.so")
    if not os.path.exists(artifact):
        outcome = bank.compile_model(model, artifact, level, extra=[f"--target={target}"])
        if outcome.kind != bank.PASS:
            return outcome, None
    out = bank.fresh(os.path.join(work, f"{name}-{threads}"))
    outcome = bank.run_artifact(artifact, feeds, output_dir=out, extra=["--threads", str(threads)])
    if outcome.kind != bank.PASS:
        return outcome, None
    return outcome, {n: numpy.load(os.path.join(out, n)) for n in sorted(os.listdir(out))}


def differs(values, reference):
    """What is wrong with the values, or None."""
    import numpy

    for name, want in reference.items():
        have = values.get(name)
        if have is None or have.shape != want.shape or have.dtype != want.dtype:
            return f"{name}: another type or shape"
        if want.dtype.kind in "iu":
            steps = numpy.abs(have.astype(numpy.int64) - want.astype(numpy.int64))
            if steps.size and steps.max() > name.startswith("q"):
                at = numpy.unravel_index(int(steps.argmax()), steps.shape)
                return f"{name}{list(map(int, at))}: {have[at]} instead of {want[at]}"
            continue
        scale = float(numpy.max(numpy.abs(want), initial=0.0))
        rtol, atol = NARROW.get(name[0], RTOL), NARROW.get(name[0], ATOL)
        error = numpy.abs(have - want) - rtol * numpy.abs(want)
        if error.size and not float(error.max()) <= atol * max(scale, 1.0):
            at = numpy.unravel_index(int(error.argmax()), error.shape)
            return f"{name}{list(map(int, at))}: {have[at]} instead of {want[at]}"
    return None


def one(name):
    import numpy
    import onnx

    case, target = name.rsplit(" ", 1)
    with bank.work_folder(os.path.join(BASE, target, case)) as work:
        for variant, (model, feeds) in enumerate(CASES[case]()):
            folder = bank.fresh(os.path.join(work, f"in{variant}"))
            path = os.path.join(work, f"{variant}.onnx")
            onnx.save(model, path)
            for key, value in feeds.items():
                numpy.save(os.path.join(folder, f"{key}.npy"), value)
            outcome, reference = run(work, f"ref{variant}", path, folder, "O0", target, 1)
            if reference is None:
                return outcome
            outcome, first = run(work, f"opt{variant}", path, folder, "O3", target, 1)
            if first is None:
                return outcome
            if wrong := differs(first, reference):
                return bank.Outcome(bank.FAIL, f"variant {variant}: {wrong}")
            outcome, second = run(work, f"opt{variant}", path, folder, "O3", target, 2)
            if second is None:
                return outcome
            for key in first:
                if first[key].tobytes() != second[key].tobytes():
                    return bank.Outcome(bank.FAIL, f"variant {variant}: {key} has other bits with two threads")
        return bank.Outcome(bank.PASS)


def main():
    update = "accepted for all banks; there is no list here"
    a = bank.parser(__doc__, "every case for every target", "cases and targets", update).parse_args()
    bank.need_tools("kernels")
    names = [
        f"{c} {t}"
        for i, c in enumerate(CASES)
        for j, t in enumerate(TARGETS)
        if re.search(a.filter, f"{c} {t}") and (a.all or a.filter or bank.turn(i + j, len(TARGETS)))
    ]
    record = bank.Record(
        os.path.join(BASE, "results.json"),
        bank.fingerprint(os.path.join(HERE, "run.py"), os.path.join(HERE, "cases.py")),
    )
    outcomes = bank.run_all(names, one, record, label="kernels")
    if a.report:
        bank.write_report(a.report, outcomes)
    bad = {n: o for n, o in sorted(outcomes.items()) if o.kind != bank.PASS}
    for n, o in bad.items():
        print(f"{o.kind} {n}: {o.reason or o.message}")
    return bank.closing_line("kernels", len(outcomes) - len(bad), len(bad), 0)


if __name__ == "__main__":
    sys.exit(main())
