"""How a test of the ONNX backend suite is compared, where the suite's own tolerance is not the right question.

The general rule is the suite's: |a - b| <= atol + rtol * |b|, types and shapes equal, NaN equals NaN. What differs:"""

import dataclasses
import re

BF16_RTOL = 2**-6  # two units in the last place; the official runner does the same


@dataclasses.dataclass
class Rule:
    """A family of tests with tolerances of its own, and why."""

    pattern: str
    why: str
    atol: float = 0.0
    rtol: float = 0.0
    relative_atol: float = 0.0  # times the largest expected value


RULES = [
    Rule(
        r"^node/test_(dft|stft)",
        "exact zeros expected beside values up to 1900: a float32 FFT leaves 1e-7 of the largest",
        relative_atol=1e-6,
    ),
    Rule(
        r"^node/test_attention_4d_(causal_fp16|fp16|gqa_with_past_and_present_fp16)(_expanded.*)?$",
        "one or two units of float16 in the last place",
        atol=2e-3,
    ),
    Rule(
        r"^node/test_linear_attention_fp16(_expanded.*)?$", "one or two units of float16 in the last place", atol=2e-3
    ),
    Rule(
        r"^node/test_attention_4d_padded_kv_bf16(_expanded.*)?$",
        "one unit of bfloat16 near zero",
        atol=1.6e-2,
        rtol=BF16_RTOL,
    ),
    Rule(r"^node/test_mish(_expanded.*)?$", "values near zero: 6e-7 absolute", atol=2e-5),
    Rule(r"^node/test_gelu_tanh_2(_expanded.*)?$", "one value of 60 differs by 1.4e-5", atol=2e-5),
    Rule(
        r"^node/test_image_decoder_decode_(jpeg|webp|jpeg2k)",
        "lossy formats: conforming decoders differ by up to 2",
        atol=2.0,
    ),
]

# Compared by property (see properties.py) because the expected values are draws from numpy's generator.
RANDOM = re.compile(r"^node/test_bernoulli(_double|_seed)?(_expanded.*)?$")
DROPOUT = re.compile(r"^node/test_training_dropout(_default)?(_mask)?$")


def tolerances(name, entry):
    """(rtol, atol) for the test `name` with its entry of the suite's index."""
    rtol, atol = entry["rtol"], entry["atol"]
    if entry["bfloat16"]:
        rtol = max(rtol, BF16_RTOL)
    for rule in RULES:
        if re.search(rule.pattern, name):
            rtol, atol = max(rtol, rule.rtol), max(atol, rule.atol, rule.relative_atol * entry["largest"])
    return rtol, atol
