//===- Phases.cpp - the phases of a compilation ---------------------------===//
#include "optc/compiler/Phases.h"
#include "llvm/ADT/STLExtras.h"

using namespace optc;

static constexpr Phase kPhases[] = {
    {"import", "ONNX file to the onnx dialect at the newest opset", nullptr, ExitCode::Input},
    {"graph", "shapes, folding, function bodies; onnx to onnx", addGraphPasses, ExitCode::Input},
    {"compress", "quantization and pruning, where asked for; onnx to onnx", addCompressPasses, ExitCode::Input},
    {"tensor", "onnx to structured ops on tensors (linalg, tensor, kernel)", addTensorPasses, ExitCode::Input},
    {"layout", "the order in which tensors are stored", addLayoutPasses, ExitCode::Internal},
    {"dispatch", "fusion; groups of ops that become one kernel", addDispatchPasses, ExitCode::Internal},
    {"configure", "a strategy for every dispatch", addConfigurePasses, ExitCode::Internal},
    {"plan", "kernels as functions, the host program, the place of every buffer", addPlanPasses, ExitCode::Internal},
    {"kernel", "kernels as loops on memory", addKernelPasses, ExitCode::Internal},
    {"llvm", "everything in the LLVM dialect", addLlvmPasses, ExitCode::Internal},
    {"object", "machine code, constants and runtime, linked", nullptr, ExitCode::Internal},
};

llvm::ArrayRef<Phase> optc::phases() { return kPhases; }

const Phase *optc::findPhase(llvm::StringRef name) {
  const Phase *phase = llvm::find_if(kPhases, [&](const Phase &p) { return p.name == name; });
  return phase == std::end(kPhases) ? nullptr : phase;
}
