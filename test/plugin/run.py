#!/usr/bin/env python3
"""The plugin bank: installs the build into build/install, builds examples/plugin out of tree against it, runs the example's
lit tests and a model with it, and holds the compiler to refusing, with exit code 2 and a sentence, what does not fit."""

import os
import re
import shutil
import sys

import numpy as np
import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import bank

PREFIX = os.path.join(bank.BUILD, "install")
WORK = os.path.join(bank.BUILD, "plugin")
HERE = os.path.join(bank.ROOT, "test", "plugin")
CASE = os.path.join(bank.ROOT, "test", "cases", "b_matmul_add_bias_shapes")
EXAMPLE = os.path.join(WORK, "example")
PLUGIN = os.path.join(EXAMPLE, "DropNeutral.so")
LLVM = "/usr/lib/llvm-22"
COMPILE = ["-fPIC", f"-I{PREFIX}/include", f"-I{LLVM}/include", "-DNDEBUG"]


class Failed(Exception):
    """What a check found to be wrong."""


def need(condition, message):
    if not condition:
        raise Failed(message)


def run(*args, timeout=600):
    rc, text = bank.command(list(args), timeout, cwd=WORK)
    need(rc == 0, f"{' '.join(args)[:200]}: exit code {rc}: {text[-1500:]}")
    return text


def tool(name, prefix=PREFIX):
    return os.path.join(prefix, "bin", name)


def install():
    shutil.rmtree(PREFIX, ignore_errors=True)
    run("cmake", "--install", bank.BUILD, "--prefix", PREFIX)
    for path in (
        "bin/optc",
        "bin/optc-opt",
        "bin/optc-run",
        "lib/liboptc.so",
        "lib/liboptc_rt.a",
        "lib/optc/optc-launcher",
        "lib/cmake/optc/optcConfig.cmake",
        "include/optc/compiler/PluginApi.h",
        "include/optc/dialects/onnx/OnnxOps.h.inc",
        "include/optc/runtime/optc.h",
    ):
        need(os.path.exists(os.path.join(PREFIX, path)), f"{path} is not installed")


def headers():
    """Every installed C++ header finds what it includes among the installed ones."""
    folder = os.path.join(PREFIX, "include")
    found = [os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names]
    source = os.path.join(WORK, "headers.cpp")
    with open(source, "w") as f:
        f.writelines(f'#include "{h}"\n' for h in sorted(found) if h.endswith(".h"))
    run("clang++-22", "-std=c++17", "-fno-exceptions", "-fsyntax-only", *COMPILE, source)


def example():
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run(
        "cmake",
        "-G",
        "Ninja",
        "-S",
        os.path.join(bank.ROOT, "examples", "plugin"),
        "-B",
        EXAMPLE,
        f"-DCMAKE_PREFIX_PATH={PREFIX}",
        "-DCMAKE_CXX_COMPILER=clang++-22",
        "-DCMAKE_C_COMPILER=clang-22",
        *launcher,
    )
    run("ninja", "-C", EXAMPLE)


def lit():
    print(run("ninja", "-C", EXAMPLE, "check-plugin").splitlines()[-1])


def moved():
    """A copy of the installed tree uses its own files; a model compiled with the plugin gives the expected results, and
    everything that was written knows of the plugin."""
    prefix = os.path.join(WORK, "moved")
    shutil.copytree(PREFIX, prefix, copy_function=os.link)
    used = re.search(r"liboptc\.so => (\S+)", run("ldd", tool("optc", prefix)))
    need(used and os.path.realpath(used[1]).startswith(prefix), "the moved optc does not use the moved liboptc.so")
    run(
        tool("optc", prefix),
        os.path.join(CASE, "model.onnx"),
        "-o",
        "model.so",
        f"--plugin={PLUGIN}",
        "--plugin-option=example-drop-neutral:ignore-signed-zeros=true",
        "--report=report.json",
        "--depfile=model.d",
    )
    data = os.path.join(CASE, "test_data_set_0")
    run(tool("optc-run", prefix), "model.so", "--inputs-dir", data, "--expect", data)
    report = bank.read_json(os.path.join(WORK, "report.json"))
    expected = {
        "name": "drop-neutral",
        "version": "1.0",
        "options": {"example-drop-neutral": "ignore-signed-zeros=true"},
    }
    need(report.get("plugins") == [expected], f"the report says plugins: {report.get('plugins')}")
    need("drop-neutral" in run(tool("optc-run", prefix), "--info", "model.so"), "the artifact does not name the plugin")
    with open(os.path.join(WORK, "model.d")) as f:
        need("DropNeutral.so" in f.read(), "the depfile lacks the plugin")


def refused(path, sentence, optc="optc", arguments=()):
    """The compiler ends with exit code 2, names the file and says `sentence`."""
    command = [tool(optc), f"--plugin={path}", *arguments]
    rc, text = bank.command(command, 60, cwd=WORK)
    need(rc == 2, f"{' '.join(command)}: exit code {rc} instead of 2: {text[:500]}")
    need(os.path.basename(path) in text, f"{' '.join(command)}: the file is not named: {text[:500]}")
    need(re.search(sentence, text), f"{' '.join(command)}: expected '{sentence}', got: {text[:500]}")


def variant(name, *flags):
    path = os.path.join(WORK, name + ".so")
    run("clang-22", "-shared", *COMPILE, *flags, os.path.join(HERE, "Variant.c"), "-o", path)
    return path


def normalized(x, scale, epsilon=1e-5, unit_offset=0):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * (scale + unit_offset)


def custom_model(path, shape, nodes=None, version=2, **attributes):
    """A model with the example's operator between two of ONNX, so that its input and its output are not those of the model."""
    float_type = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes
        or [
            onnx.helper.make_node("Neg", ["x"], ["a"]),
            onnx.helper.make_node("RowNormalize", ["a", "scale"], ["b"], "norm", domain="com.example", **attributes),
            onnx.helper.make_node("RowNormalize", ["b", "scale"], ["z"], domain="com.example"),
            onnx.helper.make_node("Add", ["b", "x"], ["y"]),
        ],
        "g",
        [
            onnx.helper.make_tensor_value_info("x", float_type, shape),
            onnx.helper.make_tensor_value_info("scale", float_type, shape[-1:]),
        ],
        [onnx.helper.make_tensor_value_info(n, float_type, shape) for n in ("y", "z")],
    )
    opsets = [onnx.helper.make_opsetid("", 18)] + ([onnx.helper.make_opsetid("com.example", version)] if version else [])
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def operator():
    """The example's operator against numpy, with static and symbolic sizes, at -O0 and -O3, with one and two threads; the
    plugin is gone when the artifact runs."""
    rng = np.random.default_rng(3)
    plugin = os.path.join(WORK, "operator")
    shutil.copytree(EXAMPLE, plugin, ignore=lambda _, names: [n for n in names if not n.startswith("RowNormalize")])
    artifacts = []
    for shape, runs in (([3, 37, 20], [{}]), (["n", "m", 20], [{"n": 2, "m": 50}, {"n": 1, "m": 1}]), (["c"], [{"c": 33}])):
        name = "x".join(map(str, shape))
        custom_model(os.path.join(WORK, f"{name}.onnx"), shape, epsilon=0.25, unit_offset=1)
        for level in ("-O0", "-O3"):
            artifact = f"{name}{level}.so"
            run(tool("optc"), f"{name}.onnx", "-o", artifact, level, f"--plugin={plugin}/RowNormalize.so", "--report=r.json")
            kernels = bank.read_json(os.path.join(WORK, "r.json"))["kernels"]
            foreign = [k for k in kernels if k.get("family") == "foreign"]
            need(len(foreign) == 2 and foreign[0]["nodes"] == ["norm"], f"the report says kernels: {kernels}")
            artifacts += [(artifact, [sizes.get(d, d) for d in shape]) for sizes in runs]
    shutil.rmtree(plugin)
    for artifact, sizes in artifacts:
        x, scale = (rng.standard_normal(s).astype(np.float32) for s in (sizes, sizes[-1:]))
        b = normalized(-x, scale, 0.25, 1)
        files = {"x": x, "scale": scale}, {"y": b + x, "z": normalized(b, scale)}
        for folder, arrays in zip(("in", "out"), files, strict=True):
            bank.fresh(os.path.join(WORK, folder))
            for key, value in arrays.items():
                np.save(os.path.join(WORK, folder, key + ".npy"), value.astype(np.float32))
        for threads in ("1", "2"):
            run(tool("optc-run"), artifact, "--inputs-dir", "in", "--expect", "out", "--atol=1e-5", "--threads", threads)


def operator_kinds():
    """The kernel is in every kind of artifact."""
    custom_model(os.path.join(WORK, "kinds.onnx"), [4, 5])
    plugin = f"--plugin={EXAMPLE}/RowNormalize.so"
    for kind in ("obj", "static-lib", "exe"):
        run(tool("optc"), "kinds.onnx", "-o", f"kinds.{kind}", f"--emit={kind}", plugin)
    for kind in ("obj", "static-lib"):
        symbols = run(f"{LLVM}/bin/llvm-nm", f"kinds.{kind}")
        need(" T example_row_normalize" in symbols, f"the kernel is not in --emit={kind}: {symbols[-500:]}")
    run(os.path.join(WORK, "kinds.exe"), "--input", "x=random", "--input", "scale=random")


def operator_refusals():
    """What does not fit the operator is refused with exit code 1 and the sentences of ONNX's own operators."""
    node = onnx.helper.make_node

    def other(sentence, *nodes, rc=1, plugin="RowNormalize", arguments=(), **more):
        custom_model(os.path.join(WORK, "refused.onnx"), [4, 5], nodes=nodes or None, **more)
        flags = [f"--plugin={os.path.join(EXAMPLE, plugin)}.so"] if plugin else []
        got, text = bank.command([tool("optc"), "refused.onnx", *flags, *arguments], 60, cwd=WORK)
        need(got == rc and re.search(sentence, text), f"expected '{sentence}' and {rc}, got {got}: {text[:800]}")

    def norm(*inputs, name="RowNormalize", **attributes):
        return node(name, inputs, ["y"], "norm", domain="com.example", **attributes), node("Neg", ["y"], ["z"])

    other("has the attribute 'epsilom', which optc does not support for RowNormalize.*epsilon", *norm("x", "scale", epsilom=1.0))
    other("attribute 'epsilon' is an integer where a float", *norm("x", "scale", epsilon=1))
    other("has 1 inputs where its operator takes 2", *norm("x"))
    other("lacks its input 0, 'X'", *norm("", "scale"))
    other("its input 1, 'scale',.* is tensor\\(int64", node("Shape", ["x"], ["s"]), *norm("x", "s"))
    other("has rows of the shape \\[4, 5\\] and a scale", node("Concat", ["scale", "scale"], ["s"], axis=0), *norm("x", "s"))
    other("'RowNormalise' is not an operator of the domain 'com.example'.*RowNormalize", *norm("x", "scale", name="RowNormalise"))
    other("exists since version 2, but the model imports version 1", version=1)
    other("exists since version 2, but the model imports none", version=0)
    other("knows no operators of the domain 'com.example'.*--plugin", plugin="")
    other("no kernel of com.example.RowNormalize for aarch64", rc=2, arguments=["--target=aarch64"])
    folder = bank.fresh(os.path.join(WORK, "broken_kernels"))
    shutil.copy(os.path.join(EXAMPLE, "RowNormalize.so"), folder)
    kernels, broken = os.path.join(folder, "RowNormalize_kernels.a"), os.path.join(folder, "RowNormalize")
    with open(kernels, "w") as f:
        f.write("no code\n")
    other("RowNormalize_kernels.a is no object and no archive", rc=2, plugin=broken)
    with open(os.path.join(WORK, "broken.c"), "w") as f:
        f.write("void missing(void);\nvoid example_row_normalize(const void *d) { missing(); }\n")
    run("clang-22", "-c", "-fPIC", "broken.c", "-o", kernels)
    other("RowNormalize_kernels.a cannot be linked: .*undefined symbol: missing", rc=2, plugin=broken)
    os.unlink(kernels)
    other("the file with its kernels, .*RowNormalize_kernels.a, cannot be read", rc=2, plugin=broken)


def no_file():
    refused(os.path.join(WORK, "missing.so"), "cannot be used: it cannot be read: No such file")
    refused(WORK, "it is a folder")


def broken_file():
    with open(PLUGIN, "rb") as f:
        good = f.read()
    path = os.path.join(WORK, "broken.so")
    for content, sentence in (
        (b"", "it is empty"),
        (b"not a shared object\n", "it is not a shared object"),
        (good[:40], "it is damaged"),
        (good[: len(good) // 2], "it is (damaged|cut off)"),
        (good[:4096] + b"\xff" * (len(good) - 4096), "it is (damaged|cut off)"),
    ):
        with open(path, "wb") as f:
            f.write(content)
        refused(path, sentence)
    path = os.path.join(WORK, "object.so")
    run("clang-22", "-c", *COMPILE, os.path.join(HERE, "Variant.c"), "-o", path)
    refused(path, "it is not a shared object: link it with -shared")


def no_entry():
    refused(variant("no_entry", "-DENTRY=another_name"), "it does not export optc_plugin_entry; OPTC_PLUGIN")


def undefined_symbol():
    refused(variant("undefined", "-DMISSING"), "it cannot be loaded: .*optc_test_missing_function")


def other_abi():
    path = variant("abi", "-DABI=4711")
    refused(path, "version 4711 of the plugin interface, this optc has version 1; build it again")
    refused(path, "version 4711 of the plugin interface", optc="optc-opt")
    refused(variant("size", "-DSIZE=8"), "its optc_plugin_info has 8 bytes")


def other_llvm():
    refused(variant("llvm", '-DLLVM="21.1.0"'), r"built with LLVM 21\.1\.0, this optc with LLVM 22.*; build it again")
    stub = os.path.join(WORK, "libMLIR.so.21.1")
    with open(os.path.join(WORK, "stub.c"), "w") as f:
        f.write("int optc_test_stub;\n")
    run("clang-22", "-shared", "-fPIC", "-Wl,-soname,libMLIR.so.21.1", "stub.c", "-o", stub)
    path = variant("needs", "-Wl,--no-as-needed", stub)
    refused(path, r"it needs libMLIR\.so\.21\.1, and optc runs on libMLIR\.so\.22")


def other_build():
    refused(variant("build", '-DBUILD="0123"'), r"another optc \(build 0123, this is build \w+\); build it again")
    refused(variant("mlir", '-DMLIR="0123"'), "the libMLIR of build ID 0123, optc runs on .*libMLIR")


def other_settings():
    # The variant is C: it has none of the flags.
    refused(variant("flags"), "compiled with other settings .*: _GLIBCXX_USE_CXX11_ABI; optc_add_pass_plugin")


CHECKS = (
    install,
    headers,
    example,
    lit,
    moved,
    operator,
    operator_kinds,
    operator_refusals,
    no_file,
    broken_file,
    no_entry,
    undefined_symbol,
    other_abi,
    other_llvm,
    other_build,
    other_settings,
)
REQUIRED = {"install", "example"}


def main():
    for name in ("optc", "optc-opt", "optc-run", "optc-launcher"):
        if not os.access(os.path.join(bank.BIN, name), os.X_OK):
            print(f"plugin: {os.path.join(bank.BIN, name)} is missing: run ./check build first")
            return bank.closing_line("plugin", 0, 1, 0)
    bank.fresh(WORK)
    passed = failed = 0
    for check in CHECKS:
        try:
            check()
            passed += 1
        except Failed as e:
            print(f"plugin: {check.__name__}: {e}")
            failed += 1
            if check.__name__ in REQUIRED:
                return bank.closing_line("plugin", passed, failed, len(CHECKS) - passed - failed)
    return bank.closing_line("plugin", passed, failed, 0)


if __name__ == "__main__":
    sys.exit(main())
