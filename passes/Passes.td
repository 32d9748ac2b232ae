//===- Passes.td - the passes of optc -------------------------------------===//
#ifndef OPTC_PASSES_TD
#define OPTC_PASSES_TD
include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// graph
//===----------------------------------------------------------------------===//

def InferShapes : Pass<"optc-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "set result types from the operators' shape functions";
  let description = [{
    Walks the ops in order, subgraphs included. Types that the model states for inner values are not trusted; sizes
    that contradict each other are errors that name the node.

    ```mlir
    %0 = "onnx.MatMul"(%a, %b) : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<*xf32>
    // becomes
    %0 = "onnx.MatMul"(%a, %b) : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let options = [Option<"report", "report", "bool", "false", "a remark with the symbolic shapes of every op">];
}

def Simplify : Pass<"optc-simplify", "::mlir::func::FuncOp"> {
  let summary = "remove ops that do nothing, fold shape arithmetic, inline constant branches";
  let description = [{
    Keeps every result bit for bit. Works on what shape inference knows: small integer tensors whose elements are all
    constant become constants, an If whose condition is constant becomes its branch.

    ```mlir
    %0 = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    // becomes
    %0 = onnx.Constant dense<[2, 3]> : tensor<2xi64>
    ```
  }];
  let statistics = [
    Statistic<"folded", "num-folded", "values that became constants">,
    Statistic<"inlined", "num-inlined", "If ops with a constant condition">
  ];
}

def RaiseQuantized : Pass<"optc-raise-quantized", "::mlir::func::FuncOp"> {
  let summary = "quantized com.microsoft operators as QuantizeLinear, DequantizeLinear and operators of ONNX";
  let description = [{
    One representation for what follows. Operators that are defined on the
    numbers behind quantized tensors become that operator between
    DequantizeLinear and QuantizeLinear; those that are defined by an exact
    integer product keep it.

    ```mlir
    %y = "onnx.ms.QLinearSigmoid"(%x, %xs, %xz, %ys, %yz)
    // becomes
    %0 = "onnx.DequantizeLinear"(%x, %xs, %xz)
    %1 = "onnx.Sigmoid"(%0)
    %y = "onnx.QuantizeLinear"(%1, %ys, %yz)
    ```
  }];
  let statistics = [Statistic<"raised", "num-raised", "operators replaced">];
}

def MoveQuantization : Pass<"optc-move-quantization", "::mlir::func::FuncOp"> {
  let summary = "remove QuantizeLinear and DequantizeLinear around operators that only move or compare elements";
  let description = [{
    Where the parameters before and after are the same constants, the integers
    are moved instead. QuantizeLinear of DequantizeLinear is an identity where
    the scale is a normal number whose multiples are finite.

    ```mlir
    %0 = "onnx.DequantizeLinear"(%x, %s, %z)
    %1 = "onnx.MaxPool"(%0)
    %y = "onnx.QuantizeLinear"(%1, %s, %z)
    // becomes
    %y = "onnx.MaxPool"(%x)
    ```
  }];
  let statistics = [Statistic<"moved", "num-moved", "operators that work on integers now">,
                    Statistic<"cancelled", "num-cancelled", "pairs removed">];
}

def IntegerProducts : Pass<"optc-integer-products", "::mlir::func::FuncOp"> {
  let summary = "products of dequantized tensors as exact products of integers";
  let description = [{
    Conv, MatMul and Gemm whose factors come from DequantizeLinear of 8-bit
    integers become ConvInteger or MatMulInteger; the scales multiply the sums,
    and a QuantizeLinear behind rounds those once. A product with quantized
    weights and floating-point activations keeps its type; the scales of the
    columns multiply the sums.

    ```mlir
    %y = Conv(DequantizeLinear(%x, %xs, %xz), DequantizeLinear(%w, %ws, %wz))
    // becomes
    %y = Mul(Cast(ConvInteger(%x, %w, %xz, %wz)), %xs * %ws)
    ```

    What stays a product of floats has the reason as `optc.note`.
  }];
  let options = [Option<"report", "report", "bool", "false", "a remark with the reason for every product that stays">];
  let statistics = [Statistic<"integer", "num-integer", "products of integers">,
                    Statistic<"weightOnly", "num-weight-only", "products with quantized weights only">,
                    Statistic<"stayed", "num-stayed", "products of dequantized tensors that stay floats">];
}

def SplitRanks : Pass<"optc-split-ranks", "::mlir::func::FuncOp"> {
  let summary = "move what depends on an If of tensors of different rank into its branches";
  let description = [{
    Below, every op needs to know the ranks of its tensors. Where the branches
    of an If give different ones, the ops that use the result go into both
    branches; there the rank is known.

    ```mlir
    %0 = "onnx.If"(%c) ({ yield %x : tensor<2xf32> }, { yield %y : tensor<2x3xf32> }) -> tensor<*xf32>
    %1 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>
    // becomes
    %1 = "onnx.If"(%c) ({ %2 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32> yield %2 },
                        { %2 = "onnx.Relu"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32> yield %2 }) -> tensor<*xf32>
    ```
  }];
  let options = [Option<"maxOps", "max-ops", "int64_t", "20000", "ops that may be made; what is left is refused later">];
}

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

def QuantizeStatic : Pass<"optc-quantize-static", "::mlir::func::FuncOp"> {
  let summary = "uint8 activations and int8 weights for convolutions and products with constant weights";
  let description = [{
    Reads the ranges of values from `onnx.range` attributes. Layers stay what
    they are; QuantizeLinear and DequantizeLinear around them say what is
    stored in integers. Weights have a scale per channel and no zero point.

    ```mlir
    %1 = "onnx.Conv"(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x4xf32>
    // becomes
    %q = "onnx.QuantizeLinear"(%x, %s, %z) : ... -> tensor<1x8x4x4xui8>
    %d = "onnx.DequantizeLinear"(%q, %s, %z) : ... -> tensor<1x8x4x4xf32>
    %v = "onnx.DequantizeLinear"(%w8, %ws) {axis = 0 : i64} : ... -> tensor<8x8x3x3xf32>
    %1 = "onnx.Conv"(%d, %v) : ...
    ```
  }];
  let options = [Option<"report", "report", "bool", "false", "a remark per layer: its form, or why it stays float">];
  let statistics = [
    Statistic<"numQuantized", "num-quantized", "layers with integers">,
    Statistic<"numFloat", "num-float", "layers that stay float">
  ];
}

def QuantizeWeights : Pass<"optc-quantize-weights", "::mlir::func::FuncOp"> {
  let summary = "int8 or int4 weights for layers that compute in float";
  let description = [{
    8 bits have a scale per channel, 4 bits one per group along the axis that is
    summed. Tables that Gather looks up have int8 rows.

    ```mlir
    %0 = "onnx.MatMul"(%x, %w) : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
    // becomes
    %v = "onnx.DequantizeLinear"(%w4, %s) {axis = 0 : i64, block_size = 32 : i64}
         : (tensor<64x8xi4>, tensor<2x8xf32>) -> tensor<64x8xf32>
    %0 = "onnx.MatMul"(%x, %v) : ...
    ```
  }];
  let options = [
    Option<"bits", "bits", "int", "8", "4 or 8">,
    Option<"groupSize", "group-size", "int64_t", "32", "weights that share a scale, of 4 bits">,
    Option<"report", "report", "bool", "false", "a remark per layer: its form, or why it stays float">
  ];
  let statistics = [
    Statistic<"numQuantized", "num-quantized", "layers whose weights are integers">,
    Statistic<"numFloat", "num-float", "layers that stay float">
  ];
}

def ReducePrecision : Pass<"optc-reduce-precision", "::mlir::func::FuncOp"> {
  let summary = "compute products, and what follows them, in f16 or bf16";
  let description = [{
    Products read and write the narrow type; ops that move elements or work on each alone follow when all of their
    operands are narrow. Everything else stays f32, and so do arguments and results. A constant with an element beyond the
    largest number of the type keeps its op in f32.

    ```mlir
    %0 = "onnx.MatMul"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    // becomes
    %1 = "onnx.Cast"(%x) {to = 10 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf16>
    %2 = "onnx.MatMul"(%1, %w16) : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
    %3 = "onnx.Cast"(%2) {to = 1 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf32>
    ```
  }];
  let options = [
    Option<"to", "to", "std::string", "\"f16\"", "the narrow type: f16 or bf16">,
    Option<"report", "report", "bool", "false", "a remark for each op that stays float32">
  ];
  let statistics = [
    Statistic<"numNarrow", "num-narrow", "ops in the narrow type">,
    Statistic<"numWide", "num-wide", "ops that stay float32">
  ];
}

//===----------------------------------------------------------------------===//
// lowering: onnx -> linalg + tensor + kernel
//===----------------------------------------------------------------------===//

def LowerOnnx : Pass<"optc-lower-onnx", "::mlir::func::FuncOp"> {
  let summary = "lower the onnx dialect to linalg, tensor and kernel ops on tensors";
  let description = [{
    One walk in program order with the symbolic sizes of the shape functions at
    hand: sizes become host scalars, small integer tensors whose elements are
    known symbolically become `tensor.from_elements` of such scalars, the rest
    structured ops. An operator without a lowering is an error that names it.

    ```mlir
    %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic ... ins(%x) outs(%e) { arith.cmpf, arith.select }
    ```
  }];
  let options = [Option<"optLevel", "opt-level", "int", "0", "what -O level the rounding rules follow">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::optc::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// layout
//===----------------------------------------------------------------------===//

def AssignLayouts : Pass<"optc-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "choose the order in which tensors are stored: channels last around convolutions";
  let description = [{
    An order is a permutation of a value's dimensions. Structured ops take any:
    the maps of their operands and results and the indices of their reads are
    permuted, so orders spread from convolutions until an op refuses them
    (arguments and results, views that mix dimensions, library operators,
    control flow). Transpositions go there. What a convolution reaches is
    converted when it is worth that: `worth` multiply-adds per element moved.

    Transpositions of the model become maps of their users, or of the op that
    computes their input, when that keeps the innermost dimension.

    Afterwards an op walks its result in memory order.
  }];
  let options = [
    Option<"worth", "worth", "unsigned", "8", "multiply-adds that pay for moving an element">,
    Option<"report", "report", "bool", "false", "a remark per group of convolutions">
  ];
  let statistics = [
    Statistic<"convolutions", "num-convolutions", "convolutions with channels last">,
    Statistic<"transpositions", "num-transpositions", "transpositions at boundaries">,
    Statistic<"absorbed", "num-absorbed", "transpositions of the model that became maps">,
    Statistic<"removed", "num-removed", "copies removed">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::optc::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// dispatch
//===----------------------------------------------------------------------===//

def AddressSlices : Pass<"optc-address-slices", "::mlir::func::FuncOp"> {
  let summary = "keep slices that are read where they are, and gather the others";
  let description = [{
    A tensor.extract_slice stays where its users read it in place: kernels
    whose family takes the strides of its source, and, when it is contiguous,
    views, library operators and the host. The others read a copy, gathered by
    a linalg.generic that can be fused.
  }];
  let options = [
    Option<"optLevel", "opt-level", "int", "3", "0: every slice is gathered">,
    Option<"capability", "capability", "int32_t", "0", "of the device that dispatches run on, 90 for sm_90; 0: the CPU">,
    Option<"report", "report", "bool", "false", "a remark with the reason for every slice that is copied">
  ];
  let statistics = [
    Statistic<"addressed", "num-addressed", "slices that nothing copies">,
    Statistic<"copied", "num-copied", "slices that are gathered, for some users at least">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"optc-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "fuse chains of elementwise linalg.generic ops";
  let description = [{
    A producer whose result has one user is computed inside that user. A
    producer with more users is fused only when it is cheap to repeat.
  }];
  let statistics = [Statistic<"fused", "num-fused", "producers fused into their consumer">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FormDispatches : Pass<"optc-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "put every structured op into a kernel.dispatch";
  let description = [{
    From -O1 on, elementwise consumers of a product join it and are computed on
    its accumulators, and reductions along rows take every op before and after
    them that shares those rows: a softmax or a normalization is one dispatch
    that reads a row once. Values of a group that others use, too, are results.
  }];
  let options = [
    Option<"optLevel", "opt-level", "int", "3", "0: one op per dispatch">,
    Option<"report", "report", "bool", "false", "a remark with the reason for every op that does not join a group">
  ];
  let statistics = [
    Statistic<"epilogues", "num-epilogues", "elementwise ops computed on a product's accumulators">,
    Statistic<"rowOps", "num-row-ops", "ops in groups that share their rows">,
    Statistic<"declined", "num-declined", "ops that did not join a group next to them">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::optc::kernel::KernelDialect"];
}

def PlaceConcats : Pass<"optc-place-concats", "::mlir::func::FuncOp"> {
  let summary = "compute the parts of concatenations in their places";
  let description = [{
    A dispatch next to a tensor.concat that reads its result gets `stored_in`,
    unless its family, or that of another reader, needs the part contiguous.
    Other parts are copied to their places. Where nothing can be computed in
    place, one dispatch becomes the whole concatenation.
  }];
  let options = [
    Option<"optLevel", "opt-level", "int", "3", "0: everything is copied">,
    Option<"capability", "capability", "int32_t", "0", "of the device that dispatches run on, 90 for sm_90; 0: the CPU">,
    Option<"report", "report", "bool", "false", "a remark with the reason for every part that is copied">
  ];
  let statistics = [
    Statistic<"placed", "num-placed", "parts computed in their place">,
    Statistic<"copied", "num-copied", "parts copied">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::optc::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// configure
//===----------------------------------------------------------------------===//

def Configure : Pass<"optc-configure", "::mlir::func::FuncOp"> {
  let summary = "choose a strategy for every dispatch";
  let description = [{
    Writes `#kernel.strategy`. Everything after reads only that attribute. A
    constant that a product reads in panels becomes `kernel.pack` of it.
  }];
  let options = [
    Option<"optLevel", "opt-level", "int", "3", "0: plain loops only">,
    Option<"vectorBits", "vector-bits", "int64_t", "256", "width of a vector register">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "16", "number of vector registers">,
    Option<"l2Bytes", "l2-bytes", "int64_t", "524288", "size of the second-level cache">,
    Option<"dotDepth", "dot-depth", "int64_t", "1", "8-bit products that an instruction adds up per lane: 1, 2 (pmaddwd) or 4 (vpdpbusd)">,
    Option<"capability", "capability", "int32_t", "0", "of the device that dispatches run on, 90 for sm_90; 0: the CPU">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "132", "of the device">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "shared memory that a block of the device can have">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::optc::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// plan
//===----------------------------------------------------------------------===//

def Plan : Pass<"optc-plan", "::mlir::ModuleOp"> {
  let summary = "turn @main into the host program on pointers and place every buffer";
  let description = [{
    Buffers of static size share one arena by liveness (offsets are constants,
    the peak is exact); sizes known at run time only are allocated where they
    become known. Constants get offsets in the artifact's constant section.
    Every dispatch becomes a function of raw buffers; equal ones share it. An
    elementwise dispatch computes its result over an operand that nothing reads
    afterwards.
  }];
  let statistics = [
    Statistic<"kernels", "num-kernels", "kernels">,
    Statistic<"shared", "num-shared", "dispatches that use another's kernel">,
    Statistic<"inPlace", "num-in-place", "dispatches that compute their result over an operand">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::bufferization::BufferizationDialect", "::optc::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// codegen/cpu
//===----------------------------------------------------------------------===//

def LowerKernels : Pass<"optc-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "every kernel to the emitter of its family";
  let options = [Option<"optLevel", "opt-level", "int", "0", "3 allows reassociation of reductions and contraction">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"optc-expand-math", "::mlir::func::FuncOp"> {
  let summary = "f32 exp, log, tanh and erf as straight-line arithmetic that vectorises";
  let options = [Option<"optLevel", "opt-level", "int", "2", "3 allows approximations of some ulp (erf)">];
  let statistics = [Statistic<"expanded", "num-expanded", "math ops expanded">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def KernelToLLVM : Pass<"optc-kernel-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower the kernel dialect to calls of the runtime and to the dispatch ABI";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// codegen/cuda
//===----------------------------------------------------------------------===//

def LowerDeviceKernels : Pass<"optc-lower-device-kernels", "::mlir::ModuleOp"> {
  let summary = "every kernel of a device family to its emitter, in gpu.module @device";
  let description = [{
    A kernel gets the device's calling convention: buffers as pointers, scalars
    as 64-bit integers. Threads find their work by the index of their block.
  }];
  let options = [Option<"optLevel", "opt-level", "int", "0", "3 allows contraction">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect", "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def DeviceToLLVM : Pass<"optc-device-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower gpu.module to the LLVM and NVVM dialects";
  let description = [{
    Functions of `math` become calls of NVIDIA's libdevice, `kernel.bind` a
    descriptor. Loops have to be branches (convert-scf-to-cf).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif
