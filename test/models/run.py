#!/usr/bin/env python3
"""Real models from the package index through optc at -O3, compared with ONNX Runtime without graph optimisations.

  run.py [--all] [--update] [--filter REGEX] [--report FILE]

Default: the small models; --all: every model of specs.py. NAME@sm90 is a model compiled for that GPU, in the emulator.
passing.txt holds the exact names that pass. A model that cannot be fetched is skipped, with the reason.
The time limit is 300 s to compile and 120 s to run."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
sys.path.insert(0, HERE)
import bank

BASE = os.path.join(bank.BUILD, "models")
SMALL = [
    "magika",
    "silero_op18",
    "minilm_l3",
    "attacut_op18",
    "ppocr2_cls",
    "bert_tiny_dyn",
    "gpt2_tiny_dyn",
    "resnet50_folded",
]
EMULATED = ["bert_tiny_dyn@sm90", "gpt2_tiny_dyn@sm90", "ppocr2_cls@sm90"]
RTOL, ATOL = 1e-3, 1e-4
# Rounded to float16 after every operator: some units in the last place.
TOLERANCES = {"slovorez_f16": (1e-3, 2e-3)}
# Quantized anew at run time in every layer, so that a last bit moves whole steps: ONNX Runtime with and without its graph
# optimisations differs by up to 6.9 in logits of up to 63 (t5_dec_i8). Compared by norm(difference) / norm(expected).
BY_NORM = {"t5_enc_i8": 0.1, "t5_dec_i8": 0.1}
# Squeezes an axis only where its size is 1, so ranks follow from sizes: compiled for those it is run with.
FLAGS = {"silero_op15": ["--shape", "input=1x576", "--shape", "state=2x1x128"]}


def file_name(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy"


def fetch(model):
    """Model and inputs in build/models; returns a reason when they cannot be had."""
    if os.path.exists(os.path.join(BASE, model + ".json")) and os.path.exists(os.path.join(BASE, model + ".onnx")):
        return ""
    p = subprocess.run([sys.executable, os.path.join(HERE, "fetch.py"), BASE, model], capture_output=True, text=True)
    return "" if p.returncode == 0 else (p.stderr.strip().splitlines() or ["fetch.py failed"])[-1]


def expect(model):
    """The oracle's outputs, made once: ONNX Runtime with all graph optimisations off, one thread."""
    folder = os.path.join(BASE, model + ".expected")
    if os.path.isdir(folder):
        return folder
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(os.path.join(BASE, model + ".onnx"), options, providers=["CPUExecutionProvider"])
    index = bank.read_json(os.path.join(BASE, model + ".json"))
    feeds = {n: np.load(os.path.join(BASE, model + ".inputs", f)) for n, f in index.items()}
    part = bank.fresh(folder + ".part")
    for info, value in zip(session.get_outputs(), session.run(None, feeds), strict=True):
        np.save(os.path.join(part, file_name(info.name)), value)
    os.rename(part, folder)
    return folder


def compare_norms(made, expected, most):
    """Every output within `most` of the expected one, relative to its norm; types and shapes equal."""
    import numpy as np

    for name in sorted(os.listdir(expected)):
        got, want = (np.load(os.path.join(folder, name)) for folder in (made, expected))
        if got.shape != want.shape or got.dtype != want.dtype:
            return bank.Outcome(bank.FAIL, f"{name} is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}")
        error = np.linalg.norm(got.astype(float) - want) / max(np.linalg.norm(want.astype(float)), 1e-30)
        if not error <= most:  # NaN is no match
            return bank.Outcome(bank.FAIL, f"{name} is {error:.3g} of its norm away, allowed: {most}")
    return bank.Outcome(bank.PASS)


def one(name):
    model, _, device = name.partition("@")
    expected = expect(model)
    with bank.work_folder(os.path.join(BASE, "work", name)) as work:
        artifact = os.path.join(work, "model.so")
        source, inputs = os.path.join(BASE, model + ".onnx"), os.path.join(BASE, model + ".inputs")
        extra, running = FLAGS.get(model, []), []
        if device:
            extra, running = [*extra, "--emulate-only"], ["--device=emulator"]
        outcome = bank.compile_model(source, artifact, "O3", timeout=300, target=device or "native", extra=extra)
        if outcome.kind != bank.PASS:
            return outcome
        if model in BY_NORM:
            made = bank.fresh(os.path.join(work, "made"))
            outcome = bank.run_artifact(artifact, inputs, output_dir=made, timeout=120)
            return compare_norms(made, expected, BY_NORM[model]) if outcome.kind == bank.PASS else outcome
        rtol, atol = TOLERANCES.get(model, (RTOL, ATOL))
        return bank.run_artifact(artifact, inputs, expect=expected, rtol=rtol, atol=atol, timeout=120, extra=running)


def main():
    a = bank.parser(__doc__, "every model of specs.py", "models").parse_args()
    bank.need_tools("models")
    os.makedirs(BASE, exist_ok=True)
    if a.all:
        import specs

        ids = [*specs.S, *EMULATED]
    else:
        ids = [*SMALL, *EMULATED]
    ids = [m for m in ids if re.search(a.filter, m)]
    missing = {m: why for m in ids if (why := fetch(m.partition("@")[0]))}
    missing = {m: f"it cannot be fetched: {why}" for m, why in missing.items()}
    for device in sorted({m.partition("@")[2] for m in ids} - {""}):
        if why := bank.lacks_for(device):
            missing.update({m: why for m in ids if m.endswith(f"@{device}")})
    for m, why in missing.items():
        print(f"models: {m} is skipped: {why}")
    record = bank.Record(os.path.join(BASE, "results.json"), bank.fingerprint(os.path.join(HERE, "run.py")))
    outcomes = bank.run_all([m for m in ids if m not in missing], one, record, jobs=1, label="models")
    for m, o in outcomes.items():
        print(f"models: {m:<20} {o.kind:<12} {o.seconds:6.1f} s  {o.reason}")
    if a.report:
        bank.write_report(a.report, outcomes)
    passing = bank.PassList(os.path.join(HERE, "passing.txt"))
    passed, failed, skipped = bank.judge(outcomes, passing, a.update, "models")
    return bank.closing_line("models", passed, failed, skipped + len(missing))


if __name__ == "__main__":
    sys.exit(main())
