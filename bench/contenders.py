"""The contenders: each prepares a model once (optc compiles it) and then runs it in fresh processes pinned to cores."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

import machine
import stats

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "worker.py")
OPTC, OPTC_RUN = (os.path.join(machine.BUILD, "bin", t) for t in ("optc", "optc-run"))

with open(os.path.join(HERE, "peers.toml"), "rb") as _f:
    SETTINGS = tomllib.load(_f)


class Failed(Exception):
    """A contender that cannot do a model, with what it said."""


def process(command, cores=None, timeout=600):
    """Runs a command; returns its standard output, or raises Failed with the line that tells why. Also seconds and peak
    memory of the process (which counts this process' own before exec: it has to stay small)."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        p = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
        )
        watchdog = threading.Timer(timeout, p.kill)
        watchdog.start()
        try:
            _, status, usage = os.wait4(p.pid, 0)
        finally:
            watchdog.cancel()
        seconds = time.perf_counter() - start
        p.returncode = rc = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if rc:
            lines = [l.strip() for l in err.read().splitlines() if l.strip()] or [l.strip() for l in out if l.strip()]
            # Python says it last, the tools first.
            why = (lines[-1] if command[0] == sys.executable else lines[0]) if lines else "no message"
            if seconds >= timeout:
                why = f"no end after {timeout:.0f} s"
            raise Failed(f"exit code {rc}: {why[:300]}")
        return out.read(), seconds, usage.ru_maxrss * 1024


def last_json(text):
    """The object on the last line of a program's output."""
    try:
        return json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise Failed(f"no JSON object but: {text.strip()[-200:]}") from None


def worker(*args, cores=None, timeout=600):
    """worker.py in a fresh process."""
    return last_json(process([sys.executable, WORKER, *map(str, args)], cores, timeout)[0])


class Model:
    """A model with its inputs, and what the oracle says of it. `folder` holds what is made while measuring."""

    def __init__(self, name, onnx, index, folder):
        self.name, self.onnx, self.index, self.folder = name, onnx, index, folder
        self.expected = os.path.join(folder, "expected")
        os.makedirs(folder, exist_ok=True)
        self.facts = worker("oracle", onnx, index, "--output-dir", self.expected)

    @property
    def inputs(self):
        return self.index.removesuffix(".json") + ".inputs"

    def forms(self, contender):
        """The forms of shapes to try."""
        known = SETTINGS[contender]["shapes"]
        return known if self.facts["dynamic"] else known[:1]


class Optc:
    """optc and optc-run of this tree."""

    name = "optc"

    def prepare(self, model, form):
        artifact = os.path.join(model.folder, f"{form}.so")
        command = [OPTC, model.onnx, "-o", artifact, *SETTINGS["optc"]["flags"]]
        if form == "static" and model.facts["dynamic"]:
            for name, shape in model.facts["inputs"].items():
                if shape:
                    command.append(f"--shape={name}={'x'.join(map(str, shape))}")
        _, seconds, peak = process(command)
        size = os.path.getsize(artifact)
        return {"artifact": artifact, "compile_s": seconds, "compile_rss_bytes": peak, "deployable_bytes": size}

    def run(self, model, prepared, form, threads, cores, seconds, output_dir=None):
        command = [OPTC_RUN, prepared["artifact"], "--inputs-dir", model.inputs, f"--bench={seconds}", "--json"]
        command += [f"--threads={threads}"] + (["--output-dir", output_dir] if output_dir else [])
        result = last_json(process(command, cores)[0])
        # A native program has nothing to take off: no interpreter.
        return {**result, "net_rss_bytes": result["peak_rss_bytes"]}


class Peer:
    """A peer, through worker.py."""

    def __init__(self, name):
        self.name = name

    def prepare(self, model, form):
        return {}

    def run(self, model, prepared, form, threads, cores, seconds, output_dir=None):
        args = ["--threads", threads, "--shapes", form, "--seconds", seconds]
        args += ["--symbols", json.dumps(model.facts["symbols"])] + (["--output-dir", output_dir] if output_dir else [])
        result = worker(self.name, model.onnx, model.index, *args, cores=cores)
        prepared["deployable_bytes"] = os.path.getsize(model.onnx) + result.pop("library_bytes")
        prepared["libraries"] = result.pop("libraries")
        return result


ALL = {"optc": Optc(), "onnxruntime": Peer("onnxruntime"), "openvino": Peer("openvino")}


def title(name):
    """How a contender is called in tables."""
    return SETTINGS[name]["title"]


def checked_run(contender, model, prepared, form, threads, cores, seconds):
    """A run whose outputs are compared with the oracle's; Failed when they differ."""
    out = os.path.join(model.folder, "out-" + contender.name)
    shutil.rmtree(out, ignore_errors=True)
    report = contender.run(model, prepared, form, threads, cores, seconds, out)
    verdict = worker("compare", out, model.expected)
    shutil.rmtree(out, ignore_errors=True)
    if not verdict["right"]:
        raise Failed("wrong: " + verdict["why"])
    return {**report, "error": verdict["error"]}


def choose_form(contender, model, cores, seconds):
    """Prepares the model in every form and returns the fastest right one: (form, prepared, {form: ms or why not})."""
    best, tried, failure = None, {}, None
    for form in model.forms(contender.name):
        try:
            prepared = contender.prepare(model, form)
            report = checked_run(contender, model, prepared, form, 1, cores[:1], seconds)
        except Failed as e:
            tried[form], failure = str(e), failure or e
            continue
        tried[form] = report["min_ms"]
        prepared["error"] = report["error"]
        if best is None or report["min_ms"] < tried[best[0]]:
            best = form, prepared
    if best is None:
        raise failure
    return *best, tried


def measure(model, names, threads, rounds, seconds, cores, peaks, progress=lambda text: None):
    """Everything about one model: {facts, contenders, threads: {n: {times, ratios, processes}}}. A contender that is
    refused, wrong or fails is reported with the reason and not timed."""
    result = {"facts": model.facts, "contenders": {}, "threads": {}}
    ready = {}
    for name in names:
        progress(f"{model.name}: {title(name)} prepares")
        try:
            form, prepared, tried = choose_form(ALL[name], model, cores, min(seconds, 0.3))
            ready[name] = form, prepared
            result["contenders"][name] = {"status": "ok", "shapes": form, "tried": tried}
        except Failed as e:
            status = "wrong" if str(e).startswith("wrong: ") else "refused"
            result["contenders"][name] = {"status": status, "why": str(e)}
    for n in threads:
        pinned, reports, running = cores[:n], {name: [] for name in ready}, list(ready)
        for r in range(rounds):
            progress(f"{model.name}: {n} threads, round {r + 1} of {rounds}")
            peaks.measure_fma(pinned)
            for name in running[r % len(running) :] + running[: r % len(running)] if running else ():
                form, prepared = ready[name]
                try:
                    if r == 0:
                        report = checked_run(ALL[name], model, prepared, form, n, pinned, seconds)
                    else:
                        report = ALL[name].run(model, prepared, form, n, pinned, seconds)
                    reports[name].append(report)
                except Failed as e:
                    reports.pop(name)
                    result["contenders"][name].setdefault("failures", {})[str(n)] = str(e)
            running = [name for name in running if name in reports]
        times = {name: stats.over_processes(r) for name, r in reports.items() if r}
        result["threads"][str(n)] = {"times": times, "ratios": stats.ratios(times), "processes": reports}
    for name, (form, prepared) in ready.items():
        result["contenders"][name].update({k: v for k, v in prepared.items() if k != "artifact"})
    return result


def chosen(p, a):
    """The names given with --contenders; ends the program with what is wrong about them, or about --rounds."""
    names = a.contenders.split(",")
    for n in names:
        if n not in ALL:
            p.error(f"--contenders: there is no '{n}'; there are: {', '.join(ALL)}")
    if a.rounds < 1:
        p.error("--rounds: 1 or more")
    return names


def need_tools():
    """Ends the benchmark when the tools were not built."""
    for tool in (OPTC, OPTC_RUN):
        if not os.access(tool, os.X_OK):
            sys.exit(f"bench: {os.path.relpath(tool, machine.ROOT)} is missing: run ./check build first")
