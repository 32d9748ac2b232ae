"""lit's configuration. The tools come from build/bin (or OPTC_BUILD), FileCheck and its friends from Debian's LLVM 22."""

import os
import shutil

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("OPTC_BUILD", os.path.join(os.path.dirname(here), "build"))
llvm = "/usr/lib/llvm-22/bin"

config.name = "optc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "conformance", "cases", "models", "fuzz", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = here
config.test_exec_root = os.path.join(build, "test")

path = [os.path.join(build, "bin"), llvm, config.environment.get("PATH", os.environ.get("PATH", ""))]
config.environment["PATH"] = os.pathsep.join(path)
# The python of the tests, which has onnx and numpy once ./check has installed them.
venv = os.path.join(build, "venv", "bin", "python")
config.substitutions.append(("%python", f'"{venv}"' if os.path.exists(venv) else "python3"))
config.substitutions.append(("%root", os.path.dirname(here)))
config.substitutions.append(("%build", build))
if os.path.exists(os.path.join(build, "venv", "requirements.txt")):
    config.available_features.add("onnx")
# NVIDIA's assembler, where optc looks for it; without it only PTX is made.
cuda_home = os.environ.get("CUDA_HOME")
if cuda_home:
    config.environment["CUDA_HOME"] = cuda_home
below = os.path.join(cuda_home or "", "bin", "ptxas")
ptxas = below if cuda_home and os.path.exists(below) else shutil.which("ptxas")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("cuda")
