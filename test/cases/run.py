#!/usr/bin/env python3
"""Small models, each standing for a kind of trouble that users reported: right values, or a refusal that names what is wrong.

  run.py [--all] [--update] [--filter REGEX] [--report FILE]

A case is a folder in the suite's layout plus case.json: `expectation` values or refuse, `also_ok` the other outcome where the
standard allows both, `keywords` of which a refusal must name one, `rtol`, `atol`, `max_artifact_bytes`. Each runs at -O0 and at
-O3; passing.txt holds the exact names that pass."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
import bank

BASE = os.path.join(bank.BUILD, "cases")


def refusal(case, outcome):
    """A refusal is right when it is expected or allowed, and names one of the case's keywords."""
    if "refuse" not in (case["expectation"], case["also_ok"]):
        return outcome
    text = outcome.message.lower()
    if case["keywords"] and not any(k.lower() in text for k in case["keywords"]):
        return bank.Outcome(bank.FAIL, f"the refusal names none of {case['keywords']}: {outcome.reason}")
    return bank.Outcome(bank.PASS)


def values(case, folder, artifact):
    """Compiled: within the size limit, and every data set gives the expected values."""
    limit = case["max_artifact_bytes"]
    if limit and os.path.getsize(artifact) > limit:
        return bank.Outcome(bank.FAIL, f"the artifact has {os.path.getsize(artifact)} bytes, more than {limit}")
    for data in sorted(d for d in os.listdir(folder) if d.startswith("test_data_set_")):
        data = os.path.join(folder, data)
        has_expected = any(n.startswith("output_") for n in os.listdir(data))
        outcome = bank.run_artifact(
            artifact, data, expect=data if has_expected else None, rtol=case["rtol"], atol=case["atol"]
        )
        if outcome.kind == bank.UNSUPPORTED:
            return refusal(case, outcome)
        if outcome.kind != bank.PASS:
            return outcome
    if "values" in (case["expectation"], case["also_ok"]):
        return bank.Outcome(bank.PASS)
    return bank.Outcome(bank.FAIL, "the model was to be refused, but it compiled and ran")


def one(name):
    case_name, level = name.rsplit(" -", 1)
    folder = os.path.join(HERE, case_name)
    case = bank.read_json(os.path.join(folder, "case.json"))
    with bank.work_folder(os.path.join(BASE, level, case_name)) as work:
        artifact = os.path.join(work, "model.so")
        outcome = bank.compile_model(os.path.join(folder, "model.onnx"), artifact, level)
        if outcome.kind == bank.UNSUPPORTED:
            return refusal(case, outcome)
        return values(case, folder, artifact) if outcome.kind == bank.PASS else outcome


def main():
    a = bank.parser(__doc__, "the same as the default: every case runs anyway", "cases").parse_args()
    bank.need_tools("cases")
    cases = sorted(d for d in os.listdir(HERE) if os.path.exists(os.path.join(HERE, d, "case.json")))
    names = [f"{c} -{level}" for c in cases for level in ("O3", "O0") if re.search(a.filter, c)]
    record = bank.Record(os.path.join(BASE, "results.json"), bank.fingerprint(os.path.join(HERE, "run.py")))
    outcomes = bank.run_all(names, one, record, label="cases")
    if a.report:
        bank.write_report(a.report, outcomes)
    passing = bank.PassList(os.path.join(HERE, "passing.txt"))
    return bank.closing_line("cases", *bank.judge(outcomes, passing, a.update, "cases"))


if __name__ == "__main__":
    sys.exit(main())
