#!/usr/bin/env python3
"""optc's kernels against ONNX Runtime's: models of one operator (kernel_models.py), with the share of the FMA peak for
contractions and of memcpy's rate for the others.

The time of a case is the smallest of single runs over some short fresh processes, taken in turns. Results:
build/bench/kernels.json and a table. Start it with bench/run kernels; docs/benchmarks.md says how to read it."""

import argparse
import os
import re
import shutil
import sys
import time

import contenders
import machine
import models
import stats


def case_row(name, case, n, peaks):
    """A row of the table: times, the ratio, and what share of what the machine can do."""
    entry = case["threads"].get(str(n), {"times": {}})
    times = {c: min(r["min_ms"] for r in reports) for c, reports in entry.get("processes", {}).items() if reports}
    contraction = case["group"] in ("gemm", "conv")
    gflop, size = case["facts"]["gflop"], case["bytes"]
    limit = peaks.fma.get(n) if contraction else peaks.copy.get((n, size))
    work = gflop if contraction else size * 1e-9
    row = [name, stats.number(gflop if contraction else size * 1e-6, 3, " GF" if contraction else " MB")]
    rate = lambda ms: work / (ms * 1e-3) if ms else None
    for c in case["order"]:
        ms = times.get(c)
        row.append(stats.number(None if ms is None else ms * 1e3, 4))
    for c in case["order"]:
        ms = times.get(c)
        row.append("–" if ms is None or case["group"] == "call" else stats.number(rate(ms)))
        row.append("–" if case["group"] == "call" else stats.percent(stats.share(work, ms, limit)))
    others = [c for c in times if c != "optc"]
    ratio = min(times[c] for c in others) / times["optc"] if others and "optc" in times else None
    case.setdefault("ratio", {})[str(n)] = ratio
    return row + [stats.number(ratio, 3, "×")]


def table(cases, names, n, peaks):
    """The table of one number of threads, with the geometric mean of each group."""
    header = ["case", "work"] + [f"{contenders.title(c)} µs" for c in names]
    for c in names:
        header += [f"{contenders.title(c)} G/s", "of peak"]
    rows = [case_row(name, case, n, peaks) for name, case in cases.items()]
    lines = [f"### {n} thread{'s' * (n > 1)}, FMA peak {stats.number(peaks.fma.get(n), 4)} GFLOP/s", ""]
    lines.append(stats.markdown(header + ["peer/optc"], rows))
    for group in ("gemm", "conv", "memory"):
        ratios = [r for c in cases.values() if c["group"] == group and (r := c["ratio"][str(n)])]
        if ratios:
            lines.append(
                f"\nGeometric mean of {len(ratios)} {group} (peer/optc): {stats.number(stats.geomean(ratios), 3, '×')}"
            )
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(
        prog="bench/run kernels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    p.add_argument("--list", action="store_true", help="print the names of the cases and measure nothing")
    p.add_argument("--threads", type=models.numbers, default=[1], help="numbers of threads (default 1)")
    p.add_argument(
        "--contenders", default="optc,onnxruntime", help="default: optc,onnxruntime; openvino is there as well"
    )
    models.common_options(p, 3, 0.2, "kernels.json")
    a = p.parse_args()
    builder = os.path.join(contenders.HERE, "kernel_models.py")
    known = contenders.last_json(contenders.process([sys.executable, builder, "--list"])[0])
    chosen = [n for n in known if re.search(a.filter, n)]
    if not chosen:
        p.error(f"--filter {a.filter}: no case matches; --list names them")
    if a.list:
        print("\n".join(chosen))
        return
    names = contenders.chosen(p, a)
    contenders.need_tools()
    work = os.path.join(machine.WORK, "kernels")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    cores, peaks, start = models.chosen_cores(a.threads), machine.Peaks(), time.time()
    settings = {"rounds": a.rounds, "seconds": a.seconds, "threads": a.threads}
    results = {**models.head(cores, settings, names), "cases": {}, "missing": {}}
    cases = contenders.last_json(contenders.process([sys.executable, builder, work, *chosen])[0])
    for i, (name, case) in enumerate(cases.items()):
        paths = [os.path.join(work, name + e) for e in (".onnx", ".json")]
        try:
            model = contenders.Model(name, *paths, os.path.join(work, name))
        except contenders.Failed as e:
            results["missing"][name] = str(e)
            continue
        say = lambda text: models.progress(f"[{time.time() - start:.0f} s] {i + 1} of {len(cases)}: {text}")
        case.update(contenders.measure(model, names, a.threads, a.rounds, a.seconds, cores, peaks, say), order=names)
        if case["group"] == "memory":
            for n in a.threads:
                peaks.measure_copy(cores[:n], case["bytes"])
        results["cases"][name] = case
        models.save(a.json, results)
    models.progress("")
    shutil.rmtree(work, ignore_errors=True)
    done = results["cases"]
    print("\n\n".join(table(done, names, n, peaks) for n in a.threads))
    if faults := models.faults({"models": done, "missing": results["missing"]}):
        print("\n" + faults)
    results["peak_gflops"] = {str(n): v for n, v in peaks.fma.items()}
    results["copy_gb_per_s"] = {f"{n} threads, {size} bytes": v for (n, size), v in peaks.copy.items()}
    models.save(a.json, results)
    print(f"\nEverything measured: {a.json}")


if __name__ == "__main__":
    main()
