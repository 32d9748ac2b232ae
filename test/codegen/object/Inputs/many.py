"""add.mlir with 60 kernels that add 0, 1, ... 59 to the first element of the result."""

import os
import sys

COUNT = 60
KERNEL = """  llvm.func @k{0}_body(%p: !llvm.ptr) attributes {{passthrough = ["alwaysinline"]}} {{
    %a = llvm.load %p : !llvm.ptr -> f32
    %c = llvm.mlir.constant({0}.0 : f32) : f32
    %d = llvm.fadd %a, %c : f32
    llvm.store %d, %p : f32, !llvm.ptr
    llvm.return
  }}
  llvm.func @k{0}(%p: !llvm.ptr) attributes {{passthrough = ["noinline"]}} {{
    llvm.call @k{0}_body(%p) : (!llvm.ptr) -> ()
    llvm.return
  }}
"""
text = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "add.mlir")).read()
kernels = "".join(KERNEL.format(i) for i in range(COUNT))
calls = "".join(f"    llvm.call @k{i}(%y) : (!llvm.ptr) -> ()\n" for i in range(COUNT))
text = text.replace("  llvm.func @host_main", kernels + "  llvm.func @host_main")
sys.stdout.write(text.replace("    llvm.return %c0", calls + "    llvm.return %c0"))
