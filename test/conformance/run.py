#!/usr/bin/env python3
"""The official ONNX backend suite through optc: compile, run, compare.

  run.py [--all] [--update] [--level O3 [--variant hidden]] [--filter REGEX] [--report FILE]

Default: every test at -O3, a tenth, chosen by the commit, at -O0, and a fixed twentieth at the level sm90: -O3 for that GPU, on
the emulator, with all of the test's computation on the device. --all: every test at each, and at -O3 the variants of variants.py
and `old`, the node tests of onnx 1.12 (opsets 1 to 17). passing-O3.txt, passing-O0.txt, passing-sm90.txt and
passing-O3-VARIANT.txt hold the exact names that pass.
--report writes one line per test that does not: run, class, name, message."""

import functools
import os
import re
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
sys.path.insert(0, HERE)
import bank
import rules

BASE = os.path.join(bank.BUILD, "conformance")
VARIANTS = ["plain", "hidden", "symbolic", "old"]
DEVICES = ["sm90"]  # levels that are targets


def in_slice(name, level):
    """Whether a run without --all has the test at this level."""
    number = zlib.crc32(name.encode())
    return number % 20 == 7 if level in DEVICES else bank.turn(number, 10) if level == "O0" else True


class Suite:
    """The tests on disk, and how to run one of them."""

    def __init__(self, folder, index):
        self.folder, self.tests = folder, index["tests"]

    def data_sets(self, name):
        root = os.path.join(self.folder, name)
        return sorted(os.path.join(root, d) for d in os.listdir(root) if d.startswith("test_data_set_"))

    def one(self, name, level, variant, extra):
        """Compiles and runs the test `name`."""
        model = os.path.join(self.folder, name, "model.onnx")
        with bank.work_folder(os.path.join(BASE, "work", f"{level}-{variant}", name)) as work:
            artifact = os.path.join(work, "model.so")
            if variant in ("hidden", "symbolic"):
                import variants

                model, given = os.path.join(work, "model.onnx"), model
                variants.rewrite(given, model, variant)
            if level in DEVICES:
                outcome, running = self.compile_for(level, model, artifact, extra), ["--device=emulator"]
            else:
                outcome, running = bank.compile_model(model, artifact, level, extra=extra), []
            for data in self.data_sets(name):
                if outcome.kind == bank.PASS:
                    outcome = self.compare(name, artifact, data, work, running)
            return outcome

    def compile_for(self, device, model, artifact, extra):
        """For the emulator. What leaves computation to the CPU, or has none, does not count as supported."""
        report = artifact + ".json"
        extra = ["--emulate-only", f"--report={report}", *extra]
        outcome = bank.compile_model(model, artifact, "O3", target=device, extra=extra)
        if outcome.kind != bank.PASS:
            return outcome
        made = bank.read_json(report)
        if made["host_fallbacks"]:
            return bank.Outcome(bank.UNSUPPORTED, made["host_fallbacks"][0])
        if not any(k["family"].startswith("cuda-") for k in made["kernels"]):
            return bank.Outcome(bank.UNSUPPORTED, "nothing to compute")
        return outcome

    def compare(self, name, artifact, data, work, running):
        rtol, atol = rules.tolerances(name, self.tests[name])
        if rules.RANDOM.match(name):
            return self.by_property("bernoulli", name, artifact, data, work, running)
        outcome = bank.run_artifact(artifact, data, expect=data, rtol=rtol, atol=atol, extra=running)
        if outcome.kind == bank.FAIL and rules.DROPOUT.match(name):
            return self.by_property("dropout", name, artifact, data, work, running)
        return outcome

    def by_property(self, which, name, artifact, data, work, running):
        import onnx
        import properties

        runs = [bank.fresh(os.path.join(work, r)) for r in ("first", "second")]
        for r in runs:
            outcome = bank.run_artifact(artifact, data, output_dir=r, extra=running)
            if outcome.kind != bank.PASS:
                return outcome
        graph = onnx.load(os.path.join(self.folder, name, "model.onnx")).graph
        try:
            why = getattr(properties, which)(graph, data, runs)
        except (OSError, ValueError) as e:
            why = f"the outputs cannot be read: {e}"
        return bank.Outcome(bank.FAIL if why else bank.PASS, why)


def runs(a):
    """The pairs of level and variant that the arguments ask for."""
    if a.level:
        return [(level, a.variant) for level in a.level]
    plain = [("O3", "plain"), ("O0", "plain"), ("sm90", "plain")]
    return plain + [("O3", v) for v in VARIANTS[1:]] if a.all else plain


def write_report(path, results):
    with open(path, "w") as f:
        for run, outcomes in results.items():
            rows = sorted((o.kind, o.reason, n) for n, o in outcomes.items() if o.kind != bank.PASS)
            for kind, message, name in rows:
                f.write(f"{run}\t{kind}\t{name}\t{message}\n")


def main():
    p = bank.parser(__doc__, "every test at -O0 too, and the variants", "tests", "add newly passing tests to the lists")
    p.add_argument("--level", action="append", choices=["O0", "O1", "O2", "O3", *DEVICES], help="only this level")
    p.add_argument("--variant", choices=VARIANTS, default="plain", help="with --level")
    p.add_argument("--suite", default=os.path.join(BASE, "suite"))
    p.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 2))
    p.add_argument("--optc-flag", action="append", default=[], help="hand this to optc as well")
    a = p.parse_args()
    bank.need_tools("conformance")

    import suite

    index = suite.ready(a.suite)
    if index is None:
        print("conformance: writing the suite to disk", flush=True)
        index = suite.ensure(a.suite)
    key = bank.fingerprint(*(os.path.join(HERE, f"{f}.py") for f in ("rules", "properties", "run", "variants")))
    key += " ".join(a.optc_flag)
    results, total = {}, [0, 0, 0]
    for level, variant in runs(a):
        tests = Suite(a.suite, index)
        if variant == "old":
            if not os.path.isdir(suite.OLD):
                print(f"conformance: the old node tests are not in {suite.OLD}: apt-get install {suite.OLD_PACKAGE}")
                total[1] += 1
                continue
            tests = Suite(suite.OLD, suite.old_index())
        names = [n for n in tests.tests if re.search(a.filter, n)]
        if level in DEVICES and (why := bank.lacks_for(level)):
            print(f"conformance at {level} is skipped: {why}")
            total[2] += 1
            continue
        if level in DEVICES:  # one of the large models takes the emulator minutes
            names = [n for n in names if not n.startswith("light/")]
        if not (a.all or a.level or a.filter):
            names = [n for n in names if in_slice(n, level)]
        run = level if variant == "plain" else f"{level}-{variant}"
        label = f"conformance at {run if level in DEVICES else '-' + run}"
        record = bank.Record(os.path.join(BASE, f"results-{run}.json"), key)
        one = functools.partial(tests.one, level=level, variant=variant, extra=a.optc_flag)
        outcomes = results[run] = bank.run_all(names, one, record, a.jobs, label)
        passing = bank.PassList(os.path.join(HERE, f"passing-{run}.txt"))
        for gone in sorted(passing.names - tests.tests.keys()):
            print(f"{label}: listed, but not a test of the suite: {gone}")
            total[1] += 1
        total = [x + y for x, y in zip(total, bank.judge(outcomes, passing, a.update, label))]
    if a.report:
        write_report(a.report, results)
    return bank.closing_line("conformance", *total)


if __name__ == "__main__":
    sys.exit(main())
