//===- Pipelines.cpp - the passes of every phase --------------------------===//
#include "optc/passes/Pipelines.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "optc/codegen/Target.h"
#include "optc/compiler/Compress.h"
#include "optc/compiler/FoldConstants.h"
#include "optc/compiler/import/ExpandFunctions.h"
#include "optc/passes/Passes.h"
#include "optc/passes/compress/Prune.h"
#include "optc/passes/lowering/Lowering.h"

using namespace mlir;
using namespace optc;

void optc::addGraphPasses(OpPassManager &pm, const PipelineOptions &options) {
  // Function bodies are chosen by the operand types, so inference goes first; what they expand to is new to it.
  pm.addNestedPass<func::FuncOp>(createInferShapes());
  pm.addNestedPass<func::FuncOp>(createRaiseQuantized());
  if (options.optLevel >= 1)
    pm.addNestedPass<func::FuncOp>(createSimplify());
  pm.addNestedPass<func::FuncOp>(createExpandFunctionsPass(
      [](Operation *op) { return loweringTable().count(op->getName().getStringRef()) != 0; }));
  pm.addNestedPass<func::FuncOp>(createInferShapes());
  pm.addNestedPass<func::FuncOp>(createSplitRanks());
  if (options.optLevel >= 1) {
    pm.addNestedPass<func::FuncOp>(createSimplify());
    pm.addNestedPass<func::FuncOp>(createMoveQuantization());
    pm.addPass(createFoldConstantsPass());
  }
}

void optc::addCompressPasses(OpPassManager &pm, const PipelineOptions &options) {
  // A model stays as it is unless an option asks for less of it.
  if (!options.compression)
    return;
  const CompressionOptions &compression = options.compression->options;
  OpPassManager pruning(ModuleOp::getOperationName()), rewrites(ModuleOp::getOperationName());
  // First what changes shapes: neighbours are those that the kernels see. Zeros of N:M count for the share of all.
  if (const PruneOptions &prune = compression.prune; prune.channels > 0) {
    PruneChannelsOptions channels;
    channels.ratio = prune.channels;
    channels.multiple = prune.multiple;
    channels.mark = compression.refits();
    pruning.addPass(createPruneChannels(channels));
    if (options.optLevel >= 1)
      rewrites.addNestedPass<func::FuncOp>(createSimplify());
  }
  if (const PruneOptions &prune = compression.prune; prune.keep > 0 || prune.magnitude > 0) {
    PruneWeightsOptions weights;
    weights.keep = prune.keep;
    weights.of = prune.of;
    weights.magnitude = prune.magnitude;
    rewrites.addPass(createPruneWeights(weights));
  }
  pm.addPass(createCompressPass(*options.compression, std::move(pruning), std::move(rewrites)));
}

void optc::addTensorPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (options.optLevel >= 1)
    pm.addNestedPass<func::FuncOp>(createIntegerProducts());
  LowerOnnxOptions lower;
  lower.optLevel = options.optLevel;
  pm.addNestedPass<func::FuncOp>(createLowerOnnx(lower));
  // Scalars read from tensors of known scalars become those scalars.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void optc::addLayoutPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (options.optLevel < 1)
    return;
  pm.addNestedPass<func::FuncOp>(createAssignLayouts());
  // Views of views become one.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void optc::addDispatchPasses(OpPassManager &pm, const PipelineOptions &options) {
  int32_t capability = options.target->device ? options.target->device->capability : 0;
  AddressSlicesOptions slices;
  slices.optLevel = options.optLevel;
  slices.capability = capability;
  pm.addNestedPass<func::FuncOp>(createAddressSlices(slices));
  if (options.optLevel >= 1)
    pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  FormDispatchesOptions form;
  form.optLevel = options.optLevel;
  pm.addNestedPass<func::FuncOp>(createFormDispatches(form));
  PlaceConcatsOptions concats;
  concats.optLevel = options.optLevel;
  concats.capability = capability;
  pm.addNestedPass<func::FuncOp>(createPlaceConcats(concats));
  pm.addPass(createCSEPass());
}

void optc::addConfigurePasses(OpPassManager &pm, const PipelineOptions &options) {
  ConfigureOptions configure;
  configure.optLevel = options.optLevel;
  configure.vectorBits = options.target->vectorBits;
  configure.vectorRegisters = options.target->numVectorRegisters;
  configure.l2Bytes = options.target->l2Bytes;
  configure.dotDepth = options.target->dotDepth();
  if (const DeviceTarget *device = options.target->device) {
    configure.capability = device->capability;
    configure.multiprocessors = device->multiprocessors;
    configure.sharedBytes = device->sharedBytes;
  }
  pm.addNestedPass<func::FuncOp>(createConfigure(configure));
  pm.addPass(createCSEPass()); // equal packed constants
}

void optc::addPlanPasses(OpPassManager &pm, const PipelineOptions &options) { pm.addPass(createPlan()); }

void optc::addKernelPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target->device) {
    LowerDeviceKernelsOptions device;
    device.optLevel = options.optLevel;
    pm.addPass(createLowerDeviceKernels(device));
  }
  LowerKernelsOptions kernels;
  kernels.optLevel = options.optLevel;
  pm.addPass(createLowerKernels(kernels));
  ExpandMathOptions math;
  math.optLevel = options.optLevel;
  if (options.optLevel >= 1)
    pm.addNestedPass<func::FuncOp>(createExpandMath(math));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (options.optLevel >= 1)
    pm.addPass(createLoopInvariantCodeMotionPass());
}

/// The device's module, on its own: the host's conversions find nothing left in it.
static void addDevicePasses(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(arith::createArithExpandOpsPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  pm.addPass(createDeviceToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void optc::addLlvmPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (options.target->device)
    addDevicePasses(pm);
  pm.addPass(createKernelToLLVM());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // bfloat16 by integer operations: without AVX-512 LLVM would call a library function per element.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}
