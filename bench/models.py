#!/usr/bin/env python3
"""optc against ONNX Runtime and OpenVINO on real models in f32: time, ratio, share of the FMA peak, load, memory, size.

Fresh processes of the contenders take turns; a contender's time is the median of the minima of its processes. The
results go to build/bench/results.json, the tables to standard output. Start it with bench/run; docs/benchmarks.md says
how to read it.
"""

import argparse
import importlib.metadata
import json
import os
import re
import shutil
import sys
import time

import contenders
import machine
import stats

TEST_MODELS = os.path.join(machine.ROOT, "test", "models")
MODELS = os.path.join(machine.BUILD, "models")
# Static shapes or one symbolic dimension, all f32.
TIER1 = (
    "magika rapid_orient ppocr2_cls ddddocr_det ppocr4_det ppocr4_rec silero_op18 silero_seq basic_pitch lac_gru "
    "deepcut attacut_op18 minilm_l3 minilm_l6 resnet50_bn resnet50_folded mobilenetv2_bn mobilenetv2_folded "
    "bert_base_s128 gpt2s_kv512 bert_tiny_dyn gpt2_tiny_dyn"
).split()


def progress(text):
    """A line that replaces itself on a terminal, nothing elsewhere: the tables are the output."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def fetch(name):
    """Model and inputs in build/models, where the models bank has them as well; the reason when they cannot be had."""
    paths = [os.path.join(MODELS, name + e) for e in (".onnx", ".json")]
    if not all(map(os.path.exists, paths)):
        progress(f"{name}: fetch")
        os.makedirs(MODELS, exist_ok=True)
        contenders.process([sys.executable, os.path.join(TEST_MODELS, "fetch.py"), MODELS, name])
    return paths


def time_row(name, r, entry, peak):
    """A row of the table of times."""
    times, ratios = entry["times"], entry["ratios"]
    cell = lambda c, key, d=3: stats.number(times.get(c, {}).get(key), d)
    ratio = lambda c, key: stats.number(ratios.get(c, {}).get(key), 3, "×")
    gflop = r["facts"]["gflop"]
    shares = [stats.percent(stats.share(gflop, times.get(c, {}).get("min_ms"), peak)) for c in contenders.ALL]
    return [
        name,
        stats.number(gflop),
        *(cell(c, "min_ms") for c in contenders.ALL),
        *(ratio(c, "min_ms") for c in ("onnxruntime", "openvino", "best")),
        ratio("best", "p50_ms"),
        *shares,
    ]


def mean_row(label, entries, key):
    """The geometric means of the ratios over the models that both sides do."""
    row = [label, "", "", "", ""]
    for c in ("onnxruntime", "openvino", "best"):
        values = [e["ratios"][c][key] for e in entries if c in e["ratios"]]
        row.append(stats.number(stats.geomean(values), 3, "×"))
    values = [e["ratios"]["best"]["p50_ms"] for e in entries if "best" in e["ratios"]]
    return row + [stats.number(stats.geomean(values), 3, "×") if key == "min_ms" else "", "", "", ""]


def times_table(results, n):
    """The table of one number of threads, with geometric means."""
    peak = results["peak_gflops"].get(str(n))
    rows, entries = [], []
    for name, r in results["models"].items():
        if str(n) in r["threads"]:
            entry = r["threads"][str(n)]
            entries.append(entry)
            rows.append(time_row(name, r, entry, peak))
    means = {c: sum(c in e["ratios"] for e in entries) for c in ("onnxruntime", "openvino", "best")}
    rows.append(mean_row("geometric mean", entries, "min_ms"))
    rows.append(mean_row("… of p50", entries, "p50_ms"))
    header = ["model", "GFLOP", "optc ms", "ORT ms", "OV ms", "ORT/optc", "OV/optc", "best/optc", "best/optc p50"]
    header += ["optc peak", "ORT peak", "OV peak"]
    heading = f"### {n} thread{'s' * (n > 1)}, FMA peak {stats.number(peak, 4)} GFLOP/s\n\n"
    counts = f"{means['onnxruntime']} models (ORT), {means['openvino']} (OV), {means['best']} (best)"
    return f"{heading}{stats.markdown(header, rows)}\n\nGeometric means over {counts}."


def costs_table(results, n):
    """Load time, memory and size."""
    rows = []
    mega = lambda v: stats.number(None if v is None else v / 1e6)
    for name, r in results["models"].items():
        times = r["threads"].get(str(n), {}).get("times", {})
        own = r["contenders"].get("optc", {})
        get = lambda c, k: times.get(c, {}).get(k)
        size = lambda c: mega(r["contenders"].get(c, {}).get("deployable_bytes"))
        row = [name, *(stats.number(get(c, "load_ms")) for c in contenders.ALL)]
        row += [mega(get(c, "net_rss_bytes")) for c in contenders.ALL] + [size(c) for c in contenders.ALL]
        rows.append(row + [stats.number(own.get("compile_s")), mega(own.get("compile_rss_bytes"))])
    header = ["model"] + [f"{c} {what}" for what in ("load ms", "RSS MB", "size MB") for c in ("optc", "ORT", "OV")]
    header += ["compile s", "compile RSS MB"]
    return f"### Load, memory ({n} thread{'s' * (n > 1)}) and deployable size\n\n" + stats.markdown(header, rows)


def faults(results):
    """What is not in the tables, and why."""
    lines = [f"- {m}: not measured: {why}" for m, why in results["missing"].items()]
    for name, r in results["models"].items():
        for c, info in r["contenders"].items():
            if info["status"] != "ok":
                lines.append(f"- {name}: {contenders.title(c)}: {info['status']}: {info['why']}")
            for n, why in info.get("failures", {}).items():
                lines.append(f"- {name}: {contenders.title(c)} with {n} threads: {why}")
    return "### Not timed\n\n" + "\n".join(lines) if lines else ""


def tables(results):
    """All of it as markdown."""
    counts = results["settings"]["threads"]
    parts = [times_table(results, n) for n in counts] + [costs_table(results, counts[0]), faults(results)]
    return "\n\n".join(p for p in parts if p)


def save(path, results):
    """Written after every model, so that a run that is cut short leaves what it has."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".tmp", "w") as f:
        json.dump(results, f, indent=1)
    os.replace(path + ".tmp", path)


def numbers(text):
    """1,2 -> [1, 2]"""
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f"'{text}': numbers like 1,2 are expected")
    return [int(n) for n in text.split(",")]


def positive(text):
    """A number of seconds above 0."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}': a number of seconds above 0 is expected")
    return value


def common_options(p, rounds, seconds, output):
    """The options that the model and the kernel benchmark share."""
    p.add_argument("--rounds", type=int, default=rounds, help=f"fresh processes per contender (default {rounds})")
    p.add_argument("--seconds", type=positive, default=seconds, help=f"time of one process (default {seconds})")
    p.add_argument(
        "--json",
        default=os.path.relpath(os.path.join(machine.WORK, output)),
        help=f"results (default build/bench/{output})",
    )


def chosen_cores(threads):
    """Cores for so many threads, or the end of the program."""
    cores = machine.cores()
    if max(threads) > len(cores):
        sys.exit(f"bench: --threads {max(threads)}: this process may use {len(cores)} physical cores")
    return cores[: max(threads)]


def head(cores, settings, names):
    """The part of the results that says where they come from."""
    facts = machine.describe(cores)
    machine.warn_if_busy(facts)
    versions = {n: importlib.metadata.version(n) for n in names if n != "optc"}
    return {"machine": facts, "settings": settings, "versions": versions, "peers": contenders.SETTINGS}


def main():
    p = argparse.ArgumentParser(
        prog="bench/run models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--models", default=",".join(TIER1), help="names from test/models/specs.py, with commas")
    p.add_argument("--threads", type=numbers, default=[1, 2], help="numbers of threads (default 1,2)")
    p.add_argument("--contenders", default=",".join(contenders.ALL), help="default: all three")
    p.add_argument("--table", metavar="FILE", help="print the tables of earlier results and measure nothing")
    common_options(p, 7, 1.0, "results.json")
    a = p.parse_args()
    if a.table:
        try:
            with open(a.table) as f:
                print(tables(json.load(f)))
        except (OSError, ValueError, KeyError) as e:
            p.error(f"--table {a.table}: no results of bench/run models: {e}")
        return
    names = contenders.chosen(p, a)
    contenders.need_tools()
    os.makedirs(machine.WORK, exist_ok=True)
    cores, peaks, start = chosen_cores(a.threads), machine.Peaks(), time.time()
    settings = {"rounds": a.rounds, "seconds": a.seconds, "threads": a.threads}
    results = {**head(cores, settings, names), "peak_gflops": {}, "models": {}, "missing": {}}
    for i, name in enumerate(a.models.split(",")):
        folder = os.path.join(machine.WORK, "work", name)
        try:
            model = contenders.Model(name, *fetch(name), folder)
        except contenders.Failed as e:
            results["missing"][name] = str(e)
            continue
        say = lambda text: progress(f"[{time.time() - start:.0f} s] {i + 1}: {text}")
        r = contenders.measure(model, names, a.threads, a.rounds, a.seconds, cores, peaks, say)
        shutil.rmtree(folder, ignore_errors=True)
        results["models"][name] = r
        results["peak_gflops"] = {str(n): v for n, v in peaks.fma.items()}
        save(a.json, results)
        progress("")
        if not sys.stderr.isatty():
            print(f"[{time.time() - start:.0f} s] {name} done", file=sys.stderr, flush=True)
    save(a.json, results)
    print(tables(results))
    print(f"\nEverything measured: {a.json}")


if __name__ == "__main__":
    main()
