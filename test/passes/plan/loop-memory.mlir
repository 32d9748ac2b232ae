// A loop of 100000 iterations that makes 80 kB in each of them runs within 1 GB of address space; kept until the end of
// the run they would take 8 GB.
// RUN: optc %s --start-from=dispatch -O3 --name=m --report=%t.json -o %t.so
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// REPORT: "peak_bytes": "depends on run-time sizes"
// REPORT: "run_time_sized":
// RUN: bash -c 'ulimit -v 1000000 && optc-run %t.so --input trips=random --input x=random --dim N=10000 --dim T=100000' | FileCheck %s
// CHECK: y: float32[10000]
func.func @main(%x: tensor<?xf32> {onnx.name = "x", onnx.dim_params = ["N"]},
                %trips: tensor<?xi8> {onnx.name = "trips", onnx.dim_params = ["T"]}) -> (tensor<?xf32> {onnx.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = tensor.dim %trips, %c0 : tensor<?xi8>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %last step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %0 = kernel.dispatch "neg" [%n] -> tensor<?xf32> {
    ^bb0(%d: tensor<?xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%a : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
      kernel.yield %s : tensor<?xf32>
    }
    %1 = kernel.dispatch "abs" [%n] -> tensor<?xf32> {
    ^bb0(%d: tensor<?xf32>):
      %s = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%0 : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
      kernel.yield %s : tensor<?xf32>
    }
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
