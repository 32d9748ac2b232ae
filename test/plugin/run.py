#!/usr/bin/env python3
"""The plugin bank: installs the build into build/install, builds examples/plugin out of tree against it, runs the example's
lit tests and a model with it, and holds the compiler to refusing, with exit code 2 and a sentence, what does not fit."""

import os
import re
import shutil
import sys

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
