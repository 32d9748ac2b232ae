"""What the test banks share: running optc and optc-run, classifying what they did, remembering it, and the closing line."""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("OPTC_BUILD", os.path.join(ROOT, "build"))
BIN = os.path.join(BUILD, "bin")

PASS, FAIL, UNSUPPORTED, CRASH, TIMEOUT = "PASS", "FAIL", "UNSUPPORTED", "CRASH", "TIMEOUT"
MEMORY_LIMIT = 12 << 30  # a run-away compile must not take the machine with it


@dataclasses.dataclass
class Outcome:
    """What a test came to: one of the five classes, what the tool said, and the seconds it took."""

    kind: str
    message: str = ""
    seconds: float = 0.0

    @property
    def reason(self):
        """The line that says what is wrong: the first with 'error', else the first."""
        lines = [l.strip() for l in self.message.splitlines() if l.strip()]
        return next((l for l in lines if "error" in l.lower()), lines[0] if lines else "")[:400]


def closing_line(name, passed, failed, skipped):
    """Prints a bank's last line and returns its exit code."""
    print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


def read_json(path):
    """The content of a JSON file."""
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def _limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def command(args, timeout, cwd=None):
    """Runs a command in its own process group; returns (exit code or None after the time limit, its stderr or stdout)."""
    p = subprocess.Popen(
        args,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_limits,
    )
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return None, f"no end after {timeout} s"
    text = err.decode("utf-8", "replace").strip() or out.decode("utf-8", "replace").strip()
    return p.returncode, text[:4000]


def classify(rc, text, running):
    """The class of an exit code by the tools' contract; exit 1 must come with a sentence."""
    if rc == 0:
        return Outcome(PASS)
    if rc is None:
        return Outcome(TIMEOUT, text)
    if rc == 1 and text:
        return Outcome(UNSUPPORTED, text)
    if rc == 3 and running:
        return Outcome(FAIL, text)
    why = f"signal {-rc}" if rc < 0 else f"exit code {rc}"
    tool = "optc-run" if running else "optc"
    return Outcome(CRASH, f"{tool}: {why}: {Outcome(CRASH, text).reason}")


def compile_model(model, artifact, level, timeout=60, target="native", extra=()):
    """optc on one model."""
    rc, text = command(
        [os.path.join(BIN, "optc"), model, "-o", artifact, f"-{level}", f"--target={target}", *extra],
        timeout,
        cwd=os.path.dirname(os.path.abspath(artifact)),
    )
    return classify(rc, text, running=False)


def lacks_for(device):
    """What this machine lacks to compile for a GPU (NVIDIA's libdevice); empty when it can."""
    folder = fresh(os.path.join(BUILD, f"exp-{device}"))
    model = os.path.join(folder, "exp.mlir")
    with open(model, "w") as f:
        f.write(
            'func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {\n'
            '  %0 = "onnx.Exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
            "  return %0 : tensor<4xf32>\n}\n"
        )
    flags = [f"--target={device}", "--emulate-only", "-o", os.path.join(folder, "exp.so")]
    rc, text = command([os.path.join(BIN, "optc"), model, *flags], timeout=60)
    shutil.rmtree(folder, ignore_errors=True)
    return text if rc == 4 else ""


def run_artifact(artifact, inputs, expect=None, rtol=1e-3, atol=1e-7, output_dir=None, timeout=60, extra=()):
    """optc-run on one artifact; compares with the folder `expect` if there is one."""
    args = [os.path.join(BIN, "optc-run"), artifact, "--inputs-dir", inputs, *extra]
    if expect:
        args += ["--expect", expect, "--rtol", repr(float(rtol)), "--atol", repr(float(atol))]
    if output_dir:
        args += ["--output-dir", output_dir]
    rc, text = command(args, timeout, cwd=os.path.dirname(os.path.abspath(artifact)))
    return classify(rc, text, running=True)


def fingerprint(*more):
    """A hash of the tools that decide a result, and of the files named."""
    h = hashlib.sha256()
    files = [os.path.join(BIN, "optc"), os.path.join(BIN, "optc-run")]
    lib = os.path.join(BUILD, "lib")
    if os.path.isdir(lib):
        files += sorted(os.path.join(lib, n) for n in os.listdir(lib) if n.startswith("liboptc"))
    for path in [*files, *more]:
        with open(path, "rb") as f:
            h.update(hashlib.file_digest(f, "sha256").digest())
    return h.hexdigest()


@functools.lru_cache(maxsize=None)
def _commits():
    """How many commits lead to this one."""
    done = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(done.stdout.strip() or 0)


def turn(number, parts):
    """Whether it is the turn of the test with this number: one of so many parts runs, with the next commit the next one."""
    return number % parts == _commits() % parts


class Record:
    """Outcomes kept between runs of the same tools, so that a run that was cut short goes on where it stopped."""

    def __init__(self, path, key):
        self.path, self.key, self.lock, self.saved = path, key, threading.Lock(), time.time()
        self.outcomes = {}
        try:
            kept = read_json(path)
            if kept["key"] == key:
                self.outcomes = {n: Outcome(*v) for n, v in kept["outcomes"].items()}
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def add(self, name, outcome):
        with self.lock:
            self.outcomes[name] = outcome
            if time.time() - self.saved > 10:
                self._write()

    def save(self):
        with self.lock:
            self._write()

    def _write(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".tmp", "w") as f:
            json.dump(
                {"key": self.key, "outcomes": {n: dataclasses.astuple(o) for n, o in self.outcomes.items()}},
                f,
                indent=0,
            )
        os.replace(self.path + ".tmp", self.path)
        self.saved = time.time()


def run_all(tests, one, record, jobs=2, label=""):
    """Runs one(name) for every test that the record does not hold; a crash or a timeout must happen twice to count."""
    todo = [t for t in tests if t not in record.outcomes]
    if len(todo) < len(tests):
        print(f"{label}: {len(tests) - len(todo)} results kept from a run of the same tools", flush=True)
    done, start, shown = 0, time.time(), time.time()

    def guarded(name):
        begin = time.time()
        outcome = one(name)
        if outcome.kind in (CRASH, TIMEOUT):
            outcome = one(name)
        outcome.seconds = round(time.time() - begin, 3)
        return name, outcome

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, outcome in pool.map(guarded, todo):
            record.add(name, outcome)
            done += 1
            if time.time() - shown > 20:
                shown = time.time()
                print(f"{label}: {done} of {len(todo)} after {shown - start:.0f} s", flush=True)
    record.save()
    return {t: record.outcomes[t] for t in tests}


class PassList:
    """The exact names of the tests that pass, kept in the tree. It only grows."""

    def __init__(self, path):
        self.path = path
        with open(path, "a+") as f:
            f.seek(0)
            self.names = {l.strip() for l in f if l.strip() and not l.startswith("#")}

    def add(self, names):
        self.names |= set(names)
        with open(self.path, "w") as f:
            f.writelines(n + "\n" for n in sorted(self.names))


def judge(outcomes, passing, update, label):
    """Holds outcomes against the list: (passed, failed, skipped). A listed test has to pass, a new pass has to be listed,
    and nothing may crash or hang; what is refused or wrong and never passed counts as skipped, and is reported."""
    new = sorted(n for n, o in outcomes.items() if o.kind == PASS and n not in passing.names)
    if new and update:
        passing.add(new)
        print(f"{label}: added {len(new)} tests to {os.path.relpath(passing.path, ROOT)}")
        new = []
    lost = sorted(n for n, o in outcomes.items() if n in passing.names and o.kind != PASS)
    bad = sorted(n for n, o in outcomes.items() if o.kind in (CRASH, TIMEOUT) and n not in passing.names)
    for n in lost:
        print(f"{label}: no longer passes: {n}: {outcomes[n].kind} {outcomes[n].reason}")
    for n in bad:
        print(f"{label}: {outcomes[n].kind}: {n}: {outcomes[n].reason}")
    for n in new:
        print(f"{label}: passes and is not listed (./check conformance cases --update adds it): {n}")
    passed = sum(o.kind == PASS for o in outcomes.values()) - len(new)
    kinds = {k: sum(o.kind == k for o in outcomes.values()) for k in (PASS, FAIL, UNSUPPORTED, CRASH, TIMEOUT)}
    print(f"{label}: " + ", ".join(f"{k} {v}" for k, v in kinds.items()), flush=True)
    failed = len(lost) + len(bad) + len(new)
    return passed, failed, len(outcomes) - passed - failed


def fresh(folder):
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


@contextlib.contextmanager
def work_folder(folder):
    """An empty folder that goes when its test is done."""
    try:
        yield fresh(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def parser(doc, everything, tests, update=None):
    """The options that every bank of `tests` takes; `everything` says what --all runs."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--all", action="store_true", help=everything)
    p.add_argument("--update", action="store_true", help=update or f"add newly passing {tests} to the list")
    p.add_argument("--filter", default="", help=f"only {tests} whose name matches")
    p.add_argument("--report", help="write what does not pass into this file")
    return p


def write_report(path, outcomes):
    """One line for every test that does not pass."""
    with open(path, "w") as f:
        f.writelines(f"{n}\t{o.kind}\t{o.reason}\n" for n, o in sorted(outcomes.items()) if o.kind != PASS)


def need_tools(name):
    """Ends the bank with a failure if the tools were not built."""
    for tool in ("optc", "optc-run"):
        if not os.access(os.path.join(BIN, tool), os.X_OK):
            print(f"{name}: {os.path.join(BIN, tool)} is missing: run ./check build first")
            sys.exit(closing_line(name, 0, 1, 0))
