#!/usr/bin/env python3
"""Runs an artifact several times in one context.

  repeat.py ARTIFACT FOLDER ORDER

ORDER is a list of numbers, 0,1,0 ...: run `n` takes FOLDER/in<n>/NAME.npy and stores FOLDER/out<position>/NAME.npy. Input
and output names are those of the files in.txt and out.txt (NAME DTYPE, a line each) in FOLDER."""

import ctypes
import os
import sys

import numpy as np

ABI, TENSOR = 2, 1
CODES = {1: np.float32, 2: np.uint8, 3: np.int8, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16,
         11: np.float64, 12: np.uint32, 16: np.uint16}  # fmt: skip


class Tensor(ctypes.Structure):
    """optc_dltensor (runtime/optc.h), and so on."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("type", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]  # fmt: skip


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("tensor", Tensor), ("size", ctypes.c_int64),
                ("items", ctypes.c_void_p)]  # fmt: skip


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 1020)]


class Api(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("size", ctypes.c_uint32)] + [
        (n, ctypes.c_void_p)
        for n in ("desc", "model_from_desc", "model_destroy", "model_get_desc", "context_create", "context_destroy", "run")
    ]


def call(address, *arguments):
    error = Error()
    kinds = [ctypes.c_int32 if isinstance(a, int) else ctypes.c_void_p for a in arguments]
    status = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds, ctypes.c_void_p)(address)(*arguments, ctypes.byref(error))
    if status:
        sys.exit(f"repeat: {error.message.decode('utf-8', 'replace')}")


def lines(path):
    with open(path) as f:
        return [(n, int(d)) for n, d in (line.split() for line in f)]


def main():
    artifact, folder, order = sys.argv[1:]
    library = ctypes.CDLL(os.path.abspath(artifact))
    query = getattr(library, os.path.splitext(os.path.basename(artifact))[0] + "_optc_query")
    query.restype = ctypes.POINTER(Api)
    api = query(ABI).contents
    model, context = ctypes.c_void_p(), ctypes.c_void_p()
    call(api.model_from_desc, ctypes.c_void_p(api.desc), ctypes.byref(model))
    call(api.context_create, model, None, ctypes.byref(context))
    ins, outs = lines(os.path.join(folder, "in.txt")), lines(os.path.join(folder, "out.txt"))
    for position, number in enumerate(order.split(",")):
        arrays = [np.load(os.path.join(folder, "in" + number, n + ".npy")) for n, _ in ins]
        values, results = (Value * max(len(ins), 1))(), (Value * len(outs))()
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        for v, a, s, (_, dtype) in zip(values, arrays, shapes, ins):
            v.kind, v.dtype, v.tensor.data, v.tensor.ndim = TENSOR, dtype, a.ctypes.data, a.ndim
            v.tensor.shape, v.tensor.device[0] = s, 1
        call(api.run, context, ctypes.byref(values), len(ins), ctypes.byref(results), len(outs), None)
        target = os.path.join(folder, f"out{position}")
        os.makedirs(target, exist_ok=True)
        for r, (n, dtype) in zip(results, outs):
            shape = [r.tensor.shape[i] for i in range(r.tensor.ndim)]
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(CODES[dtype]).itemsize
            data = ctypes.string_at(r.tensor.data + r.tensor.offset, size) if size else b""
            np.save(os.path.join(target, n + ".npy"), np.frombuffer(data, CODES[dtype]).reshape(shape))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(api.context_destroy)(context)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(api.model_destroy)(model)


if __name__ == "__main__":
    main()
