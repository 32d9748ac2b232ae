#!/usr/bin/env python3
"""The docs bank: in README.md and docs/, every link to a file of the tree leads somewhere, every `--flag` shown after optc,
optc-run or check is one the tool knows, and every fenced block marked `sh run` does what it says (exit code 0)."""

import glob
import os
import re
import subprocess
import sys

import bank

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
RUN = re.compile(r"^```sh run\n(.*?)^```", re.M | re.S)
USE = re.compile(r"(?:^|[\s`/])(optc|optc-run|optc-opt)((?: [^\n`|]*)?)")


def known_flags(tool):
    p = subprocess.run([os.path.join(bank.BIN, tool), "--help"], capture_output=True, text=True)
    return set(re.findall(r"--[a-z][a-z0-9-]*", p.stdout + p.stderr))


def faults(path, text, flags):
    for target in LINK.findall(text):
        if not os.path.exists(os.path.join(os.path.dirname(path), target)):
            yield f"links to {target}, which is not there"
    for tool, rest in USE.findall(text):
        for flag in re.findall(r"(?<=[\s\[])--[a-z][a-z0-9-]*", rest):
            if tool in flags and flag not in flags[tool]:
                yield f"shows {tool} {flag}, which the tool does not know"
    for block in RUN.findall(text):
        env = {**os.environ, "PATH": bank.BIN + os.pathsep + os.environ["PATH"]}
        p = subprocess.run(
            ["bash", "-e", "-c", block], cwd=bank.ROOT, env=env, capture_output=True, text=True, timeout=300
        )
        if p.returncode:
            yield f"has commands that end with {p.returncode}: {(p.stderr or p.stdout).strip()[-300:]}"


def main():
    flags = {t: known_flags(t) for t in ("optc", "optc-run") if os.access(os.path.join(bank.BIN, t), os.X_OK)}
    pages = [
        os.path.join(bank.ROOT, "README.md"),
        *sorted(glob.glob(os.path.join(bank.ROOT, "docs", "**", "*.md"), recursive=True)),
    ]
    passed = failed = 0
    for page in pages:
        found = (
            list(faults(page, open(page, encoding="utf-8").read(), flags)) if os.path.exists(page) else ["is missing"]
        )
        for f in found:
            print(f"docs: {os.path.relpath(page, bank.ROOT)} {f}")
        passed, failed = passed + (not found), failed + bool(found)
    return bank.closing_line("docs", passed, failed, 0)


if __name__ == "__main__":
    sys.exit(main())
