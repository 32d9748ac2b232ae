#!/usr/bin/env python3
"""The unit bank: runs every GoogleTest program of build/bin/unit and adds up their tests."""

import os
import subprocess
import sys

import bank


def main():
    folder = os.path.join(bank.BIN, "unit")
    programs = sorted(n for n in os.listdir(folder) if not n.endswith(".so")) if os.path.isdir(folder) else []
    if not programs:
        print("unit: no tests yet")
        return bank.closing_line("unit", 0, 0, 1)
    passed = failed = skipped = 0
    for name in programs:
        out = os.path.join(bank.BUILD, "logs", f"unit-{name}.json")
        if os.path.exists(out):
            os.unlink(out)
        try:
            p = subprocess.run(
                [os.path.join(folder, name), f"--gtest_output=json:{out}", "--gtest_brief=1"], timeout=300
            )
            rc = p.returncode
        except subprocess.TimeoutExpired:
            rc = "no end after 300 s"
        if not os.path.exists(out):
            print(f"unit: {name} stopped before it wrote its results ({rc})")
            failed += 1
            continue
        r = bank.read_json(out)
        off = sum(t.get("result") in ("SKIPPED", "SUPPRESSED") for s in r["testsuites"] for t in s["testsuite"])
        bad = r["failures"] + r.get("errors", 0)
        passed, failed, skipped = passed + r["tests"] - bad - off, failed + bad, skipped + off
        if rc != 0 and not bad:
            print(f"unit: {name} ended with {rc}")
            failed += 1
    return bank.closing_line("unit", passed, failed, skipped)


if __name__ == "__main__":
    sys.exit(main())
