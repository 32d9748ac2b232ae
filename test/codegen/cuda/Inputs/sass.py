#!/usr/bin/env python3
"""Counts the machine instructions of a cubin for sm_90, without NVIDIA's disassembler: one line per kernel.

  sass.py FILE.cubin

Instructions are 16 bytes long, the low 12 bits of the first word are the opcode. The names below were found by assembling
PTX with one instruction each (ptxas 13.0); opcodes that are not in the table are counted as `other`."""

import collections
import struct
import sys

OPCODES = {
    0x9F0: "HGMMA",
    0x9F3: "QGMMA",
    0x23C: "HMMA",
    0x237: "IMMA",
    0x83B: "LDSM",
    0x844: "STSM",
    0x5B4: "UTMALDG",
    0x3B5: "UTMASTG",
    0xFAE: "LDGSTS",
    0x981: "LDG",
    0x986: "STG",
    0x984: "LDS",
    0x988: "STS",
    0x388: "STS",
    0x983: "LDL",
    0x387: "STL",
    0xB1D: "BAR",
    0x308: "MUFU",
    0x223: "FFMA",
    0x423: "FFMA",
    0x9C8: "USETMAXREG",
    0xF89: "SHFL",
    0x389: "SHFL",
    0x918: "NOP",
}


def sections(data):
    """(name, offset, size) of the sections of an ELF file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    entries = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(count)]
    strings = entries[names][4]
    for e in entries:
        start = strings + e[0]
        yield data[start : data.index(b"\0", start)].decode(), e[4], e[5]


def histogram(data):
    """kernel -> counts by name."""
    if data[:4] != b"\x7fELF":
        raise SystemExit("sass: not a cubin")
    kernels = {}
    for name, offset, size in sections(data):
        if name.startswith(".text."):
            counts = collections.Counter()
            for at in range(offset, offset + size, 16):
                (word,) = struct.unpack_from("<Q", data, at)
                counts[OPCODES.get(word & 0xFFF, "other")] += 1
            kernels[name[len(".text.") :]] = counts
    return kernels


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as f:
        for kernel, counts in sorted(histogram(f.read()).items()):
            print(kernel, *(f"{name}:{n}" for name, n in sorted(counts.items()) if name != "other"))
