#!/usr/bin/env python3
"""Writes BuildId.h: build_id.py OUT LLVM_VERSION LIBMLIR ROOT HEADER...

The build ID is a hash of what a plugin sees of optc: the headers, by name and content, and the version of LLVM. It stays
when only the code behind them changes. An output that would not change is left alone, so nothing is compiled again.
"""

import hashlib
import os
import struct
import sys

NOTE = struct.pack("<3I4s", 4, 20, 3, b"GNU\0")  # the GNU build ID of a linker's default length


def gnu_build_id(path):
    """The build ID in the notes of a shared object, which are among its first pages; empty when it has none."""
    with open(path, "rb") as f:
        head = f.read(1 << 16)
    at = head.find(NOTE)
    return head[at + len(NOTE) : at + len(NOTE) + 20].hex() if at >= 0 else ""


def main():
    out, llvm, libmlir, root, *headers = sys.argv[1:]
    digest = hashlib.sha256(llvm.encode())
    for path in sorted(headers):
        with open(path, "rb") as f:
            digest.update(os.path.relpath(path, root).encode() + b"\0" + f.read() + b"\0")
    text = f"""#ifndef OPTC_COMPILER_BUILDID_H
#define OPTC_COMPILER_BUILDID_H
#define OPTC_BUILD_ID "{digest.hexdigest()[:16]}"
#define OPTC_MLIR_BUILD_ID "{gnu_build_id(libmlir)}"
#endif
"""
    try:
        with open(out, encoding="ascii") as f:
            if f.read() == text:
                return
    except OSError:
        pass
    with open(out, "w", encoding="ascii") as f:
        f.write(text)


if __name__ == "__main__":
    main()
