#!/usr/bin/env python3
"""Puts the pinned ONNX sources into a folder: fetch_onnx.py FOLDER.

The file is the sdist of the `onnx` package, looked for in this order: the path in $OPTC_ONNX_SDIST, the user's cache,
pip's find-links folders, pip's index (index-url, extra-index-url, cert and proxies as pip is configured). Whatever the
place, only a file with the pinned SHA-256 is unpacked. A folder that already holds this version is left as it is.
"""

import hashlib
import html.parser
import json
import os
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request

NAME = "onnx-1.23.2.tar.gz"
SHA256 = "008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8"
STAMP = ".optc-sha256"


def pip_settings():
    """pip's own idea of its configuration, as {option: value}; the environment wins, as with pip."""
    settings = {}
    try:
        text = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True,
                              timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if option and (section != ":env:" or option not in settings):
            settings[option] = value.strip().strip("'\"")
    for key, value in os.environ.items():
        if key.startswith("PIP_"):
            settings[key[4:].lower().replace("_", "-")] = value
    return settings


def good(path):
    try:
        with open(path, "rb") as f:
            digest = hashlib.sha256()
            while chunk := f.read(1 << 20):
                digest.update(chunk)
            return digest.hexdigest() == SHA256
    except OSError:
        return False


class Links(html.parser.HTMLParser):
    """The links of a simple index page (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links += [value for key, value in attrs if key == "href" and value]


def links_of(body, content_type):
    if "json" in content_type:
        return [f["url"] for f in json.loads(body).get("files", [])]
    parser = Links()
    parser.feed(body.decode("utf-8", "replace"))
    return parser.links


def download(settings, cache, reasons):
    context = ssl.create_default_context(cafile=settings.get("cert") or None)
    timeout = float(settings.get("default-timeout") or settings.get("timeout") or 60)

    def get(url, accept="*/*"):
        request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "optc-build"})
        return urllib.request.urlopen(request, timeout=timeout, context=context)

    indexes = [settings.get("index-url") or "https://pypi.org/simple"]
    indexes += (settings.get("extra-index-url") or "").split()
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        reasons.append("pip is configured with no-index")
        return None
    for index in indexes:
        page = index.rstrip("/") + "/onnx/"
        try:
            with get(page, "application/vnd.pypi.simple.v1+json, text/html;q=0.5") as answer:
                links = links_of(answer.read(), answer.headers.get("Content-Type", ""))
                base = answer.geturl()
            for link in links:
                url = urllib.parse.urljoin(base, link)
                if os.path.basename(urllib.parse.urlparse(url).path) != NAME:
                    continue
                os.makedirs(cache, exist_ok=True)
                with get(url) as answer, tempfile.NamedTemporaryFile(dir=cache, delete=False) as f:
                    while chunk := answer.read(1 << 20):
                        f.write(chunk)
                if good(f.name):
                    target = os.path.join(cache, NAME)
                    os.replace(f.name, target)
                    return target
                os.unlink(f.name)
                reasons.append(f"{NAME} of {index} has another SHA-256 than the pinned one")
                break
            else:
                reasons.append(f"{index} does not list {NAME}")
        except (OSError, ValueError, KeyError) as error:
            reasons.append(f"{index}: {error}")
    return None


def locate(reasons):
    own = os.environ.get("OPTC_ONNX_SDIST")
    if own:
        if good(own):
            return own
        reasons.append(f"OPTC_ONNX_SDIST={own} is missing or has another SHA-256 than the pinned one")
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "optc")
    settings = pip_settings()
    for folder in [cache] + (settings.get("find-links") or "").split():
        path = os.path.join(folder[7:] if folder.startswith("file://") else folder, NAME)
        if good(path):
            return path
    return download(settings, cache, reasons)


def unpack(sdist, folder):
    parent = os.path.dirname(os.path.abspath(folder))
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as work:
        with tarfile.open(sdist) as tar:
            for member in tar.getmembers():
                # The hash is pinned, so this only guards against a careless change of the pin.
                if member.name.startswith("/") or ".." in member.name.split("/"):
                    raise SystemExit(f"fetch_onnx.py: {sdist} holds the unsafe path {member.name}")
            tar.extractall(work)
        root = os.path.join(work, os.listdir(work)[0])
        with open(os.path.join(root, STAMP), "w", encoding="ascii") as f:
            f.write(SHA256)
        if os.path.exists(folder):
            os.rename(folder, os.path.join(work, "old"))
        os.rename(root, folder)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: fetch_onnx.py FOLDER")
    folder = sys.argv[1]
    try:
        with open(os.path.join(folder, STAMP), encoding="ascii") as f:
            if f.read() == SHA256:
                return
    except OSError:
        pass
    reasons = []
    sdist = locate(reasons)
    if not sdist:
        sys.exit(f"The ONNX sources ({NAME}, the sdist of the PyPI package) could not be fetched:\n  "
                 + "\n  ".join(reasons)
                 + f"\nWithout a network, put {NAME} (SHA-256 {SHA256}) anywhere and set OPTC_ONNX_SDIST to its path.")
    unpack(sdist, folder)


if __name__ == "__main__":
    main()
