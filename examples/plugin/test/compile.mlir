// The pass runs in a compilation, where the plugin puts it and with the options of the command line.
// RUN: optc %s --stop-after=graph | FileCheck %s --check-prefix=WITHOUT
// RUN: optc --plugin=%plugin %s --stop-after=graph | FileCheck %s
// RUN: env OPTC_PLUGINS=%plugin optc %s --stop-after=graph --plugin-option=example-drop-neutral:ignore-signed-zeros=true \
// RUN:   | FileCheck %s --check-prefix=IGNORE

// WITHOUT: onnx.Mul
// WITHOUT: onnx.Add
// CHECK-NOT: onnx.Mul
// CHECK: onnx.Add
// IGNORE-NOT: onnx.Mul
// IGNORE-NOT: onnx.Add
// IGNORE: return %arg0
func.func @main(%x: tensor<2x4xf32> {onnx.name = "x"}) -> (tensor<2x4xf32> {onnx.name = "y"}) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %0 = "onnx.Mul"(%x, %one) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = "onnx.Add"(%0, %zero) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// RUN: optc --plugin=%plugin --list-plugins | FileCheck %s --check-prefix=LIST
// LIST: drop-neutral 1.0 ({{.*}}DropNeutral.so)
// LIST-NEXT: after graph: example-drop-neutral{ignore-signed-zeros=false report=false}

// RUN: optc --plugin=%plugin --print-pipeline | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: graph:
// PIPELINE-NEXT: optc-fold-constants{{.*}}example-drop-neutral{ignore-signed-zeros=false report=false}
// PIPELINE-NEXT: compress:
// PIPELINE: tensor:

// RUN: not optc --plugin=%plugin %s --plugin-option=example-drop-neutral:zeros=1 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: optc: error: --plugin-option=example-drop-neutral:zeros=1: {{.*}}zeros{{.*}}; the pass and its defaults: example-drop-neutral{ignore-signed-zeros=false report=false}
// RUN: not optc --plugin=%plugin %s --plugin-option=drop:report=1 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: expected PASS:NAME=VALUE with a pass of a plugin; there are: example-drop-neutral
