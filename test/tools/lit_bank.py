#!/usr/bin/env python3
"""The lit bank: runs Debian's lit on test/ and closes with the bank's line."""

import os
import subprocess
import sys

import bank

LIT = next((p for p in ("/usr/lib/llvm-22/bin/lit", "/usr/lib/llvm-22/utils/lit/lit.py") if os.path.exists(p)), None)
TESTED = ("dialects", "passes", "compiler", "codegen", "runtime", "tools", "bench", "examples")


def main():
    if LIT is None:
        print("lit: LLVM's lit is missing (Debian: llvm-22-tools)")
        return bank.closing_line("lit", 0, 1, 0)
    folders = [d for t in TESTED if os.path.isdir(d := os.path.join(bank.ROOT, "test", t))]
    files = [f for d in folders for _, _, names in os.walk(d) for f in names if f.endswith((".mlir", ".test"))]
    if not files:
        print("lit: no tests yet")
        return bank.closing_line("lit", 0, 0, 1)
    out = os.path.join(bank.BUILD, "logs", "lit.json")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    if os.path.exists(out):
        os.unlink(out)
    rc = subprocess.call(
        [sys.executable, LIT, "-s", "-v", "--no-progress-bar", "-j2", "-o", out, os.path.join(bank.ROOT, "test")],
        env={**os.environ, "OPTC_BUILD": bank.BUILD},
    )
    if not os.path.exists(out):
        print(f"lit: stopped with exit code {rc} before it wrote its results")
        return bank.closing_line("lit", 0, 1, 0)
    codes = [t["code"] for t in bank.read_json(out)["tests"]]
    passed = sum(c in ("PASS", "XFAIL", "FLAKYPASS") for c in codes)
    skipped = sum(c in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for c in codes)
    return bank.closing_line("lit", passed, len(codes) - passed - skipped, skipped)


if __name__ == "__main__":
    sys.exit(main())
