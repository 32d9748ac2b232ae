"""bench/stats.py and bench/flops.py: plain Python, nothing is measured."""

import os
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import flops
import stats


class Statistics(unittest.TestCase):
    def test_percentile_is_a_value_that_occurred(self):
        self.assertEqual(stats.percentile([4, 1, 3, 2], 0.5), 2)
        self.assertEqual(stats.percentile([4, 1, 3, 2], 0.99), 4)
        self.assertEqual(stats.percentile([7], 0.95), 7)
        self.assertEqual(stats.percentile(range(1, 101), 0.95), 95)

    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)

    def test_geomean(self):
        self.assertAlmostEqual(stats.geomean([0.5, 2, 8]), 2)
        self.assertIsNone(stats.geomean([]))

    def test_summary_of_a_process(self):
        s = stats.summarize([3.0, 1.0, 2.0])
        self.assertEqual((s["min_ms"], s["p50_ms"], s["p99_ms"], s["runs"]), (1.0, 2.0, 3.0, 3))

    def test_one_slow_process_does_not_count(self):
        report = lambda m, rss: dict(min_ms=m, p50_ms=2 * m, p95_ms=3 * m, p99_ms=4 * m, load_ms=1, peak_rss_bytes=rss)
        s = stats.over_processes([report(1.0, 5), report(1.2, 9), report(50.0, 7)])
        self.assertEqual((s["min_ms"], s["p50_ms"], s["peak_rss_bytes"], s["processes"]), (1.2, 2.4, 9, 3))
        self.assertAlmostEqual(s["spread"], 49 / 1.2)
        self.assertNotIn("net_rss_bytes", s)

    def test_ratios_are_against_the_better_peer(self):
        t = lambda m, p: {"min_ms": m, "p50_ms": p}
        r = stats.ratios({"optc": t(2.0, 4.0), "a": t(1.0, 8.0), "b": t(6.0, 2.0)})
        self.assertEqual((r["a"]["min_ms"], r["b"]["min_ms"], r["best"]["min_ms"]), (0.5, 3.0, 0.5))
        self.assertEqual(r["best"]["p50_ms"], 0.5)

    def test_no_ratio_without_both_sides(self):
        self.assertEqual(stats.ratios({"a": {"min_ms": 1.0, "p50_ms": 1.0}}), {})
        self.assertEqual(stats.ratios({"optc": {"min_ms": 1.0, "p50_ms": 1.0}}), {})

    def test_share_of_the_peak(self):
        self.assertAlmostEqual(stats.share(1.0, 20.0, 100.0), 0.5)
        for missing in [(0, 20.0, 100.0), (1.0, None, 100.0), (1.0, 20.0, None)]:
            self.assertIsNone(stats.share(*missing))

    def test_numbers_keep_their_digits(self):
        self.assertEqual(stats.number(1234.5), "1234")
        self.assertEqual(stats.number(0.012345), "0.0123")
        self.assertEqual(stats.number(1.5, 3, "×"), "1.50×")
        self.assertEqual((stats.number(None), stats.number(0), stats.percent(0.5)), ("–", "0", "50 %"))

    def test_table(self):
        text = stats.markdown(["a", "bb"], [["long", 1]])
        self.assertEqual(text.splitlines(), ["| a    | bb |", "|------|---:|", "| long |  1 |"])


class Operations(unittest.TestCase):
    def test_products(self):
        self.assertEqual(flops.count("MatMul", [[2, 3, 5], [5, 7]], [[2, 3, 7]]), 2 * 2 * 3 * 5 * 7)
        self.assertEqual(flops.count("MatMul", [[5], [5]], [[]]), 2 * 5)
        for a in ([3, 5], [5, 3]):  # transA
            self.assertEqual(flops.count("Gemm", [a, [5, 7], [7]], [[3, 7]]), 2 * 3 * 5 * 7)
        self.assertEqual(flops.count("Gemm", [[0, 5], [5, 7]], [[0, 7]]), 0)

    def test_convolutions(self):
        conv = flops.count("Conv", [[1, 8, 10, 10], [16, 8, 3, 3], [16]], [[1, 16, 10, 10]])
        self.assertEqual(conv, 2 * 16 * 100 * 8 * 9)
        depthwise = flops.count("Conv", [[1, 8, 10, 10], [8, 1, 3, 3]], [[1, 8, 5, 5]])
        self.assertEqual(depthwise, 2 * 8 * 25 * 9)
        quantized = [[1, 8, 10, 10], [], [], [16, 8, 1, 1], [], [], [], []]
        self.assertEqual(flops.count("QLinearConv", quantized, [[1, 16, 10, 10]]), 2 * 16 * 100 * 8)
        transposed = flops.count("ConvTranspose", [[1, 8, 5, 5], [8, 4, 2, 2]], [[1, 4, 10, 10]])
        self.assertEqual(transposed, 2 * 8 * 25 * 4 * 4)

    def test_recurrent(self):
        lstm = flops.count("LSTM", [[6, 2, 3], [1, 16, 3], [1, 16, 4]], [[6, 1, 2, 4]])
        self.assertEqual(lstm, 2 * 6 * 2 * 16 * (3 + 4))
        both = flops.count("GRU", [[6, 2, 3], [2, 12, 3], [2, 12, 4]], [[6, 2, 2, 4]])
        self.assertEqual(both, 2 * 6 * 2 * 2 * 12 * (3 + 4))

    def test_einsum(self):
        self.assertEqual(flops.count("Einsum", [[2, 3], [3, 4]], [[2, 4]], "ij,jk->ik"), 2 * 2 * 3 * 4)
        self.assertEqual(flops.count("Einsum", [[7, 2, 3], [3, 4]], [[7, 2, 4]], "...ij,jk"), 2 * 7 * 2 * 3 * 4)
        self.assertEqual(flops.count("Einsum", [[2, 3]], [[3, 2]], "ij->ji"), 0)
        self.assertEqual(flops.count("Einsum", [[2, 3], [3, 4]], [[2, 4]]), 0)

    def test_attention(self):
        four = flops.count("Attention", [[1, 2, 3, 8], [1, 2, 5, 8], [1, 2, 5, 6]], [[1, 2, 3, 6]])
        self.assertEqual(four, 2 * 2 * 3 * 5 * (8 + 6))
        three = flops.count("Attention", [[1, 3, 16], [1, 5, 16], [1, 5, 12]], [[1, 3, 12]])
        self.assertEqual(three, 2 * 3 * 5 * (16 + 12))

    def test_nothing_to_contract(self):
        self.assertEqual(flops.count("Relu", [[1000]], [[1000]]), 0)

    def test_a_profile_without_weights_is_refused(self):
        args = {"op_name": "GRU", "input_type_shape": [{"float": [6, 2, 3]}], "output_type_shape": []}
        with self.assertRaisesRegex(ValueError, "GRU 'g': the profile lacks shapes"):
            flops.of_profile([{"cat": "Node", "name": "g_kernel_time", "args": args}])

    def test_profile(self):
        node = lambda name, op, i, o: {
            "cat": "Node",
            "name": name + "_kernel_time",
            "args": {"op_name": op, "input_type_shape": i, "output_type_shape": o},
        }
        events = [
            {"cat": "Session", "name": "model_run", "args": {}},
            {"cat": "Node", "name": "m_fence_before", "args": {"op_name": "MatMul"}},
            node("m", "MatMul", [{"float": [2, 3]}, {"float": [3, 4]}], [{"float": [2, 4]}]),
            node("m", "MatMul", [{"float": [1, 3]}, {"float": [3, 4]}], [{"float": [1, 4]}]),
            node("e", "Einsum", [{"float": [2, 3]}, {"float": [3, 5]}], [{"float": [2, 5]}]),
            node("r", "Relu", [{"float": [2, 4]}], [{"float": [2, 4]}]),
        ]
        total, by_op = flops.of_profile(events, {"e": "ij,jk->ik"})
        self.assertEqual(by_op, {"MatMul": 2 * 3 * 12, "Einsum": 2 * 2 * 3 * 5})
        self.assertEqual(total, sum(by_op.values()))


if __name__ == "__main__":
    unittest.main()
