"""A few tests of ONNX's suite through its own runner and optc's Backend; the whole suite runs in test/conformance."""

import sys
import unittest
import warnings

warnings.simplefilter("ignore")
import onnx.backend.test
import optc.backend

tests = onnx.backend.test.BackendTest(optc.backend, "backend_test")
tests.include(r"^test_(add|matmul_2d|softmax_axis_0|basic_conv_with_padding|single_relu_model)_cpu$")
result = unittest.TextTestRunner().run(tests.test_suite)
ran = result.testsRun - len(result.skipped)
print(ran, "ran")
sys.exit(not (result.wasSuccessful() and ran == 5))
