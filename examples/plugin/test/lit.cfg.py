"""lit's configuration: the target check-plugin says where the plugin and the tools are."""

import os

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
config.name = "drop-neutral"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = here
config.test_exec_root = os.environ["TEST_OUT"]
config.environment["PATH"] = os.pathsep.join([os.environ["OPTC_BIN"], os.environ["LLVM_BIN"], os.environ["PATH"]])
config.substitutions.append(("%plugin", os.environ["PLUGIN"]))
config.substitutions.append(("%operator", os.environ["OPERATOR"]))
