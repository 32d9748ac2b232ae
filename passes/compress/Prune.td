//===- Prune.td - the passes that prune -----------------------------------===//
//
// Beside Passes.td, which every pass reads.
//
//===----------------------------------------------------------------------===//
#ifndef OPTC_PASSES_COMPRESS_PRUNE_TD
#define OPTC_PASSES_COMPRESS_PRUNE_TD
include "mlir/Pass/PassBase.td"

def PruneChannels : Pass<"optc-prune-channels", "::mlir::ModuleOp"> {
  let summary = "remove the channels of layers that matter least";
  let description = [{
    Filters of convolutions and columns of products go, with everything that belongs to them in the whole graph: the
    slices of weights that read them, biases, parameters of normalizations, the other side of residual additions.
    Channels that reach an output of the model, or an op that mixes channels, stay. `optc.pruning` of the module says
    for every layer what became of it, and why.

    ```mlir
    %1 = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
    // becomes, with ratio=0.25
    %1 = "onnx.Conv"(%x, %v) : (tensor<1x3x8x8xf32>, tensor<12x3x3x3xf32>) -> tensor<1x12x8x8xf32>
    ```
  }];
  let options = [
    Option<"ratio", "ratio", "double", "0", "the share of channels that goes, in [0, 1)">,
    Option<"multiple", "multiple", "int64_t", "0", "of which channel counts stay multiples; 0: up to 16, by layer">,
    Option<"mark", "mark", "bool", "false", "layers whose input loses channels get `onnx.refit`, to be fitted anew">
  ];
}

def PruneWeights : Pass<"optc-prune-weights", "::mlir::ModuleOp"> {
  let summary = "zeros in place of the smallest weights";
  let description = [{
    Shapes stay. `keep` of `of` neighbours along the axis that a layer sums over stay first, then zeros are added up
    to the share `magnitude` of the layer's weights. `optc.pruning` of the module says for every layer how many weights
    are left, or why it stays.

    ```mlir
    %0 = onnx.Constant dense<[[1.0, -4.0, 2.0, 3.0]]> : tensor<1x4xf32>
    // becomes, as transposed weight of a Gemm with keep=2 of=4
    %0 = onnx.Constant dense<[[0.0, -4.0, 0.0, 3.0]]> : tensor<1x4xf32>
    ```
  }];
  let options = [
    Option<"magnitude", "magnitude", "double", "0", "the share of each layer's weights that becomes zero">,
    Option<"keep", "keep", "int64_t", "0", "of each group of neighbours, so many stay; 0: all">,
    Option<"of", "of", "int64_t", "4", "size of a group of neighbours">
  ];
  let statistics = [
    Statistic<"prunedWeights", "num-pruned", "constants that got zeros">,
    Statistic<"skipped", "num-skipped", "constants that stayed">
  ];
}

#endif
