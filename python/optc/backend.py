"""ONNX's Backend API over optc: prepare() compiles a model to native code, run() runs it.

    import optc.backend
    prepared = optc.backend.prepare(model)          # an onnx.ModelProto
    outputs = prepared.run([x, y])                  # numpy arrays, lists for sequences, None for an empty optional

The tools are looked for in $OPTC_BIN, then in build/bin of the checkout this file is in, then on the PATH. Needs onnx and numpy.
"""

import os
import re
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.base import Backend, BackendRep


class OptcError(RuntimeError):
    """optc or optc-run did not succeed; `code` is the exit code (negative: a signal)."""

    def __init__(self, tool, code, message):
        super().__init__(f"{tool} ended with {code}: {message}")
        self.code = code


class Unsupported(OptcError, NotImplementedError):
    """optc refused the model (exit code 1); the message says why."""


def _tool(name):
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.environ.get("OPTC_BIN"), os.path.join(here, "..", "..", "build", "bin")):
        if folder and os.access(path := os.path.join(folder, name), os.X_OK):
            return path
    if path := shutil.which(name):
        return path
    raise FileNotFoundError(f"{name} is neither in $OPTC_BIN, nor in build/bin, nor on the PATH")


def _call(name, *args):
    p = subprocess.run([_tool(name), *args], capture_output=True, text=True, errors="replace")
    if p.returncode:
        kind = Unsupported if p.returncode == 1 else OptcError
        raise kind(name, p.returncode, (p.stderr or p.stdout).strip())


def _pack(value, info):
    """An input, serialised as the type its graph declares."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value.SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def _parse(proto, data):
    proto.ParseFromString(data)
    return proto


def _unpack(folder, number, info):
    """An output from NAME.npy or output_N.pb, whichever optc-run wrote for its type."""
    npy = os.path.join(folder, re.sub(r"[^A-Za-z0-9_.-]", "_", info.name) + ".npy")
    kind = info.type.WhichOneof("value")
    if os.path.exists(npy):
        array = np.load(npy)
        wanted = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        # numpy's file format has no name for bfloat16 and its kin: the bytes are stored, the type is the graph's.
        return array if array.dtype == wanted or array.dtype.itemsize != wanted.itemsize else array.view(wanted)
    with open(os.path.join(folder, f"output_{number}.pb"), "rb") as f:
        data = f.read()
    if kind == "sequence_type":
        return numpy_helper.to_list(_parse(onnx.SequenceProto(), data))
    if kind == "optional_type":
        return numpy_helper.to_optional(_parse(onnx.OptionalProto(), data))
    return numpy_helper.to_array(_parse(onnx.TensorProto(), data))


class OptcRep(BackendRep):
    """A compiled model. The artifact lives in a temporary folder for as long as this object."""

    def __init__(self, model, level, target):
        given = {i.name for i in model.graph.initializer}
        # Since IR version 4 an initializer that is also an input is a default, before it was a constant.
        self._inputs = [i for i in model.graph.input if model.ir_version >= 4 or i.name not in given]
        self._needed = [i for i in self._inputs if i.name not in given]
        self._outputs = list(model.graph.output)
        self._folder = tempfile.TemporaryDirectory(prefix="optc-")
        source, self._artifact = (os.path.join(self._folder.name, n) for n in ("model.onnx", "model.so"))
        onnx.save(model, source)
        _call("optc", source, "-o", self._artifact, level, f"--target={target}")

    def run(self, inputs, **kwargs):
        """Inputs by name or in the graph's order, with or without those that have a default; outputs in the graph's
        order."""
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        if not isinstance(inputs, dict):
            order = self._inputs if len(inputs) == len(self._inputs) else self._needed
            inputs = {i.name: value for i, value in zip(order, inputs)}
        missing = [i.name for i in self._needed if i.name not in inputs]
        if missing:
            raise ValueError(f"inputs without a value: {', '.join(missing)}")
        with tempfile.TemporaryDirectory(prefix="optc-") as folder:
            given, made = os.path.join(folder, "inputs"), os.path.join(folder, "outputs")
            os.mkdir(given)
            os.mkdir(made)
            for n, info in enumerate(self._inputs):
                if info.name in inputs:
                    with open(os.path.join(given, f"input_{n}.pb"), "wb") as f:
                        f.write(_pack(inputs[info.name], info))
            _call("optc-run", self._artifact, "--inputs-dir", given, "--output-dir", made)
            return tuple(_unpack(made, n, info) for n, info in enumerate(self._outputs))


class OptcBackend(Backend):
    """The Backend of onnx.backend.base for CPUs."""

    @classmethod
    def prepare(cls, model, device="CPU", level="-O3", target="native", **kwargs):
        if not cls.supports_device(device):
            raise ValueError(f"optc's Python backend runs on CPU, not on {device}")
        return OptcRep(model, level, target)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0] == "CPU"


prepare = OptcBackend.prepare
run_model = OptcBackend.run_model
supports_device = OptcBackend.supports_device
