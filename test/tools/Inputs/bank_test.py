"""Tests of test/tools/bank.py with stand-ins for the tools."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.TemporaryDirectory()
os.environ["OPTC_BUILD"] = FOLDER.name
sys.path.insert(0, os.path.dirname(HERE))
import bank


def stand_in(name, script):
    os.makedirs(bank.BIN, exist_ok=True)
    path = os.path.join(bank.BIN, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)


def compiled(script, timeout=10):
    stand_in("optc", script)
    return bank.compile_model("model.onnx", os.path.join(FOLDER.name, "model.so"), "O3", timeout=timeout)


def judged(outcomes, listed, update=False):
    path = os.path.join(FOLDER.name, "passing.txt")
    with open(path, "w") as f:
        f.writelines(n + "\n" for n in listed)
    passing = bank.PassList(path)
    with contextlib.redirect_stdout(io.StringIO()):
        result = bank.judge({n: bank.Outcome(k) for n, k in outcomes.items()}, passing, update, "test")
    with open(path) as f:
        return result, f.read().split()


class Classes(unittest.TestCase):
    def test_good(self):
        self.assertEqual(compiled("exit 0").kind, bank.PASS)

    def test_refusal_needs_a_sentence(self):
        refused = compiled("echo 'note: x' >&2; echo 'error: node n: operator Foo' >&2; exit 1")
        self.assertEqual((refused.kind, refused.reason), (bank.UNSUPPORTED, "error: node n: operator Foo"))
        self.assertEqual(compiled("exit 1").kind, bank.CRASH)

    def test_crashes(self):
        self.assertEqual(compiled("kill -SEGV $$").kind, bank.CRASH)
        self.assertEqual(compiled("echo defect >&2; exit 70").kind, bank.CRASH)
        self.assertEqual(compiled("exit 3").kind, bank.CRASH)

    def test_time_limit_takes_the_children_along(self):
        self.assertEqual(compiled("sleep 60 & sleep 60", timeout=0.3).kind, bank.TIMEOUT)

    def test_difference(self):
        stand_in("optc-run", "echo 'output y: 1 of 4 values differ' >&2; exit 3")
        self.assertEqual(bank.run_artifact("model.so", ".").kind, bank.FAIL)


class Lists(unittest.TestCase):
    def test_listed_test_has_to_pass(self):
        result, _ = judged({"a": bank.PASS, "b": bank.FAIL}, ["a", "b"])
        self.assertEqual(result, (1, 1, 0))

    def test_new_pass_has_to_be_listed(self):
        self.assertEqual(judged({"a": bank.PASS}, [])[0], (0, 1, 0))
        self.assertEqual(judged({"a": bank.PASS}, ["z"], update=True), ((1, 0, 0), ["a", "z"]))

    def test_crash_counts_without_being_listed(self):
        self.assertEqual(judged({"a": bank.CRASH, "b": bank.TIMEOUT}, [])[0], (0, 2, 0))

    def test_never_passed_is_skipped(self):
        self.assertEqual(judged({"a": bank.UNSUPPORTED, "b": bank.FAIL}, [])[0], (0, 0, 2))


class Records(unittest.TestCase):
    def test_kept_for_the_same_tools_only(self):
        path = os.path.join(FOLDER.name, "results.json")
        ran = []

        def one(name):
            ran.append(name)
            return bank.Outcome(bank.PASS)

        with contextlib.redirect_stdout(io.StringIO()):
            bank.run_all(["a", "b"], one, bank.Record(path, "k1"))
            bank.run_all(["a", "b", "c"], one, bank.Record(path, "k1"))
            self.assertEqual(ran, ["a", "b", "c"])
            bank.run_all(["a"], one, bank.Record(path, "k2"))
        self.assertEqual(ran, ["a", "b", "c", "a"])


if __name__ == "__main__":
    unittest.main()
