// The operator is imported (test/plugin/run.py), its shapes are those that the plugin says, and its kernel is launched with
// all sizes and attributes.
// RUN: optc --plugin=%operator %s --stop-after=tensor | FileCheck %s
// RUN: optc --plugin=%operator %s --stop-after=plan | FileCheck %s --check-prefix=PLAN
// RUN: not optc %s --stop-after=tensor 2>&1 | FileCheck %s --check-prefix=ALONE

// 16 rows per tile. The epsilon of the node, by its bits, and the default of unit_offset.
// CHECK-LABEL: func.func @main
// CHECK: %[[ROWS:.*]] = arith.muli %[[N:.*]], %c5
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[ROWS]], %c16
// CHECK: kernel.foreign "example_row_normalize"(%arg0, %arg1) dims[%[[N]]] tiles %[[TILES]] params [1056964608, 0]
// CHECK-SAME: (tensor<?x5x8xf32>, tensor<8xf32>) -> tensor<?x5x8xf32>
// PLAN: kernel.output 0
// PLAN: kernel.launch @example_row_normalize
// PLAN: func.func private @example_row_normalize(!llvm.ptr)
// ALONE: operator.mlir:18:41: operation being parsed with an unregistered dialect
func.func @main(%x: tensor<?x5x8xf32> {onnx.name = "x"}, %scale: tensor<8xf32> {onnx.name = "scale"}) -> (tensor<?x5x8xf32> {onnx.name = "y"}) {
  %0 = "plugin.com.example.RowNormalize"(%x, %scale) {epsilon = 0.5 : f32} : (tensor<?x5x8xf32>, tensor<8xf32>) -> tensor<?x5x8xf32>
  return %0 : tensor<?x5x8xf32>
}

// RUN: optc --plugin=%operator --list-plugins | FileCheck %s --check-prefix=LIST
// LIST: row-normalize 1.0 ({{.*}}RowNormalize.so)
// LIST-NEXT: operator: com.example.RowNormalize, since version 2
